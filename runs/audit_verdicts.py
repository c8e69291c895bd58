"""How battles ended: ties, both bad, void and why, forfeits, judges that could not tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from memory.records import TIES, Battle
from runs.audit_input import ABSTAINED, FAILED, AuditInput, finding, percent, unknown
from runs.console import safe
from runs.findings import Finding
from runs.reading import counted, one_line
from scoring.shares import Share, measure_share

MOST_TIES = 0.5
MOST_BOTH_BAD = 0.25
MOST_VOIDS = 0.05
MOST_FORFEITS = 0.1
MOST_ABSTENTIONS = 0.1
"""More of each is an alarm, if the whole interval says so."""
_REASONS = 3
"""So many reasons of voids are told."""


def audit_verdicts(given: AuditInput) -> list[Finding]:
    """Return the shares of battles that told nothing, or little, about who is better."""
    if not given.battles:
        return [unknown("verdicts.voids", "The run holds no battle yet.")]
    return [*_of_decided(given), *_lost(given), *_of_judgings(given)]


def _of_decided(given: AuditInput) -> Iterable[Finding]:
    decided = given.decided
    if not decided:
        return
    ties = _share(given, decided, [b.verdict in TIES for b in decided])
    sentence = f"{percent(ties)} of {ties.n} decided battles were ties or splits."
    yield finding("verdicts.ties", ties, sentence, is_alarm=ties.low > MOST_TIES)
    bad = _share(given, decided, [b.verdict == "tie_bad" for b in decided])
    sentence = (
        f"In {percent(bad)} of {bad.n} decided battles both answers were called bad; many of them "
        "mean questions that nobody here can answer."
    )
    yield finding("verdicts.both_bad", bad, sentence, is_alarm=bad.low > MOST_BOTH_BAD)


def _lost(given: AuditInput) -> Iterable[Finding]:
    battles = given.battles
    voids = _share(given, battles, [b.verdict == "void" for b in battles])
    sentence = f"{percent(voids)} of {voids.n} battles ended void{_why(battles)}."
    yield finding("verdicts.voids", voids, sentence, is_alarm=voids.low > MOST_VOIDS)
    gone = _share(given, battles, [b.verdict.startswith("forfeit") for b in battles])
    sentence = (
        f"{percent(gone)} of {gone.n} battles were forfeited{_who(battles)}; they count for nobody."
    )
    yield finding("verdicts.forfeits", gone, sentence, is_alarm=gone.low > MOST_FORFEITS)


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
    is_alarm = share.low > MOST_ABSTENTIONS
    yield finding("verdicts.abstentions", share, sentence, is_alarm=is_alarm)


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


def _share(given: AuditInput, battles: Sequence[Battle], hits: Iterable[bool]) -> Share:
    return measure_share([float(hit) for hit in hits], given.number_videos(battles))
