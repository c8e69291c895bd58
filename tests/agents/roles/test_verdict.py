"""How a panel's judgings become one verdict."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.roles.judge import first_analyses, settle_verdict
from videoautoarena.memory.records.records import DECIDED, Choice, Judging

VIEWS = (*get_args(Choice), "abstain", "failed")
MIRROR = {"a": "b", "b": "a"}
PANELS = st.lists(
    st.builds(
        Judging,
        judge=st.sampled_from(["j1", "j2", "j3"]),
        seats=st.sampled_from(["ab", "ba"]),
        verdict=st.sampled_from(VIEWS),
        reason=st.just("silence"),
    ),
    max_size=7,
)


def panel(*front: str, back: tuple[str, ...] = ()) -> list[Judging]:
    seatings = (("ab", front), ("ba", back))
    return [
        Judging(judge=f"j{i}", seats=seats, verdict=view, reason="silence")  # type: ignore[arg-type]
        for seats, views in seatings
        for i, view in enumerate(views)
    ]


@pytest.mark.parametrize(
    ("front", "verdict"),
    [
        (("a",), "a"),
        (("tie_bad",), "tie_bad"),
        (("a", "a", "b"), "a"),
        (("a", "b"), "split"),
        (("a", "tie_good"), "split"),
        (("a", "b", "tie"), "split"),
        (("b", "tie_good", "tie_good"), "tie_good"),
        (("b", "tie_good", "tie_bad"), "tie"),
        (("tie", "tie_good"), "tie"),
        (("abstain", "failed", "b"), "b"),
    ],
)
def test_the_plurality_of_those_who_decide_settles_it(front: tuple[str, ...], verdict: str) -> None:
    assert settle_verdict(panel(*front), audit_only=True) == (verdict, None)


@pytest.mark.parametrize(
    ("front", "back", "verdict"),
    [
        ("a", "a", "a"),
        ("a", "b", "split"),
        ("a", "tie", "split"),
        ("tie_good", "tie_bad", "tie"),
        ("tie_bad", "tie_bad", "tie_bad"),
        ("a", "failed", "a"),
        ("abstain", "b", "b"),
    ],
)
def test_where_both_seats_count_they_must_agree(front: str, back: str, verdict: str) -> None:
    assert settle_verdict(panel(front, back=(back,)), audit_only=False) == (verdict, None)


def test_nobody_who_decides_makes_a_void_that_says_why() -> None:
    verdict, reason = settle_verdict(panel("abstain", "failed"), audit_only=True)
    assert verdict == "void"
    assert reason == "no judge decided: j0 (ab): silence; j1 (ab): silence"


def test_no_judgings_at_all_are_a_void() -> None:
    assert settle_verdict([], audit_only=True) == ("void", "no judge was asked")


def test_an_audit_decides_nothing_even_where_it_alone_has_a_view() -> None:
    assert settle_verdict(panel("failed", back=("a",)), audit_only=True)[0] == "void"


@given(PANELS)
def test_an_audit_never_changes_the_verdict(judgings: list[Judging]) -> None:
    first = [j for j in judgings if j.seats == "ab"]
    with_audit = settle_verdict(judgings, audit_only=True)
    assert with_audit[0] == settle_verdict(first, audit_only=False)[0]


@given(PANELS, st.booleans())
def test_a_verdict_is_decided_or_void_with_a_reason(judgings: list[Judging], audit: bool) -> None:
    verdict, reason = settle_verdict(judgings, audit_only=audit)
    assert (verdict in DECIDED) == (reason is None)


@given(PANELS, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_the_panel_means_nothing(judgings: list[Judging], audit: bool, dice) -> None:  # type: ignore[no-untyped-def]
    shuffled = dice.sample(judgings, len(judgings))
    both = [settle_verdict(js, audit_only=audit)[0] for js in (judgings, shuffled)]
    assert both[0] == both[1]


@given(PANELS, st.booleans())
def test_exchanged_contestants_exchange_the_verdict(judgings: list[Judging], audit: bool) -> None:
    turned = [j.model_copy(update={"verdict": MIRROR.get(j.verdict, j.verdict)}) for j in judgings]
    plain = settle_verdict(judgings, audit_only=audit)[0]
    assert settle_verdict(turned, audit_only=audit)[0] == MIRROR.get(plain, plain)


def test_the_evolver_reads_the_first_judge_that_spoke_with_the_answers_in_their_places() -> None:
    words = dict(
        instruction_following="both comply", accuracy="A errs", relevance="-", helpfulness="-"
    )
    failed, second, swapped = panel("failed", "a", back=("b",))
    spoken = second.model_copy(update={"analyses": words})
    turned = swapped.model_copy(update={"analyses": words})
    assert first_analyses([failed, turned, spoken]) is words
    assert first_analyses([failed, turned]) is None
    assert first_analyses([]) is None
