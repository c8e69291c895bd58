"""Several judges beside one another: how far they agree, who stands alone, who cannot tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from runs.audit_input import ABSTAINED, FAILED, AuditInput, above, below, finding, percent, unknown
from runs.audit_verdicts import MOST_ABSTENTIONS
from runs.console import safe
from runs.findings import Finding
from scoring.cells import Ints
from scoring.raters import MISSING, agree, krippendorff
from scoring.shares import Share, measure_share

LEAST_ALPHA = 0.4
"""Less agreement beyond chance is an alarm."""
_UNTOLD = (
    "One judge decided alone, so nobody knows how far another would agree; name several with "
    "--judge A,B."
)


def audit_panel(given: AuditInput) -> list[Finding]:
    """Return how far the judges of a run agree, each from the seating that decides."""
    judges = given.judges
    if len(judges) < 2:
        return [unknown("panel.alpha", _UNTOLD)] if judges else []
    ballots = given.ballots
    kept = ballots.has_voted & ~ballots.is_back
    table = np.full((len(given.battles), len(judges)), MISSING)
    table[ballots.battle[kept], ballots.judge[kept]] = ballots.camp[kept]
    return [
        *agreement_of(judges, table, given.videos),
        *(_abstains(k, given) for k in range(len(judges))),
    ]


def agreement_of(
    judges: Sequence[str], table: Ints, video: Ints, *, case: str = "battle"
) -> list[Finding]:
    """Return how far two judges or more agree, and who stands alone.

    Args:
        judges: their names.
        table: shape (cases, judges): the camp that each chose, 0 to 2, or MISSING.
        video: shape (cases,): a number that stands for the video of each.
        case: what a case is called.
    """
    pairs = combinations(range(len(judges)), 2)
    return [
        _alpha(krippendorff(table, video), len(judges), case),
        *_camps(table, video, case),
        *(found for pair in pairs for found in _pair(pair, judges, table, video, case=case)),
        *_alone(judges, table, video, case),
    ]


def _alpha(alpha: Share, judges: int, case: str) -> Finding:
    if np.isnan(alpha.value):
        return unknown("panel.alpha", f"The judges never said two different things of any {case}.")
    sentence = (
        f"The {judges} judges agree with an alpha of {_figure(alpha)} over {alpha.n} {case}s "
        "(Krippendorff: 1 fully, 0 as by chance)."
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
        yield unknown(key, f"{said} never judged one {case} both.")
        return
    sentence = f"{said} say the same of {percent(found.share)} of {found.share.n} {case}s"
    yield finding(key, found.share, f"{sentence}.")
    kappa = "unknown, since both always say one thing"
    if not np.isnan(found.kappa.value):
        kappa = _figure(found.kappa)
    sentence = f"Beyond what chance makes of their habits, {said} agree with a kappa of {kappa}."
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
        ("unanimous", whole, "all who voted said the same"),
        ("majority", ~whole & ~even, "the larger part decided"),
        ("split", even, "two camps were equally large, which counts as a tie"),
    )
    for key, hits, what in ways:
        share = measure_share(hits.astype(float), video[voted])
        yield finding(f"panel.{key}", share, f"In {percent(share)} of {share.n} {case}s {what}.")


def _alone(judges: Sequence[str], table: Ints, video: Ints, case: str) -> Iterable[Finding]:
    """How often each judge was outvoted, of cases with a majority and three votes or more."""
    counts = _counts(table)
    ranked = np.sort(counts, axis=1)[:, ::-1]
    clear = (counts.sum(axis=1) > 2) & (ranked[:, 0] > ranked[:, 1])
    winner = counts.argmax(axis=1)
    for k, judge in enumerate(judges):
        kept = clear & (table[:, k] != MISSING)
        share = measure_share((table[kept, k] != winner[kept]).astype(float), video[kept])
        if share.n:
            sentence = f"{safe(judge)} was outvoted in {percent(share)} of {share.n} {case}s."
            yield finding(f"panel.minority.{safe(judge)}", share, sentence)


def _abstains(k: int, given: AuditInput) -> Finding:
    ballots, name = given.ballots, safe(given.judges[k])
    own = ballots.judge == k
    camp, video = ballots.camp[own], given.videos[ballots.battle[own]]
    share = measure_share((camp == ABSTAINED).astype(float), video)
    failed = int((camp == FAILED).sum())
    behind = f", and failed in {failed}" if failed else ""
    sentence = f"{name} could not tell in {percent(share)} of {share.n} judgings{behind}."
    crosses = above(share, MOST_ABSTENTIONS)
    return finding(f"panel.abstentions.{name}", share, sentence, crosses=crosses)


def _counts(table: Ints) -> Ints:
    return np.stack([(table == camp).sum(axis=1) for camp in range(3)], axis=1)


def _figure(share: Share) -> str:
    return f"{share.value:.2f} ({share.low:.2f} to {share.high:.2f})"
