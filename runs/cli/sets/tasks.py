"""Making items with a right answer: `tasks make`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from videoautoarena.runs.cli.program import ending, options
from videoautoarena.runs.cli.program.main import EXIT_VOIDS
from videoautoarena.runs.formats.terminal import safe, say
from videoautoarena.runs.formats.words import in_series
from videoautoarena.runs.making.tasks.kinds import CUT_KINDS

if TYPE_CHECKING:
    from videoautoarena.runs.making.tasks.watched_set import Watched, WatchOrder
    from videoautoarena.runs.making.tasks.watching import WatchTally

WATCHED = ("topic", "plot", "scene", "summary")
CUT = ("seconds", "is_ladder", "probes", "longest_px")
"""Options of items that are cut; `WRITTEN` are of those that an examiner writes."""
WRITTEN = options.OF_CALLS | {"examiner"}
RUNGS = "60,180,360,600,1200,3600"
OUTSIDE = ("anomaly", "ego")
"""Kinds of items whose videos nobody can cut together."""


@options.group("arena tasks make clips --to my-set")
def tasks_command() -> None:
    """Make test sets with right answers from your own videos."""


@tasks_command.member(
    "arena tasks make clips --to my-set --plan",
    "arena tasks make clips --kind needle,order,count --n 200 --seconds 60,180 --to my-set",
    "arena tasks make clips --kind needle --n 50 --ladder --to my-ladder --plan",
    "arena tasks make clips --kind topic,plot --examiner openai:gpt-4o --to my-set --plan",
    "arena tasks make clips --kind topic,plot,scene,summary --n 80 --to my-set --max-usd 10",
    codes=ending.exit_codes("too few items since calls failed, or the examiner became unusable"),
)
@options.FOLDER
@options.TO_FOLDER
@options.listed(
    "--kind KIND[,..]",
    f"Kinds of items, separated by commas: {in_series(CUT_KINDS)}, or {in_series(WATCHED)}.",
    default=(",".join(CUT_KINDS),),
)
@options.whole(
    "--n",
    "Number of items, over all kinds, lengths and videos; a ladder is one.  [default: 60; one "
    "of each kind a video if an examiner writes]",
    least=1,
)
@options.listed(
    "--seconds S[,..]",
    f"Lengths of the ground, separated by commas.  [default: 60; of a ladder {RUNGS}]",
)
@options.flag(
    "--ladder", "Make each item at every length: all but the length is the same.", "is_ladder"
)
@options.string(
    "--probes FROM-TO", "Number of stretches that an item of order is about.", default="3-5"
)
@options.whole(
    "--size",
    "Longer side of the videos that are made, at most.",
    "longest_px",
    least=64,
    most=4096,
    default=640,
)
@options.making(
    "Model that watches, writes and checks topic, plot, scene and summary",
    at_most="Accept fewer items where the videos give no more.",
    plan="Say what would be made and what calls would cost; make nothing.",
)
def make_command(
    folder: Path, to: Path, *, kind: tuple[str, ...], plan: bool, as_json: bool, **typed: Any
) -> int:
    """Make a test set from the videos of FOLDER, each item with a known answer.

    Short stretches of some videos are set into others: which one is it (needle), in which order do
    they come (order), how often does it come (count)? These answers are exact.

    Or an examiner watches the videos and writes: questions on a whole video (topic) or on one
    moment (plot), scenes to be described (scene), videos to be summed up (summary). Each item is
    checked by a second call; its answer remains a model's word.

    Encoded videos and paid calls are kept if the command is interrupted; repeat it to continue.
    """
    from videoautoarena.runs.making.tasks.items import PROBES, Wish
    from videoautoarena.runs.making.tasks.make import Order, make
    from videoautoarena.runs.making.tasks.watch import plan_watch, watch
    from videoautoarena.runs.making.tasks.watched_set import WatchOrder
    from videoautoarena.runs.making.tasks.watching import WatchWish

    kinds = _kinds(kind)
    if kinds[0] in WATCHED:
        options.refuse_typed(f"is for {', '.join(CUT_KINDS)}; leave it out", CUT.__contains__)
        written = options.take(WatchWish, typed, kinds=kinds)
        order = options.take(WatchOrder, typed, folder=folder, to=to, wish=written)
        if plan:
            return ending.print_plan(plan_watch(order, say), as_json=as_json)
        watched, tally = ending.run_async(watch(order, say))
        if as_json or watched.bench is not None:
            options.print_report(watched.as_json(), watched.as_lines(), as_json=as_json)
        return _ending(order, watched, tally)
    options.refuse_typed(f"is for {', '.join(WATCHED)}; leave it out", WRITTEN.__contains__)
    typed["n"] = typed["n"] or 60
    typed["seconds"] = _seconds(typed["seconds"], is_ladder=typed["is_ladder"])
    typed["probes"] = options.span("--probes", typed["probes"], PROBES)
    cut = options.take(Wish, typed, kinds=kinds)
    made = ending.run_async(
        make(options.take(Order, typed, folder=folder, to=to, wish=cut), say, is_plan=plan)
    )
    options.print_report(made.as_json(), made.as_lines(), as_json=as_json)
    if made.bench is not None:
        ending.say_made(to, "videos cut from yours")
    return 0


def _ending(order: WatchOrder, watched: Watched, tally: WatchTally) -> int:
    """Say how writing went and what to type next; return the exit code."""
    for kind, path, why in watched.failures[:3]:
        say(safe(f"failed, {kind} of {path}: {why[:300]}"))
    left = tally.total - tally.done
    code = ending.early_end(tally, f"{tally.in_words}, {left} of {tally.total} parts left")
    if code is not None:
        return code
    if watched.bench is None:
        say(
            f"{watched.items} of {watched.wanted} items, since calls failed; to repeat those, add "
            "--retry-failed; to take what there is, --at-most"
        )
        return EXIT_VOIDS
    ending.say_made(order.to, "copies of videos")
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
    from videoautoarena.runs.making.tasks.items import SECONDS

    shortest, longest = SECONDS
    texts = texts or tuple((RUNGS if is_ladder else "60").split(","))
    for text in texts:
        if not text.isdecimal() or not shortest <= int(text[:9]) <= longest:
            raise WrongArgument(f"--seconds is {text!r}; give numbers from {shortest} to {longest}")
    found = tuple(dict.fromkeys(int(text) for text in texts))
    if is_ladder and len(found) < 2:
        raise WrongArgument("--ladder needs two lengths at least; give them as --seconds")
    return found
