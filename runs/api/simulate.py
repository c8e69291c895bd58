"""The main job: a folder of videos in, rated battles out; or the same again where it stopped.

The whole run is one LangGraph: `simulate`, `va.simulate`, a LangGraph server and a Ray cluster play
it. A command opens its run before the event loop begins and lends it to the graph; on a server the
graph opens it itself, by what the request says, with whichever node comes first.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import Context
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from videoautoarena.graph.context import LiveRun, NoInput, RunDoors, Tell, Update
from videoautoarena.memory.records.errors import ArenaError, BadInput
from videoautoarena.runs.console.progress.events import Hear, Listeners, Say
from videoautoarena.runs.console.progress.interrupts import interruptible
from videoautoarena.runs.console.progress.live import plain_lines
from videoautoarena.runs.console.progress.trace import as_json
from videoautoarena.runs.formats.record_json import fields_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.opener import holds_run
from videoautoarena.runs.tournament.opening import session_again, session_of
from videoautoarena.runs.tournament.runner import Engine, Finished, Limits, RunSession
from videoautoarena.video.folder.find import Findings

if TYPE_CHECKING:
    from videoautoarena.graph.arena import ArenaGraph
    from videoautoarena.runs.rating.leaderboard import RatedLeaderboard

__all__ = ["Finished", "Limits", "Play", "play_run", "resume", "simulate"]

Play = Coroutine[object, object, Finished]
"""A run that is open; await it to play every unsettled slot.

What comes before the first call is done outside the event loop, where Ctrl-C works at once.
"""


def simulate(
    request: RunRequest,
    *,
    say: Say,
    hear: Hear | None = None,
    found: Findings | None = None,
    engine: Engine | None = None,
) -> Play:
    """Start a run, or open the one that `request.out` holds; return what plays it to the end.

    `say` takes a line of chatter, `hear` what happens; None says each battle as a line. `found`
    are the videos, if their folder was read for a plan already. An `engine` plays in place of this
    process, and looks after the keys.
    BadInput or ForeignRun, which says what to change, leaves nothing written.
    """
    listeners = Listeners(say, hear or plain_lines(say))
    return play_run(session_asked(request, listeners, found=found, engine=engine))


def session_asked(
    request: RunRequest,
    listeners: Listeners,
    *,
    found: Findings | None = None,
    engine: Engine | None = None,
    shares_loop: bool = False,
) -> RunSession:
    """Return the run that is asked for, open; BadInput also where its set could not be written."""
    _refuse_no_place(request)
    return session_of(request, listeners, found=found, engine=engine, shares_loop=shares_loop)


def _refuse_no_place(request: RunRequest) -> None:
    if request.freeze is not None:
        from videoautoarena.runs.bench.format.writer import refuse_no_place

        refuse_no_place(request.freeze, out=request.out)


async def play_run(session: RunSession) -> Finished:
    """Play every unsettled slot of a run, or those of newcomers alone, and close it.

    An interrupt lets calls under way finish, a second one stops.
    """
    bench: str | None = None
    unfrozen: str | None = None

    async def play() -> None:
        nonlocal bench, unfrozen
        whole = arena().ainvoke(NoInput(), context=session.request)
        # A graph of the caller's own, in a node of which this may be, lends it no checkpointer.
        try:
            ended = await asyncio.create_task(whole, context=Context())
        except ArenaError as why:
            # How the run ended is to be told, whatever stands in the way of its set.
            if session.finished is None:
                raise
            unfrozen = str(why)
        else:
            bench = ended.get("bench")

    try:
        with OPEN_RUNS.adopted(session.out, session):
            is_cut_off = await interruptible(session, play(), session.listeners)
            finished = await session.end(is_cut_off=is_cut_off)
        made = Path(bench) if bench else None
        # Cut off while it was rated or frozen, it had ended already.
        is_left = is_cut_off and not finished.is_capped and finished.gone is None
        finished = replace(finished, interrupted=finished.interrupted or is_left)
        return replace(finished, board=session.board, bench=made, unfrozen=unfrozen)
    finally:
        await session.close()


def resume(
    request: RunRequest, *, say: Say, hear: Hear | None = None, engine: Engine | None = None
) -> Play:
    """Open the run in `request.out` with its own settings; return what plays it to the end.

    Of the request only what is no setting of the run counts, and where its videos are if they have
    moved. The others are as for `simulate`.
    """
    listeners = Listeners(say, hear or plain_lines(say))
    _refuse_no_place(request)
    return play_run(session_again(request, listeners, engine=engine))


class RunRefused(ValueError):
    """Why a server cannot play a run, in one line.

    Of other errors than Python's own a LangGraph server tells the class alone.
    """


@contextmanager
def _told(owner: str) -> Iterator[None]:
    """Let a server say why it cannot play a run; a command, which owns no thread, hears it too."""
    try:
        yield
    except ArenaError as why:
        if owner:
            raise RunRefused(safe(str(why))) from why
        raise


async def opened(open_run: Callable[[], RunSession]) -> RunSession:
    """Open a run in a thread; whoever is cancelled meanwhile leaves none open."""
    found: list[RunSession] = []
    alone = Lock()
    is_left = False

    def work() -> RunSession:
        session = open_run()
        with alone:
            found.append(session)
            if is_left:
                session.leave()
        return session

    try:
        return await asyncio.to_thread(work)
    except asyncio.CancelledError:
        with alone:
            is_left = True
            for session in found:
                session.leave()
        raise


LEFT_S = 60.0
"""After how long a run that was begun, and that nobody works on, counts as left by its thread: from
one node to the next there is no more than a checkpoint to be written."""


class OpenRuns(RunDoors[RunRequest]):
    """The runs that this process has open, by folder as it was written, and the ways to them.

    Two spellings of one folder end at the lock of its run, as two processes do.
    """

    def __init__(self) -> None:
        self._sessions: dict[Path, tuple[str | None, RunSession]] = {}
        """With the thread that opened it; None for one that a command has opened, and closes."""
        # Weak, so that a lock lives only while somebody holds it or waits for it: the next run may
        # be played in another event loop.
        self._opening = WeakValueDictionary[Path, asyncio.Lock]()

    @contextmanager
    def adopted(self, out: Path, session: RunSession) -> Iterator[None]:
        """Let the graph play a run that is open already."""
        self._sessions[out] = (None, session)
        try:
            yield
        finally:
            self._forget(out, session)

    async def open(self, request: RunRequest, owner: str, tell: Tell) -> Update:
        """Begin a run, or check that the one that is there goes on; return its counts."""
        whose, session = self._sessions.get(request.out, (owner, None))
        with _told(owner):
            if session is not None and session.is_begun:
                # One that nobody works on was left by a graph that has been cancelled. Between two
                # nodes nobody works on another's, either, nor on one of a graph without a thread.
                is_anothers = whose != owner or not owner
                if session.holders or (is_anothers and session.idle_s < LEFT_S):
                    raise BadInput(_busy(request))
                await self._let_go(request.out, session)
            session = await self._session(request, owner, tell)
            # Opened meanwhile by another graph without a thread.
            if session.is_begun:
                raise BadInput(_busy(request))
            async with self._closing_what_fails(request.out, session):
                return await session.begin()

    @asynccontextmanager
    async def playing(self, request: RunRequest, owner: str, tell: Tell) -> AsyncIterator[LiveRun]:
        """Yield the game of a run, the same to all who play it at once."""
        with _told(owner):
            session = await self._session(request, owner, tell)
            async with (
                self._closing_what_fails(request.out, session),
                session.playing() as game,
            ):
                yield game

    async def rate(self, request: RunRequest, owner: str, tell: Tell) -> Update:
        """Return how far a run is and its board, in the fields of the graph's state."""
        with _told(owner):
            session = await self._session(request, owner, tell)
            async with self._closing_what_fails(request.out, session):
                finished = await session.end()
        self._forget(request.out, session)
        # In a thread, so that an interrupt is heard however long it takes.
        board = session.board = await asyncio.to_thread(_rated, session)
        return {
            "slots": finished.total,
            "settled": finished.settled,
            "void": finished.voids,
            "ended": _ending(finished),
            "board": board.to_json()["models"] if board else [],
        }

    def is_to_be_frozen(self, request: RunRequest) -> bool:
        """Return whether a run is to be frozen when it is complete."""
        return request.freeze is not None

    async def freeze(self, request: RunRequest, owner: str, tell: Tell) -> Update:
        """Freeze a run into a set; return where that is."""
        from videoautoarena.runs.bench.freeze.freeze import freeze

        assert request.freeze is not None
        with _told(owner):
            frozen = await asyncio.to_thread(freeze, request.out, request.freeze)
        tell({"event": "frozen", **fields_json(frozen)})
        return {"bench": str(frozen.folder)}

    async def _session(self, request: RunRequest, owner: str, tell: Tell) -> RunSession:
        out = request.out
        async with self._opening.setdefault(out, asyncio.Lock()):
            if out not in self._sessions:
                listeners = Listeners(
                    lambda line: tell({"event": "said", "line": line}),
                    lambda event: tell(as_json(event)),
                )
                session = await opened(lambda: _opened(request, listeners))
                self._sessions[out] = (owner, session)
            whose, session = self._sessions[out]
        # A run that was adopted is nobody's: only its command plays the graph with it.
        if whose not in (None, owner):
            raise BadInput(_busy(request))
        return session

    @asynccontextmanager
    async def _closing_what_fails(self, out: Path, session: RunSession) -> AsyncIterator[None]:
        """Close a run after an error or a cancelling, once nobody works on it any more."""
        try:
            yield
        except BaseException:
            whose, known = self._sessions.get(out, (None, None))
            # What a command has opened it closes, once it has said how far the run is.
            if known is session and whose is not None and not session.holders:
                await self._let_go(out, session)
            raise

    async def _let_go(self, out: Path, session: RunSession) -> None:
        self._forget(out, session)
        await session.close()

    def _forget(self, out: Path, session: RunSession) -> None:
        if self._sessions.get(out, (None, None))[1] is session:
            del self._sessions[out]


def _busy(request: RunRequest) -> str:
    return f"{safe(str(request.out))} is being played; wait for its end"


def _opened(request: RunRequest, listeners: Listeners) -> RunSession:
    if request.videos is None and not holds_run(request.out):
        from videoautoarena.video.synth.samples import make_samples

        folder = request.out.with_name(f"{request.out.name}-clips")
        make_samples(folder)
        request = request.model_copy(update={"videos": folder})
    return session_asked(request, listeners, shares_loop=True)


def _ending(finished: Finished) -> str:
    """Return why a run ended before all was played; empty if it did not."""
    if finished.is_capped:
        return "its cap is reached"
    if finished.gone is not None:
        return f"{finished.gone.address} could not be reached"
    return "it was interrupted" if finished.interrupted else ""


def _rated(session: RunSession) -> RatedLeaderboard | None:
    """Return the models of a run rated; None where that cannot be, which is said."""
    from videoautoarena.runs.analysis.leaderboard.board import board_in
    from videoautoarena.runs.run.rundir.reader import open_run

    try:
        with open_run(session.out) as run:
            # Neither answers nor audits are read: a large run is to end as soon as it is played.
            return board_in(run, behaviour=False)
    except ArenaError as why:
        session.listeners.say(f"the models are not rated: {why}")
        return None


OPEN_RUNS = OpenRuns()


@cache
def arena() -> ArenaGraph[RunRequest]:
    """Return the graph of a whole run, the same for every run of this process."""
    from videoautoarena.graph.arena import arena_graph

    return arena_graph(RunRequest, OPEN_RUNS)
