"""What a task set gives away is said task by task, and of every item and defect by its id."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.support.dialogue_sets import dialogue, write_dialogues
from tests.support.judged import bench_of
from tests.support.played import invoke
from tests.support.published_tasks import mlvu_choice, mlvu_scenes, mlvu_test, write
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.score.shortcuts import probe_bench, probe_set
from videoautoarena.runs.exchange.interop.mlvu import import_mlvu


def items_of(count: int, *, task: str = "needle", longest: bool = False, **changed: Any) -> Any:
    """Return items whose keys are drawn; with `longest`, each key is the longest option."""
    draw = Random(f"{task} {count}")
    made = []
    for k in range(count):
        options = [f"{draw.getrandbits(40):010x} {task}" for _ in range(4)]
        key = draw.randrange(4)
        options[key] += " that is quite long" * longest
        said = {"question": f"{task} {k}?", "options": options, "answer": options[key], **changed}
        made.append(TaskItem(qid=f"{task}_{k}", video_id=f"v{k}", task=task, **said))
    return made


def test_a_shortcut_is_found_in_its_own_task_alone() -> None:
    found = probe_set([*items_of(80), *items_of(60, task="order", longest=True)])
    clean, told = found.parts
    assert {one.reading for one in clean.results} <= {"clean", "look"}
    assert {one.probe: one.reading for one in told.results}["longest"] == "found"
    assert (clean.given_away, told.given_away, found.given_away) == (0, 60, 60)
    assert {qid.split("_")[0] for qid, leak in found.leaks.items() if leak > 0.5} == {"order"}
    assert found.as_lines()[0] == "text alone gives away the right option of 60 of 140 items"


def test_parts_of_two_splits_are_probed_apart() -> None:
    items = [*items_of(40, split="dev"), *items_of(41, longest=True, split="test")]
    found = probe_set(items)
    assert [(part.split, part.keyed, part.given_away) for part in found.parts] == [
        ("dev", 40, 0),
        ("test", 41, 41),
    ]


def test_keys_are_drawn_again_only_where_they_were_drawn() -> None:
    items = items_of(40)
    for is_made in (False, True):
        (part,) = probe_set(items, is_made=is_made).parts
        redrawn = {one.probe for one in part.results if one.redrawn}
        assert redrawn == ({"place", "prior", "classifier"} if is_made else set())


def test_a_set_that_was_made_here_has_keys_that_can_be_drawn(tmp_path: Path) -> None:
    import_mlvu(write(tmp_path / "a.json", mlvu_choice(20)), tmp_path / "set")
    bench = open_bench(tmp_path / "set")
    source = bench.manifest.source.model_copy(update={"kind": "made"})
    made = replace(bench, manifest=bench.manifest.model_copy(update={"source": source}))
    drawn = [any(one.redrawn for one in probe_bench(of).parts[0].results) for of in (bench, made)]
    assert drawn == [False, True]


def test_the_rungs_of_a_ladder_are_probed_as_the_one_item_that_they_are() -> None:
    single = items_of(60)
    rungs = [
        item.model_copy(
            update={
                "qid": f"{item.qid}_{s}",
                "video_id": f"{item.qid}_{s}",
                "made": {"ladder": item.qid},
            }
        )
        for item in single
        for s in (60, 180, 360, 600)
    ]
    one = probe_set(single)
    many = probe_set(rungs)
    assert many.parts[0].keyed == one.parts[0].keyed == 60
    assert [p.share for p in many.parts[0].results] == [p.share for p in one.parts[0].results]
    assert (many.choice, many.given_away, many.defects) == (240, 0, ())
    assert set(many.leaks) == {item.qid for item in rungs}
    # What only says that it is a ladder, and asks something else, hides nothing.
    other = rungs[1].model_copy(update={"question": "another?", "qid": "other"})
    assert probe_set([*rungs, other]).parts[0].keyed == 61


def test_only_what_was_found_is_said_in_short() -> None:
    found = probe_set([*items_of(80), *items_of(60, task="order", longest=True)])
    short = "\n".join(found.as_lines())
    assert "order, 60 items, chance 25.0 %: longest 100.0 % (found)" in short
    assert "needle, 80 items" not in short


def test_the_words_of_an_alarm_are_explained_and_only_those() -> None:
    assert not list(probe_set([]).explained())
    (found,) = probe_set(items_of(60, longest=True)).explained()
    assert found.startswith("a probe picks an option by text alone; found: it is right more often")
    even = [
        item.model_copy(update={"answer": item.options[k % 4]})
        for k, item in enumerate(items_of(80))
    ]
    assert "balanced too exactly: it is right so rarely" in " ".join(probe_set(even).explained())


def test_defects_name_their_first_items_and_count_the_rest() -> None:
    items = items_of(6, answer="none of them")
    lines = probe_set(items).as_lines()
    assert "6 x key is no option: needle_0, needle_1, needle_2 and 3 more" in lines


def test_a_set_of_imported_tasks_is_probed_as_it_was_at_import(tmp_path: Path) -> None:
    rows = [*mlvu_choice(30, "ego"), *mlvu_scenes(2)]
    taken = import_mlvu(write(tmp_path / "a.json", rows), tmp_path / "set")
    said = json.loads(invoke("bench", "probe", tmp_path / "set", "--json").stdout)
    before = json.loads(json.dumps(taken.shortcuts.to_json() | {"bench": taken.bench}))
    assert said | before == said
    assert (said["questions"], said["choice"], said["keyed"]) == (32, 30, 30)
    assert said["parts"][0]["results"][0]["probe"] == "longest"
    assert (tmp_path / "set" / "card.md").read_text().count("text alone gives away") == 1


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (mlvu_scenes(2), "No item has options, so there are no shortcuts to look for"),
        (mlvu_test(3), "3 items of choice without a key: their shortcuts cannot be known"),
    ],
)
def test_what_cannot_be_probed_is_said(tmp_path: Path, rows: Any, told: str) -> None:
    import_mlvu(write(tmp_path / "a.json", rows), tmp_path / "set")
    said = invoke("bench", "probe", tmp_path / "set")
    assert " ".join(said.stdout.split()) == f"{told}."
    parts = probe_bench(open_bench(tmp_path / "set")).parts
    assert [(part.keyed, part.results) for part in parts] == [(0, ())] * len(parts)


def test_a_bench_of_preferences_has_no_options_to_probe(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 1)
    said = invoke("bench", "probe", bench.folder)
    assert isinstance(said.exception, BadInput)
    assert "is a set of kind preference; only tasks with options" in str(said.exception)
    assert str(said.exception).endswith("see arena bench check")
    talks = write_dialogues(tmp_path / "talks", [dialogue("film")])
    said = invoke("bench", "probe", talks.folder)
    assert str(said.exception).endswith("see arena bench score")
