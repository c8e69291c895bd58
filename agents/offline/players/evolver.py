"""Makes a harder question out of the faults found, and grades questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.phrasing import (
    FactRequest,
    Format,
    is_timed,
    phrase,
    phrased,
    understand,
)
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.language.tongues import spoken
from videoautoarena.agents.offline.players.scoring import (
    HARDEST,
    AnswerSheet,
    askable,
    difficulty,
    graded,
    hardness,
    weigh,
)
from videoautoarena.agents.offline.players.viewers import listed, tastes
from videoautoarena.agents.offline.vision.frame_features import ModelInput
from videoautoarena.agents.offline.vision.sequence import FrameSequence, sight_of
from videoautoarena.memory.records.standards import PAPER_CONTRACTS

# Always taking the hardest facts raised difficulty from .43 to 1.12 in one step, after which a
# viewer without frames outranked one with four.
_STEP = 0.2
"""How much harder the next question should be; steeper steps drown every coarse viewer."""
_LEAST_STEP = 0.02
_CANDIDATES = 16
_MOST_FACTS = 5
_FORMS: tuple[Format | None, ...] = ("table", "list", "json", "short", None, None)
_WEAKNESS = {
    "instant": "does not see short moments",
    "stretch": "does not keep track of how long things last",
    "count": "loses count",
    "colour": "is unsure of colours",
    "colours": "loses the order of colours",
    "choice": "does not compare one part with another",
    "order": "loses the order of events",
}


@dataclass(frozen=True)
class _EvolutionAim:
    seen: FrameSequence
    old: FactRequest
    kinds: frozenset[str]
    """Types of facts that somebody got wrong."""
    taste: tuple[str, ...]
    refused: frozenset[str]
    code: str
    """The language to ask in."""


def evolve(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return faults, the weaknesses behind them, and a question one step harder."""
    seen = sight_of(sent)
    old = understand(blocks.get("question", ""))
    sheets = {seat: weigh(blocks.get(f"answer_{seat}", ""), old, seen) for seat in "ab"}
    failed = {
        seat: [*(row.key for row in sheet.wrong), *sheet.missing] for seat, sheet in sheets.items()
    }
    entries = listed(blocks.get("refused", ""))
    refused = {
        str(one["question"]) for one in entries if isinstance(one, dict) and "question" in one
    }
    refused.add(blocks.get("question", ""))
    aim = _EvolutionAim(
        seen,
        old,
        frozenset(FACETS[key].type for keys in failed.values() for key in keys),
        tastes(blocks.get("persona", "")),
        frozenset(refused),
        old.code if sent.language is None else spoken(sent.language),
    )
    # not from the analyses: a run without them should make the same question
    dice = Dice("evolver", *(f"{k}:{v}" for k, v in sorted(blocks.items()) if k != "analyses"))
    return {
        **{f"faults_{seat}": _faults(sheet, seen) for seat, sheet in sheets.items()},
        **{
            f"weaknesses_{seat}": list(dict.fromkeys(_WEAKNESS[FACETS[key].type] for key in keys))
            for seat, keys in failed.items()
        },
        "question": _harder(aim, dice),
    }


def grade(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return both questions' grades, each from 1.0 to 5.0, by the same measure.

    By the paper's contract they are whole numbers.
    """
    seen = sight_of(sent)
    names = ("question_1", "question_2")
    grades = {name: _grades(seen, understand(blocks.get(name, ""))) for name in names}
    if sent.contracts != PAPER_CONTRACTS:
        return dict(grades)
    return {name: {of: round(value) for of, value in one.items()} for name, one in grades.items()}


def _grades(seen: FrameSequence, ask: FactRequest) -> dict[str, float]:
    hard = [hardness(seen, key, fine=ask.fine) for key in ask.keys] or [0.0]
    demands = len(ask.keys) + (ask.form is not None) + ask.fine
    types = {FACETS[key].type for key in ask.keys}
    return {
        # Five facts, a form and exact times are the most that an evolved question demands.
        "instruction_following": graded(HARDEST * demands / 7),
        "accuracy": graded(HARDEST * fmean(hard)),
        "relevance": graded(HARDEST * len(types) / 5),
        "helpfulness": graded(HARDEST * max(hard)),
        "overall": graded(difficulty(seen, ask)),
    }


def _faults(sheet: AnswerSheet, seen: FrameSequence) -> list[str]:
    wrong = [
        f"puts {facet.label} at {phrased(row.value)} where it is {phrased(facet.measure(seen))}"
        for row in sheet.wrong
        for facet in (FACETS[row.key],)
    ]
    return wrong + [f"leaves out {FACETS[key].label}" for key in sheet.missing]


def _harder(aim: _EvolutionAim, dice: Dice) -> str:
    """Return the candidate nearest to one step above the old question."""
    base = difficulty(aim.seen, aim.old)
    rated = [(difficulty(aim.seen, ask), phrase(ask, dice)) for ask in _candidates(aim, dice)]
    rated = [(hard, text) for hard, text in rated if text not in aim.refused]
    harder = [(hard, text) for hard, text in rated if hard > base + _LEAST_STEP]
    if harder:
        return min(harder, key=lambda option: abs(option[0] - base - _STEP))[1]
    if rated:
        return max(rated)[1]
    return phrase(
        FactRequest(aim.old.answered, form=dice.one(("list", "table")), code=aim.code), dice
    )


def _candidates(aim: _EvolutionAim, dice: Dice) -> Iterator[FactRequest]:
    """Yield questions that touch a proven weakness, if these frames hold a fact of its kind."""
    for _ in range(_CANDIDATES):
        fine = aim.old.fine or dice.below(2) == 0
        pool = askable(aim.seen, fine=fine) or aim.old.answered
        # As many facts as were asked before, or one more; weak kinds and tastes weigh more.
        wanted = len(aim.old.answered) + dice.below(2)
        weak = {key for key in pool if FACETS[key].type in aim.kinds}
        tickets = [key for key in pool for _ in range(1 + 2 * (key in weak) + (key in aim.taste))]
        drawn = tuple(dict.fromkeys(dice.shuffled(tickets)))
        keys = drawn[: max(1, min(wanted, _MOST_FACTS))]
        if weak and not weak.intersection(keys):
            continue
        form = dice.one(_FORMS) if len(keys) > 1 else None
        ask = FactRequest(keys, fine and is_timed(keys), form, code=aim.code)
        if (set(ask.keys), ask.fine) != (set(aim.old.keys), aim.old.fine):
            yield ask
