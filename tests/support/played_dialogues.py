"""Sets of dialogues that models have answered, made without models."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.support.dialogue_sets import dialogue, turn, write_dialogues
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import DialogueResult, RoundLine, write_result
from videoautoarena.runs.bench.format.schema import ABILITIES, TWIN, Ability, DialogueItem, Round

SKILL = {"thorough": 0.95, "quick": 0.7}
"""How likely an item is answered as expected."""
OWN = " (own history)"


@dataclass(frozen=True)
class Talked:
    """Which set it is, and who answered it."""

    models: Sequence[str] = ("openai:thorough", "openai:quick", f"openai:quick{OWN}")
    abilities: Sequence[Ability] = (*ABILITIES, TWIN)
    videos: int = 8
    per_video: int = 1
    text: str = ""
    """Stands in every text."""
    judge: str = "openai:judge"
    usd: float | None = 0.002
    skill: float = 0.5
    """How likely an item is answered as expected by a model that is not named in SKILL."""


def items_of(talked: Talked) -> Iterator[DialogueItem]:
    """Yield dialogues of five and six rounds, half of them over several scenes."""
    for n, ability in enumerate(talked.abilities):
        for k in range(talked.videos * talked.per_video):
            is_long = k % 2 == 1
            rounds = [
                _round(talked, k, number, is_scored=number > 3) for number in range(1, 6 + is_long)
            ]
            yield dialogue(
                f"film{k % talked.videos}",
                100 * n + k,
                ability=ability,
                rounds=rounds,
                event=f"{n}-{k}",
                qid=f"{ability}_{k}",
                duration_s=90.0 if is_long else 30.0,
                is_cross_scene=is_long,
            )


def _round(talked: Talked, place: int, number: int, *, is_scored: bool) -> Round:
    asked = turn(10 * place + number, *((3, 2) if is_scored else (0, 0)))
    changed: dict[str, Any] = {"refers_to": 2} if number == 5 else {}
    if talked.text:
        changed |= {"user": talked.text, "reference": talked.text}
        checks = [check.model_copy(update={"text": talked.text}) for check in asked.checklist]
        changed["checklist"] = checks
    return asked.model_copy(update=changed)


def lines_of(items: Sequence[DialogueItem], model: str, talked: Talked) -> Iterator[RoundLine]:
    """Yield what a model came to, round by round; one round in fifty has no answer."""
    known = SKILL.get(model.partition(":")[2].removesuffix(OWN), talked.skill)
    rng = random.Random(3)
    for item in items:
        is_lost = model.endswith(OWN) and item.ability in ("object_reference", "memory_recall")
        skill = 0.4 if is_lost else known
        for number, asked in enumerate(item.rounds, 1):
            if not asked.is_scored:
                continue
            answers = [
                check.expected if rng.random() < skill else _other(check.expected)
                for check in asked.checklist
            ]
            line = RoundLine(
                qid=item.qid, round=number, end="forfeit", reason="no answer: too late"
            )
            if rng.random() > 0.02 or talked.skill == 1.0:
                text = talked.text or f"It is heron{number}, I think."
                said: dict[str, Any] = {"end": "answered", "response": text, "answers": answers}
                line = line.model_copy(update={**said, "reason": None, "usd": talked.usd})
            yield line


def _other(answer: Literal["yes", "no"]) -> Literal["yes", "no"]:
    return "no" if answer == "yes" else "yes"


def play_dialogues(folder: Path, talked: Talked | None = None) -> OpenBench[DialogueItem]:
    """Write a set with results and return it."""
    talked = talked or Talked()
    items = list(items_of(talked))
    bench = write_dialogues(folder, items)
    for model in talked.models:
        is_own = model.endswith(OWN)
        lines = list(lines_of(items, model, talked))
        facts: dict[str, Any] = {
            "model": model.removesuffix(OWN),
            "max_frames": 64,
            "judge": talked.judge,
            "seed": 0,
            "prompts": {"contestant": "0" * 64, talked.text or "checklist_marker": "1" * 64},
            "forfeits": sum(line.end == "forfeit" for line in lines),
        }
        write_result(
            bench,
            DialogueResult(
                bench=bench.bench, model=model, judge=talked.judge, how="run", facts=facts,
                history="own" if is_own else "golden", lines=lines,
            ),
        )  # fmt: skip
    return bench
