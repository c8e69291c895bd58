"""Runs to be looked at: so many models with long names, videos and battles, written by dice.

They go through the store as runs do, with the calls that such a run makes; no file of a video is
behind them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.support.played import call, grade, video
from tests.support.said import Speaker
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import (
    CATEGORIES,
    Battle,
    CallRow,
    Evolution,
    Frame,
    Judging,
    Nonce,
    Slot,
    Usage,
    Video,
    VideoFrames,
)
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.cast import CastEntry
from videoautoarena.runs.run.config.run_config import RunConfig

FRAMES = (0, 4, 8, 16, 32, 64, 128)
"""Of the models, in turn."""
FAMILIES = (
    *("Qwen2.5-VL-{}B-Instruct", "LLaVA-OneVision-Qwen2-{}B-OV-Chat", "InternVL3-{}B-Instruct"),
    *("Llama-3.2-{}B-Vision-Instruct", "MiniCPM-V-2.6-{}B-int4", "Phi-3.5-Vision-{}B"),
    *("LLaVA-Video-{}B-Qwen2", "Molmo-{}B-D-0924"),
)
SIZES = (72, 38, 26, 8, 2)


def long_names(count: int) -> list[str]:
    """Return names as open models have them; at most 40."""
    names = [family.format(size) for size in SIZES for family in FAMILIES]
    assert count <= len(names)
    return names[:count]


@dataclass(frozen=True)
class Shape:
    """How large a run is."""

    models: int = 7
    videos: int = 9
    personas: int = 3
    rounds: int = 4
    most: int = 10_000
    """Battles at most; the rest of the slots are open."""
    frames: int = 32
    """Of each video."""
    seed: int = 1


class Move(NamedTuple):
    """One battle with the calls it took."""

    battle: Battle
    calls: list[CallRow]


@dataclass
class Season:
    """What is played of a shape, in order."""

    shape: Shape
    names: list[str] = field(init=False)
    films: list[Video] = field(init=False)

    def __post_init__(self) -> None:
        self.names = long_names(self.shape.models)
        self._rng = Random(self.shape.seed)
        self._says = Speaker(self._rng)
        self._strength = {name: -0.4 * k for k, name in enumerate(self.names)}
        self.films = [self._film(number) for number in range(self.shape.videos)]
        self._film_of = {film.id: film for film in self.films}
        self._times = {film.id: _times(film, self.shape.frames) for film in self.films}
        self._categories = {film.id: self._rng.choice(CATEGORIES) for film in self.films}

    def _film(self, number: int) -> Video:
        seconds = round(
            self._rng.choice([6, 12, 30, 100, 400, 900]) * self._rng.uniform(0.8, 1.2), 2
        )
        path = f"{self._rng.choice(CATEGORIES)}/clip {number:04d}.mp4".replace(" ", "_")
        return video(b"clip %d" % number, path=path, duration_s=seconds)

    def max_frames(self, name: str) -> int:
        """How many frames a model is sent."""
        return FRAMES[-1 - self.names.index(name) % len(FRAMES)]

    def manifest(self) -> dict[str, Any]:
        """Return what the run was begun with."""
        config = RunConfig(
            seed=self.shape.seed,
            rounds=self.shape.rounds,
            models=tuple(self.names),
            examiner="examiner",
            judges=("judge",),
            cast={name: self._member(name) for name in (*self.names, "examiner", "judge")},
            offline=False,
        )
        return config.manifest("0.1.0", {"judge": digest("judge")})

    def _member(self, name: str) -> CastEntry:
        frames = self.max_frames(name) if name in self.names else None
        served = f"openai:lab/{name}"
        where = "models.example"
        return CastEntry(model=served, max_frames=frames, endpoint=where, timeout_s=300)

    def slots(self) -> list[Slot]:
        """Return the place of every battle, settled or not."""
        films = (
            film for film in self.films for _ in range(self.shape.personas * self.shape.rounds)
        )
        return [self._slot(number, film) for number, film in enumerate(films)]

    def _slot(self, number: int, film: Video) -> Slot:
        lineage, round_ = divmod(number, self.shape.rounds)
        persona = lineage % self.shape.personas + 1
        return Slot(
            id=f"{film.id}-p{persona}-r{round_}",
            generation=0,
            ordinal=number,
            video=film.id,
            persona=persona,
            round=round_,
            block=0,
        )

    def frames(self) -> Iterator[VideoFrames]:
        """Give the frames of every video."""
        for film in self.films:
            frames = tuple(
                Frame(time_s=time, digest=digest(f"{film.id} {time}"))
                for time in self._times[film.id]
            )
            yield VideoFrames(video=film.id, width_px=640, height_px=360, frames=frames)

    def moves(self) -> Iterator[Move]:
        """Give the battles in order."""
        before: Battle | None = None
        for place in islice(self.slots(), self.shape.most):
            before = self._battle(place, before if place.round else None)
            yield Move(before, list(self._calls(before)))

    def _battle(self, place: Slot, before: Battle | None) -> Battle:
        rng = self._rng
        says = self._says
        a, b = rng.sample(self.names, 2)
        evolution = self._evolution(before) if before else ()
        verdict = self._verdict(a, b)
        void = verdict == "void"
        film = self._film_of[place.video]
        return Battle(
            id=place.id,
            video=film.id,
            duration_s=film.duration_s,
            category=self._categories[film.id],
            persona=place.persona,
            persona_text=says.user(),
            round=place.round,
            origin="evolved" if before else "first",
            question=evolution[-1].question if evolution else says.question(),
            aimed_at=evolution[-1].pair if evolution else None,
            difficulty=evolution[-1].new.overall if evolution else None,
            model_a=a,
            model_b=b,
            answer_a=None if verdict == "forfeit_a" else says.answer(),
            answer_b=None if verdict == "forfeit_b" else says.answer(),
            frames_a=self._seen(film, a),
            frames_b=self._seen(film, b),
            verdict=verdict,
            reason="the judge's reply held no verdict" if void else None,
            verdicts=() if void or verdict.startswith("forfeit") else self._judgings(verdict),
            evolution=evolution,
            prompts={"judge": digest("judge")},
            propensity=2 / (len(self.names) * (len(self.names) - 1)),
            basis=None,
        )

    def _verdict(self, a: str, b: str) -> Any:
        kind = self._rng.random()
        for word, share in (
            ("void", 0.02),
            ("forfeit_b", 0.03),
            ("tie_good", 0.1),
            ("tie_bad", 0.14),
        ):
            if kind < share:
                return word
        gap = self._strength[a] - self._strength[b] + self._rng.gauss(0, 1.8)
        return "a" if gap > 0 else "b"

    def _seen(self, film: Video, name: str) -> tuple[float, ...]:
        times = self._times[film.id]
        most = self.max_frames(name)
        if most >= len(times):
            return times
        return tuple(times[k * len(times) // most] for k in range(most))

    def _judgings(self, verdict: Any) -> tuple[Judging, ...]:
        seats = ("ab", "ba") if self._rng.random() < 0.1 else ("ab",)
        return tuple(
            Judging(
                judge="judge",
                seats=seat,
                verdict=verdict,
                analyses={name: self._says.reason() for name in STANDARDS},
                standards={name: verdict for name in STANDARDS if self._rng.random() < 0.8},
            )
            for seat in seats
        )

    def _evolution(self, before: Battle) -> tuple[Evolution, ...]:
        old = min(1.5 + 0.6 * before.round + self._rng.gauss(0, 0.3), 4.4)
        gains = (0.6,) if self._rng.random() < 0.8 else (-0.5, 0.6)
        says = self._says
        return tuple(
            Evolution(
                battle=before.id,
                pair=(str(before.model_a), str(before.model_b)),
                faults_a=says.faults(),
                faults_b=says.faults(),
                weaknesses_a=says.weaknesses(),
                weaknesses_b=says.weaknesses(),
                question=says.question(),
                old=grade(round(old, 1)),
                new=grade(round(old + gain, 1)),
                accepted=gain > 0,
            )
            for gain in gains
        )

    def _calls(self, of: Battle) -> Iterator[CallRow]:
        askers = [("contestant", of.model_a, 0), ("contestant", of.model_b, 1)]
        askers += [("judge", "judge", k) for k in range(len(of.verdicts))]
        askers += [("evolver", "examiner", 0), ("grader", "examiner", 0)] if of.evolution else []
        for role, name, ordinal in askers:
            usage = Usage(
                input_tokens=self._rng.randrange(800, 40_000),
                output_tokens=self._rng.randrange(40, 900),
            )
            yield call(
                of.id,
                nonce=Nonce(scope=of.id, role=role, ordinal=2 * ordinal),  # type: ignore[arg-type]
                key=digest(f"{of.id} {role} {name} {ordinal}"),
                model=f"openai:lab/{name}",
                alias=name,
                endpoint="models.example",
                reply="{}",
                usage=usage,
                cost_usd=None if name == self.names[-1] else usage.total / 1e6,
                latency_s=round(self._rng.gammavariate(4, 1.5), 3),
            )


def _times(film: Video, count: int) -> tuple[float, ...]:
    return tuple(round(film.duration_s * k / count, 3) for k in range(count))


def write_season(out: Path, shape: Shape) -> Path:
    """Return `out`, now holding a run of this shape."""
    season = Season(shape)
    with Store.create(out / "run.sqlite", season.manifest()) as store:
        store.add_videos(season.films)
        store.add_slots(season.slots())
        asyncio.run(filled(store, season.frames(), season.moves()))
    return out


async def filled(store: Store, frames: Iterable[VideoFrames], moves: Iterable[Move]) -> None:
    """Put videos' frames and battles with their calls into a run."""
    await asyncio.gather(*map(store.put_frames, frames))
    left = iter(moves)
    while some := list(islice(left, 500)):
        calls = (row for move in some for row in move.calls)
        await asyncio.gather(*map(store.journal.record, calls))
        await asyncio.gather(*(store.put_battle(move.battle) for move in some))
