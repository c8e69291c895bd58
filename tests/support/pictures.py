"""Short films drawn in memory: stamped JPEGs, and the messages that carry them."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from PIL import Image

from videoautoarena.agents.offline import KINDS, OfflineModel
from videoautoarena.agents.offline.vision.frame_features import ReceivedFrame, picture
from videoautoarena.agents.prompting.contracts import CONTRACTS, SYSTEM, contract
from videoautoarena.agents.prompting.fences import fence, fence_code
from videoautoarena.memory.records.records import Role

RGB = {
    "red": (200, 30, 35),
    "green": (45, 150, 60),
    "blue": (40, 80, 200),
    "yellow": (235, 215, 50),
    "grey": (128, 128, 128),
}
Film = tuple[tuple[float, bytes], ...]
"""Time in seconds and JPEG bytes of each frame."""


@dataclass(frozen=True)
class Shot:
    """A stretch of one colour: how bright, how full of boxes, and how fast one box moves."""

    colour: str
    length_s: float
    light: float = 1.0
    boxes: int = 8
    speed: float = 0.0


STORY = (
    Shot("red", 3.1),
    Shot("green", 5.2, boxes=60),
    Shot("blue", 2.3, light=0.5, speed=60),
    Shot("yellow", 1.2, boxes=2),
    Shot("green", 4.0, light=0.8, boxes=30, speed=20),
    Shot("grey", 3.4, light=0.7, boxes=4),
    Shot("red", 0.8, boxes=5),
)
"""Twenty seconds, seven shots."""
OTHER_STORY = (
    Shot("yellow", 6.0, light=0.6, speed=40),
    Shot("blue", 9.0, light=0.9, boxes=70),
    Shot("grey", 5.0, boxes=1),
)

LONG_STORY = (
    Shot("yellow", 4.3, light=0.59, boxes=34, speed=60),
    Shot("yellow", 3.2, light=0.85, boxes=39, speed=20),
    Shot("blue", 3.8, light=0.94, boxes=65),
    Shot("blue", 2.4, light=0.37, boxes=33, speed=60),
    Shot("grey", 4.7, light=0.52, boxes=10, speed=60),
    Shot("blue", 3.4, light=0.37, boxes=56, speed=20),
    Shot("grey", 3.9, light=0.44, boxes=62, speed=20),
    Shot("grey", 2.8, light=0.86, boxes=2),
    Shot("yellow", 4.1, light=0.85, boxes=1, speed=60),
)
"""It serves every ability of dialogues."""


def film(shots: Sequence[Shot] = STORY, *, frames: int = 128, seed: int = 1) -> Film:
    """Return frames at even distances, the first at 0 and the last at the end."""
    length = sum(shot.length_s for shot in shots)
    return tuple(
        (round(float(t), 2), _jpeg(_draw(shots, min(float(t), length - 1e-6), seed)))
        for t in np.linspace(0, length, frames)
    )


def thinned(frames: Film, count: int) -> Film:
    """Return at most so many of the frames, evenly, first and last included."""
    if count == 0:
        return ()
    last = len(frames) - 1
    kept = sorted({round(i) for i in np.linspace(0, last, min(count, last + 1))})
    return tuple(frames[i] for i in kept)


def seen(frames: Film) -> tuple[ReceivedFrame, ...]:
    """Return the frames as an offline model reads them from a message."""
    return tuple(picture(t, base64.b64encode(jpeg).decode()) for t, jpeg in frames)


def message(frames: Film, text: str) -> list[BaseMessage]:
    """Return a call's messages: stamp and image in turn, the task last."""
    blocks: list[str | dict[str, Any]] = []
    for t, jpeg in frames:
        encoded = base64.b64encode(jpeg).decode()
        blocks.append({"type": "text", "text": f"t={t:.2f}s"})
        blocks.append({"type": "image", "base64": encoded, "mime_type": "image/jpeg"})
    blocks.append({"type": "text", "text": text})
    return [SystemMessage(SYSTEM), HumanMessage(content=blocks)]


def task(role: Role, number: int = CONTRACTS, *, seed: int = 0, **blocks: str) -> str:
    """Return a role's text: fenced blocks, then the contract."""
    code = fence_code(seed, "v-p1-r0", role, blocks)
    fenced = [fence(name, code, text) for name, text in blocks.items()]
    return "\n\n".join(["Do your part.", *fenced, contract(role, number)])


def play(
    role: Role, frames: Film, number: int = CONTRACTS, *, seed: int = 0, **blocks: str
) -> dict[str, Any]:
    """Return what the offline panel replies in a role, parsed."""
    kind = "judge" if role == "judge" else "examiner"
    sent = message(thinned(frames, KINDS[kind]), task(role, number, seed=seed, **blocks))
    # LangChain would copy every image for tracing, which takes ten times as long as the reply.
    replied: dict[str, Any] = json.loads(str(OfflineModel(kind=kind)._speak(sent).content))
    return replied


def answer(kind: str, frames: Film, question: str, *, count: int | None = None) -> str:
    """Return a contestant's answer, from as many frames as its kind is sent or from `count`."""
    limit = KINDS[kind] if count is None else count
    sent = message(thinned(frames, limit), f"Watch closely.\n\nQuestion:\n{question}")
    return str(OfflineModel(kind=kind)._speak(sent).content)


def battle(frames: Film, question: str, a: str, b: str) -> dict[str, Any]:
    """Return the judge's reply on two answers."""
    return play("judge", frames, persona="A person.", question=question, answer_a=a, answer_b=b)


def _jpeg(pixels: np.ndarray[Any, Any]) -> bytes:
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, "JPEG", quality=85)
    return held.getvalue()


def _draw(shots: Sequence[Shot], now: float, seed: int) -> np.ndarray[Any, Any]:
    ends = np.cumsum([shot.length_s for shot in shots])
    i = int(np.searchsorted(ends, now, side="right"))
    shot = shots[i]
    start = float(ends[i]) - shots[i].length_s
    dice = np.random.default_rng([seed, i])
    canvas = np.empty((90, 160, 3), np.float32)
    canvas[:] = RGB[shot.colour]
    canvas *= np.linspace(0.85, 1.1, 160)[None, :, None] if i % 2 else 1.0
    for _ in range(shot.boxes):
        x, y, w, h = dice.integers(0, 140), dice.integers(0, 80), *dice.integers(4, 20, 2)
        canvas[y : y + h, x : x + w] *= dice.uniform(0.6, 1.25)
    if shot.speed:
        x = int((now - start) * shot.speed) % 130
        canvas[30:60, x : x + 30] = 255
    return np.clip(canvas * shot.light, 0, 255).astype(np.uint8)
