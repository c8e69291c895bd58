"""Rounds that every model answers, by the results that lie in a set of dialogues.

Source: MT-Video-Bench, the filter of easy rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.dialogues.score import Of, share_right
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import DialogueResult, read_dialogues
from videoautoarena.runs.bench.format.schema import DialogueItem, Round
from videoautoarena.runs.formats.record_json import keyed
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import counted


@dataclass(frozen=True)
class Played:
    """Which results say what is easy."""

    taken: tuple[str, ...] = field(default=(), metadata=keyed("models"))
    """Models that played; stand-ins are marked."""
    passed_over: Mapping[str, str] = field(default_factory=dict)
    """Model to why its result does not count."""


def find_easy(bench: OpenBench[DialogueItem], score: float) -> tuple[Played, frozenset[Of]]:
    """Return which models played, and the rounds on which each of them reaches a score.

    Only whole results with golden history count; a round that could not be marked for one of them,
    or whose video was lost, is not known to be easy. BadInput if no result counts.
    """
    asked = {
        (item.qid, number): one
        for item in bench.items
        for number, one in enumerate(item.rounds, 1)
        if one.is_scored
    }
    taken = list[str]()
    passed_over = dict[str, str]()
    easy = frozenset(asked)
    for result in read_dialogues(bench):
        name = result.model + " (stand-in)" * result.is_stand_in
        if why := _useless(result, len(asked)):
            passed_over[name] = why
            continue
        taken.append(name)
        easy &= _reached(result, asked, score)
    if not taken:
        there = "; ".join(f"{safe(name)}: {why}" for name, why in passed_over.items())
        raise BadInput(
            f"{bench.folder} has no whole result with golden history, which --drop-easy needs"
            + (f" ({there})" if there else "")
            + "; make one with arena bench run"
        )
    return Played(tuple(dict.fromkeys(taken)), passed_over), easy


def _useless(result: DialogueResult, scored: int) -> str | None:
    if result.history != "golden":
        return "which was sent its own history"
    if len(result.lines) < scored:
        return f"which has {len(result.lines)} of {counted(scored, 'round')}"
    return None


def _reached(result: DialogueResult, asked: Mapping[Of, Round], score: float) -> frozenset[Of]:
    # With a tolerance, so that three of five reach .6 whatever the last bits are.
    return frozenset(
        (line.qid, line.round)
        for line in result.lines
        if line.end == "answered"
        and share_right(asked[line.qid, line.round], line.answers) >= score - 1e-9
    )
