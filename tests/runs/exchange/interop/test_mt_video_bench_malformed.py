"""Files of MT-Video-Bench that cannot be used: one line names the place, nothing comes in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.dialogue_sets import dialogue, write_dialogues
from tests.support.published_dialogues import Json, checks, lay, published
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.schema import MADE, BenchVideo
from videoautoarena.runs.cli.program.main import arena, guarded
from videoautoarena.runs.exchange.interop import mt_video_bench
from videoautoarena.runs.exchange.interop.mt_video_bench import (
    export_mt_video_bench,
    import_mt_video_bench,
)


def spoilt(change: Callable[[list[Json]], object]) -> list[str]:
    files = published()
    change(files)
    return [json.dumps(file) for file in files]


def in_round(**said: object) -> Callable[[list[Json]], object]:
    return lambda files: files[0]["v2"][0]["mtqa"]["Round 2"].update(said)


def in_event(**said: object) -> Callable[[list[Json]], object]:
    return lambda files: files[0]["v2"][0].update(said)


def in_list(**said: object) -> Callable[[list[Json]], object]:
    return lambda files: files[1]["v2"]["2"].__setitem__(0, {**checks(3, "Yes", "No"), **said})


DEEP = "[" * 60 + "]" * 60
WHERE = 'video "v2", dialogue 1: '
LISTED = 'video "v2", event "2": checklist 1 '
MALFORMED = [
    (spoilt(in_round(User=None)), WHERE + '"Round 2" has null under "User"'),
    (spoilt(in_round(Assistant=["a"])), WHERE + '"Round 2" has a list under "Assistant"'),
    (spoilt(in_round(Ability=3)), WHERE + '"Round 2" has a number under "Ability"'),
    (spoilt(lambda f: f[0]["v2"][0]["mtqa"].update({"round 4": {}})), 'the key "round 4" among'),
    (spoilt(lambda f: f[0]["v2"][0]["mtqa"].update({"Round 1000": {}})), '"Round 1" to 999'),
    (spoilt(lambda f: f[0]["v2"][0]["mtqa"].update({"Round \u0664": {}})), "among rounds"),
    (spoilt(lambda f: f[0]["v2"][0]["mtqa"].update({"Round 4": "x"})), '"Round 4" is a text'),
    (spoilt(in_event(mtqa={})), WHERE + "has no round"),
    (spoilt(in_event(mtqa=[])), WHERE + 'has a list under "mtqa"'),
    (spoilt(lambda f: f[0]["v2"][0].pop("event_index")), WHERE + 'has no "event_index"'),
    (spoilt(in_event(event_index=1.5)), WHERE + 'has a number under "event_index"'),
    (spoilt(in_event(event_index=True)), WHERE + 'has true or false under "event_index"'),
    (spoilt(in_event(event_index=" ")), WHERE + 'needs a "event_index" of 1 to 1000'),
    (spoilt(in_event(event_index=2)), 'video "v2", dialogue 2: is the second of event "2"'),
    (spoilt(in_event(x=float("nan"))), WHERE + "holds NaN"),
    (spoilt(lambda f: f[0].update(v2={})), 'video "v2": is an object; it must be a list'),
    (spoilt(lambda f: f[0]["v2"].append(None)), 'video "v2", dialogue 3: is null, no object'),
    (spoilt(lambda f: f[0].update({"v" * 1001: []})), "needs a name of 1 to 1000"),
    (spoilt(in_list(A1="Maybe")), LISTED + 'has "Maybe" under "A1"; it must be Yes or No'),
    (spoilt(in_list(A1=None)), LISTED + 'has "" under "A1"'),
    (spoilt(in_list(Q2=" ")), LISTED + 'has no "Q2" to "A2"'),
    (spoilt(in_list(Q2=7)), LISTED + 'has a number under "Q2"'),
    (spoilt(in_list(**{"round index": "3"})), LISTED + 'has a text under "round index"'),
    (spoilt(in_list(**{"round index": True})), LISTED + "has true or false"),
    (spoilt(lambda f: f[1]["v2"].update({"2": {}})), 'event "2": is an object; it must be a list'),
    (spoilt(lambda f: f[1].update(v2=[])), 'video "v2": is a list; it must be an object of'),
    (spoilt(lambda f: f[1].update(other={"1": DEEP})), 'video "other", event "1": is nested'),
    (spoilt(lambda f: f[1].update(other={"1": "NAN"})), 'event "1": holds NaN'),
    (['{"v": [], "v": []}', "{}"], 'has the video "v" twice'),
    ([spoilt(id)[0], '{"v1": {"1": [], "1": []}}'], 'video "v1": has the event "1" twice'),
    ([spoilt(id)[0].replace('"User": "', '"User": "", "User": "', 1), "{}"], 'key "User" twice'),
    (["{}", "{}"], "object_reference.json holds no dialogue"),
    (["[]", "{}"], "holds a list; it must be an object of videos"),
    (["NaN", "{}"], "holds no number; it must be"),
    ([spoilt(id)[0], "null"], "_CheckList.json holds null"),
    ([spoilt(id)[0][:-30], "{}"], "object_reference.json is no JSON: line 1"),
    ([spoilt(id)[0], "[" * 100_000], "_CheckList.json is nested too deep"),
    ([spoilt(id)[0], f'{{"v1": {"9" * 5000}}}'], "a number in it is too long"),
    ([spoilt(id)[0], "{\udce9}"], "is not UTF-8 text"),
    ([spoilt(id)[0], ""], "_CheckList.json is empty"),
]


@pytest.mark.parametrize(("contents", "told"), MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_file_is_one_line_that_names_the_place(
    tmp_path: Path, contents: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lay(tmp_path / "in", "memory_recall", published("memory_recall"))
    bad = [lay(tmp_path / "in", "object_reference", published())]
    bad.append(tmp_path / "in" / "checklist" / "object_reference_CheckList.json")
    for file, content in zip(bad, contents, strict=True):
        shown = content.replace(f'"{DEEP}"', DEEP).replace('"NAN"', "NaN")
        file.write_bytes(shown.encode("utf-8", "surrogateescape"))
    typed = ["import", "mt-video-bench", str(tmp_path / "in"), "--to", str(tmp_path / "set")]
    assert guarded(lambda: arena.main(typed, standalone_mode=False)) == 1
    said = capsys.readouterr()
    (one,) = said.err.splitlines()
    assert told in one
    assert any(str(file) in one for file in bad)
    assert said.out == ""
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    file = lay(tmp_path / "in", "summary", published("summary"))
    (tmp_path / "in" / "checklist" / "summary_CheckList.json").unlink()
    with pytest.raises(BadInput, match=r"checklist/summary_CheckList.json is no file"):
        import_mt_video_bench(file, tmp_path / "set")
    with pytest.raises(BadInput, match=r"there is no .*nowhere; pass the folder that holds mtqa"):
        import_mt_video_bench(tmp_path / "nowhere", tmp_path / "set")
    with pytest.raises(BadInput, match="is named after none of the abilities, which are object_"):
        import_mt_video_bench(file.rename(file.with_name("riddles.json")), tmp_path / "set")
    with pytest.raises(BadInput, match=r"holds no file \*.json"):
        import_mt_video_bench(tmp_path / "in" / "checklist", tmp_path / "set")


def test_a_dialogue_and_a_list_of_videos_too_long_for_a_set_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(tmp_path / "in", "summary", published("summary"))
    monkeypatch.setattr(mt_video_bench, "LARGEST_MANIFEST", 100)
    with pytest.raises(BadInput, match=r"summary\.json has too many videos for one set; split it"):
        import_mt_video_bench(tmp_path / "in", tmp_path / "set")
    monkeypatch.setattr(mt_video_bench, "LONGEST_LINE", 100)
    with pytest.raises(BadInput, match=r'"v1", dialogue 1: is longer than .*; nothing was'):
        import_mt_video_bench(tmp_path / "in", tmp_path / "set")
    assert not (tmp_path / "set").exists()


def test_all_records_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    files = published()
    for one in files[0]["v1"]:
        del one["event_index"]
    lay(tmp_path / "in", "object_reference", files)
    with pytest.raises(BadInput, match="1 more cannot be used either; nothing was imported"):
        import_mt_video_bench(tmp_path / "in", tmp_path / "set")


def test_a_set_is_not_written_into_and_what_it_forged_as_records_is_not_written(
    tmp_path: Path,
) -> None:
    forged = {"mtqa": "none", "checklist": "none"}
    items = [dialogue("v", k, event=str(k), extra=forged) for k in (1, 2)]
    bench = write_dialogues(tmp_path / "set", items)
    with pytest.raises(BadInput, match="lies in the set"):
        export_mt_video_bench(bench, bench.folder / "out")
    export_mt_video_bench(bench, tmp_path / "out")
    (file,) = (tmp_path / "out" / "mtqa").iterdir()
    assert [one["mtqa"]["Round 1"]["User"] for one in json.loads(file.read_text())["v"]] == [
        item.rounds[0].user for item in items
    ]


def test_of_two_files_of_a_name_each_is_called_by_its_id(tmp_path: Path) -> None:
    items = [dialogue("one"), dialogue("two"), dialogue("three")]
    bench = write_dialogues(tmp_path / "set", items)
    paths = {"one": "a.mp4", "two": "a.mkv", "three": "b.mp4"}
    manifest = bench.manifest.model_copy(
        update={
            "source": bench.manifest.source.model_copy(update={"kind": MADE}),
            "videos": {id_: BenchVideo(path=path) for id_, path in paths.items()},
        }
    )
    export_mt_video_bench(
        OpenBench(bench.folder, bench.bench, manifest, bench.items), tmp_path / "out"
    )
    (file,) = (tmp_path / "out" / "mtqa").iterdir()
    assert list(json.loads(file.read_text())) == ["one", "two", "b"]
