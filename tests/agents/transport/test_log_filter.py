"""No record that a library logs may carry a key to wherever somebody sends it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from videoautoarena.agents.transport.redaction import LIBRARIES, keep_keys_out_of_logs

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
