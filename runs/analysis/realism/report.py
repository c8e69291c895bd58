"""How real the questions of a run are beside those of real users, and the board by the real mix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.analysis.realism.comparison import SURE, TraitComparison, compare_questions
from videoautoarena.runs.analysis.realism.difficulty import (
    DifficultyComparison,
    compare_difficulty,
    overall_grades,
)
from videoautoarena.runs.analysis.realism.grading import GradedQuestions
from videoautoarena.runs.analysis.realism.question_file import RealQuestion, read_questions
from videoautoarena.runs.analysis.realism.question_traits import (
    Classified,
    MeasuredQuestion,
    asked_once,
    categories_of,
    real_questions,
    simulated_questions,
)
from videoautoarena.runs.analysis.realism.real_mix import (
    Mix,
    weakness_of,
    weigh_to_real,
    weighted_board,
)
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.terminal import safe, say
from videoautoarena.runs.rating.fit import rater_of
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.run.rundir.reader import (
    RunReader,
    counted,
    open_run,
    rates_stand_ins,
    warnings_of,
)
from videoautoarena.scoring.questions.two_samples import LEAST_CLUSTERS

Told = Literal["auto", "file", "words"]
"""Where categories come from: tags and the file if both have them, the file, or words."""
ToldBy = Literal["tags", "classifier", "file", "words"]


class RealismOptions(NamedTuple):
    """Settings of a comparison."""

    categories: Told = "auto"
    cap: float = 5.0
    """The largest weight of a battle."""
    permutations: int = 2000
    seed: int = 0


USUAL = RealismOptions()
_LONG = 20_000
"""Real questions from which on comparing takes long enough to say so."""
_NEAR = 0.01
"""A mix that misses no share by more than this is reached."""
MOST_CAP = 1000.0
LEAST_PERMUTATIONS, MOST_PERMUTATIONS = 999, 100_000
"""Permutations of a test; with fewer no p can be small enough for all traits together."""


class Side(NamedTuple):
    """The simulated or the real questions."""

    questions: int
    videos: int
    """Independent pieces: videos, and questions without a video."""
    categories: ToldBy


@dataclass(frozen=True)
class Boards:
    """The leaderboard of the run as it was played, and by the mix of real questions."""

    as_played: RatedLeaderboard
    real_mix: RatedLeaderboard


@dataclass(frozen=True)
class RealismReport:
    """Simulated questions beside real ones."""

    simulated: Side
    """The run's `questions`, `videos` (a question without one counts as one), and how
    `categories` were told: `tags`, `classifier`, `file` or `words`."""
    real: Side
    """The same for the file."""
    classifier: str | None
    """Who told the categories of both sides; None without `--classifier`."""
    shared_videos: int
    """Videos with questions on both sides."""
    level: float
    """0.01: about how likely questions of one population are told apart by any trait."""
    permutations: int
    """Permutations of a test."""
    seed: int
    """Seed of the permutations."""
    told_apart: tuple[str, ...]
    """Names of the traits that differ."""
    traits: tuple[TraitComparison, ...]
    """One [trait](#a-trait-of-questions) each."""
    mix: Mix | None
    """[How battles are weighted](#the-real-mix); None, as `boards`, where no decided battle stands
    in a cell that real users ask from."""
    boards: Boards | None
    """`as_played` and `real_mix`, each [a leaderboard](#a-leaderboard); in the second `reweighted`
    names the real mix."""
    difficulty: DifficultyComparison | None
    """[How hard](#graded-difficulty) both sides are; None without `--difficulty`."""
    stand_ins: bool
    """Whether the models are offline ones."""
    warnings: tuple[str, ...]
    """What a reader must know."""

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena realism --json` prints it."""
        return record_json(self)


def realism_of(
    folder: Path,
    file: Path,
    wish: RealismOptions = USUAL,
    classified: Classified | None = None,
    graded: GradedQuestions | None = None,
) -> RealismReport:
    """Return how the questions of the run in `folder` stand to those in `file`; calls no model.

    `classified` is what a classifier said of the file's, by whose tags those of the run count;
    `graded` what a grader said of pairs of both sides.

    Raises:
        BadInput: no such run, a run without a question, or a file or a line that cannot be used.
        WrongArgument: a wish that cannot be.
    """
    check_wish(wish)
    given = read_questions(file)
    if len(given) > _LONG:
        say(f"comparing {len(given):,} questions of {safe(str(file))}, which takes a minute")
    with open_run(folder) as run:
        return _compare(run, given, wish, classified, graded)


def check_wish(wish: RealismOptions) -> None:
    """Raise WrongArgument for a wish that cannot be."""
    if wish.categories not in get_args(Told):
        raise WrongArgument(f"categories cannot be {wish.categories!r}: auto, file or words")
    if not 1.0 < wish.cap <= MOST_CAP:
        raise WrongArgument(f"a cap of {wish.cap:g} cannot be; give one above 1, to {MOST_CAP:g}")
    if not LEAST_PERMUTATIONS <= wish.permutations <= MOST_PERMUTATIONS:
        raise WrongArgument(
            f"{wish.permutations} permutations cannot be; give {LEAST_PERMUTATIONS} to "
            f"{MOST_PERMUTATIONS:,}"
        )
    if wish.seed < 0:
        raise WrongArgument(f"a seed of {wish.seed} cannot be; give a whole number from 0")


def _compare(
    run: RunReader,
    given: Sequence[RealQuestion],
    wish: RealismOptions,
    classified: Classified | None,
    graded: GradedQuestions | None,
) -> RealismReport:
    battles = list(run.battles)
    said = None if classified is None else classified.categories
    tags = categories_of(run, None if classified is None else classified.classifier)
    own = said is None and _takes_own(given, wish.categories, tagged=tags is not None)
    # Without categories of the file words tell both sides, so that no difference lies in the
    # telling.
    if said is None and (wish.categories == "words" or not (own or wish.categories == "file")):
        tags = None
    paths = {video.id: video.path for video in run.store.videos()}
    measured = simulated_questions(battles, paths, tags)
    if graded is not None:
        grades = overall_grades(graded)
        for battle in battles:
            if battle.id in measured and battle.question is not None:
                of = grades.simulated.get((battle.video, battle.question))
                measured[battle.id] = replace(measured[battle.id], difficulty=of)
    # Questions, not battles: one that several pairs fought over counts once.
    simulated = asked_once(battles, measured)
    real = real_questions(given, own=own, classified=said)
    if graded is not None:
        films = {path: video for video, path in paths.items()}
        asked = [(films.get(one.video or "", ""), one.text) for one in given]
        real = [
            replace(one, difficulty=grades.real.get(key))
            for one, key in zip(real, asked, strict=True)
        ]
    if not simulated:
        raise BadInput(f"{run.folder} holds no question yet; play the run first")
    traits = compare_questions(simulated, real, rounds=wish.permutations, seed=wish.seed)
    made: dict[str, Any] = {
        "stand_ins": rates_stand_ins(run.manifest),
        "warnings": warnings_of(run),
        "rater": rater_of(run.manifest),
    }
    models = run.manifest["models"]
    weighted = weigh_to_real(battles, measured, real, cap=wish.cap)
    boards = None
    if weighted is not None:
        weak = weakness_of(weighted.mix)
        shown = made | {"warnings": (*([weak] if weak else ()), *made["warnings"])}
        boards = Boards(
            build(battles, models, **made), weighted_board(battles, models, weighted, **shown)
        )
    sides = (
        _side(simulated, "words" if tags is None else "tags"),
        _side(real, "classifier" if said is not None else "file" if own else "words"),
    )
    mix = None if weighted is None else weighted.mix
    return RealismReport(
        *sides,
        classifier=None if classified is None else classified.classifier,
        shared_videos=len({q.cluster for q in simulated} & {q.cluster for q in real}),
        level=SURE,
        permutations=wish.permutations,
        seed=wish.seed,
        told_apart=tuple(one.trait for one in traits if one.differs),
        traits=traits,
        mix=mix,
        boards=boards,
        difficulty=None if graded is None else compare_difficulty(graded),
        stand_ins=made["stand_ins"],
        warnings=(
            *made["warnings"],
            *_grading_warnings(graded),
            *_warnings(sides, given, traits, mix),
        ),
    )


def _takes_own(given: Sequence[RealQuestion], told: Told, *, tagged: bool) -> bool:
    """Return whether the categories of the file count.

    Raises:
        BadInput: they are asked for, and no line has any.
    """
    has = any(one.categories is not None for one in given)
    if told == "file" and not has:
        raise BadInput(
            f"no line of the file has a category; leave out {option('categories', 'file')}"
        )
    return told == "file" or (told == "auto" and tagged and has)


def _side(questions: Sequence[MeasuredQuestion], categories: ToldBy) -> Side:
    return Side(len(questions), len({one.cluster for one in questions}), categories)


def _warnings(
    sides: tuple[Side, Side],
    given: Sequence[RealQuestion],
    traits: Sequence[TraitComparison],
    mix: Mix | None,
) -> Iterator[str]:
    """Yield what a reader of the figures must know."""
    simulated, real = sides
    if alone := sum(one.video is None for one in given):
        yield (
            f"{counted(alone, 'real question')} without a video: taken for independent, which is "
            "too sure where several are about one video or by one person"
        )
    if repeated := len(given) - len({(one.text, one.video) for one in given}):
        yield f"{counted(repeated, 'real question')} repeated word for word"
    if min(simulated.videos, real.videos) < LEAST_CLUSTERS:
        yield f"a test needs {LEAST_CLUSTERS} videos on either side; there is none made"
    if real.categories == "classifier":
        yield (
            "of simulated questions the classifier saw frames, of real ones the words alone: a "
            "difference in what needs the picture, such as text on screen, may lie in that"
        )
    if (simulated.categories == "words") != (real.categories == "words"):
        yield (
            f"categories are told by {simulated.categories} of simulated and by "
            f"{real.categories} of real questions: a difference may lie in the telling"
        )
    for one in traits:
        if any(one.unknown):
            yield (
                f"{one.trait} is unknown of {one.unknown[0]:,} simulated and "
                f"{one.unknown[1]:,} real questions, which are left out of it"
            )
    if mix is None:
        yield "no battle stands in a cell from which real users ask, so no board has their mix"
        return
    yield from _mix_warnings(mix)


def _grading_warnings(graded: GradedQuestions | None) -> Iterator[str]:
    if graded is None:
        return
    yield (
        f"{graded.grader} graded each real question beside one of the run's about the same video, "
        "and was told nothing of who asked"
    )
    if graded.is_author:
        yield "the grader is the model that wrote the run's questions"
    if graded.elsewhere:
        yield (
            f"{counted(graded.elsewhere, 'real question')} about no video of the run: not graded"
        )


def _mix_warnings(mix: Mix) -> Iterator[str]:
    if weak := weakness_of(mix):
        yield weak
    if mix.lacking:
        alone = f"; {100 * mix.unreachable:.1f} % of real questions stand in no other cell"
        yield (
            f"{counted(len(mix.lacking), 'cell')} of the real mix not in this run, which no weight "
            f"makes up for{alone}"
        )
    if mix.miss > _NEAR:
        at_cap = f", with {counted(mix.capped, 'battle')} at the cap" if mix.capped else ""
        points = f"{100 * mix.miss:.1f} percentage points"
        yield f"weights miss the real share of a cell by up to {points}{at_cap}"
    left_out = [
        f"{count:,} {why}"
        for count, why in (
            (mix.unknown, "whose cell is unknown"),
            (mix.unasked, "from whose cells hardly any real user asks"),
        )
        if count
    ]
    if left_out:
        yield f"battles left out of the weighted board: {'; '.join(left_out)}"
    yield "intervals by the real mix take its shares for known"
