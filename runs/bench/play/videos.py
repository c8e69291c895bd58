"""The videos that a bench asks about: found in a folder, and held against what was frozen.

Ids of a bench may come from anybody and are never names of files; what is found has the id that
its bytes give it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.memory.records.records import Cue, Subtitles, Video
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.schema import PREFERENCE, BenchVideo, digest_of
from videoautoarena.runs.bench.format.verify import file_named, files_by_name, inside
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.frames import keep_subtitles
from videoautoarena.runs.run.rundir.reader import counted, one_line, stored_subtitles
from videoautoarena.video.folder.find import Findings, find_videos, read_video, refuse_no_folder
from videoautoarena.video.folder.subtitles import SubtitleFolder, SubtitleTrack

REMEMBERED = "bench-video/"
"""Name in the file of calls, before the digest of a bench's video id, of the sha256 of its file."""

AROUND = 25
"""Characters of the times around what is said in one cue."""
MOST_NAMED = 10
"""Lost videos that are named; the rest is counted."""


class BenchVideos(NamedTuple):
    """Which files the videos of a bench are."""

    videos: dict[str, Video]
    """Videos by the bench's id; the own id of each follows from its bytes."""
    files: dict[str, Path]
    """Files by the video's own id; that of a video seen before may be gone."""
    lost: dict[str, str]
    """The bench's id of a video that cannot be had to the reason."""
    unchecked: frozenset[str]
    """Ids of the videos whose bytes the bench does not know."""
    folder: Path | None


def find_bench_videos(
    bench: OpenBench,
    wanted: Sequence[str],
    *,
    folder: Path | None,
    store: Store | None,
    is_needed: bool = True,
    why: str = "",
) -> BenchVideos:
    """Return the videos of a bench: by digest where it knows one, else by path, name or id.

    A video whose subtitles are not those of the bench is lost. Nothing is written. `folder` is
    None for the copies in the bench, or for what `store`, its file of calls, saw before. If none
    is needed, since nobody is sent a frame, no folder is looked at; `why` says who needs them if
    no player does. BadInput if it is no folder or empty, or a video was never seen.
    """
    seen = seen_videos(store)
    if folder is None and bench.videos is not None and is_needed:
        _refuse_links(bench.videos)
    folder = folder or bench.videos
    if folder is not None:
        refuse_no_folder(folder)
    entries = bench.manifest.videos
    if not is_needed:
        there = {id_: video for id_ in wanted if (video := seen.get(digest_of(id_))) is not None}
        return BenchVideos(there, {}, {}, frozenset(), None)
    unchecked = frozenset(id_ for id_ in wanted if entries[id_].sha256 is None)
    films = BenchVideos({}, {}, {}, unchecked, folder)
    shelf = _VideoFolder(folder) if folder is not None else None
    if shelf is not None and not shelf.by_name:
        raise BadInput(f"{folder} is empty; pass the folder of videos with {option('videos')}")
    for id_ in dict.fromkeys(wanted):
        before = seen.get(digest_of(id_))
        if shelf is None and before is None:
            # Judges of preferences look at the videos, whatever the players see.
            is_judged = bench.manifest.kind == PREFERENCE
            blind = "" if is_judged else ", or play models that need none (max_frames = 0)"
            raise BadInput(
                f"{bench.folder} holds no copies of its videos{why}; pass their folder with "
                f"{option('videos')}, where they are found {_found_by(films)}{blind}"
            )
        try:
            found = before if shelf is None else _found(shelf, id_, entries[id_], before)
        except UnusableVideo as why:
            films.lost[id_] = str(why)
            continue
        if found is not None:
            films.videos[id_] = found
            if folder is not None:
                films.files[found.id] = folder / found.path
    _lose_other_subtitles(bench, store, films)
    return films


def _found_by(films: BenchVideos) -> str:
    """Return by what the videos of a bench are looked for."""
    return "by path, name or id" if films.unchecked else "by content"


def _refuse_links(copies: Path) -> None:
    """Refuse copies of which one is a link: they came with a bench, and it may lead anywhere."""
    found = [copies, *sorted(copies.iterdir())] if copies.is_dir() else [copies]
    if link := next((path for path in found if path.is_symlink()), None):
        raise BadInput(
            f"{safe(str(link))} is a link, and no copy of a video; pass the folder of videos with "
            f"{option('videos')}"
        )


def remember_videos(bench: OpenBench, store: Store, films: BenchVideos) -> list[str]:
    """Keep which files a bench's videos are, and their subtitles; return what to know of those."""
    notes = list(_keep_subtitles(bench, store, films))
    for id_, video in films.videos.items():
        store.add_videos([video])
        store.put_file(f"{REMEMBERED}{digest_of(id_)}", video.sha256)
    return notes


def video_notes(bench: OpenBench, films: BenchVideos) -> Iterator[str]:
    """Yield which videos are lost or unchecked, safe to print."""
    for id_, why in list(films.lost.items())[:MOST_NAMED]:
        path = bench.manifest.videos[id_].path
        yield f"video {one_line(path or id_, 80)} {one_line(why, 120)}; its questions are void"
    if (more := len(films.lost) - MOST_NAMED) > 0:
        yield f"{more} more videos are missing likewise"
    if films.unchecked:
        many = counted(len(films.unchecked), "video")
        yield (f"{many} not checked: the bench has no digests of them, so they are matched by name")


def _keep_subtitles(bench: OpenBench, store: Store, films: BenchVideos) -> Iterator[str]:
    """Copy subtitles of new videos: those the bench names, else what lies beside them."""
    if (videos := _to_be_read(bench, store, films)) and films.folder is not None:
        # Always one seed, not the player's: answers must not depend on how seats are drawn.
        found = Findings(videos, [], [])
        yield from keep_subtitles(store, videos, found=found, folder=films.folder, seed=0)


def _to_be_read(bench: OpenBench, store: Store | None, films: BenchVideos) -> list[Video]:
    """Return the new videos whose subtitles count, where they have any."""
    entries = bench.manifest.videos
    if films.folder is None or bench.manifest.run.get("subtitles") is False:
        return []
    # A bench that names the subtitles of some videos was made without any of the others.
    names_some = any(entry.subtitles for entry in entries.values())
    fresh = _fresh(store, films)
    return [video for id_, video in fresh.items() if entries[id_].subtitles or not names_some]


def subtitle_chars(bench: OpenBench, store: Store | None, films: BenchVideos) -> dict[str, int]:
    """Return how many characters are sent of each video's subtitles, kept or about to be."""
    cues: dict[str, Sequence[Cue]] = {}
    for video in films.videos.values():
        if store is not None and (kept := stored_subtitles(store, video.id)) is not None:
            cues[video.id] = kept.cues
    if films.folder is not None:
        shelf = SubtitleFolder(films.folder)
        tracks = {v.id: shelf.beside(v).track for v in _to_be_read(bench, store, films)}
        cues |= {id_: track.cues for id_, track in tracks.items() if track is not None}
    return {id_: sum(len(cue.text) + AROUND for cue in found) for id_, found in cues.items()}


def _fresh(store: Store | None, films: BenchVideos) -> dict[str, Video]:
    """Return those videos, by the bench's id, that were not seen before."""
    known = set(store.video_ids()) if store is not None else set[str]()
    return {id_: video for id_, video in films.videos.items() if video.id not in known}


def _lose_other_subtitles(bench: OpenBench, store: Store | None, films: BenchVideos) -> None:
    """Count as lost each video whose subtitles, kept or about to be, are not those frozen."""
    fresh = _fresh(store, films)
    folder = films.folder
    if bench.manifest.run.get("subtitles") is False:
        folder = None
    for id_, video in list(films.videos.items()):
        frozen = bench.manifest.videos[id_].subtitles
        if frozen is None:
            continue
        kept = stored_subtitles(store, video.id) if store is not None else None
        found: Subtitles | SubtitleTrack | None = kept
        # Of a video that was played before only what was kept then counts, not what lies there now.
        if kept is None and folder is not None and id_ in fresh:
            found = SubtitleFolder(folder).beside(video).track
        if found is None:
            films.lost[id_] = "has lost its subtitles"
        # Subtitles are sent with the frames: with others the model would be asked something else.
        elif found.sha256 != frozen.sha256:
            films.lost[id_] = "has other subtitles than were frozen"
        if id_ in films.lost:
            del films.videos[id_]


def seen_videos(store: Store | None) -> dict[str, Video]:
    """Return the videos seen before, by the digest of the bench's id for them."""
    if store is None:
        return {}
    videos = {video.sha256: video for video in store.videos()}
    marks = (file for file in store.files() if file.name.startswith(REMEMBERED))
    found = ((mark.name.removeprefix(REMEMBERED), videos.get(mark.text)) for mark in marks)
    return {id_: video for id_, video in found if video is not None}


class _VideoFolder:
    """A folder of videos; its files are read once, and only where they must be."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def by_content(self) -> Mapping[str, Video]:
        """Every video by its sha256; reads the whole folder."""
        return {video.sha256: video for video in find_videos(self.path).videos}

    @cached_property
    def sizes(self) -> frozenset[int]:
        """How many bytes its files have; reads none of them."""
        files = [self.path / path for paths in self.by_name.values() for path in paths]
        # A link to nothing has a name among the files, but no size.
        return frozenset(file.stat().st_size for file in files if file.exists())

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[str]]:
        """Relative paths by the names that a file goes by."""
        return files_by_name(self.path)


def _found(shelf: _VideoFolder, id_: str, entry: BenchVideo, before: Video | None) -> Video:
    """Return the video of an entry; raise UnusableVideo with what became of it."""
    if entry.sha256 is not None:
        return _known(shelf, entry, entry.sha256)
    video = read_video(shelf.path, file_named(shelf.path, shelf.by_name, id_, entry))
    # Without a digest in the bench, the file that was played first is the video from then on.
    if before is not None and before.sha256 != video.sha256:
        raise UnusableVideo("is another file than when this bench was first run")
    return video


def _known(shelf: _VideoFolder, entry: BenchVideo, sha256: str) -> Video:
    """Return the video with these bytes, from where it was frozen or from anywhere."""
    place = inside(shelf.path, entry.path or "")
    is_there = place is not None and place.is_file()
    # Where it was frozen first: so no other file of the folder is read.
    if is_there and (video := read_video(shelf.path, entry.path or "")).sha256 == sha256:
        return video
    # A wrong folder may hold terabytes, all of which would be read to find nothing.
    may_be_moved = entry.size_bytes is None or entry.size_bytes in shelf.sizes
    if may_be_moved and (moved := shelf.by_content.get(sha256)) is not None:
        return moved
    raise UnusableVideo(
        "is another file than was frozen: its digest does not match" if is_there else "is missing"
    )


def refuse_missing(bench: OpenBench, films: BenchVideos, *, allowed: bool) -> None:
    """Raise BadInput if a video that is asked about is missing; if that is allowed, if all are."""
    if not films.lost or (allowed and films.videos):
        return
    id_, why = next(iter(films.lost.items()))
    first = f"{one_line(bench.manifest.videos[id_].path or id_, 80)} {one_line(why, 120)}"
    place = safe(str(films.folder or bench.folder))
    lost = len(films.lost)
    if not films.videos:
        raise BadInput(
            f"{place} holds none of the {lost} videos asked about ({first}); pass their folder "
            f"with {option('videos')}, where they are found {_found_by(films)}"
        )
    raise BadInput(
        f"{place} lacks {lost} of the {lost + len(films.videos)} videos asked about ({first}); "
        f"pass the folder of all with {option('videos')}, or count questions of the missing as "
        "void with "
        f"{option('allow_missing', True)}"
    )
