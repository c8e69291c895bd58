"""Making items with a right answer: `tasks make`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.program.ending import early_end, exit_codes, run_async
from videoautoarena.runs.cli.program.main import EXIT_VOIDS
from videoautoarena.runs.text.publishing import say_before_publishing
from videoautoarena.runs.text.terminal import safe, say

if TYPE_CHECKING:
    from videoautoarena.agents.roles.write_tasks import WatchedKind
    from videoautoarena.runs.tasks.items import Kind
    from videoautoarena.runs.tasks.watched_set import Watched, WatchOrder
    from videoautoarena.runs.tasks.watching import WatchTally

CUT_KINDS = ("needle", "order", "count")
WATCHED = ("topic", "plot", "scene", "summary")
CUT = ("seconds", "ladder", "probes", "size")
ASKED = (
    "examiner", "config", "concurrency", "patience", "retry_failed", "quiet", "max_usd",
    "max_tokens",
)  # fmt: skip
"""Options of items that are written, as `CUT` are of the others."""
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
  arena tasks make clips --kind needle --n 50 --ladder --to my-ladder --plan
  arena tasks make clips --kind topic,plot --examiner openai:gpt-4o --to my-set --plan
  arena tasks make clips --kind topic,plot,scene,summary --n 80 --to my-set --max-usd 10

\b
"""
    + exit_codes("too few items since calls failed, or the examiner became unusable"),
)
@click.argument("folder", type=options.PATH)
@click.option("--to", required=True, type=options.PATH, help="Folder to create.")
@click.option("--kind", callback=options.names, multiple=True, show_default=True,
              default=("needle,order,count",), metavar="KIND[,..]",
              help="Kinds of items, separated by commas: needle, order and count, or topic, plot, "
              "scene and summary.")  # fmt: skip
@click.option("--n", type=click.IntRange(1), help="Number of items, over all kinds, lengths and "
              "videos; a ladder is one.  [default: 60; one of each kind a video if an examiner "
              "writes]")  # fmt: skip
@click.option("--seconds", callback=options.names, multiple=True, metavar="S[,..]",
              help="Lengths of the ground, separated by commas.  "
              f"[default: 60; of a ladder {RUNGS}]")  # fmt: skip
@options.flag("--ladder", "Make each item at every length: all but the length is the same.")
@click.option("--probes", default="3-5", show_default=True, metavar="FROM-TO",
              help="Number of stretches that an item of order is about.")  # fmt: skip
@click.option("--size", type=click.IntRange(64, 4096), default=640, show_default=True,
              help="Longer side of the videos that are made, at most.")  # fmt: skip
@click.option("--examiner", metavar="M",
              help="Model that watches, writes and checks topic, plot, scene and summary.  "
              "[default: arena.toml, else the offline one]")  # fmt: skip
@options.config_option(" that declares the examiner")
@options.figure("--seed", 0, "Seed of all draws.")
@options.flag("--at-most", "Accept fewer items where the videos give no more.")
@click.option("--licence", help="Licence of the set, for its card.")
@options.CONCURRENCY
@options.PATIENCE
@options.flag("--retry-failed", "Repeat the examiner's failed calls.")
@options.flag("--plan", "Say what would be made and what calls would cost; make nothing.")
@options.NO_PROGRESS
@options.CAPS
@options.AS_JSON
def make_command(folder: Path, to: Path, *, as_json: bool, **typed: Any) -> int:
    """Make a test set from the videos of FOLDER, each item with a known answer.

    Short stretches of some videos are set into others: which one is it (needle), in which order do
    they come (order), how often does it come (count)? These answers are exact.

    Or an examiner watches the videos and writes: questions on a whole video (topic) or on one
    moment (plot), scenes to be described (scene), videos to be summed up (summary). Each item is
    checked by a second call; its answer remains a model's word.

    Encoded videos and paid calls are kept if the command is interrupted; repeat it to continue.
    """
    from videoautoarena.memory.records.errors import WrongArgument

    kinds = _kinds(typed["kind"])
    is_watched = kinds[0] in WATCHED
    for name in CUT if is_watched else ASKED:
        if _is_typed(name):
            option, whose = name.replace("_", "-"), ", ".join(CUT_KINDS if is_watched else WATCHED)
            raise WrongArgument(f"--{option} is for {whose}; leave it out")
    work = _watch if is_watched else _make
    return work(folder, to, kinds, typed, as_json=as_json)


def _is_typed(name: str) -> bool:
    """Return whether an option was typed, and is not its default."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def _make(
    folder: Path, to: Path, kinds: tuple[str, ...], typed: dict[str, Any], *, as_json: bool
) -> int:
    from videoautoarena.runs.tasks.items import Wish
    from videoautoarena.runs.tasks.make import Order, make

    wish = Wish(
        kinds=cast("tuple[Kind, ...]", kinds),
        n=typed["n"] or 60,
        seconds=_seconds(typed["seconds"], is_ladder=typed["ladder"]),
        probes=_probes(typed["probes"]),
        seed=typed["seed"],
        longest_px=typed["size"],
        is_ladder=typed["ladder"],
    )
    order = Order(folder, to, wish, typed["licence"], is_upper_bound=typed["at_most"])
    made = run_async(make(order, say, is_plan=typed["plan"]))
    options.print_report(made.as_json(), made.as_lines(), as_json=as_json)
    if made.bench is not None:
        say_before_publishing(f"videos cut from yours are in {safe(str(to))}")
        say(f"to check it: arena bench verify {safe(str(to))}")
    return 0


def _watch(
    folder: Path, to: Path, kinds: tuple[str, ...], typed: dict[str, Any], *, as_json: bool
) -> int:
    from videoautoarena.runs.tasks.watch import plan_watch, watch
    from videoautoarena.runs.tasks.watched_set import WatchOrder
    from videoautoarena.runs.tasks.watching import WatchWish

    order = WatchOrder(
        folder=folder,
        to=to,
        wish=WatchWish(cast("tuple[WatchedKind, ...]", kinds), typed["n"], typed["seed"]),
        examiner=typed["examiner"],
        config=typed["config"],
        licence=typed["licence"],
        is_upper_bound=typed["at_most"],
        concurrency=typed["concurrency"],
        patience_s=options.patience_s(typed),
        caps=options.caps_of(typed),
        retry_failed=typed["retry_failed"],
        is_quiet=typed["quiet"],
    )
    if typed["plan"]:
        planned = run_async(plan_watch(order, say))
        options.print_report(planned.as_json(), planned.as_lines(), as_json=as_json)
        return 0
    watched, tally = run_async(watch(order, say))
    if as_json or watched.bench is not None:
        options.print_report(watched.as_json(), watched.as_lines(), as_json=as_json)
    return _ending(order, watched, tally)


def _ending(order: WatchOrder, watched: Watched, tally: WatchTally) -> int:
    """Say how writing went and what to type next; return the exit code."""
    for kind, path, why in watched.failures[:3]:
        say(safe(f"failed, {kind} of {path}: {why[:300]}"))
    left = tally.total - len(tally.outcomes)
    code = early_end(tally, f"{tally.so_far}, {left} of {tally.total} parts left")
    if code is not None:
        return code
    if watched.bench is None:
        say(
            f"{watched.items} of {watched.wanted} items, since calls failed; to repeat those, add "
            "--retry-failed; to take what there is, --at-most"
        )
        return EXIT_VOIDS
    say_before_publishing(f"copies of videos are in {safe(str(order.to))}")
    say(f"to check it: arena bench verify {safe(str(order.to))}")
    return 0


def _kinds(names: tuple[str, ...]) -> tuple[str, ...]:
    from videoautoarena.memory.records.errors import WrongArgument

    every = (*CUT_KINDS, *WATCHED)
    for name in names:
        if name in OUTSIDE:
            raise WrongArgument(
                f"--kind {name} cannot be made from any videos: it needs data from outside; "
                f"make {', '.join(every)}"
            )
        if name not in every:
            raise WrongArgument(f"--kind {name!r} is none of {', '.join(every)}")
    if not names:
        raise WrongArgument(f"--kind is empty; give some of {', '.join(every)}")
    if len({name in WATCHED for name in names}) > 1:
        raise WrongArgument(
            f"--kind mixes {', '.join(CUT_KINDS)}, which are cut, with {', '.join(WATCHED)}, which "
            "are written; make two sets"
        )
    return tuple(dict.fromkeys(names))


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
