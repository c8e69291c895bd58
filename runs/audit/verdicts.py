"""Several judges beside one another: how far they agree, who stands alone, who abstains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from videoautoarena.memory.records.outlines import Outlines
from videoautoarena.memory.records.records import DECIDED, TIES
from videoautoarena.runs.audit.evidence import (
    ABSTAINED,
    FAILED,
    AuditInput,
    above,
    below,
    finding,
    unknown,
)
from videoautoarena.runs.rating.finding import Finding, decimals, percent
from videoautoarena.runs.rundir.reader import counted, one_line
from videoautoarena.runs.text.terminal import safe
from videoautoarena.scoring.agreement.rater_agreement import MISSING, agree, krippendorff
from videoautoarena.scoring.fitting.counts import Ints
from videoautoarena.scoring.intervals.proportions import Share, measure_share

Words = NDArray[np.str_]
"""A verdict for each battle."""
MOST_TIES = 0.5
MOST_BOTH_BAD = 0.25
MOST_VOIDS = 0.05
MOST_FORFEITS = 0.1
MOST_ABSTENTIONS = 0.1
"""More of each is an alarm."""
_REASONS = 3
"""So many reasons of voids are named."""


def audit_verdicts(given: AuditInput) -> list[Finding]:
    """Return the shares of battles that say nothing, or little, about who is better."""
    if not given.battles:
        return [unknown("verdicts.voids", "The run holds no battle yet.")]
    verdicts = np.array(list(given.outlines.texts["verdict"].each()))
    return [*_of_decided(verdicts, given), *_lost(verdicts, given), *_of_judgings(given)]


def _of_decided(verdicts: Words, given: AuditInput) -> Iterable[Finding]:
    decided = np.isin(verdicts, list(DECIDED))
    if not decided.any():
        return
    said, video = verdicts[decided], given.videos[decided]
    ties = measure_share(np.isin(said, list(TIES)), video)
    sentence = f"{percent(ties)} of {ties.n} decided battles were ties or splits."
    yield finding("verdicts.ties", ties, sentence, crosses=above(ties, MOST_TIES))
    bad = measure_share((said == "tie_bad"), video)
    sentence = (
        f"In {percent(bad)} of {bad.n} decided battles both answers were called "
        "bad; a high share means questions that no model here can answer."
    )
    yield finding("verdicts.both_bad", bad, sentence, crosses=above(bad, MOST_BOTH_BAD))


def _lost(verdicts: Words, given: AuditInput) -> Iterable[Finding]:
    battles = given.outlines
    voids = measure_share((verdicts == "void"), given.videos)
    sentence = f"{percent(voids)} of {voids.n} battles ended void{_why(given)}."
    yield finding("verdicts.voids", voids, sentence, crosses=above(voids, MOST_VOIDS))
    gone = np.isin(verdicts, ("forfeit_a", "forfeit_b"))
    share = measure_share(gone, given.videos)
    sentence = (
        f"{percent(share)} of {share.n} battles were forfeited{_who(battles)} and are not rated."
    )
    yield finding("verdicts.forfeits", share, sentence, crosses=above(share, MOST_FORFEITS))


def _of_judgings(given: AuditInput) -> Iterable[Finding]:
    ballots = given.ballots
    if not len(ballots.camp):
        yield unknown("verdicts.abstentions", "No judge was asked.")
        return
    abstained = ballots.camp == ABSTAINED
    share = measure_share(abstained, given.videos[ballots.battle])
    failed = int((ballots.camp == FAILED).sum())
    behind = f"; {counted(failed, 'more judging')} failed" if failed else ""
    sentence = f"Judges abstained in {percent(share)} of {share.n} judgings{behind}."
    crosses = above(share, MOST_ABSTENTIONS)
    yield finding("verdicts.abstentions", share, sentence, crosses=crosses)


def _why(given: AuditInput) -> str:
    # What a reason says before it goes into the case at hand.
    kinds = ((reason or "no reason").partition(": ")[0] for reason in given.void_reasons())
    reasons = Counter(one_line(kind, 60) for kind in kinds)
    most = reasons.most_common(_REASONS)
    more = reasons.total() - sum(n for _, n in most)
    named = [f"{why} {n}" for why, n in most] + [f"other {more}"] * bool(more)
    return f" ({', '.join(named)})" if named else ""


def _who(battles: Outlines) -> str:
    fallen = battles.where(battles.texts["verdict"].among(["forfeit_a", "forfeit_b"]))
    gone = Counter(b.model_a if b.verdict == "forfeit_a" else b.model_b for b in fallen)
    named = [f"{safe(name or '?')} {n}" for name, n in gone.most_common(_REASONS)]
    return f" ({', '.join(named)})" if named else ""


LEAST_ALPHA = 0.4
"""Less agreement beyond chance is an alarm."""
_ONE_JUDGE = (
    "There is one judge, so agreement between judges is unknown; name several with --judge A,B."
)


def audit_panel(given: AuditInput) -> list[Finding]:
    """Return how far the judges of a run agree, each from the seating that decides."""
    judges = given.judges
    if len(judges) < 2:
        return [unknown("panel.alpha", _ONE_JUDGE)] if judges else []
    ballots = given.ballots
    kept = ballots.has_voted & ~ballots.is_back
    table = np.full((len(given.outlines), len(judges)), MISSING)
    table[ballots.battle[kept], ballots.judge[kept]] = ballots.camp[kept]
    agreement = agreement_of(judges, table, given.videos, is_brief=given.is_brief)
    return [*agreement, *(_abstains(k, given) for k in range(len(judges)))]


def agreement_of(
    judges: Sequence[str], table: Ints, video: Ints, *, case: str = "battle", is_brief: bool = False
) -> list[Finding]:
    """Return how far two judges or more agree, and who stands alone.

    Args:
        judges: their names.
        table: shape (cases, judges): the camp that each chose, 0 to 2, or MISSING.
        video: shape (cases,): a number that stands for the video of each.
        case: what a case is called.
        is_brief: return alpha alone, the one figure with a threshold.
    """
    alpha = _alpha(krippendorff(table, video), len(judges), case)
    if is_brief:
        return [alpha]
    pairs = combinations(range(len(judges)), 2)
    return [
        alpha,
        *_camps(table, video, case),
        *(found for pair in pairs for found in _pair(pair, judges, table, video, case=case)),
        *_alone(judges, table, video, case),
    ]


def _alpha(alpha: Share, judges: int, case: str) -> Finding:
    if np.isnan(alpha.value):
        return unknown("panel.alpha", f"The judges never disagreed on any {case}.")
    sentence = (
        f"Krippendorff's alpha of the {judges} judges is {decimals(alpha)} over "
        f"{alpha.n} {case}s; 0 is chance, 1 full agreement."
    )
    return finding("panel.alpha", alpha, sentence, crosses=below(alpha, LEAST_ALPHA))


def _pair(
    pair: tuple[int, int], judges: Sequence[str], table: Ints, video: Ints, *, case: str
) -> Iterator[Finding]:
    one, two = (table[:, k] for k in pair)
    both = (one != MISSING) & (two != MISSING)
    found = agree(one[both], two[both], video[both])
    called = [safe(judges[k]) for k in pair]
    names, said = ", ".join(called), " and ".join(called)
    key = f"panel.agreement.{names}"
    if found.share.n == 0:
        yield unknown(key, f"{said} never judged the same {case}.")
        return
    sentence = f"{said} agree on {percent(found.share)} of {found.share.n} {case}s"
    yield finding(key, found.share, f"{sentence}.")
    kappa = decimals(found.kappa, nothing="undefined, since both always give the same verdict")
    sentence = f"Cohen's kappa of {said} is {kappa}."
    yield finding(f"panel.kappa.{names}", found.kappa, sentence)


def _camps(table: Ints, video: Ints, case: str) -> Iterable[Finding]:
    """How many cases a whole panel, its larger part, or nobody decided."""
    counts = _counts(table)
    voted = counts.sum(axis=1) > 1
    if not voted.any():
        return
    top = np.sort(counts[voted], axis=1)[:, ::-1]
    whole, even = top[:, 0] == top.sum(axis=1), top[:, 0] == top[:, 1]
    ways = (
        ("unanimous", whole, "all votes were the same"),
        ("majority", ~whole & ~even, "the plurality decided"),
        ("split", even, "the vote was split evenly, which counts as a tie"),
    )
    for key, hits, what in ways:
        share = measure_share(hits, video[voted])
        yield finding(f"panel.{key}", share, f"In {percent(share)} of {share.n} {case}s {what}.")


def _alone(judges: Sequence[str], table: Ints, video: Ints, case: str) -> Iterable[Finding]:
    """How often each judge was outvoted, of cases with a majority and three votes or more."""
    counts = _counts(table)
    ranked = np.sort(counts, axis=1)[:, ::-1]
    clear = (counts.sum(axis=1) > 2) & (ranked[:, 0] > ranked[:, 1])
    winner = counts.argmax(axis=1)
    for k, judge in enumerate(judges):
        kept = clear & (table[:, k] != MISSING)
        share = measure_share((table[kept, k] != winner[kept]), video[kept])
        if share.n:
            sentence = f"{safe(judge)} was outvoted in {percent(share)} of {share.n} {case}s."
            yield finding(f"panel.minority.{safe(judge)}", share, sentence)


def _abstains(k: int, given: AuditInput) -> Finding:
    ballots, name = given.ballots, safe(given.judges[k])
    own = ballots.judge == k
    camp, video = ballots.camp[own], given.videos[ballots.battle[own]]
    share = measure_share((camp == ABSTAINED), video)
    failed = int((camp == FAILED).sum())
    behind = f", and failed in {failed}" if failed else ""
    sentence = f"{name} abstained in {percent(share)} of {share.n} judgings{behind}."
    crosses = above(share, MOST_ABSTENTIONS)
    return finding(f"panel.abstentions.{name}", share, sentence, crosses=crosses)


def _counts(table: Ints) -> Ints:
    return np.stack([(table == camp).sum(axis=1) for camp in range(3)], axis=1)
