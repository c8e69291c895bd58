"""Judges of spliced clips that a server plays: one goes by the pixels, one by length."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import groupby

import numpy as np
from langchain_core.messages import AIMessage, BaseMessage
from PIL import Image

from tests.support.canned import judged
from tests.support.wire import blocks
from videoautoarena.agents.prompting.fences import open_fences

NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
Pictures = list[tuple[float, np.ndarray]]


def onlooker(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
    """Judge by the pixels, or for the longer answer where that is the model's name."""
    content = blocks(messages[-1])
    told = open_fences(content[-1]["text"])[1]
    answers = [told["answer_a"], told["answer_b"]]
    if model == "longer":
        chosen = int(len(answers[1]) > len(answers[0]))
    else:
        chosen = _right(told["question"], answers, _pictures(content))
    reply = json.dumps(judged("AB"[chosen], "So it is."))
    usage = {"input_tokens": 100, "output_tokens": 8, "total_tokens": 108}
    return AIMessage.model_validate({"content": reply, "usage_metadata": usage})


def _pictures(content: Sequence[dict]) -> Pictures:
    """Return the time and the pixels of every frame that came with the question."""
    found: Pictures = []
    time_s = 0.0
    for block in content[:-1]:
        if block["type"] == "text":
            time_s = float(re.findall(r"t=([\d.]+)s", block["text"])[0])
        else:
            picture = Image.open(BytesIO(base64.b64decode(block["base64"]))).convert("RGB")
            found.append((time_s, np.asarray(picture.resize((40, 30)), np.float64)))
    return found


def _right(question: str, answers: Sequence[str], seen: Pictures) -> int:
    """Return which answer fits what is seen."""
    if "How many times" in question:
        return _nearest(answers, _stretches(seen), lambda said: _number(said))
    if "In what order" in question:
        names = re.compile("darkest|brightest|busiest")
        return [names.findall(answer) for answer in answers].index(_order(seen))
    odd = _flat_s(seen) if "flat colour" in question else _foreign_s(seen)
    return _nearest(answers, odd, lambda said: float(re.findall(r"([\d.]+) seconds", said)[0]))


def _nearest(answers: Sequence[str], true: float, value: Callable[[str], float]) -> int:
    off = [abs(value(answer) - true) for answer in answers]
    return off.index(min(off))


def _number(said: str) -> int:
    return next(n for word, n in NUMBERS.items() if f"{word} times" in said)


def _is_flat(picture: np.ndarray) -> bool:
    return bool(np.ptp(picture, axis=(0, 1)).max() < 12)


def _stretches(seen: Pictures) -> int:
    return sum(is_flat for is_flat, _ in groupby(_is_flat(picture) for _, picture in seen))


def _flat_s(seen: Pictures) -> float:
    return float(np.mean([time_s for time_s, picture in seen if _is_flat(picture)]))


def _foreign_s(seen: Pictures) -> float:
    """Return when the picture is furthest from what it usually is."""
    usual = np.median([picture for _, picture in seen], axis=0)
    return max(seen, key=lambda one: float(np.abs(one[1] - usual).mean()))[0]


def _order(seen: Pictures) -> list[str]:
    first: dict[str, float] = {}
    for time_s, picture in seen:
        light = picture.mean()
        steps = np.abs(np.diff(picture.mean(axis=2), axis=1)).mean()
        name = "darkest" if light < 10 else "brightest" if light > 245 else ""
        is_grid = not name and steps > 25 and np.ptp(picture, axis=2).max() < 12
        if name or is_grid:
            first.setdefault(name or "busiest", time_s)
    return sorted(first, key=lambda name: first[name])
