"""Cases put to a judge to learn about the judge: judged through the run's own journal, and kept.

A trial decides no battle. Its calls have scopes of their own, so that none shares a key with a call
of the run, and an equal prompt is an independent sample.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from agents.clients import Load
from agents.desk import Desk
from agents.judge import Case, Place, judge_once
from agents.models import Model
from agents.outages import Outage
from memory.digests import canonical_json, digest
from memory.evidence import (
    TRIAL_SCOPE,
    Trial,
    TrialKind,
    generation_of,
    standing_trials,
    trial_id,
)
from memory.records import Frames, Judging, Seats
from memory.store import Store
from runs.config import RunConfig
from runs.footage import Footage
from runs.reading import Run
from video.studio import Decoders

_OWN_TEXTS = ("rejudge", "repeat")
"""Kinds whose case is a battle as it stands."""
_AT_WORK = 2
"""Judgings in hand for each call that may be under way: the next one is worded meanwhile."""


@dataclass(frozen=True)
class TrialCase:
    """One case, which every judge on trial is given."""

    id: str
    """Its own among all cases of its kind; from it follow the ids of its trials."""
    kind: TrialKind
    name: str
    """Of the attack, the constant answer or the kind of known truth; else empty."""
    video: str
    """Id of the run's video that it is about."""
    frames: Frames
    """What the judge is shown."""
    case: Case
    right: Literal["a", "b"] | None = None
    """See `memory.evidence.Trial`."""
    battle: str | None = None
    seats: tuple[Seats, ...] = ()
    """From which seatings it is judged; none given: from ab, and from ba where `case.swap`."""
    only: tuple[str, ...] = ()
    """Names of the judges that it is for; none given: all."""
    others: tuple[str, ...] = ()
    """Ids of the run's videos that its frames show besides."""
    load: Load | None = None
    """Hands over the JPEG bytes by `frames.video` and digests, where `frames` are not the run's.

    `frames.video` is then an id that no video of the run has, and the same for equal frames.
    """

    @property
    def seatings(self) -> tuple[Seats, ...]:
        """From which seatings it is judged."""
        return self.seats or (("ab", "ba") if self.case.swap else ("ab",))


def _say_nothing(_line: str) -> None:
    """Let a line pass."""


@dataclass(frozen=True)
class Material:
    """What cases are made from."""

    run: Run
    """Open for writing."""
    config: RunConfig
    footage: Footage
    """Times and digests of the frames of a run's video, and their bytes."""
    decoders: Decoders
    files: Mapping[str, Path]
    """Video id to where it lies now."""
    judges: tuple[Model, ...]
    """Those that will be on trial."""
    count: int | None
    """Cases of each kind at most; None for all."""
    notes: list[str] = field(default_factory=list)
    """What the makers of cases have to say to a person; may hold names of files."""
    say: Callable[[str], None] = field(default=_say_nothing)
    """Takes a line on work that may last."""


CaseMaker = Callable[[Material], Awaitable[Sequence[TrialCase]]]
"""Makes the cases of one kind; calls no model. Equal runs and settings give equal cases."""


class Seating(NamedTuple):
    """One judging that is wanted: one case, one judge, one seating."""

    case: TrialCase
    model: Model
    seats: Seats

    @property
    def scope(self) -> str:
        """The scope of its call."""
        return f"{TRIAL_SCOPE}{self.case.kind}:{self.case.id}:{self.model.alias}"

    @property
    def id(self) -> str:
        """The id of its first trial; it follows from all that is put to the judge."""
        case, model = self.case, self.model
        frames = [(frame.time_s, frame.digest) for frame in case.frames.frames]
        judge = [model.resolved, model.keyed("judge"), model.frame_limit("judge")]
        content = digest(canonical_json([judge, case.case.texts(self.seats), frames]))
        return f"{case.kind}:{case.id}:{model.alias}:{self.seats}:{content[:16]}"

    def trial(self, judging: Judging, generation: int, *, contracts: int) -> Trial:
        """Return the record of a judging of it."""
        case = self.case
        return Trial(
            id=trial_id(self.id, generation),
            kind=case.kind,
            name=case.name,
            battle=case.battle,
            video=case.video,
            model=self.model.resolved,
            right=case.right,
            texts={} if case.kind in _OWN_TEXTS else case.case.texts(),
            frames=case.frames.frames if case.load else (),
            contracts=contracts,
            judging=judging,
        )


class Wanted(NamedTuple):
    """A judging that is still to be had, and how often it has failed before."""

    seating: Seating
    generation: int


def open_seatings(
    store: Store, seatings: Iterable[Seating], *, retry_failed: bool = False
) -> list[Wanted]:
    """Return the judgings that the run has no trial of, and on demand those that failed."""
    latest = {generation_of(t.id)[0]: t for t in standing_trials(store.evidence.trials())}
    wanted = []
    for seating in seatings:
        known = latest.get(seating.id)
        if known is None:
            wanted.append(Wanted(seating, 0))
        elif retry_failed and known.judging.verdict == "failed":
            wanted.append(Wanted(seating, generation_of(known.id)[1] + 1))
    return wanted


def seatings_of(cases: Iterable[TrialCase], judges: Sequence[Model]) -> list[Seating]:
    """Return every judging that these cases ask for."""
    return [
        Seating(case, model, seats)
        for case in cases
        for model in judges
        if not case.only or model.alias in case.only
        for seats in case.seatings
    ]


@dataclass
class Tally:
    """How trials went in one process."""

    asked: int = 0
    """Judgings that were wanted, those of earlier among them."""
    known: int = 0
    """Of these, so many the run had before."""
    held: int = 0
    """So many were held now, whatever came of it."""
    abstained: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    """Why judgings that were held now failed."""
    interrupted: bool = False
    is_capped: bool = False
    gone: Outage | None = None
    """An endpoint that was waited for in vain."""
    hopeless: str = ""
    """Why nothing more was asked, where a judge can do no more; may hold a provider's words."""

    @property
    def failed(self) -> int:
        """Judgings held now that failed."""
        return self.failures.total()

    def count(self, trial: Trial) -> None:
        """Count one more that was held."""
        self.held += 1
        self.abstained += trial.judging.verdict == "abstain"
        if trial.judging.verdict == "failed":
            self.failures[trial.judging.reason or "no reason recorded"] += 1


@dataclass
class TrialGame:
    """Holds trials: calls through `asker`, results into `store`."""

    store: Store
    desk: Desk
    """At which the first generation is judged."""
    concurrency: int
    tally: Tally
    on_held: Callable[[Trial], None]
    _is_broken: bool = field(default=False, init=False)

    async def hold(self, wanted: Sequence[Wanted]) -> None:
        """Hold all these trials and keep each: one model call each, two where a reply is mended.

        Where the journal has a call, which a kill may have left without its trial, it costs none.
        """
        line = iter(wanted)

        async def work() -> None:
            for one in line:
                if self._is_broken:
                    return
                await self._hold_one(one)

        workers = min(len(wanted), _AT_WORK * self.concurrency)
        # Every call is waited for even if one raises: a paid reply must be kept.
        done = await asyncio.gather(*(work() for _ in range(workers)), return_exceptions=True)
        for outcome in done:
            if isinstance(outcome, BaseException):
                raise outcome

    async def _hold_one(self, wanted: Wanted) -> None:
        seating, generation = wanted
        case = seating.case
        try:
            judging = await judge_once(
                self._desk(generation),
                seating.model,
                frames=case.frames,
                case=case.case,
                place=Place(seating.scope, 0, seating.seats),
            )
            number = self.desk.prompts.contracts
            trial = seating.trial(judging, generation, contracts=number)
            await self.store.evidence.put_trial(trial)
        except BaseException:
            self._is_broken = True
            raise
        self.tally.count(trial)
        self.on_held(trial)

    def _desk(self, generation: int) -> Desk:
        desk = self.desk
        if not generation:
            return desk
        asks = tuple(range(generation + 1))
        return Desk(desk.asker, desk.prompts, desk.seed, generations=lambda _scope: asks)


def loading(footage: Footage, cases: Iterable[TrialCase]) -> Load:
    """Return what hands over the bytes of frames: a case's own, else those of the run."""
    own = {case.frames.video: case.load for case in cases if case.load}

    async def load(video: str, digests: list[str]) -> list[bytes]:
        return await own.get(video, footage.jpegs)(video, digests)

    return load
