"""How often an audit raises an alarm by chance, and how often about a judge that deserves one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.seasons import FAIR, Nature, Season
from videoautoarena.runs.analysis.audit.evidence import above, finding
from videoautoarena.runs.analysis.audit.report import find_all
from videoautoarena.runs.rating.finding import ENOUGH, Finding, raise_alarms
from videoautoarena.scoring.intervals.proportions import measure_share

BIASED_RUNS = 10
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
    ("videos", "panel", "runs"),
    [
        (12, False, 20),
        *(
            pytest.param(*one, marks=SLOW)
            for one in ((3, False, 60), (12, False, 60), (40, False, 40), (12, True, 40))
        ),
    ],
)
def test_a_fair_judge_is_accused_in_at_most_five_runs_of_a_hundred(
    videos: int, panel: bool, runs: int
) -> None:
    found = raised(runs, videos=videos, panel=panel)
    assert found["any"] <= 0.05 * runs, found


@pytest.mark.parametrize(
    ("nature", "videos", "key"),
    [
        pytest.param(Nature(seat=1.0), 12, "seats.first", id="seats"),
        pytest.param(Nature(length=50.0), 12, "length.longer", id="nothing but length"),
        pytest.param(Nature(length=2.0), 40, "canary.windbag", id="length", marks=SLOW),
        pytest.param(Nature(length=2.0), 40, "length.matched", id="equal length", marks=SLOW),
        pytest.param(Nature(kin=1.5), 40, "family.excess.judge", id="kin", marks=SLOW),
        pytest.param(Nature(sees=0.0), 40, "truth.accuracy.judge", id="blind", marks=SLOW),
        pytest.param(Nature(falls=0.4), 40, "attack.fallen.judge", id="gullible", marks=SLOW),
    ],
)
def test_a_judge_that_deserves_it_is_accused(nature: Nature, videos: int, key: str) -> None:
    found = raised(BIASED_RUNS, videos=videos, nature=nature, panel=nature.kin > 0)
    assert found[key] >= 0.9 * BIASED_RUNS, found


def judged(hits: float, of: int, *, videos: int, number: int = 0, is_even: bool = True) -> Finding:
    """Return a share that must not be above one half, which a fair judge comes to."""
    share = measure_share([1.0] * round(hits) + [0.0] * (of - round(hits)), np.arange(of) % videos)
    key = f"made.up.{number}"
    return finding(key, share, "It is so.", crosses=above(share, 0.5), is_even=is_even)


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
    assert found.to_json()["too_few"] is not alarm


def test_the_more_figures_a_fair_judge_may_cross_the_surer_each_has_to_be() -> None:
    # 65 of 100 lie 3.0 standard errors above a half: 0.27 % at both ends.
    odd = judged(65, 100, videos=100)
    even = judged(50, 100, videos=100, number=1)
    for others, alarm in ((0, True), (9, True), (39, False)):
        first, *rest = raise_alarms([odd, *[even] * others])
        assert (first.is_alarm, any(one.is_alarm for one in rest)) == (alarm, False)
    assert raise_alarms([odd, *[judged(4, 4, videos=4)] * 39])[0].is_alarm
    far = judged(65, 100, videos=100, is_even=False)
    assert raise_alarms([far, *[even] * 39])[0].is_alarm
    assert raise_alarms([odd, *[far] * 39])[0].is_alarm


@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 60), st.integers(0, 12))
def test_an_alarm_has_an_interval_beyond_its_threshold_and_twenty_cases(
    hits: int, of: int, videos: int, others: int
) -> None:
    many = [judged(1, 40, videos=20)] * others
    found = raise_alarms([judged(min(hits, of), of, videos=min(videos, of)), *many])[0]
    assert not found.is_alarm or (found.low > 0.5 and found.n >= ENOUGH)
