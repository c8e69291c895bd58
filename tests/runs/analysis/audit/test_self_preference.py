"""What an audit says of a judge and its own family."""

from __future__ import annotations

import pytest

from tests.support.audited import audited, by_key, entry, fought
from videoautoarena.runs.analysis.audit.biases import audit_family
from videoautoarena.runs.analysis.audit.evidence import family_of

CAST = {
    "mini": entry("openai:gpt-4o-mini"),
    "flash": entry("google_genai:gemini-2.5-flash"),
    "gpt": entry("openai:gpt-4o"),
    "qwen": entry("openrouter:Qwen/Qwen2-VL-72B"),
}


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openai:gpt-4o", "gpt"),
        ("openrouter:openai/gpt-4o-mini", "gpt"),
        ("vllm:Qwen/Qwen2.5-VL-7B", "qwen"),
        ("google_genai:models/gemini-1.5-pro", "gemini"),
        ("offline:judge", "judge"),
        ("x:123", "x:123"),
        ("alone", "alone"),
    ],
)
def test_a_family_is_the_first_word_of_a_models_name(model: str, family: str) -> None:
    assert family_of(model) == family


def test_a_judge_that_favours_its_own_is_found_out_by_the_others() -> None:
    battles = [
        fought(k, "mini", "flash", "a", "gpt:a", "qwen:b" if k % 2 else "qwen:a") for k in range(60)
    ]
    found = by_key(audit_family(audited(battles, cast=CAST, judges=("gpt", "qwen"))))
    assert set(found) == {"family.own.gpt", "family.excess.gpt"}
    assert found["family.own.gpt"].value == 1
    assert found["family.excess.gpt"].value == pytest.approx(0.5)
    assert found["family.excess.gpt"].is_alarm


def test_a_judge_whose_own_is_as_good_to_everybody_favours_nobody() -> None:
    battles = [
        fought(k, *pair, winner, f"gpt:{winner}", f"qwen:{winner}")
        for k in range(40)
        for pair, winner in [(("mini", "flash"), "a") if k % 2 else (("flash", "mini"), "b")]
    ]
    found = by_key(audit_family(audited(battles, cast=CAST, judges=("gpt", "qwen"))))
    assert found["family.own.gpt"].value == 1
    assert found["family.excess.gpt"].value == 0
    assert not found["family.excess.gpt"].is_alarm


def test_others_count_in_the_same_seating_only() -> None:
    battles = [
        fought(k, "mini", "flash", "a", "gpt:a", "gpt:b:ba", "qwen:tie:ba") for k in range(9)
    ]
    found = by_key(audit_family(audited(battles, cast=CAST, judges=("gpt", "qwen"))))
    assert found["family.own.gpt"].value == 0.5
    assert (found["family.excess.gpt"].value, found["family.excess.gpt"].n) == (-0.5, 9)


def test_a_lone_judge_cannot_be_told_from_one_whose_family_is_good() -> None:
    battles = [fought(k, "mini", "flash", "a", "gpt:a") for k in range(9)]
    (found,) = audit_family(audited(battles, cast=CAST, judges=("gpt",)))
    assert "cannot be separated from skill" in found.sentence
    assert not found.is_alarm


def test_battles_within_the_family_and_without_it_are_left_out() -> None:
    cast = CAST | {"big": entry("azure:gpt-5")}
    battles = [fought(0, "mini", "big", "a", "gpt:a"), fought(1, "flash", "qwen", "a", "gpt:a")]
    (found,) = audit_family(audited(battles, cast=cast, judges=("gpt",)))
    assert (found.key, found.n) == ("family.own", 0)
    assert "self-preference cannot occur" in found.sentence
