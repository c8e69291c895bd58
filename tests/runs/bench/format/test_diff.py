"""What changed from one bench to another: all of it, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.dialogue_sets import dialogue, turn, write_dialogues
from tests.support.played import battle, invoke, manifest, play, slot, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.verify import diff
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.views.results.checks import diff_report
from videoautoarena.runs.views.results.forms import as_text

FILMS = [video(b"clip %d" % k, path=f"clip{k}.mp4") for k in range(3)]


def frozen(place: Path, *battles: object, **settings: object) -> Path:
    out = play(place / "out", battles, videos=FILMS, settings=manifest(**settings))  # type: ignore[arg-type]
    freeze(out, place / "bench")
    return place / "bench"


def test_a_bench_does_not_differ_from_itself(tmp_path: Path) -> None:
    bench = frozen(tmp_path, battle(slot(FILMS[0], 0)))
    report = diff(bench, bench)
    assert report["same"]
    assert report["questions"] == {"unchanged": 1, "changed": [], "removed": [], "added": []}
    assert report["settings"] == []
    assert as_text(diff_report(report)) == "the same bench, byte for byte"


def test_questions_that_came_went_and_changed_are_told_apart(tmp_path: Path) -> None:
    old = [battle(slot(film, 0)) for film in FILMS]
    new = [old[0], battle(slot(FILMS[1], 0), answer_b="A leek."), battle(slot(FILMS[0], 1))]
    report = diff(frozen(tmp_path / "old", *old), frozen(tmp_path / "new", *new))
    questions = report["questions"]
    assert questions["unchanged"] == 1
    (changed,) = questions["changed"]
    assert "rejected_answer" in changed["fields"]
    assert "question" not in changed["fields"]
    assert [one["video"] for one in questions["removed"]] == [FILMS[2].id]
    assert [one["question"] for one in questions["added"]] == ["What is in the pan in round 1?"]
    assert report["videos"]["removed"] == [FILMS[2].id]


def test_a_setting_that_changed_is_named_with_both_values(tmp_path: Path) -> None:
    one = battle(slot(FILMS[0], 0))
    report = diff(frozen(tmp_path / "a", one), frozen(tmp_path / "b", one, seed=8))
    found = {setting["setting"]: setting for setting in report["settings"]}
    assert found["run.seed"] == {"setting": "run.seed", "before": 7, "after": 8}
    assert report["questions"]["unchanged"] == 1
    assert not report["same"]


def test_text_of_a_bench_paints_no_terminal(tmp_path: Path) -> None:
    old = frozen(tmp_path / "a", battle(slot(FILMS[0], 0), question="Why\x1b[2J?\nNow."))
    new = frozen(tmp_path / "b", battle(slot(FILMS[0], 0)))
    told = invoke("bench", "diff", old, new)
    assert told.exit_code == 0
    assert "\x1b" not in told.output
    (removed,) = json.loads(invoke("bench", "diff", old, new, "--json").output)["questions"][
        "removed"
    ]
    assert removed["question"] == "Why\x1b[2J?\nNow."


def test_what_is_no_intact_bench_is_refused(tmp_path: Path) -> None:
    bench = frozen(tmp_path, battle(slot(FILMS[0], 0)))
    with (bench / "questions.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(BadInput, match="is not an intact bench"):
        diff(bench, bench)


def test_dialogues_are_matched_by_ability_and_by_what_is_said_first(tmp_path: Path) -> None:
    old = [dialogue("film", place) for place in (0, 1, 2)]
    other = turn(99, user="What\x1b[2J now?")
    new = [
        dialogue("film", 0, rounds=[*old[0].rounds, other]),
        old[1],
        dialogue("film", 2, ability="memory_recall", rounds=[other]),
    ]
    write_dialogues(tmp_path / "old", old)
    write_dialogues(tmp_path / "new", new)
    report = diff(tmp_path / "old", tmp_path / "new")
    questions = report["questions"]
    assert questions["unchanged"] == 1
    assert [one["fields"] for one in questions["changed"]] == [["qid", "rounds"]]
    assert [one["qid"] for one in questions["removed"]] == [old[2].qid]
    assert [one["question"] for one in questions["added"]] == ["memory_recall: What\x1b[2J now?"]
    told = as_text(diff_report(report)).split("Questions added")[1]
    assert f"{new[2].qid} memory_recall: What\\x1b[2J now?" in " ".join(told.split())
