"""Benches that others publish: in without loss, out as they were."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.played import invoke, lineage, play, video
from tests.support.published_bench import ITEMS, VIDEOS, published, write_published
from tests.support.set_cards import read_card
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.writer import BEFORE_PASSING_ON
from videoautoarena.runs.exchange.interop.videoautobench import (
    as_videoautobench,
    export_videoautobench,
    import_videoautobench,
)


def test_the_published_shape_comes_out_as_it_went_in(tmp_path: Path) -> None:
    file = write_published(tmp_path / "vab.json", published())
    said = invoke("import", "videoautobench", file, "--to", tmp_path / "bench")
    assert f"{ITEMS} questions about {VIDEOS} videos" in said.stdout
    checked = invoke("bench", "verify", tmp_path / "bench")
    assert checked.exit_code == 0
    assert f"intact: bench {open_bench(tmp_path / 'bench').bench[:12]}" in checked.stdout
    out = tmp_path / "out.json"
    assert invoke("bench", "export", tmp_path / "bench", "--to", out).exit_code == 0
    assert out.read_bytes() == file.read_bytes()


def test_an_item_keeps_its_own_qid_and_words(tmp_path: Path) -> None:
    file = write_published(tmp_path / "vab.json", published(6, 4))
    import_videoautobench(file, tmp_path / "bench", licence="CC-BY-NC-SA-4.0")
    bench = open_bench(tmp_path / "bench")
    assert [item.qid for item in bench.items] == list(published(6, 4))
    first = bench.items[0]
    source = published(6, 4)["vid_0-x_1"]
    assert first.question == source["question"]
    assert first.question.startswith("**\n\n")
    assert (first.chosen_by, first.category, first.duration_s) == ("source", None, None)
    assert bench.manifest.licence == "CC-BY-NC-SA-4.0"
    assert (bench.manifest.source.kind, bench.manifest.count) == ("import", 6)


@pytest.mark.parametrize("form", [{"indent": 2}, {"ensure_ascii": False}, {"indent": None}, {}])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_file_of_a_usual_writer_comes_out_byte_for_byte(
    tmp_path: Path, form: dict[str, Any], end: str
) -> None:
    file = tmp_path / "vab.json"
    file.write_text(json.dumps(published(5, 4), **form) + end, encoding="utf-8")
    import_videoautobench(file, tmp_path / "bench")
    export_videoautobench(open_bench(tmp_path / "bench"), tmp_path / "out.json")
    assert (tmp_path / "out.json").read_bytes() == file.read_bytes()


def test_unknown_keys_and_their_order_are_kept(tmp_path: Path) -> None:
    bench = published(4, 4)
    second = list(bench)[1]
    bench[second] = {
        "qid": second,
        **dict(reversed(bench[second].items())),
        "evol": {"of": [1, 2.5, None, True], "€": "½\u2028"},
    }
    file = write_published(tmp_path / "vab.json", bench)
    taken = import_videoautobench(file, tmp_path / "bench")
    assert taken.extra == 1
    export_videoautobench(open_bench(tmp_path / "bench"), tmp_path / "out.json")
    assert (tmp_path / "out.json").read_bytes() == file.read_bytes()


texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
parts = ("persona", "question", "selected answer", "rejected answer")
nested = st.recursive(
    st.none() | st.integers() | st.booleans() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
)
items = st.fixed_dictionaries(
    {"video_id": texts.filter(bool), **dict.fromkeys(parts, texts)}, optional={"extra": nested}
)


@settings(max_examples=15, deadline=None)
@given(bench=st.dictionaries(texts.filter(str.strip), items, min_size=1, max_size=4))
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, bench: dict[str, Any]) -> None:
    folder = tmp_path_factory.mktemp("any")
    file = write_published(folder / "vab.json", bench)
    import_videoautobench(file, folder / "bench")
    back = as_videoautobench(open_bench(folder / "bench"))
    assert back == bench
    assert [list(one) for one in back.values()] == [list(one) for one in bench.values()]


def spoilt(change: Callable[[dict[str, Any]], object]) -> str:
    bench = published(3, 3)
    change(bench[list(bench)[1]])
    return json.dumps(bench)


SECOND = list(published(3, 3))[1]
DOUBLED = '{"video_id": "v", "persona": "", "persona": "x", "question": "", '
ENDING = '"selected answer": "", "rejected answer": ""}'


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (spoilt(lambda item: item.pop("persona")), f'"{SECOND}": has no "persona"'),
        (spoilt(lambda item: item.pop("rejected answer")), f'"{SECOND}": has no "rejected answer"'),
        (spoilt(lambda item: item.update(question=None)), f'"{SECOND}": has null under "question"'),
        (spoilt(lambda item: item.update(question=7)), f'"{SECOND}": has a number under'),
        (spoilt(lambda item: item.update(persona=[])), f'"{SECOND}": has a list under'),
        (spoilt(lambda item: item.update(video_id="")), f'"{SECOND}": needs a "video_id"'),
        (spoilt(lambda item: item.update(x=float("nan"))), f'"{SECOND}": holds NaN'),
        (spoilt(lambda item: item.update(x=[-float("inf")])), f'"{SECOND}": holds -Infinity'),
        (spoilt(lambda item: item.update(x=1)).replace(": 1}", ": 1e999}"), "holds 1e999"),
        (f'{{"q": {DOUBLED}{ENDING}}}', '"q": has the key "persona" twice'),
        ('{"q_1": {}, "q_1": {}}', 'has the qid "q_1" twice'),
        ('{"q": "text"}', '"q": is a text, no object'),
        ('{"": {}}', "a qid must have 1 to 1000 characters"),
        (json.dumps({"q" * 1001: {}}), "a qid must have 1 to 1000 characters"),
        (spoilt(lambda item: item.update(x="[" * 60)).replace(f'"{"[" * 60}"', "[" * 60 + "]" * 60),
         f'"{SECOND}": is nested deeper than 50 levels'),
        ("[" * 100_000, "is nested too deep"),
        ('{"q": ' * 100_000, "is nested too deep"),
        ("[]", "holds a list; it must be an object"),
        ("null", "holds null"),
        ("{}", "holds no question"),
        ("", "is empty"),
        (" \n", "is empty"),
        ("{", "is no JSON: line 1"),
        (f'{{"q": {"9" * 5000}}}', "a number in it is too long"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_one_line_that_names_the_place(
    tmp_path: Path, content: str, told: str
) -> None:
    file = tmp_path / "vab.json"
    file.write_text(content)
    with pytest.raises(BadInput) as wrong:
        import_videoautobench(file, tmp_path / "bench")
    assert told in str(wrong.value)
    assert str(file) in str(wrong.value)
    assert "\n" not in str(wrong.value)
    assert not (tmp_path / "bench").exists()


def test_what_is_no_utf_8_is_said(tmp_path: Path) -> None:
    file = tmp_path / "vab.json"
    file.write_bytes('{"é": {}}'.encode("latin-1"))
    with pytest.raises(BadInput, match="is not UTF-8 text"):
        import_videoautobench(file, tmp_path / "bench")


def test_all_items_that_cannot_be_used_are_told_at_once(tmp_path: Path) -> None:
    bench = published(20, 20)
    for item in list(bench.values())[5:]:
        del item["question"]
    with pytest.raises(BadInput, match=r'has no "question"; .* and 6 more cannot be used either'):
        import_videoautobench(write_published(tmp_path / "v.json", bench), tmp_path / "bench")


def test_a_hostile_file_stays_text(tmp_path: Path) -> None:
    hostile = "../../../etc/passwd\x00\x1b[2J'; DROP TABLE battles; --{question}"
    bench = {hostile: dict.fromkeys(published(1, 1)["vid_0-x_1"], hostile)}
    file = write_published(tmp_path / "vab.json", bench)
    said = invoke(
        "import", "videoautobench", file, "--to", tmp_path / "bench", "--licence", hostile
    )
    assert said.exit_code == 0
    card = read_card(tmp_path / "bench")
    assert "\x1b" not in said.output + card
    assert BEFORE_PASSING_ON in card
    assert {path.name for path in tmp_path.iterdir()} == {"vab.json", "bench"}
    assert as_videoautobench(open_bench(tmp_path / "bench")) == bench


def test_the_same_file_imports_to_the_same_bench(tmp_path: Path) -> None:
    file = write_published(tmp_path / "vab.json", published(3, 3))
    first = import_videoautobench(file, tmp_path / "bench")
    again = import_videoautobench(file, tmp_path / "bench")
    other = import_videoautobench(file, tmp_path / "other")
    assert (first.was_there, again.was_there) == (False, True)
    assert first.bench == again.bench == other.bench
    with pytest.raises(BadInput, match="holds something else"):
        import_videoautobench(file, tmp_path / "bench", licence="MIT")


def test_a_frozen_run_is_exported_as_the_published_file(tmp_path: Path) -> None:
    play(tmp_path / "out", lineage(video()))
    invoke("freeze", tmp_path / "out", "--to", tmp_path / "bench")
    out = tmp_path / "out.json"
    said = json.loads(invoke("bench", "export", tmp_path / "bench", "--to", out, "--json").stdout)
    exported = json.loads(out.read_text())
    assert said["questions"] == len(exported) > 0
    assert list(next(iter(exported.values()))) == list(published(1, 1)["vid_0-x_1"])
    import_videoautobench(out, tmp_path / "again")
    assert as_videoautobench(open_bench(tmp_path / "again")) == exported


def test_an_export_replaces_a_file_only_when_asked(tmp_path: Path) -> None:
    file = write_published(tmp_path / "vab.json", published(3, 3))
    import_videoautobench(file, tmp_path / "bench")
    words = ("bench", "export", tmp_path / "bench", "--to", file)
    with pytest.raises(BadInput, match="already exists"):
        export_videoautobench(open_bench(tmp_path / "bench"), file)
    assert invoke(*words, "--force").exit_code == 0
