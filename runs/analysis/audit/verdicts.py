"""Words on one battle beside one another: several judges, one judge again, and people.

How far they agree, who stands alone, and who abstains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from videoautoarena.memory.records.outlines import LENGTHS, seen_in
from videoautoarena.memory.records.records import DECIDED, TIES, Battle
from videoautoarena.memory.store.evidence import Label, Trial
from videoautoarena.runs.analysis.audit.evidence import (
    ABSTAINED,
    FAILED,
    AuditInput,
    above,
    below,
    finding,
    unknown,
)
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.rating.fit import number_names
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.run.rundir.reader import one_line
from videoautoarena.scoring.agreement.rater_agreement import MISSING, agree, krippendorff
from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.intervals.proportions import Share, measure_share

Words = NDArray[np.str_]
"""A verdict for each battle."""
MOST_TIES = 0.5
MOST_BOTH_BAD = 0.25
MOST_VOIDS = 0.05
MOST_FORFEITS = 0.1
MOST_ABSTENTIONS = 0.1
"""More of each is an alarm."""
MOST_SAME = 0.5
"""Share of equal answers of two models that is an alarm, whatever the interval: it is about what
was said, not about what a judge made of it."""
LEAST_MET = 10
"""Battles that two models must have met in before their answers are compared."""
_REASONS = 3
"""Reasons of voids that are named."""


def audit_verdicts(given: AuditInput) -> list[Finding]:
    """Return the shares of battles that say nothing, or little, about who is better."""
    if not given.battles:
        return [unknown("verdicts.voids", "The run holds no battle yet.")]
    verdicts = np.array(list(given.outlines.texts["verdict"].each()))
    return [
        *_same_answers(given),
        *_of_decided(verdicts, given),
        *_lost(verdicts, given),
        *_of_judgings(given),
    ]


def _same_answers(given: AuditInput) -> Iterator[Finding]:
    """Yield how often two models said the same, of pairs that did in half of their battles."""
    every = given.outlines
    names = seen_in(every.texts["model_a"], every.texts["model_b"])
    place = {name: k for k, name in enumerate(names)}
    seats = (every.texts[seat] for seat in ("model_a", "model_b"))
    a, b = (np.array([place.get(n, -1) for n in seat.values])[seat.codes] for seat in seats)
    length_a, length_b = (every.numbers[name] for name in LENGTHS)
    # One number for two models, whoever of them sat where.
    pair = np.minimum(a, b) * len(names) + np.maximum(a, b)
    both = (length_a > 0) & (length_b > 0)
    # Texts are read where their lengths are equal so often that they may be the same.
    is_equal = both & (length_a == length_b)
    for code in np.unique(pair[is_equal]):
        met = both & (pair == code)
        near = met & is_equal
        if met.sum() < LEAST_MET or near.sum() < MOST_SAME * met.sum():
            continue
        same = np.zeros(len(pair), dtype=np.bool_)
        same[near] = [one == two for one, two in given.answers(near)]
        share = measure_share(same[met], given.videos[met])
        if share.value >= MOST_SAME:
            yield _same(sorted(names[k] for k in divmod(int(code), len(names))), share)


def _same(models: Sequence[str], share: Share) -> Finding:
    first, second = models
    words = (
        "{first} and {second} gave word for word the same answer in {same} of {n:battle} on "
        "{videos:video}; are they one model under two names?"
    )
    names = safe(f"{first}, {second}")
    key = f"verdicts.same_answers.{names}"
    told: dict[str, Any] = {"first": first, "second": second, "same": round(share.value * share.n)}
    return finding(key, share, words, is_alarm=True, **told)


def _of_decided(verdicts: Words, given: AuditInput) -> Iterable[Finding]:
    decided = np.isin(verdicts, list(DECIDED))
    if not decided.any():
        return
    said = verdicts[decided]
    video = given.videos[decided]
    ties = measure_share(np.isin(said, list(TIES)), video)
    words = "{figure} of {n:decided battle} on {videos:video} were ties or splits."
    yield finding("verdicts.ties", ties, words, crosses=above(ties, MOST_TIES))
    bad = measure_share((said == "tie_bad"), video)
    words = (
        "In {figure} of {n:decided battle} on {videos:video} both answers were called bad; a high "
        "share means questions that no model here can answer."
    )
    yield finding("verdicts.both_bad", bad, words, crosses=above(bad, MOST_BOTH_BAD))


def _lost(verdicts: Words, given: AuditInput) -> Iterable[Finding]:
    voids = measure_share((verdicts == "void"), given.videos)
    # What a reason says before it goes into the case at hand.
    kinds = ((reason or "no reason").partition(": ")[0] for reason in given.void_reasons())
    why, told = _named(Counter(one_line(kind, 60) for kind in kinds))
    words = f"{{figure}} of {{n:battle}} on {{videos:video}} ended void{why}."
    yield finding("verdicts.voids", voids, words, crosses=above(voids, MOST_VOIDS), **told)
    gone = np.isin(verdicts, ("forfeit_a", "forfeit_b"))
    share = measure_share(gone, given.videos)
    fallen = given.outlines.where(given.outlines.texts["verdict"].among(["forfeit_a", "forfeit_b"]))
    who, told = _named(
        Counter((b.model_a if b.verdict == "forfeit_a" else b.model_b) or "?" for b in fallen)
    )
    words = f"{{figure}} of {{n:battle}} on {{videos:video}} were forfeited{who} and are not rated."
    yield finding("verdicts.forfeits", share, words, crosses=above(share, MOST_FORFEITS), **told)


def _of_judgings(given: AuditInput) -> Iterable[Finding]:
    ballots = given.ballots
    if not len(ballots.camp):
        yield unknown("verdicts.abstentions", "No judge was asked.")
        return
    abstained = ballots.camp == ABSTAINED
    share = measure_share(abstained, given.videos[ballots.battle])
    failed = int((ballots.camp == FAILED).sum())
    behind = "; {failed:more judging} failed" if failed else ""
    words = f"Judges abstained in {{figure}} of {{n:judging}} on {{videos:video}}{behind}."
    crosses = above(share, MOST_ABSTENTIONS)
    yield finding("verdicts.abstentions", share, words, crosses=crosses, failed=failed)


def _named(found: Counter[str]) -> tuple[str, dict[str, Any]]:
    """Return words that list the commonest, and what they tell: ` (time out 3, other 2)`."""
    most = dict(found.most_common(_REASONS))
    if more := found.total() - sum(most.values()):
        most["other"] = more
    told: dict[str, Any] = {}
    for k, (name, times) in enumerate(most.items()):
        # In places of their own, since a reason may hold braces or figures that are no place and no
        # figure.
        told |= {f"name_{k}": name, f"times_{k}": times}
    each = ", ".join(f"{{name_{k}}} {{times_{k}}}" for k in range(len(most)))
    return f" ({each})" if each else "", told


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
    # One vote a judge and battle, all from the same seats, so that position bias is no
    # disagreement.
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
    words = (
        "Krippendorff's alpha of the {judges} judges is {figure:coefficient_with_interval} over "
        f"{{n:{case}}} on {{videos:video}}; zero is chance, one full agreement."
    )
    crosses = below(alpha, LEAST_ALPHA)
    return finding("panel.alpha", alpha, words, crosses=crosses, judges=judges)


def _pair(
    pair: tuple[int, int], judges: Sequence[str], table: Ints, video: Ints, *, case: str
) -> Iterator[Finding]:
    one, two = (table[:, k] for k in pair)
    both = (one != MISSING) & (two != MISSING)
    found = agree(one[both], two[both], video[both])
    first, second = (judges[k] for k in pair)
    names = safe(f"{first}, {second}")
    key = f"panel.agreement.{names}"
    if found.share.n == 0:
        words = f"{{first}} and {{second}} never judged the same {case}."
        yield unknown(key, words, first=first, second=second)
        return
    words = f"{{first}} and {{second}} agree on {{figure}} of {{n:{case}}} on {{videos:video}}."
    yield finding(key, found.share, words, first=first, second=second)
    kappa = "{figure:coefficient_with_interval}"
    if np.isnan(found.kappa.value):
        kappa = "undefined, since both always give the same verdict"
    words = f"Cohen's kappa of {{first}} and {{second}} is {kappa}."
    yield finding(f"panel.kappa.{names}", found.kappa, words, first=first, second=second)


def _camps(table: Ints, video: Ints, case: str) -> Iterable[Finding]:
    """Yield how many cases all judges, most of them, or no majority decided."""
    counts = _counts(table)
    voted = counts.sum(axis=1) > 1
    if not voted.any():
        return
    top = np.sort(counts[voted], axis=1)[:, ::-1]
    whole = top[:, 0] == top.sum(axis=1)
    even = top[:, 0] == top[:, 1]
    ways = (
        ("unanimous", whole, "all votes were the same"),
        ("majority", ~whole & ~even, "the plurality decided"),
        ("split", even, "the vote was split evenly, which counts as a tie"),
    )
    for key, hits, what in ways:
        share = measure_share(hits, video[voted])
        words = f"In {{figure}} of {{n:{case}}} on {{videos:video}} {what}."
        yield finding(f"panel.{key}", share, words)


def _alone(judges: Sequence[str], table: Ints, video: Ints, case: str) -> Iterable[Finding]:
    """Yield how often each judge was outvoted in cases with a majority and three votes or more."""
    counts = _counts(table)
    ranked = np.sort(counts, axis=1)[:, ::-1]
    # Of two judges neither can be outvoted.
    clear = (counts.sum(axis=1) > 2) & (ranked[:, 0] > ranked[:, 1])
    winner = counts.argmax(axis=1)
    for k, judge in enumerate(judges):
        kept = clear & (table[:, k] != MISSING)
        share = measure_share((table[kept, k] != winner[kept]), video[kept])
        if share.n:
            words = f"{{judge}} was outvoted in {{figure}} of {{n:{case}}} on {{videos:video}}."
            yield finding(f"panel.minority.{safe(judge)}", share, words, judge=judge)


def _abstains(k: int, given: AuditInput) -> Finding:
    ballots = given.ballots
    own = ballots.judge == k
    camp = ballots.camp[own]
    video = given.videos[ballots.battle[own]]
    share = measure_share((camp == ABSTAINED), video)
    return abstention_of(given.judges[k], share, int((camp == FAILED).sum()), case="judging")


def abstention_of(judge: str, share: Share, failed: int, *, case: str) -> Finding:
    """Return how often a judge of several could not tell; `case` is what each is called."""
    behind = ", and failed in {failed}" if failed else ""
    words = f"{{judge}} abstained in {{figure}} of {{n:{case}}} on {{videos:video}}{behind}."
    key = f"panel.abstentions.{safe(judge)}"
    crosses = above(share, MOST_ABSTENTIONS)
    return finding(key, share, words, crosses=crosses, judge=judge, failed=failed)


def _counts(table: Ints) -> Ints:
    # Only the three camps: MISSING is none of them.
    return np.stack([(table == camp).sum(axis=1) for camp in range(3)], axis=1)


LEAST_ECHOES = 20
"""Pairs of words that are measured at least."""
_A_POINT = 15
_MOST_POINTS = 5
SWAPPED = "seats swapped"
REPEATED = "asked again"
LABELLED = "people’s labels"
ECHO_KINDS = (SWAPPED, REPEATED, LABELLED)


class Echo(NamedTuple):
    """Two words on one battle."""

    kind: str
    battle: Battle
    is_same: bool
    """Both for a, both for b, or both a tie of any kind."""


class Echoes(NamedTuple):
    """Shares of equal words of a kind, by the gap between the two models' ratings."""

    kind: str
    gaps: Floats
    """Mean gap of each point."""
    shares: Sequence[Share]
    n: int


def find_echoes(
    battles: Sequence[Battle], *, trials: Iterable[Trial] = (), labels: Iterable[Label] = ()
) -> Iterator[Echo]:
    """Yield every pair of words on a battle: from both seats, asked again, and a person's."""
    known = {battle.id: battle for battle in battles}
    for battle in battles:
        for one, two in combinations(battle.verdicts, 2):
            if one.judge == two.judge and one.seats != two.seats:
                yield from _echo(SWAPPED, battle, one.verdict, two.verdict)
    for trial in trials:
        again = trial.judging
        first = known.get(trial.battle or "")
        if trial.kind == "repeat" and first is not None:
            for one in first.verdicts:
                if one.judge == again.judge and one.seats == again.seats:
                    yield from _echo(REPEATED, first, one.verdict, again.verdict)
    for label in labels:
        if (of := known.get(label.battle)) is not None and of.verdict in DECIDED:
            yield from _echo(LABELLED, of, of.verdict, label.verdict)


def measure_echoes(board: RatedLeaderboard, echoes: Iterable[Echo]) -> list[Echoes]:
    """Return what came of each kind with enough words about models of the largest group."""
    group = board.components[0] if board.components else ()
    ratings = {row.model: row.rating or 0.0 for row in board.models if row.model in group}
    kinds: dict[str, list[Echo]] = {kind: [] for kind in ECHO_KINDS}
    for echo in echoes:
        if {echo.battle.model_a, echo.battle.model_b} <= set(ratings):
            kinds[echo.kind].append(echo)
    return [
        _measured(kind, found, ratings)
        for kind, found in kinds.items()
        if len(found) >= LEAST_ECHOES
    ]


def _echo(kind: str, battle: Battle, one: str, two: str) -> Iterator[Echo]:
    if one in DECIDED and two in DECIDED:
        is_same = one == two or (one in TIES and two in TIES)
        yield Echo(kind, battle, is_same)


def _measured(kind: str, echoes: Sequence[Echo], ratings: Mapping[str, float]) -> Echoes:
    gaps = np.array([
        abs(ratings[echo.battle.model_a or ""] - ratings[echo.battle.model_b or ""])
        for echo in echoes
    ])  # fmt: skip
    # Stable, so that battles of equal gaps fall into the same parts each time.
    order = np.argsort(gaps, kind="stable")
    hits = np.array([echo.is_same for echo in echoes], dtype=np.float64)
    videos = number_names([echo.battle.video for echo in echoes])
    points = min(max(len(echoes) // _A_POINT, 1), _MOST_POINTS)
    parts = np.array_split(order, points)
    return Echoes(
        kind,
        np.array([gaps[part].mean() for part in parts]),
        [measure_share(hits[part], videos[part]) for part in parts],
        len(echoes),
    )
