"""Whole runs in two languages: who sees more leads, and uneven judges are found."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.support.loopback import ask_offline, serving
from tests.support.played import invoke
from tests.support.small_runs import battles_of, play, toml
from tests.support.whole_runs import KEY
from videoautoarena.agents.offline import KINDS
from videoautoarena.agents.offline.language.tongues import leading
from videoautoarena.agents.prompting.fences import open_fences
from videoautoarena.agents.prompting.languages import noted_language
from videoautoarena.memory.records.records import Battle

pytestmark = pytest.mark.slow
ROSTER = ("offline:hawk", "offline:owl", "offline:mole")
PLAYED: dict[str, Any] = {"models": ROSTER, "rounds": 3, "seed": 3}


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


@pytest.fixture(scope="module")
def mixed(sample_clips: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run in two languages, judged by a stand-in that is the same in both."""
    out = tmp_path_factory.mktemp("mixed") / "out"
    play(sample_clips, out, languages=("en", "de"), **PLAYED)
    return out


def test_in_two_languages_who_sees_more_leads_in_each(mixed: Path) -> None:
    for code in ("en", "de"):
        own = [battle for battle in battles_of(mixed) if battle.language == code]
        assert len(own) == 54
        assert_all_in(code, own)
        assert order(own) == ROSTER


def first_in_german(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
    """Judge as the stand-in does, but name the answer read first where a user asks in German."""
    reply = ask_offline(model, messages)
    outside = open_fences(str(messages[-1].content_blocks[-1].get("text", "")))[0]
    if noted_language(outside) != "de":
        return reply
    said = json.loads(str(reply.content)) | {"verdict": "A"}
    return reply.model_copy(update={"content": json.dumps(said)})


def alarms_by_language(out: Path) -> set[str]:
    """Return the keys of the alarms by language that an audit of a run raises."""
    found = json.loads(invoke("audit", out, "--json").stdout)["findings"]
    return {one["key"] for one in found if one["alarm"] and one["key"].startswith("language.")}


def test_a_judge_that_is_the_same_in_both_languages_raises_no_alarm(mixed: Path) -> None:
    assert alarms_by_language(mixed) == set()
    told = invoke("leaderboard", mixed, "--by", "language").stdout
    assert told.startswith("First, the judge in each language")
    assert "ALARM" not in told


def test_a_judge_that_favours_the_first_answer_in_one_language_is_found(
    sample_clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    with serving(tmp_path / "log", brain=first_in_german) as server:
        judge = {"model": "openai:judge", "base_url": server.openai_url}
        judge |= {"key_env": "LOOPBACK_KEY", "max_frames": KINDS["judge"]}
        config = tmp_path / "arena.toml"
        config.write_text(toml({"judge": judge}))
        plant = {"judge": ["judge"], "config": config, "rounds": 2}
        play(sample_clips, tmp_path / "out", languages=("en", "de"), **PLAYED | plant)
    assert {"language.first_gap.de", "language.first_gap.en"} & alarms_by_language(tmp_path / "out")
    told = invoke("leaderboard", tmp_path / "out", "--by", "language").stdout
    before, board, _ = told.partition("by language")
    assert board
    assert "ALARM" in before
    assert "In German (de), the answer read first won 100.0 %" in before
