"""What models come to on tasks, on a bench and in battles is held against each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.judged import bench_of, judged
from tests.support.played import invoke
from tests.support.task_sets import choice, free, write_set
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.results import TaskLine, TaskResult, write_result
from videoautoarena.runs.bench.kinds.scorings import read_any_board

MODELS = {"alpha": 18, "beta": 12, "gamma": 6}
"""Right answers of 20."""


def tasks_of(folder: Path, *, split: bool = False) -> Path:
    """Write a set on which these models were played, and one of them without frames, too."""
    items = [choice(f"v{k}", k, split="dev" if split and k % 2 else None) for k in range(20)]
    bench = write_set(folder, items)
    blind = {"alpha (no frames)": 20}
    for model, right in {**MODELS, **blind}.items():
        lines = [
            TaskLine(qid=item.qid, end="answered", response="B" if k < right else "A")
            for k, item in enumerate(items)
        ]
        view = "blind" if model in blind else "whole"
        write_result(
            bench,
            TaskResult(bench=bench.bench, model=model, judge=None, how="run",
                       facts={"model": model, "view": view}, lines=lines),
        )  # fmt: skip
    return folder


def test_task_accuracy_agrees_with_a_bench_of_the_same_order(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 20)
    for model, right in MODELS.items():
        verdicts = ["win"] * right + ["loss"] * (20 - right)
        judged(bench, model, verdicts, verdicts)
    found = invoke("leaderboard", tasks_of(tmp_path / "set"), "--against", bench.folder, "--json")
    report = json.loads(found.output)
    assert [one["model"] for one in report["models"]] == ["alpha", "beta", "gamma"]
    assert [one["rating_a"] for one in report["models"]] == [90.0, 60.0, 30.0]
    assert [one["rating_b"] for one in report["models"]] == [90.0, 60.0, 30.0]
    # Whoever was shown less than the whole is no model of its own.
    assert report["only_a"] == []
    assert [(one["place_a"], one["place_b"]) for one in report["models"]] == [
        (1, 1),
        (2, 2),
        (3, 3),
    ]


def test_parts_of_a_set_are_no_one_board(tmp_path: Path) -> None:
    answer = invoke(
        "leaderboard", tasks_of(tmp_path / "set", split=True), "--against", tmp_path / "set"
    )
    assert "never put together" in str(answer.exception)


def test_one_board_has_one_scale_and_each_model_once(tmp_path: Path) -> None:
    items = [*(choice(f"v{k}", k) for k in range(4)), free("v", 9)]
    bench = write_set(tmp_path / "set", items)
    marks = {"accuracy": 4.0, "relevance": 4.0}
    lines = [
        TaskLine(qid=i.qid, end="answered", response="B", scores={} if i.is_choice else marks)
        for i in items
    ]
    for model, judge, of in (("m", "J", lines), ("m", "K", lines), ("text", "J", lines[-1:])):
        write_result(
            bench,
            TaskResult(bench=bench.bench, model=model, judge=judge, how="run", lines=of),
        )
    board = read_any_board(bench.folder)
    assert {name: one.rating for name, one in board.entries.items()} == {"m": 100.0}
    texts = write_set(tmp_path / "texts", items[-1:])
    for judge in ("J", "K"):
        write_result(
            texts,
            TaskResult(bench=texts.bench, model="m", judge=judge, how="run", lines=lines[-1:]),
        )
    with pytest.raises(BadInput, match="several judges marked on"):
        read_any_board(texts.folder)
