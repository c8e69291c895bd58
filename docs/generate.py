"""What the documents repeat, taken from where it is said first: `python docs/generate.py WHAT`.

`commands` writes the index in commands.md, and in commands/ the tables of options as `--help` has
them and those of the paper's preset; `rooms` the map of the rooms in design.md from the import
contracts, `graph` the drawings in graph.md, `schemas` the JSON Schemas of a bench; `pictures OUT`
plays the demo into OUT, a new folder, and draws console and leaderboard as SVG. Without a word it
does the first four. Tests hold the pages against the same functions.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from langgraph.graph.state import CompiledStateGraph
from rich.console import Console, Group
from rich.terminal_theme import MONOKAI
from rich.text import Text

from videoautoarena.graph.dialogue import dialogue
from videoautoarena.graph.tournament import tournament
from videoautoarena.runs.battles.export import records_schema
from videoautoarena.runs.bench.format.schema import write_schemas
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.cli.program.main import COMMANDS, SECTIONS, load
from videoautoarena.runs.config.preset import LEFT, TURNED
from videoautoarena.runs.config.run_config import Flags
from videoautoarena.runs.console.events import Begun, Happening
from videoautoarena.runs.console.screen import Board, Size, picture
from videoautoarena.runs.console.snapshot import Standing
from videoautoarena.runs.leaderboard.board import board_of
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.text.terminal_text import UNICODE
from videoautoarena.runs.tournament.simulate import simulate
from videoautoarena.runs.training.rows import rows_schema
from videoautoarena.runs.views.forms import ReportView
from videoautoarena.runs.views.leaderboard import leaderboard_report
from videoautoarena.video.synth.samples import make_samples

DOCS = Path(__file__).parent
ROOT = DOCS.parent
WIDTH = 94
WIDE, HIGH = 116, 34
CLIPS, SHOWN_AS = Path("arena-samples"), Path("arena-out/demo")
FIRST, LAST = "<!-- generated: {} -->\n", "<!-- end -->"
GROUPS = {
    "Begin": "start",
    "Play a tournament": "tournament",
    "See who won, and why": "results",
    "Find out how far to trust it": "trust",
    "Make and run test sets": "sets",
    "Look at videos": "videos",
}
"""Of each section of `arena --help` the page in docs/commands/ on its commands."""


def every_command() -> dict[str, click.Command]:
    """Return all commands by the words that call them."""
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command, words = load(name), name if name == "simulate" else f"arena {name}"
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


def graphs_page(page: str) -> str:
    """Return the page of graphs with both drawn as they are now."""
    page = with_part(page, "graph", drawing(tournament))
    return with_part(page, "dialogue", drawing(dialogue))


def pages() -> dict[Path, str]:
    """Return every page that holds something generated, as it should be."""
    commands, design, graph = (DOCS / f"{name}.md" for name in ("commands", "design", "graph"))
    groups = [DOCS / "commands" / f"{group}.md" for group in GROUPS.values()]
    return {
        commands: with_part(commands.read_text(encoding="utf-8"), "index", index()),
        **{page: commands_page(page) for page in groups},
        design: with_part(design.read_text(encoding="utf-8"), "rooms", rooms()),
        graph: graphs_page(graph.read_text(encoding="utf-8")),
    }


class Camera:
    """Hears a run and keeps its console as it stood when half of the battles were settled."""

    def __init__(self) -> None:
        self.standing = Standing()
        self.taken: list[Text] = []

    def hear(self, event: Happening) -> None:
        """Take an event in; take the picture in a busy moment."""
        if isinstance(event, Begun):
            event = replace(event, out=SHOWN_AS)
        self.standing.hear(event)
        standing = self.standing
        if not self.taken and standing.done * 2 > standing.total and standing.speaking > 8:
            run = standing.run
            battles = standing.battles()
            board = Board(build(battles, run.models if run else ()), len(battles))
            self.taken = picture(standing, board, Size(WIDE - 1, HIGH, UNICODE))


def console(out: Path) -> str:
    """Play the demo into `out` and return its console half way as SVG."""
    camera = Camera()
    make_samples(CLIPS)
    flags = Flags(rounds=3)
    run_async(simulate(CLIPS, out, flags=flags, say=lambda _line: None, hear=camera.hear))
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
    wanted = set(arguments) or {"commands", "rooms", "graph", "schemas"}
    names = {"design.md": "rooms", "graph.md": "graph"}
    for page, text in pages().items():
        if names.get(page.name, "commands") in wanted:
            page.write_text(text, encoding="utf-8")
    if "schemas" in wanted:
        write_schemas(DOCS)
        records = json.dumps(records_schema(), indent=2)
        (DOCS / "run-records.schema.json").write_text(f"{records}\n", encoding="utf-8")
        rows = json.dumps(rows_schema(), indent=2)
        (DOCS / "training-rows.schema.json").write_text(f"{rows}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
