"""What the sections of an audit look at, and how they put a share into words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from memory.evidence import Label, Sample, Trial
from memory.records import DECIDED, TIES, Battle, Judging
from runs.findings import Finding
from scoring.cells import Ints
from scoring.shares import Share

_CAMPS = {"a": 0, "b": 1, **dict.fromkeys(TIES, 2)}
"""Codes of what a judge said; ties of both kinds are one."""
POINTS = (1.0, 0.0, 0.5)
"""What each camp gives model_a."""
_OWNER = re.compile(r"\A.*[/:]", re.DOTALL)
_FIRST_WORD = re.compile(r"[^\W\d_]+")


class Vote(NamedTuple):
    """What one judge said of one battle from one seating."""

    judge: str
    seats: str
    camp: int
    """0 for model_a, 1 for model_b, 2 for a tie."""


@dataclass(frozen=True, eq=False)
class AuditInput:
    """The battles of a run that count, and what is known of its judges beside them."""

    battles: Sequence[Battle]
    manifest: Mapping[str, Any]
    labels: Sequence[Label] = ()
    samples: Sequence[Sample] = ()
    trials: Sequence[Trial] = ()

    @cached_property
    def decided(self) -> list[Battle]:
        """The battles that enter the ratings."""
        return [battle for battle in self.battles if battle.verdict in DECIDED]

    @cached_property
    def votes(self) -> list[tuple[Battle, list[Vote]]]:
        """What the judges said of each battle of which any judge said anything."""
        told = ((battle, list(_votes(battle.verdicts))) for battle in self.battles)
        return [(battle, votes) for battle, votes in told if votes]

    @cached_property
    def judges(self) -> list[str]:
        """Names of all who were asked to judge, in the order of the panel."""
        asked = {judging.judge: None for battle in self.battles for judging in battle.verdicts}
        panel = [judge for judge in self.manifest.get("judges") or () if judge in asked]
        return list(dict.fromkeys([*panel, *asked]))

    @cached_property
    def _videos(self) -> dict[str, int]:
        return {video: k for k, video in enumerate(dict.fromkeys(b.video for b in self.battles))}

    def number_videos(self, battles: Sequence[Battle]) -> Ints:
        """Return a number for the video of each battle: the clusters of their shares."""
        return np.array([self._videos[battle.video] for battle in battles], dtype=np.int64)

    def model_of(self, name: str) -> str:
        """Return the `provider:model` that a name of the run stands for."""
        entry = (self.manifest.get("cast") or {}).get(name) or {}
        return str(entry.get("model") or name)

    def is_blind(self, name: str) -> bool:
        """Return whether a contestant is sent no frame."""
        entry = (self.manifest.get("cast") or {}).get(name) or {}
        return entry.get("max_frames") == 0


def _votes(judgings: Sequence[Judging]) -> Iterator[Vote]:
    for judging in judgings:
        camp = _CAMPS.get(judging.verdict)
        if camp is not None:
            yield Vote(judging.judge, judging.seats, camp)


def family_of(model: str) -> str:
    """Return the family of a `provider:model`: the first word of the model's name.

    So `openai:gpt-4o`, `azure:gpt-4o-mini` and `openrouter:openai/gpt-5` are one, `gpt`. The
    provider is left out, since one model is to be had from many; stand-ins are a family by kind.
    """
    word = _FIRST_WORD.search(_OWNER.sub("", model))
    return word[0].casefold() if word else model.casefold()


def percent(share: Share) -> str:
    """Return a share with its interval: `23.5 % (18.2 to 29.9)`; `unknown` of nothing."""
    if math.isnan(share.value):
        return "unknown"
    value, low, high = (f"{100 * figure:.1f}" for figure in share[:3])
    return f"{value} % ({low} to {high})"


def finding(key: str, share: Share, sentence: str, *, is_alarm: bool = False) -> Finding:
    """Return a share as a finding."""
    return Finding(key, share.value, share.low, share.high, share.n, sentence, is_alarm)


def unknown(key: str, sentence: str) -> Finding:
    """Return what an audit says where there is nothing to say a figure from."""
    return Finding(key, math.nan, math.nan, math.nan, 0, sentence)
