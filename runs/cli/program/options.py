"""Options that several commands share, so that each has one name, one default and one help text."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import click
from click.core import ParameterSource

from videoautoarena.memory.records.frame_policies import FRAME_POLICIES
from videoautoarena.memory.records.remedies import commands_typed
from videoautoarena.runs.api.jobs import taken as taken
from videoautoarena.runs.formats.terminal import print_result, print_results
from videoautoarena.runs.run.config.setting_texts import SETTINGS

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from videoautoarena.runs.bench.format.reader import OpenBench
    from videoautoarena.runs.console.progress.events import Listeners
    from videoautoarena.runs.views.results.report import Report

Command = TypeVar("Command", bound=Callable[..., Any])
T = TypeVar("T")
CommandMaker: TypeAlias = Callable[[Callable[..., Any]], click.Command]


class Option(Protocol):
    """Adds one or more options to a command."""

    def __call__(self, command: Command, /) -> Command:
        """Return the command with these options."""


class FloatRange(click.FloatRange):
    """A range of numbers, which `nan` is not in: click compares, and no comparison holds of it."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number in the range."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


class ListingGroup(click.Group):
    """A group that lists each command with its whole first sentence, which click would cut."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands as the list of `arena --help` has them."""
        commands = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first(command)) for name, command in commands])

    def member(self, *examples: str, **how: Any) -> CommandMaker:
        """Return a decorator that makes a function a command of the group, as `command` does."""

        def add(function: Callable[..., Any]) -> click.Command:
            made = command(*examples, **how)(function)
            self.add_command(made)
            return made

        return add


class SectionedOption(click.Option):
    """An option that `--help` lists under a title, if its command has several sections."""

    section: str | None = None


class ProviderOption(SectionedOption):
    """An option of models, whose `--help` names the providers; nobody else looks them up."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its text, which the names follow."""
        from videoautoarena.agents.providers.catalogue import provider_names

        record = super().get_help_record(ctx)
        known = f"  Providers: {', '.join(provider_names())}."
        return None if record is None else (record[0], record[1] + known)


class SectionedCommand(click.Command):
    """A command whose `--help` lists options by section, in order of first appearance."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command, where it is called by its own name, for somebody who types."""
        with commands_typed():
            return super().main(*args, **extra)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options below their titles; those without one stand under Options, last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        others = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            title = getattr(param, "section", None)
            if record is not None and title is not None:
                sections.setdefault(title, []).append(record)
            elif record is not None:
                others.append(record)
        for title, records in (*sections.items(), ("Options", others)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def _first(command: click.Command) -> str:
    return " ".join((command.help or "").split("\n\n")[0].split())


def read_cap(text: str) -> float:
    """Return a finite figure above 0; "none", which lifts a cap, is infinity."""
    if text == "none":
        return math.inf
    try:
        # As people write large numbers: 1_000_000 or 1,000,000.
        cap = float(text.replace("_", "").replace(",", ""))
    except ValueError:
        # No comparison holds of it, so that it falls through to the refusal.
        cap = math.nan
    if not 0 < cap < math.inf:
        raise click.BadParameter(f"{text!r} is neither a number above 0 nor 'none'")
    return cap


def read_rule(text: str) -> str:
    """Return a rule that stops a run early, as it was typed."""
    from videoautoarena.memory.records.errors import BadInput
    from videoautoarena.runs.run.config.stopping_rule import FORMS, parse_rule

    try:
        parse_rule(text)
    except BadInput:
        raise click.BadParameter(f"{text!r} is not a rule; give {FORMS}") from None
    return text


def read_share(text: str) -> float | str:
    """Return a share as a float, or "all"."""
    if text == "all":
        return text
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither a share from 0 to 1 nor 'all'") from None


def command(*examples: str, name: str = "", codes: str = "", **how: Any) -> CommandMaker:
    """Return a decorator that makes a function a command, called `name` or like the function.

    The `_command` of a function's name is left out. Its --help ends with examples and exit codes.
    """
    shown = f"Example: {examples[0]}"
    if len(examples) > 1:
        # \b keeps click from filling the lines of the paragraph.
        shown = "\n  ".join(["\b\nExamples:", *examples])
    epilog = f"{shown}\n\n\b\n{codes}" if codes else shown

    def add(function: Callable[..., Any]) -> click.Command:
        make: CommandMaker = click.command(
            name or _name_of(function), cls=SectionedCommand, epilog=epilog, **how
        )
        return make(function)

    return add


def group(example: str, **how: Any) -> Callable[[Callable[..., Any]], ListingGroup]:
    """Return a decorator that makes a function a group of commands."""

    def add(function: Callable[..., Any]) -> ListingGroup:
        name = _name_of(function)
        epilog = f"Example: {example}"
        return click.group(name, cls=ListingGroup, epilog=epilog, **how)(function)

    return add


def _name_of(function: Callable[..., Any]) -> str:
    return function.__name__.removesuffix("_command").strip("_").replace("_", "-")


def together(*options: Option) -> Option:
    """Return one decorator for several `options`, in the order in which --help lists them."""

    def add(command: Command) -> Command:
        # Decorators are applied from the last to the first, and click lists the last applied one
        # first.
        for option in reversed(options):
            command = option(command)
        return command

    return add


def section(title: str, *options: Option) -> Option:
    """Return one decorator for several `options`, which --help lists under a title."""

    def add(command: Command) -> Command:
        given: list[click.Parameter] = getattr(command, "__click_params__", [])
        # click appends to this list: what comes behind is what these options add.
        before = len(given)
        made = together(*options)(command)
        for option in made.__click_params__[before:]:  # type: ignore[attr-defined]
            if isinstance(option, SectionedOption):
                option.section = title
        return made

    return add


def gathered(name: str, make: Callable[..., object], *options: Option) -> Option:
    """Return options that a command gets as one argument `name`: the result of `make`."""

    def add(command: Command) -> Command:
        # `wraps` hands on options that were declared before, which click keeps as an attribute.
        @wraps(command)
        def given(*args: Any, **typed: Any) -> Any:
            # Made when the command runs and not while it is parsed: --help opens no file.
            typed[name] = taken(make, typed)
            return command(*args, **typed)

        return together(*options)(cast("Command", given))

    return add


def _declare(
    declared: str,
    text: str,
    names: tuple[str, ...],
    reads: Callable[[Any], object] | None = None,
    **how: Any,
) -> Option:
    """Return an option from its name and metavar, as --help shows them, and its help text.

    `reads` converts what is typed, or raises BadParameter.
    """
    name, _, metavar = declared.partition(" ")
    # Where nothing is the default, the help text itself says what that means.
    how["show_default"] = how.get("default") not in (None, ())
    if reads is not None:
        # click calls it also for an option that was not typed.
        how["callback"] = lambda _ctx, _param, value: None if value is None else reads(value)
    how.setdefault("cls", SectionedOption)
    return click.option(name, *names, metavar=metavar or None, help=text, **how)


def flag(name: str, text: str, *names: str, **how: Any) -> Option:
    """Return an option without a value; `text` is its help text."""
    return click.option(name, *names, cls=SectionedOption, is_flag=True, help=text, **how)


def json_flag(text: str = "Print one JSON object.") -> Option:
    """Return the option of results as JSON, which is no argument of a command: see `is_json`."""
    return flag("--json", text, "as_json", expose_value=False, callback=_remember)


def is_json() -> bool:
    """Return whether the running command prints JSON."""
    return _remembered("as_json")


def is_quiet() -> bool:
    """Return whether the running command shows no progress."""
    return _remembered("is_quiet")


def _remember(context: click.Context, option: click.Parameter, value: object) -> None:
    # With click's context, so that whatever prints need not be handed the flag.
    context.meta[f"{__name__}.{option.name}"] = value


def _remembered(name: str) -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(f"{__name__}.{name}"))


def switch(name: str, text: str) -> Option:
    """Return an option `--this/--no-this`, which is None if neither is typed."""
    return click.option(name, cls=SectionedOption, default=None, help=text)


def string(declared: str, text: str, *names: str, **how: Any) -> Option:
    """Return an option that takes any text, or a value of the type in `how`."""
    return _declare(declared, text, names, **how)


def path(declared: str, text: str, *names: str, **how: Any) -> Option:
    """Return an option that takes a file or a folder, which need not exist."""
    return _declare(declared, text, names, type=PATH, **how)


def listed(
    declared: str,
    text: str,
    *names: str,
    reads: Callable[[tuple[str, ...]], object] = tuple,
    **how: Any,
) -> Option:
    """Return an option that takes names separated by commas, and may be repeated."""

    def read(typed: tuple[str, ...]) -> object:
        # Joined first, since the option may be repeated and each value may hold several names.
        return reads(tuple(name.strip() for name in ",".join(typed).split(",") if name.strip()))

    return _declare(declared, text, names, read, multiple=True, **how)


def whole(
    declared: str,
    text: str,
    *names: str,
    least: int | None = None,
    most: int | None = None,
    default: int | None = None,
) -> Option:
    """Return an option that takes a whole number."""
    is_bound = least is not None or most is not None
    kind = click.IntRange(least, most) if is_bound else click.INT
    return _declare(declared, text, names, type=kind, default=default)


def figure(name: str, default: float, text: str) -> Option:
    """Return an option that takes a number, of the type of its default, which --help shows."""
    return _declare(name, text, (), type=type(default), default=default)


def choice(
    name: str, choices: Sequence[str], text: str, *names: str, is_open: bool = False, **how: Any
) -> Option:
    """Return an option that takes one of some words, by default the first, or None if `is_open`."""
    default = None if is_open else choices[0]
    return _declare(name, text, names, type=click.Choice(choices), default=default, **how)


def fields_of(record: type, *, only: Sequence[str] = (), leave: Sequence[str] = ()) -> Option:
    """Return an option for each field of a dataclass, whose type and help text are `Annotated`."""
    hints = get_type_hints(record, include_extras=True)
    defaults = {field.name: field.default for field in fields(record)}
    names = [name for name in only or hints if name not in leave]
    return together(*(_of_field(name, defaults[name], *get_args(hints[name])) for name in names))


def _of_field(field: str, default: Any, kind: Any, text: str, metavar: str = "") -> Option:
    name = f"--{field.replace('_', '-')}"
    if kind is bool:
        return flag(name, text)
    if kind is int:
        return whole(name, text, default=default)
    if get_origin(kind) is Literal:
        return choice(name, get_args(kind), text)
    if words := next((one for one in get_args(kind) if get_origin(one) is Literal), None):
        is_list = get_origin(kind) is tuple
        return choice(name, get_args(words), text, is_open=True, multiple=is_list)
    return string(f"{name} {metavar}", text)


def _open_bench(bench: Path) -> OpenBench:
    from videoautoarena.runs.bench.format.reader import open_bench

    return open_bench(bench)


# Not checked here: whoever opens a path says in its own words what to pass.
PATH = click.Path(path_type=Path)
OUT = click.argument("out", type=PATH)
BENCH = click.argument("bench", type=PATH)
OPENED_BENCH = gathered("bench", _open_bench, BENCH)
"""The argument of a bench or a set, which a command gets opened."""
FILE = click.argument("file", type=PATH)
FOLDER = click.argument("folder", type=PATH)


def opened_bench(text: str) -> Option:
    """Return the option of a bench, which a command gets opened."""
    return gathered("bench", _open_bench, path("--bench", text, required=True))


TO_FOLDER = path("--to", "Folder to create.", required=True)
AS_JSON = json_flag()
OVERWRITE = flag("--force", "Overwrite an existing file.")
PORT = whole("--port N", "Port.  [default: a free one]", least=1, most=65535)
OPEN = flag("--open", "Open the page in the default browser.", "opens")
PLAN = flag("--plan", "Estimate calls and cost; send nothing.")
NO_PROGRESS = flag(
    "--quiet", "Show no progress.", "-q", "is_quiet", expose_value=False, callback=_remember
)
FSYNC = flag("--fsync", SETTINGS["fsync"])
THUMBNAILS = whole(
    "--frames N",
    "With inspect: number of frame thumbnails in each sample.",
    least=0,
    most=64,
    default=0,
)


def _to_collector(context: click.Context, _param: click.Parameter, url: str | None) -> None:
    if url is not None:
        from videoautoarena.runs.console.progress.otlp import collector_at

        context.with_resource(collector_at(url))


OTLP = string(
    "--otlp URL",
    "Send spans of calls and battles to the OpenTelemetry collector at URL, such as "
    "http://localhost:4318 (needs the extra `otel`).  [default: OTEL_EXPORTER_OTLP_ENDPOINT]",
    expose_value=False,
    callback=_to_collector,
)
CONCURRENCY = whole(
    "--concurrency", "Maximum number of concurrent model calls.", least=1, default=16
)


def _patience(*names: str, **how: Any) -> Option:
    return string(
        "--patience MINUTES",
        SETTINGS["patience"],
        *names,
        type=FloatRange(min=0, max=1e6),
        **how,
    )


def _seconds(_ctx: click.Context, _param: click.Parameter, minutes: float | None) -> float:
    from videoautoarena.agents.limits.outages import PATIENCE_S

    return PATIENCE_S if minutes is None else 60 * minutes


PATIENCE = _patience("patience_s", callback=_seconds)
PATIENCE_AS_TYPED = _patience()
"""The option in minutes as typed; None leaves it to arena.toml."""
UNTIL = string(
    "--until separated|ci=POINTS|battles=N|rounds",
    SETTINGS["until"],
    reads=read_rule,
)


def config_option(holds: str) -> Option:
    """Return the option of a configuration file; `holds` says what a command reads from it."""
    return path("--config", f"Configuration file{holds}.  [default: ./arena.toml if it exists]")


WHOLE_CONFIG = path("--config", SETTINGS["config"])


def max_void(whose: str) -> Option:
    """Return the option of the accepted share of voids among the slots that `whose` names."""
    return string(
        "--max-void",
        f"Exit with code 3 if a larger share of {whose} is void.",
        type=FloatRange(0, 1),
        default=0.05,
    )


def seed(text: str = "Random seed.") -> Option:
    """Return the option of a seed, by default 0."""
    return whole("--seed", text, least=0, default=0)


TRUST = string(
    "--trust-run DIGEST",
    SETTINGS["trust"],
    "trust",
)
MOVED = path("--videos", "Folder of the videos, if they have moved.")
CAPS = together(
    string(
        "--max-usd X|none",
        SETTINGS["max_usd"],
        reads=read_cap,
    ),
    string(
        "--max-tokens N|none",
        SETTINGS["max_tokens"],
        reads=read_cap,
    ),
)


LEAVE = together(
    flag("--allow-offline-judge", "Allow the offline judge to judge answers of real models."),
    flag(
        "--allow-blind-referee",
        "Allow a judge that is sent no frames (max_frames = 0); what it judges is marked.",
    ),
)
"""What a judge is allowed to do."""


BATCH = flag(
    "--batch",
    "Hand calls over in batches: half the price, answers within a day. An interrupt leaves them "
    "at the provider; the same command reads them.",
)


def paid(retry: str, *beside: Option, plan: Option = PLAN) -> Option:
    """Return the options of every job that pays for calls: pace, repeating, a plan and caps."""
    again = flag("--retry-failed", retry)
    return together(CONCURRENCY, PATIENCE, again, BATCH, *beside, plan, NO_PROGRESS, OTLP, CAPS)


OF_CALLS = frozenset(
    {
        "config",
        "concurrency",
        "patience_s",
        "retry_failed",
        "batch",
        "is_quiet",
        "otlp",
        "max_usd",
        "max_tokens",
    }
)
"""Names of parameters that matter only if models are called."""


def making(examiner: str, at_most: str, plan: str) -> Option:
    """Return the options of making a set from videos, with the help texts of three of them."""
    return together(
        string("--examiner M", f"{examiner}.  [default: arena.toml, else the offline one]"),
        config_option(" that declares the examiner"),
        figure("--seed", 0, "Seed of all draws."),
        flag("--at-most", at_most),
        string("--licence", "Licence of the set, for its card."),
        paid("Repeat the examiner's failed calls.", plan=flag("--plan", plan)),
        AS_JSON,
    )


FREEZE = path("--freeze", SETTINGS["freeze"])
CARE = together(
    flag("--retry-failed", SETTINGS["retry_failed"]),
    FSYNC,
)


@dataclass(frozen=True)
class Display:
    """Options of how a run is shown."""

    quiet: bool
    plain: bool
    trace: str | None

    def audience(self) -> AbstractContextManager[Listeners]:
        """Return a context that yields the listeners of a run."""
        # Loaded once a run is played: with it comes what decodes videos, which takes a second.
        from videoautoarena.runs.console.progress.listeners import audience

        return audience(quiet=self.quiet, plain=self.plain, trace=self.trace)


DISPLAY = gathered(
    "display",
    Display,
    flag("--plain", "Print lines instead of the live console."),
    string(
        "--trace [FILE]",
        "Print each battle in full when it ends. With FILE, write all events there as JSON "
        "lines instead.",
        # With flag_value, this lets click take the option with and without a value.
        is_flag=False,
        flag_value="-",
    ),
    flag("--quiet", "No live console and no line per battle.", "-q"),
    OTLP,
)
SAMPLING = together(
    choice(
        "--policy",
        list(FRAME_POLICIES),
        SETTINGS["policy"],
        is_open=True,
    ),
    string("--fps", SETTINGS["fps"], type=float),
    whole("--frames", SETTINGS["frames"]),
    choice(
        "--fit",
        ["keep", "stretch", "pad"],
        SETTINGS["fit"],
        is_open=True,
    ),
    whole("--size", SETTINGS["size_px"], "size_px"),
    whole("--quality", SETTINGS["quality"]),
    choice("--decoder", ["av", "decord"], SETTINGS["decoder"], is_open=True),
)


def _form(form: str | None, as_json: bool) -> str:
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} contradict each other; give one")
    return "json" if as_json else form or "table"


def table_form(*beside: Option) -> Option:
    """Return the options of how tables are printed, which a command gets as `form`."""
    words = ["table", "markdown", "latex", "csv", "json"]
    return gathered(
        "form",
        _form,
        choice("--format", words, "Output format.  [default: table]", "form", is_open=True),
        *beside,
        flag("--json", "Same as --format json.", "as_json"),
    )


def refuse_typed(why: str, is_idle: Callable[[str], bool]) -> None:
    """Raise WrongArgument for a typed option whose parameter `is_idle`; `why` says why."""
    from videoautoarena.memory.records.errors import WrongArgument

    context = click.get_current_context()
    for param in context.command.params:
        # By the source and not by the value, so that a default that was typed is refused, too.
        name = param.name or ""
        is_typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_typed and is_idle(name):
            raise WrongArgument(f"{param.opts[0]} {why}")


def span(name: str, text: str, bounds: tuple[int, int]) -> tuple[int, int]:
    """Return the ends of `FROM-TO`, or of one number; WrongArgument if they are out of bounds."""
    from videoautoarena.memory.records.errors import WrongArgument

    fewest, most = bounds
    low, dash, high = text.partition("-")
    ends = [
        # More than three digits are out of all bounds, and thousands of them raise an error in
        # int().
        int(end) if end.isascii() and end.isdecimal() and len(end) < 4 else 0
        for end in (low, high if dash else low)
    ]
    if not fewest <= ends[0] <= ends[1] <= most:
        part = f"{fewest}-{most}, or a part of it like {fewest}-{fewest + 1}"
        raise WrongArgument(f"{name} is {text!r}; give {part}")
    return ends[0], ends[1]


def read_whole(text: str, *, least: int, most: int) -> int | None:
    """Return the whole number within bounds that a text writes, zeros before it or not; or None."""
    if not text.isascii() or not text.isdecimal():
        return None
    digits = text.lstrip("0") or "0"
    # More digits than `most` has are out of bounds, and thousands of them raise an error in int().
    number = int(digits) if len(digits) <= len(str(most)) else most + 1
    return number if least <= number <= most else None


class CommandResult(Protocol):
    """The result of a command, for programs and for people."""

    def as_json(self) -> dict[str, Any]:
        """Return it as one JSON object."""

    def as_lines(self) -> Iterable[str]:
        """Return it as lines for a person."""


def print_found(found: CommandResult) -> None:
    """Print a result as indented JSON, or as lines broken to the terminal's width."""
    print_report(found.as_json(), found.as_lines())


def print_report(report: object, lines: Iterable[str]) -> None:
    """Print a report as indented JSON, or as lines broken to the width of the terminal."""
    if is_json():
        print_json(report)
    else:
        print_results(lines)


def print_line(report: Mapping[str, object], line: str) -> None:
    """Print a report as one line of JSON, or a line of words unbroken."""
    from videoautoarena.memory.records.records import SCHEMA

    print_result(json.dumps({"schema": SCHEMA, **report}) if is_json() else line)


def print_text(report: object, text: Callable[[], str]) -> None:
    """Print a report as indented JSON, or as a text whose lines are not broken."""
    if is_json():
        print_json(report)
    else:
        print_result(text())


def print_whole(report: object, render: Callable[[], RenderableType]) -> None:
    """Print a report as indented JSON, or rendered, without broken lines in a pipe."""
    from videoautoarena.runs.formats.terminal import whole_lines

    if is_json():
        print_json(report)
    else:
        whole_lines().print(render())


def print_viewed(
    found: object, report: Callable[[], Report], form: str = "table", *, notes: bool = False
) -> None:
    """Print a result as indented JSON, or its report on the terminal or in another form."""
    if is_json() or form == "json":
        print_json(found)
    else:
        print_view(report(), form, notes=notes)


def print_json(report: object) -> None:
    """Print a report as indented JSON."""
    print_result(json.dumps(report, indent=2))


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
    from videoautoarena.runs.views.results.forms import ReportView, marked_up

    if form == "table":
        results().print(ReportView(report, notes=notes, details=details))
    else:
        print_result(marked_up(report, form, notes=notes, details=details))


def print_rendered(view: RenderableType) -> None:
    """Print what rich renders: in colours on a terminal, else as plain lines."""
    from videoautoarena.runs.formats.terminal import rendered

    console = results()
    if console.is_terminal:
        console.print(view)
    else:
        print_result("\n".join(rendered(view, console.width)))


PIPED = 80
"""Columns of a table without a terminal."""


def results() -> Console:
    """Return the console of results; a pipe is PIPED columns wide unless `COLUMNS` is set."""
    import os

    from videoautoarena.runs.formats.terminal import out

    console = out()
    # In a pipe rich takes the width of whatever terminal stdin or stderr is.
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPED
    return console
