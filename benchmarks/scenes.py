"""Does the memory of scenes know objects again that come back, and no others?

Films are drawn in which two of three things are in each of six scenes, on a ground of another
colour, and one look-alike of each is in one scene: it differs in colour, in shape or in size alone.
The offline examiner remembers each of them as `arena scenes` does, and every two appearances of one
id count: right where the same thing is in both boxes. `python -m benchmarks.scenes`
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.canned import keep, parser_of
from tests.support.returns import Recalled, draw_story, invent, recalled
from videoautoarena.runs.making.scenes.show import ScenesOrder, show

PRECISION = 0.9
RECALL = 0.8
RESAMPLES = 2000


class Row(NamedTuple):
    """One film."""

    recalled: Recalled
    scenes: int


def look_at(films: int, folder: Path) -> Iterator[Row]:
    """Yield how well each film is remembered."""
    for seed in range(films):
        story = invent(seed)
        path = draw_story(story, folder / f"{seed}.mp4")
        found, _ = asyncio.run(show(ScenesOrder(path)))
        if found.memory is None:
            raise RuntimeError(f"film {seed} was not remembered")
        yield Row(recalled(story, found.memory), len(found.memory.scenes))


def interval(rows: list[Row], share: str) -> tuple[float, float]:
    """Return where 95 % of resampled films' pooled share lies."""
    dice = np.random.default_rng(0)
    pooled = []
    for _ in range(RESAMPLES):
        some = [rows[place].recalled for place in dice.integers(0, len(rows), len(rows))]
        whole = Recalled(*(sum(part) for part in zip(*some, strict=True)))
        pooled.append(getattr(whole, share))
    low, high = np.quantile(pooled, (0.025, 0.975))
    return float(low), float(high)


def main() -> int:
    """Print precision and recall; return 1 where either is too low."""
    parser = parser_of(__doc__)
    parser.add_argument("--films", type=int, default=40)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        rows = list(look_at(asked.films, Path(folder)))
    whole = Recalled(*(sum(part) for part in zip(*(row.recalled for row in rows), strict=True)))
    split = sum(row.scenes == 6 for row in rows)
    print(f"{len(rows)} films, {split} of them with all six scenes apart")
    print(f"{whole.there} returns; {whole.said} said, {whole.right} of them right")
    for share in ("precision", "recall"):
        low, high = interval(rows, share)
        print(f"{share} {getattr(whole, share):.3f} [{low:.3f}, {high:.3f}]")
    is_precise = keep(f"precision at least {PRECISION}", whole.precision >= PRECISION)
    return int(not (keep(f"recall at least {RECALL}", whole.recall >= RECALL) and is_precise))


if __name__ == "__main__":
    sys.exit(main())
