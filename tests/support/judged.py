"""A bench made by hand, and results on it that one can count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.played import battle, play, slot, video
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import REFERENCES, Result, Ruling, write_result
from videoautoarena.runs.bench.freeze.freeze import freeze


def bench_of(place: Path, videos: int, *, each: int = 1, **changed: Any) -> OpenBench:
    """Return a bench with so many questions on each of so many videos."""
    films = [video(b"clip %d" % k, path=f"clip{k}.mp4") for k in range(videos)]
    battles = [battle(slot(film, round_), **changed) for film in films for round_ in range(each)]
    freeze(play(place / "out", battles, videos=films), place / "bench")
    return open_bench(place / "bench")


def judged(
    bench: OpenBench,
    model: str,
    selected: Sequence[str],
    rejected: Sequence[str],
    *,
    judge: str = "judge",
    response: str = "It is so.",
    facts: Mapping[str, Any] | None = None,
) -> Result:
    """Write and return a result: for each question its verdict against each reference."""
    rulings = [
        Ruling(qid=item.qid, against=against, verdict=verdict, response=response)  # type: ignore[arg-type]
        for item, *said in zip(bench.items, selected, rejected, strict=False)
        for against, verdict in zip(REFERENCES, said, strict=True)
    ]
    result = Result(
        bench=bench.bench,
        model=model,
        judge=judge,
        how="run",
        rulings=rulings,
        facts=dict(facts or {}),
    )
    write_result(bench, result, force=True)
    return result
