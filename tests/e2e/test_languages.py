"""Stand-ins play whole runs in German, and in two languages at once: who sees more still leads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest

from tests.support.small_runs import battles_of, play
from videoautoarena.agents.offline.language.tongues import leading
from videoautoarena.memory.records.records import Battle

pytestmark = pytest.mark.slow
ROSTER = ("offline:hawk", "offline:owl", "offline:mole")


def played(clips: Path, out: Path, *languages: str) -> list[Battle]:
    """Return the battles of a run of three rounds over all sample clips."""
    play(clips, out, models=ROSTER, rounds=3, seed=3, languages=languages)
    return battles_of(out)


def order(battles: Iterable[Battle]) -> tuple[str, ...]:
    """Return the contestants by their mean score, ties as a half; none is close to the next."""
    scores = defaultdict[str, list[float]](list)
    for battle in battles:
        score = {"a": 1.0, "b": 0.0}.get(battle.verdict, 0.5)
        scores[battle.model_a].append(score)
        scores[battle.model_b].append(1 - score)
    means = {model: fmean(won) for model, won in scores.items()}
    ranked = tuple(sorted(means, key=lambda model: -means[model]))
    assert all(means[one] > means[other] + 0.15 for one, other in pairwise(ranked))
    return ranked


def assert_all_in(code: str, battles: Iterable[Battle]) -> None:
    """Check that every text of these battles is in one language, wherever its words tell."""
    for battle in battles:
        for text in (battle.question, battle.answer_a, battle.answer_b, battle.persona_text):
            led = leading(text or "")
            assert led is None or led.code == code, text


def test_in_german_alone_who_sees_more_leads(sample_clips: Path, tmp_path: Path) -> None:
    battles = played(sample_clips, tmp_path / "out", "de")
    assert len(battles) == 108
    assert_all_in("de", battles)
    assert order(battles) == ROSTER


def test_in_two_languages_who_sees_more_leads_in_each(sample_clips: Path, tmp_path: Path) -> None:
    battles = played(sample_clips, tmp_path / "out", "en", "de")
    for code in ("en", "de"):
        own = [battle for battle in battles if battle.language == code]
        assert len(own) == 54
        assert_all_in(code, own)
        assert order(own) == ROSTER
