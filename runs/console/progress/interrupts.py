"""Ending work that makes calls in good order, at an interrupt, a cap or a lost server."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from videoautoarena.agents.limits.outages import Outage, ServerWait
from videoautoarena.memory.store.connection import SHUTDOWN
from videoautoarena.runs.console.progress.events import CallsDraining, Listeners
from videoautoarena.runs.console.progress.local_state import about_wait
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import spent
from videoautoarena.runs.run.rundir.reader import counted


class Drainable(Protocol):
    """What makes calls, and can be told to send no more of them."""

    @property
    def under_way(self) -> int:
        """How many tries have been sent and have not come back."""

    @property
    def is_broke(self) -> bool:
        """Whether a cap is reached."""

    def drain(self) -> None:
        """Send no further call; those under way are finished."""


class InFlight(Drainable, Protocol):
    """What makes the calls of some work, in this process or elsewhere."""

    @property
    def drained(self) -> asyncio.Event:
        """Set once `drain` was called and every call under way is recorded."""

    def announce(
        self, on_empty: Callable[[], None], on_outage: Callable[[Outage | ServerWait], None]
    ) -> None:
        """Set what is called at the cap, and when an endpoint is gone, full or back."""


async def until_done(
    asker: InFlight, work: Coroutine[Any, Any, None], listeners: Listeners
) -> bool:
    """Await `work`, all of whose calls go through `asker`; return whether it was ended early.

    The first interrupt lets calls under way finish and sends no other, a second one stops; a cap
    that is reached, an endpoint that was waited for in vain and a terminal that hangs up do what
    the first one does.
    """
    announce(asker, listeners)
    is_drained = False

    async def until_it_is() -> None:
        nonlocal is_drained
        is_drained = await until_drained(asker, work)

    is_cut_off = await interruptible(asker, until_it_is(), listeners)
    return is_cut_off or is_drained


async def until_drained(asker: InFlight, work: Awaitable[object]) -> bool:
    """Await `work`; cancel it once `asker` is drained, and return whether that was so."""
    main = asyncio.ensure_future(work)
    drained = asyncio.ensure_future(asker.drained.wait())
    try:
        # Once the asker is drained, work only waits for calls that are never sent.
        await asyncio.wait({main, drained}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        drained.cancel()
        if not main.done():
            main.cancel()
            await asyncio.wait({main})
    return _was_cancelled(main)


async def interruptible(
    asker: Drainable, work: Coroutine[Any, Any, None], listeners: Listeners
) -> bool:
    """Await `work`; the first interrupt drains `asker`; return whether a second one cut it off."""
    main = asyncio.ensure_future(work)
    try:
        with _interrupts(asker, main, listeners):
            await asyncio.wait({main})
    finally:
        if not main.done():
            main.cancel()
            await asyncio.wait({main})
    return _was_cancelled(main)


def _was_cancelled(ended: asyncio.Future[Any]) -> bool:
    """Return whether work was cut off; raise the error that it ended with."""
    if ended.cancelled():
        return True
    ended.result()
    return False


def announce(asker: InFlight, listeners: Listeners) -> None:
    """Tell listeners when a cap is reached, and when an endpoint cannot be."""

    def announce_cap() -> None:
        calls = counted(asker.under_way, "call")
        listeners.say(f"budget cap reached: finishing {calls} in flight")
        listeners.hear(CallsDraining(asker.under_way, is_capped=True))

    def announce_outage(outage: Outage | ServerWait) -> None:
        if isinstance(outage, ServerWait):
            listeners.say(about_wait(outage))
            listeners.hear(outage)
            return
        listeners.say(safe(_about_outage(outage)))
        listeners.hear(outage)
        if outage.state == "given-up":
            listeners.say(f"finishing {counted(asker.under_way, 'call')} in flight")
            listeners.hear(CallsDraining(asker.under_way, gone=outage.address))

    asker.announce(announce_cap, announce_outage)


def _about_outage(outage: Outage) -> str:
    time = spent(outage.seconds)
    if outage.state == "over":
        return f"{outage.address} is back after {time}"
    if outage.state == "given-up":
        return f"{outage.address} could not be reached for {time}"
    return (
        f"waiting up to {time} for {outage.address}: it cannot be reached ({outage.reason}); "
        "other work continues"
    )


@contextmanager
def _interrupts(
    asker: Drainable, main: asyncio.Future[None], listeners: Listeners
) -> Iterator[None]:
    """Make the first interrupt drain the asker, and the second one stop all work."""
    is_asked = is_hung_up = False

    def stop() -> None:
        nonlocal is_asked
        if is_asked:
            main.cancel()
            return
        # One interrupt costs no call that is paid for, not even where a cap has drained the run.
        is_asked = True
        _drain(asker, listeners)

    def hang_up() -> None:
        # Nobody is left to ask again: kernel, shell and service manager each send their own.
        nonlocal is_hung_up
        if not (is_hung_up or is_asked):
            _drain(asker, listeners)
        is_hung_up = True

    def is_waited_for() -> bool:
        return not (is_asked or is_hung_up) and asker.under_way > 0

    handlers = {signal.SIGINT: stop, signal.SIGTERM: stop, signal.SIGHUP: hang_up}
    with heard(handlers, is_waited_for=is_waited_for):
        yield
    # The terminal is gone and its next hang-up would end the process before it has written all.
    if is_hung_up:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _drain(asker: Drainable, listeners: Listeners) -> None:
    """Say that calls under way are being finished, and send no other."""
    calls = counted(asker.under_way, "call")
    listeners.say(f"stopping: finishing {calls} in flight; interrupt again to stop at once")
    listeners.hear(CallsDraining(asker.under_way, is_capped=asker.is_broke))
    asker.drain()


T = TypeVar("T")
_Handler: TypeAlias = "Callable[[int, FrameType | None], Any] | int | signal.Handlers | None"
_elsewhere: dict[int, list[tuple[asyncio.AbstractEventLoop, Callable[[], None]]]] = {}
"""What an interrupt calls of work outside of the main thread, by the thread's identity."""


def interrupt(thread: int) -> bool:
    """Interrupt the work of a thread, as a signal would in the main one; return if any is there."""
    found = list(_elsewhere.get(thread, ()))
    for loop, handler in found:
        loop.call_soon_threadsafe(handler)
    return bool(found)


def worked(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, done in a thread, since a notebook runs a loop in this one.

    An interrupt lets paid calls finish; a second one stops. Where nothing is under way that could
    be ended so, the work is cancelled and the interrupt raised.
    """
    from videoautoarena.agents.transport.redaction import keep_keys_out_of_logs

    keep_keys_out_of_logs()

    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []
    is_off = False

    async def cancellable() -> T:
        task = asyncio.current_task()
        assert task is not None
        begun.append((asyncio.get_running_loop(), task))
        if is_off:
            work.close()
            raise asyncio.CancelledError
        return await work

    def whole() -> T:
        with asyncio.Runner() as runner:
            return runner.run(cancellable())

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_off
        if interrupt(thread):
            return
        # Else the pool would wait until all of it is done, and paid for.
        is_off = True
        for loop, task in begun:
            # Its loop is closed where it has just ended.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(task.cancel)

    with ThreadPoolExecutor(1) as pool:
        thread = pool.submit(threading.get_ident).result()
        # An error raised by a signal could come between any two lines, and leave the work alone.
        with _sigint_calls(stop):
            working = pool.submit(whole)
            # A signal that comes just as a lock is waited for is told of once the wait has ended.
            while not wait([working], timeout=0.1).done:
                pass
            try:
                result = working.result()
            except asyncio.CancelledError:
                if not is_off:
                    raise
    if is_off:
        raise KeyboardInterrupt
    return result


@contextmanager
def _sigint_calls(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Set what SIGINT calls, where this is the main thread and it is not ignored."""
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or before in (signal.SIG_IGN, None):
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _SignalListeners(NamedTuple):
    """What one piece of work does at signals."""

    handlers: Mapping[signal.Signals, Callable[[], None]]
    is_waited_for: Callable[[], bool]


_hearing: list[_SignalListeners] = []
"""What hears signals in the main thread: one event loop may play several runs at once."""
_before: dict[signal.Signals, _Handler] = {}
"""The handlers that were there before any of it."""
_unheard: list[int] = []
"""The signals that have come and were not heard yet."""


@contextmanager
def heard(
    handlers: Mapping[signal.Signals, Callable[[], None]],
    *,
    is_waited_for: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """Make each signal call its handler in the event loop, and restore all of them afterwards.

    Of several at once in one loop each is called, and the last to leave restores what was before
    the first. What nohup or a shell's `&` has ignored stays ignored, but for SIGTERM. Where the
    loop stands still in a query, it hears nothing; so that query ends soon, as if it had been
    interrupted. Something that is paid for may be waited for instead: then it takes a second
    signal. Only the main thread of a process is told of signals; in any other thread `interrupt`
    stands for SIGINT.
    """
    loop = asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        place = threading.get_ident()
        mine = loop, handlers[signal.SIGINT]
        _elsewhere.setdefault(place, []).append(mine)
        try:
            yield
        finally:
            _elsewhere[place].remove(mine)
            if not _elsewhere[place]:
                del _elsewhere[place]
        return
    one = _SignalListeners(handlers, is_waited_for)
    _hearing.append(one)
    try:
        for number in handlers:
            _listen(number, loop)
        yield
    finally:
        _hearing.remove(one)
        if not _hearing:
            _restore(loop)


def _listen(number: signal.Signals, loop: asyncio.AbstractEventLoop) -> None:
    """Have a signal heard by all that hears signals, unless it is heard or ignored already."""
    handler = signal.getsignal(number)
    if number in _before or (handler == signal.SIG_IGN and number != signal.SIGTERM):
        return
    _before[number] = handler
    loop.add_signal_handler(number, _hear, number)
    # The loop is told by way of a descriptor, whatever stands here.
    signal.signal(number, _note)
    # System calls go on after the signal: a write that is cut off would be an error of the work.
    signal.siginterrupt(number, False)


def _note(number: int, _frame: FrameType | None) -> None:
    _unheard.append(number)
    if len(_unheard) > 1 or not any(one.is_waited_for() for one in _hearing):
        SHUTDOWN.ask()


def _hear(number: signal.Signals) -> None:
    _unheard.clear()
    # The loop is not stuck in a query: the handlers decide from here on.
    SHUTDOWN.clear()
    for one in list(_hearing):
        if handler := one.handlers.get(number):
            handler()


def _restore(loop: asyncio.AbstractEventLoop) -> None:
    """Put back the handlers that were there before."""
    SHUTDOWN.clear()
    _unheard.clear()
    for number, handler in _before.items():
        # First, since it puts the signal's default in place of the handler.
        loop.remove_signal_handler(number)
        # None is a handler that was not set by Python, and cannot be set again.
        signal.signal(number, handler or signal.SIG_DFL)
    _before.clear()
