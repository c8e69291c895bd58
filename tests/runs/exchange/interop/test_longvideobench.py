"""LongVideoBench's published files: in without loss, with subtitles on the clock of each clip."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.clips import draw_clip
from tests.support.played import invoke
from tests.support.published_tasks import lvb, write
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.play.videos import find_bench_videos, remember_videos
from videoautoarena.runs.cli.program.main import arena, guarded
from videoautoarena.runs.exchange.interop.longvideobench import import_longvideobench
from videoautoarena.runs.run.rundir.reader import stored_subtitles
from videoautoarena.video.folder.subtitles import parse


def record_of(item: TaskItem) -> dict[str, Any]:
    """Return the published record that an item was made of."""
    said = {
        "id": item.qid,
        "video_path": item.video_id,
        "question": item.question,
        "candidates": item.options,
        "duration": item.duration_s,
        "topic_category": item.category,
        "question_category": item.task,
    }
    return {key: value for key, value in said.items() if value is not None} | item.extra


def laid(folder: Path, spoken: dict[str, Any]) -> Path:
    """Return a folder with a validation file of two clips and these files of subtitles."""
    write(folder / "lvb_val.json", lvb(4))
    for name, cues in spoken.items():
        write(folder / "subtitles" / name, cues)
    return folder


def test_both_published_files_come_in_without_loss(tmp_path: Path) -> None:
    rows = lvb(6)
    blind = lvb(8, keyed=False)
    for row in blind:
        row["id"] = f"test-{row['id']}"
    write(tmp_path / "in" / "lvb_val.json", rows)
    write(tmp_path / "in" / "lvb_test_wo_gt.json", blind)
    write(tmp_path / "in" / "other.json", "not looked at")
    said = invoke("import", "longvideobench", tmp_path / "in", "--to", tmp_path / "set", "--json")
    taken = json.loads(said.stdout)
    assert (taken["kind"], taken["splits"]) == ("choice", {"test": 8, "val": 6})
    assert (taken["tasks"], taken["without_key"]) == ({"S2E": 7, "TAA": 7}, 8)
    items = open_bench(tmp_path / "set").items
    assert [record_of(item) for item in items] == [*blind, *rows]
    assert [item.answer for item in items[7:10]] == [None, "person 0 of 0", "person 1 of 1"]
    assert open_bench(tmp_path / "set").manifest.videos["vid-0.mp4"].path == "vid-0.mp4"
    assert invoke("bench", "verify", tmp_path / "set").exit_code == 0


def test_a_file_on_its_own_is_of_the_split_that_was_asked_for(tmp_path: Path) -> None:
    file = write(tmp_path / "mine.json", lvb(2))
    words = ("import", "longvideobench", file, "--to", tmp_path / "set", "--split", "test")
    assert "2 items (test: S2E 1, TAA 1) about 1 video" in invoke(*words, width=200).stdout


def test_the_right_place_is_kept_where_its_option_is_repeated(tmp_path: Path) -> None:
    rows = lvb(2)
    rows[1] |= {"candidates": ["a", "b", "b"], "correct_choice": 2}
    taken, _ = import_longvideobench(write(tmp_path / "a.json", rows), tmp_path / "set")
    item = open_bench(tmp_path / "set").items[1]
    assert (item.answer, item.keys, item.extra["correct_choice"]) == ("b", {1, 2}, 2)
    assert [found.flaw for found in taken.shortcuts.defects] == ["options repeat"]


def test_subtitles_are_written_on_the_clock_of_the_clip(tmp_path: Path) -> None:
    said = {
        "vid-0_en.json": [
            {"start": "00:01:30.000", "end": "00:01:39.999", "line": "before the clip"},
            {"start": "00:01:38.500", "end": "00:01:41.250", "line": "it\n\nbegins --> now"},
            {"start": "00:01:50.0", "end": "00:02:10.000", "line": "to the end"},
            {"start": "00:01:52.500", "end": "00:02:10.000", "line": "after the clip"},
        ],
        "vid-1_en.json": [
            {"timestamp": [104.0, 105.5], "text": "spoken \u4e2d"},
            {"timestamp": [111.0, None], "text": "unended \ud800"},
            {"timestamp": [112.0, 113.0], "text": " "},
        ],
    }
    place = laid(tmp_path / "in", said)
    folder = tmp_path / "srt"
    words = ("import", "longvideobench", place, "--to", tmp_path / "set", "--subtitles", folder)
    answer = json.loads(invoke(*words, "--json").stdout)
    assert answer["subtitles"] == {"folder": str(folder), "files": 2, "lacking": []}
    cues = {
        file.name: [(cue.start_s, cue.end_s, cue.text) for cue in parse(file.read_text("utf-8"))]
        for file in sorted(folder.iterdir())
    }
    assert cues == {
        "vid-0.srt": [(0.0, 1.25, "it begins -> now"), (10.0, 12.5, "to the end")],
        "vid-1.srt": [(3.0, 4.5, "spoken \u4e2d"), (10.0, 12.5, "unended ?")],
    }
    for video in open_bench(tmp_path / "set").manifest.videos.values():
        assert video.subtitles is not None
        assert video.subtitles.sha256 == digest((folder / video.subtitles.path).read_bytes())
    assert invoke(*words).exit_code == 0
    assert {path.name for path in place.rglob("*")} == {
        *("lvb_val.json", "subtitles", "vid-0_en.json", "vid-1_en.json")
    }


def test_a_bench_is_played_with_the_subtitles_that_were_written_and_no_others(
    tmp_path: Path,
) -> None:
    said = {"vid-0_en.json": [{"timestamp": [100.5, 101.5], "text": "it rains"}]}
    place = laid(tmp_path / "in", said)
    videos = tmp_path / "videos"
    videos.mkdir()
    for number in range(2):
        draw_clip(videos / f"vid-{number}.mp4", number, seconds=2)
    import_longvideobench(place, tmp_path / "set", subtitles=videos)
    bench = open_bench(tmp_path / "set")
    names = ["vid-0.mp4", "vid-1.mp4"]
    found = find_bench_videos(bench, names, folder=videos, store=None)
    assert (list(found.videos), found.lost) == (names, {})
    with Store.create(tmp_path / "calls.sqlite", {}) as store:
        remember_videos(bench, store, found)
        kept = stored_subtitles(store, found.videos["vid-0.mp4"].id)
    assert kept is not None
    assert [(cue.start_s, cue.end_s, cue.text) for cue in kept.cues] == [(0.5, 1.5, "it rains")]
    (videos / "vid-0.srt").unlink()
    found = find_bench_videos(bench, names, folder=videos, store=None)
    assert found.lost == {"vid-0.mp4": "has lost its subtitles"}


def test_without_a_folder_for_them_subtitles_are_not_even_read(tmp_path: Path) -> None:
    place = laid(tmp_path / "in", {"vid-0_en.json": "no list"})
    words = ("import", "longvideobench", place / "lvb_val.json", "--to", tmp_path / "set")
    said = invoke(*words, "--json", width=300)
    assert json.loads(said.stdout)["subtitles"] is None
    assert f"subtitles in {place / 'subtitles'} are not used" in said.stderr
    videos = open_bench(tmp_path / "set").manifest.videos.values()
    assert {video.subtitles for video in videos} == {None}


def test_a_time_later_than_any_is_written_as_one_that_can_be(tmp_path: Path) -> None:
    rows = [row | {"duration": 1e308} for row in lvb(2)]
    place = laid(tmp_path / "in", {"vid-0_en.json": [{"timestamp": [1e307, None], "text": "a"}]})
    write(place / "lvb_val.json", rows)
    import_longvideobench(place, tmp_path / "set", subtitles=tmp_path / "srt")
    said = (tmp_path / "srt" / "vid-0.srt").read_text()
    assert said.splitlines()[1] == "277777:46:40,000 --> 277777:46:40,000"


def test_subtitles_that_are_not_there_are_named(tmp_path: Path) -> None:
    place = laid(tmp_path / "in", {"vid-0_en.json": [{"timestamp": [101, 102], "text": "hello"}]})
    said = invoke(
        *("import", "longvideobench", place, "--to", tmp_path / "set"),
        *("--subtitles", tmp_path / "srt"),
        width=200,
    )
    assert '1 file of subtitles not there, such as "vid-1_en.json"' in said.stderr


def test_subtitles_of_somebody_else_are_not_replaced(tmp_path: Path) -> None:
    place = laid(tmp_path / "in", {"vid-0_en.json": [{"timestamp": [101, 102], "text": "hello"}]})
    (tmp_path / "srt").mkdir()
    (tmp_path / "srt" / "vid-0.srt").write_text("mine")
    with pytest.raises(BadInput, match=r"vid-0.srt is there and says something else"):
        import_longvideobench(place, tmp_path / "set", subtitles=tmp_path / "srt")
    assert (tmp_path / "srt" / "vid-0.srt").read_text() == "mine"
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize(
    ("cues", "told"),
    [
        ("text", "holds a text; it must be a list of subtitles"),
        (["text"], "subtitle 1: is a text, no object"),
        ([{"start": "1:2:3", "line": "a"}], 'subtitle 1: has no "end"'),
        ([{"start": "1:2:3", "end": "later", "line": "a"}], 'has "later" under "end"'),
        ([{"start": "1:2:3", "end": "1:2:4"}], 'has no "line"'),
        ([{"timestamp": [1, 2]}], 'has no "text"'),
        ([{"timestamp": 1, "text": "a"}], "no list of start and end"),
        ([{"timestamp": [1, 2, 3], "text": "a"}], "no list of start and end"),
        ([{"timestamp": [None, 2], "text": "a"}], "without a start"),
        ([{"timestamp": ["1", 2], "text": "a"}], 'a text under "start"'),
        ([{"timestamp": [float("inf"), 2], "text": "a"}], "holds Infinity"),
    ],
)
def test_malformed_subtitles_are_one_line_and_nothing_is_written(
    tmp_path: Path, cues: Any, told: str
) -> None:
    place = laid(tmp_path / "in", {"vid-1_en.json": cues})
    with pytest.raises(BadInput) as wrong:
        import_longvideobench(place, tmp_path / "set", subtitles=tmp_path / "srt")
    assert told in str(wrong.value)
    assert "vid-1_en.json" in str(wrong.value)
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


@pytest.mark.parametrize("name", ["../secret.json", "/etc/passwd", "a\x00b", "s" * 300])
def test_a_path_of_subtitles_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    rows = lvb(2)
    for row in rows:
        row["subtitle_path"] = name
    file = write(tmp_path / "in" / "lvb_val.json", rows)
    write(tmp_path / "in" / "secret.json", [{"timestamp": [100, 101], "text": "secret"}])
    (tmp_path / "in" / "subtitles").mkdir()
    _, spoken = import_longvideobench(file, tmp_path / "set", subtitles=tmp_path / "srt")
    assert spoken is not None
    assert (spoken.files, spoken.lacking) == (0, (name,))


@pytest.mark.parametrize("name", ["..", ".hidden.mp4", "a\nb.mp4", "v" * 300, "a\\b.mp4"])
def test_a_video_with_a_strange_name_gets_no_file(tmp_path: Path, name: str) -> None:
    rows = lvb(2)
    for row in rows:
        row["video_path"] = name
    place = laid(tmp_path / "in", {"vid-0_en.json": [{"timestamp": [100, 101], "text": "a"}]})
    write(place / "lvb_val.json", rows)
    with pytest.raises(BadInput, match="no file of subtitles can be named after the video"):
        import_longvideobench(place, tmp_path / "set", subtitles=tmp_path / "srt")
    assert not (tmp_path / "srt").exists()
    assert import_longvideobench(place, tmp_path / "set")[0].questions == 2


def test_items_that_contradict_each_other_about_subtitles_are_refused(tmp_path: Path) -> None:
    rows = lvb(2)
    rows[1]["starting_timestamp_for_subtitles"] = 7
    file = write(tmp_path / "in" / "lvb_val.json", rows)
    told = '"vid-0_1" and another item say of "vid-0.mp4" other subtitles'
    with pytest.raises(BadInput, match=told):
        import_longvideobench(file, tmp_path / "set", subtitles=tmp_path / "srt")


texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
named = texts.filter(str.strip)
anything = st.none() | st.integers(-(2**60), 2**60) | st.lists(texts, max_size=2) | texts


@st.composite
def rows_of(draw: st.DrawFn) -> dict[str, Any]:
    options = draw(st.lists(texts, min_size=1, max_size=8))
    return {
        **draw(
            st.dictionaries(texts.filter(lambda key: "_" not in key and len(key) < 5), anything)
        ),
        "id": draw(st.uuids().map(str)),
        "video_path": draw(named),
        "question": draw(texts),
        "question_category": draw(named),
        "candidates": options,
        **draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "correct_choice": st.none() | st.integers(-1, len(options) - 1),
                    "topic_category": st.none() | texts,
                    "duration": st.none() | st.integers(0, 2**53),
                    "starting_timestamp_for_subtitles": st.none() | st.floats(0, 1e9),
                    "subtitle_path": st.none() | texts,
                    "video_id": anything,
                },
            )
        ),
    }


@settings(max_examples=15, deadline=None)
@given(rows=st.lists(rows_of(), min_size=1, max_size=4))
def test_any_record_survives(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    import_longvideobench(write(folder / "a.json", rows), folder / "set")
    assert [record_of(item) for item in open_bench(folder / "set").items] == rows


def spoilt(change: Callable[[dict[str, Any]], object]) -> str:
    rows = lvb(3)
    change(rows[1])
    return json.dumps(rows)


MALFORMED = [
    *(
        (spoilt(lambda row, key=key: row.pop(key)), f'item 2: has no "{key}"')  # type: ignore[misc]
        for key in ("id", "video_path", "question", "question_category", "candidates")
    ),
    (spoilt(lambda row: row.update(candidates=[])), 'has no "candidates"'),
    (spoilt(lambda row: row.update(candidates=["a"] * 27)), "has 27 options under"),
    (spoilt(lambda row: row.update(candidates={"0": "a"})), "has an object under"),
    (spoilt(lambda row: row.update(correct_choice=5)), 'has "5" under "correct_choice"'),
    (spoilt(lambda row: row.update(correct_choice=-2)), 'has "-2" under "correct_choice"'),
    (spoilt(lambda row: row.update(correct_choice=True)), 'has "True" under "correct_choice"'),
    (spoilt(lambda row: row.update(correct_choice=1.0)), 'has "1.0" under "correct_choice"'),
    (spoilt(lambda row: row.update(correct_choice="B")), 'has "B" under "correct_choice"'),
    (spoilt(lambda row: row.update(topic_category=0)), 'a number under "topic_category"'),
    (spoilt(lambda row: row.update(subtitle_path=[])), 'a list under "subtitle_path"'),
    (spoilt(lambda row: row.update(question_category="x" * 101)), "of 1 to 100 characters"),
    (spoilt(lambda row: row.update(starting_timestamp_for_subtitles="0")), "number of seconds"),
    (spoilt(lambda row: row.update(duration=float("inf"))), "holds Infinity"),
    (spoilt(lambda row: row.update(id="vid-0_0")), 'the id "vid-0_0" is taken'),
    ('[{"id": "v", "id": "w"}]', 'has the key "id" twice'),
    (json.dumps([row | {"question_category": row["id"]} for row in lvb(1001)]), "1,000 tasks"),
    ('{"rows": []}', "holds an object; it must be a list"),
]


@pytest.mark.parametrize(("content", "told"), MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_file_is_one_line_that_names_the_place(
    tmp_path: Path, content: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "lvb_val.json"
    file.write_text(content)
    typed = ["import", "longvideobench", str(tmp_path), "--to", str(tmp_path / "set")]
    assert guarded(lambda: arena.main(typed, standalone_mode=False)) == 1
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert told in line
    assert str(file) in line
    assert {path.name for path in tmp_path.iterdir()} == {"lvb_val.json"}
