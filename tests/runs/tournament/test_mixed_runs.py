"""Runs whose pairs look at results: the same battles whatever happened, and no end that hangs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_cap import ROSTER, brain, write_arena
from tests.support.clips import draw_clip, draw_folder
from tests.support.loopback import serving
from tests.support.manners import Manners, Mishap
from tests.support.small_runs import TRIO, alter, battles_of, play_again
from tests.support.typed import Terminal
from tests.support.whole_runs import battles, write_config
from videoautoarena.memory.records.errors import BadInput, ForeignRun
from videoautoarena.memory.records.records import Battle
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.simulate import Finished, simulate
from videoautoarena.runs.cli.program.ending import ending, run_async
from videoautoarena.runs.console.progress.events import BattleSettled, RunEvent
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import RUN_FILE

VIDEOS = 2
ROUNDS = 2
BLOCK = 1
SLOTS = VIDEOS * 3 * ROUNDS
PATIENCE_S = 120
NEWCOMER = "offline:owl"


class Crash(Exception):
    """A run ends here, as if its process had been killed."""


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_folder(tmp_path_factory.mktemp("ground") / "videos", VIDEOS, seconds=2)


@pytest.fixture(scope="module")
def calm(videos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("calm") / "out"
    mixed(videos, out)
    return out


def mixed(videos: Path, out: Path, **flags: Any) -> Finished:
    """Play a run of two videos, each a block of its own, three rounds each."""
    hear: Callable[[RunEvent], None] = flags.pop("hear", lambda _event: None)
    typed = RunRequest(
        videos=videos, out=out, **{"models": TRIO, "rounds": ROUNDS, "block": BLOCK, **flags}
    )

    async def patiently() -> Finished:
        return await asyncio.wait_for(game, PATIENCE_S)

    game = simulate(typed, say=lambda _line: None, hear=hear)
    return run_async(patiently())


def crash_after(number: int) -> Callable[[RunEvent], None]:
    """Return what ends a run with its so-manieth battle."""
    left = [number]

    def hear(event: RunEvent) -> None:
        left[0] -= isinstance(event, BattleSettled)
        if left[0] < 0:
            raise Crash

    return hear


def config_of(out: Path) -> RunConfig:
    with Store.open(out / RUN_FILE, write=False) as store:
        return RunConfig.of_manifest(store.manifest())


def players(battle: Battle) -> set[str | None]:
    return {battle.model_a, battle.model_b}


def generations(out: Path) -> dict[str, int]:
    with Store.open(out / RUN_FILE, write=False) as store:
        return {slot.id: slot.generation for slot in store.slots()}


def test_mix_is_what_is_played_and_says_what_it_looked_at(calm: Path) -> None:
    found = battles_of(calm)
    assert config_of(calm).pairing == "mix"
    assert [battle.basis for battle in found[:: 3 * BLOCK]] == [None, None, 0, 1]
    assert {battle.propensity for battle in found[:6]} == {0.333333}
    later = {battle.propensity for battle in found[6:] if battle.propensity}
    assert len(later) > 2
    assert all(0.16 < propensity < 0.67 for propensity in later)
    assert play_again(calm).battles == SLOTS


def test_one_call_at_a_time_and_crashes_change_no_battle(
    videos: Path, tmp_path: Path, calm: Path
) -> None:
    for number, concurrency in ((1, 8), (5, 15)):
        with pytest.raises(Crash):
            mixed(videos, tmp_path / "o", concurrency=concurrency, hear=crash_after(number))
    mixed(videos, tmp_path / "o", concurrency=1)
    assert battles(tmp_path / "o") == battles(calm)
    assert play_again(tmp_path / "o").differences == []


@pytest.mark.slow
def test_a_run_under_a_rule_stops_at_the_same_battle_and_goes_on_to_the_same_end(
    videos: Path, tmp_path: Path, calm: Path
) -> None:
    ends = []
    for number, concurrency in enumerate((1, 16)):
        out = tmp_path / str(number)
        with pytest.raises(Crash):
            mixed(videos, out, until="battles=4", concurrency=concurrency, hear=crash_after(2))
        found = mixed(videos, out, concurrency=concurrency)
        assert found.reading
        assert (found.is_stopped, found.interrupted, found.reading.wave) == (True, False, 1)
        assert ending(found, out) == 0
        assert play_again(out).differences == []
        ends.append(battles(out))
    assert ends[0] == ends[1]
    assert len(ends[0]) == 3 * 3 * BLOCK
    lifted = mixed(videos, tmp_path / "0", until="rounds")
    assert (lifted.settled, lifted.reading) == (SLOTS, None)
    assert battles(tmp_path / "0") == battles(calm)


@pytest.mark.parametrize("pairing", ["uniform", pytest.param("keep-pair", marks=pytest.mark.slow)])
def test_a_rule_that_stops_is_heeded_by_every_pairing_and_pays_for_no_later_video(
    videos: Path, tmp_path: Path, pairing: str
) -> None:
    found = mixed(videos, tmp_path / "o", until="battles=1", pairing=pairing)
    assert found.settled == 2 * 3 * BLOCK < SLOTS
    with Store.open(tmp_path / "o" / RUN_FILE, write=False) as store:
        rows = store.journal.calls()
    examined = {row.nonce.scope for row in rows if row.nonce.role == "examiner"}
    assert examined == {battle.video for battle in battles_of(tmp_path / "o")}
    assert len(examined) == BLOCK


@pytest.mark.slow
def test_why_a_run_stopped_is_said_at_its_end_and_by_its_status(
    videos: Path, tmp_path: Path, terminal: Terminal
) -> None:
    out = tmp_path / "o"
    words = [
        "--videos",
        videos,
        "--out",
        out,
        "--models",
        ",".join(TRIO),
        "--block",
        "1",
        "--rounds",
        "2",
    ]
    said = terminal.simulate(*words, "--until", "battles=4", "--json")
    assert said.code == 0
    assert "--until battles=4 is met: 6 battles decided, 4 required, after wave 1" in said.err
    assert f"to play the rest: arena resume {out} --until rounds" in said.err
    assert f"done: {3 * 3 * BLOCK} of {SLOTS} battles settled" in said.err
    told = json.loads(said.out)["until"]
    assert (told["rule"], told["wave"], told["is_met"]) == ("battles=4", 1, True)
    status = terminal.arena("status", out)
    assert "stopped by --until" in status.out
    assert "a fixed number of battles guarantees no order and adds no bias" in status.out
    assert f"next: arena leaderboard {out}" in status.out
    assert json.loads(terminal.arena("status", out, "--json").out)["until"] == told
    again = terminal.arena("resume", out, "--until", "battles=9999", "-q")
    assert f"--until battles=9999 was not met within all rounds: {SLOTS} battles" in again.err
    assert terminal.arena("resume", out, "--until", "soon").code == 2


@pytest.mark.slow
def test_a_capped_run_stops_at_its_cap_and_goes_on_to_the_battles_of_an_uncapped_one(
    videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", "loopback-key")
    with serving(tmp_path / "log", brain=brain) as server:
        config = write_arena(tmp_path / "arena.toml", server.openai_url, 2.0)
        cast = {"models": ROSTER, "examiner": "examiner", "judge": ("judge",), "config": config}
        whole = mixed(videos, tmp_path / "whole", **cast, rounds=2)
        out = tmp_path / "capped"
        cap = 0.4 * whole.spent.usd
        capped = mixed(videos, out, **cast, rounds=2, max_usd=cap, concurrency=16)
        assert capped.is_capped
        assert capped.spent.usd <= cap
        assert ending(capped, out) == 4
        mixed(videos, out, **cast, rounds=2, max_usd=float("inf"))
    assert battles(out) == battles(tmp_path / "whole")


@pytest.mark.slow
def test_a_newcomer_plays_in_added_rounds_and_everything_before_stays(
    videos: Path, tmp_path: Path
) -> None:
    out = tmp_path / "o"
    with pytest.raises(Crash):
        mixed(videos, out, hear=crash_after(2), rounds=1)
    before = battles(out)
    mixed(videos, out, models=(NEWCOMER, *TRIO), rounds=3)
    assert (config_of(out).models, config_of(out).joined) == ((*TRIO, NEWCOMER), {NEWCOMER: 1})
    now = battles_of(out)
    since = generations(out)
    assert len(now) == VIDEOS * 3 * 3
    assert before.items() <= battles(out).items()
    assert not [b for b in now if NEWCOMER in players(b) and since[b.id] == 0]
    met = {frozenset(players(b)) for b in now if NEWCOMER in players(b)}
    assert met == {frozenset({NEWCOMER, model}) for model in TRIO}
    assert play_again(out).differences == []
    mixed(videos, out, models=(*TRIO, NEWCOMER), rounds=3)
    with pytest.raises(ForeignRun, match="models offline:hawk,offline:mole,offline:parrot,offline"):
        mixed(videos, out, models=TRIO, rounds=3)


@pytest.mark.parametrize(
    "pairing", ["round-robin", pytest.param("keep-pair", marks=pytest.mark.slow)]
)
def test_a_newcomer_joins_with_added_videos_under_every_pairing(
    tmp_path: Path, pairing: str
) -> None:
    folder = draw_folder(tmp_path / "videos", 1, seconds=2)
    out = tmp_path / "o"
    mixed(folder, out, rounds=1, pairing=pairing)
    for number in (71, 72):
        draw_clip(folder / f"new{number}.mp4", number, seconds=2)
    mixed(folder, out, rounds=1, models=(*TRIO, NEWCOMER), pairing=pairing)
    found = battles_of(out)
    since = generations(out)
    assert {since[b.id] for b in found if NEWCOMER in players(b)} == {1}
    assert play_again(out).differences == []


def test_a_newcomer_with_nothing_to_play_is_told_what_to_do(
    videos: Path, tmp_path: Path, calm: Path
) -> None:
    cast = (*TRIO, NEWCOMER)
    with pytest.raises(BadInput, match=f"nothing is left to play for {NEWCOMER}: raise rounds="):
        mixed(videos, calm, models=cast)
    assert config_of(calm).models == TRIO
    mixed(videos, tmp_path / "o", rounds=1, pairing="keep-pair", limit=1)
    with pytest.raises(BadInput, match=f"nothing is left to play for {NEWCOMER}: add videos"):
        mixed(videos, tmp_path / "o", rounds=2, pairing="keep-pair", limit=1, models=cast)


def test_a_run_of_an_earlier_version_keeps_its_pairing_where_nobody_names_one(
    videos: Path, tmp_path: Path
) -> None:
    out = tmp_path / "o"
    mixed(videos, out, rounds=1, pairing="uniform", limit=1)
    alter(out, "UPDATE manifest SET body = json_remove(body, '$.joined')")
    mixed(videos, out, rounds=2, limit=1)
    assert config_of(out).pairing == "uniform"
    assert {battle.basis for battle in battles_of(out)} == {None}
    with pytest.raises(ForeignRun, match="pairing uniform, here mix"):
        mixed(videos, out, rounds=2, pairing="mix", limit=1)


def draws(out: Path) -> dict[str, tuple[str, str, float | None, int | None]]:
    found = {}
    with Store.open(out / RUN_FILE, write=False) as store:
        for slot in store.slots():
            draw = store.draw(slot.id)
            if draw:
                found[slot.id] = (draw.model_a, draw.model_b, draw.propensity, draw.basis)
    return found


@pytest.mark.slow
def test_a_repair_amid_unsettled_waves_changes_no_draw_and_comes_to_its_end(
    videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", "loopback-key")
    out = tmp_path / "o"
    broken = Manners(mishaps=(Mishap("status", "judge", times=2, status=401),))
    with serving(tmp_path / "log", broken) as server:
        config = write_config(tmp_path / "arena.toml", "openai", server)
        cast = {"models": (), "config": config, "allow_offline_judge": True}
        with pytest.raises(Crash):
            mixed(videos, out, **cast, hear=crash_after(7))
    before = draws(out)
    with serving(tmp_path / "more") as server:
        write_config(config, "openai", server)
        with pytest.raises(Crash):
            mixed(videos, out, **cast, retry_failed=True, hear=crash_after(3))
        mixed(videos, out, **cast, rounds=3)
    now = draws(out)
    since = generations(out)
    again = [slot for slot in now if "~" in slot]
    assert again
    assert set(since.values()) == {0, 1, 2}
    assert {slot: now[slot] for slot in before} == before
    assert all(now[s] == now[s.partition("~")[0]] for s in again if s.partition("~")[0] in now)
    assert play_again(out).differences == []


def test_a_video_that_cannot_be_watched_settles_its_waves(
    videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from videoautoarena.memory.records.errors import UnusableVideo
    from videoautoarena.runs.run.rundir.frames import RunFrames

    watch = RunFrames.frames
    lost = min(path.name for path in videos.iterdir())

    async def frames(self: RunFrames, video: str) -> Any:
        if self._videos[video].path == lost:
            raise UnusableVideo("no frame could be decoded")
        return await watch(self, video)

    monkeypatch.setattr(RunFrames, "frames", frames)
    found = mixed(videos, tmp_path / "o")
    assert (found.settled, found.voids) == (SLOTS, 3 * ROUNDS)
