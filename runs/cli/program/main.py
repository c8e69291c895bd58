"""The two commands, `simulate` and `arena`, and what their exit codes mean.

Commands are loaded when they are called: `--help` answers without LangGraph, numpy or rich.
"""

from __future__ import annotations

import errno
import gc
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from types import FrameType
from typing import Any

import click

from videoautoarena.memory.records.errors import ArenaError, WrongArgument
from videoautoarena.memory.records.remedies import commands_typed
from videoautoarena.runs.formats.terminal import ResultsLost, lost_results, open_streams

# Texts stand here and not with the commands, so that the list loads none of their modules.
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Begin": {
        "demo": (
            "playing.simulate",
            "Play three rounds with offline models and show the leaderboard.",
        ),
        "samples": ("playing.simulate", "Make twelve sample clips."),
        "init": ("playing.media", "Write a first arena.toml for the models that you name."),
        "doctor": ("playing.media", "Check the installation, the configuration and the models."),
    },
    "Play a tournament": {
        "simulate": (
            "playing.simulate",
            "Run a tournament over a folder of videos, or continue one.",
        ),
        "resume": ("playing.resume", "Continue a run with the settings it began with."),
        "add": ("playing.resume", "Add a model to a run and judge it against stored answers."),
        "status": ("results.inspect", "Show the progress of a run."),
        "replay": (
            "playing.resume",
            "Replay a run offline from its journal and compare every battle.",
        ),
        "merge": ("playing.resume", "Put runs over different videos into one."),
    },
    "See who won, and why": {
        "leaderboard": ("results.leaderboard", "Rate the models of a run."),
        "battles": ("results.inspect", "List all battles of a run, one per line."),
        "show": ("results.inspect", "Show one battle in full."),
        "report": ("results.inspect", "Write a run as one HTML page."),
        "view": ("results.inspect", "Show a run in a browser while it goes on."),
        "pictures": ("results.leaderboard", "Draw figures of a run for a paper."),
        "export": ("results.inspect", "Export the calls, battles, labels or trials of a run."),
    },
    "Find out how far to trust it": {
        "audit": ("results.audit", "Report how reliable the judges of a run are."),
        "rejudge": ("results.audit", "Judge the same answers with another judge and compare."),
        "annotate": ("results.inspect", "Let people label battles of a run in a browser, blind."),
        "labels": ("results.audit", "Collect human labels and compare the judge with them."),
        "categories": ("results.categories", "Find out what kinds of question a run asked."),
        "topics": ("results.categories", "List what the questions of a run are about."),
        "realism": (
            "results.categories",
            "Compare the questions of a run with those of real users.",
        ),
        "power": ("results.leaderboard", "Estimate how many battles separate models."),
    },
    "Make and run test sets": {
        "freeze": ("sets.freeze", "Turn a run into a frozen test set."),
        "bench": ("sets.bench", "Run, score and compare frozen test sets."),
        "tasks": ("sets.making", "Make test sets with right answers from your own videos."),
        "dialogues": ("sets.making", "Make test sets of dialogues, and review them."),
        "import": ("sets.freeze", "Import published test sets, judgments and answers."),
        "rate": (
            "results.leaderboard",
            "Rate battles from any source: CSV, JSON lines or Parquet.",
        ),
    },
    "Look at videos": {
        "videos": ("playing.media", "List the videos of a folder and report damage."),
        "frames": ("playing.media", "Show the frames that a model sees, as one picture."),
        "scenes": ("playing.media", "Show the scenes of a video and the objects that come back."),
        "cache": ("playing.media", "Show or clear the cache of decoded frames."),
    },
}
"""Section to its commands, each with its module and its line in the list of commands."""
COMMANDS = {name: told for section in SECTIONS.values() for name, told in section.items()}
FORMER = {
    "agree": "type: arena leaderboard A --against B",
    "compact": "the file of a finished run has no empty pages",
    "profile": "type: arena leaderboard OUT --profile [MODEL]",
}
"""Commands of earlier versions, and what to say to whoever types one."""

EXIT_USER = 1
EXIT_USAGE = 2
EXIT_VOIDS = 3
EXIT_CAP = 4
EXIT_GONE = 5
# EX_SOFTWARE of sysexits.h; 130 is what shells report for SIGINT, 128 + 2.
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_THEIRS = _FULL | {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR),
}
"""Errors of the system about paths that a person can put right."""


class LazyGroup(click.Group):
    """A group that imports a command's module only when it is called."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command that is named, for somebody who types."""
        with commands_typed():
            return super().main(*args, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        return load(name) if name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; for an unknown name say which one was probably meant."""
        name = args[0] if args else ""
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if name in FORMER:
            raise click.UsageError(f"There is no command {name!r} any more; {FORMER[name]}", ctx)
        near = get_close_matches(name, COMMANDS, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise click.UsageError(f"No such command {name!r}.{meant}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(f"{name:{width}}", text) for name, (_, text) in commands.items()]
                )


def load(name: str) -> click.Command:
    """Return the click command called `name`."""
    module = importlib.import_module(f"videoautoarena.runs.cli.{COMMANDS[name][0]}")
    command: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
    return command


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Options, examples and exit codes of a command: arena COMMAND --help",
)
@click.version_option(package_name="videoautoarena", prog_name="arena")
def arena() -> None:
    """Find out which multimodal model understands video best."""


def arena_main() -> None:
    """Run `arena`."""
    _begin()
    # Not standalone, or click would end the process itself, with exit codes of its own.
    sys.exit(guarded(lambda: arena.main(prog_name="arena", standalone_mode=False)))


def simulate_main() -> None:
    """Run `simulate`."""
    _begin()
    sys.exit(guarded(lambda: load("simulate").main(prog_name="simulate", standalone_mode=False)))


def guarded(run: Callable[[], Any]) -> int:
    """Return the exit code of `run`; print what a person can act on as one line.

    Results whose reader went away are no error; those that could not be written are.
    """
    code = _code_of(run)
    lost = lost_results()
    if lost is None:
        return code
    _line(f"standard output cannot be written: {lost.strerror}; free some space or redirect it")
    return code or EXIT_USER


def _code_of(run: Callable[[], Any]) -> int:
    try:
        code = run()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as wrong:
        wrong.show()
        return EXIT_USAGE
    # click raises Abort in place of a KeyboardInterrupt.
    except (KeyboardInterrupt, click.Abort):
        _line("interrupted, and nothing is lost; to continue, repeat the command")
        return EXIT_INTERRUPTED
    # Why they were lost is told by `guarded`, once everything is flushed.
    except ResultsLost:
        return 0
    except WrongArgument as wrong:
        _line(str(wrong))
        return EXIT_USAGE
    except ArenaError as wrong:
        _line(str(wrong))
        return EXIT_USER
    except OSError as wrong:
        return _refused(wrong)
    except Exception:  # noqa: BLE001 - the one place where a bug becomes an exit code
        return _bug()
    return code if isinstance(code, int) else 0


def _refused(wrong: OSError) -> int:
    """Say what the system refused if a person can put it right; else report a bug."""
    # The filename is a number where the system was given a descriptor.
    if isinstance(wrong.filename, str | bytes) and wrong.errno in _THEIRS:
        _line(f"{os.fsdecode(wrong.filename)} cannot be used: {wrong.strerror}")
        return EXIT_USER
    # A write that fails names no file.
    if wrong.errno in _FULL:
        _line(f"a file cannot be written: {wrong.strerror}; free some space and repeat the command")
        return EXIT_USER
    return _bug()


def _bug() -> int:
    import traceback

    from videoautoarena.agents.transport.redaction import trace_without_keys
    from videoautoarena.runs.formats.terminal import safe

    click.echo(safe(trace_without_keys(traceback.format_exc()), lines=True), err=True)
    _line("this is a bug in videoautoarena; please report it with the trace above")
    return EXIT_BUG


def _begin() -> None:
    """Make the streams safe, and let SIGTERM and SIGHUP end a command as Ctrl-C does.

    A command then cleans up behind itself. What nohup or a shell's `&` ignores stays ignored.
    """
    # Modules stay for good; to search them for circles while they load takes a tenth of a start.
    gc.set_threshold(10_000)
    open_streams()
    for number in _ENDING:
        if number == signal.SIGTERM or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)


_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def interrupted_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let `handler` take the signals that end a command, where the command line has set them.

    Another program's handlers stay, and so do all in a thread, where Python allows no change.
    """
    is_main = threading.current_thread() is threading.main_thread()
    asked = _ENDING if is_main else ()
    ours = [number for number in asked if signal.getsignal(number) is _interrupt]
    for number in ours:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, _interrupt)


def _line(text: str) -> None:
    from videoautoarena.runs.formats.terminal import safe

    click.echo(f"arena: {safe(text)}", err=True)
