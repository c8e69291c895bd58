"""How far a paid job is, in a pipe and on a terminal, and how it went in a few words."""

from __future__ import annotations

import click
import pytest

from videoautoarena.runs.cli.program import ending, options
from videoautoarena.runs.jobs.paid_job import JobTally


def heard(
    capsys: pytest.CaptureFixture[str], count: int, *, failing: int = 0, is_quiet: bool = False
) -> list[str]:
    """Return the lines that a job of so many judgings shows on its way."""
    tally = JobTally(unit="judging", total=count, known=3)

    def work() -> None:
        with ending.audience().job_progress() as on_done:
            for number in range(count):
                tally.count("status 500" if number < failing else None)
                on_done(tally)

    typed = ["--quiet"] if is_quiet else []
    command = click.command()(options.NO_PROGRESS(work))
    command.main(typed, standalone_mode=False)
    return capsys.readouterr().err.splitlines()


def test_a_pipe_gets_about_ten_lines_whatever_the_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert len(heard(capsys, 1000)) == 10
    assert len(heard(capsys, 4)) == 4
    assert heard(capsys, 25)[-1] == "[25/25] 25 judgings"


def test_what_was_known_before_is_not_counted_again_and_failures_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert heard(capsys, 10, failing=2)[-1] == "[10/10] 10 judgings, 2 failed"


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    assert heard(capsys, 10, is_quiet=True) == []


def test_a_terminal_gets_a_bar_that_leaves_no_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("videoautoarena.runs.console.progress.listeners.is_live", lambda: True)
    assert not any(line.startswith("[") for line in heard(capsys, 3))


def test_reasons_are_counted_by_their_words() -> None:
    tally = JobTally(unit="judging")
    for failure, aside in (
        ("status 500", None),
        ("status 500", None),
        (None, "abstained"),
        (None, None),
    ):
        tally.count(failure, aside)
    assert tally.failures == {"status 500": 2}
    assert tally.in_words == "4 judgings, 1 abstained, 2 failed"
