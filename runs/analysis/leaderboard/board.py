"""The leaderboard of a run folder, and those of its slices."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.outlines import Outlines
from videoautoarena.memory.records.records import DECIDED, Battle
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.analysis.audit.report import brief
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.terminal import say
from videoautoarena.runs.rating.behaviour import asked_contestants
from videoautoarena.runs.rating.finding import figure_json
from videoautoarena.runs.rating.fit import (
    Bouts,
    RatedBouts,
    how_of,
    no_finite_rating,
    rate_bouts,
    rater_of,
)
from videoautoarena.runs.rating.leaderboard import LabelGroup, LabelUse, RatedLeaderboard
from videoautoarena.runs.rating.method import USUAL, RatingMethod, weigh_battles
from videoautoarena.runs.rating.table import build, some_of
from videoautoarena.runs.run.rundir.reader import (
    SAW_NONE,
    BattlesOf,
    RunReader,
    counted,
    is_blind,
    open_run,
    rates_stand_ins,
    warnings_of,
)
from videoautoarena.scoring.ratings.prediction_powered import (
    LEAST_LABELS,
    JudgedBattles,
    LabelRatings,
    count_labels,
    rate_on_labels,
)
from videoautoarena.scoring.ratings.ratings import NoFiniteStrength

if TYPE_CHECKING:
    from videoautoarena.runs.analysis.leaderboard.slices import LeaderboardSlices, PairRecords
    from videoautoarena.runs.rating.profile import ModelProfiles
    from videoautoarena.runs.run.rundir.call_facts import CallFact
    from videoautoarena.scoring.texts.themes import Embed

ASSUMED = (
    "the labels are assumed to be a random sample (--assume-random); if they "
    "were chosen, ratings and intervals are wrong"
)
JUDGES_COUNTS = "battles, wins and win % count the verdicts of the judge"
_SAMPLE_FIRST = "draw battles with arena labels sample and import the labels"


class People(NamedTuple):
    """Labels of people, as far as they may stand for battles without a label."""

    points: Mapping[str, float]
    """Points that they give model a, by the id of the battle."""
    chance: Mapping[str, float]
    """How likely each battle was to be drawn for labels; battles that are missing are left out."""
    labellers: int
    is_assumed: bool
    warnings: Sequence[str]


def labelled_board_of(
    folder: Path, method: RatingMethod = USUAL, *, assume_random: bool = False
) -> RatedLeaderboard:
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
        return replace(board, audit=tuple(brief(run)), facts=_facts(run))


def people_of(run: RunReader, *, assume_random: bool = False) -> People:
    """Return the labels that may stand for the rest.

    Raises:
        BadInput: there are none.
    """
    from videoautoarena.runs.analysis.audit.human_agreement import chances, mean_points, spoken_of

    spoken = spoken_of(run)
    samples = run.store.evidence.samples()
    if not spoken:
        raise BadInput(f"no battle of this run has a label; {_SAMPLE_FIRST}")
    outlines = run.outlines
    here = set(outlines.where(outlines.texts["verdict"].among(DECIDED)).ids())
    if assume_random:
        people = {of.label.labeller for of in spoken}
        chance = dict.fromkeys(here, 1.0)
        return People(mean_points(spoken), chance, len(people), True, [ASSUMED])
    drawn = {id_ for sample in samples for id_ in sample.drawn} & here
    random = [of for of in spoken if of.battle.id in drawn]
    if not random:
        raise BadInput(
            f"no labelled battle was drawn at random; {_SAMPLE_FIRST}, or pass "
            f"{option('assume_random', True)} "
            "if the labels are a random sample"
        )
    chance = {id_: value for id_, value in chances(samples).items() if id_ in here}
    unspoken = len(here) - len(chance)
    found = []
    labelled = len({of.battle.id for of in random})
    if labelled < len(drawn):
        found.append(
            f"{len(drawn) - labelled} of {len(drawn)} drawn battles have no label "
            "yet; they are assumed to be missing at random"
        )
    if others := len({of.battle.id for of in spoken} - set(drawn)):
        found.append(f"labels of {counted(others, 'battle')} outside the random draws are left out")
    if unspoken:
        found.append(
            f"{counted(unspoken, 'battle')} decided after the last draw left out; "
            "draw again to include them"
        )
    warnings = found
    people = {of.label.labeller for of in random}
    return People(mean_points(random), chance, len(people), False, warnings)


def build_labelled(
    battles: Collection[Battle],
    roster: Sequence[str],
    people: People,
    *,
    method: RatingMethod = USUAL,
    warnings: Sequence[str] = (),
    **given: Any,
) -> RatedLeaderboard:
    """Return the leaderboard on the scale of those who labelled.

    Its rows also say how many `labels` a model has, its settings how the labels were used.

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
    of = battles.outlines if isinstance(battles, BattlesOf) else Outlines.of(battles)
    decided = of.texts["verdict"].among(DECIDED)
    has_chance = np.array([id_ in people.chance for id_ in of.ids()], dtype=np.bool_)
    # Forfeits and voids stay, since they are only counted.
    spoken_for = some_of(battles, ~decided | has_chance)
    ids = list(of.where(decided & has_chance).ids())
    # `build` returns a board alone: what rating finds besides is left here.
    found: list[tuple[JudgedBattles, LabelRatings, RatedBouts]] = []

    def on_labels(bouts: Bouts, method: RatingMethod) -> RatedBouts:
        # Battles of a run always have a video.
        assert bouts.video is not None
        said = np.array([people.points.get(id_, np.nan) for id_ in ids], dtype=np.float64)
        chance = np.array([people.chance[id_] for id_ in ids], dtype=np.float64)
        judged = JudgedBattles(
            len(bouts.names), bouts.a, bouts.b, bouts.points, said, chance, bouts.video
        )
        _refuse_few(judged, bouts.names)
        by_judge = rate_bouts(bouts, method)
        powered = _rate(judged, bouts.names, method)
        found.append((judged, powered, by_judge))
        return replace(by_judge, ratings=powered.ratings, pieces=powered.ratings.clusters)

    given |= {"warnings": [*warnings, *people.warnings], "rater": on_labels}
    board = build(spoken_for, roster, method=method, **given)
    ((judged, powered, by_judge),) = found
    counts = dict(zip(by_judge.bouts.names, count_labels(judged).tolist(), strict=True))
    labels = LabelUse(
        battles=sum(tuning.labels for tuning in powered.tunings),
        labellers=people.labellers,
        random="assumed" if people.is_assumed else "drawn",
        groups=tuple(
            LabelGroup(of.labels, of.battles, figure_json(of.lam), figure_json(of.gain, 4))
            for of in powered.tunings
        ),
    )
    settings = replace(
        board.settings,
        # What the flags stand on are videos with labels; what was decided, was on all of them.
        videos=tuple(by_judge.pieces),
        labels=labels,
        warnings=(*_explained(labels), JUDGES_COUNTS, *board.settings.warnings),
    )
    rows = tuple(replace(row, labels=counts[row.model]) for row in board.models)
    return replace(board, models=rows, settings=settings)


def _rate(judged: JudgedBattles, names: Sequence[str], method: RatingMethod) -> LabelRatings:
    try:
        return rate_on_labels(judged, how_of(method, names))
    # First, since it is an ArithmeticError, too.
    except NoFiniteStrength as endless:
        raise BadInput(no_finite_rating([names[k] for k in endless.models])) from None
    except (ArithmeticError, ValueError):
        raise BadInput(
            f"{int(judged.is_labelled.sum())} labelled battles are too few to rate by; label more"
        ) from None


def _explained(labels: LabelUse) -> Iterator[str]:
    """Yield a sentence on labels for each group of models that battles join."""
    people = "1 person" if labels.labellers == 1 else f"{labels.labellers} people"
    for group in labels.groups:
        line = (
            f"ratings are on the scale of {people} who labelled {group.labels} of "
            f"{group.battles} battles; the judge's verdicts have the weight "
            f"{group.weight:.2f} (lambda, 0 to 1)"
        )
        if group.gain is not None:
            line += f" and are worth {group.gain:.1f} times as many labels"
        yield line


def _refuse_few(judged: JudgedBattles, names: Sequence[str]) -> None:
    counts = count_labels(judged)
    played = np.bincount(np.concatenate([judged.a, judged.b]), minlength=len(names)) > 0
    few = np.flatnonzero(played & (counts < LEAST_LABELS))
    if len(few):
        named = ", ".join(f"{quoted(names[k])} {counts[k]}" for k in few[:4])
        more = f" and {len(few) - 4} more" if len(few) > 4 else ""
        raise BadInput(
            f"too few labelled battles: each model needs {LEAST_LABELS}, and there are of {named}"
            f"{more}; draw and label more with arena labels sample"
        )


def _refuse_further(method: RatingMethod) -> None:
    # Whatever else a method learns is refused until labels can be rated by it.
    if replace(method, anchor=None, simultaneous=False, pairs=False, seed=0) != USUAL:
        raise WrongArgument(
            f"{option('labels', True)} combines with {option('anchor')}, "
            f"{option('simultaneous', True)} and {option('pairs', True)} only; leave out the other "
            "options"
        )


def board_of(
    folder: Path, method: RatingMethod = USUAL, *, behaviour: bool = True
) -> RatedLeaderboard:
    """Return the leaderboard of the run in `folder`; `behaviour` as for `board_in`."""
    with open_run(folder) as run:
        return replace(board_in(run, method, behaviour=behaviour), audit=tuple(brief(run)))


def slices_of(
    folder: Path, by: str, method: RatingMethod = USUAL, *, behaviour: bool = True
) -> LeaderboardSlices:
    """Return the leaderboards of the slices of the run in `folder`, as `board_of`."""
    with open_run(folder) as run:
        audit = brief(run, by_language=by == "language")
        found = slices_in(run, by, method, behaviour=behaviour)
        return replace(found, audit=tuple(audit))


def pairs_of(folder: Path, method: RatingMethod = USUAL) -> PairRecords:
    """Return the record of every pair of models in the run in `folder`."""
    with open_run(folder) as run:
        return pairs_in(run, method)


def board_in(
    run: RunReader, method: RatingMethod = USUAL, *, behaviour: bool = True
) -> RatedLeaderboard:
    """Return the leaderboard of an open run, without its audit.

    Without `behaviour` rows leave out what takes a look at every answer: refusals, tokens.
    """
    # First: what is warned of then need not read which slots are settled again.
    battles = run.battles
    given = _given(run, method, behaviour=behaviour)
    board = _of_run(build(battles, run.manifest["models"], **given), run)
    return replace(board, facts=_facts(run))


def slices_in(
    run: RunReader, by: str, method: RatingMethod = USUAL, *, behaviour: bool = True
) -> LeaderboardSlices:
    """Return the leaderboards of the slices of an open run, as `board_in`."""
    return slices_by(run, [by], method, behaviour=behaviour)[by]


def slices_by(
    run: RunReader, traits: Sequence[str], method: RatingMethod = USUAL, *, behaviour: bool = True
) -> dict[str, LeaderboardSlices]:
    """Return the slices by each of several traits, reading every battle once."""
    from videoautoarena.runs.analysis.leaderboard.slices import known_of, parts_of, slices_of_parts

    both = run.manifest.get("swap") == "all"
    models = run.manifest["models"]
    known = {by: known_of(run, by) for by in traits}
    found: dict[str, LeaderboardSlices] = {}
    given = _given(run, method, behaviour=behaviour)
    for by, parts in parts_of(run.battles, known, seats_count=both).items():
        sliced = slices_of_parts(run.battles, models, by=by, parts=parts, **given)
        boards = tuple(replace(part, board=_of_run(part.board, run)) for part in sliced.parts)
        found[by] = replace(sliced, parts=boards)
    return found


def pairs_in(run: RunReader, method: RatingMethod = USUAL) -> PairRecords:
    """Return the record of every pair of models in an open run."""
    from videoautoarena.runs.analysis.leaderboard.slices import build_pairs

    given = _given(run, method, behaviour=False)
    return build_pairs(run.battles, run.manifest["models"], **given)


def profiles_of(folder: Path, embeddings: str | None = None) -> ModelProfiles:
    """Return what each model of the run in `folder` gets wrong, and where it wins.

    Args:
        folder: of the run; vectors of weaknesses are kept there.
        embeddings: model whose embeddings of the weaknesses make themes; None: their words do.

    Raises:
        BadInput: embeddings that cannot be had.
    """
    from videoautoarena.runs.rating.profile import build_profiles
    from videoautoarena.runs.run.rundir.weaknesses import read_looks

    embed = None if embeddings is None else _embedder(embeddings, folder)
    with open_run(folder) as run:
        looks = read_looks(run.battles, embed)
        rater = rater_of(run.manifest)
        rows = build(looks.battles, run.manifest["models"], rater=rater).models
    ratings = {row.model: row.rating for row in rows}
    return build_profiles(looks, ratings, grouped_by=embeddings or "words")


def _embedder(model: str, folder: Path) -> Embed:
    from videoautoarena.runs.run.rundir.embeddings import vectors_of

    return partial(vectors_of, model=model, folder=folder, say=say, what="weaknesses")


def _of_run(board: RatedLeaderboard, run: RunReader) -> RatedLeaderboard:
    """Return a board that says who saw too few frames or none, and what ended the run early."""
    every = (*run.unequal_frames, *run.shortfalls)
    # Of a model in both lists the shortfall is told, which nobody chose.
    short = {one.model: one for one in every if one.role == "contestant"}
    rows = []
    for row in board.models:
        frames = dict[str, Any]()
        flags = row.flags
        if one := short.get(row.model):
            frames = {k: of for k, of in one._asdict().items() if k not in ("model", "role")}
            flags = (*flags, one.saw)
        elif is_blind((run.manifest.get("cast") or {}).get(row.model) or {}):
            flags = (*flags, SAW_NONE)
        rows.append(replace(row, frames=frames, flags=flags))
    until = None if run.stop is None else run.stop.to_json()
    return replace(board, models=tuple(rows), settings=replace(board.settings, until=until))


def _facts(run: RunReader) -> tuple[CallFact, ...]:
    """Return the facts about calls of the models that are rated."""
    return tuple(one for one in run.call_facts if one.role == "contestant")


def _given(run: RunReader, method: RatingMethod, *, behaviour: bool = True) -> dict[str, Any]:
    """Return how a run's battles are rated, and what is known of them beside."""
    return {
        "method": method,
        "rater": rater_of(run.manifest),
        "stand_ins": rates_stand_ins(run.manifest),
        "warnings": warnings_of(run),
        "asked": asked_contestants(run.store) if behaviour else None,
        "weights": weigh_battles(run.battles, run.store.slots()) if method.reweight else None,
    }
