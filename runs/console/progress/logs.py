"""What libraries log in a worker's process, as events for the one trace of a run."""

from __future__ import annotations

import logging

from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.runs.console.progress.events import Hear, Logged

LEVEL = logging.WARNING
SAME_AT_MOST = 20
"""Records from one place in the code that are passed on: a library may warn at every call."""


class LogEvents(logging.Handler):
    """Passes on what a process logs from warnings up, each on one line and without keys."""

    def __init__(self, node: str, hear: Hear) -> None:
        super().__init__(LEVEL)
        self._node = node
        self._hear = hear
        self._heard: dict[tuple[str, int], int] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a record on, unless there were many of its kind."""
        place = record.pathname, record.lineno
        count = self._heard[place] = self._heard.get(place, 0) + 1
        if count > SAME_AT_MOST:
            return
        try:
            text = record.getMessage()
        except (TypeError, ValueError):
            # Message and arguments do not fit; logging itself says so elsewhere.
            text = str(record.msg)
        if record.exc_info and (error := record.exc_info[1]) is not None:
            text += f" ({type(error).__name__}: {error})"
        more = " (more of these are left out)" if count == SAME_AT_MOST else ""
        name = redacted(record.name)
        level = record.levelname.lower()
        self._hear(Logged(self._node, level, name, redacted(text) + more))


def hear_logs(node: str, hear: Hear) -> LogEvents:
    """Pass on from now on what this process logs; return what does, which can be taken off."""
    handler = LogEvents(node, hear)
    logging.getLogger().addHandler(handler)
    return handler
