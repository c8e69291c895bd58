"""Turns battles as arrays into the rows and settings of a leaderboard, wherever they are from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.rating.finding import figure_json
from videoautoarena.runs.rating.leaderboard import (
    EVEN_PAIRS,
    BattleWeights,
    BoardLead,
    Bootstrap,
    Elo,
    FittedTerms,
    LeaderboardRow,
    PairMatrices,
    RatingSettings,
    Term,
    TermControl,
)
from videoautoarena.runs.rating.method import (
    RANKABLE_VIDEOS,
    ROUNDS,
    SOLID_BATTLES,
    BattleTotals,
    RatingMethod,
    read_anchor,
    too_few,
)
from videoautoarena.scoring.fitting.bradley_terry import MEAN, SCALE, K, play_elo
from videoautoarena.scoring.fitting.counts import (
    BattleRows,
    Cells,
    Floats,
    Ints,
    ModelTally,
    count_cells,
    count_rows,
    select_models,
    select_rows,
    tally,
)
from videoautoarena.scoring.intervals.proportions import Share, measure_share
from videoautoarena.scoring.intervals.ranks import videos_needed
from videoautoarena.scoring.intervals.sandwich import LEVEL, gap_errors, half_widths
from videoautoarena.scoring.ratings.covariates import (
    MOST_HALF_WIDTH,
    MOST_INFLATION,
    Identification,
    identify,
)
from videoautoarena.scoring.ratings.ratings import (
    Anchor,
    ComponentFit,
    NoFiniteStrength,
    Ratings,
    chances_better,
    rate,
)
from videoautoarena.scoring.ratings.ratings import FitMethod as How
from videoautoarena.scoring.texts.style import standardise

COMFORTABLE_VIDEOS = 50
"""With fewer videos in a group the table carries a warning."""
_NAMED = 8
ONE_SIDED = "one-sided"
APART = "not comparable"
PLAIN = "ratings are by plain maximum likelihood, as in the paper whose preset this run began with"
ENDLESS = (
    "plain maximum likelihood, as in the paper whose preset this run began with, gives {} no "
    "finite rating; ratings are bias-reduced (Firth)"
)
"""Notes on a board whose fit follows from the preset of its run."""
MOVED = "than in earlier versions"
"""Words of the note that says how far the zero of the scale has moved."""
_FELT = 5.0
"""Points by which the zero has moved since earlier versions, from which on a table says so."""
UNCONTROLLED = "not controlled"
"""Flag of a model whose battles do not tell the effects that were asked for from its strength."""


@dataclass(frozen=True, eq=False)
class Bouts:
    """Decided battles as arrays, and what the numbers in them stand for."""

    names: Sequence[str]
    a: Ints
    """Shape (battles,), places in `names`."""
    b: Ints
    points: Floats
    """Points of a: 1, 0.5 or 0."""
    video: Ints | None
    """Number of the video of each battle; None if videos are unknown."""
    style: Floats | None = None
    """Shape (battles, features): how the answers differ; None without style control."""
    features: Sequence[str] = ()
    weight: Floats | None = None
    """Shape (battles,), how much each counts, 1 on average; None where all count alike."""


class Control(NamedTuple):
    """Position and style beside the strengths of one component."""

    fit: ComponentFit
    """The fit with these terms, whether or not ratings are taken from it."""
    found: Identification


@dataclass(frozen=True, eq=False)
class RatedBouts:
    """Bouts, and their ratings."""

    bouts: Bouts
    method: RatingMethod
    cells: Cells
    """With videos where they are known, whatever the intervals are made of."""
    ratings: Ratings
    counts: ModelTally
    units: Floats
    """Size of one unit of each style covariate; 0 for those that never differ."""
    elo: Floats | None
    pieces: list[int]
    """Videos of each component, or battles if videos are unknown."""
    remark: str | None = None
    """Why this fit was chosen, if the user named none."""
    controls: Sequence[Control] = ()
    """One for each component; empty if neither position nor style is to be taken out."""

    @property
    def unit(self) -> str:
        """What is counted as a piece of evidence."""
        return "battle" if self.bouts.video is None else "video"


def rate_bouts(bouts: Bouts, method: RatingMethod) -> RatedBouts:
    """Return the ratings of decided battles.

    Raises:
        BadInput: an anchor that is no model of theirs, or models without a finite rating by plain
            maximum likelihood.
    """
    try:
        return _rate_bouts(bouts, method)
    except NoFiniteStrength as endless:
        raise BadInput(no_finite_rating([bouts.names[k] for k in endless.models])) from None


def rate_as_in_paper(bouts: Bouts, method: RatingMethod) -> RatedBouts:
    """Return ratings by plain maximum likelihood where these are finite, unless a fit is named.

    Raises:
        BadInput: as `rate_bouts` does.
    """
    if method.fit is not None:
        return rate_bouts(bouts, method)
    try:
        return replace(_rate_bouts(bouts, replace(method, fit="mle")), remark=PLAIN)
    except NoFiniteStrength as endless:
        named = _some([bouts.names[k] for k in endless.models])
        remark = ENDLESS.format(named)
        return replace(_rate_bouts(bouts, replace(method, fit="firth")), remark=remark)


def rater_of(manifest: Mapping[str, Any]) -> Callable[[Bouts, RatingMethod], RatedBouts]:
    """Return the function that rates the battles of a run, unless a method names a fit."""
    # A file of battles is rated without opening a store, which costs more to import.
    from videoautoarena.runs.run.rundir.reader import is_as_in_paper

    return rate_as_in_paper if is_as_in_paper(manifest) else rate_bouts


def _rate_bouts(bouts: Bouts, method: RatingMethod) -> RatedBouts:
    """Return the ratings, or raise NoFiniteStrength."""
    fought: Any = {"a": bouts.a, "b": bouts.b, "outcome": bouts.points, "models": len(bouts.names)}
    cells = count_cells(**fought, cluster=bouts.video)
    how = how_of(method, bouts.names)
    alone = method.intervals == "battle"
    units = np.empty(0)
    # Cells without parts: their battles count as independent of each other.
    battles: Cells | BattleRows = (
        Cells(cells.models, cells.i, cells.j, cells.counts) if alone else cells
    )
    cluster = None if alone else bouts.video
    # Weighted battles need clusters for their intervals: where battles count as independent, each
    # is a cluster of its own.
    if bouts.weight is not None:
        cluster = np.arange(len(bouts.a)) if cluster is None else cluster
        battles = count_cells(**fought, cluster=cluster, weight=bouts.weight)
    if method.ties == "davidson":
        # Battles in cells are fitted without a term for ties.
        battles = count_rows(**fought, cluster=cluster, weight=bouts.weight)
    controls = list[Control]()
    if method.style or method.seats:
        x, units = _covariates(bouts, method)
        beside: Any = {"x": x, "seat": method.seats, "weight": bouts.weight}
        rows = count_rows(**fought, cluster=cluster, **beside)
        ratings, controls = _rate_controlled(rows, battles, how)
    else:
        ratings = rate(battles, how)
    elo = play_elo(**fought, seed=method.seed) if method.elo else None
    # Of `cells`, which keep the videos even where intervals take battles for independent.
    pieces = [select_models(cells, members).clusters for members in ratings.components]
    return RatedBouts(
        bouts, method, cells, ratings, tally(cells), units, elo, pieces, controls=controls
    )


def _rate_controlled(
    rows: BattleRows, battles: Cells | BattleRows, how: How
) -> tuple[Ratings, list[Control]]:
    """Return the ratings of each component, terms of `rows` taken out where they are identified.

    Other components keep the ratings of `battles`, the same battles without these terms.
    """
    # Without a bootstrap, whose thousand draws would be thrown away where the terms turn out not to
    # be identified.
    beside = rate(rows, replace(how, rounds=0))
    # Decided once here: every form of a board reads what became of it, so that no two of them
    # differ in which ratings they show.
    controls = []
    for members, fit in zip(beside.components, beside.fits, strict=True):
        assert fit.terms is not None
        part = select_rows(rows, members)
        effective = fit.spread.effective
        controls.append(Control(fit, identify(part, fit.terms, fit.errors, effective=effective)))
    holds = [control.found.holds for control in controls]
    if not any(holds):
        return rate(battles, how), controls
    if how.rounds:
        beside = rate(rows, how)
    return beside if all(holds) else _join(beside, rate(battles, how), holds), controls


def _join(beside: Ratings, plain: Ratings, holds: Sequence[bool]) -> Ratings:
    """Return the ratings of `beside` in the components where `holds` is true, else of `plain`."""
    chosen = np.zeros(len(plain.rating), dtype=np.bool_)
    # Both fits have the same components: the same battles join the models.
    for members, held in zip(plain.components, holds, strict=True):
        chosen[members] = held
    found: dict[str, Any] = {}
    for name, one in beside._asdict().items():
        other = getattr(plain, name)
        if isinstance(one, np.ndarray):
            found[name] = np.where(chosen, one, other)
        else:
            found[name] = [p if h else q for p, q, h in zip(one, other, holds, strict=True)]
    return Ratings(**found)


def number_names(names: Sequence[str]) -> Ints:
    """Return a whole number for each name, counted from 0 as they first come."""
    places = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return np.array([places[name] for name in names], dtype=np.int64)


def share_of(hits: Sequence[float], videos: Sequence[str]) -> Share:
    """Return the share of hits with its interval; battles of one video are one cluster."""
    return measure_share(hits, number_names(videos))


def no_finite_rating(names: Sequence[str]) -> str:
    """Return why the plain likelihood has no ratings for one-sided models."""
    return (
        f"{option('fit', 'mle')}: there is no finite rating for {_some(names)} (one-sided); leave "
        "it out, or these models"
    )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")


def how_of(method: RatingMethod, names: Sequence[str]) -> How:
    """Return a method as `rate` takes it, the anchor as its place in `names`.

    Raises:
        BadInput: an anchor that is none of them.
    """
    anchor = None
    if method.anchor is not None:
        name, rating = read_anchor(method.anchor, names)
        anchor = Anchor(list(names).index(name), rating)
    return How(
        likelihood=method.fit or "firth",
        davidson=method.ties == "davidson",
        rounds=ROUNDS if method.intervals == "bootstrap" else 0,
        seed=method.seed,
        simultaneous=method.simultaneous,
        anchor=anchor,
    )


def _covariates(bouts: Bouts, method: RatingMethod) -> tuple[Floats | None, Floats]:
    """Return the style covariates that differ in some battle, and the units of all."""
    if not method.style or bouts.style is None:
        return None, np.empty(0)
    x, units = standardise(bouts.style)
    # A feature that never differs would put all terms under a prior, see `fit_terms`.
    return x[:, units > 0], units


def best_first(ratings: Ratings, group: Ints) -> list[int]:
    """Return the models of a component, the best first."""
    # Rounded, so that equal models stand in roster order on every machine.
    order = np.argsort(-ratings.rating[group].round(6), kind="stable")
    return [int(k) for k in group[order]]


def row_of(rated: RatedBouts, k: int, *, forfeits: int) -> LeaderboardRow:
    """Return the row of model `k`, without what only a run knows of it."""
    ratings = rated.ratings
    counts = rated.counts
    battles = int(counts.battles[k])
    elo = None
    # Online Elo knows no absence: a model that never played would show the value it starts with.
    if rated.elo is not None:
        elo = round(float(rated.elo[k]), 4) if battles else math.nan
    home = home_of(rated, k)
    is_ranked = home is not None and rated.pieces[home] >= RANKABLE_VIDEOS
    return LeaderboardRow(
        model=rated.bouts.names[k],
        rating=figure_json(ratings.rating[k], 4),
        low=figure_json(ratings.low[k], 4),
        high=figure_json(ratings.high[k], 4),
        rank=int(ratings.place[k]) if is_ranked else None,
        rank_best=int(ratings.best[k]) if is_ranked else None,
        rank_worst=int(ratings.worst[k]) if is_ranked else None,
        battles=battles,
        wins=int(counts.wins[k]),
        losses=int(counts.losses[k]),
        ties=int(counts.ties[k]),
        win_rate=figure_json(counts.win_rate[k]),
        elo=elo,
        forfeits=forfeits,
        flags=tuple(flags_of(rated, k)),
    )


def home_of(rated: RatedBouts, k: int) -> int | None:
    """Return which component model `k` is of; None without a battle."""
    return next((c for c, group in enumerate(rated.ratings.components) if k in group), None)


def lead_in(rated: RatedBouts, component: int) -> BoardLead:
    """Return who may be best of the models of a component."""
    ratings = rated.ratings
    names = rated.bouts.names
    members = ratings.components[component]
    lead = ratings.leads[component]
    place = {int(k): row for row, k in enumerate(members)}
    order = [place[k] for k in best_first(ratings, members)]
    first = [k for k in order if lead.place[k] == 1]
    rivals = [k for k in order if lead.may_be_best[k] and k not in first]
    above = [k for k in order if k not in first and lead.apart[first, k].all()]
    pieces = rated.pieces[component]
    top = first[0]
    # Without a finite error of the difference nothing says how many videos would separate the two.
    nearest = next((k for k in rivals if np.isfinite(lead.bound[[top, k]]).all()), None)
    more = None
    if nearest is not None:
        theta = ratings.theta[members]
        errors = gap_errors(ratings.fits[component].spread)
        reach = float(lead.bound[nearest] * errors[top, nearest])
        more = videos_needed(float(theta[top] - theta[nearest]), reach, videos=pieces)
    return BoardLead(
        first=tuple(names[members[k]] for k in first),
        is_ranked=pieces >= RANKABLE_VIDEOS,
        rivals=tuple(names[members[k]] for k in rivals),
        above=tuple(names[members[k]] for k in above),
        nearest=None if nearest is None else names[members[nearest]],
        more=more,
        basis=f"differences of ratings: {_interval(rated)}",
        is_simultaneous=rated.method.simultaneous,
    )


def flags_of(rated: RatedBouts, k: int) -> list[str]:
    """Return what a reader must know of model `k`."""
    ratings = rated.ratings
    home = home_of(rated, k)
    if home is None:
        return []
    found = {
        ONE_SIDED: bool(ratings.one_sided[k]),
        APART: home > 0,
        too_few(rated.unit): rated.pieces[home] < RANKABLE_VIDEOS,
        UNCONTROLLED: bool(rated.controls) and not rated.controls[home].found.holds,
    }
    return [flag for flag, holds in found.items() if holds]


def complaints(rated: RatedBouts) -> list[str]:
    """Return what a reader must know of the whole table."""
    found = []
    pieces = rated.pieces
    if rated.remark is not None:
        found.append(rated.remark)
    if len(pieces) > 1:
        found.append(f"{len(pieces)} groups of models never met; each has a scale of its own")
    fewest = min(pieces, default=COMFORTABLE_VIDEOS)
    if fewest < COMFORTABLE_VIDEOS:
        where = "a group has only " if len(pieces) > 1 else "only "
        counted = f"1 {rated.unit}" if fewest == 1 else f"{fewest} {rated.unit}s"
        few = fewest < RANKABLE_VIDEOS
        worry = too_few(rated.unit) if few else "below 50 the intervals are wide"
        found.append(f"{where}{counted}: {worry}")
    if rated.bouts.video is not None and rated.method.intervals == "battle":
        found.append(
            "the intervals treat battles as independent, which is too narrow for "
            "battles that share a video"
        )
    # An anchor sets the zero itself, so no number of such a board has moved.
    moved = _shift(rated, 0) if pieces and rated.method.anchor is None else 0.0
    if abs(moved) >= _FELT:
        way = "higher" if moved > 0 else "lower"
        found.append(
            f"ratings are {abs(moved):.0f} points {way} {MOVED}, whose 1000 was "
            "the plain mean of the models that are not one-sided; differences are the same"
        )
    fits = [*rated.ratings.fits, *(control.fit for control in rated.controls)]
    # 347 points are the two nats of PRIOR_SD in `scoring.ratings.covariates`.
    if any(fit.terms is not None and fit.terms.held for fit in fits):
        found.append(
            "these battles do not bound the effect of position or style; a prior of "
            "0 +- 347 points does"
        )
    return found


def settings_of(rated: RatedBouts, totals: BattleTotals) -> RatingSettings:
    """Return how the ratings were made, with what was asked for beside."""
    method = rated.method
    pieces = tuple(rated.pieces)
    knows_videos = rated.bouts.video is not None
    weight = rated.bouts.weight
    return RatingSettings(
        fit=method.fit or "firth",
        ties=method.ties,
        # SCALE is 400 / ln 10, and floats may not give back 400.
        scale=round(SCALE * math.log(10)),
        mean=MEAN,
        level=LEVEL,
        interval=_interval(rated),
        videos=pieces if knows_videos else None,
        pieces=None if knows_videos else pieces,
        totals=totals,
        shift=tuple(_shift(rated, k) for k in range(len(pieces))),
        anchor=None if method.anchor is None else read_anchor(method.anchor, rated.bouts.names),
        simultaneous=method.simultaneous or None,
        bootstrap=Bootstrap(ROUNDS, method.seed) if method.intervals == "bootstrap" else None,
        elo=Elo(K, method.seed) if method.elo else None,
        reweighted=None if weight is None else _reweighted(weight),
        terms=tuple(_terms(rated, k) for k in range(len(pieces))) if method.needs_rows else None,
        warnings=tuple(complaints(rated)),
    )


def _shift(rated: RatedBouts, component: int) -> float:
    """Return how far ratings stand above those whose zero is the plain mean of the body, in points.

    The body are the models that are not one-sided, or all where every model is.
    """
    members = rated.ratings.components[component]
    theta = rated.ratings.theta[members]
    one_sided = rated.ratings.one_sided[members]
    body = theta if one_sided.all() else theta[~one_sided]
    return round(SCALE * float(body.mean()), 1)


def _reweighted(weight: Floats) -> BattleWeights:
    # Kish's effective sample size.
    effective = float(weight.sum()) ** 2 / float((weight**2).sum()) if len(weight) else 0.0
    return BattleWeights(EVEN_PAIRS, round(effective, 1))


def _interval(rated: RatedBouts) -> str:
    if rated.method.intervals == "bootstrap":
        return f"percentiles of {ROUNDS} bootstrap draws of {rated.unit}s"
    if rated.unit == "battle" or rated.method.intervals == "battle":
        return "sandwich of independent battles, Student's t"
    return "sandwich clustered by video, Student's t"


def _terms(rated: RatedBouts, component: int) -> FittedTerms:
    """Return what was fitted beside the strengths of a component, in rating points."""
    control = rated.controls[component] if rated.controls else None
    seat, style = (None, None) if control is None else _effects(rated, control.fit)
    return FittedTerms(
        seat,
        style,
        _tie_share(rated, component),
        None if control is None else identified_of(control.found),
    )


def _effects(
    rated: RatedBouts, fit: ComponentFit
) -> tuple[Term | None, dict[str, Term | None] | None]:
    """Return what position and style are worth in one component."""
    assert fit.terms is not None
    worth = worth_of(fit.terms.gamma, half_widths(fit.errors, fit.spread.effective))
    seat = worth.pop(0) if rated.method.seats else None
    if not rated.method.style:
        return seat, None
    return seat, by_feature(rated.bouts.features, rated.units, worth)


def worth_of(gamma: Floats, halves: Floats) -> list[Term]:
    """Return what terms are worth in rating points, from nats and the halves of intervals."""
    return [
        Term(*(figure_json(SCALE * x, 4) for x in (one, one - half, one + half)))
        for one, half in zip(gamma, halves[: len(gamma)], strict=True)
    ]


def by_feature(
    features: Sequence[str], units: Floats, worth: Sequence[Term]
) -> dict[str, Term | None]:
    """Return what each feature of style is worth; None for those whose unit is 0."""
    fitted = iter(worth)
    pairs = zip(features, units, strict=True)
    return {name: next(fitted) if unit > 0 else None for name, unit in pairs}


def _tie_share(rated: RatedBouts, component: int) -> float | None:
    """Return the share of ties between equals by Davidson, or None where ties count half.

    NaN where no battle ties, or all do.
    """
    if rated.method.ties != "davidson":
        return None
    terms = rated.ratings.fits[component].terms
    assert terms is not None
    if terms.log_nu is None:
        return math.nan
    # Between equals Davidson gives a win, a tie and a loss the weights 1, nu and 1.
    return round(1.0 / (1.0 + 2.0 * math.exp(-terms.log_nu)), 6)


def identified_of(found: Identification) -> TermControl:
    """Return whether terms are identified, beside the bounds that decide it."""
    return TermControl(
        found.holds,
        figure_json(found.inflation, 4),
        figure_json(found.half_width, 4),
        MOST_INFLATION,
        MOST_HALF_WIDTH,
    )


def matrices_of(rated: RatedBouts) -> PairMatrices:
    """Return matrices whose rows and columns are the rated models, component by component."""
    order = [k for group in rated.ratings.components for k in best_first(rated.ratings, group)]
    n = len(rated.bouts.names)
    cells = rated.cells
    met = np.zeros((n, n))
    won = np.zeros((n, n))
    met[cells.i, cells.j] = met[cells.j, cells.i] = cells.battles
    won[cells.i, cells.j], won[cells.j, cells.i] = cells.counts[:, 2], cells.counts[:, 0]
    share = np.divide(won, met, out=np.full((n, n), np.nan), where=met > 0)
    better = chances_better(rated.ratings)
    np.fill_diagonal(better, np.nan)
    # `better` is about each pair alone, `apart` holds for all pairs of a row at once: a pair may be
    # at .97 and still not apart.
    apart = np.zeros((n, n), dtype=np.bool_)
    for members, lead in zip(rated.ratings.components, rated.ratings.leads, strict=True):
        apart[np.ix_(members, members)] = lead.apart
    grid = np.ix_(order, order)
    return PairMatrices(
        models=[rated.bouts.names[k] for k in order],
        battles=met[grid].astype(int).tolist(),
        thin=((met < SOLID_BATTLES) & ~np.eye(n, dtype=bool))[grid].tolist(),
        wins=[list(map(figure_json, row)) for row in share[grid]],
        better=[list(map(figure_json, row)) for row in better[grid]],
        apart=apart[grid].tolist(),
    )
