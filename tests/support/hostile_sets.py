"""A task set whose every text is out to do harm: its tasks, questions, options, models, judges."""

from __future__ import annotations

from pathlib import Path

from tests.support.task_sets import choice, needle, write_set
from tests.support.traps import NAME
from tests.support.traps import TRAPS as ALL_TRAPS
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import TaskLine, TaskResult, write_result
from videoautoarena.runs.bench.format.schema import TaskItem

TRAPS = tuple(trap for trap in ALL_TRAPS if len(trap) < 4000 and "\ud800" not in trap)


def hostile_set(folder: Path) -> OpenBench[TaskItem]:
    """Write a set with a task of two items for each trap, and results of models named like it."""
    items = [
        choice(f"film{k}", k, task=trap, question=trap, qid=f"t{place}-{k}",
               options=[trap, "a dog", "a boat"], split=NAME)
        for place, trap in enumerate(TRAPS)
        for k in range(2)
    ]  # fmt: skip
    items += [
        needle(f"film{k}", k, at=5.0 + k).model_copy(update={"qid": f"n{k}", "split": NAME})
        for k in range(12)
    ]
    bench = write_set(folder, items)
    for model in (NAME, "__proto__"):
        for frames in (4, 64):
            lines = [
                TaskLine(qid=item.qid, end="answered", response=NAME if k % 3 else "B", usd=0.001)
                for k, item in enumerate(items)
            ]
            name = model if frames == 64 else f"{model} (4 frames)"
            facts = {"model": model, "max_frames": frames, "view": "whole",
                     "prompts": {NAME: NAME}, "seed": 0}  # fmt: skip
            result = TaskResult(bench=bench.bench, model=name, judge=NAME, how="run",
                                facts=facts, lines=lines)  # type: ignore[arg-type]  # fmt: skip
            write_result(bench, result)
    return bench
