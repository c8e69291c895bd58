"""What libraries log on workers reaches the trace, on lines and without keys."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from videoautoarena.runs.console.progress.events import (
    SAME_AT_MOST,
    LogEvents,
    RunEvent,
    WarningLogged,
    hear_logs,
)
from videoautoarena.runs.console.progress.live import plain_lines
from videoautoarena.runs.console.progress.snapshot import RunSnapshot
from videoautoarena.runs.console.progress.trace import as_json

KEY = "sk-planted-0123456789"
LOGGER = logging.getLogger("a_library.client")


@pytest.fixture
def heard() -> Iterator[list[RunEvent]]:
    """What is heard of the logs of this process."""
    events: list[RunEvent] = []
    handler = hear_logs("beta", events.append)
    yield events
    logging.getLogger().removeHandler(handler)


def test_a_warning_names_its_machine_and_its_logger(heard: list[RunEvent]) -> None:
    LOGGER.warning("retrying %s", "soon")
    assert heard == [WarningLogged("beta", "warning", "a_library.client", "retrying soon")]
    assert as_json(heard[0]) == {
        "event": "logged",
        "node": "beta",
        "level": "warning",
        "logger": "a_library.client",
        "text": "retrying soon",
    }


def test_what_is_no_warning_is_not_heard(heard: list[RunEvent]) -> None:
    LOGGER.info("connected")
    assert heard == []


def test_a_key_is_in_no_line(heard: list[RunEvent], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "hunter2hunter2")
    LOGGER.warning("refused %s and hunter2hunter2", KEY)
    try:
        raise ValueError(f"bad {KEY}")
    except ValueError:
        LOGGER.exception("it failed\nbadly")
    texts = [event.text for event in heard if isinstance(event, WarningLogged)]
    assert texts == ["refused [key] and [key]", "it failed badly (ValueError: bad [key])"]


def test_what_is_logged_at_every_call_is_passed_on_a_few_times(heard: list[RunEvent]) -> None:
    for _ in range(SAME_AT_MOST + 5):
        LOGGER.warning("deprecated")
    assert len(heard) == SAME_AT_MOST
    assert str(getattr(heard[-1], "text", "")).endswith("(more of these are left out)")


def test_a_record_that_does_not_fit_its_arguments_ends_nothing() -> None:
    heard: list[RunEvent] = []
    record = LOGGER.makeRecord("x", logging.ERROR, "f.py", 1, "%d", ("one",), None)
    LogEvents("beta", heard.append).handle(record)
    assert heard == [WarningLogged("beta", "error", "x", "%d")]


def test_no_console_shows_it() -> None:
    said: list[str] = []
    plain_lines(said.append)(WarningLogged("beta", "warning", "x", "y"))
    stands = RunSnapshot(lambda: 0.0)
    before = dict(vars(stands))
    stands.hear(WarningLogged("beta", "warning", "x", "y"))
    assert said == []
    assert vars(stands) == before
