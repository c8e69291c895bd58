"""`arena view`: a run, or the runs of a folder, as a page of this machine; nothing is written."""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, Router

from videoautoarena.memory.records.errors import ArenaError, BadInput, FramesChanged, UnusableVideo
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.connection import Seen
from videoautoarena.runs.console.progress.status import holder
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.opener import NO_FOLDER, UNKNOWN_FOLDER
from videoautoarena.runs.run.rundir.reader import (
    holds_a_run,
    lock_file,
    one_line,
    open_run,
    refuse_set,
    runs_below,
)
from videoautoarena.runs.run.rundir.slots import Tally
from videoautoarena.runs.serve.server.files import VideoFiles, VideoGone
from videoautoarena.runs.serve.server.guard import Guard, Sessions
from videoautoarena.runs.serve.server.serve import announce, aside, listen, port_of, serve
from videoautoarena.runs.serve.view.events import Current, RunWatch, as_json, stamp_of
from videoautoarena.runs.serve.view.pictures import RunPictures
from videoautoarena.runs.views.page.document import document, policy
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

Row = dict[str, Any]


class RunsBelow:
    """The runs below a folder, each known by a name that says nothing of where it lies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: dict[str, Path] = {}
        self._rows: dict[str, tuple[Seen, Row]] = {}

    def look(self) -> list[Row]:
        """Return the runs that are there now, the one that was written to last first."""
        found = {_id(path, self._folder): path for path in runs_below(self._folder)}
        self._found = found
        rows = [self._row(id_, path) for id_, path in found.items()]
        return sorted(rows, key=lambda row: -row["changed_s"])

    def folder_of(self, id_: str) -> Path | None:
        """Return where the run of a name lies; None if the last look found none."""
        return self._found.get(id_)

    def _row(self, id_: str, path: Path) -> Row:
        name = safe(path.relative_to(self._folder).as_posix())
        row: Row = {"id": id_, "name": name, "changed_s": 0.0, "reason": None}
        try:
            stamp = stamp_of(path)
            # A stamp has nanoseconds.
            row["changed_s"] = max(part[2] for part in stamp if part) / 1e9
            if id_ not in self._rows or self._rows[id_][0] != stamp:
                self._rows[id_] = stamp, _read(path)
            return row | self._rows[id_][1] | {"running": holder(lock_file(path)) is not None}
        except (ArenaError, OSError, ValueError) as wrong:
            return row | {"reason": one_line(str(wrong), 200), "running": False}


def _read(folder: Path) -> Row:
    with open_run(folder) as run:
        tally = Tally.of(run.store)
        models = [safe(name) for name in run.manifest["models"]]
    return {"settled": tally.settled, "slots": tally.slots, "models": models}


def _id(path: Path, folder: Path) -> str:
    # Names of folders need be no UTF-8, so their bytes are hashed.
    return sha256(os.fsencode(path.relative_to(folder))).hexdigest()[:12]


NICER = 10
"""Niceness of the server, so that a run that is being played goes first."""
OPEN_RUNS = 8
"""Runs of a folder that are kept in memory; beyond that the one opened first is forgotten."""
NEW_LINK = "for this browser, run arena view once more: it prints a link of its own"
# `int` would also take signs, underscores and digits of other scripts.
_NUMBER = re.compile(r"[0-9]{1,9}")


class ShownRun:
    """One run and all that is kept of it while it is looked at."""

    def __init__(self, folder: Path, decoders: Decoders, films: Path | None = None) -> None:
        self.folder = folder
        self.pictures = RunPictures(folder, decoders, films)
        self.current = Current(folder, self.pictures.lay_out)
        self.watch = RunWatch(self.current)
        self.files = VideoFiles()


class RunChoice(Protocol):
    """The runs that can be looked at."""

    async def run(self, name: str | None) -> ShownRun | None:
        """Return the run of a name; None if there is none."""

    async def runs(self) -> list[Row] | None:
        """Return the list of runs; None where one run alone is shown."""

    async def prepare(self) -> None:
        """Read what the first page will ask for."""


class OneRun:
    """One run, which needs no name."""

    def __init__(self, folder: Path, decoders: Decoders, films: Path | None = None) -> None:
        with open_run(folder):
            self._shown = ShownRun(folder, decoders, films)

    async def run(self, name: str | None) -> ShownRun | None:
        """Return the run, which has no name."""
        return self._shown if name is None else None

    async def runs(self) -> list[Row] | None:
        """Return None: one run leaves no choice."""
        return None

    async def prepare(self) -> None:
        """Read the run; its errors are reported when a page asks for it."""
        with suppress(ArenaError):
            await self._shown.current.data()


class RunsOfFolder:
    """The runs of a folder; each is read when it is opened."""

    def __init__(self, folder: Path, decoders: Decoders) -> None:
        self._below = RunsBelow(folder)
        self._decoders = decoders
        self._shown: dict[str, ShownRun] = {}
        if not self._below.look():
            refuse_set(folder)
            raise BadInput(f"{folder} holds no run; pass that of a run, or a folder of runs")

    async def run(self, name: str | None) -> ShownRun | None:
        """Return a run by its name in the list."""
        if name is None or (folder := self._below.folder_of(name)) is None:
            return None
        if name not in self._shown:
            while len(self._shown) >= OPEN_RUNS:
                self._shown.pop(next(iter(self._shown)))
            self._shown[name] = ShownRun(folder, self._decoders)
        return self._shown[name]

    async def runs(self) -> list[Row] | None:
        """Return the runs as they are now."""
        return await aside(self._below.look)

    async def prepare(self) -> None:
        """Do nothing: the list is read anew whenever it is asked for."""


class _Endpoints:
    """Answers what pages ask for; `?run=` names one of several runs."""

    def __init__(self, choice: RunChoice) -> None:
        self._choice = choice
        self._page = "".join(document("report", place="served"))

    async def page(self, _request: Request) -> Response:
        return Response(self._page, media_type="text/html")

    async def runs(self, _request: Request) -> Response:
        return _json(as_json({"runs": await self._choice.runs()}))

    async def summary(self, request: Request) -> Response:
        shown = await self._shown(request)
        if shown is None:
            return _nothing("run")
        data = await shown.current.data()
        live = await shown.watch.live(data)
        return _json(as_json(data.page.summary | {"live": vars(live)}))

    async def index(self, request: Request) -> Response:
        shown = await self._shown(request)
        return _json((await shown.current.data()).index) if shown else _nothing("run")

    async def videos(self, request: Request) -> Response:
        shown = await self._shown(request)
        return _json((await shown.current.data()).videos) if shown else _nothing("run")

    async def part(self, request: Request) -> Response:
        shown = await self._shown(request)
        number = _number(request, "number")
        if shown is None or number is None:
            return _nothing("part")
        page = (await shown.current.data()).page
        return _json(as_json(await aside(lambda: page.part(number))))

    async def sprite(self, request: Request) -> Response:
        shown = await self._shown(request)
        webp = await shown.pictures.sheet(request.path_params["video"]) if shown else None
        return _nothing("picture") if webp is None else Response(webp, media_type="image/webp")

    async def video(self, request: Request) -> Response:
        shown = await self._shown(request)
        id_ = request.path_params["video"]
        found = await aside(lambda: shown.pictures.find(id_)) if shown else None
        if shown is None or found is None:
            return _nothing("video")
        if found.folder is NO_FOLDER:
            return _gone(VideoGone(UNKNOWN_FOLDER))
        try:
            return await shown.files.response(found.video, found.folder)
        except VideoGone as gone:
            return _gone(gone)

    async def frame(self, request: Request) -> Response:
        shown = await self._shown(request)
        place = _number(request, "place")
        if shown is None or place is None:
            return _nothing("frame")
        try:
            jpeg = await shown.pictures.frame(request.path_params["video"], place)
        except (UnusableVideo, FramesChanged) as gone:
            return _gone(gone)
        return _nothing("frame") if jpeg is None else Response(jpeg, media_type="image/jpeg")

    async def events(self, request: Request) -> Response:
        shown = await self._shown(request)
        if shown is None:
            return _nothing("run")
        return StreamingResponse(shown.watch.events(), media_type="text/event-stream")

    async def _shown(self, request: Request) -> ShownRun | None:
        return await self._choice.run(request.query_params.get("run"))


def view_app(choice: RunChoice) -> Router:
    """Return the application that shows one run or several."""
    of = _Endpoints(choice)
    routes = [
        Route("/", of.page),
        Route("/api/runs", of.runs),
        Route("/api/summary", of.summary),
        Route("/api/index", of.index),
        Route("/api/videos", of.videos),
        Route("/api/part/{number}", of.part),
        Route("/api/sprite/{video}", of.sprite),
        Route("/api/video/{video}", of.video),
        Route("/api/frame/{video}/{place}", of.frame),
        Route("/api/events", of.events),
    ]
    return Router(routes, redirect_slashes=False)


async def view(
    folder: Path, port: int | None, *, films: Path | None = None, opens: bool = False
) -> None:
    """Show a run, or the runs below a folder, until somebody interrupts.

    `films` is the folder of a run's videos; None: the one named last on this machine.

    Raises:
        BadInput: no run is there, or the port cannot be used.
    """
    async with Decoders(FrameCache(), workers=1) as decoders:
        is_run = holds_a_run(folder) or not folder.is_dir()
        if films is not None and not is_run:
            raise BadInput(f"{option('videos')} is for one run; {folder} is a folder of runs")
        choice = OneRun(folder, decoders, films) if is_run else RunsOfFolder(folder, decoders)
        with listen(port) as listener:
            os.nice(NICER)
            sessions = Sessions(port_of(listener))
            guard = Guard(view_app(choice), sessions, policy=policy("report"), new_link=NEW_LINK)
            link = sessions.link()
            # Begun before the link is printed: the first page then finds the run read, or nearly
            # so.
            preparing = asyncio.create_task(choice.prepare())
            await serve(guard, listener, lambda: announce({"": link}, opens=opens))
            preparing.cancel()


def _number(request: Request, name: str) -> int | None:
    text: str = request.path_params[name]
    return int(text) if _NUMBER.fullmatch(text) else None


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def _nothing(what: str) -> Response:
    return PlainTextResponse(f"there is no such {what}\n", status_code=404)


def _gone(why: Exception) -> Response:
    return PlainTextResponse(f"{one_line(str(why), 200)}\n", status_code=410)
