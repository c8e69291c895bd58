"""Battles as examples to train on: pairs of two answers, and chats of the best models.

Each says its source: file and licence of the video, categories, frames as they were sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from videoautoarena.agents.prompting.languages import UNKNOWN, asked_language
from videoautoarena.agents.roles.judge import plurality
from videoautoarena.graph.slot_ids import PERSONAS
from videoautoarena.memory.records.errors import BadInput, StoreError
from videoautoarena.memory.records.records import DECIDED, TIES, Battle, Video, VideoFrames
from videoautoarena.runs.analysis.categories.tags import categories_of as question_categories
from videoautoarena.runs.bench.freeze.items import AnswerChoice, choose, votes_of
from videoautoarena.runs.exchange.training.rows import (
    Conversation,
    Message,
    Preference,
    Ruled,
    SentFrames,
    Turn,
)
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.rating.fit import rater_of
from videoautoarena.runs.rating.leaderboard import LeaderboardRow
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.run.rundir.account import places_of
from videoautoarena.runs.run.rundir.reader import BattlesOf, RunReader, counted

FRAMES_KEPT = 64
"""Videos whose frames' digests are in memory at once."""


class RunSources:
    """What a run knows of its videos and questions, read once."""

    def __init__(self, run: RunReader) -> None:
        self._run = run
        self._frames = lru_cache(maxsize=FRAMES_KEPT)(self._read_frames)

    @cached_property
    def videos(self) -> Mapping[str, Video]:
        """The videos by their ids."""
        return {video.id: video for video in self._run.store.videos()}

    @cached_property
    def licences(self) -> Mapping[str, str]:
        """The licence of each video that has one, by its id."""
        return licences_of(self._run)

    @cached_property
    def categories(self) -> Mapping[str, Sequence[str]]:
        """The categories of each battle's question that was tagged, by the battle's id."""
        return categories_of(self._run)

    def categories_of(self, battle: Battle) -> tuple[str, ...] | None:
        """Return the categories of a battle's question; None if it was not tagged."""
        found = self.categories.get(battle.id)
        return None if found is None else tuple(found)

    def about(self, battle: Battle) -> dict[str, Any]:
        """Return the fields of `About`."""
        video = self.videos.get(battle.video)
        if video is None:
            raise StoreError(f"battle {battle.id} is about a video that the run file does not hold")
        language = asked_language(battle.language, battle.question)
        return {
            "video": video.id,
            "path": video.path,
            "sha256": video.sha256,
            "duration_s": battle.duration_s,
            "category": battle.category,
            "licence": self.licences.get(video.id),
            "persona": there(battle, "persona_text"),
            "persona_index": battle.persona,
            "language": None if language == UNKNOWN else language,
        }

    def sent(self, video: str, times: tuple[float, ...]) -> SentFrames:
        """Return frames that were sent, at these times; without digests if one is not known."""
        frames = self._frames(video)
        if frames is None:
            return SentFrames(times_s=times, digests=None if times else ())
        places = places_of([frame.time_s for frame in frames.frames], times)
        digests = tuple(frames.frames[place].digest for place in places)
        return SentFrames(times_s=times, digests=digests if len(digests) == len(times) else None)

    def _read_frames(self, video: str) -> VideoFrames | None:
        return self._run.store.frames(video)


def licences_of(run: RunReader) -> Mapping[str, str]:
    """Return the licence of each video of a run that has one, by the video's id."""
    return {video: one.licence for video, one in run.facts().items() if one.licence}


def categories_of(run: RunReader) -> Mapping[str, Sequence[str]]:
    """Return the categories of each battle's question that was tagged, by the battle's id."""
    return question_categories(run)


def there(battle: Battle, name: str) -> Any:
    """Return a part of a decided battle; StoreError if it is missing."""
    value = getattr(battle, name)
    if value is None:
        raise StoreError(f"battle {battle.id} is decided but has no {name}; the file is damaged")
    return value


TIE = "tie"
SPLIT = "split"
VOID = "void"
FORFEIT = "forfeit"
FAILED = "failed judging"
PEOPLE = "people saw no winner"
SAME = "both answers are the same"
WHY_NO_PAIR = (TIE, SPLIT, VOID, FORFEIT, FAILED, PEOPLE, SAME)
"""Why a battle gives no pair, in the order in which that is shown."""


def preferences(
    run: RunReader, sources: RunSources, left_out: Counter[str]
) -> Iterator[Preference]:
    """Yield a pair of each battle that counts and has a winner, in slot order.

    Judges must have decided it for one of the two; where people labelled it, most of them choose,
    and where they see no winner there is no pair.

    Args:
        run: whose battles.
        sources: what is known of videos and questions.
        left_out: counts what gives no pair, by the reason; complete at the end.
    """
    votes = votes_of(run.store.evidence.labels())
    for battle in run.battles:
        # Battles of newcomers, too: in each of them another answer meets the stored one.
        choice = choose(battle, votes.get(battle.id))
        why = why_no_pair(battle, choice)
        if why is None:
            won, lost = ("a", "b") if choice.seat == "a" else ("b", "a")
            yield Preference(
                **sources.about(battle),
                battle=battle.id,
                round=battle.round,
                origin=there(battle, "origin"),
                prompt=there(battle, "question"),
                categories=sources.categories_of(battle),
                chosen=there(battle, f"answer_{won}"),
                rejected=there(battle, f"answer_{lost}"),
                chosen_model=there(battle, f"model_{won}"),
                rejected_model=there(battle, f"model_{lost}"),
                chosen_frames=sources.sent(battle.video, getattr(battle, f"frames_{won}")),
                rejected_frames=sources.sent(battle.video, getattr(battle, f"frames_{lost}")),
                verdict="a" if battle.verdict == "a" else "b",
                chosen_seat="a" if won == "a" else "b",
                chosen_by=choice.by,
                seats_agree=seats_agree(battle),
                judgings=tuple(
                    Ruled(judge=one.judge, seats=one.seats, verdict=one.verdict)
                    for one in battle.verdicts
                ),
            )
        else:
            left_out[why] += 1


def why_no_pair(battle: Battle, choice: AnswerChoice) -> str | None:
    """Return which of WHY_NO_PAIR holds of a battle; None if it gives a pair."""
    failed = [one.verdict in ("abstain", "failed") for one in battle.verdicts]
    if battle.verdict == "void":
        return FAILED if failed and all(failed) else VOID
    if battle.verdict in ("forfeit_a", "forfeit_b"):
        return FORFEIT
    # What the judges called a tie is no pair, whatever people say of it.
    if battle.verdict in TIES:
        return SPLIT if battle.verdict == "split" else TIE
    if failed and all(failed):
        return FAILED
    if choice.seat is None:
        return PEOPLE
    # A pair that differs in blanks alone would teach nothing but blanks.
    is_same = (battle.answer_a or "").split() == (battle.answer_b or "").split()
    return SAME if is_same else None


def seats_agree(battle: Battle) -> bool | None:
    """Return whether both seatings of a battle gave the same verdict; None without two of them.

    The verdict of a seating is what most of its judges chose; ties of either kind are the same.
    """
    front, back = (
        plurality([one.verdict for one in battle.verdicts if one.seats == seats])
        for seats in ("ab", "ba")
    )
    if front is None or back is None:
        return None
    return front == back or {front, back} <= TIES - {"split"}


UNDECIDED = "void"
FORFEITED = "forfeit"
STORED = "stored answer that a newcomer met"
AGAIN = "question answered again"
WHY_NO_ANSWER = (UNDECIDED, FORFEITED, STORED, AGAIN)
"""Why an answer of a best model is in no chat, in the order in which that is shown."""


@dataclass(frozen=True)
class BestModels:
    """The first models of a run by rating."""

    rows: tuple[LeaderboardRow, ...]
    """The best first."""
    wanted: int
    next: LeaderboardRow | None
    """The one behind them; None if there is none."""

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


def best_of(run: RunReader, top: int) -> BestModels:
    """Return the first `top` models by rating.

    Raises:
        BadInput: no model is rated, or models have no scale in common.
    """
    board = build(run.battles, run.manifest["models"], rater=rater_of(run.manifest))
    # Ratings of groups that never met have no common zero, so they give no first places.
    if len(board.components) > 1:
        raise BadInput(
            f"the models of this run fall into {counted(len(board.components), 'group')} that "
            "never met, so nobody is the best; play battles between them"
        )
    rated = [row for row in board.models if row.rating is not None]
    if not rated:
        raise BadInput(f"no model of {run.folder} is rated yet; play more rounds or videos")
    return BestModels(tuple(rated[:top]), top, rated[top] if len(rated) > top else None)


def conversations(
    run: RunReader, best: BestModels, sources: RunSources, left_out: Counter[str]
) -> Iterator[Conversation]:
    """Yield a chat for each user of a video and each of the best models that answered that user.

    Chats stand in the order of the slots, those of one user by rank. Only decided battles give
    answers, whether the model won or lost; an answer that newcomers met again stands once.

    Args:
        run: whose battles.
        best: the models with the answers.
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


def _lineages(run: RunReader, names: set[str]) -> Iterator[BattlesOf]:
    """Yield the battles of each lineage that have one of the models, one lineage in memory."""
    texts = run.outlines.texts
    personas = run.outlines.numbers["persona"]
    has_any = texts["model_a"].among(names) | texts["model_b"].among(names)
    rows = np.flatnonzero(has_any)
    # Video and user as one number: battles are grouped by columns, and texts are read lineage by
    # lineage.
    # Users count from 1, so that with one more than there are no two pairs have one number.
    lineage = texts["video"].codes[rows].astype(np.int64) * (len(PERSONAS) + 1) + personas[rows]
    # Stable, so that the battles of a lineage keep the order of the slots.
    order = np.argsort(lineage, kind="stable")
    _, first = np.unique(lineage[order], return_index=True)
    # Lineages in the order of their first decided battles, as the slots have them.
    is_decided = texts["verdict"].among(DECIDED)[rows]
    parts = np.split(order, first[1:]) if len(order) else []
    # Without a decided battle a lineage gives no chat; it comes last, and is counted.
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
    row: LeaderboardRow, battles: list[Battle], sources: RunSources, left_out: Counter[str]
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
        rank=row.rank,
        rank_best=row.rank_best,
        rank_worst=row.rank_worst,
        messages=tuple(messages),
        turns=tuple(turns),
    )
