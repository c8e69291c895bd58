"""A run whose servers refuse a system message pays for it once a model, and forfeits nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.test_cap import ROSTER, brain, write_arena
from tests.support import wire
from tests.support.bodies import HttpReply, Kept, keeping
from tests.support.clips import draw_folder
from tests.support.small_runs import battles_of, play, play_again
from videoautoarena.memory.records.records import DECIDED, LearntLimits
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.rundir.call_facts import kept_limits, limit_lines
from videoautoarena.runs.run.rundir.reader import RUN_FILE

pytestmark = pytest.mark.xdist_group("request forms")
CAST = {"rounds": 1, "models": ROSTER, "examiner": "examiner", "judge": ("judge",)}


def refuse_system(request: Kept) -> HttpReply | None:
    first, *_ = json.loads(request.body)["messages"]
    if first["role"] != "system":
        return None
    return HttpReply(wire.error("openai", 400, "System role not supported"), 400)


class Played(NamedTuple):
    """One run that found out what its server takes, and one that was told."""

    learnt: Path
    told: Path
    said: list[str]
    refused: list[int]
    """Requests with a system message, of each run."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    root = tmp_path_factory.mktemp("forms")
    videos = draw_folder(root / "videos", 1, seconds=3)
    said = list[str]()
    refused = list[int]()
    with pytest.MonkeyPatch.context() as env:
        env.setenv("LOOPBACK_KEY", "loopback-key")
        for name in ("learnt", "told"):
            with keeping(brain=brain, script=refuse_system) as book:
                config = write_arena(root / f"{name}.toml", f"{book.url}/v1", 1.0)
                if name == "told":
                    tables = config.read_text()
                    config.write_text(tables.replace("base_url", 'system = "user"\nbase_url'))
                play(videos, root / name, said=said, config=config, concurrency=1, **CAST)
                refused.append(sum(refuse_system(one) is not None for one in book.requests))
    return Played(root / "learnt", root / "told", said, refused)


def keys_of(out: Path) -> set[str]:
    with Store.open(out / RUN_FILE, write=False) as store:
        return {row.key for row in store.journal.calls()}


def test_each_model_is_refused_once_and_no_battle_is_lost(played: Played) -> None:
    assert played.refused == [5, 0]
    assert {battle.verdict for battle in battles_of(played.learnt)} <= DECIDED
    lines = [line for line in played.said if "head of the user's message" in line]
    assert len(lines) == 5


def test_it_is_kept_in_the_run_and_told_of(played: Played) -> None:
    with Store.open(played.learnt / RUN_FILE, write=False) as store:
        learnt = kept_limits(store)
    assert [one.system_role for one in learnt] == ["user"] * 5
    assert next(limit_lines(learnt)).endswith("takes the system text from the user alone")


def test_who_was_told_and_who_found_out_ask_the_same_calls(played: Played) -> None:
    assert keys_of(played.learnt) == keys_of(played.told)
    assert battles_of(played.learnt) == battles_of(played.told)


def test_a_setting_is_written_down_and_its_absence_is_not(played: Played) -> None:
    for out, system in ((played.learnt, None), (played.told, "user")):
        with Store.open(out / RUN_FILE, write=False) as store:
            entries = store.manifest()["cast"].values()
        remote = [entry for entry in entries if entry["model"].startswith("openai:")]
        assert {entry.get("system") for entry in remote} == {system}
        assert {"system" in entry for entry in remote} == {system is not None}


def test_either_run_replays(played: Played) -> None:
    for out in (played.learnt, played.told):
        assert play_again(out).others == 0


def test_pieces_are_told_of() -> None:
    learnt = LearntLimits(model="openai:m", endpoint="h", is_streaming=True)
    assert list(limit_lines([learnt])) == ["openai:m at h answers in pieces alone"]
