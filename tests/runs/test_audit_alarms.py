"""How often an audit raises an alarm by chance, and how often about a judge that deserves one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from memory.records import Battle
from runs.audit import find_all
from runs.audit_input import AuditInput
from tests.support.audited import audited, entry, fought

STRENGTHS = {"hawk": 1.2, "mole": 0.0, "unseeing": -1.0, "terse": 0.3, "windbag": 0.3}
CAST = {name: entry(f"offline:{name}", frames=0 if name == "unseeing" else 8) for name in STRENGTHS}
LENGTHS = {"windbag": 900}
RUNS = 20


def played(seed: int, *, videos: int, seat: float, length: float) -> AuditInput:
    """Return nine battles a video; the judge may lean to a seat or to length, in nats."""
    rng = np.random.default_rng(seed)
    return audited(
        [_battle(rng, 9 * v + k, f"v{v}", seat, length) for v in range(videos) for k in range(9)],
        cast=CAST,
    )


def _battle(
    rng: np.random.Generator, number: int, video: str, seat: float, length: float
) -> Battle:
    a, b = (str(name) for name in rng.choice(list(STRENGTHS), 2, replace=False))
    size_a, size_b = (max(int(rng.normal(LENGTHS.get(name, 300), 60)), 1) for name in (a, b))
    merit = STRENGTHS[a] - STRENGTHS[b] + rng.normal(0, 1.5)
    merit += length * float(np.sign(size_a - size_b))
    # The same two answers are judged alike but for the seats.
    front, back = ("a" if merit + side > 0 else "b" for side in (seat, -seat))
    said = [f"judge:{front}"] + [f"judge:{back}:ba"] * (number % 5 == 0)
    texts = {"answer_a": "x" * size_a, "answer_b": "y" * size_b}
    return fought(number, a, b, front, *said, video=video, **texts)


def raised(*, videos: int, seat: float = 0.0, length: float = 0.0) -> Counter[str]:
    """Return in how many runs each alarm was raised, and under "any" in how many one was."""
    found: Counter[str] = Counter()
    for seed in range(RUNS):
        given = played(seed, videos=videos, seat=seat, length=length)
        keys = {one.key for one in find_all(given) if one.is_alarm}
        found.update(keys | ({"any"} if keys else set()))
    return found


@pytest.mark.parametrize("videos", [12, 40])
def test_a_fair_judge_is_seldom_accused(videos: int) -> None:
    assert raised(videos=videos)["any"] <= 3


def test_a_judge_that_leans_to_the_first_seat_is_found_out() -> None:
    assert raised(videos=40, seat=1.5)["seats.first"] >= 18


def test_a_judge_that_leans_to_length_is_found_out() -> None:
    found = raised(videos=40, length=2.0)
    assert found["canary.windbag"] >= 18
    assert found["length.matched"] >= 10
