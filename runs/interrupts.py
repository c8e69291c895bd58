"""Letting work that makes calls come to a good end when somebody interrupts or a cap is reached."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from agents.ask import Asker
from agents.purse import CappedPurse
from runs.events import Audience, Draining
from runs.reading import counted


async def until_done(asker: Asker, work: Coroutine[Any, Any, None], told: Audience) -> bool:
    """Await `work`, all of whose calls go through `asker`; return whether it was ended early.

    The first interrupt lets calls under way finish and sends no other, a second one stops; a cap
    that is reached does what the first one does.
    """
    _announce_the_cap(asker, told)
    main = asyncio.ensure_future(work)
    drained = asyncio.ensure_future(asker.drained.wait())
    with _interrupts(asker, main, told):
        await asyncio.wait({main, drained}, return_when=asyncio.FIRST_COMPLETED)
    drained.cancel()
    if not main.done():
        main.cancel()
    try:
        await main
    except asyncio.CancelledError:
        return True
    return False


def _announce_the_cap(asker: Asker, told: Audience) -> None:
    """See to it that everybody hears when a cap is reached."""

    def announce() -> None:
        calls = counted(asker.under_way, "call")
        told.say(f"the cap is reached: calls under way are being finished ({calls})")
        told.hear(Draining(asker.under_way, is_capped=True))

    if isinstance(asker.purse, CappedPurse):
        asker.purse.on_empty = announce


@contextmanager
def _interrupts(asker: Asker, main: asyncio.Future[None], told: Audience) -> Iterator[None]:
    """Let the first interrupt drain the asker and the second one stop all work."""
    loop = asyncio.get_running_loop()
    is_asked = False

    def stop() -> None:
        nonlocal is_asked
        if is_asked:
            main.cancel()
            return
        # One interrupt costs no call that is paid for, not even where a cap has drained the run.
        is_asked = True
        calls = counted(asker.under_way, "call")
        told.say(
            f"stopping: calls under way are being finished ({calls}); "
            "interrupt again to stop at once"
        )
        told.hear(Draining(asker.under_way, is_capped=asker.is_broke))
        asker.drain()

    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
