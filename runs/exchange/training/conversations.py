"""What the best models of a run answered, as one chat for each user of a video."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from videoautoarena.graph.slot_ids import PERSONAS
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import DECIDED, Battle
from videoautoarena.runs.exchange.training.rows import Conversation, Message, Turn
from videoautoarena.runs.exchange.training.sources import Sources, there
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.rating.fit import rater_of
from videoautoarena.runs.rating.leaderboard import Row
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.run.rundir.reader import BattlesOf, Run, counted

UNDECIDED = "void"
FORFEITED = "forfeit"
STORED = "stored answer that a newcomer met"
AGAIN = "question answered again"
LEFT_OUT = (UNDECIDED, FORFEITED, STORED, AGAIN)
"""Why an answer of a best model is in no chat, in the order in which that is shown."""


@dataclass(frozen=True)
class Best:
    """The first models of a run by rating."""

    rows: tuple[Row, ...]
    """The best first."""
    wanted: int
    next: Row | None
    """Who comes behind them; None where nobody does."""

    @property
    def is_tied(self) -> bool:
        """Whether the next may as well be one of them: its range of ranks reaches into theirs."""
        return self.next is not None and (
            self.next.rank_best is None or self.next.rank_best <= len(self.rows)
        )

    def as_line(self) -> str:
        """Return who they are and whether they are told from the next, for a person."""
        names = ", ".join(safe(row.model) for row in self.rows)
        line = f"the first {len(self.rows)} by rating: {names}"
        if len(self.rows) < self.wanted:
            line += f" ({self.wanted} were requested; no more are rated)"
        if self.next is None:
            return line
        behind = f"{line}; {safe(self.next.model)}, the next,"
        if self.next.rank_best is None:
            return f"{behind} may be as good: there is too little to tell"
        return f"{behind} {'is tied with them' if self.is_tied else 'is behind them'} at 95 %"


def best_of(run: Run, top: int) -> Best:
    """Return the first `top` models by rating.

    Raises:
        BadInput: no model is rated, or models have no scale in common.
    """
    board = build(run.battles, run.manifest["models"], rater=rater_of(run.manifest))
    if len(board.components) > 1:
        raise BadInput(
            f"the models of this run fall into {counted(len(board.components), 'group')} that "
            "never met, so nobody is the best; play battles between them"
        )
    rated = [row for row in board.models if row.rating is not None]
    if not rated:
        raise BadInput(f"no model of {run.folder} is rated yet; play more rounds or videos")
    return Best(tuple(rated[:top]), top, rated[top] if len(rated) > top else None)


def conversations(
    run: Run, best: Best, sources: Sources, left_out: Counter[str]
) -> Iterator[Conversation]:
    """Yield a chat for each user of a video and each of the best models that answered that user.

    Chats stand in the order of the slots, those of one user by rank. Only decided battles give
    answers, whether the model won or lost; an answer that newcomers met again stands once.

    Args:
        run: whose battles.
        best: whose answers.
        sources: what is known of videos and questions.
        left_out: counts answers that are in no chat, by the reason; complete at the end.
    """
    names = {row.model for row in best.rows}
    for lineage in _lineages(run, names):
        of_user: dict[str, list[Battle]] = {}
        for battle in lineage:
            for model in _answering(battle, names, left_out):
                of_user.setdefault(model, []).append(battle)
        for row in best.rows:
            if row.model in of_user:
                yield _chat(row, of_user[row.model], sources, left_out)


def _lineages(run: Run, names: set[str]) -> Iterator[BattlesOf]:
    """Yield the battles of each lineage that have one of the models, one lineage in memory."""
    texts = run.outlines.texts
    personas = run.outlines.numbers["persona"]
    has_any = texts["model_a"].among(names) | texts["model_b"].among(names)
    rows = np.flatnonzero(has_any)
    lineage = texts["video"].codes[rows].astype(np.int64) * (len(PERSONAS) + 1) + personas[rows]
    order = np.argsort(lineage, kind="stable")
    _, first = np.unique(lineage[order], return_index=True)
    # Those come first whose first decided battle does.
    is_decided = texts["verdict"].among(DECIDED)[rows]
    parts = np.split(order, first[1:]) if len(order) else []
    starts = [int(part[is_decided[part]].min(initial=len(rows))) for part in parts]
    for start in np.argsort(starts, kind="stable").tolist():
        yield run.battles.where(rows[parts[start]])


def _answering(battle: Battle, names: set[str], left_out: Counter[str]) -> Iterator[str]:
    """Yield the models of a battle whose answer belongs in a chat."""
    for seat, model in (("a", battle.model_a), ("b", battle.model_b)):
        if model not in names or model is None:
            continue
        if battle.borrowed is not None and battle.borrowed.seat == seat:
            left_out[STORED] += 1
        elif battle.verdict in DECIDED:
            yield model
        else:
            left_out[UNDECIDED if battle.verdict == "void" else FORFEITED] += 1


def _chat(
    row: Row, battles: list[Battle], sources: Sources, left_out: Counter[str]
) -> Conversation:
    seen: dict[tuple[int, str], Battle] = {}
    for battle in sorted(battles, key=lambda battle: battle.round):
        # A newcomer may answer one question against both of its stored answers.
        seen.setdefault((battle.round, there(battle, "question")), battle)
    left_out[AGAIN] += len(battles) - len(seen)
    messages: list[Message] = []
    turns: list[Turn] = []
    for battle in seen.values():
        mine = "a" if battle.model_a == row.model else "b"
        messages.append(Message(role="user", content=there(battle, "question")))
        messages.append(Message(role="assistant", content=there(battle, f"answer_{mine}")))
        rival = "b" if mine == "a" else "a"
        outcomes: Mapping[str, str] = {mine: "won", rival: "lost"}
        turns.append(
            Turn.model_validate(
                {
                    "battle": battle.id,
                    "round": battle.round,
                    "origin": there(battle, "origin"),
                    "rival": there(battle, f"model_{rival}"),
                    "outcome": outcomes.get(battle.verdict, battle.verdict),
                    "categories": sources.categories_of(battle),
                    "frames": sources.sent(battle.video, getattr(battle, f"frames_{mine}")),
                }
            )
        )
    first = next(iter(seen.values()))
    return Conversation(
        **sources.about(first),
        lineage=f"{first.video}-p{first.persona}",
        model=row.model,
        rank=row.rank or 1,
        rank_best=row.rank_best,
        rank_worst=row.rank_worst,
        messages=tuple(messages),
        turns=tuple(turns),
    )
