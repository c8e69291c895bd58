"""Holds what the sections of an audit look at, and makes findings of shares."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from videoautoarena.memory.records.outlines import Outlines
from videoautoarena.memory.records.records import DECIDED, TIES, Battle, Video
from videoautoarena.memory.store.evidence import Label, LabelSample, Trial
from videoautoarena.runs.rating.finding import ENOUGH, Crosses, Finding, Told
from videoautoarena.runs.run.rundir.call_facts import Shortfall
from videoautoarena.runs.run.rundir.reader import BattlesOf, is_blind
from videoautoarena.scoring.fitting.counts import Ints
from videoautoarena.scoring.intervals.proportions import Share

Mask = NDArray[np.bool_]
ABSTAINED = 3
FAILED = 4
_CAMPS = {"a": 0, "b": 1, **dict.fromkeys(TIES, 2), "abstain": ABSTAINED, "failed": FAILED}
"""Codes of what a judge said; ties of both kinds are one."""
POINTS = np.array([1.0, 0.0, 0.5])
"""Points that each camp gives model_a."""
# Greedy, so that of `openrouter:openai/gpt-5` provider and owner go at once.
_OWNER = re.compile(r"\A.*[/:]", re.DOTALL)
_FIRST_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, eq=False)
class Ballots:
    """Every judging of a run as a row of arrays, in the order of the battles."""

    battle: Ints
    """Place in the battles of the input."""
    judge: Ints
    """Place in its judges."""
    is_back: Mask
    """Whether model_b was read first."""
    camp: Ints
    """0 for model_a, 1 for model_b, 2 a tie, ABSTAINED or FAILED."""

    @property
    def has_voted(self) -> Mask:
        """Which judgings gave a verdict, ties among them."""
        return self.camp < ABSTAINED


@dataclass(frozen=True, eq=False)
class AuditInput:
    """The battles of a run that count, and what is known of its judges beside them."""

    battles: Collection[Battle]
    """Battles that count; those of a run are read from its file at each pass."""
    manifest: Mapping[str, Any]
    labels: Sequence[Label] = ()
    samples: Sequence[LabelSample] = ()
    trials: Sequence[Trial] = ()
    films: Mapping[str, Video] = field(default_factory=dict)
    """Videos by their ids, so that findings can name the file that a battle is about."""
    shortfalls: Sequence[Shortfall] = ()
    """Models that saw fewer frames than they should have."""
    unequal_frames: Sequence[Shortfall] = ()
    """Contestants that saw fewer frames than others, by their own limit."""
    is_brief: bool = False
    """Compute only the figures that raise alarms or stand under every leaderboard."""
    by_language: bool = False
    """Compute all figures by language, even where only a question's own words tell it."""

    @cached_property
    def outlines(self) -> Outlines:
        """The battles without their texts, which is all that most sections look at."""
        if isinstance(self.battles, BattlesOf):
            return self.battles.outlines
        return Outlines.of(self.battles)

    @cached_property
    def decided(self) -> Outlines:
        """The battles that enter the ratings, without their texts."""
        return self.outlines.where(self.outlines.texts["verdict"].among(DECIDED))

    def void_reasons(self) -> list[str | None]:
        """Return why battles are void, in their order."""
        is_void = self.outlines.texts["verdict"].among(["void"])
        # One field of the void ones is read, not a million battles.
        if isinstance(self.battles, BattlesOf):
            return [why for (why,) in self.battles.where(is_void).fields("reason")]
        return [battle.reason for battle in self.battles if battle.verdict == "void"]

    def answers(self, rows: Mask) -> list[tuple[str | None, str | None]]:
        """Return both answers of some battles, in their order."""
        if isinstance(self.battles, BattlesOf):
            return list(self.battles.where(rows).answers())
        some = (b for b, is_one in zip(self.battles, rows, strict=True) if is_one)
        return [(battle.answer_a, battle.answer_b) for battle in some]

    def find(self, ids: Iterable[str]) -> dict[str, Battle]:
        """Return the battles that have one of these ids, in whole."""
        if isinstance(self.battles, BattlesOf):
            each = map(self.battles.find, dict.fromkeys(ids))
            return {battle.id: battle for battle in each if battle is not None}
        wanted = set(ids)
        return {battle.id: battle for battle in self.battles if battle.id in wanted}

    @cached_property
    def judges(self) -> list[str]:
        """Names of all who were asked to judge, in the order of the panel."""
        told = self.outlines.told
        codes = self.outlines.texts["ballots"].counts_by_code()
        asked = {ballot.judge: None for code in codes for ballot in told[code]}
        # A judge of the panel that no battle was put to has nothing to be audited.
        panel = [judge for judge in self.manifest.get("judges") or () if judge in asked]
        return list(dict.fromkeys([*panel, *asked]))

    @cached_property
    def ballots(self) -> Ballots:
        """Every judging of every battle, from every seating."""
        place = {judge: k for k, judge in enumerate(self.judges)}
        told = self.outlines.told
        codes = self.outlines.texts["ballots"].codes
        # What judges said of a battle occurs again and again: each such set is coded once.
        size = [len(ballots) for ballots in told]
        every = [b for ballots in told for b in ballots]
        # For each battle how many ballots it has, where they begin among all, and how far behind
        # each is.
        asked = np.array(size, dtype=np.int64)[codes] if len(codes) else np.empty(0, dtype=np.int64)
        first = (np.cumsum(size, dtype=np.int64) - size)[codes] if len(codes) else asked
        behind = np.arange(asked.sum()) - np.repeat(np.cumsum(asked) - asked, asked)
        row = np.repeat(first, asked) + behind
        # Column by column: a tuple a row would keep the garbage collector at work.
        return Ballots(
            np.repeat(np.arange(len(codes)), asked),
            # Sets that none of these battles has may name other judges; no row leads to their -1.
            np.array([place.get(b.judge, -1) for b in every], dtype=np.int64)[row],
            np.array([b.seats == "ba" for b in every], dtype=np.bool_)[row],
            np.array([_CAMPS[b.verdict] for b in every], dtype=np.int64)[row],
        )

    @cached_property
    def videos(self) -> Ints:
        """Shape (battles,), a number for the video of each: the clusters of their shares."""
        return self.outlines.videos

    def model_of(self, name: str) -> str:
        """Return the `provider:model` that a name of the run stands for."""
        return str(self._entry(name).get("model") or name)

    def is_blind(self, name: str) -> bool:
        """Return whether a contestant is sent no frame."""
        return is_blind(self._entry(name))

    def _entry(self, name: str) -> Mapping[str, Any]:
        return (self.manifest.get("cast") or {}).get(name) or {}


def family_of(model: str) -> str:
    """Return the family of a `provider:model`: the first word of the model's name.

    So `openai:gpt-4o`, `azure:gpt-4o-mini` and `openrouter:openai/gpt-5` are one, `gpt`. The
    provider is left out, since one model is to be had from many; stand-ins are a family by kind.
    """
    word = _FIRST_WORD.search(_OWNER.sub("", model))
    return word[0].casefold() if word else model.casefold()


def finding(
    key: str,
    share: Share,
    words: str,
    *,
    crosses: Crosses | None = None,
    is_even: bool = False,
    is_alarm: bool = False,
    **told: Told,
) -> Finding:
    """Return a share as a finding; `words`, `told` and `is_even` are as in `Finding`.

    `crosses` is for figures whose alarms `raise_alarms` decides together; `is_alarm` is for one
    that raises an alarm whatever the others say.
    """
    return Finding(
        *(key, *share, words, is_alarm, crosses, is_enough(share), is_even),
        told=told,
        # Without a spread there is one video, or no case at all.
        videos=share.spread.clusters if share.spread else min(share.n, 1),
    )


def is_enough(share: Share) -> bool:
    """Return whether a share has enough cases, from more than one video, for an alarm."""
    return share.n >= ENOUGH and share.spread is not None


def above(share: Share, most: float) -> Crosses:
    """Return a function that says whether a share is surely above a threshold."""
    return lambda level: share.at(level).low > most


def below(share: Share, least: float) -> Crosses:
    """Return a function that says whether a share is surely below a threshold."""
    return lambda level: share.at(level).high < least


def unknown(key: str, words: str, **told: Told) -> Finding:
    """Return a finding without a figure, which says why there is none."""
    return Finding(key, math.nan, math.nan, math.nan, 0, words, told=told)
