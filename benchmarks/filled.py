"""Runs whose battles nobody played: made up and written into the run's file in large portions.

The file is that of any other run, begun as `simulate` begins it: slots, frames, draws, battles and
calls have the forms of their records, so that every command reads it. Strengths fall evenly from
the first model to the last. Some battles are void, forfeited or tied, and one in ten is judged from
both seatings.
"""

from __future__ import annotations

import argparse
import math
import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.canned import NOWHERE, film
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.digests import canonical_json, digest, write_body
from videoautoarena.memory.records.records import (
    CATEGORIES,
    DIFFICULTY_SCALES,
    Battle,
    CallRow,
    Draw,
    Frame,
    Nonce,
    Role,
    Slot,
    Usage,
    Video,
    VideoFrames,
)
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.leaderboard.board import board_in
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.opener import begin
from videoautoarena.runs.run.rundir.reader import open_run, run_file
from videoautoarena.video.folder.find import Findings

FRAMES = 8
REPLY = 200
"""Bytes of a reply, be it an answer or what a judge says of two."""
AT_ONCE = 20_000
"""Battles that are written in one go."""
TIED = 0.08
SWAPPED = 0.1
VOID = 0.01
FORFEITED = 0.005
SPREAD = 4.0
"""Nats between the first model and the last."""
WORDS = (
    *("the", "lamp", "turns", "red", "while", "a", "bird", "crosses", "room", "from", "left", "to"),
    *("right", "and", "sits", "on", "chair", "near", "window", "then", "two", "cups", "fall"),
)
JUDGE = "examiner"
_CALLS = (
    "INSERT INTO calls (key, scope, role, generation, ordinal, model, body) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_ROWS = {
    "draws": "INSERT INTO draws (slot, body) VALUES (?, ?)",
    "battles": "INSERT INTO battles (id, body) VALUES (?, ?)",
    "calls": _CALLS,
}


@dataclass(frozen=True)
class Size:
    """How large a run is made."""

    videos: int
    rounds: int
    models: int
    first: int = 0
    """Number of its first video."""

    @property
    def battles(self) -> int:
        """How many slots it has, all of them settled."""
        return self.videos * 3 * self.rounds

    def halves(self) -> tuple[Size, Size]:
        """Return two runs over the same videos, each in one of them."""
        one = self.videos // 2
        rest = replace(self, videos=self.videos - one, first=self.first + one)
        return replace(self, videos=one), rest


def configured(folder: Path, size: Size) -> RunConfig:
    """Return the configuration of a run between so many models."""
    names = [f"model-{k:02}" for k in range(size.models)]
    tables = [
        f'[models.{name}]\nmodel = "openai:{name}"\nbase_url = "{NOWHERE}"\nmax_frames = {FRAMES}\n'
        for name in (*names, JUDGE)
    ]
    file = folder / "arena.toml"
    file.write_text("\n".join(tables), encoding="utf-8")
    flags = RunRequest(
        models=tuple(names), examiner=JUDGE, rounds=size.rounds, config=file, pairing="uniform"
    )
    return resolve(flags).config


def fill(folder: Path, size: Size, *, seed: int = 1) -> Path:
    """Make a run in `folder` and return where it lies."""
    folder.mkdir(parents=True, exist_ok=True)
    config = configured(folder, size)
    prompts = PromptSet.load(None)
    films = [film(k) for k in range(size.first, size.first + size.videos)]
    found = Findings(videos=films, skipped=[], duplicates=[])
    out = folder / "out"
    begin(out, config, prompts=prompts, found=found, folder=folder).store.close()
    with Store.open(run_file(out), write=False) as store:
        videos = store.videos()
        slots = store.slots()
    made = _Made(config.models, videos, prompts.digests, random.Random(seed + size.first))
    with closing(sqlite3.connect(run_file(out))) as file:
        file.execute("PRAGMA synchronous = OFF")
        file.execute("PRAGMA cache_size = -500000")
        with file:
            file.executemany("INSERT INTO frames (video, body) VALUES (?, ?)", made.frames())
            file.executemany(_CALLS, made.calls_of_videos())
        of_slots = iter(slots)
        while portion := list(islice(of_slots, AT_ONCE)):
            made.add(portion)
            with file:
                for table, rows in made.taken().items():
                    file.executemany(_ROWS[table], rows)
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return out


class _Made:
    """Makes the rows of a run, slot by slot; what they have in common is made once."""

    def __init__(
        self,
        models: Sequence[str],
        videos: Sequence[Video],
        prompts: dict[str, str],
        rng: random.Random,
    ) -> None:
        self._models = list(models)
        self._rng = rng
        self._prompts = prompts
        self._nats = [SPREAD * (0.5 - k / max(1, len(models) - 1)) for k in range(len(models))]
        self._videos = {video.id: video for video in videos}
        self._category = {video.id: rng.choice(CATEGORIES) for video in videos}
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in _ROWS}
        self._said = [self._words() for _ in range(5000)]
        self._times = [k * 8.0 for k in range(FRAMES)]
        self._keys = 0

    def frames(self) -> Iterator[tuple[str, str]]:
        """Give the rows of all videos' frames."""
        for id_ in self._videos:
            shown = tuple(
                Frame(time_s=time_s, digest=digest(f"{id_} {time_s}")) for time_s in self._times
            )
            body = VideoFrames(video=id_, width_px=512, height_px=288, frames=shown)
            yield id_, write_body(body)

    def calls_of_videos(self) -> Iterator[tuple[Any, ...]]:
        """Give the calls that belong to no slot."""
        for id_ in self._videos:
            yield self._call(id_, "examiner", JUDGE)
            yield self._call(id_, "persona", JUDGE)

    def add(self, slots: Sequence[Slot]) -> None:
        """Make the rows of slots."""
        for slot in slots:
            a, b = self._rng.sample(range(len(self._models)), 2)
            pair = self._models[a], self._models[b]
            draw = {
                "basis": None,
                "model_a": pair[0],
                "model_b": pair[1],
                "propensity": self._propensity,
                "slot": slot.id,
                "swap": (is_swapped := self._rng.random() < SWAPPED),
            }
            verdict = self._verdict(self._nats[a] - self._nats[b])
            self._rows["draws"].append((slot.id, canonical_json(draw)))
            body = self._battle(slot, pair, verdict, is_swapped=is_swapped)
            self._rows["battles"].append((slot.id, canonical_json(body)))
            self._add_calls(slot, pair, is_swapped=is_swapped)

    def taken(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return the rows that were made since, by table, and forget them."""
        rows = self._rows
        self._rows = {name: [] for name in _ROWS}
        return rows

    @cached_property
    def _propensity(self) -> float:
        return 2 / (len(self._models) * (len(self._models) - 1))

    def _verdict(self, nats: float) -> str:
        drawn = self._rng.random()
        for verdict, share in (("void", VOID), ("forfeit_a", FORFEITED), ("tie", TIED)):
            if drawn < share:
                return verdict
            drawn -= share
        return "a" if self._rng.random() < 1 / (1 + math.exp(-nats)) else "b"

    def _words(self, length: int = REPLY) -> str:
        text = " ".join(self._rng.choices(WORDS, k=length // 4)).capitalize()
        return f"{text[: length - 1]}."

    def _battle(
        self, slot: Slot, pair: tuple[str, str], verdict: str, *, is_swapped: bool
    ) -> dict[str, Any]:
        """Return a battle as its canonical JSON has it."""
        say = self._rng.choice
        is_first = slot.round == 0
        is_lost = verdict == "forfeit_a"
        judged = verdict not in ("void", "forfeit_a")
        verdicts = [self._judging(verdict, "ab")] if judged else []
        if judged and is_swapped:
            verdicts.append(self._judging(verdict, "ba"))
        reason = {"void": "judge: no verdict", "forfeit_a": "contestant: no answer"}.get(verdict)
        return {
            "schema": 1,
            "id": slot.id,
            "video": slot.video,
            "duration_s": self._videos[slot.video].duration_s,
            "category": self._category[slot.video],
            "persona": slot.persona,
            "persona_text": say(self._said),
            "round": slot.round,
            "origin": "first" if is_first else "evolved",
            "question": f"{say(self._said)[:90]}?",
            "aimed_at": None if is_first else list(pair),
            "difficulty": None if is_first else round(self._rng.uniform(2, 5), 1),
            "model_a": pair[0],
            "model_b": pair[1],
            "answer_a": None if is_lost else say(self._said),
            "answer_b": say(self._said),
            "frames_a": self._times,
            "frames_b": self._times,
            "verdict": verdict,
            "reason": reason,
            "verdicts": verdicts,
            "evolution": [] if is_first else [self._evolution(slot, pair)],
            "prompts": self._prompts,
            "propensity": self._propensity,
            "basis": None,
        }

    def _judging(self, verdict: str, seats: str) -> dict[str, Any]:
        part = REPLY // (len(STANDARDS) + 1)
        text = self._rng.choice(self._said)
        return {
            "judge": JUDGE,
            "seats": seats,
            "verdict": verdict,
            "own_answer": text[:part],
            "analyses": {name: text[k * part : (k + 1) * part] for k, name in enumerate(STANDARDS)},
            "standards": dict.fromkeys(STANDARDS, verdict),
            "reason": None,
        }

    def _evolution(self, slot: Slot, pair: tuple[str, str]) -> dict[str, Any]:
        def grade(overall: float) -> dict[str, float]:
            return dict.fromkeys((*DIFFICULTY_SCALES, "overall"), overall)

        old = round(self._rng.uniform(1, 4), 1)
        return {
            "battle": f"{slot.video}-p{slot.persona}-r{slot.round - 1}",
            "pair": list(pair),
            **{f"faults_{seat}": [self._rng.choice(self._said)[:60]] for seat in "ab"},
            **{f"weaknesses_{seat}": [self._rng.choice(self._said)[:40]] for seat in "ab"},
            "question": self._rng.choice(self._said)[:90],
            "old": grade(old),
            "new": grade(min(5.0, old + 0.5)),
            "accepted": True,
        }

    def _add_calls(self, slot: Slot, pair: tuple[str, str], *, is_swapped: bool) -> None:
        first: tuple[Role, ...] = ("evolver", "grader") if slot.round else ("questioner",)
        calls = self._rows["calls"]
        calls += [self._call(slot.id, role, JUDGE) for role in first]
        calls += [self._call(slot.id, "contestant", pair[k], 2 * k) for k in (0, 1)]
        calls += [self._call(slot.id, "judge", JUDGE, 2 * k) for k in range(1 + is_swapped)]

    def _call(self, scope: str, role: Role, alias: str, ordinal: int = 0) -> tuple[Any, ...]:
        head, middle, tail = self._bodies(role, alias)
        self._keys += 1
        key = f"{self._rng.getrandbits(256):064x}"
        reply = self._rng.choice(self._said)
        body = f"{head}{reply}{middle}{self._rng.randint(20, 60)}{tail}"
        return key, scope, role, 0, ordinal, f"openai:{alias}", body

    def _bodies(self, role: Role, alias: str) -> tuple[str, str, str]:
        """Return a call's body around its reply and its tokens, made once of each kind."""
        if (kept := self._kinds.get((role, alias))) is None:
            row = CallRow(
                key="",
                nonce=Nonce(scope="", role=role),
                model=f"openai:{alias}",
                alias=alias,
                endpoint=NOWHERE,
                prompt=self._prompts.get(role, ""),
                reply="(reply)",
                usage=Usage(input_tokens=2000, output_tokens=987654),
                cost_usd=0.001,
                cost_from="provider",
                ending="stop",
                frames=FRAMES,
                text_chars=900,
                latency_s=1.5,
            )
            body = write_body(row, without=frozenset({"key", "nonce", "model"}), defaults=False)
            # Keys are sorted: the reply stands before what it was counted as.
            head, _, rest = body.partition("(reply)")
            middle, _, tail = rest.partition("987654")
            kept = self._kinds[role, alias] = head, middle, tail
        return kept

    @cached_property
    def _kinds(self) -> dict[tuple[Role, str], tuple[str, str, str]]:
        return {}


def checked(out: Path, every: int = 997) -> int:
    """Return how many battles a run has, of which some are read whole; StoreError for a wrong one.

    Raises RuntimeError where one is not written as its record would be.
    """
    with Store.open(run_file(out), write=False) as store:
        slots = store.settled()
        for row in range(0, len(slots), every):
            battle = store.battle(slots.id(row))
            draw = store.draw(slots.id(row))
            if not isinstance(battle, Battle) or not isinstance(draw, Draw):
                raise RuntimeError(f"{slots.id(row)} is not there")
            if write_body(battle).encode() != store.battle_bytes(battle.id):
                raise RuntimeError(f"{battle.id} is not written as battles are")
            for call in store.journal.calls(battle.id):
                assert call.reply
    return len(slots)


def as_parquet(lines: Path, to: Path) -> None:
    """Write JSON lines as Parquet."""
    import pyarrow.json
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.json.read_json(lines), to)


def rate(run: Path) -> None:
    """Rate a run from what its file keeps of every battle, and say how many there are."""
    with open_run(run) as opened:
        board = board_in(opened, behaviour=False)
    print(f"{board.settings.totals.decided} of {board.settings.totals.battles} battles decided")


def main() -> None:
    """Fill runs in folders, rate one, or write one's lines as Parquet."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("videos", "rounds", "models"):
        parser.add_argument(f"--{name}", type=int, default=10)
    parser.add_argument("--runs", type=Path, nargs=2, help="where two halves are made")
    parser.add_argument("--rate", type=Path, metavar="RUN")
    parser.add_argument("--parquet", type=Path, nargs=2, metavar=("LINES", "FILE"))
    options = parser.parse_args()
    if options.rate:
        rate(options.rate)
    elif options.parquet:
        as_parquet(*options.parquet)
    else:
        size = Size(options.videos, options.rounds, options.models)
        for folder, half in zip(options.runs, size.halves(), strict=True):
            checked(fill(folder, half))


if __name__ == "__main__":
    main()
