"""How sure it is that a model which lost every battle stands last."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tournament import fought
from videoautoarena.scoring.fitting.bradley_terry import fit_strengths
from videoautoarena.scoring.fitting.separation import ComponentEnds, ExtremeModel, find_extremes


def peel(text: str, *strengths: float) -> ComponentEnds | None:
    """The extremes, with these strengths of the first models and fitted ones of the rest."""
    cells = fought(text)
    theta = fit_strengths(cells, likelihood="firth")
    theta[: len(strengths)] = strengths
    return find_extremes(cells, theta)


def test_each_battle_with_its_only_rival_doubles_the_evidence() -> None:
    peeled = peel("A>B*12")
    assert peeled is not None
    assert peeled.body.tolist() == [0]
    (one,) = peeled.extremes
    assert one[:3] == (1, 0, False)
    assert one.evidence == pytest.approx(12 * log(2))


def test_a_battle_with_a_stronger_model_counts_less() -> None:
    # B beats A in a quarter of their battles, so an equal of B would lose to A in three of four.
    peeled = peel("A>B*9 B>A*3 A>C*5 B>C*7", log(3), 0.0)
    assert peeled is not None
    assert peeled.extremes == [
        ExtremeModel(2, 1, False, pytest.approx(7 * log(2) + 5 * log(4 / 3)))
    ]


def test_of_battles_about_one_video_the_mean_counts() -> None:
    peeled = peel("A>B*9@1 B>A*3@2 A>C*1@1 B>C*1@1 B>C*40@2", log(3), 0.0)
    assert peeled is not None
    assert peeled.extremes[0].evidence == pytest.approx(log((4 / 3 + 2) / 2) + log(2))


def test_whoever_won_everything_is_weighed_against_the_strongest() -> None:
    peeled = peel("B>C*9 C>B*3 A>B*5 A>C*7", 9.0, log(3), 0.0)
    assert peeled is not None
    assert peeled.extremes == [ExtremeModel(0, 1, True, pytest.approx(5 * log(2) + 7 * log(4 / 3)))]


def test_two_that_lost_everything_and_never_met_are_not_told_apart() -> None:
    peeled = peel("A>B*9 B>A*3 A>C*5 B>C*5 A>D*5 B>D*5")
    assert peeled is not None
    first, second = peeled.extremes
    assert (first.model, first.neighbour, first.evidence) == (2, 3, 0.0)
    assert (second.model, second.neighbour) == (3, 1)
    assert second.evidence > log(40)


def test_a_chain_is_peeled_from_its_end() -> None:
    peeled = peel("A>B*9 B>C*3 C>D*2")
    assert peeled is not None
    assert [(one.model, one.neighbour) for one in peeled.extremes] == [(3, 2), (2, 1), (1, 0)]
    assert [one.evidence for one in peeled.extremes] == pytest.approx(
        [times * log(2) for times in (2, 3, 9)]
    )


def test_a_component_without_extremes_stays_whole() -> None:
    peeled = peel("A>B*9 B>A*3 B=C A>C")
    assert peeled is not None
    assert peeled.body.tolist() == [0, 1, 2]
    assert peeled.extremes == []


def test_groups_that_only_ever_lost_to_each_other_cannot_be_peeled() -> None:
    assert peel("A>B*9 B>A*2 C>D*9 D>C*2 A>C*99") is None


@settings(max_examples=25)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 5))
def test_turning_every_result_turns_the_ends(direct: int, far: int, upsets: int) -> None:
    lost = peel(f"A>B*9 B>A*{upsets} B>C*{direct} A>C*{far}")
    won = peel(f"B>A*9 A>B*{upsets} C>B*{direct} C>A*{far}")
    assert lost is not None
    assert won is not None
    assert lost.extremes[0].evidence == pytest.approx(won.extremes[0].evidence)
    assert (lost.extremes[0].is_first, won.extremes[0].is_first) == (False, True)


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_evidence_never_misleads_on_average(seed: int) -> None:
    # What an equal of the neighbour would show: the mean of the ratio over all it may do is 1.
    rng = np.random.default_rng(seed)
    wins = int(rng.integers(2, 9))
    losses = int(rng.integers(1, 3))
    times = int(rng.integers(1, 6))
    cells = fought(f"A>B*{wins} B>A*{losses} A>C*{times} B>C*{times}")
    theta = fit_strengths(cells, likelihood="firth")
    ends = find_extremes(cells, theta)
    assert ends is not None
    weakest = int(np.argmin(theta[:2]))
    beaten = [1 / (1 + exp(theta[weakest] - theta[k])) for k in (0, 1)]
    assert exp(ends.extremes[0].evidence) * np.prod(beaten) ** times == pytest.approx(1)
