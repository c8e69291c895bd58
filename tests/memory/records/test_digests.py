from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.memory.records.digests import canonical_json, derive, digest, unit_interval

texts = st.text(st.characters(exclude_categories=()))
file_names = st.binary().map(lambda name: name.decode("utf-8", "surrogateescape"))
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
leaves = leaves.filter(lambda leaf: not (isinstance(leaf, float) and math.isinf(leaf)))
values = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


def test_canonical_json_sorts_keys_and_leaves_out_spaces() -> None:
    assert canonical_json({"b": [1, 0.1], "a": None}) == '{"a":null,"b":[1,0.1]}'


def test_canonical_json_leaves_characters_as_they_are() -> None:
    assert canonical_json("Straße 🎬") == '"Straße 🎬"'


def test_a_byte_that_is_no_utf8_is_written_as_an_escape() -> None:
    assert canonical_json(b"\xff.mp4".decode("utf-8", "surrogateescape")) == '"\\udcff.mp4"'


@given(values)
def test_canonical_json_comes_back_as_it_was(value: object) -> None:
    assert json.loads(canonical_json(value)) == value


@given(file_names)
def test_every_file_name_comes_back_as_it_was(name: str) -> None:
    assert json.loads(canonical_json(name).encode()) == name


@given(texts)
def test_every_canonical_text_is_valid_utf8(text: str) -> None:
    assert canonical_json(text).encode().decode() == canonical_json(text)


@given(st.dictionaries(st.text(), leaves))
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


@given(values)
def test_canonical_json_of_what_came_back_is_the_same_text(value: object) -> None:
    assert canonical_json(json.loads(canonical_json(value))) == canonical_json(value)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_does_not_know_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"time_s": number})


def test_the_digest_of_abc_is_the_published_one() -> None:
    # FIPS 180-2, appendix B.1
    assert digest("abc").startswith("ba7816bf8f01cfea414140de5dae2223")


@given(st.text())
def test_a_text_has_the_digest_of_its_utf8(text: str) -> None:
    assert digest(text) == digest(text.encode())


@given(texts)
def test_every_text_has_a_digest(text: str) -> None:
    assert len(digest(text)) == 64


@given(st.integers(), st.lists(st.text() | st.integers()))
def test_chance_lies_between_0_and_1_and_repeats(seed: int, parts: list[str | int]) -> None:
    number = unit_interval(seed, *parts)
    assert 0 <= number < 1
    assert number == unit_interval(seed, *parts)


def test_chance_is_spread_evenly() -> None:
    tenths = [int(10 * unit_interval(0, "slot", n)) for n in range(2000)]
    assert all(150 < tenths.count(tenth) < 250 for tenth in range(10))


def test_parts_are_not_run_together() -> None:
    assert derive(0, "a", "bc") != derive(0, "ab", "c")
    assert derive(0, "1") != derive(0, 1)
    assert derive(1, "a") != derive(0, "a")
