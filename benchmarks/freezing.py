"""What it costs to freeze a large run and to verify the bench: `python -m benchmarks.freezing`.

A run of 10,000 battles with a winner, with answers of the usual length, is frozen whole; then half
of it is drawn with every wish at once. Times are those of the processor, of all threads.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.canned import ANALYSIS, ANSWER, CAST, PERSON, WORDS, film, keep, parser_of, timed
from videoautoarena.memory.records.records import CATEGORIES, Battle, Judging, Slot
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.verify import verify
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.bench.freeze.selection import BenchSelection
from videoautoarena.runs.run.rundir.reader import RUN_FILE

BOUND_S = 10.0
"""Of freezing 10,000 questions, whatever is wished; a second and a half of it imports libraries."""
ITEMS = 10_000
ROUNDS = 3
SUBJECTS = 60
WORDS_EACH = 12
EVERY = BenchSelection(
    per_video=8, distinct=True, leak_filter=True, length_matched=True, separating=True
)


def battles(items: int) -> Iterator[tuple[Slot, Battle]]:
    """Yield decided battles about videos of all lengths and categories, and their slots."""
    rng = np.random.default_rng(0)
    analyses = dict.fromkeys(STANDARDS, WORDS[:ANALYSIS])
    for k in range(items):
        video = k // (3 * ROUNDS)
        persona = k // ROUNDS % 3 + 1
        round_ = k % ROUNDS
        of = film(video)
        id_ = f"{of.id}-p{persona}-r{round_}"
        a, b = (CAST[place] for place in rng.permutation(len(CAST))[:2])
        verdict = "a" if rng.random() < 0.5 else "b"
        words = [f"w{video % SUBJECTS}x{word}" for word in rng.integers(WORDS_EACH, size=8)]
        slot = Slot(
            id=id_, generation=0, ordinal=k, video=of.id, persona=persona, round=round_, block=0
        )
        judging = Judging(judge="judge", seats="ab", verdict=verdict, analyses=analyses)
        yield (
            slot,
            Battle.model_validate(
                {
                    **dict.fromkeys(("reason", "aimed_at", "difficulty", "basis", "propensity")),
                    "id": id_,
                    "video": of.id,
                    "duration_s": float(5 + video % 97 * 40),
                    "category": CATEGORIES[video % len(CATEGORIES)],
                    "persona": persona,
                    "persona_text": WORDS[:PERSON],
                    "round": round_,
                    "origin": "fresh" if round_ else "first",
                    "question": f"{' '.join(words)}, and what about {k}?",
                    "model_a": a,
                    "model_b": b,
                    "answer_a": (WORDS * 2)[: int(ANSWER * rng.uniform(0.5, 1.5))],
                    "answer_b": (WORDS * 2)[: int(ANSWER * rng.uniform(0.5, 1.5))],
                    "frames_a": tuple(range(64)),
                    "frames_b": tuple(range(64)),
                    "verdict": verdict,
                    "verdicts": (judging,),
                    "evolution": (),
                    "prompts": {},
                }
            ),
        )


def lay_run(out: Path, items: int) -> None:
    """Write a run of so many battles."""
    out.mkdir()
    cast = {name: {"model": f"openai:{name}", "max_frames": 64} for name in CAST}
    settings = {"schema": 1, "seed": 0, "models": list(CAST), "cast": cast, "judges": ["judge"]}

    async def put(store: Store, all_: list[Battle]) -> None:
        await asyncio.gather(*map(store.put_battle, all_))

    with Store.create(out / RUN_FILE, settings) as store:
        made = list(battles(items))
        store.add_videos(film(k) for k in range(items // (3 * ROUNDS) + 1))
        store.add_slots(slot for slot, _ in made)
        asyncio.run(put(store, [battle for _, battle in made]))


def measure(name: str, deed: Callable[[], object]) -> float:
    """Do something; print and return the seconds of CPU it took."""
    with timed() as took:
        deed()
    print(f"{name:<52}{took.cpu_s:8.2f} s")
    return took.cpu_s


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what each thing costs; return 1 if freezing costs more than the bound."""
    items = parser_of(__doc__, items=ITEMS).parse_args(arguments).items
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_run(folder / "out", items)
        out = folder / "out"
        half = replace(EVERY, size=max(1, items // 2))
        whole = measure("freezing all", lambda: freeze(out, folder / "whole"))
        drawn = measure("freezing half, by wishes", lambda: freeze(out, folder / "half", half))
        measure("verifying", lambda: verify(folder / "whole", None))
        measure("opening", lambda: open_bench(folder / "whole"))
        count = open_bench(folder / "half").manifest.count
    worst = max(whole, drawn)
    line = f"freezing {items} questions ({count} drawn by every wish) takes {worst:.1f} s"
    return 0 if keep(f"{line} of at most {BOUND_S:g} s", worst <= BOUND_S) else 1


if __name__ == "__main__":
    sys.exit(main())
