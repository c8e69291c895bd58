"""Pairing by `mix` finds the order sooner than uniform pairs, and its intervals stay honest."""

from __future__ import annotations

import re

import numpy as np
import pytest

from benchmarks import pairing
from benchmarks.pairing import LADDERS, battles_until, cover, cover_at_stop, stops
from videoautoarena.scoring.fitting.counts import Floats


def median(name: str, rule: str, *, seeds: int, battles: int, every: int) -> float:
    found: dict[str, Floats] = battles_until(
        LADDERS[name], rule, seeds=seeds, battles=battles, every=every, width=40.0
    )
    return float(np.median(found["order found and apart"]))


def test_mix_separates_the_papers_models_with_half_of_the_battles_of_uniform_pairs() -> None:
    mix = median("paper", "mix", seeds=2, battles=7056, every=16)
    # Beyond that twice as many as `mix` needed are played, and all are not apart by then.
    uniform = median("paper", "uniform", seeds=2, battles=12_096, every=32)
    assert mix <= 0.5 * uniform
    assert mix < np.inf


@pytest.mark.slow
def test_mix_needs_at_most_seven_tenths_of_them_on_a_cluster() -> None:
    uniform = median("cluster", "uniform", seeds=3, battles=88_200, every=40)
    mix = median("cluster", "mix", seeds=3, battles=40_320, every=40)
    assert mix <= 0.7 * uniform < np.inf


@pytest.mark.slow
def test_intervals_hold_the_truth_under_mix_though_videos_suit_models() -> None:
    held = cover(LADDERS["paper"], "mix", sets=50, quirk=0.5, at=[1008])
    assert held.mean() >= 0.94


@pytest.mark.slow
def test_intervals_hold_the_truth_where_their_own_width_ended_the_run() -> None:
    held = cover_at_stop(LADDERS["paper"], width=90.0, sets=30, battles=4032)
    assert held.mean() >= 0.93


@pytest.mark.slow
def test_one_run_in_twenty_at_most_tells_equal_models_apart() -> None:
    bound, single_look = stops(LADDERS["two equal"], sets=40, battles=1890)
    assert bound.mean() <= 0.075  # so few draws scatter
    assert single_look.mean() > 0.2


@pytest.mark.slow
def test_the_benchmark_tells_every_figure_beside_its_bound(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert pairing.main(["--seeds", "2", "--sets", "2", "--scale", "0.02"]) in (0, 1)
    told = capsys.readouterr().out
    assert len(re.findall(r": (?:NOT )?kept$", told, re.MULTILINE)) == 13
