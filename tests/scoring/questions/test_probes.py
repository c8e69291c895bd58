"""Probes of whole sets: what published items give away, and that nothing hangs on their order."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from tests.support.choice_sets import (
    PLANTED,
    answer_quota,
    clean,
    count,
    needle,
    order,
    place_quota,
    plant,
    shuffled,
)
from videoautoarena.scoring.questions import probes
from videoautoarena.scoring.questions.items import FOUND, NO_OPTION, ChoiceItem
from videoautoarena.scoring.questions.probes import (
    DRAWS,
    LEARNED,
    PROBES,
    ProbeReport,
    ProbeResult,
    probe_items,
)

MLVU = Path(__file__).parents[3].parent / "shared" / "mlvu"
PUBLISHED = {
    # file: items, longest, prior, defects
    "1_plotQA": (539, 39.8, 36.6, {"options repeat": 5, "question and options repeat": 1}),
    "2_needle": (355, 52.7, 90.9, {"key is no option": 2, "question and options repeat": 138}),
    "5_order": (259, 25.0, 49.1, {"question and options repeat": 44}),
}
MIXED = (needle, order, count)
needs_mlvu = pytest.mark.skipif(not MLVU.is_dir(), reason="MLVU's files are not at hand")


def by_name(report: ProbeReport) -> dict[str, ProbeResult]:
    return {result.probe: result for result in report.results}


@cache
def published(name: str) -> ProbeReport:
    rows = json.loads((MLVU / f"{name}.json").read_text())
    places = [
        row["candidates"].index(row["answer"]) if row["answer"] in row["candidates"] else NO_OPTION
        for row in rows
    ]
    items = [
        ChoiceItem(
            row["question"], tuple(row["candidates"]), place, row["question_type"], row["video"]
        )
        for row, place in zip(rows, places, strict=True)
    ]
    return probe_items(items)


@needs_mlvu
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_items_give_away_what_was_measured_of_them(name: str) -> None:
    n, longest, prior, defects = PUBLISHED[name]
    report = published(name)
    found = by_name(report)
    assert report.n == n
    assert 100 * found["longest"].share == pytest.approx(longest, abs=0.05)
    assert 100 * found["prior"].share == pytest.approx(prior, abs=0.05)
    assert Counter(defect.flaw for defect in report.defects) == defects
    assert found["prior"].reading == "found"


@needs_mlvu
def test_most_published_needles_are_given_away_and_their_places_are_balanced_by_quota() -> None:
    report = published("2_needle")
    assert report.given_away.mean() > 0.9
    assert by_name(report)["place"].reading == "balanced too exactly"
    assert np.isnan(report.leak).sum() == 2


@needs_mlvu
def test_the_true_order_stands_in_the_middle_of_published_orders() -> None:
    assert by_name(published("5_order"))["centre"].reading == "found"


@needs_mlvu
def test_items_to_be_answered_in_words_have_no_option_and_are_not_probed() -> None:
    rows = json.loads((MLVU / "8_sub_scene.json").read_text())
    report = probe_items([ChoiceItem(row["question"], (), None, "", row["video"]) for row in rows])
    assert (len(rows), report.n, report.results) == (201, 0, ())


@pytest.mark.parametrize("name", PLANTED)
def test_half_the_items_with_a_shortcut_are_enough_for_its_own_probe(name: str) -> None:
    own = name.partition(" ")[0]
    for seed in range(5):
        (found,) = probe_items(plant(name, 200, seed), probes=[own]).results
        assert (seed, found.reading) == (seed, "found")


@pytest.mark.parametrize(("make", "own"), [(place_quota, "place"), (answer_quota, "prior")])
@pytest.mark.parametrize("draws", [0, DRAWS])
def test_quotas_are_seen_and_never_called_clean(make: object, own: str, draws: int) -> None:
    for seed in range(2):
        assert callable(make)
        (found,) = probe_items(make(200, seed), probes=[own], draws=draws).results
        assert found.share < 0.01
        assert found.reading == "balanced too exactly"


@pytest.mark.parametrize("n", [100, 201, 202, 203])
def test_places_as_even_as_so_many_items_allow_are_seen(n: int) -> None:
    (found,) = probe_items(place_quota(n, 0), probes=["place"]).results
    assert found.reading == "balanced too exactly"


@pytest.mark.slow
def test_clean_sets_raise_an_alarm_in_at_most_two_of_a_hundred() -> None:
    reports = [probe_items(clean(500, 1000 + seed, MIXED)) for seed in range(100)]
    least = [min(found.p for found in report.results) for report in reports]
    assert sum(p <= FOUND for p in least) <= 2
    even = [
        any(found.reading == "balanced too exactly" for found in report.results)
        for report in reports
    ]
    assert sum(even) <= 2
    assert not any(report.given_away.any() for report in reports[:20])


@pytest.mark.slow
def test_draws_of_keys_find_as_much_as_there_is() -> None:
    p = {name: list[float]() for name in LEARNED}
    for seed in range(40):
        report = probe_items(clean(200, 7000 + seed, MIXED), probes=LEARNED, draws=DRAWS)
        for found in report.results:
            p[found.probe].append(found.p)
    for name, drawn in p.items():
        assert (name, sum(value <= 0.05 for value in drawn) <= 7) == (name, True)
        assert np.mean(drawn) == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize(("name", "own"), [("prior", "prior"), ("place", "place"),
                                           ("longest", "classifier")])  # fmt: skip
def test_draws_of_keys_find_what_is_planted(name: str, own: str) -> None:
    (found,) = probe_items(plant(name, 200, 1), probes=[own], draws=DRAWS).results
    assert found.redrawn
    assert found.p == pytest.approx(1 / (1 + DRAWS))
    assert found.reading == "found"


def test_the_draws_of_a_large_set_are_made_on_a_part_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items = plant("place", 200, 0)
    (whole,) = probe_items(items, probes=["classifier"], draws=199).results
    monkeypatch.setattr(probes, "MOST_LEARNED", 12)
    (part,) = probe_items(items, probes=["classifier"], draws=199).results
    assert (whole.p, part.p > 0.01) == (1 / 200, True)
    assert part.share == whole.share


def test_the_shortest_option_is_found_and_the_longest_then_lies_below_chance() -> None:
    # Of three lengths the key is the shortest in half of the items and never the longest.
    items = [ChoiceItem(f"{i}", ("a", "bb", "ccc"), i % 2) for i in range(60)]
    found = by_name(probe_items(items, probes=["longest", "shortest"]))
    assert (found["longest"].share, found["shortest"].share) == (0.0, 0.5)
    assert found["longest"].reading == "balanced too exactly"
    assert found["shortest"].reading == "look"


def test_probes_that_look_at_no_key_are_exact() -> None:
    items = [ChoiceItem(f"{i}", ("aaa", "bb", "cc", "dd"), 0 if i % 3 else 1) for i in range(60)]
    found = by_name(probe_items(items, probes=["longest", "shortest"]))
    assert found["longest"].share == 40 / 60
    exact = binomtest(40, 60, 0.25, alternative="greater").pvalue
    assert found["longest"].p == pytest.approx(exact)
    assert found["longest"].chance == 0.25


def figures(report: ProbeReport, names: list[str]) -> list[tuple[object, ...]]:
    found = by_name(report)
    return [
        (name, round(found[name].share, 12), found[name].p, found[name].reading) for name in names
    ]


@given(st.integers(0, 10**6))
@settings(max_examples=3)
def test_nothing_hangs_on_the_order_of_items(seed: int) -> None:
    items = [*plant("longest", 40, 5), *clean(40, 6, MIXED), ChoiceItem("q", ("a", "b"), NO_OPTION)]
    turn = np.random.default_rng(seed).permutation(len(items))
    one, other = (
        probe_items(order, draws=19) for order in (items, [items[k] for k in turn.tolist()])
    )
    assert figures(one, list(PROBES)) == figures(other, list(PROBES))
    assert one.leak[turn] == pytest.approx(other.leak, nan_ok=True)
    for first, second in zip(one.results, other.results, strict=True):
        assert first.credits[turn] == pytest.approx(second.credits)


@given(st.integers(0, 10**6))
@settings(max_examples=4)
def test_only_place_and_what_learns_it_hang_on_the_order_of_options(seed: int) -> None:
    items = [*plant("longest", 60, 5), *clean(60, 6, MIXED)]
    draw = Random(seed)
    free = [name for name in PROBES if name not in ("place", "classifier")]
    one, other = (
        probe_items(given, probes=free, draws=99)
        for given in (items, [shuffled(item, draw) for item in items])
    )
    assert figures(one, free) == figures(other, free)
    assert one.leak == pytest.approx(other.leak)


@pytest.mark.parametrize(
    "items",
    [
        [],
        [ChoiceItem("q", ("a", "b"), None)],
        [ChoiceItem("q", ("a",), 0)],
        [ChoiceItem("q", ("a", "b"), NO_OPTION)],
    ],
)
def test_nothing_is_said_of_items_without_a_key_or_a_choice(items: list[ChoiceItem]) -> None:
    report = probe_items(items, draws=9)
    assert (report.n, report.results, report.given_away.any()) == (0, (), False)
    assert np.isnan(report.leak).all()


@pytest.mark.parametrize(
    "item",
    [
        ChoiceItem("q", ("yes", "no"), 1),
        ChoiceItem("", ("", ""), 0),
        ChoiceItem("哪一个？", ("红色的车", "蓝色的车", "🚗"), 2),
        ChoiceItem("\x00", ("\ud800", "\u202eabc", "?!"), 1),
        ChoiceItem("q", tuple("abcdefghij"), 9),
    ],
)
@pytest.mark.parametrize("times", [1, 2, 7])
def test_any_texts_are_probed(item: ChoiceItem, times: int) -> None:
    report = probe_items([item] * times, draws=9)
    assert [found.probe for found in report.results] == list(PROBES)
    for found in report.results:
        assert 0.0 <= found.share <= 1.0
        assert 0.0 < found.p <= 1.0
        assert 0.0 < found.p_below <= 1.0
    assert ((report.leak > 0.0) & (report.leak < 1.0)).all()


def test_items_without_a_key_change_nothing_but_the_length_of_the_list() -> None:
    items = plant("prior", 60, 2)
    more = [ChoiceItem("x", ("a", "b"), None), *items, ChoiceItem("y", ("c",), 0)]
    one = probe_items(items)
    other = probe_items(more)
    assert figures(one, list(PROBES)) == figures(other, list(PROBES))
    assert np.isnan(other.results[0].credits[[0, -1]]).all()


def test_an_item_whose_key_is_no_option_is_offered_and_never_won() -> None:
    items = [ChoiceItem("p", ("a", "bb"), 1), ChoiceItem("q", ("a", "cc"), 1)]
    report = probe_items([*items, replace(items[0], key=NO_OPTION)], probes=["longest"])
    (found,) = report.results
    assert (report.n, found.share, found.credits.tolist()) == (3, 2 / 3, [1.0, 1.0, 0.0])
    assert found.p == pytest.approx(1 / 4)


def test_a_probe_that_there_is_none_of_is_refused() -> None:
    with pytest.raises(ValueError, match="no probe is called widest"):
        probe_items([], probes=["widest"])
