"""What models are asked about a run: trials of its judges, tags and grades of its questions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from typing_extensions import Unpack

from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.api.jobs import (
    JobOptions,
    PathLike,
    PlayedJob,
    ReadyJob,
    ended,
    folder_of,
    ordered,
    paid,
)
from videoautoarena.runs.api.models import ModelLike, judges_of, named
from videoautoarena.runs.api.results import Audit, Categories, Realism, Rejudgings, TagCheck

if TYPE_CHECKING:
    from videoautoarena.memory.store.evidence import TrialKind
    from videoautoarena.runs.analysis.audit.rejudge import RejudgeReport
    from videoautoarena.runs.analysis.audit.report import AuditReport
    from videoautoarena.runs.analysis.categories.check import CategoryCheck
    from videoautoarena.runs.analysis.categories.tagging import TagPlan, TagTally
    from videoautoarena.runs.analysis.realism.grading import GradingPlan
    from videoautoarena.runs.analysis.realism.report import RealismReport
    from videoautoarena.runs.analysis.trials.runner import TrialPlan
    from videoautoarena.runs.api.run import Run
    from videoautoarena.runs.jobs.paid_job import JobAudience

KINDS: tuple[TrialKind, ...] = ("repeat", "attack", "constant", "truth")
"""Trials that an audit may ask for, in the order in which they are held."""
SHEETS = (".csv", ".tsv", ".jsonl", ".parquet")
"""How files end that people fill in."""


@paid
def audit(
    run: Run | PathLike,
    *,
    trials: Sequence[TrialKind] | TrialKind | Literal["all"] = (),
    judge: ModelLike | Sequence[ModelLike] = (),
    cases: int | None = 100,
    allow_offline_judge: bool = False,
    allow_blind_referee: bool = False,
    **how: Unpack[JobOptions],
) -> ReadyJob[TrialPlan, AuditReport, Audit]:
    """Return what a run says of its judges as an `Audit`, as `arena audit` prints it.

    Without trials no model is called. They change no battle, and stand in every later audit.

    Args:
        run: the run, or its folder.
        trials: kinds of trials to hold first: `repeat` (the same case again), `attack` (answers
            that address the judge), `constant` (answers without content), `truth` (clips with a
            known right answer), or `all`. One or two calls a judging.
        judge: judges to examine; none: the run's.
        cases: cases of each kind at most, drawn with the run's seed; None for all.
        allow_offline_judge: let the offline judge judge answers of real models.
        allow_blind_referee: let a judge be sent no frames.
        how: how models are asked, by the names of `JobOptions`.

    Raises:
        BadInput: no such run, kind or judge, or videos that are gone.
        Unfinished: trials ended early, or more than 5 % of them failed.
    """
    from videoautoarena.runs.analysis.audit.report import audit as audited
    from videoautoarena.runs.analysis.trials.runner import TrialOrder, hold_trials, plan_trials
    from videoautoarena.runs.analysis.trials.trial import Leave

    out = folder_of(run)
    named = (trials,) if isinstance(trials, str) else trials
    wanted = KINDS if named == ("all",) else named
    if strange := sorted(set(wanted).difference(KINDS)):
        raise WrongArgument(
            f"{strange[0]!r} is not a kind of trial; choose from {', '.join(KINDS)}"
        )
    kinds = tuple(kind for kind in KINDS if kind in wanted)
    leave = Leave(allow_offline_judge, compete=True, blind=allow_blind_referee)
    order = ordered(
        TrialOrder, {**how}, kinds=kinds, judges=judges_of(judge), cases=cases, leave=leave
    )

    async def play(audience: JobAudience) -> PlayedJob[AuditReport]:
        from videoautoarena.runs.jobs.paid_job import JobTally

        tally = await hold_trials(out, order, audience) if kinds else JobTally()
        # Also where trials ended early: those that were held are in it.
        return ended(tally, await asyncio.to_thread(audited, out))

    return ReadyJob(lambda _: plan_trials(out, order), play, Audit, is_planned=bool(kinds))


@paid
def rejudge(
    run: Run | PathLike,
    judge: ModelLike | Sequence[ModelLike],
    *,
    cases: int | None = None,
    allow_self_judging: bool = False,
    allow_offline_judge: bool = False,
    allow_blind_referee: bool = False,
    **how: Unpack[JobOptions],
) -> ReadyJob[TrialPlan, RejudgeReport, Rejudgings]:
    """Judge the answers of a run with other judges; return how far they agree, as `Rejudgings`.

    As `arena rejudge` does: no battle changes, and one or two calls a judging. Arguments and errors
    are those of `audit`; `allow_self_judging` lets a contestant judge its own battles.
    """
    from videoautoarena.runs.analysis.audit.rejudge import rejudged
    from videoautoarena.runs.analysis.trials.runner import TrialOrder, hold_trials, plan_trials
    from videoautoarena.runs.analysis.trials.trial import Leave

    out = folder_of(run)
    judges = judges_of(judge)
    leave = Leave(allow_offline_judge, allow_self_judging, allow_blind_referee)
    order = ordered(
        TrialOrder, {**how}, kinds=("rejudge",), judges=judges, cases=cases, leave=leave
    )

    async def play(audience: JobAudience) -> PlayedJob[RejudgeReport]:
        tally = await hold_trials(out, order, audience)
        return ended(tally, await asyncio.to_thread(rejudged, out, judges))

    return ReadyJob(lambda _: plan_trials(out, order), play, Rejudgings)


@paid
def tag(
    run: Run | PathLike,
    classifier: ModelLike | None = None,
    *,
    sample: int | None = None,
    seed: int = 0,
    **how: Unpack[JobOptions],
) -> ReadyJob[TagPlan, TagTally, Categories]:
    """Ask a model of which categories each question of a run is; return its `Categories`.

    As `arena categories tag` does: one call a question, with 8 frames. Equal questions about one
    video are tagged once, and tags are kept beside the battles.

    Args:
        run: the run, or its folder.
        classifier: the model that classifies; None: the run's examiner.
        sample: tag so many questions, drawn by the seed; None for all.
        seed: seed of the sample.
        how: how models are asked, by the names of `JobOptions`.

    Raises:
        BadInput: no such run or classifier, or videos that are gone.
        Unfinished: it ended early, or more than 5 % of the calls failed.
    """
    from videoautoarena.runs.analysis.categories.tagging import (
        TagOrder,
        plan_tagging,
        tag_questions,
    )

    out = folder_of(run)
    name = None if classifier is None else named(classifier)
    order = ordered(TagOrder, {**how}, classifier=name, sample=sample, seed=seed)

    async def play(audience: JobAudience) -> PlayedJob[TagTally]:
        tally = await tag_questions(out, order, audience)
        return ended(tally, tally)

    return ReadyJob(lambda _: plan_tagging(out, order), play, lambda _: _categories(out, name))


def _categories(out: Path, classifier: str | None) -> Categories:
    from videoautoarena.runs.analysis.categories.figures import report_of
    from videoautoarena.runs.run.config.run_config import RunConfig
    from videoautoarena.runs.run.rundir.reader import open_run

    with open_run(out) as run:
        examiner = RunConfig.of_manifest(run.manifest).examiner
        return Categories(report_of(run, classifier or examiner))


@paid
def check_tags(
    run: Run | PathLike,
    against: ModelLike | PathLike,
    *,
    sample: int = 200,
    seed: int = 0,
    **how: Unpack[JobOptions],
) -> ReadyJob[TagPlan, CategoryCheck, TagCheck]:
    """Hold the tags of a run against a stronger model's, or people's; return a `TagCheck`.

    As `arena categories check` does. A model tags the sample, too, in one call a question.

    Args:
        run: the run, or its folder.
        against: the model, or a sheet that people filled in (.csv, .tsv, .jsonl, .parquet), of
            which no model is asked.
        sample: number of questions, drawn by the seed.
        seed: seed of the sample.
        how: how models are asked, by the names of `JobOptions`.

    Raises:
        BadInput: nothing that can be compared, or as of `tag`.
        Unfinished: it ended early, or more than 5 % of the calls failed.
    """
    from videoautoarena.runs.analysis.categories.check import (
        check_against,
        check_comparable,
        read_labels,
    )
    from videoautoarena.runs.analysis.categories.tagging import (
        TagOrder,
        plan_tagging,
        tag_questions,
    )
    from videoautoarena.runs.analysis.categories.tags import tags_of
    from videoautoarena.runs.jobs.paid_job import JobTally
    from videoautoarena.runs.run.rundir.reader import open_run

    out = folder_of(run)
    name = str(against) if isinstance(against, str | Path) else named(_model_of(against))
    # By its ending alone: a sheet that is missing must not be taken for a model to ask.
    is_file = name.lower().endswith(SHEETS)
    order = ordered(
        TagOrder, {**how}, classifier=None if is_file else name, sample=sample, seed=seed
    )

    def comparable() -> str:
        with open_run(out) as opened:
            return check_comparable(opened, name, sample=sample, seed=seed)

    def compared(classifier: str | None) -> CategoryCheck:
        with open_run(out) as opened:
            if is_file:
                truth = read_labels(Path(name))
            else:
                truth = {id_: one.categories for id_, one in tags_of(opened, name).items()}
            return check_against(opened, name, truth, classifier)

    async def plan(_audience: JobAudience) -> TagPlan:
        comparable()
        return await plan_tagging(out, order)

    async def play(audience: JobAudience) -> PlayedJob[CategoryCheck]:
        if is_file:
            return ended(JobTally(), compared(None))
        # Before anything is asked and paid for.
        classifier = comparable()
        played: PlayedJob[CategoryCheck] = ended(await tag_questions(out, order, audience))
        if played.lack or played.tally.is_early:
            return played
        return played._replace(found=compared(classifier))

    return ReadyJob(plan, play, TagCheck, is_planned=not is_file)


def _model_of(against: Any) -> ModelLike:
    # A path that is neither text nor a Path is written out.
    return str(against) if hasattr(against, "__fspath__") else against


@dataclass(frozen=True)
class RealismPlan:
    """What classifying and grading the questions of a file would take."""

    classifier: TagPlan | None
    grader: GradingPlan | None

    def as_json(self) -> dict[str, Any]:
        """Return the one plan, or both by who is asked."""
        asked = {"classifier": self.classifier, "grader": self.grader}
        plans = {name: plan.as_json() for name, plan in asked.items() if plan is not None}
        return {"schema": 1, **plans} if len(plans) > 1 else next(iter(plans.values()), {})

    def as_lines(self) -> list[str]:
        """Return both as lines for a person."""
        plans = (self.classifier, self.grader)
        return [line for plan in plans if plan is not None for line in plan.as_lines()]


@paid
def realism(
    run: Run | PathLike,
    against: PathLike,
    *,
    categories: Literal["auto", "file", "words"] = "auto",
    classifier: ModelLike | None = None,
    difficulty: bool = False,
    grader: ModelLike | None = None,
    sample: int | None = None,
    cap: float = 5.0,
    permutations: int = 2000,
    seed: int = 0,
    **how: Unpack[JobOptions],
) -> ReadyJob[RealismPlan, RealismReport, Realism]:
    """Hold the questions of a run against those of real users; return a `Realism`.

    As `arena realism` does. No model is called but a classifier (a call a question) or a grader (a
    call or two), whose replies stay in the run.

    Args:
        run: the run, or its folder.
        against: JSON lines with `question`, and where known `video`, `category` or `categories`,
            and `language`.
        categories: whether the file's count or words tell; `auto` takes the file's where the run
            is tagged, too.
        classifier: model that tagged the run: it classifies the questions of the file too.
        difficulty: also grade how hard questions of the file are, each beside one of the run's.
        grader: the model that grades; None: the run's examiner.
        sample: grade so many questions, drawn by the seed; None for all.
        cap: largest weight of a battle, where 1 is the average.
        permutations: number of permutations of a test.
        seed: seed of the permutations, and of the sample.
        how: how models are asked, by the names of `JobOptions`.

    Raises:
        BadInput: a file, a model or a value that cannot be used.
        Unfinished: it ended early, or more than 5 % of the calls failed.
    """
    from videoautoarena.runs.analysis.categories.tagging import TagOrder
    from videoautoarena.runs.analysis.realism.classifying import (
        classify_questions,
        plan_classifying,
    )
    from videoautoarena.runs.analysis.realism.grading import (
        GradingOrder,
        grade_questions,
        plan_grading,
    )
    from videoautoarena.runs.analysis.realism.report import RealismOptions, check_wish, realism_of
    from videoautoarena.runs.jobs.paid_job import JobTally

    out = folder_of(run)
    file = Path(against)
    wish = RealismOptions(categories, cap, permutations, seed)
    check_wish(wish)
    if classifier is not None and categories != "auto":
        raise WrongArgument(
            f"{option('classifier')} and {option('categories')} {categories} exclude each other"
        )
    classifying = grading = None
    if classifier is not None:
        # The sample is one of questions to grade; all are classified.
        classifying = ordered(TagOrder, {**how}, classifier=named(classifier), seed=seed)
    if difficulty:
        by = None if grader is None else named(grader)
        grading = ordered(GradingOrder, {**how}, grader=by, sample=sample, seed=seed)

    async def plan(_audience: JobAudience) -> RealismPlan:
        return RealismPlan(
            None if classifying is None else await plan_classifying(out, file, classifying),
            None if grading is None else await plan_grading(out, file, grading),
        )

    async def play(audience: JobAudience) -> PlayedJob[RealismReport]:
        classified = graded = None
        tally = JobTally()
        if classifying is not None:
            classified, tally = await classify_questions(out, file, classifying, audience)
        if grading is not None and not (tally.is_early or tally.is_failing):
            for line in tally.reasons():
                audience.say(line)
            graded, tally = await grade_questions(out, file, grading, audience)
        if tally.is_early or tally.is_failing:
            return ended(tally)
        found = await asyncio.to_thread(realism_of, out, file, wish, classified, graded)
        return ended(tally, found)

    is_planned = classifying is not None or grading is not None
    return ReadyJob(plan, play, Realism, is_planned)
