"""How battles ended: ties, both bad, void and why, forfeits, judges that could not tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memory.records import DECIDED, TIES, Battle
from runs.audit_input import ABSTAINED, FAILED, AuditInput, above, finding, percent, unknown
from runs.console import safe
from runs.findings import Finding
from runs.reading import counted, one_line
from scoring.shares import measure_share

Words = NDArray[np.str_]
"""A verdict for each battle."""
MOST_TIES = 0.5
MOST_BOTH_BAD = 0.25
MOST_VOIDS = 0.05
MOST_FORFEITS = 0.1
MOST_ABSTENTIONS = 0.1
"""More of each is an alarm."""
_REASONS = 3
"""So many reasons of voids are told."""


def audit_verdicts(given: AuditInput) -> list[Finding]:
    """Return the shares of battles that told nothing, or little, about who is better."""
    if not given.battles:
        return [unknown("verdicts.voids", "The run holds no battle yet.")]
    verdicts = np.array([battle.verdict for battle in given.battles])
    return [*_of_decided(verdicts, given), *_lost(verdicts, given), *_of_judgings(given)]


def _of_decided(verdicts: Words, given: AuditInput) -> Iterable[Finding]:
    decided = np.isin(verdicts, list(DECIDED))
    if not decided.any():
        return
    said, video = verdicts[decided], given.videos[decided]
    ties = measure_share(np.isin(said, list(TIES)).astype(float), video)
    sentence = f"{percent(ties)} of {ties.n} decided battles were ties or splits."
    yield finding("verdicts.ties", ties, sentence, crosses=above(ties, MOST_TIES))
    bad = measure_share((said == "tie_bad").astype(float), video)
    sentence = (
        f"In {percent(bad)} of {bad.n} decided battles both answers were called bad; many of them "
        "mean questions that nobody here can answer."
    )
    yield finding("verdicts.both_bad", bad, sentence, crosses=above(bad, MOST_BOTH_BAD))


def _lost(verdicts: Words, given: AuditInput) -> Iterable[Finding]:
    battles = given.battles
    voids = measure_share((verdicts == "void").astype(float), given.videos)
    sentence = f"{percent(voids)} of {voids.n} battles ended void{_why(battles)}."
    yield finding("verdicts.voids", voids, sentence, crosses=above(voids, MOST_VOIDS))
    gone = np.isin(verdicts, ("forfeit_a", "forfeit_b"))
    share = measure_share(gone.astype(float), given.videos)
    sentence = (
        f"{percent(share)} of {share.n} battles were forfeited{_who(battles)} and count for nobody."
    )
    yield finding("verdicts.forfeits", share, sentence, crosses=above(share, MOST_FORFEITS))


def _of_judgings(given: AuditInput) -> Iterable[Finding]:
    ballots = given.ballots
    if not len(ballots.camp):
        yield unknown("verdicts.abstentions", "No judge was asked.")
        return
    abstained = ballots.camp == ABSTAINED
    share = measure_share(abstained.astype(float), given.videos[ballots.battle])
    failed = int((ballots.camp == FAILED).sum())
    behind = f"; {counted(failed, 'more judging')} failed" if failed else ""
    sentence = f"Judges could not tell in {percent(share)} of {share.n} judgings{behind}."
    crosses = above(share, MOST_ABSTENTIONS)
    yield finding("verdicts.abstentions", share, sentence, crosses=crosses)


def _why(battles: Sequence[Battle]) -> str:
    reasons = Counter(_kind(b.reason or "no reason") for b in battles if b.verdict == "void")
    told = [f"{why} {n}" for why, n in reasons.most_common(_REASONS)]
    more = sum(reasons.values()) - sum(n for _, n in reasons.most_common(_REASONS))
    return f" ({', '.join([*told, *([f'other {more}'] if more else [])])})" if told else ""


def _kind(reason: str) -> str:
    """What a reason says before it goes into the case at hand."""
    return one_line(reason.partition(": ")[0], 60)


def _who(battles: Sequence[Battle]) -> str:
    gone = Counter(
        b.model_a if b.verdict == "forfeit_a" else b.model_b
        for b in battles
        if b.verdict.startswith("forfeit")
    )
    told = [f"{safe(name or '?')} {n}" for name, n in gone.most_common(_REASONS)]
    return f" ({', '.join(told)})" if told else ""
