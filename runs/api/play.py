"""Runs played from a program or a notebook, as the commands play them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from videoautoarena.memory.records.errors import BadInput, Unfinished, WrongArgument
from videoautoarena.runs.api.jobs import PathLike, folder_of
from videoautoarena.runs.api.models import (
    ModelLike,
    judges_of,
    named,
    refuse_two_of_one_name,
    several,
)
from videoautoarena.runs.api.run import Run
from videoautoarena.runs.run.config.run_request import RunRequest

if TYPE_CHECKING:
    from videoautoarena.runs.console.progress.events import Listeners
    from videoautoarena.runs.tournament.runner import Finished, RunSession

Request = TypeVar("Request", bound=RunRequest)


def simulate(
    videos: PathLike | None = None,
    *,
    out: PathLike = "arena-out",
    models: Sequence[ModelLike] = (),
    examiner: ModelLike | None = None,
    judge: ModelLike | Sequence[ModelLike] = (),
    rounds: int | None = None,
    quiet: bool = False,
    **settings: Any,
) -> Run:
    """Run a tournament over a folder of videos, or continue the one in `out`; return it.

    As `simulate` on the command line: the same battles, files and promises. Ctrl-C, or a notebook's
    stop, lets calls under way finish and returns the run as far as it is, and so does a cap; the
    same call goes on. A second one stops at once. Costs what the command's `--plan` says.

    Args:
        videos: the folder; None goes on with the videos of the run in `out`.
        out: folder of the run.
        models: contestants: `provider:model`, names of arena.toml, or LangChain chat models, which
            are called by class and parameters; none: those of arena.toml, else the offline cast.
        examiner: what watches, asks, evolves and grades.
        judge: one judge or several; none: the examiner.
        rounds: battles in each lineage; None: 3, or those of the run.
        quiet: say nothing; else lines and a count of battles go to stderr.
        settings: further fields of `RunRequest`, such as `max_usd=5` or `seed=1`.

    Raises:
        BadInput: a setting or value that cannot be, a folder or model that is not there, or a chat
            model that cannot be named by class and parameters.
        ForeignRun: `out` holds a run of other settings.
        Unfinished: a server could not be reached, or more of the slots is void, or of one model
            forfeits, than `max_void` allows. `open_run(out)` reads what there is.
    """
    request = _request(videos, out, models, examiner, judge, rounds, settings)
    return _played(lambda listeners: _session(request, listeners), request.out, quiet=quiet)


async def asimulate(
    videos: PathLike | None = None,
    *,
    out: PathLike = "arena-out",
    models: Sequence[ModelLike] = (),
    examiner: ModelLike | None = None,
    judge: ModelLike | Sequence[ModelLike] = (),
    rounds: int | None = None,
    quiet: bool = False,
    **settings: Any,
) -> Run:
    """Do as `simulate` within the caller's event loop, which is never blocked by it."""
    from videoautoarena.agents.transport.redaction import keep_keys_out_of_logs
    from videoautoarena.runs.api.simulate import opened, play_run

    keep_keys_out_of_logs()
    request = _request(videos, out, models, examiner, judge, rounds, settings)
    listeners = _listeners(quiet=quiet)
    session = await opened(lambda: _session(request, listeners, shares_loop=True))
    _refuse_failed(await play_run(session), request.out)
    return Run(request.out)


def _refuse_failed(finished: Finished, out: Path) -> None:
    """Raise for a run that ended otherwise than its caller had asked for.

    An interrupt and a cap were asked for, and leave a run as far as it is.
    """
    if finished.gone is not None:
        raise Unfinished(
            f"{finished.gone.address} could not be reached, with {finished.settled} of "
            f"{finished.total} battles settled; the same call goes on",
            kind="unreachable",
        )
    if finished.unfrozen is not None:
        raise BadInput(finished.unfrozen)
    if finished.is_capped or finished.interrupted:
        return
    lines = [one.sentence(finished.max_void) for one in finished.faulty]
    if finished.too_many_voids:
        lines = [
            f"{finished.void_share:.0%} of the slots are void, more than max_void="
            f"{finished.max_void:g} allows"
        ]
    if lines:
        raise Unfinished(
            f"{'; '.join(lines)}; open_run({str(out)!a}) reads the run, retry_failed=True "
            "plays them again",
            kind="failed",
        )


def add(
    run: Run | PathLike,
    model: ModelLike,
    *,
    battles: int = 1500,
    quiet: bool = False,
    **settings: Any,
) -> Run:
    """Let a model meet stored answers of a run, as `arena add` does; return the run.

    Args:
        run: the run, or its folder.
        model: the newcomer.
        battles: how many stored answers it is to meet, earlier ones included.
        quiet: say nothing.
        settings: further fields of `RunRequest`, such as `max_usd=5` or `concurrency=4`; none that
            says how the run is played.

    Raises:
        BadInput: no such run or model, or a value that cannot be.
        Unfinished: a server could not be reached, or more is void than `max_void` allows.
    """
    from videoautoarena.runs.api.add import AddRequest, added

    folder = folder_of(run)
    asked = {"out": folder, "model": named(model), "battles": battles, **settings}
    request = checked(AddRequest, asked)
    return _played(
        lambda listeners: added(request, listeners),
        folder,
        quiet=quiet,
    )


def _request(
    videos: PathLike | None,
    out: PathLike,
    models: Sequence[ModelLike],
    examiner: ModelLike | None,
    judge: ModelLike | Sequence[ModelLike],
    rounds: int | None,
    settings: dict[str, Any],
) -> RunRequest:
    if isinstance(models, str):
        raise WrongArgument("models is a list of models; write models=[..]")
    watching = () if examiner is None else (examiner,)
    refuse_two_of_one_name((*models, *watching, *several(judge)))
    asked = {
        "videos": None if videos is None else Path(videos),
        "out": Path(out),
        "models": tuple(map(named, models)),
        "examiner": None if examiner is None else named(examiner),
        "judge": judges_of(judge),
        "rounds": rounds,
    }
    return checked(RunRequest, {**asked, **settings})


def checked(kind: type[Request], asked: Mapping[str, Any]) -> Request:
    """Return what is asked for; WrongArgument, in one line, for what cannot be."""
    try:
        return kind(**asked)
    except ValidationError as wrong:
        mistake = wrong.errors()[0]
        place = ".".join(map(str, mistake["loc"]))
        if mistake["type"] == "extra_forbidden":
            raise WrongArgument(f"there is no setting {place!a}; see RunRequest") from None
        raise WrongArgument(f"{place} is {mistake['input']!a}; {mistake['msg']}") from None


def _session(request: RunRequest, listeners: Listeners, *, shares_loop: bool = False) -> RunSession:
    from videoautoarena.runs.api.simulate import session_asked

    if request.videos is None and not (request.out / "run.sqlite").exists():
        raise BadInput(f"{request.out} holds no run; pass the folder of its videos")
    return session_asked(request, listeners, shares_loop=shares_loop)


def _listeners(*, quiet: bool) -> Listeners:
    from videoautoarena.runs.console.progress.events import (
        BattleSettled,
        Listeners,
        RunBegun,
        RunEnded,
        RunEvent,
        nobody,
    )

    if quiet:
        return Listeners(lambda _line: None, nobody)
    done = total = 0
    is_line_open = False

    def write(text: str) -> None:
        # Python may have no stderr, as under pythonw.
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()

    def close_line() -> None:
        nonlocal is_line_open
        if is_line_open:
            write("\n")
        is_line_open = False

    def say(line: str) -> None:
        close_line()
        write(f"{line}\n")

    def hear(event: RunEvent) -> None:
        nonlocal done, total, is_line_open
        match event:
            case RunBegun():
                total = len(event.slots)
                done = len(event.battles)
            case BattleSettled():
                done += 1
                # A notebook and a terminal both write over the line.
                write(f"\r{done} of {total} battles")
                is_line_open = True
            case RunEnded():
                close_line()

    return Listeners(say, hear)


def _played(open_run: Callable[[Listeners], RunSession], out: Path, *, quiet: bool) -> Run:
    from videoautoarena.runs.api.simulate import play_run
    from videoautoarena.runs.console.progress.interrupts import worked

    # Here and not in the thread that plays, so that an interrupt is heard at once.
    session = open_run(_listeners(quiet=quiet))
    _refuse_failed(worked(play_run(session)), out)
    return Run(out)
