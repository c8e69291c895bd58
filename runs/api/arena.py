"""The whole run as one LangGraph, and the runs that this process has open.

`simulate`, `va.simulate`, a LangGraph server and a Ray cluster play this graph. A command opens its
run before the event loop begins and lends it to the graph; on a server the graph opens it itself,
by what the request says, with whichever node comes first.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from videoautoarena.graph.arena import RunDoors, Tell, Update, arena_graph
from videoautoarena.graph.context import Game
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.analysis.leaderboard.board import board_of
from videoautoarena.runs.api.simulate import session_of
from videoautoarena.runs.console.progress.events import Listeners
from videoautoarena.runs.console.progress.trace import as_json
from videoautoarena.runs.formats.record_json import fields_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.opener import holds_run
from videoautoarena.runs.tournament.runner import Finished, RunSession
from videoautoarena.video.synth.samples import make_samples


class OpenRuns(RunDoors[RunRequest]):
    """The runs that this process has open, by folder as it was written, and the ways to them.

    Two spellings of one folder end at the lock of its run, as two processes do.
    """

    def __init__(self) -> None:
        self._sessions: dict[Path, tuple[str, RunSession]] = {}
        self._opening = asyncio.Lock()

    @contextmanager
    def adopted(self, out: Path, session: RunSession) -> Iterator[None]:
        """Let the graph play a run that is open already."""
        self._sessions[out] = ("", session)
        try:
            yield
        finally:
            self._sessions.pop(out, None)

    async def open(self, request: RunRequest, owner: str, tell: Tell) -> Update:
        """Begin a run, or check that the one that is there goes on; return its counts."""
        session = self._sessions.get(request.out, (owner, None))[1]
        # One that was begun and is not played was left by a graph that has been cancelled.
        if session is not None and session.is_begun and not session.holders:
            await self._let_go(request)
        return await (await self._session(request, owner, tell)).begin()

    @asynccontextmanager
    async def playing(self, request: RunRequest, owner: str, tell: Tell) -> AsyncIterator[Game]:
        """Yield the game of a run, the same to all who play it at once."""
        session = await self._session(request, owner, tell)
        try:
            async with session.playing() as game:
                yield game
        except BaseException:
            if not session.holders:
                await self._let_go(request)
            raise

    async def rate(self, request: RunRequest, owner: str, tell: Tell) -> Update:
        """Return how far a run is and its board, in the fields of the graph's state."""
        session = await self._session(request, owner, tell)
        finished = await session.end()
        self._sessions.pop(request.out, None)
        return {
            "slots": finished.total,
            "settled": finished.settled,
            "void": finished.voids,
            "ended": _ending(finished),
            "board": await asyncio.to_thread(_rated, request.out, finished),
        }

    def is_to_be_frozen(self, request: RunRequest) -> bool:
        """Return whether a run is to be frozen when it is complete."""
        return request.freeze is not None

    async def freeze(self, request: RunRequest, tell: Tell) -> Update:
        """Freeze a run into a set; return where that is."""
        from videoautoarena.runs.bench.freeze.freeze import freeze

        assert request.freeze is not None
        frozen = await asyncio.to_thread(freeze, request.out, request.freeze)
        tell({"event": "frozen", **fields_json(frozen)})
        return {"bench": str(frozen.folder)}

    async def _session(self, request: RunRequest, owner: str, tell: Tell) -> RunSession:
        out = request.out
        async with self._opening:
            if out not in self._sessions:
                listeners = Listeners(
                    lambda line: tell({"event": "said", "line": line}),
                    lambda event: tell(as_json(event)),
                )
                session = await asyncio.to_thread(_opened, request, listeners)
                self._sessions[out] = (owner, session)
            whose, session = self._sessions[out]
        # A run that was adopted is nobody's: only its command plays the graph with it.
        if whose not in ("", owner):
            raise BadInput(f"{safe(str(out))} is being played; wait for its end")
        return session

    async def _let_go(self, request: RunRequest) -> None:
        found = self._sessions.pop(request.out, None)
        if found:
            await found[1].close()


def _opened(request: RunRequest, listeners: Listeners) -> RunSession:
    if request.videos is None and not holds_run(request.out):
        folder = request.out.with_name(f"{request.out.name}-clips")
        make_samples(folder)
        request = request.model_copy(update={"videos": folder})
    return session_of(request, listeners)


def _ending(finished: Finished) -> str:
    """Return why a run ended before all was played; empty if it did not."""
    if finished.is_capped:
        return "its cap is reached"
    if finished.gone is not None:
        return f"{finished.gone.address} could not be reached"
    return "it was interrupted" if finished.interrupted else ""


def _rated(out: Path, finished: Finished) -> list[dict[str, Any]]:
    """Return the models rated, the best first."""
    if finished.settled == finished.voids:
        return []
    models: list[dict[str, Any]] = board_of(out, behaviour=False).to_json()["models"]
    return models


OPEN_RUNS = OpenRuns()
arena = arena_graph(RunRequest, OPEN_RUNS)
