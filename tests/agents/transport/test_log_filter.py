"""No record that a library logs may carry a key to wherever somebody sends it."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator

import pytest

from videoautoarena.agents.transport.redaction import (
    LIBRARIES,
    keep_keys_out_of_logs,
    trace_without_keys,
)

KEY = "planted-0123456789"


@pytest.fixture(autouse=True)
def factory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give the process its own records back afterwards."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    before = logging.getLogRecordFactory()
    keep_keys_out_of_logs()
    keep_keys_out_of_logs()
    yield
    logging.setLogRecordFactory(before)


def test_a_key_in_words_arguments_or_a_trace_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    log = logging.getLogger("openai._base_client")
    log.debug("sent %s", {"Authorization": f"Bearer {KEY}"})
    log.warning(f"it said {KEY}")
    try:
        raise ValueError(f"wrong: {KEY}")
    except ValueError:
        log.exception("no")
    assert KEY not in caplog.text
    assert "wrong: [key]" in caplog.text
    assert "it said [key]" in caplog.text


UNKNOWN = "sk-unknown-9876543210"
BODY = f'{{\n  "authorization": "Bearer {UNKNOWN}",\n    "api_key": "{UNKNOWN}"\n}}'


def test_indented_lines_of_a_message_are_searched_for_what_looks_like_a_key(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    log = logging.getLogger("openai._base_client")
    log.debug("sent %s", BODY)
    try:
        raise ValueError(BODY)
    except ValueError:
        log.exception("no")
    assert UNKNOWN not in caplog.text
    assert '    "[key]"' in caplog.text


def test_source_lines_of_a_trace_stay_and_what_its_errors_say_does_not() -> None:
    def fail(key: str) -> None:
        raise ExceptionGroup(f"two {BODY}", [ValueError(f"one {BODY}")])

    try:
        fail(key=UNKNOWN.replace("sk-", ""))
    except ExceptionGroup as group:
        told = trace_without_keys("".join(traceback.format_exception(group)))
    assert '    fail(key=UNKNOWN.replace("sk-", ""))' in told
    assert UNKNOWN not in told


def test_lines_of_source_end_with_the_frame() -> None:
    lines = [
        '  File "a.py", line 1, in f',
        "    key = name",
        "  key: abcdefgh",
        "    key: abcdefgh",
    ]
    assert trace_without_keys("\n".join(lines)).splitlines() == [*lines[:2], "  [key]", "    [key]"]


def test_arguments_that_do_not_fit_are_left_to_logging(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(TypeError):
        logging.getLogger("openai").warning("%d apples", "no")


def test_a_librarys_warning_is_not_printed_where_nobody_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    for name in LIBRARIES:
        logging.getLogger(f"{name}.inner").warning("said the server")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["httpx2", "httpcore2"])
def test_both_generations_of_the_http_libraries_are_kept_quiet(name: str) -> None:
    assert name in LIBRARIES


def test_a_key_that_is_written_into_source_is_taken_out_of_it() -> None:
    place = '  File "a.py", line 1, in f'
    line = f'    model = Model("{UNKNOWN}", key=name, url="http://me:hunter2@host")'
    told = trace_without_keys(f"{place}\n{line}")
    assert told == f'{place}\n    model = Model("[key]", key=name, url="http://[key]@host")'
