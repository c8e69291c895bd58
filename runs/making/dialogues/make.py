"""Making a set of dialogues: an examiner remembers, rates, writes and checks; all is put at once.

Until then calls stand in a draft beside the set, afterwards below its results: the same order goes
on from there, and never pays twice.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Container, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from pydantic import TypeAdapter

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.models.registry import check_keys
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.memory.records.records import Video
from videoautoarena.memory.records.scenes import Span
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import digest_of
from videoautoarena.runs.console.progress.events import Listeners, Say, nobody, pass_on
from videoautoarena.runs.console.progress.interrupts import until_done
from videoautoarena.runs.console.progress.listeners import gather, progress
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.paid_job import Generations, JobPlan
from videoautoarena.runs.making.dialogues.dialogue_set import (
    DialogueOrder,
    LostVideo,
    MadeDialogues,
    fall_words,
    outcome_of,
    put_dialogues,
)
from videoautoarena.runs.making.dialogues.entries import MAKER
from videoautoarena.runs.making.dialogues.making import (
    DialogueTally,
    Lenses,
    Making,
    Outcome,
)
from videoautoarena.runs.making.dialogues.plan import plan_making
from videoautoarena.runs.making.scenes.bank import Remembering, load_of, scene_frames
from videoautoarena.runs.making.tasks.drafting import drafted, keep_calls
from videoautoarena.runs.making.tasks.make import refuse_inside, set_in
from videoautoarena.runs.making.tasks.watch import examining
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.context import (
    Calling,
    all_done,
    draining_asker,
    no_frames,
    work_off,
)
from videoautoarena.runs.run.rundir.frames import RunFrames, subtitle_paths
from videoautoarena.runs.run.rundir.opener import stored_prompts
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.video.folder.find import Findings
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

_FAILED = "failed"
"""Name in the file of calls of the scopes of those that failed for good."""


async def plan_dialogues(order: DialogueOrder, say: Say) -> MadeDialogues:
    """Return what making a set would take; calls nobody and writes nothing."""
    found = await _gathered(order, say)
    if (there := _there(order, found)) is not None:
        return there
    async with _ready(order, found, say, write=False) as ready:
        for note in ready.notes:
            say(note)
        return ready.made([], plan=ready.plan, failures=_failures(ready.known))


async def make_dialogues(order: DialogueOrder, say: Say) -> tuple[MadeDialogues, DialogueTally]:
    """Return the set that was made of a folder, and how it went; equal replies give equal bytes.

    Where it ended early, or calls failed, there is no set yet: the same order goes on.
    Raises BadInput: the videos give no dialogue, or something cannot be read or written.
    """
    found = await _gathered(order, say)
    if (there := _there(order, found)) is not None:
        keep_calls(order)
        return there, DialogueTally(total=0)
    async with _ready(order, found, say, write=True) as ready:
        for line in (*ready.notes, *ready.plan.as_lines()):
            say(line)
        if ready.plan.lines:
            check_keys([ready.config.model_of(ready.config.examiner)])
        tally = await ready.play(say)
        made = ready.made(
            tally.items,
            fallen=tally.fallen,
            repaired=tally.repaired,
            failures=_failures(tally.outcomes),
            unusable=tuple(LostVideo(video.path, why) for video, why in tally.unusable),
        )
        is_open = bool(made.failures) and not order.is_upper_bound
        if is_open or len(tally.outcomes) < tally.total:
            return made, tally
        if not made.dialogues:
            raise BadInput(_nothing(made))
        bench = await asyncio.to_thread(ready.put, tally, made)
    keep_calls(order)
    return replace(made, bench=bench), tally


def _failures(outcomes: Iterable[Outcome]) -> tuple[LostVideo, ...]:
    return tuple(
        LostVideo(one.video.path, why) for one in outcomes for why in one.failures.values()
    )


async def _gathered(order: DialogueOrder, say: Say) -> Findings:
    refuse_inside(order.folder, order.to)
    found = await asyncio.to_thread(gather, order.folder, say)
    if not found.videos:
        raise BadInput("no video of the folder can be used; pass one that holds some")
    return found


def _nothing(made: MadeDialogues) -> str:
    if len(made.unusable) == made.videos:
        path, why = made.unusable[0]
        return f"no video can be used; {safe(path)} {safe(why)}"
    reasons = fall_words(made.reasons)
    return (
        f"{safe(made.examiner)} gives no dialogue about {counted(made.videos, 'video')} ({reasons})"
        "; ask for other --abilities, or of another --examiner"
    )


def _there(order: DialogueOrder, found: Findings) -> MadeDialogues | None:
    """Return the set where it is there already; BadInput where something else is."""
    config = examining(order.examiner, order.config, order.wish.seed)
    bench = set_in(order.to, _origin(order, config, found.videos), order.licence)
    if bench is None:
        return None
    return outcome_of(
        order,
        open_bench(order.to).items,
        videos=len(found.videos),
        examiner=config.cast[config.examiner].model,
        bench=bench,
        was_there=True,
    )


def _origin(order: DialogueOrder, config: RunConfig, videos: Sequence[Video]) -> str:
    """Return the digest of all that was asked for: of whom, of what, and how much."""
    examiner = config.cast[config.examiner].identity(config.sampling.frames)
    made_of = sorted(video.sha256 for video in videos)
    return digest_of(["dialogues", MAKER, asdict(order.wish), examiner, made_of])


_SCOPES = TypeAdapter(set[str])


class _Failed:
    """The scopes of calls that failed for good, written down as they fail."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.scopes = store.file_as(_SCOPES, _FAILED) or set()

    def add(self, scope: str) -> None:
        """Take note of one."""
        if scope not in self.scopes:
            self.scopes.add(scope)
            self._write()

    def ask_again(self) -> None:
        """Let all of them be asked again."""
        Generations(self._store).add(sorted(self.scopes))
        self.scopes.clear()
        self._write()

    def _write(self) -> None:
        self._store.put_file(_FAILED, json.dumps(sorted(self.scopes)), replace=True)


def _further(store: Store, failed: Container[str]) -> Callable[[str], Sequence[int]]:
    """Return the generations of a scope; one more of those that failed."""
    known = Generations(store)
    return lambda scope: range(len(known(scope)) + (scope in failed))


@dataclass(frozen=True)
class _Ready:
    """A set that can be made, or one that can only be planned."""

    order: DialogueOrder
    config: RunConfig
    found: Findings
    store: Store | None
    decoders: Decoders
    shots: Mapping[str, Sequence[Span]]
    """Video to its stretches between cuts; without those that cannot be decoded."""
    lost: Mapping[str, str]
    """Video to why it cannot be decoded."""
    notes: tuple[str, ...]
    known: list[Outcome] = field(default_factory=list)
    """What came of each video as far as it is known, and what is open."""

    @property
    def plan(self) -> JobPlan:
        """What is left to be called."""
        wish = self.order.wish
        return plan_making(
            self.config,
            wish,
            self.shots,
            outcomes=self.known,
            store=self.store,
            concurrency=self.order.concurrency,
        )

    def made(self, items: Sequence[object], **more: object) -> MadeDialogues:
        """Return what came of it."""
        examiner = self.config.cast[self.config.examiner].model
        return outcome_of(
            self.order,
            items,  # type: ignore[arg-type]
            videos=len(self.found.videos),
            examiner=examiner,
            **{"bench": None, **more},
        )

    def put(self, tally: DialogueTally, made: MadeDialogues) -> str:
        """Write the set, and return its digest."""
        store = self._writable
        return put_dialogues(
            self.order,
            tally,
            examiner=made.examiner,
            store=store,
            paths={video.id: video.path for video in self.found.videos},
            spoken=subtitle_paths(store, found=self.found, folder=self.order.folder),
            origin=_origin(self.order, self.config, self.found.videos),
        )

    async def play(self, say: Say) -> DialogueTally:
        """Make the dialogues of every video; at an interrupt or a cap, of as many as ended."""
        order = self.order
        store = self._writable
        videos = self.found.videos
        tally = DialogueTally(total=len(videos))
        listeners = Listeners(say, nobody)
        lenses = self._lenses(store, self.decoders)
        calling = Calling(store, self.config, load_of(lenses.scenes, lenses.whole))
        hear = partial(pass_on, listeners=listeners)
        asker = draining_asker(calling, tally, pace=order, hear=hear)
        making = replace(self._making(store, asker, lenses), on_failed=_Failed(store).add)
        with progress(say, is_quiet=order.is_quiet) as on_progress:

            async def play(video: Video) -> None:
                tally.outcomes.append(await making.play(video))
                on_progress(len(tally.outcomes), tally.total, tally.so_far)

            try:
                work = work_off(videos, play, workers=order.concurrency)
                stopped = await until_done(asker, work, listeners)
            finally:
                await asker.aclose()
        tally.end(asker, stopped=stopped)
        tally.lost = store.journal.lost(besides="offline:*")
        # Whatever the files are called.
        tally.outcomes.sort(key=lambda one: one.video.sha256)
        return tally

    async def look(self) -> list[Outcome]:
        """Return what came of each video, by repeating what is known."""
        videos = self.found.videos
        if self.store is None:
            return [Outcome(video, open=list(self.order.wish.kinds)) for video in videos]
        asker = Asker(self.store.journal, no_frames, is_replay=True)
        making = self._making(self.store, asker, self._lenses(self.store, None))
        # What is only planned to be asked again is open, too.
        failed = _Failed(self.store).scopes if self.order.retry_failed else set[str]()
        prompter = replace(making.prompter, generations=_further(self.store, failed))
        making = replace(making, prompter=prompter, is_past=True)
        return await all_done(making.play(video) for video in videos)

    def _making(self, store: Store, asker: Asker, lenses: Lenses) -> Making:
        prompts = stored_prompts(store, missing=PromptSet.load(dialogues=True))
        seed = self.order.wish.seed
        prompter = Prompter(asker, prompts, seed, generations=Generations(store))
        examiner = self.config.model_of(self.config.examiner)
        remembering = Remembering(prompter, examiner, store, lenses.scenes)
        return Making(
            prompter,
            examiner,
            remembering,
            lenses,
            self._shots_of,
            self.order.wish,
            is_upper_bound=self.order.is_upper_bound,
        )

    async def _shots_of(self, video: Video) -> Sequence[Span]:
        if (why := self.lost.get(video.id)) is not None:
            raise UnusableVideo(why)
        return self.shots[video.id]

    def _lenses(self, store: Store, decoders: Decoders | None) -> Lenses:
        folder = self.order.folder
        videos = {video.id: video for video in self.found.videos}
        files = {id_: folder / video.path for id_, video in videos.items()} if decoders else {}
        whole = RunFrames(
            store, decoders, files=files, sampling=self.config.sampling, videos=videos
        )
        return Lenses(whole, scene_frames(store, decoders, files=files, videos=videos))

    @property
    def _writable(self) -> Store:
        if self.store is None:
            raise RuntimeError("a set was to be made without a file for its calls")
        return self.store


@asynccontextmanager
async def _ready(
    order: DialogueOrder, found: Findings, say: Say, *, write: bool
) -> AsyncIterator[_Ready]:
    """Yield a set that can be made, or planned, with what of it is known."""
    config = examining(order.examiner, order.config, order.wish.seed)
    notes = [f"not used: {safe(one.path)} {safe(one.reason)}" for one in found.skipped]
    if config.offline:
        notes.append(
            "the offline stand-in writes: it speaks of light, colours and cuts alone, and takes "
            "coloured areas for objects"
        )
    videos = {video.id: video for video in found.videos}
    prompts = PromptSet.load(dialogues=True)
    with drafted(order, config, prompts=prompts, found=found, videos=videos, write=write) as (
        store,
        more,
    ):
        async with Decoders(FrameCache()) as decoders:
            shots, lost = await _cut(order, found, decoders, say)
            ready = _Ready(order, config, found, store, decoders, shots, lost, (*notes, *more))
            if write and order.retry_failed and store is not None:
                _Failed(store).ask_again()
            ready.known.extend(await ready.look())
            yield ready


async def _cut(
    order: DialogueOrder, found: Findings, decoders: Decoders, say: Say
) -> tuple[dict[str, Sequence[Span]], dict[str, str]]:
    """Return where videos are cut, and why some cannot be decoded."""
    shots = dict[str, Sequence[Span]]()
    lost = dict[str, str]()
    with progress(say, is_quiet=order.is_quiet) as on_progress:

        async def cut(video: Video) -> None:
            try:
                spans = await decoders.scenes(order.folder / video.path, video)
                shots[video.id] = tuple((a, b) for a, b in spans)
            except UnusableVideo as why:
                lost[video.id] = str(why)
            on_progress(len(shots) + len(lost), len(found.videos), "looked for cuts")

        await work_off(found.videos, cut, workers=4)
    return shots, lost
