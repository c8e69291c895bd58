"""The main job: a folder of videos in, rated battles out; or the same again where it stopped."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from agents.ask import Asker
from agents.models import check_keys
from agents.prompts import PromptSet
from graph.context import Arena
from memory.errors import BadInput
from memory.records import Battle, Slot
from memory.store import Store
from runs.assembly import Ways, assemble
from runs.config import Flags, RunConfig, resolve
from runs.console import safe
from runs.draws import Draws, WrittenDraws
from runs.footage import Footage
from runs.notice import remote_notice
from runs.opening import Opened, begin, go_on, holds_run, videos_folder
from runs.progress import Progress
from runs.reading import counted, damage, run_file
from runs.schedule import blocks_of, play_blocks
from video.cache import FrameCache
from video.find import Findings, find_videos
from video.studio import Decoders

Say = Callable[[str], None]


@dataclass(frozen=True)
class Finished:
    """How a run stands when its process is done."""

    total: int
    settled: int
    voids: int
    interrupted: bool
    max_void: float

    @property
    def void_share(self) -> float:
        """Voids among settled slots, 0 to 1."""
        return self.voids / self.settled if self.settled else 0.0

    @property
    def too_many_voids(self) -> bool:
        """Whether more slots are void than the user accepts."""
        return self.void_share > self.max_void


Play = Coroutine[object, object, Finished]
"""A run that is open; await it to play every unsettled slot.

What comes before the first call is done outside the event loop: there Ctrl-C is heard at once,
while a loop that stands still hears it only when it moves on.
"""


def simulate(videos: Path, out: Path, *, flags: Flags, say: Say, quiet: bool = False) -> Play:
    """Start the run, or open the one that `out` holds; what comes back plays it to the end.

    `quiet` leaves out the line a battle; what is skipped and what leaves the machine is said.

    Raises:
        BadInput: nothing was written; the message says what to change.
        ForeignRun: `out` holds a run with other settings.
    """
    settings = resolve(flags)
    prompts = PromptSet.load(settings.prompts)
    exists = holds_run(out)
    check_keys(settings.config.model_of(alias) for alias in settings.config.cast)
    found = look(videos, say)
    _load_graph()
    ready = (
        go_on(out, settings, prompts=prompts, found=found, folder=videos)
        if exists
        else begin(out, settings.config, prompts=prompts, found=found, folder=videos)
    )
    _introduce(ready, out, say=say, assumed_cast=settings.assumed_cast, exists=exists)
    return play_run(
        ready,
        concurrency=settings.concurrency,
        max_void=settings.max_void,
        say=say,
        quiet=quiet,
    )


def resume(
    out: Path,
    *,
    videos: Path | None,
    concurrency: int,
    max_void: float,
    say: Say,
    quiet: bool = False,
) -> Play:
    """Open the run in `out` with its own settings; what comes back plays it to the end.

    Args:
        out: the run's folder.
        videos: where the videos are now; None looks where they were.
        concurrency: model calls under way at once.
        max_void: share of void slots that is accepted.
        say: takes a line of chatter.
        quiet: leave out the line a battle.
    """
    with Store.open(run_file(out), write=False) as store:
        folder = videos or videos_folder(store)
        config = RunConfig.of_manifest(store.manifest())
    if folder is None:
        raise BadInput(f"{out} does not say where its videos are; pass --videos")
    if videos is None and not folder.is_dir():
        raise BadInput(f"the videos of {out} were in {folder}, which is gone; pass --videos")
    check_keys(config.model_of(alias) for alias in config.cast)
    found = look(folder, say)
    _load_graph()
    run = go_on(out, None, prompts=None, found=found, folder=folder)
    _introduce(run, out, say=say, assumed_cast=False, exists=True)
    return play_run(run, concurrency=concurrency, max_void=max_void, say=say, quiet=quiet)


def _unsaid(_line: str) -> None:
    """Say nothing."""


def _load_graph() -> None:
    """Import LangGraph, which takes a second."""
    import graph.tournament  # noqa: F401


def look(folder: Path, say: Say) -> Findings:
    """Return the videos of a folder and name every file that cannot be used.

    Raises:
        BadInput: there is no usable video.
    """
    found = find_videos(folder)
    for path, same in found.duplicates:
        say(f"{safe(path)} is the same video as {safe(same)}; it is used once")
    for skipped in found.skipped:
        say(f"skipped {safe(skipped.path)}: {safe(skipped.reason)}")
    if not found.videos:
        raise BadInput(f"{safe(str(folder))} holds no usable video; pass a folder that does")
    return found


def _introduce(run: Opened, out: Path, *, say: Say, assumed_cast: bool, exists: bool) -> None:
    """Say what will be done, and what leaves the machine."""
    config, slots = run.config, run.store.slots()
    settled = run.store.settled_ids()
    open_slots = [slot for slot in slots if slot.id not in settled]
    if assumed_cast:
        say("no models were named: the offline cast plays, stand-ins that measure pictures;")
        say("name real ones with --models provider:model,provider:model (see --help)")
    verb = "continuing" if exists else "starting"
    say(
        f"{verb} {safe(str(out))}: {counted(len(run.store.videos()), 'video')}, "
        f"{counted(config.rounds, 'round')}, {len(config.models)} models, seed {config.seed}; "
        f"{len(open_slots)} of {len(slots)} battles to go"
    )
    for note in run.notes:
        say(note)
    videos = len({slot.video for slot in open_slots})
    for line in remote_notice(config, videos=videos, open_slots=len(open_slots)):
        say(safe(line))


async def play_run(
    run: Opened, *, concurrency: int, max_void: float, say: Say, quiet: bool = False
) -> Finished:
    """Play every unsettled slot and close the run.

    An interrupt lets calls under way finish, a second one stops.
    """
    with run.store as store:
        slots, settled = store.slots(), store.settled_ids()
        progress = Progress(total=len(slots), done=len(settled), say=_unsaid if quiet else say)
        interrupted = False
        if len(settled) < len(slots):
            async with playing(run, concurrency=concurrency, progress=progress) as game:
                interrupted = await _until_done(game, slots, say)
        for line in damage(store):
            say(line)
        verdicts = store.verdicts()
        return Finished(
            total=len(slots),
            settled=len(verdicts),
            voids=verdicts.count("void"),
            interrupted=interrupted,
            max_void=max_void,
        )


@dataclass(frozen=True)
class Game:
    """A run under way."""

    arena: Arena
    asker: Asker


@asynccontextmanager
async def playing(run: Opened, *, concurrency: int, progress: Progress) -> AsyncIterator[Game]:
    """Put a run together and take it apart again."""
    store, config = run.store, run.config
    videos = {video.id: video for video in store.videos()}
    slots = {slot.id: slot for slot in store.slots()}
    async with Decoders(FrameCache()) as decoders:
        footage = Footage(store, decoders, files=run.files, sampling=config.sampling, videos=videos)
        asker = Asker(store.journal, footage.jpegs, seed=config.seed, concurrency=concurrency)

        async def settle(battle: Battle) -> None:
            await store.put_battle(battle)
            progress.settled(battle)

        ways = Ways(
            frames=footage.frames,
            draw=WrittenDraws(Draws(config, slots), store),
            settle=settle,
            settled=store.battle,
            wanted=slots.__contains__,
        )
        try:
            yield Game(
                assemble(config, asker, prompts=run.prompts, videos=videos, ways=ways), asker
            )
        finally:
            await asker.aclose()


async def _until_done(game: Game, slots: Sequence[Slot], say: Say) -> bool:
    """Play all blocks and return whether an interrupt ended it early."""
    from graph.tournament import play

    main = asyncio.ensure_future(play_blocks(blocks_of(slots), lambda v: play(game.arena, v)))
    drained = asyncio.ensure_future(game.asker.drained.wait())
    with _interrupts(game.asker, main, say):
        await asyncio.wait({main, drained}, return_when=asyncio.FIRST_COMPLETED)
    drained.cancel()
    if not main.done():
        main.cancel()
    try:
        await main
    except asyncio.CancelledError:
        return True
    return False


@contextmanager
def _interrupts(asker: Asker, main: asyncio.Future[None], say: Say) -> Iterator[None]:
    """Let the first interrupt drain the run and the second one stop it."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if asker.is_draining:
            main.cancel()
            return
        say("stopping: calls under way are being finished; interrupt again to stop at once")
        asker.drain()

    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
