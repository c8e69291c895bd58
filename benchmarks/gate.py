"""What the gate gets out of servers with hidden limits: `python -m benchmarks.gate`.

Each line is a server on virtual time behind the real way out (gate, retries, pauses): how many
calls came back, as a share of what somebody would get who knows every limit and every bad spell,
and how many tries were refused. The ideal of a storm is that of the time outside it. Several seeds
draw the latencies; the worst share is what a line is held to.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tests.support.weather import Weather, endure
from videoautoarena.memory.records.records import CallLimits

BOUND = 0.9
"""Of the ideal."""
NOISE_BOUND = 0.85
"""Where refusals have nothing to do with load; they take no room, so the ideal is the same."""
MIXED_BOUND = 0.76
"""Where some of them have: 80 % of an ideal in which each of them costs the work of a call."""


@dataclass(frozen=True)
class Trace:
    """One line of the table."""

    name: str
    weather: Weather
    bound: float = BOUND
    until_s: float = 300.0
    lineages: int = 64
    limits: CallLimits | None = None


LIMITED = Weather(concurrent=32, a_minute=600)
MINUTE = ((100.0, 160.0),)
TRACES = (
    Trace("32 at once", Weather(concurrent=32, hint_s=1.0)),
    Trace("32 at once, 600 a minute", replace(LIMITED, hint_s=1.0)),
    Trace("the same, Retry-After 89", replace(LIMITED, hint_s=89.0)),
    Trace("the same, counted by windows", replace(LIMITED, window=True, hint_s=5.0)),
    Trace(
        "the same, 600 a minute stated",
        replace(LIMITED, bucket=3.0),
        limits=CallLimits(requests_per_minute=600),
    ),
    Trace(
        "storm of 60 s, Retry-After 89", replace(LIMITED, hint_s=89.0, storms=MINUTE), until_s=600
    ),
    Trace("storm of 60 s, no hint", replace(LIMITED, storms=MINUTE), until_s=600),
    Trace(
        "the storm, 400 lineages",
        replace(LIMITED, hint_s=89.0, storms=MINUTE),
        until_s=600,
        lineages=400,
    ),
    Trace(
        "storm of 5 min, Retry-After 89",
        replace(LIMITED, hint_s=89.0, storms=((100.0, 400.0),)),
        until_s=900,
    ),
    Trace("first 3 s refused, hint 89", replace(LIMITED, hint_s=89.0, storms=((0.0, 3.0),))),
    Trace(
        "latency drifts from 2 to 6 s",
        Weather(concurrent=32, hint_s=1.0, latency_s=lambda now_s: 2 + now_s / 150),
        until_s=600,
    ),
    Trace("queues beyond 32, refuses nobody", Weather(knee=32)),
    Trace(
        "refuses one every 2 s, hint 89",
        Weather(concurrent=32, every_s=2.0, hint_s=89.0),
        NOISE_BOUND,
    ),
    Trace("refuses 10 % at random", Weather(concurrent=32, unlucky=0.1, hint_s=1.0), NOISE_BOUND),
    Trace(
        "the same, Retry-After 89", Weather(concurrent=32, unlucky=0.1, hint_s=89.0), NOISE_BOUND
    ),
    Trace(
        "32 at once, 5 % at random", Weather(concurrent=32, unlucky=0.05, hint_s=1.0), MIXED_BOUND
    ),
    Trace("600 a minute, 5 % at random", replace(LIMITED, unlucky=0.05, hint_s=1.0), MIXED_BOUND),
    Trace(
        "storm of 60 s in 10 % at random",
        Weather(concurrent=32, unlucky=0.1, hint_s=1.0, storms=MINUTE),
        MIXED_BOUND,
        until_s=600,
    ),
    Trace(
        "refuses 10 % at random, no limit",
        Weather(concurrent=64, unlucky=0.1, hint_s=1.0),
        MIXED_BOUND,
    ),
)


def line(trace: Trace, seeds: Iterable[int]) -> tuple[float, float, int]:
    """Return the worst share, the worst share of refusals and the places at the end."""
    model = {"limits": trace.limits} if trace.limits else {}
    spells = [
        endure(
            trace.weather,
            until_s=trace.until_s,
            lineages=trace.lineages,
            seed=seed,
            model={**model},
        )
        for seed in seeds
    ]
    places = max(spell.sky.most_busy for spell in spells)
    return min(s.share for s in spells), max(s.refused for s in spells), places


def main() -> int:
    """Print the table and return 1 if a line misses its bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=0, help="the first of these seeds")
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the names of servers")
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    print(f"{'server':36}{'of the ideal':>13}{'bound':>8}{'refused':>10}{'most at once':>14}")
    missed = []
    for trace in [one for one in TRACES if any(part in one.name for part in arguments.only)]:
        share, refused, places = line(trace, seeds)
        print(
            f"{trace.name:36}{share:13.1%}{trace.bound:8.0%}{refused:10.1%}{places:14}", flush=True
        )
        if share < trace.bound:
            missed.append(trace.name)
    print(f"bounds: {'missed by ' + ', '.join(missed) if missed else 'kept'}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
