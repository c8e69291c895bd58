"""Cases put to a judge to learn about the judge: judged through the run's own journal, and kept.

A trial decides no battle. Its calls have scopes of their own, so that none shares a key with a call
of the run, and an equal prompt is an independent sample.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from videoautoarena.agents.calls.clients import Load
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.roles.judge import JudgeCase
from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Judging, Seats, VideoFrames
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.evidence import (
    TRIAL_SCOPE,
    Trial,
    TrialKind,
    generation_of,
    standing_trials,
    trial_id,
)
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.words import in_full
from videoautoarena.runs.run.config.arena_file import ArenaFile
from videoautoarena.runs.run.config.cast import (
    OFFLINE_JUDGE,
    CastEntry,
    entry_of,
    is_offline_judge,
    is_self_judging,
    refuse_blind,
)
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.reader import RunReader
from videoautoarena.video.workers.decoders import Decoders


class Leave(NamedTuple):
    """What a judge may do only with leave."""

    offline: bool = False
    """Judge real models' answers though it is the offline judge."""
    compete: bool = False
    """Judge battles of its own."""
    blind: bool = False
    """Judge though it is sent no frames."""


def with_judges(
    config: RunConfig, names: tuple[str, ...], *, file: ArenaFile, leave: Leave
) -> RunConfig:
    """Return a run's settings with these judges in place of its own; none named: with its own.

    A name, which may be short, is looked for in the file, then among those of the run, then
    taken for `provider:model`. BadInput for a name twice, one that is something else in the
    run, or a judge that cannot judge or lacks the leave.
    """
    if not names:
        return config
    known = [*file.models, *config.cast]
    names = tuple(in_full(name, known) for name in names)
    if len(set(names)) != len(names):
        raise BadInput(f"{option('judge')} names one judge twice; name each judge once")
    cast = dict(config.cast)
    for name in names:
        cast[name] = entry_in(name, config, file)
        if cast[name].is_offline and cast[name].model != OFFLINE_JUDGE:
            raise BadInput(f"{name} cannot judge; the offline one that can is {OFFLINE_JUDGE}")
    allowed = leave.offline or config.offline_judge_on_real
    is_offline_judge(config.models, names, cast=cast, allowed=allowed)
    is_self_judging(config.models, names, cast=cast, allowed=leave.compete)
    # A judge that the run itself was allowed may be asked again.
    strange = [name for name in names if name not in config.blind_referees]
    refuse_blind(strange, cast=cast, allowed=leave.blind)
    return config.model_copy(update={"judges": names, "cast": cast})


def entry_in(name: str, config: RunConfig, file: ArenaFile) -> CastEntry:
    """Return what a name stands for beside a run: of the file, of the run, else of itself.

    BadInput where file and run mean two models by it.
    """
    known = config.cast.get(name)
    if name not in file.models and known is not None:
        return known
    found = entry_of(name, file)
    frames = config.sampling.frames
    # One name for two models would put the trials of both under it.
    if known is not None and known.identity(frames) != found.identity(frames):
        raise BadInput(f"{name} is another model in this run; give it another name in arena.toml")
    return found


_OWN_TEXTS = ("rejudge", "repeat")
"""Kinds whose case is a battle as it stands."""


@dataclass(frozen=True)
class TrialCase:
    """One case, which every judge on trial is given."""

    id: str
    """Its own among all cases of its kind; from it follow the ids of its trials."""
    kind: TrialKind
    name: str
    """Name of the attack, the constant answer or the kind of known truth; else empty."""
    video: str
    """Id of the run's video that it is about."""
    frames: VideoFrames
    """What the judge is shown."""
    case: JudgeCase
    right: Literal["a", "b"] | None = None
    """See `memory.store.evidence.Trial`."""
    battle: str | None = None
    seats: tuple[Seats, ...] = ()
    """From which seatings it is judged; none given: from ab, and from ba where `case.swap`."""
    only: tuple[str, ...] = ()
    """Names of the judges that it is for; none given: all."""
    others: tuple[str, ...] = ()
    """Ids of the run's videos that its frames show besides."""
    load: Load | None = None
    """Returns the JPEG bytes by `frames.video` and digests, where `frames` are not the run's.

    `frames.video` is then an id that no video of the run has, and the same for equal frames.
    """

    @property
    def seatings(self) -> tuple[Seats, ...]:
        """From which seatings it is judged."""
        return self.seats or (("ab", "ba") if self.case.swap else ("ab",))


@dataclass(frozen=True)
class Material:
    """What cases are made from."""

    run: RunReader
    """Open for writing."""
    config: RunConfig
    run_frames: RunFrames
    """Times and digests of the frames of a run's video, and their bytes."""
    decoders: Decoders
    files: Mapping[str, Path]
    """Video id to where it lies now."""
    judges: tuple[Model, ...]
    """Judges that will be on trial."""
    count: int | None
    """Cases of each kind at most; None for all."""
    notes: list[str] = field(default_factory=list)
    """What the makers of cases have to say to a person; may hold names of files."""
    say: Callable[[str], None] = lambda _line: None
    """Takes a line on work that may last."""


CaseMaker = Callable[[Material], Awaitable[Sequence[TrialCase]]]
"""Makes the cases of one kind; calls no model. Equal runs and settings give equal cases."""


class TrialSeating(NamedTuple):
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
        case = self.case
        model = self.model
        frames = [(frame.time_s, frame.digest) for frame in case.frames.frames]
        judge = [model.resolved, model.keyed("judge"), model.frame_limit("judge")]
        said = case.case.texts(self.seats)
        # Only where there is one, so that trials of runs without languages keep their ids.
        if case.case.language is not None:
            said["language"] = case.case.language
        content = digest(canonical_json([judge, said, frames]))
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
            # The battle holds these texts, and the run all frames that are not spliced.
            texts={} if case.kind in _OWN_TEXTS else case.case.texts(),
            frames=case.frames.frames if case.load else (),
            contracts=contracts,
            judging=judging,
            language=case.case.language,
        )


class PendingTrial(NamedTuple):
    """A judging that is still to be had, and how often it has failed before."""

    seating: TrialSeating
    generation: int


def open_seatings(
    store: Store, seatings: Iterable[TrialSeating], *, retry_failed: bool = False
) -> list[PendingTrial]:
    """Return the judgings that the run has no trial of and, on demand, failed ones."""
    latest = {generation_of(t.id)[0]: t for t in standing_trials(store.evidence.trials())}
    wanted = []
    for seating in seatings:
        known = latest.get(seating.id)
        if known is None:
            wanted.append(PendingTrial(seating, 0))
        elif retry_failed and known.judging.verdict == "failed":
            # A failed call is kept and fails again under its key, so another try has a generation
            # of its own.
            wanted.append(PendingTrial(seating, generation_of(known.id)[1] + 1))
    return wanted


def blind_on_trial(store: Store, trials: Iterable[Trial]) -> list[str]:
    """Return the judges that were sent no frames, by the calls of the first trial of each."""
    sent_none: dict[str, bool] = {}
    for trial in trials:
        judge = trial.judging.judge
        if judge in sent_none:
            continue
        # Its id is the scope of its calls, the seats and a digest of what was put to the judge.
        # From the right, since a judge's name may hold colons.
        calls = store.journal.calls(f"{TRIAL_SCOPE}{trial.id.rsplit(':', 2)[0]}")
        if answered := [call for call in calls if call.reply is not None]:
            sent_none[judge] = all(call.frames == 0 for call in answered)
    return [judge for judge, is_so in sent_none.items() if is_so]


def seatings_of(cases: Iterable[TrialCase], judges: Sequence[Model]) -> list[TrialSeating]:
    """Return every judging that these cases ask for."""
    return [
        TrialSeating(case, model, seats)
        for case in cases
        for model in judges
        if not case.only or model.alias in case.only
        for seats in case.seatings
    ]


def loading(run_frames: RunFrames, cases: Iterable[TrialCase]) -> Load:
    """Return the loader of frames: a case's own, else that of the run."""
    own = {case.frames.video: case.load for case in cases if case.load}

    async def load(video: str, digests: list[str]) -> list[bytes]:
        return await own.get(video, run_frames.jpegs)(video, digests)

    return load
