"""The benchmark of labels runs, small, and finds what it is there to find."""

from __future__ import annotations

from benchmarks.labels import Setting, cover


def test_a_judge_alone_misses_the_scale_that_labels_and_judge_together_hold() -> None:
    found = cover(Setting(1.0, 0.5, 400, 200, 0.5), sets=6, battles=4000)
    assert found.kinds["judge alone"].share < 0.7
    assert found.kinds["tuned"].share > 0.85
    assert found.kinds["tuned"].width < found.kinds["labels alone"].width
    assert found.gain > 1.2
    assert 0.4 < found.lam < 0.8
