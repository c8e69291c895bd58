"""Options that several commands share, so that each has one name, one default and one help text."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from videoautoarena.runs.text.terminal import print_result, print_results

# Generic since click 8.4 only, and a subscript would end the older ones.
if TYPE_CHECKING:
    from rich.console import Console

    from videoautoarena.agents.limits.budget import Caps
    from videoautoarena.runs.console.listeners import Display
    from videoautoarena.runs.views.report import Report

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType

Command = TypeVar("Command", bound=Callable[..., Any])


class ListingGroup(click.Group):
    """A group that lists each command with its whole first sentence; click cuts them short."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands as the list of `arena --help` has them."""
        commands = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first(command)) for name, command in commands])


def _first(command: click.Command) -> str:
    return " ".join((command.help or "").split("\n\n")[0].split())


class Cap(ParamType):
    """A figure above 0, or "none", which lifts a cap and comes back as infinity."""

    name = "number|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the figure."""
        if value == "none":
            return math.inf
        try:
            cap = float(str(value).replace("_", "").replace(",", ""))
        except ValueError:
            cap = math.nan
        if not cap > 0:
            self.fail(f"{value!r} is neither a number above 0 nor 'none'", param, ctx)
        return cap


class Until(ParamType):
    """A rule that stops a run early, as it was typed."""

    name = "rule"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text, if it names a rule."""
        from videoautoarena.memory.records.errors import BadInput
        from videoautoarena.runs.config.stopping_rule import FORMS, parse_rule

        try:
            parse_rule(value)
        except BadInput:
            self.fail(f"{value!r} is not a rule; give {FORMS}", param, ctx)
        return value


class Swap(ParamType):
    """A share from 0 to 1, or the word "all"."""

    name = "share|all"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the share as a float, or "all"."""
        if value == "all" or isinstance(value, float):
            return value
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a share from 0 to 1 nor 'all'", param, ctx)


def names(_ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in lists with commas, however often the option was given."""
    return tuple(name.strip() for name in ",".join(value).split(",") if name.strip())


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return what gives a command all of `options`, in the order in which --help lists them."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def flag(name: str, text: str, *aliases: str) -> Callable[[Command], Command]:
    """Return an option without a value; `text` is what --help says of it."""
    return click.option(name, *aliases, is_flag=True, help=text)


def figure(name: str, default: float, text: str) -> Callable[[Command], Command]:
    """Return an option that takes a number, whole where its default is; --help shows the latter."""
    return click.option(name, type=type(default), default=default, show_default=True, help=text)


def choice(
    name: str, choices: Sequence[str], text: str, *aliases: str
) -> Callable[[Command], Command]:
    """Return an option that takes one of some words, by default the first, which --help shows."""
    return click.option(
        name,
        *aliases,
        type=click.Choice(choices),
        default=choices[0],
        show_default=True,
        help=text,
    )


PATH = click.Path(path_type=Path)
OUT = click.argument("out", type=PATH)
BENCH = click.argument("bench", type=PATH)
AS_JSON = flag("--json", "Print one JSON object.", "as_json")
STATE_AS_JSON = flag("--json", "Print the state of the run as JSON.", "as_json")
OVERWRITE = flag("--force", "Overwrite an existing file.")
PORT = click.option(
    "--port", type=click.IntRange(1, 65535), metavar="N", help="Port.  [default: a free one]"
)
OPEN = flag("--open", "Open the page in the default browser.", "opens")
PLAN = flag("--plan", "Estimate calls and cost; send nothing.")
NO_PROGRESS = flag("--quiet", "Show no progress.", "-q")
FSYNC = flag("--fsync", "Flush every commit to disk, so that it survives a power failure; slower.")
OFFLINE_JUDGE = flag(
    "--allow-offline-judge", "Allow the offline judge to judge answers of real models."
)
BLIND_REFEREE = flag(
    "--allow-blind-referee",
    "Allow a judge that is sent no frames (max_frames = 0); what it judges is marked.",
)
THUMBNAILS = click.option(
    "--frames",
    type=click.IntRange(0, 64),
    default=0,
    show_default=True,
    metavar="N",
    help="With inspect: number of frame thumbnails in each sample.",
)
CONCURRENCY = click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    default=16,
    show_default=True,
    help="Maximum number of concurrent model calls.",
)
PATIENCE = click.option(
    "--patience",
    type=click.FloatRange(min=0, max=1e6),
    metavar="MINUTES",
    help="Minutes to wait for a server that has become unreachable; at most half a minute for "
    "one that never answered.  [default: 15]",
)
UNTIL = click.option(
    "--until",
    type=Until(),
    metavar="separated|ci=POINTS|battles=N|rounds",
    help="Stop early: when all models are separated, when confidence intervals average POINTS "
    "wide, or after N decided battles. Stays in force until changed; 'rounds' removes it.",
)


def config_option(holds: str) -> Callable[[Command], Command]:
    """Return the option of a configuration file, by what a command reads from it."""
    text = f"Configuration file{holds}.  [default: ./arena.toml if it exists]"
    return click.option("--config", type=PATH, help=text)


WHOLE_CONFIG = config_option(": models, roles and settings")


def max_void(whose: str) -> Callable[[Command], Command]:
    """Return the option of how many voids are accepted, by whose slots they are a share of."""
    return click.option(
        "--max-void",
        type=click.FloatRange(0, 1),
        default=0.05,
        show_default=True,
        help=f"Exit with code 3 if a larger share of {whose} is void.",
    )


TRUST = click.option(
    "--trust-run",
    "trust",
    metavar="DIGEST",
    help="Agree to where a run that was begun elsewhere leads. The refusal lists it, with its "
    "DIGEST.",
)
MOVED = click.option("--videos", type=PATH, help="Folder of the videos, if they have moved.")
CONTINUING = together(
    MOVED,
    TRUST,
    CONCURRENCY,
    PATIENCE,
)
CAPS = together(
    click.option(
        "--max-usd",
        type=Cap(),
        metavar="X|none",
        help="Stop before the whole run costs more than X dollars. Stays in force until changed.",
    ),
    click.option(
        "--max-tokens",
        type=Cap(),
        metavar="N|none",
        help="Stop before the whole run uses more than N tokens, input and output. Stays in "
        "force until changed.",
    ),
)
CARE = together(
    flag("--retry-failed", "Play battles again that ended void or forfeit because a call failed."),
    FSYNC,
)
DISPLAY = together(
    flag("--plain", "Print lines instead of the live console."),
    click.option(
        "--trace",
        is_flag=False,
        flag_value="-",
        metavar="[FILE]",
        help="Print each battle in full when it ends. With FILE, write all events there as JSON "
        "lines instead.",
    ),
    flag("--quiet", "No live console and no line per battle.", "-q"),
)
POLICIES = ("uniform", "fps", "scenes", "keyframes")
SAMPLING = together(
    click.option(
        "--policy",
        type=click.Choice(POLICIES),
        help="How frames are sampled from a video.  [default: uniform]",
    ),
    click.option("--fps", type=float, help="Frames per second, with --policy fps.  [default: 1]"),
    click.option("--frames", type=int, help="Maximum number of frames per video.  [default: 128]"),
    click.option(
        "--fit",
        type=click.Choice(["keep", "stretch", "pad"]),
        help="Keep the aspect ratio, stretch to a square, or pad to a square.  [default: keep]",
    ),
    click.option(
        "--size", "size_px", type=int, help="Longer side of a frame, in pixels.  [default: 512]"
    ),
    click.option("--quality", type=int, help="JPEG quality, 1 to 95.  [default: 85]"),
    click.option(
        "--decoder", type=click.Choice(["av", "decord"]), help="Video decoder.  [default: av]"
    ),
)


def take_display(typed: dict[str, Any]) -> Display:
    """Return what `DISPLAY` ask for, and take it out of what was typed."""
    from videoautoarena.runs.console.listeners import Display

    return Display(**{name: typed.pop(name) for name in ("quiet", "plain", "trace")})


def caps_of(typed: dict[str, Any]) -> Caps:
    """Return what `CAPS` ask for."""
    from videoautoarena.agents.limits.budget import Caps

    return Caps(typed["max_usd"], typed["max_tokens"])


def patience_s(typed: dict[str, Any]) -> float:
    """Return for how many seconds a server is waited for, as typed or by default."""
    from videoautoarena.agents.limits.outages import PATIENCE_S

    minutes = typed["patience"]
    return PATIENCE_S if minutes is None else 60 * minutes


def chosen_form(form: str | None, *, as_json: bool) -> str:
    """Return the form that --format and --json ask for together."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} contradict each other; give one")
    return "json" if as_json else form or "table"


def print_report(report: object, lines: Iterable[str], *, as_json: bool) -> None:
    """Print a report as indented JSON, or as lines broken to the width of the terminal."""
    if as_json:
        print_result(json.dumps(report, indent=2))
    else:
        print_results(lines)


def print_views(reports: Iterable[Report]) -> None:
    """Print reports on the terminal, one below another."""
    for place, report in enumerate(reports):
        if place:
            print_result("")
        print_view(report)


def print_view(
    report: Report, form: str = "table", *, notes: bool = False, details: bool = False
) -> None:
    """Print a report on the terminal, or as `markdown`, `latex`, `html` or `csv`."""
    from videoautoarena.runs.views.forms import ReportView, marked_up

    if form == "table":
        results().print(ReportView(report, notes=notes, details=details))
    else:
        print_result(marked_up(report, form, notes=notes, details=details))


PIPED = 80
"""Columns of a table where no terminal says how many there are."""


def results() -> Console:
    """Return the console of results; a pipe that says nothing of its width is PIPED wide."""
    import os

    from videoautoarena.runs.text.terminal import out

    console = out()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPED
    return console
