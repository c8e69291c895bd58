"""Making items with a right answer: `tasks make`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from videoautoarena.runs.cli import options
from videoautoarena.runs.cli.ending import run_async
from videoautoarena.runs.text.terminal import safe, say

if TYPE_CHECKING:
    from videoautoarena.runs.tasks.items import Kind

RUNGS = "60,180,360,600,1200,3600"
OUTSIDE = ("anomaly", "ego")
"""Kinds of items whose videos nobody can cut together."""


@click.group(
    "tasks", cls=options.ListingGroup, epilog="Example: arena tasks make clips --to my-set"
)
def tasks_command() -> None:
    """Make test sets with right answers from your own videos."""


@tasks_command.command(
    "make",
    epilog="""\b
Examples:
  arena tasks make clips --to my-set --plan
  arena tasks make clips --kind needle,order,count --n 200 --seconds 60,180 --to my-set
  arena tasks make clips --kind needle --n 50 --ladder --to my-ladder --plan""",
)
@click.argument("folder", type=options.PATH)
@click.option("--to", required=True, type=options.PATH, help="Folder to create.")
@click.option("--kind", callback=options.names, default="needle,order,count", show_default=True,
              metavar="KIND[,..]", help="Kinds of items, separated by commas.")  # fmt: skip
@click.option("--n", type=click.IntRange(1), default=60, show_default=True,
              help="Number of items, over all kinds and lengths; a ladder is one.")  # fmt: skip
@click.option("--seconds", callback=options.names, metavar="S[,..]",
              help="Lengths of the ground, separated by commas. "
              f"[default: 60; of a ladder {RUNGS}]")  # fmt: skip
@options.flag("--ladder", "Make each item at every length: all but the length is the same.")
@click.option("--probes", default="3-5", show_default=True, metavar="FROM-TO",
              help="Number of stretches that an item of order is about.")  # fmt: skip
@click.option("--size", type=click.IntRange(64, 4096), default=640, show_default=True,
              help="Longer side of the videos that are made, at most.")  # fmt: skip
@options.figure("--seed", 0, "Seed of all draws.")
@options.flag("--at-most", "Accept fewer items where the videos give no more.")
@click.option("--licence", help="Licence of the set, for its card.")
@options.flag("--plan", "Say what would be made; encode nothing.")
@options.AS_JSON
def make_command(folder: Path, to: Path, as_json: bool, **asked: Any) -> None:
    """Make a test set from the videos of FOLDER, each item with four options and a known answer.

    Short stretches of some videos are set into others: which one is it (needle), in which order do
    they come (order), how often does it come (count)? What is encoded is kept if the command is
    interrupted; repeat it to continue.
    """
    from videoautoarena.runs.tasks.items import Wish
    from videoautoarena.runs.tasks.make import Order, make

    wish = Wish(
        kinds=_kinds(asked["kind"]),
        n=asked["n"],
        seconds=_seconds(asked["seconds"], is_ladder=asked["ladder"]),
        probes=_probes(asked["probes"]),
        seed=asked["seed"],
        longest_px=asked["size"],
        is_ladder=asked["ladder"],
    )
    order = Order(folder, to, wish, asked["licence"], is_upper_bound=asked["at_most"])
    made = run_async(make(order, say, is_plan=asked["plan"]))
    options.print_report(made.as_json(), made.as_lines(), as_json=as_json)
    if made.bench is not None:
        say(f"to check it: arena bench verify {safe(str(to))}")


def _kinds(names: tuple[str, ...]) -> tuple[Kind, ...]:
    from videoautoarena.memory.records.errors import WrongArgument
    from videoautoarena.runs.tasks.items import KINDS

    for name in names:
        if name in OUTSIDE:
            raise WrongArgument(
                f"--kind {name} cannot be made from any videos: it needs data from outside; "
                f"make {', '.join(KINDS)}"
            )
        if name not in KINDS:
            raise WrongArgument(f"--kind {name!r} is none of {', '.join(KINDS)}")
    if not names:
        raise WrongArgument(f"--kind is empty; give some of {', '.join(KINDS)}")
    return cast("tuple[Kind, ...]", tuple(dict.fromkeys(names)))


def _seconds(texts: tuple[str, ...], *, is_ladder: bool) -> tuple[int, ...]:
    from videoautoarena.memory.records.errors import WrongArgument
    from videoautoarena.runs.tasks.items import SECONDS

    shortest, longest = SECONDS
    texts = texts or tuple((RUNGS if is_ladder else "60").split(","))
    for text in texts:
        if not text.isdecimal() or not shortest <= int(text[:9]) <= longest:
            raise WrongArgument(f"--seconds is {text!r}; give numbers from {shortest} to {longest}")
    found = tuple(dict.fromkeys(int(text) for text in texts))
    if is_ladder and len(found) < 2:
        raise WrongArgument("--ladder needs two lengths at least; give them as --seconds")
    return found


def _probes(text: str) -> tuple[int, int]:
    from videoautoarena.memory.records.errors import WrongArgument
    from videoautoarena.runs.tasks.items import PROBES

    low, _, high = text.partition("-")
    fewest, most = PROBES
    ends = [int(end) if end.isdecimal() and len(end) < 4 else 0 for end in (low, high or low)]
    if not fewest <= ends[0] <= ends[1] <= most:
        raise WrongArgument(f"--probes is {text!r}; give {fewest}-{most}, or a part of it like 3-4")
    return ends[0], ends[1]
