"""MLVU's published files: in without loss, and a model's choices out as they are submitted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.json_schemas import problems
from tests.support.played import invoke
from tests.support.published_tasks import Rows, mlvu_choice, mlvu_scenes, mlvu_test, write
from tests.support.set_cards import read_card
from tests.support.task_sets import choice as item_of
from tests.support.task_sets import write_set
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import TaskLine, TaskResult, write_result
from videoautoarena.runs.bench.format.schema import MANIFEST, QUESTIONS, TaskItem, schemas
from videoautoarena.runs.bench.format.writer import BEFORE_PASSING_ON
from videoautoarena.runs.cli.program.main import arena, guarded
from videoautoarena.runs.exchange.interop.mlvu import as_mlvu_predictions, import_mlvu

MLVU = Path(__file__).parents[4].parent / "shared" / "mlvu"
needs_mlvu = pytest.mark.skipif(not MLVU.is_dir(), reason="MLVU's files are not at hand")


def record_of(item: TaskItem) -> dict[str, Any]:
    """Return the published record that an item was made of."""
    said = {
        "video": item.video_id,
        "duration": item.duration_s,
        "question": item.question,
        "candidates": item.options,
        "answer": item.answer,
        "scoring_points": item.points,
    }
    return {key: value for key, value in said.items() if value not in (None, [])} | item.extra


def records_of(bench: Path) -> dict[str, Rows]:
    """Return the published files that a set was made of."""
    opened = open_bench(bench)
    files: Any = (opened.manifest.source.layout or {})["files"]
    items = iter(opened.items)
    return {one["name"]: [record_of(next(items)) for _ in range(one["items"])] for one in files}


@needs_mlvu
def test_the_published_files_come_in_without_loss_and_their_defects_are_named(
    tmp_path: Path,
) -> None:
    bench = tmp_path / "set"
    said = invoke("import", "mlvu", MLVU, "--to", bench, width=200)
    assert "1,354 items (dev: plot 539, needle 355, order 259, scene 201)" in said.stdout
    assert records_of(bench) == {
        file.name: json.loads(file.read_text()) for file in sorted(MLVU.glob("*.json"))
    }
    card = read_card(bench).replace("\\", "")
    for told in (
        "5 x options repeat: plot_18, plot_23, plot_335 and 2 more",
        "2 x key is no option: needle_34, needle_338",
    ):
        assert told in said.stderr
        assert told in card
    assert invoke("bench", "verify", bench).exit_code == 0
    assert open_bench(bench).manifest.kind == "tasks"


@needs_mlvu
@pytest.mark.slow
def test_the_probe_of_the_published_files_shows_what_was_measured_of_them(tmp_path: Path) -> None:
    taken = import_mlvu(MLVU, tmp_path / "set")
    said = json.loads(invoke("bench", "probe", tmp_path / "set", "--json").stdout)
    figures = {
        part["task"]: {
            probe["probe"]: round(100 * probe["share"], 1)
            for probe in part["results"]
            if probe["probe"] in ("longest", "prior")
        }
        for part in said["parts"]
    }
    assert figures == {
        "plot": {"longest": 39.8, "prior": 36.6},
        "needle": {"longest": 52.7, "prior": 90.9},
        "order": {"longest": 25.0, "prior": 49.1},
    }
    assert said["given_away"] == taken.shortcuts.given_away > 300
    assert sum(leak > 0.5 for leak in said["leaks"].values()) == said["given_away"]
    flaws = {found["flaw"]: len(found["qids"]) for found in said["defects"]}
    assert (flaws["options repeat"], flaws["key is no option"]) == (5, 2)


def test_dev_and_test_files_make_items_of_their_own_split(tmp_path: Path) -> None:
    write(tmp_path / "in" / "1_plotQA.json", mlvu_choice(3))
    write(tmp_path / "in" / "8_sub_scene.json", mlvu_scenes(2))
    write(tmp_path / "in" / "test_question.json", mlvu_test(4))
    write(tmp_path / "in" / "._1_plotQA.json", "no file of theirs")
    said = invoke("import", "mlvu", tmp_path / "in", "--to", tmp_path / "set", "--json").stdout
    taken = json.loads(said)
    assert (taken["kind"], taken["splits"]) == ("tasks", {"dev": 5, "test": 4})
    assert (taken["tasks"], taken["without_key"]) == ({"plot": 3, "scene": 2, "needle": 4}, 4)
    items = open_bench(tmp_path / "set").items
    assert [item.qid for item in items[:6]] == [
        *("plot_0", "plot_1", "plot_2", "scene_0", "scene_1"),
        "NQA_0",
    ]
    assert items[3].points == ["It rains", "It is scene 0"]
    assert items[5].extra == {"question_type": "needleQA", "question_id": "NQA_0"}
    assert {len(item.keys) for item in items[:3]} == {1}


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (mlvu_choice(2), "choice"),
        (mlvu_scenes(2), "generation"),
        ([*mlvu_choice(1), *mlvu_scenes(1)], "tasks"),
    ],
)
def test_the_kind_of_a_set_is_what_its_items_ask_for(tmp_path: Path, rows: Rows, kind: str) -> None:
    taken = import_mlvu(write(tmp_path / "a.json", rows), tmp_path / "set", split="test")
    assert taken.kind == open_bench(tmp_path / "set").manifest.kind == kind
    assert taken.splits == {"test": len(rows)}


def test_a_video_is_found_by_the_name_in_the_file_and_by_nothing_longer(tmp_path: Path) -> None:
    rows = mlvu_choice(2)
    rows[1]["video"] = "../" * 90 + "etc/passwd"
    import_mlvu(write(tmp_path / "a.json", rows), tmp_path / "set")
    videos = open_bench(tmp_path / "set").manifest.videos
    assert {id_[:6]: video.path for id_, video in videos.items()} == {
        "film_0": "film_0.mp4",
        "../../": None,
    }


def test_an_import_ends_with_how_the_set_is_played(tmp_path: Path) -> None:
    write(tmp_path / "a.json", mlvu_choice(3))
    bench = tmp_path / "set"
    said = invoke("import", "mlvu", tmp_path / "a.json", "--to", bench).stderr.splitlines()[-3:]
    count = len(open_bench(bench).manifest.videos)
    assert f"put its {count} videos into a folder, named as in the set (film_0.mp4)" in said[0]
    assert said[1] == f"arena bench run {bench} --videos FOLDER --model MODEL"
    assert "--allow-missing" in said[2]
    assert "max_frames = 0" in said[2]


def test_repeated_items_are_kept_and_named(tmp_path: Path) -> None:
    rows = [*mlvu_choice(3, "ego"), *mlvu_choice(1, "ego"), *mlvu_scenes(1), *mlvu_scenes(1)]
    rows[3]["candidates"] = ["one", "two", "two", "three"]
    taken = import_mlvu(write(tmp_path / "a.json", rows), tmp_path / "set")
    assert taken.questions == 6
    assert [(found.flaw, found.qids) for found in taken.shortcuts.defects] == [
        ("key is no option", (("ego_3",),)),
        ("options repeat", (("ego_3",),)),
        ("video and question repeat", (("ego_0", "ego_3"), ("scene_0", "scene_1"))),
    ]


texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
named = texts.filter(str.strip)
nested = st.recursive(
    st.none() | st.integers(-(2**60), 2**60) | st.booleans() | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=5,
)
others = st.dictionaries(texts.filter(lambda key: "_" not in key and len(key) < 5), nested)
common = {"video": named, "question": texts}
lengths = st.none() | st.integers(0, 2**53) | st.floats(0, allow_infinity=False)
choice = st.fixed_dictionaries(
    {**common, "candidates": st.lists(texts, min_size=1, max_size=8)}
    | {"question_type": st.sampled_from(["plotQA", "order", "sportsQA", "needle"])},
    optional={"duration": lengths, "answer": st.none() | texts, "scoring_points": st.just([])},
)
free = st.fixed_dictionaries(
    {**common, "question_type": st.sampled_from(["subPlot", "summary"])},
    optional={"duration": lengths, "answer": texts, "scoring_points": st.lists(texts, max_size=3)},
)


@settings(max_examples=15, deadline=None)
@given(
    files=st.lists(
        st.lists(st.tuples(choice | free, others), min_size=1, max_size=4), min_size=1, max_size=2
    )
)
def test_any_record_survives(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[tuple[dict[str, Any], Any]]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    given_ = {f"{n}.json": [{**more, **row} for row, more in rows] for n, rows in enumerate(files)}
    for name, rows in given_.items():
        write(folder / "in" / name, rows)
    import_mlvu(folder / "in", folder / "set")
    assert records_of(folder / "set") == given_


def spoilt(change: Callable[[dict[str, Any]], object], rows: Rows | None = None) -> str:
    rows = rows or mlvu_choice(3)
    change(rows[1])
    return json.dumps(rows)


DEEP = "[" * 60 + "]" * 60
MALFORMED = [
    (spoilt(lambda row: row.pop("video")), 'item 2: has no "video"'),
    (spoilt(lambda row: row.pop("question")), 'item 2: has no "question"'),
    (spoilt(lambda row: row.pop("question_type")), 'item 2: has no "question_type"'),
    (spoilt(lambda row: row.update(question_type="riddle")), '"riddle" under "question_type"'),
    (spoilt(lambda row: row.pop("candidates")), 'item 2: has no "candidates" to choose from'),
    (spoilt(lambda row: row.update(candidates=[])), 'item 2: has no "candidates" to choose from'),
    (spoilt(lambda row: row.update(candidates="abcd")), "has a text under"),
    (spoilt(lambda row: row.update(candidates=["a", 1])), "a number in the list"),
    (spoilt(lambda row: row.update(candidates=["a"]), mlvu_scenes(3)), "is answered in words"),
    (spoilt(lambda row: row.update(scoring_points=[None]), mlvu_scenes(3)), "null in the list"),
    (spoilt(lambda row: row.update(answer=2)), 'item 2: has a number under "answer"'),
    (spoilt(lambda row: row.update(question=None)), 'item 2: has null under "question"'),
    (spoilt(lambda row: row.update(video=" ")), 'needs a "video" of 1 to 1000'),
    (spoilt(lambda row: row.update(video="v" * 1001)), 'needs a "video" of 1 to 1000'),
    (spoilt(lambda row: row.update(duration=-1)), "must be a number of seconds"),
    (spoilt(lambda row: row.update(duration=True)), "true or false under"),
    (spoilt(lambda row: row.update(duration="long")), 'a text under "duration"'),
    (spoilt(lambda row: row.update(duration=2**53 + 1)), "must be a number of seconds"),
    (spoilt(lambda row: row.update(duration=10**400)), "must be a number of seconds"),
    (spoilt(lambda row: row.update(duration=float("nan"))), "holds NaN"),
    (spoilt(lambda row: row.update(x=[float("-inf")])), "holds -Infinity"),
    (spoilt(lambda row: row.update(duration=1)).replace(": 1,", ": 1e999,"), "holds 1e999"),
    (spoilt(lambda row: row.update(question_id=7)), 'a number under "question_id"'),
    (spoilt(lambda row: row.update(question_id="")), 'needs a "question_id"'),
    (spoilt(lambda row: row.update(question_id="plot_0")), 'the id "plot_0" is taken'),
    (spoilt(lambda row: row.update(x=DEEP)).replace(f'"{DEEP}"', DEEP), "deeper than 50"),
    ('[{"video": "v", "video": "w"}]', 'item 1: has the key "video" twice'),
    (json.dumps([*mlvu_choice(1), "text"]), "item 2: is a text, no object"),
    (json.dumps(dict(enumerate(mlvu_choice(2)))), "holds an object; it must be a list"),
    ("[" * 100_000, "is nested too deep"),
    ("[]", "holds no item"),
    ("null", "holds null"),
    ("", "is empty"),
    ("[", "is no JSON: line 1"),
    (f"[{'9' * 5000}]", "a number in it is too long"),
    ("[\udce9]", "is not UTF-8 text"),
]


@pytest.mark.parametrize(("content", "told"), MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_file_is_one_line_that_names_the_place(
    tmp_path: Path, content: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "in" / "0_good.json", mlvu_choice(2, "order"))
    bad = tmp_path / "in" / "1_bad.json"
    bad.write_bytes(content.encode("utf-8", "surrogateescape"))
    typed = ["import", "mlvu", str(tmp_path / "in"), "--to", str(tmp_path / "set")]
    assert guarded(lambda: arena.main(typed, standalone_mode=False)) == 1
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert told in line
    assert str(bad) in line
    assert said.out == ""
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"holds no file \*.json"):
        import_mlvu(tmp_path, tmp_path / "set")
    with pytest.raises(BadInput, match="is no file"):
        import_mlvu(tmp_path / "nowhere.json", tmp_path / "set")


def test_all_records_that_cannot_be_used_are_named_at_once(tmp_path: Path) -> None:
    rows = mlvu_choice(20)
    for row in rows[5:]:
        del row["question"]
    told = r'item 6: has no "question"; 7, .*, 14 and 6 more cannot be used either'
    with pytest.raises(BadInput, match=told):
        import_mlvu(write(tmp_path / "a.json", rows), tmp_path / "set")


def test_a_hostile_file_stays_text(tmp_path: Path) -> None:
    hostile = "../../../etc/passwd\x00\x1b[2J'; DROP TABLE battles; --{question}\ud800"
    row = {**mlvu_choice(1)[0], "video": hostile, "question": hostile, "question_id": hostile}
    rows = [{**row, "candidates": [hostile, hostile], "answer": hostile, hostile: hostile}]
    file = write(tmp_path / "in" / "a.json", rows)
    said = invoke("import", "mlvu", file, "--to", tmp_path / "set", "--licence", hostile)
    probed = invoke("bench", "probe", tmp_path / "set")
    assert (said.exit_code, probed.exit_code) == (0, 0)
    card = read_card(tmp_path / "set")
    assert "\x1b" not in said.output + probed.output + card
    assert BEFORE_PASSING_ON in card
    assert {path.name for path in tmp_path.iterdir()} == {"in", "set"}
    assert records_of(tmp_path / "set") == {"a.json": rows}


def test_the_same_files_import_to_the_same_set(tmp_path: Path) -> None:
    file = write(tmp_path / "a.json", mlvu_choice(5))
    first, again = (import_mlvu(file, tmp_path / "set") for _ in range(2))
    assert (first.was_there, again.was_there) == (False, True)
    assert first.bench == again.bench == import_mlvu(file, tmp_path / "other").bench
    with pytest.raises(BadInput, match="holds something else"):
        import_mlvu(file, tmp_path / "set", licence="MIT")


def test_choices_go_out_as_they_are_submitted(tmp_path: Path) -> None:
    rows = [*mlvu_test(3), *mlvu_scenes(1)]
    import_mlvu(write(tmp_path / "a.json", rows), tmp_path / "set")
    items = open_bench(tmp_path / "set").items
    assert as_mlvu_predictions(items, {"NQA_2": 5, "NQA_0": None, "scene_0": 0, "other": 1}) == [
        {"question_id": "NQA_0", "question_type": "needleQA", "option": ""},
        {"question_id": "NQA_2", "question_type": "needleQA", "option": "F"},
    ]
    for place in (-1, 6):
        with pytest.raises(ValueError, match="NQA_1 has no option at place"):
            as_mlvu_predictions(items, {"NQA_1": place})


def test_an_imported_set_meets_the_published_schemas(tmp_path: Path) -> None:
    rows = [*mlvu_choice(1), *mlvu_test(1), *mlvu_scenes(1)]
    import_mlvu(write(tmp_path / "a.json", rows), tmp_path / "set")
    shapes = schemas()
    manifest = shapes["bench-manifest.schema.json"]
    assert problems(json.loads((tmp_path / "set" / MANIFEST).read_text()), manifest, manifest) == []
    task = shapes["bench-task.schema.json"]
    lines = (tmp_path / "set" / QUESTIONS).read_text().splitlines()
    assert [problems(json.loads(line), task, task) for line in lines] == [[], [], []]


def test_each_task_of_the_published_sets_has_a_name_here(tmp_path: Path) -> None:
    kinds = {
        "topic_reasoning": "topic", "anomaly_reco": "anomaly", "findNeedle": "needle",
        "needleQA": "needle", "ego": "ego", "plotQA": "plot", "order": "order", "count": "count",
        "subPlot": "scene", "summary": "summary", "sportsQA": "sports", "tutorialQA": "tutorial",
    }  # fmt: skip
    for kind, task in kinds.items():
        rows = mlvu_scenes(1) if task in ("scene", "summary") else mlvu_choice(1)
        rows[0]["question_type"] = kind
        taken = import_mlvu(write(tmp_path / "a.json", rows), tmp_path / kind)
        assert Counter(taken.tasks) == {task: 1}
        assert open_bench(tmp_path / kind).items[0].extra == {"question_type": kind}


def test_choices_go_out_for_submission_and_what_is_unreadable_is_empty(tmp_path: Path) -> None:
    options = ["a cat", "a dog", "a boat", "a lamp", "a tree", "a car"]
    items = [
        item_of("v1", k, qid=f"AR_{k}", options=options, answer=None, task="anomaly",
               split="test", extra={"question_type": "anomaly_reco"})
        for k in range(3)
    ]  # fmt: skip
    bench = write_set(tmp_path / "set", items)
    lines = [
        TaskLine(qid=item.qid, end="answered", response=reply)
        for item, reply in zip(items, ("(F)", "It is a boat.", "A or B"), strict=True)
    ]
    write_result(
        bench, TaskResult(bench=bench.bench, model="mine", judge=None, how="run", lines=lines)
    )
    told = invoke("bench", "export", bench.folder, "--model", "mine", "--to", tmp_path / "out.json")
    assert told.exit_code == 0, told.output
    assert "3 predictions, 1 unreadable" in told.output
    assert json.loads((tmp_path / "out.json").read_text()) == [
        {"question_id": "AR_0", "question_type": "anomaly_reco", "option": "F"},
        {"question_id": "AR_1", "question_type": "anomaly_reco", "option": "C"},
        {"question_id": "AR_2", "question_type": "anomaly_reco", "option": ""},
    ]
    scored = json.loads(invoke("bench", "score", bench.folder, "--json").output)
    (row,) = scored["boards"][0]["models"]
    assert (row["m_avg"], row["counts"]) == (None, {"unscored": 3})
    line = ("bench", "export", bench.folder, "--to")
    assert invoke(*line, tmp_path / "out.json", "--model", "mine").exception is not None
    assert "--model" in invoke(*line, tmp_path / "other.json").output
