"""MT-Video-Bench's files: in without loss or not at all, out as they were, and predictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.clips import draw_folder
from tests.support.dialogue_sets import dialogue as made_dialogue
from tests.support.dialogue_sets import write_dialogues
from tests.support.json_schemas import problems
from tests.support.played import invoke
from tests.support.published_dialogues import Json, checks, dialogue, lay, published
from tests.support.set_cards import read_card
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import DialogueResult, RoundLine, write_result
from videoautoarena.runs.bench.format.schema import (
    MANIFEST,
    QUESTIONS,
    BenchVideo,
    DialogueItem,
    schemas,
)
from videoautoarena.runs.bench.format.writer import BEFORE_PASSING_ON
from videoautoarena.runs.exchange.interop.mt_video_bench import (
    STEMS,
    UNASKED,
    export_mt_video_bench,
    export_predictions,
    import_mt_video_bench,
)
from videoautoarena.video.folder.find import find_videos


def files_in(folder: Path) -> dict[str, Json]:
    """Return what all JSON files below a folder hold, by their place."""
    return {
        file.relative_to(folder).as_posix(): json.loads(file.read_text())
        for file in sorted(folder.rglob("*.json"))
    }


def through(folder: Path) -> tuple[dict[str, Json], dict[str, Json]]:
    """Import the files below `in` and export them again; return both."""
    if not (folder / "set").exists():
        import_mt_video_bench(folder / "in", folder / "set")
    export_mt_video_bench(open_bench(folder / "set"), folder / "out")
    return files_in(folder / "in"), files_in(folder / "out")


def taken(folder: Path, stem: str, files: list[Json]) -> OpenBench[DialogueItem]:
    lay(folder / "in", stem, files)
    import_mt_video_bench(folder / "in", folder / "set")
    return open_bench(folder / "set")


def test_six_abilities_become_one_set_and_come_out_as_they_were(tmp_path: Path) -> None:
    for stem in STEMS.values():
        lay(tmp_path / "in", stem, published(stem))
    to = tmp_path / "set"
    said = invoke("import", "mt-video-bench", tmp_path / "in", "--to", to, width=300)
    assert said.exit_code == 0, said.output
    assert "24 dialogues (object_reference 4, memory_recall 4, content_summary 4" in said.stdout
    # One tagged round of three in four abilities, and every round in the other two.
    assert "40 of 72 rounds scored by 120 items, 67 % of them Yes" in said.stdout
    assert "32 rounds without a checklist of its own: context" in said.stderr
    assert invoke("bench", "verify", to).exit_code == 0
    bench = open_bench(to)
    assert bench.manifest.counts["ability"] == dict.fromkeys(sorted(STEMS), 4)
    assert {item.extra.get("event_index") for item in bench.items} == {1, None}
    assert [key for item in bench.items for key in item.extra if key != "event_index"] == []
    export_mt_video_bench(bench, tmp_path / "out")
    assert files_in(tmp_path / "out") == files_in(tmp_path / "in")


def test_only_tagged_rounds_are_scored_and_of_two_abilities_all(tmp_path: Path) -> None:
    scored = {}
    for stem in ("summary", "topic_shifting"):
        files = published(stem, ["v"])
        for video in files[1].values():
            video["1"] = [checks(k, "yes") for k in (1, 2, 3)]
        bench = taken(tmp_path / stem, stem, files)
        scored[stem] = [[one.is_scored for one in item.rounds] for item in bench.items]
        before, after = through(tmp_path / stem)
        assert after == before
    assert scored == {
        "summary": [[False, False, True]] * 2,
        "topic_shifting": [[True] * 3, [True] * 3],
    }


def test_pairs_belong_together_by_their_number_whatever_their_order_and_case(
    tmp_path: Path,
) -> None:
    odd = {"A3": "nO", "Q1": "First?", "round index": 3, "Q3": "Third?", "A1": " YES ", "Q2": ""}
    files: list[Json] = [{"v": [dialogue(7)]}, {"v": {"7": [{**odd, "A2": None}]}}]
    bench = taken(tmp_path, "object_reference", files)
    found = [(check.text, check.expected) for check in bench.items[0].rounds[2].checklist]
    assert found == [("First?", "yes"), ("Third?", "no")]
    assert through(tmp_path)[1] == files_in(tmp_path / "in")


def test_what_is_missing_or_belongs_to_nothing_is_kept_and_counted(tmp_path: Path) -> None:
    gap = dialogue("a", "topic_shifting")
    gap["mtqa"]["Round 5"] = gap["mtqa"].pop("Round 2")
    files: list[Json] = [
        {
            "v": [gap, dialogue(2, "topic_shifting")],
            "empty": [],
            "w": [dialogue(1)],
            "x": [dialogue(1)],
        },
        {
            "v": {"a": [checks(5, "Yes"), checks(9, "No"), checks(5, "No", "No")], "lost": [1]},
            "w": {"1": []},
            "x": {},
            "gone": {},
        },
    ]
    lay(tmp_path / "in", "topic_shifting", files)
    said = invoke("import", "mt-video-bench", tmp_path / "in", "--to", tmp_path / "set", "--json")
    found = json.loads(said.stdout)
    assert (found["dialogues"], found["scored"], found["strays"], found["kept"]) == (4, 1, 1, 2)
    item = open_bench(tmp_path / "set").items[0]
    assert [len(one.checklist) for one in item.rounds] == [0, 0, 2]  # of several, the last
    assert [one.user[17:] for one in item.rounds] == ["1 of a?", "3 of a?", "2 of a?"]
    assert through(tmp_path)[1] == files_in(tmp_path / "in")


def test_one_file_is_enough_and_its_checklists_may_lie_beside_it(tmp_path: Path) -> None:
    file = lay(tmp_path / "in", "memory_recall", published("memory_recall"))
    one = import_mt_video_bench(file, tmp_path / "one")
    checklist = tmp_path / "in" / "checklist" / "memory_recall_CheckList.json"
    checklist.rename(file.parent / checklist.name)
    other = import_mt_video_bench(file.parent, tmp_path / "other")
    assert one.bench == other.bench
    assert one.abilities == {"memory_recall": 4}
    again = import_mt_video_bench(file, tmp_path / "one")
    assert again.was_there


def test_an_event_has_a_clip_of_its_own_only_where_just_one_file_can_be_meant(
    tmp_path: Path,
) -> None:
    videos = tmp_path / "videos"
    videos.mkdir()
    for name in ("v1_1.mp4", "v1_1.srt", "v1_2.mp4", "v1_2.webm", "v2_1.mkv", "v2_2", "v2_1_1.mp4"):
        (videos / name).touch()
    lay(tmp_path / "in", "summary", published("summary", ["v1", "v2", "v2_1"]))
    made = import_mt_video_bench(tmp_path / "in", tmp_path / "set", videos=videos)
    bench = open_bench(tmp_path / "set")
    # The file v2_1.mkv is the video v2_1 itself; two files are called v1_2.
    assert [item.video_id for item in bench.items] == ["v1_1", "v1", "v2", "v2_2", "v2_1_1", "v2_1"]
    assert [item.cluster for item in bench.items] == ["v1"] * 2 + ["v2"] * 2 + ["v2_1"] * 2
    assert bench.manifest.videos["v1_1"] == BenchVideo(path="v1_1.mp4")
    assert (made.clips, made.videos) == (3, 6)
    export_mt_video_bench(bench, tmp_path / "out")
    assert files_in(tmp_path / "out") == files_in(tmp_path / "in")
    # One file name for events of two videos is that of neither.
    files: list[Json] = [{"a": [dialogue("b_1")], "a_b": [dialogue(1)]}, {}]
    (videos / "a_b_1.mp4").touch()
    lay(tmp_path / "other", "summary", files)
    assert import_mt_video_bench(tmp_path / "other", tmp_path / "two", videos=videos).clips == 0
    with pytest.raises(BadInput, match="is no folder"):
        import_mt_video_bench(tmp_path / "in", tmp_path / "set", videos=tmp_path / "no")


def line(qid: str, number: int, text: str | None, end: Any = "answered") -> RoundLine:
    return RoundLine(qid=qid, round=number, end=end, response=text)


def test_predictions_stand_where_the_published_scorer_looks_for_them(tmp_path: Path) -> None:
    gap = dialogue(4, "topic_shifting")
    gap["mtqa"]["Round 5"] = gap["mtqa"].pop("Round 2")
    names = ("v", "w")
    files: list[Json] = [
        {"v": [gap], "w": [dialogue("x", "topic_shifting")]},
        {"v": {"4": [checks(1, "Yes"), checks(5, "Yes")]}, "w": {"x": [checks(1, "Yes")]}},
    ]
    bench = taken(tmp_path, "topic_shifting", files)
    lines = [line("topic_shifting_0", 1, "A dog."), line("topic_shifting_0", 3, None, "forfeit")]
    lines.append(line("topic_shifting_1", 1, None, "void"))
    done = export_predictions(bench, tmp_path / "said", lines)
    assert done.files == ("topic_shifting.json",)
    assert (done.dialogues, len(names)) == (1, 2)  # of a video that is lost there is none
    assert files_in(tmp_path / "said") == {
        "topic_shifting.json": {"v": {"4": ["A dog.", UNASKED, UNASKED, UNASKED, ""]}}
    }
    with pytest.raises(BadInput, match="already exists"):
        export_predictions(bench, tmp_path / "said", lines)


def test_a_played_model_goes_out_by_command_whoever_marked_it(tmp_path: Path) -> None:
    bench = taken(tmp_path, "summary", published("summary", ["v"]))
    for judge, places in (("j", (0,)), ("k", (0, 1))):
        lines = [
            RoundLine(qid=f"summary_{k}", round=3, end="answered", response=f"Told {k}.",
                      answers=["yes"] * 3)
            for k in places
        ]  # fmt: skip
        write_result(
            bench,
            DialogueResult(bench=bench.bench, model="p:m", judge=judge, how="run", lines=lines),
        )
    line_ = ("bench", "export", bench.folder, "--to")
    done = invoke(*line_, tmp_path / "said", "--model", "m")
    assert "2 dialogues in 1 file" in done.output
    assert files_in(tmp_path / "said") == {
        "summary.json": {"v": {str(k + 1): [UNASKED, UNASKED, f"Told {k}."] for k in (0, 1)}}
    }
    done = invoke(*line_, tmp_path / "out", "--json")
    found = json.loads(done.stdout)
    assert (found["format"], found["dialogues"]) == ("mt-video-bench", 2)
    assert files_in(tmp_path / "out") == files_in(tmp_path / "in")
    assert "p:m" in str(invoke(*line_, tmp_path / "x", "--model", "other").exception)
    assert "goes out as mt-video-bench" in invoke(*line_, tmp_path / "x", "--format", "mlvu",
                                                 "--model", "m").output  # fmt: skip


def test_a_set_made_here_is_written_by_the_names_of_its_files_without_refusal_twins(
    tmp_path: Path,
) -> None:
    draw_folder(tmp_path / "clips", 1, seconds=2.0)
    (id_,) = [video.id for video in find_videos(tmp_path / "clips").videos]
    abilities: list[Any] = [
        "object_reference",
        "object_reference",
        "topic_shifting",
        "refusal_twin",
    ]
    items = [
        made_dialogue(id_, k, ability=ability, spans=[(0.5, 1.5)] if k > 1 else [])
        for k, ability in enumerate(abilities)
    ]
    bench = write_dialogues(tmp_path / "set", items, videos=tmp_path / "clips")
    done = invoke("bench", "export", bench.folder, "--to", tmp_path / "out")
    assert "1 refusal twin left out" in done.output
    assert "1 dialogue about parts of a video, which it does not say" in " ".join(
        done.output.split()
    )
    found = files_in(tmp_path / "out")
    assert list(found["mtqa/object_reference.json"]) == ["clip00"]
    told = found["mtqa/object_reference.json"]["clip00"]
    assert [one["event_index"] for one in told] == [1, 2]
    assert [one["Ability"] for one in told[0]["mtqa"].values()] == ["", *["Object Reference"] * 2]
    again = import_mt_video_bench(tmp_path / "out", tmp_path / "again")
    assert (again.dialogues, again.scored, again.kept) == (3, 6, 0)


texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
nested = st.recursive(
    st.none() | st.integers(-(2**60), 2**60) | st.booleans() | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=3,
)
tags = st.sampled_from(["Summary", "Memory Recall", "None", None])
rounds = st.dictionaries(
    st.integers(1, 999).map("Round {}".format),
    st.fixed_dictionaries({"User": texts, "Assistant": texts}, optional={"Ability": tags}).flatmap(
        lambda said: st.dictionaries(texts, nested, max_size=1).map(lambda more: more | said)
    ),
    min_size=1,
    max_size=4,
)
pairs = st.lists(st.tuples(texts.filter(str.strip), st.sampled_from(["Yes", "no"])), max_size=5)
lists = st.lists(
    st.builds(
        lambda number, said: (
            checks(number, *(a for _, a in said))
            | {f"Q{k}": q for k, (q, _) in enumerate(said, start=1)}
        ),
        st.integers(1, 9) | st.integers(-(2**70), 2**70),
        pairs,
    ),
    max_size=3,
)
events = st.integers(-3, 10**20) | texts.filter(lambda text: text.strip() != "")


@settings(max_examples=8, deadline=None)
@given(
    stem=st.sampled_from(sorted(STEMS.values())),
    held=st.dictionaries(
        texts.filter(str.strip),
        st.lists(
            st.tuples(events, rounds, lists, st.dictionaries(texts, nested, max_size=2)),
            unique_by=lambda one: str(one[0]),
            max_size=2,
        ),
        max_size=2,
    ),
    strays=st.dictionaries(texts, st.dictionaries(texts, nested, max_size=1), max_size=1),
)
def test_any_dialogue_survives(
    tmp_path_factory: pytest.TempPathFactory, stem: str, held: Any, strays: Any
) -> None:
    folder = tmp_path_factory.mktemp("any")
    held = {**held, "v": [(1, dialogue(1)["mtqa"], [], {})]}
    files: list[Json] = [{}, {k: e for k, e in strays.items() if k not in held}]
    for video, dialogues in held.items():
        files[0][video] = [
            {**more, "event_index": event, "mtqa": said} for event, said, _, more in dialogues
        ]
        files[1][video] = {str(event): checklists for event, _, checklists, _ in dialogues}
    lay(folder / "in", stem, files)
    before, after = through(folder)
    assert after == before


def test_a_hostile_file_stays_text(tmp_path: Path) -> None:
    hostile = "../../../etc/passwd\x00\x1b[2J'; DROP TABLE rounds; --{question}%s\ud800"
    said = {"User": hostile, "Assistant": hostile, "Ability": "Summary", hostile: hostile}
    dialogues = {hostile: [{"event_index": hostile, "mtqa": {"Round 1": said}, hostile: hostile}]}
    checklist = {"round index": 1, "Q1": hostile, "A1": "Yes"}
    lay(tmp_path / "in", "summary", [dialogues, {hostile: {hostile: [checklist]}}])
    done = invoke(
        "import", "mt-video-bench", tmp_path / "in", "--to", tmp_path / "set",
        "--videos", tmp_path, "--licence", hostile,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    card = read_card(tmp_path / "set")
    assert "\x1b" not in done.output + card
    assert BEFORE_PASSING_ON in card
    before, after = through(tmp_path)
    assert after == before
    assert {path.name for path in tmp_path.iterdir()} == {"in", "set", "out"}
    assert {file.name for file in (tmp_path / "out").rglob("*.json")} == {
        "summary.json",
        "summary_CheckList.json",
    }


def test_an_imported_set_meets_the_published_schemas(tmp_path: Path) -> None:
    bench = taken(tmp_path, "summary", published("summary"))
    shapes = schemas()
    manifest = shapes["bench-manifest.schema.json"]
    assert problems(json.loads((bench.folder / MANIFEST).read_text()), manifest, manifest) == []
    shape = shapes["bench-dialogue.schema.json"]
    lines_ = (bench.folder / QUESTIONS).read_text().splitlines()
    assert [problems(json.loads(one), shape, shape) for one in lines_] == [[]] * 4
