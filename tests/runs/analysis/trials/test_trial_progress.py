"""How far trials are, in a pipe and on a terminal."""

from __future__ import annotations

import pytest

from tests.support.played import judging
from videoautoarena.memory.store.evidence import Trial
from videoautoarena.runs.analysis.trials.runner import in_words, showing
from videoautoarena.runs.analysis.trials.trial import Tally


def trial(verdict: str = "a") -> Trial:
    said = judging(verdict=verdict, reason="status 500" if verdict == "failed" else None)
    return Trial(id="t", kind="repeat", video="v", model="offline:judge", judging=said)


def held(count: int, *, is_quiet: bool = False, failing: int = 0) -> list[str]:
    said: list[str] = []
    tally = Tally(asked=count + 3, known=3)
    with showing(said.append, is_quiet=is_quiet) as on_held:
        for number in range(count):
            one = trial("failed" if number < failing else "a")
            tally.count(one)
            on_held(one, tally)
    return said


def test_a_pipe_gets_about_ten_lines_whatever_the_number() -> None:
    assert len(held(1000)) == 10
    assert len(held(4)) == 4
    assert held(25)[-1] == "[25/25] 25 judgings"


def test_what_was_known_before_is_not_counted_again_and_failures_are() -> None:
    assert held(10, failing=2)[-1] == "[10/10] 10 judgings, 2 failed"


def test_quiet_is_quiet() -> None:
    assert held(10, is_quiet=True) == []


def test_a_terminal_gets_a_bar_that_leaves_no_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("videoautoarena.runs.console.progress.listeners.is_live", lambda: True)
    assert held(3) == []
    assert "Traceback" not in capsys.readouterr().err


def test_reasons_are_counted_by_their_words() -> None:
    tally = Tally()
    for verdict in ("failed", "failed", "abstain", "a"):
        tally.count(trial(verdict))
    assert tally.failures == {"status 500": 2}
    assert in_words(tally) == "4 judgings, 1 abstained, 2 failed"
