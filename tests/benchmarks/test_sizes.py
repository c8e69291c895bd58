"""Every benchmark that needs no clock holds its bounds, small; none is left out unseen.

What is counted, covered, ordered or weighed in bytes, or takes virtual time, comes out alike on a
busy machine. Full size, which the documents report, is each benchmark's own command.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

HOUSE = Path(__file__).parents[2]


class Small(NamedTuple):
    """How a benchmark is run within seconds."""

    arguments: tuple[str, ...]
    clocked: tuple[str, ...] = ()
    """What stands in those of its verdicts that take a clock; they are not held then."""
    is_apart: bool = False
    """Whether it runs in a process of its own: the peak of memory of a child begins with that of
    the process it was forked from, which is large while tests run."""


SKIES = ("5 min", "queues", "600 a minute, 5 %", "in 10 %", "refuses 10 %")
"""Servers most of which `test_adaptive_limit.py` and `test_throttle_noise.py` do not hold."""
SLOTS = ("--videos", "60", "--rounds", "10", "--battles", "20", "--more", "10", "--small", "5")
SMALL: dict[str, Small] = {
    "bodies": Small(("--memory-alone", "--in-flight", "16", "--held-s", "0.5")),
    "categories": Small(("--questions", "200")),
    "coverage": Small(("--sets", "20", "--kinds", "clustered")),
    "gate": Small(("--seeds", "1", "--first", "2", "--only", *SKIES)),
    "labels": Small(("--sets", "6")),
    "languages": Small(("--seeds", "1", "--even", "4")),
    "ladder": Small(("--minutes", "0.1", "0.4", "--alone")),
    "memory slots": Small(SLOTS, ("for arena status",), is_apart=True),
    "million": Small(
        ("--videos", "20", "--rounds", "2", "--only", "rating alone"),
        ("rating alone:",),
        is_apart=True,
    ),
    "prefixes": Small(("--clips", "1", "--rounds", "1"), ("the longest call",)),
    "reading": Small(("--replies", "1000")),
    "realism": Small(("--seeds", "6", "--shifts", "1")),
    "scenes": Small(("--films", "2")),
}
ELSEWHERE: dict[str, str] = {
    "cluster": "tests/e2e/test_cluster_deaths.py",
    "contra": "tests/benchmarks/test_contra.py",
    "damage": "tests/benchmarks/test_damage.py",
    "dialogues": "tests/benchmarks/test_dialogues.py",
    "memory": "tests/benchmarks/test_small.py",
    "one_sided": "tests/scoring/ratings/test_one_sided.py",
    "order": "tests/benchmarks/test_small.py",
    "kills": "tests/e2e/test_killed_at_writes.py",
    "leads": "tests/scoring/intervals/test_ranks.py",
    "pairing": "tests/benchmarks/test_pairing.py",
    "servers": "tests/e2e/test_personalities.py",
    "tasks": "tests/benchmarks/test_tasks.py",
    "real": "tests/e2e/test_real_model.py",
    "retrieval": "tests/benchmarks/test_small.py",
    "watched": "tests/benchmarks/test_small.py",
}
"""Those whose bounds other slow tests hold already, with fewer kills and tournaments."""
CLOCKED: dict[str, str] = {
    "console": "share of a core",
    "decode": "seconds of the processor",
    "freezing": "seconds of the processor",
    "house": "no bound: it counts the code",
    "mutants": "no bound: it compares revisions",
    "latency": "seconds",
    "overhead": "milliseconds of the processor",
    "overlap": "seconds",
    "page": "milliseconds",
    "playing": "milliseconds of the processor",
    "rating": "seconds",
    "resume": "seconds of the processor",
    "startup": "seconds of the processor",
}
"""What the bounds of the others are made of."""
_MISS = re.compile(r"\bNOT kept\b|\bMISS$|^bounds: missed by |: more than ")


def misses(name: str, said: str) -> list[str]:
    """Return the lines in which a benchmark says that it missed a bound which takes no clock."""
    return [
        line
        for line in said.splitlines()
        if _MISS.search(line) and not any(part in line for part in SMALL[name].clocked)
    ]


def test_every_benchmark_is_held_small_or_elsewhere_or_takes_a_clock() -> None:
    made = re.findall(r"-m benchmarks\.(\w+(?: \w+)?)", (HOUSE / "Makefile").read_text())
    assert sorted([*SMALL, *ELSEWHERE, *CLOCKED]) == sorted(set(made))
    for name, path in ELSEWHERE.items():
        assert "mark.slow" in (HOUSE / path).read_text(), name


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("coverage", "     8     800  0.0  0.855 +- 0.020 ( 135)  MISS"),
        ("labels", "  1.0    0.0  12479    500  0.466 ( 26.9)  0.55  1.49  MISS"),
        ("gate", "bounds: missed by first 3 s refused, hint 89"),
        ("bodies", "openai: more than 1 MB a call"),
        ("memory slots", "501 MB, of at most 500: NOT kept"),
    ],
)
def test_a_missed_bound_is_found_in_what_a_benchmark_says(name: str, line: str) -> None:
    assert misses(name, f"1.0: kept\n{line}\nthe end") == [line]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("gate", "bounds: kept"),
        ("scenes", "recall at least 0.8: kept"),
        ("memory slots", "6.0 s of CPU for arena status, of at most 5: NOT kept"),
    ],
)
def test_a_kept_bound_and_one_that_takes_a_clock_are_no_misses(name: str, line: str) -> None:
    assert misses(name, line) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_that_needs_no_clock_keeps_its_bounds(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, *words = name.split()
    monkeypatch.chdir(HOUSE)
    words += SMALL[name].arguments
    if SMALL[name].is_apart:
        line = [sys.executable, "-m", f"benchmarks.{module}", *words]
        done = subprocess.run(line, capture_output=True, text=True)
        ended, said = done.returncode, done.stdout
    else:
        monkeypatch.setattr("sys.argv", [module, *words])
        ended = import_module(f"benchmarks.{module}").main()
        said = capsys.readouterr().out
    assert misses(name, said) == []
    assert ended in ((0, 1) if SMALL[name].clocked else (0,))
    assert said
