"""Which benchmarks need no clock, and the size at which each of them runs among the slow tests.

What is counted, covered, ordered or weighed in bytes, or takes virtual time, comes out alike on a
machine that is busy with something else, so its bounds are held wherever the slow tests run. Full
size, which the documents tell, is each benchmark's own command.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Small(NamedTuple):
    """How a benchmark is run within a minute."""

    arguments: tuple[str, ...]
    clocked: tuple[str, ...] = ()
    """What stands in those of its verdicts that take a clock; they are not held then."""


SMALL: dict[str, Small] = {
    "bodies": Small(("--turns", "1"), ("times a text call", "of plain LangChain")),
    "coverage": Small(("--sets", "20")),
    "gate": Small(("--seeds", "1", "--first", "2")),
    "labels": Small(("--sets", "12")),
    "memory": Small(("--videos", "200")),
    "one_sided": Small(("--sets", "400")),
    "order": Small(("--seeds", "1")),
    "slots": Small(
        ("--videos", "200", "--rounds", "20", "--battles", "100"), ("for arena status",)
    ),
}
ELSEWHERE: dict[str, str] = {
    "damage": "tests/benchmarks/test_damage.py",
    "kills": "tests/e2e/test_killed_at_writes.py",
    "pairing": "tests/benchmarks/test_pairing.py",
}
"""Those whose bounds other slow tests hold already, with fewer kills and tournaments."""
CLOCKED: dict[str, str] = {
    "console": "share of a core",
    "decode": "seconds of the processor",
    "freezing": "seconds of the processor",
    "latency": "seconds",
    "overhead": "milliseconds of the processor",
    "overlap": "seconds",
    "playing": "milliseconds of the processor",
    "rating": "seconds",
    "resume": "seconds of the processor",
}
"""What the bounds of the others are made of."""
_MISS = re.compile(r"\bNOT kept\b|\bMISS$|^FAILS |^bounds: missed by |: more than ")


def misses(name: str, said: str) -> list[str]:
    """Return the lines in which a benchmark says that it missed a bound which takes no clock."""
    return [
        line
        for line in said.splitlines()
        if _MISS.search(line) and not any(part in line for part in SMALL[name].clocked)
    ]
