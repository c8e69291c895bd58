"""Tagging the questions of a run: one call of a classifier each, through the run's own journal.

No call shares a key with one of the run, and no battle changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from videoautoarena.agents.limits.caps import Caps
from videoautoarena.agents.limits.outages import PATIENCE_S
from videoautoarena.agents.models.registry import Model, check_keys
from videoautoarena.agents.offline.players.model import PANEL
from videoautoarena.agents.prompting.layout import thinned
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.classify import FRAMES, Classified, classify
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import (
    BadInput,
    CallFailed,
    FramesChanged,
    UnusableVideo,
)
from videoautoarena.memory.records.questions import QUESTION_CATEGORIES
from videoautoarena.memory.records.records import Frames, Role
from videoautoarena.memory.store.evidence import generation_of, trial_id
from videoautoarena.memory.store.store import Store
from videoautoarena.memory.store.tags import TAG_SCOPE, Tag
from videoautoarena.runs.analysis.categories.plan import TagPlan, plan_tags
from videoautoarena.runs.analysis.categories.tags import Asked, questions_of
from videoautoarena.runs.analysis.trials.trial import entry_in
from videoautoarena.runs.console.progress.events import Listeners, pass_on
from videoautoarena.runs.console.progress.interrupts import until_done
from videoautoarena.runs.formats.record_json import keyed, record_json
from videoautoarena.runs.run.config.agreement import Trust, agreed
from videoautoarena.runs.run.config.arena_file import arena_file
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.budget import check_caps, priced
from videoautoarena.runs.run.rundir.caps import NO_CAPS, keep_caps, kept_caps, merged_caps
from videoautoarena.runs.run.rundir.context import Calling, EarlyEnd, draining_asker, work_off
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.opener import stored_prompts, videos_folder
from videoautoarena.runs.run.rundir.reader import Run, run_file
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

PROMPT_FILE = "tags/"
"""What the names of prompts begin with that came into a run after it was played."""
AT_WORK = 2
"""Questions under way for each call that may be."""


@dataclass(frozen=True)
class TagOrder:
    """What was typed."""

    classifier: str | None = None
    """None: the run's examiner."""
    sample: int | None = None
    """So many questions, drawn at random; None for all."""
    seed: int = 0
    """Of that draw: a larger one holds the smaller."""
    config: Path | None = None
    videos: Path | None = None
    """Where the videos are, if they moved."""
    concurrency: int = 16
    patience_s: float = PATIENCE_S
    caps: Caps = NO_CAPS
    retry_failed: bool = False
    trust: str | None = None
    """The digest of what is agreed to of the run's file."""


@dataclass
class TagTally(EarlyEnd):
    """How tagging went in one process."""

    SHOWN: ClassVar = ("asked", "known", "tagged", "unread", "failed")
    asked: int = field(default=0, metadata=keyed("questions"))
    """Questions that were wanted, those of earlier among them."""
    known: int = 0
    """Those tagged before."""
    tagged: int = 0
    """Now, whatever came of it."""
    unread: int = field(default=0, metadata=keyed("unreadable"))
    """Of these, replies in which nothing could be read."""
    failures: Counter[str] = field(default_factory=Counter)
    """Why calls failed now."""

    @property
    def failed(self) -> int:
        """Calls that failed now."""
        return self.failures.total()

    def count(self, tag: Tag) -> None:
        """Count one more."""
        self.tagged += 1
        if tag.is_failed:
            self.failures[tag.reason or "no reason recorded"] += 1
        elif tag.reason is not None:
            self.unread += 1

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena categories tag --json`."""
        return record_json(self)

    @property
    def in_words(self) -> str:
        """How it went, in a few words."""
        words = [f"{self.tagged:,} tagged"]
        words += [f"{self.unread:,} unreadable"] * bool(self.unread)
        words += [f"{self.failed:,} failed"] * bool(self.failed)
        return ", ".join(words)


class Wanted(NamedTuple):
    """A question that is still to be tagged."""

    asked: Asked
    frames: Frames
    first: str
    """The id of its first tag."""
    generation: int
    """How often the call failed before."""


OnTagged = Callable[[TagTally], None]


@dataclass(frozen=True)
class _Ready:
    store: Store
    config: RunConfig
    model: Model
    prompts: PromptSet
    run_frames: RunFrames
    wanted: Sequence[Wanted]
    plan: TagPlan


async def plan_tagging(out: Path, order: TagOrder) -> TagPlan:
    """Return what tagging would take; nobody is called, and nothing is written."""
    async with _ready(out, order, write=False) as ready:
        return ready.plan


async def tag_questions(
    out: Path, order: TagOrder, *, listeners: Listeners, on_tagged: OnTagged
) -> TagTally:
    """Tag the questions that were asked for and that the run in `out` has no tag of.

    One model call each. BadInput for a classifier that cannot be, or frames that are gone;
    RunLocked where another process is at the run.
    """
    async with _ready(out, order, write=True) as ready:
        for line in ready.plan.as_lines():
            listeners.say(line)
        tally = TagTally(asked=ready.plan.questions, known=ready.plan.known)
        if ready.wanted:
            check_keys([ready.model])
            await _find_frames(ready)
            await _tag(ready, order, tally=tally, listeners=listeners, on_tagged=on_tagged)
        return tally


def classifying(config: RunConfig, order: TagOrder) -> tuple[RunConfig, str]:
    """Return a run's settings with the classifier among its cast, priced, and its name.

    It is a name of the file or of the run, or `provider:model`. BadInput where it cannot classify.
    """
    name = order.classifier or config.examiner
    entry = entry_in(name, config, arena_file(order.config))
    if entry.is_offline and entry.model.partition(":")[2] not in PANEL:
        raise BadInput(f"{name} cannot classify; the offline model that can is offline:examiner")
    cast = {**config.cast, name: entry}
    return priced(config.model_copy(update={"cast": cast})), name


@asynccontextmanager
async def _ready(out: Path, order: TagOrder, *, write: bool) -> AsyncIterator[_Ready]:
    """Yield what can be tagged; without leave to write what can only be planned."""
    async with AsyncExitStack() as stack:
        store = stack.enter_context(Store.open(run_file(out), write=write))
        config, name = classifying(RunConfig.of_manifest(store.manifest()), order)
        if write:
            config = agreed(config, [name], out=out, trust=Trust(order.config, order.trust))
        caps = merged_caps(kept_caps(store), order.caps)
        check_caps(config, caps)
        if write:
            keep_caps(store, caps)
        decoders = await stack.enter_async_context(Decoders(FrameCache()))
        run = Run(out, store)
        model = config.model_of(name)
        prompts = prompts_with(store, "classifier", keep=write)
        run_frames = _run_frames(run, config, decoders, order)
        drawn = draw(questions_of(run.battles), order.sample, order.seed)
        wanted = _open(store, drawn, model, prompts, retry_failed=order.retry_failed)
        plan = plan_tags(config, name, [one.asked for one in wanted], of=len(drawn), store=store)
        yield _Ready(store, config, model, prompts, run_frames, wanted, plan)


def draw(questions: Sequence[Asked], count: int | None, seed: int) -> list[Asked]:
    """Return so many questions drawn by a seed, in slot order; None for all."""
    if count is None:
        return list(questions)
    order = sorted(questions, key=lambda one: digest(canonical_json(["tag", seed, one.id])))
    chosen = set(order[:count])
    return [one for one in questions if one in chosen]


def prompts_with(store: Store, role: Role, *, keep: bool = True) -> PromptSet:
    """Return the run's prompts with that of a role that came later; it stays as first used."""
    own = stored_prompts(store, missing=PromptSet.load(categories=True))
    kept = store.file(f"{PROMPT_FILE}{role}")
    if kept is None and keep:
        store.put_file(f"{PROMPT_FILE}{role}", own.texts[role])
    texts = dict(own.texts) | ({role: kept.text} if kept else {})
    return PromptSet.from_texts(texts, contracts=own.contracts, reading=own.reading)


def _run_frames(run: Run, config: RunConfig, decoders: Decoders, order: TagOrder) -> RunFrames:
    videos = {video.id: video for video in run.store.videos()}
    folder = videos_folder(run.store, order.videos)
    found = find_videos(order.videos).videos if order.videos is not None else videos.values()
    files = {video.id: folder / video.path for video in found} if folder else {}
    return RunFrames(run.store, decoders, files=files, sampling=config.sampling, videos=videos)


def _open(
    store: Store,
    questions: Iterable[Asked],
    model: Model,
    prompts: PromptSet,
    *,
    retry_failed: bool,
) -> list[Wanted]:
    """Return the questions without a tag of this classifier, and on demand those that failed."""
    latest: dict[str, tuple[int, Tag]] = {}
    for tag in store.tags.all():
        first, generation = generation_of(tag.id)
        if first not in latest or latest[first][0] < generation:
            latest[first] = (generation, tag)
    judge = [model.resolved, model.keyed("classifier"), prompts.contracts]
    seen: dict[str, Frames] = {}
    wanted = []
    for asked in questions:
        frames = seen.get(asked.video) or store.frames(asked.video)
        if frames is None:
            continue
        seen[asked.video] = frames
        sent = thinned(frames, min(FRAMES, model.frame_limit("classifier"))).frames
        put = [*judge, prompts.digests["classifier"], [(one.time_s, one.digest) for one in sent]]
        first = f"{asked.id}:{model.alias}:{digest(canonical_json(put))[:16]}"
        if first not in latest:
            wanted.append(Wanted(asked, frames, first, 0))
        elif retry_failed and latest[first][1].is_failed:
            wanted.append(Wanted(asked, frames, first, latest[first][0] + 1))
    return wanted


async def _find_frames(ready: _Ready) -> None:
    """Raise BadInput where frames of a video cannot be had: later it costs calls."""
    for video, frames in {one.asked.video: one.frames for one in ready.wanted}.items():
        try:
            await ready.run_frames.jpegs(video, [frame.digest for frame in frames.frames[:1]])
        except (UnusableVideo, FramesChanged) as gone:
            raise BadInput(
                f"the frames of video {video} are not available ({gone}); pass the folder "
                "of videos with --videos"
            ) from None


async def _tag(
    ready: _Ready,
    order: TagOrder,
    *,
    tally: TagTally,
    listeners: Listeners,
    on_tagged: OnTagged,
) -> None:
    store = ready.store
    config = ready.config
    calling = Calling(store, config, ready.run_frames.jpegs)
    hear = partial(pass_on, listeners=listeners)
    asker = draining_asker(calling, tally, pace=order, hear=hear)
    plain = Prompter(asker, ready.prompts, config.seed)

    async def tag(one: Wanted) -> None:
        kept = await _one_tag(one, plain, ready.model)
        await store.tags.put(kept)
        tally.count(kept)
        on_tagged(tally)

    workers = max(1, min(len(ready.wanted), AT_WORK * order.concurrency))
    try:
        stopped = await until_done(asker, work_off(ready.wanted, tag, workers=workers), listeners)
    finally:
        await asker.aclose()
    tally.end(asker, stopped=stopped)


async def _one_tag(wanted: Wanted, prompter: Prompter, model: Model) -> Tag:
    asked = wanted.asked
    asks = tuple(range(wanted.generation + 1))
    if wanted.generation:
        prompter = Prompter(
            prompter.asker, prompter.prompts, prompter.seed, generations=lambda _scope: asks
        )
    is_failed = False
    try:
        found = await classify(
            prompter,
            model,
            frames=wanted.frames,
            question=asked.text,
            scope=f"{TAG_SCOPE}{asked.id}:{model.alias}",
        )
    except CallFailed as why:
        is_failed = True
        found = Classified(dict.fromkeys(QUESTION_CATEGORIES, "unknown"), str(why))
    return Tag(
        id=trial_id(wanted.first, wanted.generation),
        question=asked.id,
        video=asked.video,
        text=asked.text,
        classifier=model.alias,
        model=model.resolved,
        categories=found.categories,
        reason=found.reason,
        is_failed=is_failed,
    )
