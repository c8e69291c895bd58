"""Freezing a run: its battles with a winner become a bench folder that outlives it."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from memory.errors import BadInput, StoreError
from memory.records import SCHEMA, Battle, Video
from runs.card import card_text
from runs.console import safe
from runs.reading import Run, counted, open_run, winner
from runs.sealing import (
    CARD,
    MANIFEST,
    QUESTIONS,
    RUN,
    BenchVideo,
    Generator,
    Item,
    JudgeVerdict,
    Manifest,
    Source,
    manifest_bytes,
    question_bytes,
    sealed,
    sealed_file,
)

FACTS = (
    "version",
    "seed",
    "rounds",
    "models",
    "cast",
    "judges",
    "examiner",
    "pairing",
    "swap",
    "preset",
    "rules",
    "sampling",
    "subtitles",
    "limit",
    "prompts",
    "offline",
    "self_judging",
    "offline_judge_on_real",
)
"""What a bench repeats of the run's settings; nothing that tells of a clock or a machine."""


CAST_FACTS = ("model", "max_frames", "parameters")
"""What it repeats of each model: not where its server stands."""


@dataclass(frozen=True)
class Frozen:
    """A bench that was written, or was already there."""

    folder: Path
    bench: str
    questions: int
    videos: int
    left_out: int
    unsettled: int
    """Slots of the run that had no battle yet."""
    was_there: bool

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena freeze --json`."""
        return {"schema": SCHEMA, **asdict(self), "folder": str(self.folder)}

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        made = "is this bench already" if self.was_there else "frozen"
        lines = [
            f"{safe(str(self.folder))} {made}: {counted(self.questions, 'question')} about "
            f"{counted(self.videos, 'video')}, bench {self.bench[:12]}"
        ]
        if self.left_out:
            lines.append(f"left out: {counted(self.left_out, 'battle')} without a winner ({CARD})")
        if self.unsettled:
            lines.append(f"the run is not finished: {counted(self.unsettled, 'slot')} to go")
        return lines


class Bench(NamedTuple):
    """A bench in memory: its manifest, and the bytes of each of its files."""

    manifest: dict[str, Any]
    files: dict[str, bytes]


def freeze(folder: Path, to: Path) -> Frozen:
    """Freeze the run in `folder` into the bench folder `to`, whole or not at all.

    Raises:
        BadInput: no battle has a winner, or `to` holds something else.
    """
    with open_run(folder) as run:
        bench = bench_of(run)
        left_out = len(_own(run)) - bench.manifest["count"]
        unsettled = len(run.slots) - len(run.battles)
    was_there = put(bench.files, to)
    return Frozen(
        folder=to,
        bench=bench.manifest["bench"],
        questions=bench.manifest["count"],
        videos=len(bench.manifest["videos"]),
        left_out=left_out,
        unsettled=unsettled,
        was_there=was_there,
    )


def _own(run: Run) -> list[Battle]:
    """Return the battles whose question was asked for them: not those over stored answers."""
    return [battle for battle in run.battles if battle.borrowed is None]


def bench_of(run: Run) -> Bench:
    """Return the bench of a run; the same run gives the same bytes."""
    asked = _own(run)
    questions = [as_question(battle) for battle in asked if winner(battle)]
    if not questions:
        raise BadInput(
            f"no battle in {run.folder} has a winner ({len(run.battles)} settled); "
            "play more rounds or videos"
        )
    ours, facts = version("videoautoarena"), _facts(run.manifest)
    card = card_text(facts, asked, questions=questions, version=ours)
    files = {QUESTIONS: question_bytes(questions), CARD: card.encode()}
    manifest = sealed(
        Manifest(
            generator=Generator(name="videoautoarena", version=ours),
            source=Source(kind=RUN, format="videoautoarena"),
            run=facts,
            files={name: sealed_file(content) for name, content in files.items()},
            videos=_videos(run.store.videos(), {q.video_id for q in questions}),
            count=len(questions),
        )
    )
    return Bench(manifest, {**files, MANIFEST: manifest_bytes(manifest)})


def _facts(settings: dict[str, Any]) -> dict[str, Any]:
    facts = {name: settings.get(name) for name in FACTS}
    cast = settings.get("cast") or {}
    facts["cast"] = {
        alias: {key: entry[key] for key in CAST_FACTS if key in entry}
        for alias, entry in cast.items()
    }
    return facts


def _videos(videos: list[Video], asked: set[str]) -> dict[str, BenchVideo]:
    return {
        video.id: BenchVideo(**video.model_dump(exclude={"id"}))
        for video in videos
        if video.id in asked
    }


def as_question(battle: Battle) -> Item:
    """Return a battle with a winner as a line of the bench.

    Raises:
        StoreError: the battle lacks what a decided battle has.
    """
    a = (_there(battle, "answer_a"), _there(battle, "model_a"))
    b = (_there(battle, "answer_b"), _there(battle, "model_b"))
    selected, rejected = (a, b) if battle.verdict == "a" else (b, a)
    question = Item(
        qid="",
        video_id=battle.video,
        persona=_there(battle, "persona_text"),
        persona_index=battle.persona,
        question=_there(battle, "question"),
        selected_answer=selected[0],
        rejected_answer=rejected[0],
        selected_model=selected[1],
        rejected_model=rejected[1],
        selected_seat="a" if battle.verdict == "a" else "b",
        battle=battle.id,
        round=battle.round,
        origin=_there(battle, "origin"),
        duration_s=battle.duration_s,
        category=_there(battle, "category"),
        difficulty=battle.difficulty,
        chosen_by="judge",
        judge_verdicts=[
            JudgeVerdict(judge=one.judge, seats=one.seats, verdict=one.verdict)
            for one in battle.verdicts
        ],
    )
    return question.model_copy(update={"qid": question.own_qid()})


def _there(battle: Battle, name: str) -> Any:
    value = getattr(battle, name)
    if value is None:
        raise StoreError(f"battle {battle.id} has a winner but no {name}; the run file is damaged")
    return value


def put(files: dict[str, bytes], to: Path) -> bool:
    """Write the folder `to` in one step; True when it held exactly these files already.

    Raises:
        BadInput: it holds something else, or cannot be made.
    """
    # A folder cannot be renamed onto a link, even one that leads to an empty folder.
    to = Path(os.path.realpath(to))
    try:
        if to.is_dir() and any(to.iterdir()):
            if _holds(to, files):
                return True
            raise BadInput(f"{to} holds something else; pass a new folder")
        to.parent.mkdir(parents=True, exist_ok=True)
        _write_beside(files, to)
    except OSError as wrong:
        raise BadInput(f"{to} cannot be written: {wrong.strerror}") from wrong
    return False


def _holds(folder: Path, files: dict[str, bytes]) -> bool:
    inside = {entry.name for entry in folder.iterdir()}
    return inside == set(files) and all(
        (folder / name).is_file() and (folder / name).read_bytes() == content
        for name, content in files.items()
    )


def _write_beside(files: dict[str, bytes], to: Path) -> None:
    """Fill a folder next to `to`, then give it the name: a reader sees all of it or nothing."""
    draft = Path(tempfile.mkdtemp(dir=to.parent, prefix=".bench-"))
    try:
        for name, content in files.items():
            with (draft / name).open("wb") as file:
                file.write(content)
                os.fsync(file.fileno())
        draft.chmod(0o755)  # mkdtemp keeps it to its owner; a bench is made to be shared
        draft.rename(to)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
