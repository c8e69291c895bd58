"""`va.open_bench` returns what lies in a bench and what the command line prints of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import videoautoarena as va
from tests.support.played import invoke
from tests.support.played_dialogues import Talked, play_dialogues
from tests.support.played_sets import Played, play_set
from tests.support.small_benches import freeze_ground, run_bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = freeze_ground(tmp_path_factory.mktemp("ground"))
    videos = ("--videos", place / "videos", "--judge", "offline:judge")
    for model in ("offline:owl", "offline:blind"):
        done = run_bench(place / "bench", "--model", model, *videos)
        assert done.return_value == 0, done.output
    return place / "bench"


def printed(*words: object) -> Any:
    return json.loads(invoke(*words, "--json").stdout)


def test_scores_are_what_the_command_prints(bench: Path) -> None:
    judge = "offline:judge"
    for options in ({}, {"of": "decided", "judge": judge}, {"by": "duration"}):
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        scores = va.open_bench(bench).score(**options)  # type: ignore[arg-type]
        assert scores.to_json() == printed("bench", "score", bench, *words)
        text = invoke("bench", "score", bench, *words).stdout
        assert scores.to_text() == text.removesuffix("\n")
    assert len(scores.to_frame()) == len(scores) == 2
    assert "<table>" in scores._repr_html_()


def test_items_are_the_lines_of_its_questions(bench: Path) -> None:
    opened = va.open_bench(bench)
    lines = (bench / "questions.jsonl").read_text().splitlines()
    assert opened.items.to_json() == [json.loads(line) for line in lines]
    assert len(opened) == len(opened.items) == opened.manifest.count
    assert opened.digest == json.loads((bench / "manifest.json").read_text())["bench"]
    assert opened.items[0].question in opened.items.to_frame()["question"].tolist()
    assert len(opened.items[:1]) == 1


def test_results_are_every_models_rulings(bench: Path) -> None:
    opened = va.open_bench(bench)
    assert sorted(result.model for result in opened.results) == ["offline:blind", "offline:owl"]
    assert all(len(result.rulings) == 2 * len(opened) for result in opened.results)  # type: ignore[union-attr]


def test_a_bench_without_results_and_what_cannot_be_are_refused(
    bench: Path, tmp_path: Path
) -> None:
    with pytest.raises(va.BadInput, match="is no folder"):
        va.open_bench(tmp_path / "nowhere")
    with pytest.raises(va.BadInput, match="is not an intact bench"):
        va.open_bench(tmp_path)
    opened = va.open_bench(bench)
    with pytest.raises(va.BadInput, match="has no rulings"):
        opened.score(judge="nobody")
    with pytest.raises(va.BadInput, match="there are no results against"):
        opened.score(anchor="nobody")
    with pytest.raises(va.BadInput, match="of cannot be 'some'; there are judged, decided, all"):
        opened.score(of="some")  # type: ignore[arg-type]


def test_a_set_of_tasks_opens_and_scores_as_the_commands_print_it(tmp_path: Path) -> None:
    folder = play_set(tmp_path / "set", Played(splits=("dev", "test"), needles=6)).folder
    opened = va.open_bench(folder)
    lines = (folder / "questions.jsonl").read_text().splitlines()
    assert opened.items.to_json() == [json.loads(line) for line in lines]
    assert {len(result.lines) for result in opened.results} == {len(opened)}  # type: ignore[union-attr]
    whole = {"margin": 5.0, "as_published": True}
    for options, words in (({}, ()), (whole, ("--margin", 5, "--as-published"))):
        scores = opened.score(**options)  # type: ignore[arg-type]
        assert scores.to_json() == printed("bench", "score", folder, *words)
        text = invoke("bench", "score", folder, *words).stdout
        assert scores.to_text() == text.removesuffix("\n")
    assert [row["split"] for row in scores.rows] == ["dev"] * 6 + ["test"] * 6
    assert scores.to_frame()["m_avg.value"].between(0, 100).all()
    assert "<table>" in scores._repr_html_()
    for wrong in ({"by": "duration"}, {"of": "all"}, {"anchor": "nobody"}):
        with pytest.raises(va.BadInput, match=r"^tasks "):
            opened.score(**wrong)  # type: ignore[arg-type]


def test_a_set_of_dialogues_opens_and_scores_as_the_commands_print_it(tmp_path: Path) -> None:
    folder = play_dialogues(tmp_path / "set").folder
    opened = va.open_bench(folder)
    assert repr(opened) == f"<Bench of 56 dialogues in {str(folder)!r}>"
    lines = (folder / "questions.jsonl").read_text().splitlines()
    assert opened.items.to_json() == [json.loads(line) for line in lines]
    assert [(one.model, len(one.lines)) for one in opened.results] == [  # type: ignore[union-attr]
        (model, 140) for model in sorted(Talked().models)
    ]
    for options, words in (({}, ()), ({"as_published": True}, ("--as-published",))):
        scores = opened.score(**options)  # type: ignore[arg-type]
        assert scores.to_json() == printed("bench", "score", folder, *words)
        text = invoke("bench", "score", folder, *words).stdout
        assert scores.to_text() == text.removesuffix("\n")
    assert isinstance(scores, va.DialogueScores)
    assert [row["history"] for row in scores.rows] == ["golden", "golden", "own"]
    assert {row["name"] for row in scores.constants} >= {"all_yes", "all_no", "silence"}
    assert scores.to_frame()["overall.value"].between(0, 100).all()
    assert "<table>" in scores._repr_html_()
    assert scores.to_markup("csv").startswith("model,judge,history")
    for wrong in ({"by": "duration"}, {"of": "all"}, {"anchor": "nobody"}):
        with pytest.raises(va.BadInput, match=r"^dialogues "):
            opened.score(**wrong)  # type: ignore[arg-type]
