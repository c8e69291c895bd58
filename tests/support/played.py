"""A run folder as a finished run leaves it, made by hand through the store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import (
    Battle,
    CallRow,
    Decision,
    Evolution,
    Grade,
    Judging,
    Nonce,
    QuestionCategory,
    Sampling,
    Slot,
    Usage,
    Video,
)
from videoautoarena.memory.store.evidence import QuestionTag
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.categories.tags import asked_of
from videoautoarena.runs.cli.program.main import arena
from videoautoarena.runs.formats import terminal

CLIP_BYTES = b"no video, but its bytes are what counts"


def invoke(*args: object, width: int = 80) -> Result:
    """Return what `arena` says to these arguments, as in a process of its own."""
    terminal.out.cache_clear()
    return CliRunner(env={"COLUMNS": str(width)}).invoke(arena, [str(arg) for arg in args])


def manifest(**changed: Any) -> dict[str, Any]:
    """Return a manifest as a run writes it."""
    models = ["hawk", "owl", "mole"]
    cast = {
        name: {
            "model": f"offline:{name}",
            "max_frames": 4,
            "endpoint": "in-process",
            "timeout_s": 300.0,
        }
        for name in (*models, "examiner", "judge")
    }
    return {
        "schema": 1,
        "version": "0.1.0",
        "seed": 7,
        "rounds": 3,
        "models": models,
        "cast": cast,
        "judges": ["judge"],
        "examiner": "examiner",
        "pairing": "uniform",
        "swap": 0.1,
        "preset": None,
        "sampling": Sampling().model_dump(),
        "limit": None,
        "prompts": {"judge": digest("judge")},
        "offline": True,
        "self_judging": False,
        "offline_judge_on_real": False,
        **changed,
    }


def video(
    content: bytes = CLIP_BYTES, *, path: str = "clip.mp4", duration_s: float = 12.5
) -> Video:
    """Return the record of a file with this content."""
    sha = digest(content)
    return Video(
        id=sha[:12],
        sha256=sha,
        path=path,
        size_bytes=len(content),
        duration_s=duration_s,
        width_px=640,
        height_px=360,
        fps=25.0,
        codec="h264",
    )


def slot(of: Video, round_: int, *, ordinal: int | None = None, generation: int = 0) -> Slot:
    """Return the slot of a round of the first persona; `~g` marks later generations."""
    behind = f"~{generation}" if generation else ""
    return Slot(
        id=f"{of.id}-p1-r{round_}{behind}",
        generation=generation,
        ordinal=round_ if ordinal is None else ordinal,
        video=of.id,
        persona=1,
        round=round_,
        block=0,
    )


def battle(in_slot: Slot, **changed: Any) -> Battle:
    """Return a battle that hawk won against owl."""
    first = in_slot.round == 0
    decided = {
        "id": in_slot.id,
        "video": in_slot.video,
        "duration_s": 12.5,
        "category": "Cooking Recipes",
        "persona": in_slot.persona,
        "persona_text": "A person who cooks.",
        "round": in_slot.round,
        "origin": "first" if first else "evolved",
        "question": f"What is in the pan in round {in_slot.round}?",
        "aimed_at": None if first else ("hawk", "owl"),
        "difficulty": None if first else 3.5,
        "model_a": "hawk",
        "model_b": "owl",
        "answer_a": "An onion, diced, from second 3 on.",
        "answer_b": "A carrot.",
        "frames_a": tuple(float(second) for second in range(12)),
        "frames_b": (0.0, 12.46),
        "verdict": "a",
        "reason": None,
        "verdicts": (judging(),),
        "evolution": (),
        "prompts": {"judge": digest("judge")},
        "propensity": 1 / 3,
        "basis": None,
    }
    return Battle.model_validate({**decided, **changed})


def judging(**changed: Any) -> Judging:
    """Return a judging whose judge read model_b first."""
    analyses = dict(
        instruction_following="Both name what was asked for.",
        accuracy="B is right, A is not.",
        relevance="Both fit a cook.",
        helpfulness="B says when.",
    )
    said = {"judge": "judge", "seats": "ba", "verdict": "a", "analyses": analyses}
    return Judging.model_validate({**said, **changed})


def evolution(of: str, *, accepted: bool = True) -> Evolution:
    """Return an attempt to make a harder question out of the battle called `of`."""
    return Evolution(
        battle=of,
        pair=("hawk", "owl"),
        faults_a=("misses the salt",),
        faults_b=("sees a carrot",),
        weaknesses_a=("small things",),
        weaknesses_b=("colour",),
        question="When does the salt go in?" if accepted else "What is it?",
        old=grade(2.5),
        new=grade(3.5 if accepted else 2.0),
        accepted=accepted,
    )


def grade(all_of_it: float) -> Grade:
    """Return a grade that is the same on every standard."""
    return Grade(
        instruction_following=all_of_it,
        accuracy=all_of_it,
        relevance=all_of_it,
        helpfulness=all_of_it,
        overall=all_of_it,
    )


def call(scope: str, **changed: Any) -> CallRow:
    """Return a judge's call in a slot, of unknown cost."""
    said = {
        "key": digest(f"{scope}{sorted(changed.items())}"),
        "nonce": Nonce(scope=scope, role="judge"),
        "model": "offline:judge",
        "alias": "judge",
        "endpoint": "in-process",
        "prompt": digest("judge"),
        "reply": "{}",
        "usage": Usage(input_tokens=1000, output_tokens=50),
        "latency_s": 0.25,
    }
    return CallRow.model_validate({**said, **changed})


def lineage(of: Video) -> list[Battle]:
    """Return three battles: one that hawk won, one that mole won as B, and a tie."""
    slots = [slot(of, round_) for round_ in range(3)]
    attempts = (evolution(slots[0].id, accepted=False), evolution(slots[0].id))
    return [
        battle(slots[0]),
        battle(slots[1], model_b="mole", verdict="b", evolution=attempts),
        battle(slots[2], verdict="tie_good", evolution=(evolution(slots[1].id),)),
    ]


def play(
    out: Path,
    battles: Iterable[Battle],
    *,
    videos: Iterable[Video] = (),
    slots: Iterable[Slot] = (),
    calls: Iterable[CallRow] = (),
    settings: dict[str, Any] | None = None,
) -> Path:
    """Return `out`, now holding a run with these battles; slots default to theirs."""
    ours = list(battles)
    films = list(videos) or [video()]
    known = {film.id: film for film in films}
    places = list(slots) or [
        slot(known[b.video], b.round, ordinal=n).model_copy(
            update={"id": b.id, "persona": b.persona}
        )
        for n, b in enumerate(ours)
    ]
    with Store.create(out / "run.sqlite", settings or manifest()) as store:
        store.add_videos(films)
        store.add_slots(places)
        asyncio.run(_fill(store, ours, list(calls)))
    return out


async def _fill(store: Store, battles: list[Battle], calls: list[CallRow]) -> None:
    for battle in battles:
        await store.put_battle(battle)
    for row in calls:
        await store.journal.record(row)


def put_tags(
    out: Path,
    kinds: Mapping[tuple[str, str], Sequence[QuestionCategory]],
    *,
    classifier: str = "c",
    model: str = "offline:judge",
) -> None:
    """Tag questions of a run, named by video and text: yes to these categories, no to advice."""
    tags = []
    for (film, text), names in kinds.items():
        asked = asked_of(film, text)
        said: dict[QuestionCategory, Decision] = {"advice": "no"}
        said.update(dict.fromkeys(names, "yes"))
        tags.append(
            QuestionTag(
                id=f"{asked.id}:{classifier}:0",
                question=asked.id,
                video=film,
                text=text,
                classifier=classifier,
                model=model,
                categories=said,
            )
        )

    async def put(store: Store) -> None:
        for tag in tags:
            await store.evidence.put_tag(tag)

    with Store.open(out / "run.sqlite", write=True) as store:
        asyncio.run(put(store))
