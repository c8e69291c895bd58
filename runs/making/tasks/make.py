"""Making a set of items: a folder is looked at, items are drawn, films encoded, all put at once."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import JsonValue, ValidationError

from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.memory.records.records import SCHEMA, Video
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.connection import RunLock, lock_of
from videoautoarena.runs.bench.format.reader import open_bench, read_bench, sha256_of
from videoautoarena.runs.bench.format.schema import (
    CARD,
    MADE,
    QUESTIONS,
    VIDEOS,
    Generator,
    Manifest,
    Source,
    counts_of,
    digest_of,
    question_bytes,
)
from videoautoarena.runs.bench.format.writer import Copy, put, seal
from videoautoarena.runs.bench.score.shortcuts import Shortcuts, need_probes, probe_bench
from videoautoarena.runs.console.progress.listeners import OnProgress, gather
from videoautoarena.runs.formats.files import write_whole
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import roughly, spent
from videoautoarena.runs.jobs.paid_job import NOBODY, JobAudience
from videoautoarena.runs.making.tasks.card import card_text
from videoautoarena.runs.making.tasks.items import (
    ID_LENGTH,
    MAKER,
    REASONS,
    DraftItem,
    Drawn,
    Encoded,
    ItemQuota,
    ItemRequest,
    draw_items,
    entry_of,
    expect_bytes,
    video_of,
)
from videoautoarena.runs.making.tasks.options import Bank
from videoautoarena.runs.making.tasks.sight import Looked, look
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.synth.film import CRF
from videoautoarena.video.synth.timeline import FILLER
from videoautoarena.video.workers.decoders import Decoders
from videoautoarena.video.workers.pool import HANDS

ENCODED_A_SECOND = 1_500_000
"""Bytes of film, as they are expected, that a core encodes: 50 million pixels."""


@dataclass(frozen=True)
class Made:
    """A set that was made, was there, or would be made."""

    folder: Path
    """Where it lies."""
    bench: str | None
    """Its digest; None if it is only planned."""
    items: int
    """Items in it."""
    wanted: int
    """Items that were asked for."""
    cells: tuple[ItemQuota, ...]
    """One for each kind and length: `kind`, `seconds` of ground, `wanted`, `made`."""
    videos: int
    """Videos of the folder that could be used."""
    unusable: tuple[tuple[str, str], ...]
    """Path and reason of each of the other videos."""
    descriptions: int
    """Number of descriptions that the items are about."""
    film_s: float
    """How long all films are together."""
    size_bytes: int
    """What they take on disk, roughly: a quarter of a bit a pixel."""
    was_there: bool = False
    """The folder held this set already."""
    shortcuts: Shortcuts | None = None
    """[What its text gives away](#what-a-set-gives-away); None if it is only planned."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena tasks make --json`."""
        cells = [
            {"kind": cell.kind, "seconds": seconds, "wanted": cell.wanted, "made": cell.made}
            for cell in self.cells
            for seconds in cell.lengths
        ]
        rest = {
            name: value for name, value in vars(self).items() if name not in ("cells", "folder")
        }
        found = {"shortcuts": self.shortcuts and self.shortcuts.to_json()}
        return {"schema": SCHEMA, "folder": str(self.folder), "cells": cells, **rest, **found}

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        shown = safe(str(self.folder))
        whole = f"{counted(self.items, 'item')} of {self.wanted}, {spent(self.film_s)} of video"
        if self.bench is None:
            rough = f"{self.size_bytes / 1e9:.1f}" if self.size_bytes >= 5e7 else "under 0.1"
            lines = [f"{shown} would have {whole} to encode, roughly {rough} GB"]
            took = roughly(self.size_bytes / ENCODED_A_SECOND / HANDS)
            lines.append(f"encoding takes about {took} on {counted(HANDS, 'core')}")
        else:
            verb = "already holds this set" if self.was_there else "made"
            lines = [f"{shown} {verb}: {whole}, bench {self.bench[:12]}"]
        cells = ", ".join(
            f"{cell.made} {cell.where}" + (f" of {cell.wanted}" if cell.is_exhausted else "")
            for cell in self.cells
        )
        about = f"{counted(self.videos, 'video')} with {counted(self.descriptions, 'description')}"
        lines.append(f"{cells}; from {about}")
        return [*lines, *(self.shortcuts.as_lines() if self.shortcuts else ())]


@dataclass(frozen=True)
class Order:
    """What is made of which folder, and where it goes."""

    folder: Path
    to: Path
    wish: ItemRequest
    licence: str | None = None
    is_upper_bound: bool = False
    """Whether fewer items will do if the folder gives no more."""

    @property
    def draft(self) -> Path:
        """Where films lie until all are there."""
        # The real one: a folder typed as `.` has no name to add to.
        real = Path(os.path.realpath(self.to))
        return real.with_name(f".{real.name}.making")


async def make(order: Order, audience: JobAudience = NOBODY, *, is_plan: bool = False) -> Made:
    """Return the set that was made of a folder, or would be; the same order gives the same bytes.

    What is encoded is kept beside the set until all of it is: the same order goes on from there.

    Raises:
        BadInput: the folder gives too few items, or something cannot be read or written.
        RunLocked: another process is making a set there.
    """
    # The set ends with its probes, for which an extra has to be installed: before hours of
    # encoding.
    need_probes()
    refuse_inside(order.folder, order.to)
    # A plan, and a set that is there, write nothing and need no lock.
    is_read_only = is_plan or not is_free(order.to)
    with nullcontext() if is_read_only else _alone(order):
        return await _make(order, audience, is_plan=is_plan)


def refuse_inside(folder: Path, to: Path) -> None:
    """Raise BadInput if a set would lie among the videos that it is made of."""
    if Path(os.path.realpath(to)).is_relative_to(os.path.realpath(folder)):
        raise BadInput(
            f"{safe(str(to))} lies in {safe(str(folder))}, and what is made would be taken for its "
            f"videos; pass a {option('to')} outside of it"
        )


@contextmanager
def _alone(order: Order) -> Iterator[None]:
    """Let nobody else make a set in the same place for as long as the block lasts."""
    try:
        order.draft.parent.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise BadInput(f"{safe(str(order.to))} cannot be written: {wrong.strerror}") from None
    lock = RunLock(lock_of(order.draft), busy=f"{safe(str(order.to))} is being made")
    try:
        yield
    finally:
        lock.release(remove=True)


async def _make(order: Order, audience: JobAudience, *, is_plan: bool) -> Made:
    found = await asyncio.to_thread(gather, order.folder, audience.say)
    origin = _origin(order, found.videos)
    bench = set_in(order.to, origin, order.licence)
    with audience.progress() as on_progress:
        looked = await look(order.folder, found.videos, on_progress=on_progress)
    for path, why in looked.unusable:
        audience.say(f"not used: {safe(path)} {safe(why)}")
    drawn = await asyncio.to_thread(draw_items, Bank(looked.footage), order.wish)
    if not drawn.items or (len(drawn.items) < drawn.wanted and not order.is_upper_bound):
        raise BadInput(_shortfall(order, looked, drawn))
    made = Made(
        folder=order.to,
        bench=bench,
        items=len(drawn.items),
        wanted=drawn.wanted,
        cells=tuple(drawn.cells),
        videos=len(looked.footage),
        unusable=tuple(looked.unusable),
        descriptions=_descriptions(drawn),
        film_s=sum(item.film_s for item in drawn.items),
        size_bytes=expect_bytes(drawn.items, [one.video for one in looked.footage]),
        was_there=bench is not None,
    )
    if bench is not None:
        return await asyncio.to_thread(_probed, made)
    if is_plan:
        return made
    with audience.progress() as on_progress:
        encoded = await _encode(order, looked, drawn.items, on_progress)
    bench = await asyncio.to_thread(_put, order, drawn.items, encoded=encoded, origin=origin)
    shutil.rmtree(order.draft, ignore_errors=True)
    return await asyncio.to_thread(_probed, replace(made, bench=bench))


def _probed(made: Made) -> Made:
    return replace(made, shortcuts=probe_bench(open_bench(made.folder)))


def _origin(order: Order, videos: Sequence[Video]) -> str:
    """Return the digest of all that decides which items come out."""
    made_of = sorted(video.sha256 for video in videos)
    # Versions of what makes and encodes films are part of it: other films are another set.
    return digest_of([MAKER, FILLER, CRF, _asked(order.wish), made_of])


def is_free(place: Path) -> bool:
    """Return whether a set can be put there: nothing is, or an empty folder."""
    return not os.path.lexists(place) or (place.is_dir() and not any(place.iterdir()))


def set_in(to: Path, origin: str, licence: str | None) -> str | None:
    """Return the digest of the set that is there already; None if nothing is.

    Raises BadInput if something else is there.
    """
    if is_free(to):
        return None
    read = read_bench(to)
    known = read.manifest
    is_this = known and (known.source.digest, known.licence) == (origin, licence)
    if is_this and not read.problems:
        return read.bench
    raise BadInput(f"{safe(str(to))} holds something else; pass a new folder")


def _descriptions(drawn: Drawn) -> int:
    return len({stretch.text for item in drawn.items for stretch in item.stretches})


def _shortfall(order: Order, looked: Looked, drawn: Drawn) -> str:
    """Return how many items a folder gives, of which there are too few, and why, in a line."""
    short = [cell for cell in drawn.cells if cell.is_exhausted]
    cells = ", ".join(f"{one.made} of {one.wanted} {one.where}" for one in short)
    why = {one: sum(cell.why[one] for cell in short) for one in REASONS}
    if len(looked.footage) < 2:
        reason = "what is set in has to come from another video than the rest"
    elif why["repeated"] > why["alike"]:
        reason = "every set of options that it gives is used"
    else:
        reason = "too few of its stretches can be described and are foreign to the rest"
    help_ = "add videos that look different"
    if drawn.items:
        help_ += f", ask for fewer, or pass {option('at_most', True)} to take what there is"
    return (
        f"{safe(str(order.folder))} gives {len(drawn.items)} of {drawn.wanted} items ({cells}): "
        f"with {counted(len(looked.footage), 'usable video')}, {reason}; {help_}"
    )


async def _encode(
    order: Order, looked: Looked, items: Sequence[DraftItem], on_progress: OnProgress
) -> list[Encoded]:
    """Return the films of the items, in their order, all of which are then in the draft."""
    files = {one.video.sha256: (order.folder / one.video.path).absolute() for one in looked.footage}
    try:
        order.draft.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise BadInput(f"{safe(str(order.draft))} cannot be written: {wrong.strerror}") from None
    done = 0
    async with Decoders(FrameCache()) as decoders:

        async def encode(item: DraftItem) -> Encoded:
            nonlocal done
            encoded = await _film(decoders, order.draft, item, files)
            done += 1
            on_progress(done, len(items), "encoded")
            return encoded

        tasks = [asyncio.create_task(encode(item)) for item in items]
        try:
            return await asyncio.gather(*tasks)
        except UnusableVideo as failure:
            here = safe(str(order.folder))
            raise BadInput(f"{failure}; take it out of {here} and start again") from None
        finally:
            # A video that cannot be used ends it: nobody waits for the other films.
            for task in tasks:
                task.cancel()


async def _film(
    decoders: Decoders, draft: Path, item: DraftItem, files: Mapping[str, Path]
) -> Encoded:
    file, note = (draft / f"{item.plan.sha256}{suffix}" for suffix in (".mp4", ".json"))
    known = await asyncio.to_thread(_known, file, note)
    if known is not None:
        return known
    film = await decoders.film(item.plan, files, file)
    sha256 = await asyncio.to_thread(sha256_of, file)
    encoded = Encoded(sha256=sha256, size_bytes=file.stat().st_size, film=film)
    # Behind the film: one without a note was cut off and is encoded again.
    await asyncio.to_thread(write_whole, note, encoded.model_dump_json().encode())
    return encoded


def _known(file: Path, note: Path) -> Encoded | None:
    """Return what was encoded before; None if it is not whole."""
    try:
        encoded = Encoded.model_validate_json(note.read_bytes())
        return encoded if sha256_of(file) == encoded.sha256 else None
    except (OSError, ValidationError):
        return None


def _put(
    order: Order, items: Sequence[DraftItem], *, encoded: Sequence[Encoded], origin: str
) -> str:
    entries = [
        entry_of(item, one, order.wish.seed) for item, one in zip(items, encoded, strict=True)
    ]
    videos = {one.sha256[:ID_LENGTH]: video_of(one) for one in encoded}
    draft = Manifest(
        kind="choice",
        generator=Generator(name="videoautoarena", version=version("videoautoarena")),
        source=Source(kind=MADE, format="videoautoarena", digest=origin),
        selection={"maker": MAKER, **_as_json(order.wish)},
        licence=order.licence,
        counts=counts_of(entries),
        files={},
        videos=videos,
        with_videos=True,
        count=len(entries),
    )
    # A card may quote half a character of a name, which UTF-8 has no bytes for.
    card = card_text(draft).encode("utf-8", "backslashreplace")
    copies = {
        f"{VIDEOS}/{one.sha256[:ID_LENGTH]}.mp4": Copy(
            order.draft / f"{item.plan.sha256}.mp4", one.sha256
        )
        for item, one in zip(items, encoded, strict=True)
    }
    bench = seal(draft, {QUESTIONS: question_bytes(entries), CARD: card}, copies)
    put(bench.files, order.to)
    return str(bench.manifest["bench"])


def _as_json(wish: ItemRequest) -> dict[str, JsonValue]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in _asked(wish).items()
    }


def _asked(wish: ItemRequest) -> dict[str, Any]:
    """Return what was asked for, without a word of ladders unless they were."""
    # So that sets of before there were ladders are known by the digest that they had.
    return {name: value for name, value in asdict(wish).items() if value is not False}
