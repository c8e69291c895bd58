"""Who may be best, which places are open, and the videos that are missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from benchmarks.leads import KINDS, faults, hold
from tests.support.tournament import fought
from videoautoarena.scoring.intervals.ranks import ModelOrder, lead_of, videos_needed
from videoautoarena.scoring.ratings.ratings import FitMethod, rate

MANY = 1e6
"""Degrees of freedom at which Student's t is the normal distribution."""


def independent(
    gaps: list[float], *, freedom: float = MANY, simultaneous: bool = False
) -> ModelOrder:
    """Return the lead of models whose strengths have independent errors of one over sqrt 2.

    So the error of each difference is 1, and gaps are in errors.
    """
    n = len(gaps)
    return lead_of(np.array(gaps), np.eye(n) / 2, freedom, simultaneous=simultaneous)


def test_two_models_are_asked_in_one_direction_who_may_be_best_and_in_two_for_ranges() -> None:
    # One in twenty in one direction is 1.645 errors, three in a hundred in two are 2.170.
    assert independent([1.60, 0.0]).may_be_best.tolist() == [True, True]
    between = independent([2.0, 0.0])
    assert between.may_be_best.tolist() == [True, False]
    assert between.worst.tolist() == [2, 2]
    lead = independent([2.30, 0.0])
    assert (lead.best.tolist(), lead.worst.tolist()) == ([1, 2], [1, 2])
    assert lead.apart.tolist() == [[False, True], [True, False]]


def test_the_bound_to_the_best_is_dunnetts() -> None:
    # Dunnett (1955), one-sided, 5 %, four treatments and a control, no end of degrees: 2.16.
    assert independent([0.0] * 5).bound == pytest.approx(2.16, abs=0.04)
    # And 2.44 with twenty degrees less two for nine of them: the table gives 2.60 for p = 9.
    assert independent([0.0] * 10, freedom=20).bound == pytest.approx(2.60, abs=0.06)


def test_the_bound_over_all_pairs_is_that_of_the_studentised_range() -> None:
    # Tukey's q(0.95; 5, inf) = 3.858, over sqrt 2 = 2.728 errors of a difference.
    below, above = (independent([gap, 0, 0, 0, 0], simultaneous=True) for gap in (2.65, 2.81))
    assert below.worst[0] == 5
    assert above.worst[0] == 1
    assert above.may_be_best.tolist() == [True, False, False, False, False]


def test_equal_models_share_the_better_place() -> None:
    assert independent([0.0, 0.0, -9.0]).place.tolist() == [1, 1, 3]


def test_few_degrees_need_a_larger_bound() -> None:
    assert independent([2.0, 0.0], freedom=4).may_be_best.all()
    assert not independent([2.0, 0.0], freedom=499).may_be_best[1]


def test_many_models_have_bonferronis_bounds() -> None:
    found = independent([0.0] * 101, freedom=30)
    assert found.bound == pytest.approx(student.isf(0.05 / 100, 30))


def test_without_errors_every_place_is_open() -> None:
    lead = lead_of(np.array([2.0, 1.0]), np.eye(2), 1.0, errors=np.full((2, 2), np.inf))
    assert lead.may_be_best.all()
    assert (lead.best.tolist(), lead.worst.tolist()) == ([1, 1], [2, 2])
    assert not lead.apart.any()


def test_models_that_go_together_are_told_apart_though_their_intervals_overlap() -> None:
    together = np.array([[1.0, 0.95], [0.95, 1.0]])
    lead = lead_of(np.array([1.0, 0.0]), together, MANY)
    assert lead.may_be_best.tolist() == [True, False]


def test_who_is_unknown_is_placed_by_what_is_evident_alone() -> None:
    evident = np.zeros((3, 3), dtype=np.bool_)
    evident[0, 2] = True
    unknown = np.array([False, False, True])
    lead = lead_of(np.array([1.0, 0.0, -9.0]), np.eye(3), MANY, evident=evident, unknown=unknown)
    assert lead.may_be_best.tolist() == [True, True, False]
    assert lead.best.tolist() == [1, 1, 2]
    assert lead.worst.tolist() == [2, 3, 3]
    assert lead.apart[0].tolist() == [False, False, True]


gaps = st.lists(st.integers(-500, 500).map(lambda k: k / 100), min_size=2, max_size=12, unique=True)


@settings(max_examples=25)
@given(gaps, st.floats(1, 200), st.booleans())
def test_the_first_may_be_best_and_a_range_holds_its_place(
    found: list[float], freedom: float, simultaneous: bool
) -> None:
    lead = independent(found, freedom=freedom, simultaneous=simultaneous)
    assert lead.may_be_best[int(np.argmax(found))]
    assert (lead.best <= lead.place).all()
    assert (lead.place <= lead.worst).all()
    # Who may be best has the first place in reach, whatever the direction asked in.
    assert (lead.best[lead.may_be_best] == 1).all()


@settings(max_examples=25)
@given(gaps)
def test_renaming_the_models_renames_the_lead(found: list[float]) -> None:
    order = np.random.default_rng(len(found)).permutation(len(found))
    plain = independent(found)
    renamed = independent([found[k] for k in order])
    assert renamed.may_be_best.tolist() == plain.may_be_best[order].tolist()
    assert renamed.best.tolist() == plain.best[order].tolist()
    assert renamed.worst.tolist() == plain.worst[order].tolist()


def test_a_parrot_that_lost_often_enough_is_apart_and_one_that_lost_thrice_is_not() -> None:
    field = "A>B*30@1 B>A*28@2 B>C*30@3 C>B*27@4 A>C*30@5 C>A*29@6 "
    often = rate(
        fought(field + " ".join(f"{one}>D@{video}" for one in "ABC" for video in range(9)))
    )
    (lead,) = often.leads
    assert lead.may_be_best.tolist() == [True, True, True, False]
    assert lead.best[3] == 4
    rarely = rate(fought(field + "A>D@1 B>D@2 C>D@3")).leads[0]
    assert rarely.may_be_best.all()


def test_two_parrots_are_below_the_rest_though_not_apart_from_each_other() -> None:
    losses = " ".join(f"{one}>{two}@{k}" for one in "AB" for two in "CD" for k in range(12))
    (lead,) = rate(fought(f"A>B*20@1 B>A*22@2 A>B*20@3 B>A*21@4 C>D@5 {losses}")).leads
    assert lead.may_be_best.tolist() == [True, True, False, False]
    assert not lead.apart[2, 3]
    assert lead.best.tolist() == [1, 1, 3, 3]


def test_groups_that_never_took_a_point_from_each_other_are_not_apart() -> None:
    # Nobody knows how far the two groups of two are from each other.
    (lead,) = rate(fought("A>B*9@1 B>A*9@2 C>D*9@3 D>C*9@4 A>C*9@5 B>D*9@6")).leads
    assert lead.may_be_best.all()
    assert not lead.apart.any()


def test_draws_of_a_bootstrap_say_who_is_apart_as_the_sandwich_does() -> None:
    text = " ".join(f"A>B*3@{k} A>C*3@{k} B>C*2@{k} C>B*2@{k} B>A@{k} C>A@{k}" for k in range(40))
    drawn = rate(fought(text), FitMethod(rounds=200)).leads[0]
    plain = rate(fought(text)).leads[0]
    assert drawn.may_be_best.tolist() == plain.may_be_best.tolist() == [True, False, False]


@pytest.mark.parametrize("name", ["7 equal", "parrot"])
def test_sets_and_ranges_hold_the_truth_in_forty_tournaments(name: str) -> None:
    found = hold(KINDS[name], tournaments=40)
    # 0.95 less three errors of forty tournaments.
    assert min(found.best, found.range) >= 0.85
    assert found.candidates < found.overlapping


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_sets_and_ranges_hold_the_truth_in_four_hundred_tournaments(name: str) -> None:
    assert faults(hold(KINDS[name], tournaments=400)) == []


def test_half_the_gap_needs_four_times_the_videos() -> None:
    assert videos_needed(50.0, 100.0, videos=12) == 36


def test_neighbours_that_only_just_meet_need_one_more() -> None:
    assert videos_needed(100.0, 100.0, videos=12) == 1


@pytest.mark.parametrize(("gap", "reach"), [(0.0, 10.0), (0.1, 100.0), (5.0, np.inf), (-1.0, 1.0)])
def test_what_is_out_of_reach_is_not_named(gap: float, reach: float) -> None:
    assert videos_needed(gap, reach, videos=12) is None


def test_the_cap_is_the_callers() -> None:
    assert videos_needed(50.0, 100.0, videos=12, at_most=35) is None
