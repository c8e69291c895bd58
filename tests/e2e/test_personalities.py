"""Runs against servers as they are met; and what those servers are made of."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from tests.support.canned import judged
from tests.support.clips import draw_folder
from tests.support.personalities import DIALECTS, MUSING, PERSONALITIES, Personality, drafted
from tests.support.personality_runs import faults, play_against
from tests.support.virtual import skipping
from videoautoarena.agents.calls.replies import read_reply
from videoautoarena.agents.prompting.contracts import judge_reply


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_folder(tmp_path_factory.mktemp("personalities") / "clips", 1, seconds=3)


@pytest.mark.slow
@pytest.mark.parametrize("personality", PERSONALITIES, ids=lambda one: one.name)
def test_a_run_gets_all_that_a_server_gives(
    personality: Personality, clips: Path, tmp_path: Path
) -> None:
    played = play_against(personality, clips, tmp_path / "run")
    assert list(faults(played)) == [], played.told


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_thought_is_judged_and_no_draft_binds_in_any_dialect(
    dialect: str, clips: Path, tmp_path: Path
) -> None:
    says = DIALECTS[dialect]
    played = play_against(Personality(dialect, says, says), clips, tmp_path / "run")
    assert list(faults(played)) == [], played.told


@pytest.mark.parametrize("verdict", ["A", "B", "tie_good", "tie_bad"])
def test_a_draft_would_be_read_as_another_verdict(verdict: str) -> None:
    draft = read_reply(json.dumps(drafted(judged(verdict, "Fine."))), judge_reply(2))
    assert draft.verdict != verdict
    assert MUSING in draft.own_answer


def test_a_long_pause_takes_no_time_and_what_is_under_way_is_waited_for() -> None:
    busy_until_s = time.monotonic() + 0.2

    async def waits() -> float:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        await asyncio.sleep(100)
        return loop.time() - began_s

    with skipping(lambda: time.monotonic() > busy_until_s):
        assert asyncio.run(waits()) >= 100
    assert busy_until_s < time.monotonic() < busy_until_s + 50
