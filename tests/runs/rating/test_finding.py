"""Figures as programs read them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from videoautoarena.runs.rating.finding import Finding, alarms, figure_json, figure_of
from videoautoarena.scoring.intervals.proportions import NOTHING, Share


def test_a_share_and_a_finding_tell_the_same_figures() -> None:
    share = Share(np.float64(1 / 3), 0.25, 0.5, 12)
    told = figure_of(share)._asdict()
    assert json.loads(json.dumps(told)) == {"value": 0.333333, "low": 0.25, "high": 0.5, "n": 12}
    finding = Finding("swap.flips", *share, "A third.", is_alarm=True)
    about = {"key": "swap.flips", "sentence": "A third.", "alarm": True, "too_few": False}
    assert finding.to_json() == {**about, **told}
    assert alarms([finding]) == ["A third."]


def test_what_is_not_finite_is_null() -> None:
    assert figure_of(NOTHING)._asdict() == {"value": None, "low": None, "high": None, "n": 0}


@pytest.mark.parametrize(
    ("value", "digits", "told"),
    [(2 / 3, 2, 0.67), (np.float64(2 / 3), 6, 0.666667), (math.inf, 6, None), (math.nan, 1, None)],
)
def test_a_figure_is_rounded_to_what_is_asked(
    value: float, digits: int, told: float | None
) -> None:
    assert figure_json(value, digits) == told
