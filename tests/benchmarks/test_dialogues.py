"""Dialogues that are made offline keep their bounds on the samples."""

from __future__ import annotations

import pytest

from benchmarks import dialogues


@pytest.mark.slow
def test_dialogues_made_of_the_samples_show_what_they_are_to(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert dialogues.main(["--seeds", "1"]) == 0
    assert "NOT kept" not in capsys.readouterr().out
