"""Task sets that models have answered, some with several numbers of frames, made without models."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.task_sets import choice, free, needle, write_set
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import TaskLine, TaskResult, write_result
from videoautoarena.runs.bench.format.schema import TaskItem

LENGTHS = (30, 60, 180)
SKILL = {4: 0.35, 16: 0.7, 64: 0.95}
"""How likely an answer is right, by frames."""


@dataclass(frozen=True)
class Played:
    """Which set it is, and who answered it how."""

    models: Sequence[str] = ("openai:quick", "openai:thorough")
    frames: Sequence[int] = (4, 16, 64)
    usd: float | None = 0.0001
    """Of a frame."""
    splits: Sequence[str | None] = (None,)
    needles: int = 90
    with_text: bool = True
    question: str = "What was put in?"


def items_of(played: Played, split: str | None) -> Iterator[TaskItem]:
    """Yield needles, items of another task, and some to be answered in words."""
    rng = random.Random(7)
    for k in range(played.needles):
        length = LENGTHS[k % len(LENGTHS)]
        # The fourth fifth of the longest stays empty.
        at = rng.uniform(0.5, length - 4) if length < 180 else rng.uniform(0.5, 100.0)
        made = needle(f"film{k % 12}", k, at=at, background=length)
        yield made.model_copy(update={"split": split, "question": f"{played.question} {k}"})
    for k in range(played.needles // 2):
        yield choice(f"film{k % 12}", 1000 + k, task="count", split=split)
    for k in range(8 if played.with_text else 0):
        yield free(f"film{k}", k, split=split)


def play_set(folder: Path, played: Played | None = None) -> OpenBench[TaskItem]:
    """Write a set with results and return it."""
    played = played or Played()
    parts = [list(items_of(played, split)) for split in played.splits]
    items = [
        item.model_copy(update={"qid": f"{part}-{place}"})
        for part, some in enumerate(parts)
        for place, item in enumerate(some)
    ]
    bench = write_set(folder, items)
    for place, model in enumerate(played.models):
        for frames in played.frames:
            write_result(bench, _result(bench, played, model, (place, frames)))
    return bench


def _result(
    bench: OpenBench[TaskItem], played: Played, model: str, at: tuple[int, int]
) -> TaskResult:
    place, frames = at
    rng = random.Random(place * 1000 + frames)
    skill = SKILL.get(frames, 0.5) - 0.1 * place
    lines = [_line(item, rng, skill) for item in bench.items]
    usd = None if played.usd is None else played.usd * frames
    name = model if len(played.frames) == 1 else f"{model} ({frames} frames)"
    facts = {
        "model": model, "max_frames": frames, "judge": [], "seed": 0, "questions": len(lines),
        "forfeits": 0, "voids": 0, "prompts": {"contestant": "c" * 64}, "view": "whole",
    }  # fmt: skip
    return TaskResult(
        bench=bench.bench,
        model=name,
        judge="openai:judge" if played.with_text else None,
        how="run",
        facts=facts,  # type: ignore[arg-type]  # JSON-ready
        lines=[one.model_copy(update={"usd": usd}) for one in lines],
    )


def _line(item: TaskItem, rng: random.Random, skill: float) -> TaskLine:
    is_right = rng.random() < skill
    if item.is_choice:
        return TaskLine(qid=item.qid, end="answered", response="B" if is_right else "C")
    scores = {"completeness": 4.0 if is_right else 2.0, "reliability": 3.0}
    return TaskLine(qid=item.qid, end="answered", response="A dog.", scores=scores)
