"""The frames and subtitles of a run's videos: decided once, kept by digest, fetched to be sent."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path

from videoautoarena.agents.prompting.fences import fence_code
from videoautoarena.memory.records.digests import canonical_json, digest, read_body, write_body
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Cue, Sampling, Subtitles, Video, VideoFrames
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.failures import condemn, verdict_on
from videoautoarena.runs.run.rundir.reader import SUBTITLES, counted, stored_subtitles
from videoautoarena.video.folder.find import Findings
from videoautoarena.video.folder.subtitles import SubtitleChoice, SubtitleFolder
from videoautoarena.video.workers.decoders import Decoders


def leave_out() -> str:
    """Return the end of the line on subtitles, which jobs without the option cut off."""
    return f" ({option('subtitles', False)} leaves them out)"


def keep_subtitles(
    store: Store, videos: Sequence[Video], *, found: Findings, folder: Path, seed: int
) -> Iterator[str]:
    """Copy the subtitles beside the videos into the run; yield lines for a person."""
    shelf = SubtitleFolder(folder)
    copies = _copies(found)
    count = 0
    for video in videos:
        beside = shelf.beside(video, copies.get(video.path, ()))
        store.add_skipped(beside.skipped)
        yield from _subtitle_lines(video, beside)
        if beside.track is not None:
            count += 1
            track = beside.track
            texts = {f"{place}": cue.text for place, cue in enumerate(track.cues)}
            # One code for all calls about the video, so that they keep their common prefix.
            code = fence_code(seed, video.id, "subtitles", texts)
            kept = Subtitles(path=track.path, sha256=track.sha256, code=code, cues=track.cues)
            store.put_file(f"{SUBTITLES}{video.id}", write_body(kept))
    if count:
        yield (
            f"subtitles beside {count} of {counted(len(videos), 'video')} are sent with the frames"
            f"{leave_out()}"
        )


def changed_subtitles(
    store: Store, videos: Container[str], *, found: Findings, folder: Path
) -> Iterator[str]:
    """Yield one line if subtitles beside the run's `videos` differ from those it has kept."""
    shelf = SubtitleFolder(folder)
    copies = _copies(found)
    known = (video for video in found.videos if video.id in videos)
    if changed := [v for v in known if _is_changed(store, shelf, v, copies.get(v.path, []))]:
        of = safe(changed[0].path) if len(changed) == 1 else f"{len(changed)} videos"
        yield (
            f"the subtitles of {of} differ from those this run began with; the "
            "recorded ones are used"
        )


def _is_changed(store: Store, shelf: SubtitleFolder, video: Video, copies: Sequence[str]) -> bool:
    kept = stored_subtitles(store, video.id)
    if kept is None:
        return shelf.beside(video, copies).track is not None
    return _place_of(kept, shelf, video, copies) is None


def _place_of(
    kept: Subtitles, shelf: SubtitleFolder, video: Video, copies: Sequence[str]
) -> str | None:
    """Return the path of kept subtitles; None if they no longer lie beside the video."""
    names = (name for path in (video.path, *copies) for name in shelf.names(path))
    return next((name for name in names if shelf.has(name, kept.sha256)), None)


def subtitle_paths(store: Store, *, found: Findings, folder: Path) -> dict[str, str]:
    """Return the paths of the subtitles that the run has kept, by the id of their video."""
    shelf = SubtitleFolder(folder)
    copies = _copies(found)
    pairs = ((video, stored_subtitles(store, video.id)) for video in found.videos)
    places = {v.id: _place_of(kept, shelf, v, copies.get(v.path, [])) for v, kept in pairs if kept}
    return {id_: place for id_, place in places.items() if place is not None}


def _copies(found: Findings) -> dict[str, list[str]]:
    """Return the path of a video to the paths of its byte-identical copies."""
    copies: dict[str, list[str]] = {}
    for path, same in found.duplicates:
        copies.setdefault(same, []).append(path)
    return copies


def _subtitle_lines(video: Video, beside: SubtitleChoice) -> Iterator[str]:
    for skipped in beside.skipped:
        yield f"skipped {safe(skipped.path)}: {safe(skipped.reason)}"
    track = beside.track
    if track is None:
        return
    guessed = "" if track.encoding.startswith("utf") else f", read as {track.encoding}"
    others = ", ".join(safe(name) for name in beside.unused)
    if guessed or others:
        left = f"; not used: {others}" if others else ""
        yield f"subtitles of {safe(video.path)}: {safe(track.path)}{guessed}{left}"


PARTS = "frames/"
"""Name in the run's file, before a part's id, of the frames of stretches of a video."""
Spans = Sequence[tuple[float, float]]
WHOLE: Spans = ()


def part_id(video: str, spans: Spans, preset: str | None = None) -> str:
    """Return the id of frames of some stretches of a video; the video's own id for the whole.

    With a preset, which samples otherwise, the whole has another id, too.
    """
    if not spans and preset is None:
        return video
    named = [list(one) for one in spans]
    return f"{video}@{digest(canonical_json([preset, named] if preset else named))[:12]}"


def stored_frames(store: Store, video: str, part: str) -> VideoFrames | None:
    """Return the frames that are kept under this id, or None."""
    if part == video:
        return store.frames(video)
    file = store.file(f"{PARTS}{part}")
    return read_body(VideoFrames, file.text) if file else None


def spoken_in(said: Subtitles, spans: Spans) -> Subtitles | None:
    """Return the cues within stretches, with times from the start of the first stretch."""
    zero_s = spans[0][0]
    cues = tuple(
        cue.model_copy(
            update={"start_s": max(0.0, cue.start_s - zero_s), "end_s": cue.end_s - zero_s}
        )
        for cue in said.cues
        if any(_is_heard(cue, start, end) for start, end in spans)
    )
    return said.model_copy(update={"cues": cues}) if cues else None


def _is_heard(cue: Cue, start: float, end: float) -> bool:
    """Return whether a cue is shown in a stretch; one that ends where it starts is not."""
    return cue.start_s < end and (start < cue.end_s or start == cue.start_s)


KEPT = 48
"""Videos whose frame times and digests stay in memory: two blocks, about 30 KB each."""


class RunFrames:
    """Frames of the videos of one run; `decoders` is None if nothing may be decoded.

    `files` says where each video lies now, which need not be where the run found it. With a
    `generation`, what gives no frames is as it stood in that one. A `preset` keeps frames apart
    from those of other samplings in the same file.
    """

    def __init__(
        self,
        store: Store,
        decoders: Decoders | None,
        *,
        files: Mapping[str, Path],
        sampling: Sampling,
        videos: Mapping[str, Video],
        generation: int | None = None,
        preset: str | None = None,
    ) -> None:
        self._store = store
        self._decoders = decoders
        self._files = files
        self._sampling = sampling
        self._videos = videos
        self._generation = generation
        self._preset = preset
        self._kept: OrderedDict[str, VideoFrames] = OrderedDict()
        self._locks: dict[str, asyncio.Lock] = {}
        self._foreseen: dict[str, UnusableVideo] = {}
        self._parts: dict[str, tuple[str, Sampling]] = {}

    async def frames(self, video: str, spans: Spans = WHOLE) -> VideoFrames:
        """Return times and digests of a video's frames, with its subtitles, or raise UnusableVideo.

        With `spans`, stretches in seconds from its first frame, in order and apart, as many frames
        of these alone; their times count from the first of them. The first time decides them for
        the run.
        """
        part = part_id(video, spans, self._preset)
        if part in self._kept:
            self._kept.move_to_end(part)
            return self._kept[part]
        # One decode, whoever asks first: it decides the frames for the run.
        async with self._locks.setdefault(part, asyncio.Lock()):
            frames = self._kept.get(part)
            if frames is None:
                if (why := verdict_on(self._store, video, self._generation)) is not None:
                    raise UnusableVideo(why)
                spoken = stored_subtitles(self._store, video)
                if part != video:
                    self._parts[part] = video, self._of(spans)
                    known = stored_frames(self._store, video, part)
                    frames = known or await self._first_part(part)
                    spoken = spoken_in(spoken, spans) if spoken and spans else spoken
                else:
                    frames = self._store.frames(video) or await self._first(video)
                frames = frames.model_copy(update={"subtitles": spoken})
            self._kept[part] = frames
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            # From here on there is nothing to wait for.
            self._locks.pop(part, None)
            return frames

    def _of(self, spans: Spans) -> Sampling:
        chosen = tuple((a, b) for a, b in spans) or None
        return self._sampling.model_copy(update={"spans": chosen})

    async def foresee(self, video: str) -> None:
        """Decode a video's frames into the cache; an error is kept until its turn."""
        if self._decoders is None or video not in self._files:
            return
        if await asyncio.to_thread(self.is_quarantined, video):
            return
        file = self._files[video]
        known = self._videos[video]
        # The lock that `frames` takes, so that no video is decoded twice at once.
        async with self._locks.setdefault(video, asyncio.Lock()):
            try:
                await self._decoders.frames(file, known, self._sampling)
            except UnusableVideo as failure:
                self._foreseen[video] = failure

    def has(self, video: str, spans: Spans = WHOLE) -> bool:
        """Return whether the run has the frames of a video, or of some stretches of it."""
        part = part_id(video, spans, self._preset)
        return part in self._kept or stored_frames(self._store, video, part) is not None

    def has_part(self, part: str) -> bool:
        """Return whether this id is one of stretches of a video that were requested here."""
        return part in self._parts

    async def _first_part(self, part: str) -> VideoFrames:
        video, sampling = self._parts[part]
        if self._decoders is None or video not in self._files:
            raise UnusableVideo("this run never saw these frames")
        file = self._files[video]
        known = self._videos[video]
        try:
            found = await self._decoders.frames(file, known, sampling)
        except UnusableVideo:
            await self._condemn_whole(video)
            raise
        # Calls name frames by this id, by which `jpegs` finds the stretches again.
        frames = found.model_copy(update={"video": part})
        self._store.put_file(f"{PARTS}{part}", write_body(frames))
        return frames

    async def _condemn_whole(self, video: str) -> None:
        """Write a video down as unusable if the whole of it gives no frames, either."""
        if self._decoders is None:
            return
        try:
            await self._decoders.frames(self._files[video], self._videos[video], self._sampling)
        except UnusableVideo as failure:
            condemn(self._store, video, str(failure))

    async def _first(self, video: str) -> VideoFrames:
        if self._decoders is None or video not in self._files:
            raise UnusableVideo("this run never saw its frames")
        try:
            if video in self._foreseen:
                # What failed ahead of time is told now, and not decoded a second time.
                raise self._foreseen.pop(video)
            file = self._files[video]
            known = self._videos[video]
            frames = await self._decoders.frames(file, known, self._sampling)
        except UnusableVideo as failure:
            condemn(self._store, video, str(failure))
            raise
        await self._store.put_frames(frames)
        return frames

    def is_quarantined(self, video: str) -> bool:
        """Return whether a video has given no frames and is not tried again."""
        return verdict_on(self._store, video, self._generation) is not None

    async def jpegs(self, video: str, digests: Sequence[str]) -> list[bytes]:
        """Return the JPEG bytes of a video's frames, or raise FramesChanged or UnusableVideo.

        For stretches of a video, `video` is the id of their frames.
        """
        whole, sampling = self._parts.get(video, (video, self._sampling))
        if self._decoders is None or whole not in self._files:
            raise UnusableVideo("its file is not at hand")
        return await self._decoders.jpegs(
            self._files[whole], self._videos[whole], sampling=sampling, digests=digests
        )
