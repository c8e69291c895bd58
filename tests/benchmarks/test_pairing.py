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
    limits = {"seeds": 5, "battles": 18_144, "every": 16}
    uniform, mix = (median("paper", rule, **limits) for rule in ("uniform", "mix"))
    assert mix <= 0.5 * uniform
    assert mix < np.inf


@pytest.mark.slow
def test_mix_needs_at_most_seven_tenths_of_them_on_a_cluster() -> None:
    limits = {"seeds": 9, "battles": 88_200, "every": 40}
    uniform, mix = (median("cluster", rule, **limits) for rule in ("uniform", "mix"))
    assert mix <= 0.7 * uniform < np.inf


@pytest.mark.slow
def test_intervals_hold_the_truth_under_mix_though_videos_suit_models() -> None:
    held = cover(LADDERS["paper"], "mix", sets=120, quirk=0.5, at=[1008])
    assert held.mean() >= 0.94


@pytest.mark.slow
def test_intervals_hold_the_truth_where_their_own_width_ended_the_run() -> None:
    held = cover_at_stop(LADDERS["paper"], width=90.0, sets=100, battles=4032)
    assert held.mean() >= 0.93


@pytest.mark.slow
def test_one_run_in_twenty_at_most_tells_equal_models_apart() -> None:
    bound, single_look = stops(LADDERS["two equal"], sets=100, battles=3150)
    assert bound.mean() <= 0.05
    assert single_look.mean() > 0.2


def test_the_benchmark_tells_every_figure_beside_its_bound(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert pairing.main(["--seeds", "2", "--sets", "2", "--scale", "0.02"]) in (0, 1)
    told = capsys.readouterr().out
    assert len(re.findall(r": (?:NOT )?kept$", told, re.MULTILINE)) == 13
