"""What keeps a labeller from knowing whose answer is whose, and what may give it away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from videoautoarena.memory.records.digests import unit_interval
from videoautoarena.memory.records.records import Choice
from videoautoarena.memory.store.evidence import AnswerSeat

MAKERS = (
    *("OpenAI", "ChatGPT", r"GPT\W?\d\w*", "Google", "DeepMind", "Gemini", "Gemma", "Anthropic"),
    *("Claude", "Meta AI", "Llama", "LLaVA", "VideoLLaMA", "Qwen", "QwQ", "Alibaba", "Tongyi"),
    *("InternVL", "InternVideo", "Shanghai AI Lab", "DeepSeek", "Mistral", "Pixtral", "MiniCPM"),
    *("xAI", "Grok", "Moonshot AI", "Kimi", "Zhipu", "ChatGLM", "GLM", "Doubao", "ByteDance"),
    *("Baidu", "ERNIE", "Cohere", "Molmo", "Amazon Nova", "Microsoft", r"Phi\W?\d\w*", "NVILA"),
)
"""Makers of models that see, and what they call them, as patterns."""
SHORTEST_NAME = 2


class Makers:
    """The names by which an answer may say who gave it: those of the run, and well-known ones."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        own = {name for name in names if len(name) >= SHORTEST_NAME}
        parts = [*map(_loosely, sorted(own)), *(maker.replace(" ", r"[\W_]*") for maker in MAKERS)]
        # Between letters of other scripts there are no gaps, so that only Latin ones have to end.
        self._pattern = re.compile(rf"(?<![a-z\d])(?:{'|'.join(parts)})(?![a-z])", re.IGNORECASE)

    @classmethod
    def of_run(cls, manifest: Mapping[str, Any]) -> Makers:
        """Return the names of a run's contestants, with those of the models behind them."""
        names: list[str] = list(manifest["models"])
        for alias in manifest["models"]:
            model = str(manifest["cast"].get(alias, {}).get("model", ""))
            names.append(re.split(r"[:/]", model)[-1])
        return cls(names)

    def are_named_in(self, text: str) -> bool:
        """Return whether a text has one of the names, in whatever case."""
        return self._pattern.search(text) is not None


def _loosely(name: str) -> str:
    """Return a pattern of a name, whatever stands between its parts."""
    return r"[\W_]*".join(map(re.escape, re.findall(r"[^\W_]+", name))) or re.escape(name)


def first_shown(seed: int, labeller: str, battle: str) -> AnswerSeat:
    """Return which answer of a battle a labeller is shown as Answer A: always the same one."""
    return "a" if unit_interval(seed, "annotate", labeller, battle) < 0.5 else "b"


def in_seats(choice: Choice, first: AnswerSeat) -> Choice:
    """Return in terms of the run's seats what is said of Answers A and B, or the other way."""
    if choice in ("a", "b") and first == "b":
        return "b" if choice == "a" else "a"
    return choice
