"""Chatter on a terminal breaks between words; what is to be copied does not break."""

from __future__ import annotations

import sys
from io import BytesIO, TextIOWrapper

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.runs.cli.program.options import PIPED, results
from videoautoarena.runs.console.progress.listeners import progress
from videoautoarena.runs.formats.terminal import folded, out, say


def test_a_long_line_breaks_between_words() -> None:
    line = "frames of 4 videos (up to 64 per call) go to 127.0.0.1:8100 for one, two, referee"
    assert folded(line, 60) == (
        "frames of 4 videos (up to 64 per call) go to 127.0.0.1:8100\n  for one, two, referee"
    )


@pytest.mark.parametrize(
    "line",
    [
        "to continue: arena resume a-folder/of-a-run/with/a-long-name",
        "  simulate --videos clips --config arena.toml --limit 2 --rounds 1 --out first-run",
        "arena bench run order --videos FOLDER --model MODEL",
    ],
)
def test_a_line_with_a_command_stays_whole(line: str) -> None:
    assert folded(line, 40) == line


def test_a_sentence_about_a_command_is_no_line_to_copy() -> None:
    line = "what arena bench run prints is said in words, as long as a terminal has room for them"
    assert max(map(len, folded(line, 40).split("\n"))) <= 40


@given(st.lists(st.text("abc- ", max_size=60)), st.integers(20, 200))
def test_no_word_is_lost_and_what_fits_is_as_it_was(lines: list[str], columns: int) -> None:
    text = "\n".join(lines)
    assert folded(text, columns).split() == text.split()
    assert folded(text, 200) == text


@pytest.mark.parametrize(("told", "wide"), [(None, PIPED), ("72", 72)])
def test_a_pipe_is_as_wide_as_it_says(
    monkeypatch: pytest.MonkeyPatch, told: str | None, wide: int
) -> None:
    out.cache_clear()
    monkeypatch.delenv("COLUMNS", raising=False)
    if told is not None:
        monkeypatch.setenv("COLUMNS", told)
    try:
        assert results().width == wide
    finally:
        out.cache_clear()


def test_a_line_that_is_said_beside_a_bar_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    written = BytesIO()
    screen = TextIOWrapper(written, "utf-8", write_through=True)
    monkeypatch.setattr(screen, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress(say) as on_progress:
        on_progress(1, 3, "made")
        say("stopping: finishing 16 calls in flight")
    assert "\r\x1b[2Kstopping: finishing" in written.getvalue().decode()
