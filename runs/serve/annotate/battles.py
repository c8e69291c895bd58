"""The first task: which of two answers is better, of which nobody says who gave them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from videoautoarena.memory.records.standards import Standard
from videoautoarena.memory.store.evidence import AnswerSeat, BattleVote
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.serve.annotate.blinding import Makers, first_shown, in_seats
from videoautoarena.runs.serve.annotate.films import Films
from videoautoarena.runs.serve.annotate.queue import Queue

LONGEST_NOTE = 2000
Better = Literal["a", "b", "tie_good", "tie_bad"]


class SaidOfBattle(BaseModel):
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
        self.queue: Queue[BattleVote] = Queue(
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
        """Return the battle that is out: nothing of it says who answered, or what a judge said."""
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

    async def vote(self, said: SaidOfBattle) -> None:
        """Keep a vote; raises Stale or StoreError."""
        await self.queue.vote(said.ticket, lambda battle: self._vote(battle, said))

    def _vote(self, battle: str, said: SaidOfBattle) -> BattleVote:
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
