"""Saying at once that a model is of no use, or that its server takes less than it was sent."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from agents.ask import Event
from memory.records import Battle
from runs.console import safe
from runs.events import Audience, Happening, Say, Settled
from runs.forfeits import Forfeits

HOPELESS = {
    "quota": "its provider's quota or money is used up",
    "http-401": "its key is refused",
    "http-403": "its key is refused, or may not do this",
}
"""Faults that the next call will meet as well, and what they mean."""
_BAD_KEY = "API key not valid"
"""How Gemini says with a 400 that a key is wrong."""


class Alarm:
    """Says one line, the first time that a model fails so, and for all that a server teaches.

    `count_forfeits` counts those of the whole run, and is called at the first one that is heard of;
    `accepted` is the share of them that is no matter.
    """

    def __init__(
        self, out: Path, say: Say, count_forfeits: Callable[[], Forfeits], *, accepted: float
    ) -> None:
        self._out = shlex.quote(str(out))
        self._say = say
        self._count_forfeits, self._accepted = count_forfeits, accepted
        self._forfeits: Forfeits | None = None
        self._named: set[str] = set()

    def hear(self, event: Happening) -> None:
        """Say what failed, what becomes of the run, and what to do; or what was learnt."""
        if isinstance(event, Settled):
            self._settle(event.battle)
        if line := what_was_learnt(event):
            self._say(line)
        if not isinstance(event, Event) or event.alias in self._named:
            return
        if why := why_hopeless(event):
            self._named.add(event.alias)
            self._say(
                safe(
                    f"{event.alias} ({event.nonce.role}) fails: {why}: {event.text} - the run goes "
                    "on, and what needs it ends void or forfeit; Ctrl-C stops; afterwards arena "
                    f"resume {self._out} --retry-failed plays that again and keeps what is paid"
                )
            )

    def _settle(self, battle: Battle) -> None:
        is_forfeit = battle.verdict in ("forfeit_a", "forfeit_b")
        if self._forfeits is not None:
            a, b = battle.model_a, battle.model_b
            self._forfeits.note(a, b, battle.verdict, reason=battle.reason)
        elif is_forfeit:
            # It is written down by now, and counted with those before.
            self._forfeits = self._count_forfeits()
        if not is_forfeit or self._forfeits is None:
            return
        for faulty in self._forfeits.faulty(self._accepted):
            if faulty.model not in self._named:
                self._named.add(faulty.model)
                self._say(
                    f"{faulty.told(self._accepted)} - the run goes on; afterwards arena resume "
                    f"{safe(self._out)} --retry-failed plays those again"
                )


def why_hopeless(event: Happening) -> str | None:
    """Return why every later call of a model will fail, too; None where that is not so."""
    if not isinstance(event, Event) or event.kind != "finished":
        return None
    fault = "http-401" if event.fault and _BAD_KEY in event.text else event.fault
    return HOPELESS.get(fault or "")


def pass_on(event: Happening, told: Audience) -> str | None:
    """Tell of an event, and say what it teaches; return why its model can do no more, if so."""
    told.hear(event)
    if line := what_was_learnt(event):
        told.say(line)
    return why_hopeless(event)


def what_was_learnt(event: Happening) -> str | None:
    """Return a line about what a server turned out to take; None where nothing was learnt."""
    return safe(event.text) if isinstance(event, Event) and event.kind == "learnt" else None
