"""Events of a run, made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from tests.support.runfiles import battle
from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.memory.records.records import Battle, Judging, Nonce, Slot, Usage
from videoautoarena.runs.console.progress.events import RunBegun

MODELS = ("offline:hawk", "offline:owl", "openai:gpt-4o")
HOSTILE = "Why\x1b[2J\x1b]0;owned\x07\n\u202egnirts\u2066 \x00\x9b31m{0} [red]x[/red] 漢字 e\u0301?"


def slots(videos: int = 2, rounds: int = 2) -> list[Slot]:
    """Return the slots of `videos` videos, called v0, v1 and so on."""
    places = [(v, p, r) for r in range(rounds) for v in range(videos) for p in (1, 2, 3)]
    return [
        Slot(
            id=f"v{v}-p{p}-r{r}",
            generation=0,
            ordinal=n,
            video=f"v{v}",
            persona=p,
            round=r,
            block=0,
        )
        for n, (v, p, r) in enumerate(places)
    ]


def begun(count: int = 2, rounds: int = 2, /, **changed: Any) -> RunBegun:
    """Return the beginning of a run."""
    said: dict[str, Any] = {
        "out": Path("arena-out"),
        "seed": 7,
        "rounds": rounds,
        "models": MODELS,
        "examiner": "offline:examiner",
        "judges": ("offline:judge",),
        "videos": {f"v{v}": f"clips/clip{v}.mp4" for v in range(count)},
        "slots": slots(count, rounds),
        "battles": [],
    }
    return RunBegun(**said | changed)


def call(
    kind: Literal["started", "retry", "finished", "recalled"],
    scope: str,
    role: Any,
    *,
    ordinal: int = 0,
    **more: Any,
) -> CallEvent:
    """Return an event of a call."""
    usage = Usage(input_tokens=100, output_tokens=10)
    nonce = Nonce(scope=scope, role=role, ordinal=ordinal)
    return CallEvent(kind, "offline:owl", nonce, **{"usage": usage, **more})


def judged(slot: str, verdict: Any = "a", *, words: str = "A is right.", **changed: Any) -> Battle:
    """Return a battle of hawk and owl with one judging, all of whose analyses say `words`."""
    names = ("instruction_following", "accuracy", "relevance", "helpfulness")
    analyses = dict.fromkeys(names, words)
    decided = verdict if verdict in ("a", "b", "tie") else "abstain"
    judging = Judging(judge="offline:judge", seats="ab", verdict=decided, analyses=analyses)
    told = {
        "model_a": MODELS[0],
        "model_b": MODELS[1],
        "verdict": verdict,
        "verdicts": (judging,),
        "reason": None,
        "question": "What is thrown?",
        "video": slot.split("-")[0],
        **changed,
    }
    return battle(slot).model_copy(update=told)
