"""All texts of a run, as stories for a person or JSON lines for a program."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.agents.calls.replies import BadReply, read_reply
from videoautoarena.agents.prompting.contracts import ExaminerReply
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.console.progress.events import (
    BattleSettled,
    CallsDraining,
    PairDrawn,
    RuleRead,
    RunBegun,
    RunEnded,
    RunEvent,
    Say,
    VideoWatched,
    WarningLogged,
)
from videoautoarena.runs.console.progress.local_state import Machines
from videoautoarena.runs.formats.record_json import fields_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.battles.detail_text import story, wrapped

RULE = "=" * 72


class Stories:
    """Says each battle in full once it is settled, so that lineages are not mixed."""

    def __init__(self, say: Say, columns: int | None = None) -> None:
        self._say = say
        self._columns = columns
        self._begun: set[tuple[str, int]] = set()
        self._paths: dict[str, str] = {}

    def hear(self, event: RunEvent) -> None:
        """Say each examiner's account, and each settled battle."""
        match event:
            case RunBegun():
                self._paths = dict(event.videos)
            case CallEvent(kind="finished" | "recalled") if event.nonce.role == "examiner":
                self._examined(event)
            case BattleSettled(battle):
                width = self._columns or shutil.get_terminal_size().columns
                lineage = (battle.video, battle.persona)
                is_first = lineage not in self._begun
                self._begun.add(lineage)
                path = safe(self._paths.get(battle.video, battle.video))
                self._say(f"\n{RULE[:width]}\n{path}\n{story(battle, width, is_first=is_first)}")

    def _examined(self, event: CallEvent) -> None:
        path = self._paths.get(event.nonce.scope, event.nonce.scope)
        words = _account(event.text) if event.fault is None else f"failed: {event.text}"
        width = self._columns or shutil.get_terminal_size().columns
        self._say(f"\n{RULE[:width]}\n{safe(path)}: the examiner\n{wrapped(words, width)}")


def _account(reply: str) -> str:
    try:
        brief = read_reply(reply, ExaminerReply)
    except BadReply:
        return reply
    scenes = (f"  {s.start_s:.1f}-{s.end_s:.1f} s: {s.what}" for s in brief.scenes)
    return "\n".join([f"{brief.account} ({brief.category})", *scenes])


class TraceFile:
    """Appends every event to a file as one line of JSON.

    If that fails it says so once and writes nothing more: a trace ends no run.
    """

    def __init__(
        self, path: Path, *, clock: Callable[[], float] = time.time, say: Say = lambda _line: None
    ) -> None:
        self._path = path
        self._clock = clock
        self._say = say
        try:
            # Unbuffered: each line is in the file when its event is over, whatever ends the
            # process.
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise BadInput(
                f"{safe(str(path))} cannot be written ({error.strerror}); pass another --trace"
            ) from error

    def hear(self, event: RunEvent) -> None:
        """Write an event, as long as the file can be written."""
        if self._file.closed:
            return
        line = {"schema": SCHEMA, "at_s": round(self._clock(), 3), **as_json(event)}
        try:
            # As ASCII, since a model's text may hold half a character, which has no UTF-8.
            self._append(f"{json.dumps(line)}\n".encode())
        except OSError as error:
            self._give_up(error)

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as error:
            self._give_up(error)

    def _append(self, line: bytes) -> None:
        """Write a line whole or not at all, so that the next one stands on a line of its own."""
        end = os.fstat(self._file.fileno()).st_size
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            if len(rest) < len(line):
                with suppress(OSError):  # a pipe keeps what it was given
                    self._file.truncate(end)
            raise

    def _give_up(self, error: OSError) -> None:
        with suppress(OSError):
            self._file.close()
        path = safe(str(self._path))
        why = error.strerror
        self._say(f"{path} cannot be written ({why}): the trace ends here, and the run continues")


def as_json(event: RunEvent) -> dict[str, Any]:
    """Return an event as a line of `--trace FILE` has it."""
    match event:
        case CallEvent():
            return {"event": event.kind, **_call(event)}
        case RunBegun():
            shown = {"out": str(event.out), "slots": len(event.slots)}
            shown |= {"settled": len(event.battles), "videos": dict(event.videos)}
            plain = ("seed", "rounds", "models", "examiner", "judges")
            return {"event": "begun", **shown, **{key: getattr(event, key) for key in plain}}
        case BattleSettled(battle):
            return {"event": "settled", "battle": battle.model_dump(mode="json", by_alias=True)}
        case RunEnded(interrupted, is_capped):
            why = {"interrupted": interrupted, "is_capped": is_capped, "gone": event.gone}
            return {"event": "ended", **why}
        case RuleRead(reading):
            return {"event": "looked", "reading": reading.to_json()}
        case Machines():
            return {"event": "machines", **fields_json(event)}
    facts = {
        name: value.model_dump(mode="json") if isinstance(value, BaseModel) else value
        for name in event.__dataclass_fields__
        for value in [getattr(event, name)]
    }
    return {"event": EVENT_NAMES.get(type(event)) or type(event).__name__.lower(), **facts}


EVENT_NAMES: dict[type, str] = {
    VideoWatched: "watched",
    PairDrawn: "drawn",
    WarningLogged: "logged",
    CallsDraining: "draining",
}
"""Names in a trace of events whose fields are written as they are; others go by their class."""


def _call(event: CallEvent) -> dict[str, Any]:
    nonce = event.nonce
    facts = {"scope": nonce.scope, "role": nonce.role, "ordinal": nonce.ordinal}
    facts |= {"generation": nonce.generation, "model": event.alias, "fault": event.fault}
    if event.node:
        facts["node"] = event.node
    if event.kind == "started":
        return facts
    if event.kind == "retry":
        return facts | {"pause_s": round(event.seconds, 4)}
    if event.kind != "learnt":
        facts |= {"seconds": round(event.seconds, 4), "usage": event.usage.model_dump()}
        facts |= {"cost_usd": event.cost_usd}
    return facts | {"text": event.text}
