"""Dialogues as a model writes them, with which nothing is wrong."""

from __future__ import annotations

from typing import Any

from videoautoarena.agents.prompting.contracts import RoundReply

Rounds = list[RoundReply]


def written(user: str, assistant: str, **more: Any) -> RoundReply:
    """Return a round, not scored unless `more` says so."""
    return RoundReply(user=user, assistant=assistant, **{"scored": "no", **more})


def good(ability: str, number: int) -> Rounds:
    """Return a dialogue of 5 to 8 rounds that nothing is wrong with; `number` varies it."""
    rounds = [
        written(f"What stands at place {place} of row {number}?", f"A lamp of kind {place}.")
        for place in range(4 + number % 3)
    ]
    asked: dict[str, Any] = {"scored": "yes"}
    user = f"When is the shelf fullest, row {number}?"
    said = "At 12.0 s."
    spelt = {"explicit": "What is done with the kettle?", "others": ("What is done with the cup?",)}
    if ability == "object_reference":
        user = "And what is done with it after that?"
        said = "It is tipped over at 12.0 s."
        asked |= {**spelt, "refers_to": 2, "objects": ("o1",)}
    elif ability == "memory_recall":
        user = "In your second answer you spoke of something: when is it touched?"
        asked |= {**spelt, "refers_to": 2}
    elif ability == "answer_refusal":
        said = "There is no such shelf in the video."
    elif ability == "proactive_interaction":
        user = "I am bored."
        said = "At 12.0 s the lid flies off. Did you see what made it?"
    elif ability == "topic_shifting":
        rounds[1] = rounds[1].model_copy(update={"about": "elsewhere"})
        rounds[3] = rounds[3].model_copy(update={"about": "elsewhere"})
    return [*rounds, written(user, said, **asked)]
