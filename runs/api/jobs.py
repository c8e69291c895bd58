"""The one way in which paid jobs are planned, played and ended, by a program or by a command.

A function of this room that pays models checks what it is asked and returns a `ReadyJob`; `paid`
makes of it what a program calls. A command takes the job itself, and prints what it finds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial, update_wrapper
from inspect import Signature, signature
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    NamedTuple,
    ParamSpec,
    TypeAlias,
    TypedDict,
    TypeVar,
)

from videoautoarena.memory.records.errors import Unfinished, WrongArgument

if TYPE_CHECKING:
    from videoautoarena.runs.api.run import Run
    from videoautoarena.runs.jobs.paid_job import JobAudience, JobOrder, JobTally

PathLike: TypeAlias = "str | os.PathLike[str]"
Asked = ParamSpec("Asked")
Owner = TypeVar("Owner")
Plan = TypeVar("Plan", covariant=True)
Found = TypeVar("Found", covariant=True)
Value = TypeVar("Value", covariant=True)
Made = TypeVar("Made")
Order = TypeVar("Order", bound="JobOrder")


class JobOptions(TypedDict, total=False):
    """How models are asked, the same for every job."""

    config: PathLike | None
    """Configuration file; None: arena.toml, if there is one."""
    videos: PathLike | None
    """Folder of the videos, if they have moved."""
    concurrency: int
    """Most calls at once: 16."""
    patience_s: float
    """Seconds for which a server is waited for that cannot be reached."""
    max_usd: float | None
    """Cap on what all calls of the run or the set cost, in US dollars; infinity lifts one."""
    max_tokens: float | None
    """The same in tokens."""
    retry_failed: bool
    """Ask again where a call failed."""
    batch: bool
    """Hand calls over in batches, which take hours and cost half."""
    trust: str | None
    """Digest of what is agreed to of a run that somebody else has made."""
    quiet: bool
    """Show nothing on stderr."""


class PlayedJob(NamedTuple, Generic[Found]):
    """How a job was played."""

    tally: JobTally
    found: Found | None = None
    """What the command prints; None where there is nothing to print yet."""
    lack: str = ""
    """Why it does not count as done although it did not end early."""


@dataclass(frozen=True)
class ReadyJob(Generic[Plan, Found, Value]):
    """A job that was asked for, and of which nothing is begun."""

    plan: Callable[[JobAudience], Coroutine[Any, Any, Plan]]
    """Returns what it will take; calls and writes nothing."""
    play: Callable[[JobAudience], Coroutine[Any, Any, PlayedJob[Found]]]
    value: Callable[[Found], Value]
    """Makes of what was found what a program gets."""
    is_planned: bool = True
    """Whether models are asked, so that there is something to plan."""

    def result(self, played: PlayedJob[Found]) -> Value:
        """Return what a program gets; Unfinished where not all was done."""
        from videoautoarena.runs.formats.terminal import safe

        tally = played.tally
        why = tally.why_early
        if why is not None:
            words = {
                "hopeless": f"stopped, because {tally.hopeless[:300]}; mend it, and call again "
                "with retry_failed=True",
                "cap": "the cap is reached; call again with a higher one",
                "unreachable": f"{tally.gone.address} could not be reached; call again"
                if tally.gone
                else "; ".join(tally.unread.values()),
                "interrupted": "interrupted; call again",
            }
            # Among it may be a provider's words.
            raise Unfinished(safe(f"{words[why]} ({tally.so_far})"), kind=why)
        if played.lack or played.found is None:
            raise Unfinished(safe(f"{played.lack}; to ask again: retry_failed=True"), kind="failed")
        return self.value(played.found)


class PaidCall(Generic[Asked, Plan, Found, Value]):
    """A call that pays models; `plan` with the same arguments says what it would take, for free.

    An interrupt, or a notebook's stop, lets paid calls finish. What was paid for is kept, and the
    same call goes on. It raises Unfinished where it ends early, or too many calls failed.
    """

    def __init__(
        self,
        job: Callable[Asked, ReadyJob[Plan, Found, Value]],
        like: Callable[..., object] | None = None,
    ) -> None:
        self.job = job
        """Returns the job for these arguments, or raises BadInput; for commands."""
        update_wrapper(self, like or job)
        # A reader is shown what the call takes; what it gives stands in its text.
        shown = signature(job).replace(return_annotation=Signature.empty)
        self.__signature__ = shown

    def __call__(self, *args: Asked.args, **kwargs: Asked.kwargs) -> Value:
        """Play the job, and return what it found."""
        from videoautoarena.runs.console.progress.interrupts import worked

        job = self.job(*args, **kwargs)
        # Here and not in the thread that plays, so that an interrupt is heard at once.
        return job.result(worked(job.play(_audience(kwargs))))

    async def aio(self, *args: Asked.args, **kwargs: Asked.kwargs) -> Value:
        """Do the same within the caller's event loop, which reading its files holds up a little."""
        from videoautoarena.agents.transport.redaction import keep_keys_out_of_logs

        keep_keys_out_of_logs()
        job = self.job(*args, **kwargs)
        return job.result(await job.play(_audience(kwargs)))

    def plan(self, *args: Asked.args, **kwargs: Asked.kwargs) -> Plan:
        """Return what it would take: calls, and their cost in US dollars; calls no model."""
        from videoautoarena.runs.console.progress.interrupts import worked

        job = self.job(*args, **kwargs)
        if not job.is_planned:
            raise WrongArgument("no model is asked for this, so that there is nothing to plan")
        return worked(job.plan(_audience(kwargs)))

    def __get__(
        self: PaidCall[Concatenate[Owner, Asked], Plan, Found, Value], owner: Owner, _kind: object
    ) -> PaidCall[Asked, Plan, Found, Value]:
        """Return the call as a method of its owner."""
        # Of the class itself it is asked for by whoever looks for its text.
        return PaidCall(self.job if owner is None else partial(self.job, owner), self.job)  # type: ignore[arg-type]


def paid(
    job: Callable[Asked, ReadyJob[Plan, Found, Value]],
) -> PaidCall[Asked, Plan, Found, Value]:
    """Return what a program calls, of a function that says what is to be played."""
    return PaidCall(job)


def _audience(given: Mapping[str, object]) -> JobAudience:
    from videoautoarena.runs.formats.terminal import say
    from videoautoarena.runs.jobs.paid_job import NOBODY, JobAudience

    return NOBODY if given.get("quiet") else JobAudience(say)


def ended(tally: JobTally, found: Made | None = None) -> PlayedJob[Made]:
    """Return how a job was played of which at most a twentieth of the calls may fail."""
    lack = f"too many calls failed ({tally.in_words})" if tally.is_failing else ""
    return PlayedJob(tally, found, lack)


_LEAST = {"concurrency": 1, "sample": 1, "patience_s": 0}


def ordered(kind: Callable[..., Order], how: Mapping[str, Any], **own: Any) -> Order:
    """Return an order of these options and what a job takes of its own.

    WrongArgument for an option that there is not, or a value that cannot be.
    """
    from videoautoarena.agents.limits.caps import SpendCaps

    given = {**how, **own}
    given.pop("quiet", None)
    for name, least in _LEAST.items():
        at_least(name, given.get(name), least)
    caps = SpendCaps(given.pop("max_usd", None), given.pop("max_tokens", None))
    if any(cap is not None and not (_is_number(cap) and cap > 0) for cap in caps):
        raise WrongArgument("a cap is a number above 0; infinity lifts one")
    for name in ("config", "videos", "prompts"):
        if given.get(name) is not None:
            given[name] = Path(given[name])
    if strange := sorted(given.keys() - signature(kind).parameters):
        raise WrongArgument(f"there is no setting {strange[0]!a}; see JobOptions")
    return kind(**given, caps=caps)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def at_least(name: str, value: float | None, least: int) -> None:
    """Raise WrongArgument for a number below the least, or for what is none; None is left alone."""
    if value is not None and not (_is_number(value) and value >= least):
        raise WrongArgument(f"{name} is {value!a}; give a number from {least}")


def taken(make: Callable[..., Made], given: dict[str, Any], **more: Any) -> Made:
    """Call `make` with what in `given` it has parameters for, and return its result.

    They are taken out of `given`; missing ones are left to the defaults.
    """
    found = {key: given.pop(key) for key in signature(make).parameters if key in given}
    return make(**found, **more)


def folder_of(run: Run | PathLike) -> Path:
    """Return where a run lies; BadInput for one that was closed."""
    from videoautoarena.runs.api.run import Run

    return run.folder if isinstance(run, Run) else Path(run)
