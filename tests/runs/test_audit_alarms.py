"""How often an audit raises an alarm by chance, and how often about a judge that deserves one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.audit import find_all
from runs.audit_input import above, finding
from runs.findings import ENOUGH, Finding, raise_alarms
from scoring.shares import measure_share
from tests.support.seasons import FAIR, Nature, Season

FAIR_RUNS, BIASED_RUNS = 120, 20
SLOW = pytest.mark.slow


def raised(runs: int, *, videos: int, nature: Nature = FAIR, panel: bool = False) -> Counter[str]:
    """Return in how many runs each alarm was raised, and under "any" in how many one was."""
    found: Counter[str] = Counter()
    for seed in range(runs):
        given = Season(seed, videos, nature, panel=panel).audited()
        keys = {one.key for one in find_all(given) if one.is_alarm}
        found.update(keys | ({"any"} if keys else set()))
    return found


@pytest.mark.parametrize(
    ("videos", "panel"),
    [
        (12, False),
        *(pytest.param(*one, marks=SLOW) for one in ((3, False), (40, False), (12, True))),
    ],
)
def test_a_fair_judge_is_accused_in_at_most_five_runs_of_a_hundred(
    videos: int, panel: bool
) -> None:
    found = raised(FAIR_RUNS, videos=videos, panel=panel)
    assert found["any"] <= 0.05 * FAIR_RUNS, found


@pytest.mark.parametrize(
    ("nature", "key", "least"),
    [
        pytest.param(Nature(seat=1.0), "seats.first", 18, id="seats"),
        pytest.param(Nature(length=2.0), "canary.windbag", 18, id="length"),
        pytest.param(Nature(length=2.0), "length.matched", 16, id="equal length", marks=SLOW),
        pytest.param(Nature(kin=1.5), "family.excess.judge", 18, id="kin", marks=SLOW),
        pytest.param(Nature(sees=0.0), "truth.accuracy.judge", 18, id="blind", marks=SLOW),
        pytest.param(Nature(falls=0.4), "attack.fallen.judge", 17, id="gullible", marks=SLOW),
    ],
)
def test_a_judge_that_deserves_it_is_accused_on_forty_videos(
    nature: Nature, key: str, least: int
) -> None:
    assert raised(BIASED_RUNS, videos=40, nature=nature, panel=nature.kin > 0)[key] >= least


def judged(hits: float, of: int, *, videos: int, number: int = 0) -> Finding:
    """Return a share that must not be above one half."""
    share = measure_share([1.0] * round(hits) + [0.0] * (of - round(hits)), np.arange(of) % videos)
    return finding(f"made.up.{number}", share, "It is so.", crosses=above(share, 0.5))


@pytest.mark.parametrize(
    ("cases", "videos", "alarm", "said"),
    [
        pytest.param(4, 4, False, "It is so. Too few to tell.", id="four"),
        pytest.param(ENOUGH - 1, 19, False, "It is so. Too few to tell.", id="one too few"),
        pytest.param(ENOUGH, 20, True, "It is so.", id="enough"),
        pytest.param(400, 1, False, "It is so. Too few to tell.", id="one video"),
    ],
)
def test_few_cases_or_one_video_raise_no_alarm_and_say_so(
    cases: int, videos: int, alarm: bool, said: str
) -> None:
    (found,) = raise_alarms([judged(cases, cases, videos=videos)])
    assert (found.is_alarm, found.sentence) == (alarm, said)


def test_the_more_figures_there_are_the_surer_each_has_to_be() -> None:
    # 65 of 100 lie 3.0 standard errors above a half: 0.27 % at both ends.
    odd, even = judged(65, 100, videos=100), judged(50, 100, videos=100, number=1)
    for others, alarm in ((0, True), (9, True), (39, False)):
        first, *rest = raise_alarms([odd, *[even] * others])
        assert (first.is_alarm, any(one.is_alarm for one in rest)) == (alarm, False)
    assert raise_alarms([odd, *[judged(4, 4, videos=4)] * 39])[0].is_alarm


@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 60), st.integers(0, 12))
def test_an_alarm_has_an_interval_beyond_its_threshold_and_twenty_cases(
    hits: int, of: int, videos: int, others: int
) -> None:
    many = [judged(1, 40, videos=20)] * others
    found = raise_alarms([judged(min(hits, of), of, videos=min(videos, of)), *many])[0]
    assert not found.is_alarm or (found.low > 0.5 and found.n >= ENOUGH)
