"""What the documents repeat, taken from where it is said first: `python docs/generate.py WHAT`.

`commands` writes the index in commands.md, and in commands/ the tables of options as `--help` has
them and those of the paper's preset; `rooms` the map of the rooms in design.md from the import
contracts, `graph` the drawings in graph.md, `calls` the paid ones in python.md, `fields` the
tables of records.md from the classes that declare the fields, `providers` the table in
extending.md, `schemas` the JSON Schemas; `pictures OUT` plays the demo into OUT, a new folder, and
draws console and leaderboard as SVG. Without a word it does all but the pictures. Tests hold the
pages against the same functions.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from inspect import signature
from itertools import chain, pairwise
from pathlib import Path
from types import ModuleType, NoneType
from typing import Any, get_args, get_type_hints
from urllib.parse import urlsplit

import click
from langgraph.graph.state import CompiledStateGraph
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from rich.console import Console, Group
from rich.terminal_theme import MONOKAI
from rich.text import Text

import videoautoarena as va
from videoautoarena.agents.providers.base import LEAST_CACHED, Provider
from videoautoarena.agents.providers.catalogue import BUILT_IN
from videoautoarena.agents.providers.declared import Declaration
from videoautoarena.graph.dialogue import dialogue
from videoautoarena.memory.records.records import CallLimits, Price
from videoautoarena.runs.analysis.leaderboard.board import board_of
from videoautoarena.runs.api.jobs import PaidCall
from videoautoarena.runs.api.simulate import arena, simulate
from videoautoarena.runs.bench.format.schema import write_schemas
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.cli.program.main import COMMANDS, SECTIONS, load
from videoautoarena.runs.console.progress.events import RunBegun, RunEvent
from videoautoarena.runs.console.progress.screen import LiveBoard, ScreenSize, picture
from videoautoarena.runs.console.progress.snapshot import RunSnapshot
from videoautoarena.runs.exchange.training.rows import rows_schema
from videoautoarena.runs.formats.terminal_text import UNICODE
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.run.battles.export import DIALECT, records_schema
from videoautoarena.runs.run.config.arena_file import (
    ArenaFile,
    ModelTable,
    RetrievalTable,
    RolesTable,
    RunTable,
    SamplingTable,
)
from videoautoarena.runs.run.config.first_file import SCHEMA_FILE
from videoautoarena.runs.run.config.preset import LEFT, TURNED
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.views.results.forms import ReportView
from videoautoarena.runs.views.results.leaderboard import leaderboard_report
from videoautoarena.video.synth.samples import make_samples

DOCS = Path(__file__).parent
ROOT = DOCS.parent
WIDTH = 94
WIDE = 116
HIGH = 34
CLIPS = Path("arena-samples")
SHOWN_AS = Path("arena-out/demo")
FIRST = "<!-- generated: {} -->\n"
LAST = "<!-- end -->"
GROUPS = {
    "Begin": "start",
    "Play a tournament": "tournament",
    "See who won, and why": "results",
    "Find out how far to trust it": "trust",
    "Make and run test sets": "sets",
    "Look at videos": "videos",
}
"""Of each section of `arena --help` the page in docs/commands/ on its commands."""
FIELDS = re.compile(rf"(<!-- fields: ([\w.,: ]+) -->\n).*?{LAST}", re.DOTALL)


def every_command() -> dict[str, click.Command]:
    """Return all commands by the words that call them."""
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = load(name)
        words = name if name == "simulate" else f"arena {name}"
        subcommands = dict(command.commands) if isinstance(command, click.Group) else {"": command}
        if isinstance(command, click.Group) and command.invoke_without_command:
            subcommands[""] = command
        found |= {f"{words} {sub}".strip(): inner for sub, inner in subcommands.items()}
    return found


def page_of(words: str) -> Path:
    """Return the page on the command that these words call."""
    name = words.removeprefix("arena ").split()[0]
    (title,) = [title for title, commands in SECTIONS.items() if name in commands]
    return DOCS / "commands" / f"{GROUPS[title]}.md"


def heading(words: str, command: click.Command) -> str:
    """Return what stands above the section on a command: what to type, arguments in capitals."""
    named = [(each.name or "").upper() for each in command.params if _is_argument(each)]
    return f"`{' '.join([words, *named])}`"


def _is_argument(param: click.Parameter) -> bool:
    return isinstance(param, click.Argument)


def anchor(heading: str) -> str:
    """Return how a link leads to a heading, as GitHub has it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def index() -> str:
    """Return a table of the commands for each section, every command with a line and its page."""
    lines: list[str] = []
    commands = every_command()
    for title, group in GROUPS.items():
        page = f"commands/{group}.md"
        lines += [f"### [{title}]({page})", "", "| command | what it does |", "|---|---|"]
        for words, command in commands.items():
            if page_of(words).stem == group:
                place = f"{page}#{anchor(heading(words, command))}"
                lines.append(f"| [`{words}`]({place}) | {_in_a_line(words, command)} |")
        lines.append("")
    return "\n".join(lines)


def _in_a_line(words: str, command: click.Command) -> str:
    name = words.removeprefix("arena ")
    return COMMANDS[name][1] if name in COMMANDS else command.get_short_help_str(limit=200)


def options(command: click.Command) -> str:
    """Return the options of a command as a Markdown table, in the words of its `--help`."""
    rows = ["| option | meaning | default |", "|---|---|---|"]
    context = click.Context(command)
    for option in command.params:
        if isinstance(option, click.Option):
            rows.append(_row(option, context))
    return "\n".join(rows) + "\n" if rows[2:] else ""


def _row(option: click.Option, context: click.Context) -> str:
    flags = ", ".join(f"`{flag}`" for flag in (*option.opts, *option.secondary_opts))
    meaning, _, said = (option.help or "").partition("[default: ")
    default = said.rstrip("]") or option.get_help_extra(context).get("default", "")
    meaning = meaning.strip().rstrip(".")
    if isinstance(option.type, click.Choice):
        meaning += ": " + ", ".join(f"`{choice}`" for choice in option.type.choices)
    return f"| {flags} | {meaning} | {'required' if option.required else default} |"


def rooms() -> str:
    """Return the rooms of every package in their order of imports, and what each owns."""
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = {c["containers"][0]: c["layers"] for c in tables["contracts"] if "containers" in c}
    lines = ["| floor | room | owns |", "|---|---|---|"]
    lines += _rooms_in("videoautoarena", layers)
    return "\n".join(lines) + "\n"


def _rooms_in(container: str, layers: dict[str, list[str]], under: str = "") -> Iterator[str]:
    for number, floor in enumerate(layers[container], 1):
        for room in re.split(r" [|:] ", floor):
            inside = f"{container}.{room}"
            path = inside.split(".", 1)[1].replace(".", "/")
            yield f"| {under}{number} | `{path}/` | {first_line(ROOT / path)} |"
            if inside in layers:
                yield from _rooms_in(inside, layers, f"{under}{number}.")


def first_line(room: Path) -> str:
    """Return what a room says of itself, in a line."""
    words = ast.get_docstring(ast.parse((room / "__init__.py").read_text())) or ""
    return words.splitlines()[0].rstrip(".")


def drawing(graph: CompiledStateGraph[Any, Any, Any, Any]) -> str:
    """Return a graph, those within it opened, as a Mermaid block."""
    mermaid = graph.get_graph(xray=True).draw_mermaid()
    return f"```mermaid\n{mermaid.strip().expandtabs(4)}\n```\n"


def fields_table(names: str) -> str:
    """Return what the fields of classes mean as a Markdown table, in the order of declaration.

    Args:
        names: `module:Class`, the module from the package on; several with spaces between them.
            `schema` is the row of what `record_json` adds to the fields; `module:Class.name,name`
            are some fields or properties alone.

    Raises:
        ValueError: a field has no docstring.
    """
    rows = ["| field | what it holds |", "|---|---|"]
    for name in names.split():
        if name == "schema":
            rows.append("| `schema` | 1 |")
            continue
        module, _, called = name.partition(":")
        called, _, alone = called.partition(".")
        declared = getattr(importlib.import_module(f"videoautoarena.{module}"), called)
        said = _docstrings(declared) if alone else meanings(declared)
        known = {name: said[name] for name in alone.split(",")} if alone else said
        for field, meaning in known.items():
            words = re.sub(r"\bNone\b", "null", meaning.removesuffix(".")).replace("|", "\\|")
            rows.append(f"| `{field}` | {words} |")
    return "\n".join(rows) + "\n"


def meanings(declared: type) -> dict[str, str]:
    """Return the docstring of every field of a class by the name that its JSON has for it.

    Pydantic models, dataclasses, NamedTuples and TypedDicts; what a class does not say itself is
    taken from the class that it inherits the field from. Of a class with `SHOWN` those, of a field
    that is spread the fields of its class.

    Raises:
        ValueError: a field has no docstring.
    """
    said: dict[str, str] = {}
    for origin in _lineage(declared):
        said = _docstrings(origin) | said
    # Fields that a class is given by a table have their meaning with them.
    for name, field in getattr(declared, "model_fields", {}).items():
        if field.description:
            said.setdefault(name, field.description)
    found: dict[str, str] = {}
    for name, printed in _names(declared).items():
        if _metadata(declared, name).get("json") == "spread":
            found |= meanings(_spread(declared, name))
            continue
        if name not in said:
            raise ValueError(f"{declared.__name__}.{name} has no docstring; say what it holds")
        found[printed] = said[name]
    return found


def _names(declared: Any) -> dict[str, str]:
    """Return the fields of a class, and what each is called in JSON."""
    if issubclass(declared, BaseModel):
        shown = {name: field for name, field in declared.model_fields.items() if not field.exclude}
        return {name: field.serialization_alias or name for name, field in shown.items()}
    known = [field.name for field in fields(declared)] if is_dataclass(declared) else None
    names = getattr(declared, "SHOWN", known) or getattr(declared, "_fields", None)
    return {
        name: _metadata(declared, name).get("key", name)
        for name in names or declared.__annotations__
    }


def _metadata(declared: Any, name: str) -> Mapping[str, str]:
    known = getattr(declared, "__dataclass_fields__", {})
    return known[name].metadata if name in known else {}


def _spread(declared: Any, name: str) -> type:
    """Return the class of a field whose own fields stand in its place."""
    hint = get_type_hints(declared)[name]
    found: type = next(one for one in (*get_args(hint), hint) if one is not NoneType)
    return found


def _lineage(declared: Any) -> list[type]:
    """Return a class and all that it inherits fields from, the nearest first."""
    if not issubclass(declared, dict):
        return [one for one in declared.__mro__ if inspect.get_annotations(one)]
    # A TypedDict forgets what it was made of; its source does not.
    known = vars(sys.modules[declared.__module__])
    named = [known[base.id] for base in _source(declared).bases if isinstance(base, ast.Name)]
    above = [_lineage(base) for base in named if isinstance(base, type)]
    return [declared, *chain.from_iterable(above)]


def _docstrings(declared: type) -> dict[str, str]:
    """Return what stands below the fields of a class, and in its properties, each in one line."""
    found = {}
    body = _source(declared).body
    for node, after in pairwise([*body, None]):
        match node, after:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(value=ast.Constant(str(text))):
                found[name] = " ".join(text.split())
            case ast.FunctionDef(name), _ if said := ast.get_docstring(node):
                found[name] = " ".join(said.split())
    return found


def _source(declared: type) -> ast.ClassDef:
    """Return a class as it is written down."""
    found: ast.Module | ast.ClassDef = _parsed(sys.modules[declared.__module__])
    for part in declared.__qualname__.split("."):
        classes = (node for node in found.body if isinstance(node, ast.ClassDef))
        found = next(node for node in classes if node.name == part)
    assert isinstance(found, ast.ClassDef)
    return found


@cache
def _parsed(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def records_page(page: str) -> str:
    """Return the page of records with every table of fields as the classes have it now."""
    return FIELDS.sub(lambda found: f"{found[1]}{fields_table(found[2])}{LAST}", page)


TABLES: tuple[type[BaseModel], ...] = (
    ArenaFile, ModelTable, RetrievalTable, CallLimits, Price, Declaration, RolesTable, RunTable,
    SamplingTable,
)  # fmt: skip
"""What arena.toml is made of."""
_LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")


class TomlSchema(GenerateJsonSchema):
    """A JSON Schema of what stands in a TOML file, which has no null: a key is left out."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Return the schema of what it is where it is there."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Return the schema with the default where that is a value one may write."""
        found = super().default_schema(schema)
        is_written = isinstance(found.get("default"), bool | int | float | str)
        return {key: value for key, value in found.items() if is_written or key != "default"}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        """Return that a key needs no other name."""
        return False


def arena_schema() -> dict[str, Any]:
    """Return the JSON Schema of arena.toml, with what each key means, for editors."""
    schema = ArenaFile.model_json_schema(schema_generator=TomlSchema)
    parts = {ArenaFile.__name__: schema, **schema["$defs"]}
    for table in TABLES:
        for key, meaning in meanings(table).items():
            words = _LINK.sub(r"\1", meaning)
            parts[table.__name__]["properties"][key]["description"] = words
    # JSON knows no infinity; editors read that of TOML as null.
    for key in ("max_usd", "max_tokens"):
        cap = parts[RunTable.__name__]["properties"][key]
        words = cap.pop("description")
        parts[RunTable.__name__]["properties"][key] = {
            "anyOf": [cap, {"type": "null"}],
            "description": words,
        }
    # A table of retrieval names its model within.
    model = parts[ModelTable.__name__]
    model["oneOf"] = [{"required": model.pop("required")}, {"required": ["retrieval"]}]
    return {"$schema": DIALECT, **schema}


def with_part(page: str, name: str, part: str) -> str:
    """Return a page with what stands between the marks of `name` replaced."""
    first = FIRST.format(name)
    before, rest = page.split(first)
    return f"{before}{first}{part}{LAST}{rest.split(LAST, 1)[1]}"


def commands_page(path: Path) -> str:
    """Return a page on commands with every table of options as the command line has it now."""
    page = path.read_text(encoding="utf-8")
    for words, command in every_command().items():
        table = options(command)
        if table and page_of(words) == path:
            page = with_part(page, words, table)
    return with_part(page, "preset", preset()) if path == page_of("simulate") else page


def preset() -> str:
    """Return what `--preset paper` turns back, and what it leaves, as two Markdown tables."""
    turned = [
        "| choice, by `--preset paper` | as in the paper | without the preset |",
        "|---|---|---|",
    ]
    turned += [f"| {one.choice} | {one.paper} | {one.here} |" for one in TURNED]
    left = ["| choice that it leaves | the paper | here |", "|---|---|---|"]
    left += [f"| {one.choice} | {one.paper} | {one.here} |" for one in LEFT]
    return "\n".join([*turned, "", *left]) + "\n"


def providers() -> str:
    """Return the providers that are known by name, and what each takes, as a Markdown table."""
    rows = [
        "| provider | served by | let in by | images | thinking | caching | JSON | batches |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in BUILT_IN.values():
        if one.is_offline:
            continue
        keys = " or ".join(f"`{name}`" for name in one.key_names)
        served = urlsplit(one.address(None)).netloc or _by_class(one)
        more = f", `pip install {one.pip}`" if one.pip else ""
        cells = [
            f"`{one.name}`",
            f"{served}{more}",
            keys or (f"its own: {one.credentials}" if one.credentials else "nothing"),
            f"{one.images or ''}" or "-",
            f"`{one.thinking}`" if one.thinking else "-",
            _cache(one),
            ", ".join(f"`{form}`" for form in one.reply_formats) or "-",
            one.batches or "-",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _cache(provider: Provider) -> str:
    """Return how a provider caches prompts, and from how many tokens on where that is known."""
    least = {tokens for _, tokens in provider.least_cached if tokens is not None}
    if provider.caching == "none" or least == {LEAST_CACHED}:
        return provider.caching
    return f"{provider.caching}, from {min(least):,} to {max(least):,} tokens"


def _by_class(provider: Provider) -> str:
    """Return how a provider is reached whose address is known to its class or a variable alone."""
    declared = getattr(provider, "declaration", None)
    return f"`{declared.chat_model}`" if declared else f"`{provider.base_names[0]}`"


def graphs_page(page: str) -> str:
    """Return the page of graphs with both drawn as they are now."""
    page = with_part(page, "graph", drawing(arena()))
    return with_part(page, "dialogue", drawing(dialogue))


def calls() -> str:
    """Return the calls of `import videoautoarena` that ask models, each with what it does."""
    paid = {f"va.{name}": getattr(va, name) for name in va.__all__}
    paid |= {"bench.run": va.Bench.run, "bench.probe": va.Bench.probe}
    lines = ["| call | what it does |", "|---|---|"]
    for name, call in paid.items():
        if isinstance(call, PaidCall):
            arguments = signature(call).parameters.values()
            needed = [one.name for one in arguments if one.kind is one.POSITIONAL_OR_KEYWORD]
            shown = ", ".join(one for one in needed if one != "self")
            text = inspect.getdoc(call) or ""
            lines.append(f"| `{name}({shown})` | {text.splitlines()[0].rstrip('.')} |")
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Return every page that holds something generated, as it should be."""
    commands = DOCS / "commands.md"
    groups = [DOCS / "commands" / f"{group}.md" for group in GROUPS.values()]
    made = {
        "design.md": lambda page: with_part(page, "rooms", rooms()),
        "graph.md": graphs_page,
        "python.md": lambda page: with_part(page, "calls", calls()),
        "records.md": records_page,
        "extending.md": lambda page: with_part(page, "providers", providers()),
    }
    return {
        commands: with_part(commands.read_text(encoding="utf-8"), "index", index()),
        **{page: commands_page(page) for page in groups},
        **{DOCS / name: make((DOCS / name).read_text("utf-8")) for name, make in made.items()},
    }


class Camera:
    """Hears a run and keeps its console as it stood when half of the battles were settled."""

    def __init__(self) -> None:
        self.standing = RunSnapshot()
        self.taken: list[Text] = []

    def hear(self, event: RunEvent) -> None:
        """Take an event in; take the picture in a busy moment."""
        if isinstance(event, RunBegun):
            event = replace(event, out=SHOWN_AS)
        self.standing.hear(event)
        standing = self.standing
        if not self.taken and standing.done * 2 > standing.total and standing.speaking > 8:
            run = standing.run
            battles = standing.battles()
            board = LiveBoard(build(battles, run.models if run else ()), len(battles))
            self.taken = picture(standing, board, ScreenSize(WIDE - 1, HIGH, UNICODE))


def console(out: Path) -> str:
    """Play the demo into `out` and return its console half way as SVG."""
    camera = Camera()
    make_samples(CLIPS)
    flags = RunRequest(rounds=3)
    run_async(
        simulate(
            flags.model_copy(update={"videos": CLIPS, "out": out}),
            say=lambda _line: None,
            hear=camera.hear,
        )
    )
    return svg(Group(*camera.taken), "console", width=WIDE)


def leaderboard(out: Path) -> str:
    """Return the leaderboard of the run in `out` as SVG."""
    return svg(
        Group(
            "$ arena leaderboard arena-out/demo\n", ReportView(leaderboard_report(board_of(out)))
        ),
        "leaderboard",
    )


def svg(what: Group, name: str, *, width: int = WIDTH) -> str:
    """Return what a console shows as SVG that loads nothing from elsewhere."""
    shown = Console(record=True, width=width, file=io.StringIO(), highlight=False)
    # Its last row is drawn with a cut through the letters that reach below the line.
    shown.print(what, "", sep="\n")
    drawn = shown.export_svg(title="videoautoarena", theme=MONOKAI, unique_id=name)
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)


def main(arguments: list[str]) -> None:
    """Write what was asked for."""
    if arguments[:1] == ["pictures"]:
        out = Path(arguments[1])
        (DOCS / "console.svg").write_text(console(out), encoding="utf-8")
        (DOCS / "leaderboard.svg").write_text(leaderboard(out), encoding="utf-8")
        return
    parts = ("commands", "rooms", "graph", "calls", "fields", "providers", "schemas")
    wanted = set(arguments) or set(parts)
    names = {
        "design.md": "rooms",
        "graph.md": "graph",
        "records.md": "fields",
        "python.md": "calls",
        "extending.md": "providers",
    }
    for page, text in pages().items():
        if names.get(page.name, "commands") in wanted:
            page.write_text(text, encoding="utf-8")
    if "schemas" in wanted:
        write_schemas(DOCS)
        records = json.dumps(records_schema(), indent=2)
        (DOCS / "run-records.schema.json").write_text(f"{records}\n", encoding="utf-8")
        rows = json.dumps(rows_schema(), indent=2)
        (DOCS / "training-rows.schema.json").write_text(f"{rows}\n", encoding="utf-8")
        arena = json.dumps(arena_schema(), indent=2)
        for file in (DOCS / SCHEMA_FILE.name, SCHEMA_FILE):
            file.write_text(f"{arena}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
