"""The table of a run: decided battles rated, everything else counted, one sentence to take away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from videoautoarena.memory.records.records import DECIDED, TIES
from videoautoarena.runs.rating.fit import (
    Bouts,
    RatedBouts,
    best_first,
    fragility_of,
    matrices_of,
    rate_bouts,
    row_of,
    settings_of,
)
from videoautoarena.runs.rating.leaderboard import Leaderboard
from videoautoarena.runs.rating.method import USUAL, Method, Rated, Totals
from videoautoarena.runs.text.refusals import is_refusal
from videoautoarena.runs.text.style import FEATURES, compare_styles, measure_styles

if TYPE_CHECKING:
    from videoautoarena.runs.rating.behaviour import Asked, Seat


B = TypeVar("B", bound=Rated)


def build(
    battles: Sequence[Rated],
    roster: Sequence[str],
    *,
    method: Method = USUAL,
    stand_ins: bool = False,
    warnings: Iterable[str] = (),
    asked: Mapping[Seat, Asked] | None = None,
    weights: Mapping[str, float] | None = None,
    rater: Callable[[Bouts, Method], RatedBouts] = rate_bouts,
) -> Leaderboard:
    """Return the leaderboard of `battles`.

    Decided battles are rated, ties and splits as half a win to each; forfeits and voids are only
    counted. Ranks hold within a component: models that battles join.

    Args:
        battles: those that count, in slot order.
        roster: every model of the run, also one without a battle.
        method: how they are rated, where it is not the usual way.
        stand_ins: the run's models are offline ones, and the table says so.
        warnings: further sentences to stand in the settings.
        asked: what the journal knows of contestants' calls; with it rows say how models behaved,
            whatever the method leaves out.
        weights: how much each battle counts, by its id; None where all count alike.
        rater: what makes ratings of the decided battles, which it gets in their order.

    Raises:
        BadInput: the method's anchor is no model of the run.
    """
    # What reads a run opens stores, which cost more to import than a file of battles to rate.
    from videoautoarena.runs.rundir.reader import STAND_INS

    seen = (name for battle in battles for name in (battle.model_a, battle.model_b) if name)
    names = list(dict.fromkeys([*roster, *seen]))
    kept, left_out = wanted(battles, method)
    decided = [battle for battle in kept if battle.verdict in DECIDED]
    verdicts: Counter[str] = Counter(battle.verdict for battle in kept)
    forfeits = Counter(b.model_a if b.verdict == "forfeit_a" else b.model_b
                       for b in kept if b.verdict.startswith("forfeit"))  # fmt: skip
    board = tabulate(
        rater(_bouts(decided, names, method, weights), method),
        forfeits={name: forfeits[name] for name in names},
        totals=count_verdicts(verdicts),
    )
    settings = replace(
        board.settings,
        without={reason: left_out[reason] for reason in method.without} or None,
        stand_ins=stand_ins,
        warnings=(*[STAND_INS] * stand_ins, *warnings, *board.settings.warnings),
    )
    rows = board.models
    if asked is not None:
        from videoautoarena.runs.rating.behaviour import measure_behaviour

        behaviour = measure_behaviour(battles, [row.model for row in rows], asked)
        rows = tuple(replace(row, behaviour=behaviour[row.model]) for row in rows)
    return replace(board, models=rows, settings=settings)


def tabulate(rated: RatedBouts, *, forfeits: Mapping[str, int], totals: Totals) -> Leaderboard:
    """Return ratings as a leaderboard, the best model first, the unrated last."""
    ratings, names = rated.ratings, rated.bouts.names
    groups = [best_first(ratings, group) for group in ratings.components]
    order = [k for group in groups for k in group]
    order += sorted(set(range(len(names))) - set(order))
    return Leaderboard(
        models=tuple(row_of(rated, k, forfeits=forfeits.get(names[k], 0)) for k in order),
        components=tuple(tuple(names[k] for k in group) for group in groups),
        settings=settings_of(rated, totals),
        fragility=fragility_of(rated) if rated.method.fragility else None,
        pairs=matrices_of(rated) if rated.method.pairs else None,
    )


def count_verdicts(verdicts: Mapping[str, int]) -> Totals:
    """Return how many battles ended in which way, from how often each verdict fell."""
    return Totals(
        battles=sum(verdicts.values()),
        decided=sum(verdicts.get(v, 0) for v in DECIDED),
        ties=sum(verdicts.get(v, 0) for v in TIES),
        splits=verdicts.get("split", 0),
        forfeits=verdicts.get("forfeit_a", 0) + verdicts.get("forfeit_b", 0),
        voids=verdicts.get("void", 0),
    )


def wanted(battles: Sequence[B], method: Method) -> tuple[list[B], Counter[str]]:
    """Return the battles that the method leaves in, and how many it leaves out for what."""
    kept, left_out = list[B](), Counter[str]()
    for battle in battles:
        reason = next((why for why in method.without if _LEFT_OUT[why](battle)), None)
        if reason is None:
            kept.append(battle)
        else:
            left_out[reason] += 1
    return kept, left_out


def answered(battles: Sequence[B], method: Method) -> list[B]:
    """Return those that figures beside the fit count: all, or where refusals are out all others."""
    return [b for b in battles if "refusals" not in method.without or not _refuses(b)]


def _refuses(battle: Rated) -> bool:
    answers = (getattr(battle, name, None) for name in ("answer_a", "answer_b"))
    return battle.verdict in DECIDED and any(is_refusal(text) for text in answers if text)


_LEFT_OUT: dict[str, Callable[[Rated], bool]] = {
    "ties": lambda battle: battle.verdict in TIES,
    "refusals": _refuses,
}


def _bouts(
    decided: Sequence[Rated],
    names: Sequence[str],
    method: Method,
    weights: Mapping[str, float] | None,
) -> Bouts:
    place = {name: k for k, name in enumerate(names)}
    videos = {battle.video: k for k, battle in enumerate(decided)}
    style = None
    if method.style:
        style = compare_styles(*(
            measure_styles(getattr(battle, seat, None) or "" for battle in decided)
            for seat in ("answer_a", "answer_b")
        ))  # fmt: skip
    return Bouts(
        names,
        np.array([place[battle.model_a or ""] for battle in decided], dtype=np.int64),
        np.array([place[battle.model_b or ""] for battle in decided], dtype=np.int64),
        np.array([points_of(battle.verdict) for battle in decided], dtype=np.float64),
        np.array([videos[battle.video] for battle in decided], dtype=np.int64),
        style,
        FEATURES,
        None if weights is None else np.array([weights[getattr(b, "id", "")] for b in decided]),
    )


def points_of(verdict: str) -> float:
    """Return what a decided verdict gives model a."""
    return 0.5 if verdict in TIES else float(verdict == "a")
