"""How commands that call models begin and end: the engine, one event loop, the exit code."""

from __future__ import annotations

import asyncio
import gc
import json
import shlex
import shutil
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from videoautoarena.memory.store.connection import SHUTDOWN
from videoautoarena.runs.cli.program import main, options
from videoautoarena.runs.formats.terminal import (
    finish_though_unread,
    folded,
    print_result,
    safe,
    say,
    say_before_publishing,
)

if TYPE_CHECKING:
    from videoautoarena.agents.limits.outages import Outage
    from videoautoarena.memory.records.records import UnansweredTries
    from videoautoarena.runs.api.jobs import PlayedJob, ReadyJob
    from videoautoarena.runs.cluster.engine import RayEngine
    from videoautoarena.runs.console.progress.events import Listeners
    from videoautoarena.runs.jobs.paid_job import JobAudience, JobTally
    from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
    from videoautoarena.runs.run.config.stopping_rule import RuleReading
    from videoautoarena.runs.run.rundir.context import EarlyEnd
    from videoautoarena.runs.run.rundir.failures import Faulty
    from videoautoarena.runs.run.rundir.spending import CapUse
    from videoautoarena.runs.tournament.runner import Finished

    Engine: TypeAlias = AbstractContextManager[RayEngine | None]


T = TypeVar("T")
Found = TypeVar("Found")


def exit_codes(three: str, *, zero: str = "done") -> str:
    """Return the meaning of the exit codes of a command that calls models, for its --help."""
    return f"""Exit codes:
  0    {zero}
  1    an error that you can act on, in one line
  2    a wrong or missing option or argument
  3    done, but {three}
  4    stopped by --max-usd or --max-tokens; raise it to continue
  5    stopped because a server or a batch was out of reach; the same command continues
  70   a bug, with a traceback
  130  interrupted; the same command continues"""


EXIT_CODES = exit_codes(
    "with more voids, or more forfeits of one model, than --max-void allows",
    zero="done, or stopped by --until",
)


def run_async(work: Coroutine[object, object, T]) -> T:
    """Return the result of `work`, which runs in the process's one event loop."""
    from videoautoarena.agents.transport.redaction import keep_keys_out_of_logs

    keep_keys_out_of_logs()
    # What was paid for is worth more than the lines that report it, and so is how it ended.
    finish_though_unread()
    # What was imported lives as long as the process; looking through it costs 0.5 ms a battle.
    gc.freeze()
    try:
        return asyncio.run(_alone(work))  # noqa: TID251 - this is the one place
    finally:
        # The process may run more work, as `arena demo` does, whose queries are not to end with
        # this.
        SHUTDOWN.clear()


async def _alone(work: Coroutine[object, object, T]) -> T:
    """Return the result of `work`; a signal cancels it, and no query outlives it."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    is_cancelled = False

    def cancel(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_cancelled
        # SQLite lets Python hear no signal: a long query looks at this instead.
        SHUTDOWN.ask()
        if is_cancelled or task is None:
            # A second signal: work that does not heed its cancelling is left at once.
            raise KeyboardInterrupt
        is_cancelled = True
        task.cancel()
        # It may be waiting for nothing but a descriptor.
        loop.call_soon_threadsafe(lambda: None)

    with main.interrupted_by(cancel):
        try:
            return await work
        except asyncio.CancelledError:
            if is_cancelled:
                raise KeyboardInterrupt from None
            raise
        finally:
            # asyncio.run waits for all threads; what they still read is of no use to anybody.
            SHUTDOWN.ask()


def ending(finished: Finished, out: Path) -> int:
    """Say how the run ended and what to type next; return the exit code."""
    if options.is_json():
        from videoautoarena.runs.formats.record_json import record_json

        print_result(json.dumps(record_json(state_of(finished, out))))
    shown = safe(shlex.quote(str(out)))
    if money := spent_line(finished):
        say(money)
    so_far = f"with {finished.settled} of {finished.total} battles settled"
    if finished.is_capped:
        from videoautoarena.runs.run.config.stopping_rule import higher_caps

        say(f"budget cap reached {so_far}; nothing is lost")
        flags = higher_caps(finished.caps, finished.needed)
        say(f"to continue: arena resume {shown} {flags}")
        return main.EXIT_CAP
    if finished.gone is not None:
        say(f"stopped {so_far}, because {gone_words(finished.gone)}; nothing is lost")
        say(f"to continue: arena resume {shown}")
        return main.EXIT_GONE
    if finished.interrupted:
        say(f"interrupted {so_far}; nothing is lost")
        say(f"to continue: arena resume {shown}")
        return main.EXIT_INTERRUPTED
    voids = f", {finished.voids} of them void" if finished.voids else ""
    left, due = finished.outlook[:2]
    of = f" of {finished.total}" if left else ""
    for line in rule_lines(finished, shown):
        say(line)
    if finished.board is not None and finished.board.leads:
        from videoautoarena.runs.views.results.leaderboard import leaderboard_report

        headline = leaderboard_report(finished.board).headline
        if headline is not None:
            # Folded in a pipe, too: it is a result, for which no line may be wider.
            say(folded(headline.text, shutil.get_terminal_size().columns))
    say(f"done: {finished.settled}{of} battles settled{voids}; see: arena leaderboard {shown}")
    if finished.bench is not None:
        say_made(finished.bench)
    if finished.unfrozen is not None:
        say(safe(f"not frozen: {finished.unfrozen}"))
    if due:
        say(f"{due} battles of the run itself are still open: arena resume {shown}")
    for faulty in finished.faulty:
        say(faulty.sentence(finished.max_void))
    if finished.faulty:
        say(f"to repeat them: arena resume {shown} --retry-failed")
    if finished.too_many_voids:
        say(
            f"{finished.void_share:.0%} of the slots are void, more than --max-void allows "
            f"({finished.max_void:.0%}); reasons, and how to repeat them: arena status {shown}"
        )
        return main.EXIT_VOIDS
    if finished.faulty:
        return main.EXIT_VOIDS
    return 0 if finished.unfrozen is None else main.EXIT_USER


def if_whole(code: int, listeners: Listeners) -> int:
    """Return the exit code of a run; 1 instead of 0 if its trace could not be written."""
    return code or (main.EXIT_USER if listeners.unwritten else 0)


def rule_lines(finished: Finished, shown: str) -> Iterator[str]:
    """Yield how a run's stopping rule was met and what that promises, or how near it came."""
    reading = finished.reading
    if reading is None:
        return
    if not reading.is_met:
        was = "is not met" if finished.outlook.left else "was not met within all rounds"
        yield f"--until {reading.rule} {was}: {reading.where}"
        return
    yield f"--until {reading.rule} is met: {reading.where}"
    yield reading.rule.promise
    if finished.is_stopped:
        yield f"to play the rest: arena resume {shown} --until rounds"


def spent_line(finished: Finished) -> str:
    """Return a line on what the whole run has spent; empty if it is free and has no cap."""
    from videoautoarena.runs.console.progress.costs import cap_words, possibly_paid_words
    from videoautoarena.runs.formats.words import cost_words

    spent = finished.spent
    caps = finished.caps
    if not caps and not spent.usd and not spent.unknown and not spent.lost.tries:
        return ""
    known = cost_words(spent.usd, unknown=spent.unknown, calls=spent.calls)
    tokens = spent.input_tokens + spent.output_tokens
    lost = ""
    if spent.lost.tries:
        lost = f"; plus {possibly_paid_words(spent.lost)}: arena status"
    used = finished.cap_use
    of_caps = "" if used is None else f"; caps count {cap_words(caps, used)}"
    return f"cost of the whole run: {known}, {tokens:,} tokens{lost}{of_caps}"


def gone_words(outage: Outage) -> str:
    """Return words on the server that could not be reached, and why."""
    return safe(f"{outage.address} could not be reached ({outage.reason})")


def early_end(tally: EarlyEnd, so_far: str) -> int | None:
    """Say why trials or questions ended early and what to type next; return the exit code.

    None if they did not. `so_far` says how many were done and how many are left.
    """
    for why in tally.unread.values():
        say(safe(why))
    match tally.why_early:
        case "hopeless":
            # A provider's words may be pages long.
            say(safe(f"stopped, because {tally.hopeless[:300]}"))
            say(f"{so_far}; fix this, then repeat the command with --retry-failed")
            return main.EXIT_VOIDS
        case "cap":
            say(f"budget cap reached: {so_far}; nothing is lost")
            say("to continue: repeat the command with a higher --max-usd or --max-tokens")
            return main.EXIT_CAP
        case "unreachable":
            gone = f"{gone_words(tally.gone)}: " if tally.gone else ""
            say(f"{gone}{so_far}; nothing is lost")
            say("to continue, repeat the command")
            return main.EXIT_GONE
        case "interrupted":
            say(f"interrupted: {so_far}; to continue, repeat the command")
            return main.EXIT_INTERRUPTED
        case None:
            return None


def audience() -> JobAudience:
    """Return who hears of the jobs of the running command."""
    from videoautoarena.runs.jobs.paid_job import JobAudience

    return JobAudience(say, options.is_quiet())


def print_plan(job: ReadyJob[options.CommandResult, Any, Any]) -> int:
    """Print what a job will take; return the exit code."""
    options.print_found(run_async(job.plan(audience())))
    return 0


def played(job: ReadyJob[Any, Found, Any]) -> PlayedJob[Found]:
    """Return how a job was played, whose progress is shown."""
    return run_async(job.play(audience()))


def finished(
    job: ReadyJob[options.CommandResult, Found, Any], show: Callable[[Found], None], *, plan: bool
) -> int:
    """Play a job and show what it found, or print its plan; return the exit code."""
    if plan:
        return print_plan(job)
    tally, found, _ = played(job)
    code = job_ending(tally)
    # Also where it ended early, if the job shows what there is by then.
    if found is not None:
        show(found)
    return code


def job_ending(tally: JobTally) -> int:
    """Say what failed, and why a paid job ended early if it did; return the exit code."""
    for line in tally.reasons():
        say(line)
    code = early_end(tally, tally.so_far)
    if code is not None:
        return code
    if tally.is_failing:
        say("to repeat what failed: add --retry-failed")
        return main.EXIT_VOIDS
    return 0


def say_made(to: Path, what: str = "") -> None:
    """Say how to check a set that was made, and what of the videos lies in it."""
    if what:
        say_before_publishing(f"{what} are in {safe(str(to))}")
    say(f"to check it: arena bench verify {safe(str(to))}")


@dataclass(frozen=True)
class RunOutcome:
    """The state of a run at the end of a process."""

    out: Path
    """Folder of the run."""
    slots: int
    """Places for a battle."""
    settled: int
    """Slots whose battle has ended."""
    void: int
    """Ended battles without a verdict."""
    interrupted: bool
    """Whether somebody stopped it, with something left to resume."""
    capped: bool
    """Whether a cap stopped it."""
    gone: str | None
    """Address of the unreachable server that stopped it, or None."""
    forfeiting: Sequence[Faulty]
    """Contestants with at least 3 forfeits and a larger share than `--max-void`: `model`,
    `forfeits`, `battles` (voids aside) and the most frequent `reason`."""
    until: RuleReading | None
    """Latest reading of [the stopping rule](#a-stopping-rule), or None."""
    cost_usd: float
    """Known cost of the whole run."""
    unknown_cost: int
    """Calls of unknown cost, which are left out of it."""
    tokens: int
    """Tokens of the whole run, in and out."""
    lost: UnansweredTries
    """Possibly paid, in no sum above: as [of a run](#how-a-run-stands)."""
    cap_use: CapUse | None
    """What its caps count, likewise."""
    board: RatedLeaderboard | None
    """The models rated, in the shape of `arena leaderboard --json`, or None."""
    bench: Path | None
    """The frozen set that `--freeze` asked for, or None."""


def state_of(finished: Finished, out: Path) -> RunOutcome:
    """Return the state of the run in the shape of `simulate --json`."""
    return RunOutcome(
        out=out,
        slots=finished.total,
        settled=finished.settled,
        void=finished.voids,
        interrupted=finished.interrupted,
        capped=finished.is_capped,
        gone=finished.gone.address if finished.gone else None,
        forfeiting=finished.faulty,
        until=finished.reading,
        cost_usd=finished.spent.usd,
        unknown_cost=finished.spent.unknown,
        tokens=finished.spent.input_tokens + finished.spent.output_tokens,
        lost=finished.spent.lost,
        cap_use=finished.cap_use,
        board=finished.board,
        bench=finished.bench,
    )


CLUSTER = options.together(
    options.choice(
        "--engine",
        ("local", "ray"),
        "Play in this process, or on the machines of a Ray cluster (needs the extra `ray`).",
    ),
    options.string(
        "--address HOST:PORT|auto",
        "With --engine ray: head of the cluster. Run the command on the head's machine.  "
        "[default: a cluster of this machine alone]",
    ),
)


@contextmanager
def _engine(engine: str, address: str | None, lease_s: float | None) -> Iterator[RayEngine | None]:
    """Yield the engine that was asked for; None stands for this process."""
    if engine == "local":
        for option, value in (("--address", address), ("--lease", lease_s)):
            if value is not None:
                raise click.UsageError(f"{option} goes with --engine ray")
        yield None
        return
    from videoautoarena.runs.cluster.connection import connected, refuse_no_ray

    # Before the imports that need it, which would end in a trace.
    refuse_no_ray()
    from videoautoarena.runs.cluster.engine import RayEngine
    from videoautoarena.runs.cluster.jobs import LEASE_S

    with connected(address) as cluster:
        yield RayEngine(cluster, LEASE_S if lease_s is None else lease_s)


ENGINE = options.gathered(
    "engine",
    _engine,
    CLUSTER,
    options.string(
        "--lease SECONDS",
        "With --engine ray: how long a worker may be silent before others play its videos.  "
        "[default: 15]",
        "lease_s",
        type=options.FloatRange(min=2, max=3600),
    ),
)


@dataclass(frozen=True)
class RunStage:
    """What plays a run, and how it is shown."""

    engine: Engine
    display: options.Display

    def play(
        self,
        out: Path,
        start: Callable[[Listeners, RayEngine | None], Coroutine[object, object, Finished]],
    ) -> int:
        """Play the run in `out` that `start` opens, to its end; return the exit code."""
        with self.engine as engine, self.display.audience() as listeners:
            finished = run_async(start(listeners, engine))
        # Behind the `with`: the live console has left the terminal by now.
        return if_whole(ending(finished, out), listeners)


STAGE = options.gathered(
    "stage",
    RunStage,
    options.section("On a cluster", ENGINE),
    options.section(
        "What is shown",
        options.DISPLAY,
        options.json_flag("Print the state of the run as JSON."),
    ),
)
