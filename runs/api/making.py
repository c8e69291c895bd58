"""Sets and scenes made of videos: items cut, items and dialogues written, scenes remembered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from typing_extensions import Unpack

from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.api.jobs import (
    JobOptions,
    PathLike,
    PlayedJob,
    ReadyJob,
    at_least,
    ordered,
    paid,
)
from videoautoarena.runs.api.models import ModelLike, named
from videoautoarena.runs.api.results import Scenes

if TYPE_CHECKING:
    from videoautoarena.runs.api.bench import Bench
    from videoautoarena.runs.jobs.paid_job import JobAudience
    from videoautoarena.runs.making.dialogues.dialogue_set import MadeDialogues
    from videoautoarena.runs.making.scenes.show import SceneReport
    from videoautoarena.runs.making.tasks.drafting import WritingOrder
    from videoautoarena.runs.making.tasks.make import Made
    from videoautoarena.runs.making.tasks.watched_set import Watched

OUTSIDE = ("anomaly", "ego")
"""Kinds of items whose videos cannot be made by splicing."""
RUNGS = (60, 180, 360, 600, 1200, 3600)
"""Lengths of a ladder in seconds."""


@paid
def cut_tasks(
    folder: PathLike,
    to: PathLike,
    *,
    kinds: Sequence[str] | str = (),
    n: int = 60,
    seconds: Sequence[int] = (),
    ladder: bool = False,
    probes: tuple[int, int] = (3, 5),
    longest_px: int = 640,
    seed: int = 0,
    at_most: bool = False,
    licence: str | None = None,
    quiet: bool = False,  # noqa: ARG001 - heard by whoever plays it
) -> ReadyJob[Made, Made, Bench]:
    """Make a set of tasks in `to` whose answers are exact, by cutting videos; return the `Bench`.

    As `arena tasks make` does, and no model is called: stretches of some videos are set into
    others.

    Args:
        folder: the videos.
        to: folder of the set.
        kinds: of `needle` (which one is it), `order` (in which order do they come) and `count`
            (how often does it come); none: all three.
        n: items over all kinds, lengths and videos; a ladder is one.
        seconds: lengths of the ground, 15 to 3600; none: 60, or those of a ladder.
        ladder: make each item at every length.
        probes: the fewest and the most stretches that an item of order is about, 3 to 5.
        longest_px: longer side of the videos that are made, at most.
        seed: seed of all draws.
        at_most: accept fewer items where the videos give no more.
        licence: licence of the set, for its card.
        quiet: show nothing on stderr.

    Raises:
        BadInput: too few items, or a value or a folder that cannot be.
    """
    from videoautoarena.runs.jobs.paid_job import JobTally
    from videoautoarena.runs.making.tasks.items import PROBES, SECONDS, ItemRequest
    from videoautoarena.runs.making.tasks.kinds import CUT_KINDS
    from videoautoarena.runs.making.tasks.make import Order, make

    shortest, longest = SECONDS
    lengths = tuple(dict.fromkeys(seconds or (RUNGS if ladder else (60,))))
    if strange := [one for one in lengths if not shortest <= one <= longest]:
        raise WrongArgument(
            f"{option('seconds')} is {strange[0]!r}; give numbers from {shortest} to {longest}"
        )
    if ladder and len(lengths) < 2:
        raise WrongArgument(
            f"{option('ladder', True)} needs two lengths at least; give them as {option('seconds')}"
        )
    fewest, most = PROBES
    if not fewest <= probes[0] <= probes[1] <= most:
        raise WrongArgument(f"probes are {probes!r}; give two numbers from {fewest} to {most}")
    at_least("n", n, 1)
    known: Any = _known(kinds, CUT_KINDS)
    wish = ItemRequest(known, n, lengths, probes, seed, longest_px, is_ladder=ladder)
    order = Order(Path(folder), Path(to), wish, licence, at_most)

    async def play(audience: JobAudience) -> PlayedJob[Made]:
        return PlayedJob(JobTally(), await make(order, audience))

    return ReadyJob(lambda audience: make(order, audience, is_plan=True), play, _opened)


@paid
def write_tasks(
    folder: PathLike,
    to: PathLike,
    *,
    kinds: Sequence[str] | str = (),
    examiner: ModelLike | None = None,
    n: int | None = None,
    seed: int = 0,
    at_most: bool = False,
    licence: str | None = None,
    **how: Unpack[JobOptions],
) -> ReadyJob[Watched, Watched, Bench]:
    """Have an examiner write a set of tasks about videos into `to`; return the `Bench`.

    As `arena tasks make` does: a call for the items of a kind about a video, and one to check each.

    Args:
        folder: the videos.
        to: folder of the set.
        kinds: of `topic` (questions on a whole video), `plot` (on one moment), `scene` (scenes to
            be described) and `summary`; none: all four.
        examiner: what watches, writes and checks; None: that of arena.toml, else the offline one.
        n: items over all kinds and videos; None: one of each kind a video.
        seed: seed of all draws.
        at_most: accept fewer items where the examiner gives no more.
        licence: licence of the set, for its card.
        how: how models are asked, by the names of `JobOptions`.

    Raises:
        BadInput: the examiner gives too few items, or a value or a folder that cannot be.
        Unfinished: it ended early, or too few items came since calls failed.
    """
    from videoautoarena.runs.making.tasks.watch import plan_watch, watch
    from videoautoarena.runs.making.tasks.watched_items import WATCHED
    from videoautoarena.runs.making.tasks.watched_set import WatchOrder
    from videoautoarena.runs.making.tasks.watching import WatchWish

    at_least("n", n, 1)
    known: Any = _known(kinds, WATCHED)
    wish = WatchWish(known, n, seed)
    order = _writing(
        WatchOrder, folder, to, examiner, how, licence=licence, is_upper_bound=at_most, wish=wish
    )

    async def play(audience: JobAudience) -> PlayedJob[Watched]:
        found, tally = await watch(order, audience)
        why = f"{found.items} of {found.wanted} items, since calls failed"
        return PlayedJob(tally, found, "" if found.bench else why)

    return ReadyJob(lambda audience: plan_watch(order, audience), play, _opened)


@paid
def make_dialogues(
    folder: PathLike,
    to: PathLike,
    *,
    examiner: ModelLike | None = None,
    abilities: Sequence[str] | str = (),
    per_video: int = 1,
    turns: tuple[int, int] = (5, 8),
    scored: int | None = None,
    seed: int = 0,
    at_most: bool = False,
    licence: str | None = None,
    **how: Unpack[JobOptions],
) -> ReadyJob[MadeDialogues, MadeDialogues, Bench]:
    """Have an examiner make a set of dialogues about videos in `to`; return the `Bench`.

    As `arena dialogues make` does. `.plan` says what it takes, which is a hundred calls a video.

    Args:
        folder: the videos.
        to: folder of the set.
        examiner: what watches, writes and checks; None: that of arena.toml, else the offline one.
        abilities: which of the six that dialogues are about; none: all.
        per_video: dialogues of each ability about each video, at most, 1 to 12.
        turns: the fewest and the most rounds of a dialogue, 5 to 8.
        scored: scored rounds in each dialogue; None: as many as the examiner thinks fit.
        seed: seed of all draws.
        at_most: accept the dialogues that there are although calls failed.
        licence: licence of the set, for its card.
        how: how models are asked, by the names of `JobOptions`.

    Raises:
        BadInput: the videos give no dialogue, or a value or a folder that cannot be.
        Unfinished: it ended early, or calls failed.
    """
    from videoautoarena.graph.dialogue_checks import TURNS
    from videoautoarena.runs.bench.format.schema import ABILITIES
    from videoautoarena.runs.making.dialogues.dialogue_set import DialogueOrder
    from videoautoarena.runs.making.dialogues.make import make_dialogues as made
    from videoautoarena.runs.making.dialogues.make import plan_dialogues
    from videoautoarena.runs.making.dialogues.video_dialogues import DialogueWish

    asked: Any = _known(abilities, ABILITIES)
    if not TURNS[0] <= turns[0] <= turns[1] <= TURNS[1]:
        raise WrongArgument(f"turns are {turns!r}; give two numbers from {TURNS[0]} to {TURNS[1]}")
    at_least("per_video", per_video, 1)
    at_least("scored", scored, 1)
    wish = DialogueWish(asked, per_video, turns, seed, scored)
    order = _writing(
        DialogueOrder, folder, to, examiner, how, licence=licence, is_upper_bound=at_most, wish=wish
    )

    async def play(audience: JobAudience) -> PlayedJob[MadeDialogues]:
        found, tally = await made(order, audience)
        return PlayedJob(tally, found, "" if found.bench else tally.in_words)

    return ReadyJob(lambda audience: plan_dialogues(order, audience), play, _opened)


@paid
def scenes(
    video: PathLike,
    *,
    examiner: ModelLike | None = None,
    pictures: bool = False,
    **how: Unpack[JobOptions],
) -> ReadyJob[SceneReport, SceneReport, Scenes]:
    """Return the `Scenes` of a video, the objects in them, and where each comes back.

    As `arena scenes` does. Replies are kept in the cache (XDG_CACHE_HOME): a second time nothing is
    paid.

    Args:
        video: the file.
        examiner: what writes captions and names objects; None: that of arena.toml, else the
            offline one.
        pictures: also keep the frames in which objects were found, for a sheet of the command.
        how: how models are asked, by the names of `JobOptions`.

    Raises:
        BadInput: no such video or examiner.
        Unfinished: it ended early, or a call failed.
    """
    from videoautoarena.runs.making.scenes.show import ScenesOrder, plan_show, show

    name = None if examiner is None else named(examiner)
    order = ordered(ScenesOrder, {**how}, path=Path(video), examiner=name)

    async def play(audience: JobAudience) -> PlayedJob[SceneReport]:
        found, tally = await show(order, audience, pictures=pictures)
        failures = found.memory.failures if found.memory else {}
        lack = f"{len(failures)} calls failed" if failures else ""
        return PlayedJob(tally, found, lack)

    return ReadyJob(lambda _: plan_show(order), play, Scenes)


Written = TypeVar("Written", bound="WritingOrder")


def _writing(
    kind: Callable[..., Written],
    folder: PathLike,
    to: PathLike,
    examiner: ModelLike | None,
    how: JobOptions,
    **own: Any,
) -> Written:
    """Return the order of a set that an examiner writes."""
    name = None if examiner is None else named(examiner)
    return ordered(kind, how, folder=Path(folder), to=Path(to), examiner=name, **own)


def _known(asked: Sequence[str] | str, every: Collection[str]) -> tuple[str, ...]:
    """Return kinds of items, or abilities, each once; all where none is named."""
    names = (asked,) if isinstance(asked, str) else asked
    for name in names:
        if name in OUTSIDE:
            raise WrongArgument(
                f"{name} cannot be made from any videos: it needs data from outside; "
                f"make {', '.join(every)}"
            )
        if name not in every:
            raise WrongArgument(f"{name!r} is none of {', '.join(every)}")
    return tuple(dict.fromkeys(names)) or tuple(every)


def _opened(made: Made | Watched | MadeDialogues) -> Bench:
    from videoautoarena.runs.api.bench import open_bench

    return open_bench(made.folder)
