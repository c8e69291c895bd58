"""Plans trials of judges, and holds those that a run lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from videoautoarena.agents.roles.judge import JudgingPlace, judge_once
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.evidence import Trial, TrialKind
from videoautoarena.runs.analysis.trials.cases import (
    attack_cases,
    constant_cases,
    rejudge_cases,
    repeat_cases,
)
from videoautoarena.runs.analysis.trials.trial import (
    CaseMaker,
    Leave,
    Material,
    PendingTrial,
    TrialSeating,
    loading,
    open_seatings,
    seatings_of,
    with_judges,
)
from videoautoarena.runs.analysis.trials.truth_cases import truth_cases
from videoautoarena.runs.formats.record_json import keyed
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.job_run import RunJob, open_job_run
from videoautoarena.runs.jobs.paid_job import (
    NOBODY,
    ExpectedCalls,
    JobAudience,
    JobOrder,
    JobPlan,
    JobTally,
    at_generation,
)
from videoautoarena.runs.run.config.arena_file import arena_file
from videoautoarena.runs.run.config.disclosure import REPAIR
from videoautoarena.runs.run.config.run_config import RunConfig, refuse_text_read
from videoautoarena.runs.run.rundir.opener import stored_prompts
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.runs.tournament.plan import PLAN_FIGURES, REPAIRED

NO_LEAVE = Leave()
CASES = 100
"""Cases of each kind, if no number is given."""
MAKERS: dict[TrialKind, CaseMaker] = {
    "repeat": repeat_cases,
    "attack": attack_cases,
    "constant": constant_cases,
    "rejudge": rejudge_cases,
    "truth": truth_cases,
}


@dataclass(frozen=True)
class TrialOrder(JobOrder):
    """What trials are asked for."""

    kinds: tuple[TrialKind, ...]
    judges: tuple[str, ...] = ()
    """None named: the run's own."""
    cases: int | None = CASES
    """Cases of each kind at most; None for all."""
    leave: Leave = NO_LEAVE


@dataclass(frozen=True, kw_only=True)
class TrialPlan(JobPlan):
    """What trials will take, before anything is sent."""

    SHOWN: ClassVar = ("judges", "kinds", "known", "calls_at_most", *PLAN_FIGURES, "notices")
    judges: tuple[str, ...]
    """Who judges."""
    kinds: Mapping[str, int] = field(metadata=keyed("judgings"))
    """Judgings of each kind, including those that the run has."""

    def headlines(self) -> Iterator[str]:
        """Yield how many judgings and calls there are."""
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.kinds.items())
        yield (
            f"trials of {safe(', '.join(self.judges))}: {kinds or 'no case fits'}; "
            f"{counted(sum(self.kinds.values()), 'judging')}{self.known_words}, "
            f"at most {counted(self.most_calls, 'call')}{self.cost_words()}"
        )


@dataclass(kw_only=True)
class TrialJob(RunJob[PendingTrial, Trial]):
    """Puts judges on trial: each judging that the run lacks."""

    seatings: Sequence[TrialSeating]
    """All judgings that were asked for."""
    notes: Sequence[str]
    """What the makers of cases have to say to a person."""

    def forecast(self, item: PendingTrial) -> Iterable[ExpectedCalls]:
        """Yield one call, which may be mended."""
        case = item.seating.case
        videos = (case.video, *case.others)
        yield ExpectedCalls(
            item.seating.model.alias, "judge", 1.0 + REPAIRED, REPAIR, videos=videos
        )

    async def begin(self) -> None:
        """Look for the frames of every video that is shown as the run has it."""
        cases = (one.seating.case for one in self.left)
        await self.job_run.check_frames(case.frames for case in cases if case.load is None)

    async def play(self, item: PendingTrial, prompter: Prompter) -> Trial:
        """Return the trial of a judging; one that failed is a trial, too."""
        seating = item.seating
        judging = await judge_once(
            at_generation(prompter, item.generation),
            seating.model,
            frames=seating.case.frames,
            case=seating.case.case,
            place=JudgingPlace(seating.scope, 0, seating.seats),
        )
        return seating.trial(judging, item.generation, contracts=prompter.prompts.contracts)

    async def keep(self, _item: PendingTrial, outcome: Trial) -> None:
        """Keep a trial beside the battles."""
        await self.job_run.store.evidence.put_trial(outcome)
        judging = outcome.judging
        why = judging.reason or "no reason recorded"
        aside = "abstained" if judging.verdict == "abstain" else None
        self.tally.count(why if judging.verdict == "failed" else None, aside)

    def plan(self) -> TrialPlan:
        """Return what these trials take."""
        found = super().plan()
        return TrialPlan(
            **(vars(found) | {"notices": (*self.notes, *found.notices)}),
            judges=self.config.judges,
            kinds=Counter(one.case.kind for one in self.seatings),
        )


async def plan_trials(out: Path, order: TrialOrder) -> TrialPlan:
    """Return what these trials would take; calls no model and writes nothing."""
    async with _ready(out, order, audience=None) as job:
        return job.plan()


async def hold_trials(out: Path, order: TrialOrder, audience: JobAudience = NOBODY) -> JobTally:
    """Hold the trials that were asked for and that the run in `out` lacks.

    One model call each, two where a reply is mended. BadInput for a judge that cannot be, or frames
    that are gone; RunLocked where another process is at the run.
    """
    async with _ready(out, order, audience=audience) as job:
        await job.run(audience)
        return job.tally


def on_trial(config: RunConfig, order: TrialOrder) -> tuple[RunConfig, Sequence[str]]:
    """Return a run's settings with the judges on trial, and their names; or BadInput."""
    file = arena_file(order.config)
    config = with_judges(config, order.judges, file=file, leave=order.leave)
    # Older runs may hold text that was read in pictures for offline models; nothing reads it any
    # more.
    if any(config.cast[alias].is_offline for alias in config.judges):
        refuse_text_read(config.sampling, f"name a real {option('judge')}")
    return config, config.judges


@asynccontextmanager
async def _ready(
    out: Path, order: TrialOrder, *, audience: JobAudience | None
) -> AsyncIterator[TrialJob]:
    """Yield trials that can be held; without an audience such as can only be planned."""
    recast = partial(on_trial, order=order)
    write = audience is not None
    async with open_job_run(out, order, recast, write=write, looks=True) as found:
        material = Material(
            run=found.run,
            config=found.config,
            run_frames=found.run_frames,
            decoders=found.decoders,
            files=found.files,
            judges=tuple(map(found.config.model_of, found.config.judges)),
            count=order.cases,
        )
        if audience is not None:
            material = replace(material, say=audience.say)
        cases = [case for kind in order.kinds for case in await MAKERS[kind](material)]
        # The control of an attack may be the repeat of the same battle: it is asked once.
        seatings = list({one.id: one for one in seatings_of(cases, material.judges)}.values())
        wanted = open_seatings(found.store, seatings, retry_failed=order.retry_failed)
        yield TrialJob(
            # Frames of spliced clips are in no run, so cases bring their own loader.
            **(found.parts | {"load": loading(found.run_frames, cases)}),
            prompts=stored_prompts(found.store),
            order=order,
            tally=JobTally(unit="judging", known=len(seatings) - len(wanted)),
            seatings=seatings,
            left=wanted,
            notes=material.notes,
        )
