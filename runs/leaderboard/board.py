"""The leaderboard of a run folder, and those of its slices."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import DECIDED, Battle
from videoautoarena.runs.audit.report import brief
from videoautoarena.runs.rating.behaviour import asked_contestants
from videoautoarena.runs.rating.finding import figure_json
from videoautoarena.runs.rating.fit import Bouts, RatedBouts, no_finite_rating, rate_bouts
from videoautoarena.runs.rating.leaderboard import (
    LabelGroup,
    Labelling,
    Leaderboard,
    Row,
)
from videoautoarena.runs.rating.method import USUAL, Method, read_anchor, weigh_battles
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.rundir.reader import Run, counted, open_run, rates_stand_ins, warnings_of
from videoautoarena.runs.text.battle_table import quoted
from videoautoarena.scoring.fitting.counts import Floats
from videoautoarena.scoring.ratings.prediction_powered import (
    LEAST_LABELS,
    Judged,
    Powered,
    count_labels,
    rate_on_labels,
)
from videoautoarena.scoring.ratings.ratings import Anchor, Endless
from videoautoarena.scoring.ratings.ratings import Method as How

if TYPE_CHECKING:
    from videoautoarena.runs.audit.human_agreement import Spoken
    from videoautoarena.runs.leaderboard.head_to_head import Pairs
    from videoautoarena.runs.leaderboard.slices import By, Slices
    from videoautoarena.runs.rundir.server_limits import Shortfall

ASSUMED = (
    "the labels are taken for a random subset because --assume-random says so; nothing in the run "
    "shows it, and if they were chosen, ratings and intervals are wrong"
)
JUDGES_COUNTS = "battles, wins and win % count the verdicts of the judge"
_SAMPLE_FIRST = "draw some with arena labels sample, and import what people say of them"


class People(NamedTuple):
    """What people said, as far as it may stand for the battles they were not asked about."""

    points: Mapping[str, float]
    """What they give model a of a battle, by its id."""
    chance: Mapping[str, float]
    """How likely each battle was to be labelled; those it leaves out are not spoken for."""
    labellers: int
    is_assumed: bool
    warnings: Sequence[str]


def labelled_board_of(
    folder: Path, method: Method = USUAL, *, assume_random: bool = False
) -> Leaderboard:
    """Return the leaderboard of the run in `folder` on the scale of those who labelled its battles.

    Args:
        folder: of the run.
        method: its anchor, ranks, pairs and seed; nothing else goes with labels.
        assume_random: take all labels for those of a random subset, whatever was drawn.

    Raises:
        BadInput: no labels, none of a random draw, too few of a model, or a method that asks for
            something else.
    """
    _refuse_further(method)
    with open_run(folder) as run:
        board = build_labelled(
            run.battles,
            run.manifest["models"],
            people_of(run, assume_random=assume_random),
            method=method,
            stand_ins=rates_stand_ins(run.manifest),
            warnings=warnings_of(run),
            asked=asked_contestants(run.store),
        )
        return replace(board, audit=tuple(brief(run)))


def people_of(run: Run, *, assume_random: bool = False) -> People:
    """Return the labels that may stand for the rest.

    Raises:
        BadInput: there are none.
    """
    from videoautoarena.runs.audit.human_agreement import chances, spoken_of

    spoken, samples = spoken_of(run), run.store.evidence.samples()
    if not spoken:
        raise BadInput(f"nobody has labelled a battle of this run; {_SAMPLE_FIRST}")
    here = {battle.id for battle in run.each_battle if battle.verdict in DECIDED}
    if assume_random:
        return _people(spoken, dict.fromkeys(here, 1.0), [ASSUMED], is_assumed=True)
    drawn = {id_ for sample in samples for id_ in sample.drawn} & here
    random = [of for of in spoken if of.battle.id in drawn]
    if not random:
        raise BadInput(
            "none of the labelled battles was drawn at random, so that nothing says what they tell "
            f"of the rest; {_SAMPLE_FIRST}, or pass --assume-random if they are a random subset"
        )
    chance = {id_: value for id_, value in chances(samples).items() if id_ in here}
    warnings = _caveats(spoken, random, drawn, len(here) - len(chance))
    return _people(random, chance, warnings, is_assumed=False)


def build_labelled(
    battles: Sequence[Battle],
    roster: Sequence[str],
    people: People,
    *,
    method: Method = USUAL,
    warnings: Sequence[str] = (),
    **given: Any,
) -> Leaderboard:
    """Return the leaderboard on the scale of those who labelled.

    Beside that, rows say how many `labels` a model has, and settings how the labels were used.

    Args:
        battles: those that count, in slot order; the decided ones that no label may stand for are
            left out.
        roster: every model of the run.
        people: what they said.
        method: its anchor, ranks, pairs and seed.
        warnings: further sentences to stand in the settings.
        given: the rest of what `build` takes.

    Raises:
        BadInput: too few labels of a model, an anchor that is no model of the run, or models
            without a finite rating by plain maximum likelihood.
    """
    spoken_for = [of for of in battles if of.verdict not in DECIDED or of.id in people.chance]
    ids = [battle.id for battle in spoken_for if battle.verdict in DECIDED]
    found: list[tuple[Judged, Powered, RatedBouts]] = []

    def on_labels(bouts: Bouts, method: Method) -> RatedBouts:
        judged = _join(bouts, ids, people)
        _refuse_few(judged, bouts.names)
        by_judge, powered = rate_bouts(bouts, method), _rate(judged, bouts.names, method)
        found.append((judged, powered, by_judge))
        return replace(by_judge, ratings=powered.ratings, pieces=powered.ratings.clusters)

    told = [*warnings, *people.warnings]
    board = build(spoken_for, roster, method=method, warnings=told, rater=on_labels, **given)
    ((judged, powered, by_judge),) = found
    counts = dict(zip(by_judge.bouts.names, count_labels(judged).tolist(), strict=True))
    labels = _labelling(powered, people)
    settings = replace(
        board.settings,
        # What the flags stand on are videos with labels; what was decided, was on all of them.
        videos=tuple(by_judge.pieces),
        labels=labels,
        warnings=(*_explained(labels), JUDGES_COUNTS, *board.settings.warnings),
    )
    rows = tuple(replace(row, labels=counts[row.model]) for row in board.models)
    return replace(board, models=rows, settings=settings)


def _rate(judged: Judged, names: Sequence[str], method: Method) -> Powered:
    anchor = None
    if method.anchor is not None:
        name, rating = read_anchor(method.anchor, names)
        anchor = Anchor(list(names).index(name), rating)
    how = How(
        likelihood=method.fit, seed=method.seed, simultaneous=method.simultaneous, anchor=anchor
    )
    try:
        return rate_on_labels(judged, how)
    except Endless as endless:
        raise BadInput(no_finite_rating([names[k] for k in endless.models])) from None
    except (ArithmeticError, ValueError):
        raise BadInput(
            f"{int(judged.is_labelled.sum())} labelled battles are too few to rate by; label more"
        ) from None


def _labelling(powered: Powered, people: People) -> Labelling:
    groups = (
        LabelGroup(of.labels, of.battles, figure_json(of.lam, 6), figure_json(of.gain, 4))
        for of in powered.tunings
    )
    return Labelling(
        battles=sum(tuning.labels for tuning in powered.tunings),
        labellers=people.labellers,
        random="assumed" if people.is_assumed else "drawn",
        groups=tuple(groups),
    )


def _explained(labels: Labelling) -> Iterator[str]:
    """One sentence for each group of models that battles join."""
    people = "1 person" if labels.labellers == 1 else f"{labels.labellers} people"
    for group in labels.groups:
        told = (
            f"ratings are on the scale of {people} who labelled {group.labels} of {group.battles} "
            f"battles; lambda {group.weight:.2f} says how far the judge's verdicts on all help, "
            "0 not at all, 1 in full"
        )
        if group.gain is not None:
            told += f", and they are worth {group.gain:.1f} times as many labels"
        yield told


def _people(
    spoken: Sequence[Spoken],
    chance: Mapping[str, float],
    warnings: Sequence[str],
    *,
    is_assumed: bool,
) -> People:
    from videoautoarena.runs.audit.human_agreement import mean_points

    labellers = len({of.label.labeller for of in spoken})
    return People(mean_points(spoken), chance, labellers, is_assumed, warnings)


def _caveats(
    spoken: Sequence[Spoken], random: Sequence[Spoken], drawn: Collection[str], unspoken: int
) -> list[str]:
    told, labelled = [], len({of.battle.id for of in random})
    if labelled < len(drawn):
        told.append(
            f"{len(drawn) - labelled} of {len(drawn)} drawn battles have no label yet and are "
            "taken to lack it by chance"
        )
    if others := len({of.battle.id for of in spoken} - set(drawn)):
        told.append(f"labels of {counted(others, 'battle')} that no draw took are left out")
    if unspoken:
        told.append(
            f"{counted(unspoken, 'battle')} decided after the last draw left out; draw again to "
            "have them spoken for"
        )
    return told


def _join(bouts: Bouts, ids: Sequence[str], people: People) -> Judged:
    """The decided battles with what people say of them."""
    assert bouts.video is not None
    said = _floats([people.points.get(id_, np.nan) for id_ in ids])
    chance = _floats([people.chance[id_] for id_ in ids])
    return Judged(len(bouts.names), bouts.a, bouts.b, bouts.points, said, chance, bouts.video)


def _floats(values: Sequence[float]) -> Floats:
    return np.array(values, dtype=np.float64)


def _refuse_few(judged: Judged, names: Sequence[str]) -> None:
    counts = count_labels(judged)
    played = np.bincount(np.concatenate([judged.a, judged.b]), minlength=len(names)) > 0
    few = np.flatnonzero(played & (counts < LEAST_LABELS))
    if len(few):
        told = ", ".join(f"{quoted(names[k])} {counts[k]}" for k in few[:4])
        more = f" and {len(few) - 4} more" if len(few) > 4 else ""
        raise BadInput(
            f"too few labelled battles: each model needs {LEAST_LABELS}, and there are of {told}"
            f"{more}; draw and label more with arena labels sample"
        )


def _refuse_further(method: Method) -> None:
    rest = replace(
        method,
        anchor=None,
        simultaneous=False,
        pairs=False,
        seed=0,
    )
    if rest != USUAL:
        raise WrongArgument(
            "--labels goes with --anchor, --simultaneous, --pairs and --format alone; leave out "
            "the other options"
        )


def board_of(folder: Path, method: Method = USUAL) -> Leaderboard:
    """Return the leaderboard of the run in `folder`."""
    with open_run(folder) as run:
        board = build(run.battles, run.manifest["models"], **_given(run, method))
        return replace(_of_run(board, run), audit=tuple(brief(run)))


def slices_of(folder: Path, by: By, method: Method = USUAL) -> Slices:
    """Return the leaderboards of the slices of the run in `folder`."""
    from videoautoarena.runs.leaderboard.slices import build_slices

    with open_run(folder) as run:
        both, models = run.manifest.get("swap") == "all", run.manifest["models"]
        found = build_slices(run.battles, models, by=by, seats_count=both, **_given(run, method))
        parts = tuple(replace(part, board=_of_run(part.board, run)) for part in found.parts)
        return replace(found, parts=parts, audit=tuple(brief(run)))


def pairs_of(folder: Path, method: Method = USUAL) -> Pairs:
    """Return the record of every pair of models in the run in `folder`."""
    from videoautoarena.runs.leaderboard.head_to_head import build_pairs

    with open_run(folder) as run:
        return build_pairs(run.battles, run.manifest["models"], **_given(run, method))


def _of_run(board: Leaderboard, run: Run) -> Leaderboard:
    """Return a board that says who saw too few frames, and what ended the run early."""
    short = {one.model: one for one in run.shortfalls if one.role == "contestant"}
    until = None if run.stop is None else run.stop.as_json()
    return replace(
        board,
        models=tuple(_with_frames(row, short.get(row.model)) for row in board.models),
        settings=replace(board.settings, until=until),
    )


def _with_frames(row: Row, short: Shortfall | None) -> Row:
    if short is None:
        return replace(row, frames={})
    known = short.as_json().items()
    figures = {name: figure for name, figure in known if name not in ("model", "role")}
    return replace(row, frames=figures, flags=(*row.flags, short.saw))


def _given(run: Run, method: Method) -> dict[str, Any]:
    """Return how a run's battles are rated, and what is known of them beside."""
    return {
        "method": method,
        "stand_ins": rates_stand_ins(run.manifest),
        "warnings": warnings_of(run),
        "asked": asked_contestants(run.store),
        "weights": weigh_battles(run.battles, run.store.slots()) if method.reweight else None,
    }
