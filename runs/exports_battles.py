"""A run's decided battles as others publish theirs; `arena import battles` reads them again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from memory.records import DECIDED, Battle
from runs.reading import Run

Form = Literal["arena", "fastchat", "videoautoarena"]
_WINNERS = {"a": "model_a", "b": "model_b", "tie_bad": "tie (bothbad)"}
"""As FastChat names them; whatever else is decided is a tie."""
_OVERALL = {"a": "A", "b": "B"}


def published_battles(run: Run, form: Form) -> Iterator[dict[str, Any]]:
    """Yield the decided battles that count, in slot order; others have no word for the rest."""
    written = _as_fastchat if form == "fastchat" else _as_video_arena
    for battle in run.each_battle:
        if battle.verdict in DECIDED:
            yield written(battle)


def _as_fastchat(battle: Battle) -> dict[str, Any]:
    return {
        "question_id": battle.id,
        "model_a": battle.model_a,
        "model_b": battle.model_b,
        "winner": _WINNERS.get(battle.verdict, "tie"),
        "judge": ",".join(dict.fromkeys(one.judge for one in battle.verdicts)),
        "video": battle.video,
        "turn": 1,
    }


def _as_video_arena(battle: Battle) -> dict[str, Any]:
    return {
        "video_id": battle.video,
        "qid": battle.id,
        "persona": battle.persona_text,
        "question": battle.question,
        "model a": battle.model_a,
        "model b": battle.model_b,
        "model a answer": battle.answer_a,
        "model b answer": battle.answer_b,
        "evol": battle.origin == "evolved",
        "Overall Judge": _OVERALL.get(battle.verdict, "Tie"),
    }
