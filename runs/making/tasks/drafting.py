"""The draft of a set that a model writes: its calls, kept beside the set until that is put.

The same order goes on from there, and never pays twice. Afterwards the calls lie below the set's
results.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from videoautoarena.agents.models.registry import check_keys
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA, Video
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.schema import (
    CARD,
    MADE,
    QUESTIONS,
    RESULTS,
    BenchVideo,
    Generator,
    Kind,
    Manifest,
    Source,
    counts_of,
    question_bytes,
)
from videoautoarena.runs.bench.format.writer import copied, copies_of, entries_of, put, seal
from videoautoarena.runs.bench.play.calls import keep_prompts
from videoautoarena.runs.formats.files import make_folder
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.paid_job import Item, JobOrder, Outcome, PaidJob, settle_caps
from videoautoarena.runs.making.tasks.make import is_free
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.failures import pardon
from videoautoarena.runs.run.rundir.frames import (
    changed_subtitles,
    keep_subtitles,
    leave_out,
    subtitle_paths,
)
from videoautoarena.runs.run.rundir.reader import draft_of
from videoautoarena.video.folder.find import Findings

CALLS = "making.sqlite"
"""The journal's name, in the draft and below the results of the set."""


@dataclass(frozen=True)
class WritingOrder(JobOrder):
    """Which folder is written about by whom, and where the set goes."""

    folder: Path
    to: Path
    examiner: str | None = None
    """None for the one of the configuration file, else the stand-in."""
    licence: str | None = None
    is_upper_bound: bool = False
    """Whether fewer items will do if the examiner gives no more."""

    @property
    def draft(self) -> Path:
        """Where calls lie until the set is there; films that are cut have another place."""
        return draft_of(self.to)

    @property
    def calls(self) -> Path:
        """The journal of a set that is not finished."""
        return self.draft / CALLS


@dataclass(kw_only=True)
class WritingJob(PaidJob[Item, Outcome]):
    """Has an examiner write about the videos of a folder; the set is put at once."""

    AT_WORK = 1
    found: Findings
    notes: tuple[str, ...]
    """What a person should know."""
    order: WritingOrder

    @property
    def examiner(self) -> str:
        """Who writes, `provider:model`."""
        return self.config.cast[self.config.examiner].model

    def files(self) -> dict[str, Path]:
        """Return where each video lies, by its id."""
        return {video.id: self.order.folder / video.path for video in self.found.videos}

    def put_set(
        self,
        entries: Sequence[Any],
        kind: Kind,
        selection: Mapping[str, Any],
        *,
        card: Callable[[Manifest], str],
        origin: str,
    ) -> str:
        """Write a set in one step, with copies of its videos; return its digest."""
        store = self.open_store
        paths = {video.id: video.path for video in self.found.videos}
        spoken = subtitle_paths(store, found=self.found, folder=self.order.folder)
        videos = {
            id_: placed(entry, paths[id_], spoken.get(id_))
            for id_, entry in entries_of(store, {item.video_id for item in entries}).items()
        }
        draft = Manifest(
            kind=kind,
            generator=Generator(name="videoautoarena", version=version("videoautoarena")),
            source=Source(kind=MADE, format="videoautoarena", digest=origin),
            selection=dict(selection),
            licence=self.order.licence,
            counts=counts_of(entries),
            files={},
            videos=copied(videos),
            with_videos=True,
            count=len(entries),
        )
        files = {
            QUESTIONS: question_bytes(entries),
            # A card may quote half a character of a name, which UTF-8 has no bytes for.
            CARD: card(draft).encode("utf-8", "backslashreplace"),
        }
        bench = seal(draft, files, copies_of(store, videos, self.order.folder))
        put(bench.files, self.order.to)
        return str(bench.manifest["bench"])


def placed(entry: BenchVideo, path: str, spoken: str | None) -> BenchVideo:
    """Return the entry of a video with the paths at which it and its subtitles lie now."""
    said = entry.subtitles
    if said is not None and spoken is not None:
        said = said.model_copy(update={"path": spoken})
    return entry.model_copy(update={"path": path, "subtitles": said})


@contextmanager
def drafted(
    order: WritingOrder,
    config: RunConfig,
    *,
    prompts: PromptSet,
    found: Findings,
    videos: Mapping[str, Video],
    write: bool,
) -> Iterator[tuple[Store | None, list[str]]]:
    """Yield the journal of a set, ready for these videos, and what a person should know.

    None if there is none and nothing may be written. BadInput if the set was begun with other
    subtitles, a cap cannot be kept, or it was made meanwhile; RunLocked.
    """
    store = _opened(order, config, prompts, write=write)
    notes = list[str]()
    try:
        settle_caps(store, config, order.caps, write=write)
        known = set(store.video_ids()) & set(videos) if store else set()
        if store is not None:
            _refuse_changed(store, known, found=found, folder=order.folder)
        if write and store is not None:
            new = [video for id_, video in videos.items() if id_ not in known]
            lines = keep_subtitles(store, new, found=found, folder=order.folder, seed=config.seed)
            notes += [line.removesuffix(leave_out()) for line in lines]
            store.add_videos(new)
            if order.retry_failed:
                pardon(store, list(videos), 0)
        yield store, notes
    finally:
        if store is not None:
            store.close()


def keep_calls(order: WritingOrder) -> None:
    """Move the journal of a finished set below its results, and remove the draft."""
    if order.calls.is_file():
        # A process that was killed may have left the last calls in the log beside it.
        Store.open(order.calls, write=True).close()
        results = Path(os.path.realpath(order.to)) / RESULTS
        results.mkdir(exist_ok=True)
        os.replace(order.calls, results / CALLS)
    shutil.rmtree(order.draft, ignore_errors=True)


def _refuse_changed(store: Store, known: set[str], *, found: Findings, folder: Path) -> None:
    """Raise BadInput, before anything is paid, if a set could not hold what was sent."""
    if any(changed_subtitles(store, known, found=found, folder=folder)):
        raise BadInput(
            f"subtitles in {safe(str(folder))} are not those that this set was begun with; put "
            f"those back, or pass a new {option('to')}"
        )


def _opened(
    order: WritingOrder, config: RunConfig, prompts: PromptSet, *, write: bool
) -> Store | None:
    """Return the journal of a set, begun if there is none; None if nothing may be written."""
    if order.calls.is_file():
        return Store.open(order.calls, write=write)
    if not write:
        return None
    # Checked before the folder is made: a refused order leaves no trace.
    settle_caps(None, config, order.caps, write=write)
    check_keys([config.model_of(config.examiner)])
    make_folder(order.draft)
    facts = {
        "schema": SCHEMA,
        "version": version("videoautoarena"),
        "prompts": prompts.digests,
        "contracts": prompts.contracts,
        "reading": prompts.reading,
    }
    store = Store.create(order.calls, facts)
    if not is_free(order.to):
        # Another process put the set and moved its calls after this one had looked for both.
        store.close()
        shutil.rmtree(order.draft, ignore_errors=True)
        raise BadInput(f"{safe(str(order.to))} was made meanwhile; repeat the command to see it")
    keep_prompts(store, prompts)
    return store
