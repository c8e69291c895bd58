"""The first task: which of two answers is better, without knowing who gave them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from videoautoarena.memory.records.digests import unit_interval
from videoautoarena.memory.records.records import Choice
from videoautoarena.memory.records.standards import Standard
from videoautoarena.memory.store.evidence import AnswerSeat, BattleVote
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.serve.annotate.films import Films
from videoautoarena.runs.serve.annotate.queue import VoteQueue

MAKERS = (
    *("OpenAI", "ChatGPT", r"GPT\W?\d\w*", "Google", "DeepMind", "Gemini", "Gemma", "Anthropic"),
    *("Claude", "Meta AI", "Llama", "LLaVA", "VideoLLaMA", "Qwen", "QwQ", "Alibaba", "Tongyi"),
    *("InternVL", "InternVideo", "Shanghai AI Lab", "DeepSeek", "Mistral", "Pixtral", "MiniCPM"),
    *("xAI", "Grok", "Moonshot AI", "Kimi", "Zhipu", "ChatGLM", "GLM", "Doubao", "ByteDance"),
    *("Baidu", "ERNIE", "Cohere", "Molmo", "Amazon Nova", "Microsoft", r"Phi\W?\d\w*", "NVILA"),
)
"""Makers of models that see, and names of their models, as patterns."""
SHORTEST_NAME = 2


class Makers:
    """The names by which an answer may say who gave it: those of the run, and well-known ones."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        # A model called `A` would be named in nearly every answer.
        own = {name for name in names if len(name) >= SHORTEST_NAME}
        # Blanks match anything between words: Meta AI is also written Meta-AI and MetaAI.
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
    # Drawn for each labeller, so that a liking for the first answer cancels out between people.
    return "a" if unit_interval(seed, "annotate", labeller, battle) < 0.5 else "b"


def in_seats(choice: Choice, first: AnswerSeat) -> Choice:
    """Return a choice between Answers A and B in terms of the run's seats, or the reverse."""
    if choice in ("a", "b") and first == "b":
        return "b" if choice == "a" else "a"
    return choice


LONGEST_NOTE = 2000
Better = Literal["a", "b", "tie_good", "tie_bad"]


class BattleBallot(BaseModel):
    """What a page sends of the battle that it shows, in terms of its Answers A and B."""

    model_config = ConfigDict(extra="forbid", strict=True)

    ticket: str
    verdict: Better | Literal["skip"]
    standards: dict[Standard, Better] = Field(default_factory=dict)
    note: str = Field(default="", max_length=LONGEST_NOTE)


class BattleTask:
    """The battles of one labeller."""

    def __init__(
        self,
        store: Store,
        labeller: str,
        order: Sequence[str],
        *,
        films: Films,
        makers: Makers,
        seed: int,
    ) -> None:
        votes = store.evidence.votes
        mine = [vote for vote in votes.standing(BattleVote) if vote.labeller == labeller]
        voted = {vote.battle for vote in mine}
        self.queue: VoteQueue[BattleVote] = VoteQueue(
            votes,
            order,
            mine,
            elsewhere={
                of.battle
                for of in store.evidence.labels()
                if of.labeller == labeller and of.battle not in voted
            },
        )
        self._store = store
        self._labeller = labeller
        self._films = films
        self._makers = makers
        self._seed = seed

    def shown(self) -> dict[str, Any] | None:
        """Return the battle that is out, without a word on who answered or what a judge said."""
        if self.queue.subject is None:
            return None
        battle = self._store.battle(self.queue.subject)
        assert battle is not None
        first, answers = self._answers(battle.id)
        named = self._named(answers)
        return {
            "persona": battle.persona_text or "",
            "question": battle.question or "",
            "answers": [
                {"text": answers[seat], "may_name_maker": seat in named} for seat in _order(first)
            ],
            "video": self._films.about(battle.video),
        }

    def video_of(self, ticket: str) -> str | None:
        """Return the id of the video of what is out under a ticket."""
        held = self.queue.holder(ticket)
        battle = self._store.battle(held) if held else None
        return battle.video if battle else None

    async def vote(self, said: BattleBallot) -> None:
        """Keep a vote; raises StaleVote or StoreError."""
        await self.queue.vote(said.ticket, lambda battle: self._vote(battle, said))

    def _vote(self, battle: str, said: BattleBallot) -> BattleVote:
        first, answers = self._answers(battle)
        return BattleVote(
            battle=battle,
            labeller=self._labeller,
            verdict=None if said.verdict == "skip" else in_seats(said.verdict, first),
            standards={name: in_seats(word, first) for name, word in said.standards.items()},
            note=said.note.strip(),
            first=first,
            named=self._named(answers),
        )

    def _answers(self, id_: str) -> tuple[AnswerSeat, dict[AnswerSeat, str]]:
        battle = self._store.battle(id_)
        assert battle is not None
        answers: dict[AnswerSeat, str] = {"a": battle.answer_a or "", "b": battle.answer_b or ""}
        return first_shown(self._seed, self._labeller, id_), answers

    def _named(self, answers: dict[AnswerSeat, str]) -> tuple[AnswerSeat, ...]:
        return tuple(seat for seat, text in answers.items() if self._makers.are_named_in(text))


def _order(first: AnswerSeat) -> tuple[AnswerSeat, AnswerSeat]:
    return ("a", "b") if first == "a" else ("b", "a")
