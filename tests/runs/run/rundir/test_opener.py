"""Beginning a run and going on with it: after a kill at any moment, elsewhere, beside another."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

import videoautoarena.agents.prompting.prompts
from tests.support.clips import draw_folder
from tests.support.lives import PATIENCE_S, Life
from tests.support.loopback import ask_offline, serving
from tests.support.small_runs import TRIO, alter, battles_of, play, play_again, toml
from tests.support.typed import Terminal
from tests.support.whole_runs import KEY, command, write_config
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles import prompter
from videoautoarena.agents.roles.prompter import worded
from videoautoarena.memory.store.connection import RunLock, lock_of
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.leaderboard.board import board_of
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.opener import FOLDER_FILE, PROMPT_FILE
from videoautoarena.runs.run.rundir.reader import RUN_FILE

MOMENTS = ("nothing", "a prompt", "all prompts", "the folder", "videos", "slots")


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_folder(tmp_path_factory.mktemp("ground") / "videos", 1, seconds=3)


@pytest.fixture(scope="module")
def undisturbed(videos: Path) -> Path:
    play(videos, videos.parent / "out", rounds=1)
    return videos.parent / "out"


def begun_and_killed(
    out: Path, whole: Path, *, after: str, preset: Any = None, is_now: bool = False
) -> None:
    """Leave a run as a kill leaves it that came when only this much was written down.

    With the preset it began before that had prompts of its own, unless it `is_now`.
    """
    config = resolve(RunRequest(models=TRIO, rounds=1, preset=preset)).config
    prompts = PromptSet.load(paper=is_now)
    number = prompts.contracts
    manifest = config.manifest(version("videoautoarena"), prompts.digests, contracts=number)
    reached = MOMENTS.index(after)
    with (
        Store.open(whole / RUN_FILE, write=False) as source,
        Store.create(out / RUN_FILE, manifest) as store,
    ):
        for role in sorted(prompts.texts)[: (0, 1, 99)[min(reached, 2)]]:
            store.put_file(f"{PROMPT_FILE}{role}", prompts.texts[role])
        if reached >= MOMENTS.index("the folder"):
            folder = source.file(FOLDER_FILE)
            assert folder is not None
            store.put_file(FOLDER_FILE, folder.text)
        store.add_videos(source.videos() if reached >= MOMENTS.index("videos") else [])
        store.add_slots(source.slots() if after == "slots" else [])


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(one, marks=[] if one in ("a prompt", "videos") else pytest.mark.slow)
        for one in MOMENTS
    ],
)
def test_a_run_killed_in_its_first_moments_goes_on_to_the_same_battles(
    moment: str, videos: Path, undisturbed: Path, tmp_path: Path
) -> None:
    begun_and_killed(tmp_path / "out", undisturbed, after=moment)
    play(videos, tmp_path / "out", rounds=1)
    assert battles_of(tmp_path / "out") == battles_of(undisturbed)
    assert play_again(tmp_path / "out").differences == []


def test_a_run_that_began_with_contract_1_goes_on_with_it(
    monkeypatch: pytest.MonkeyPatch, videos: Path, undisturbed: Path, tmp_path: Path
) -> None:
    begun_and_killed(tmp_path / "out", undisturbed, after="slots")
    alter(tmp_path / "out", "UPDATE manifest SET body = json_remove(body, '$.contracts')")
    heard = list[str]()
    said = list[str]()

    def listening(*given: Any) -> str:
        heard.append(worded(*given))
        return heard[-1]

    monkeypatch.setattr(prompter, "worded", listening)
    play(videos, tmp_path / "out", said=said, rounds=1)
    assert any("began with (1; the latest are 2)" in line for line in said)
    endings = {line for text in heard for line in text.splitlines() if "Reply format: " in line}
    assert {"Reply format: judge", "Reply format: persona"} <= endings
    assert not [line for line in endings if line.endswith(")")]
    judgings = [one for battle in battles_of(tmp_path / "out") for one in battle.verdicts]
    assert judgings
    assert all(one.standards is None and one.own_answer is None for one in judgings)
    assert play_again(tmp_path / "out").differences == []


def test_a_run_that_began_with_the_preset_as_it_was_goes_on_so(
    videos: Path, undisturbed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    begun_and_killed(out, undisturbed, after="slots", preset="paper")
    said = list[str]()
    play(videos, out, preset="paper", said=said, rounds=1)
    assert "preset='paper' turns back more by now; this run goes on as it began" in said
    judgings = [one for battle in battles_of(out) for one in battle.verdicts]
    assert all(one.own_answer for one in judgings if one.verdict != "abstain")
    assert board_of(out).settings.fit == "firth"
    assert play_again(out).differences == []


@pytest.mark.slow
def test_a_run_by_the_preset_killed_before_its_prompts_were_copied_is_resumed(
    terminal: Terminal, videos: Path, undisturbed: Path, tmp_path: Path
) -> None:
    for moment in ("the folder", "slots"):
        out = tmp_path / moment
        begun_and_killed(out, undisturbed, after=moment, preset="paper", is_now=True)
        alter(out, "DELETE FROM files WHERE name = 'prompts/persona'")
        assert terminal.arena("resume", out, "--videos", videos).code == 0
        assert play_again(out).differences == []
    assert battles_of(tmp_path / "slots") == battles_of(tmp_path / "the folder")


def test_a_run_that_begins_now_asks_for_a_verdict_on_each_standard(undisturbed: Path) -> None:
    judgings = [one for battle in battles_of(undisturbed) for one in battle.verdicts]
    assert judgings
    assert all(one.standards and one.own_answer for one in judgings if one.verdict != "abstain")


def test_a_run_of_a_later_version_is_refused(
    terminal: Terminal, undisturbed: Path, tmp_path: Path
) -> None:
    begun_and_killed(tmp_path / "out", undisturbed, after="slots")
    alter(tmp_path / "out", "UPDATE manifest SET body = json_set(body, '$.contracts', 99)")
    said = terminal.arena("resume", tmp_path / "out")
    assert (said.code, len(said.err.splitlines())) == (1, 1)
    assert "contracts 99 are of a newer version" in said.err


@pytest.mark.parametrize("number", ["0", "-1", "2.0", "'2'", "json('true')", "json('null')"])
def test_contracts_that_there_never_were_are_damage(
    number: str, terminal: Terminal, undisturbed: Path, tmp_path: Path
) -> None:
    begun_and_killed(tmp_path / "out", undisturbed, after="slots")
    alter(tmp_path / "out", f"UPDATE manifest SET body = json_set(body, '$.contracts', {number})")
    said = terminal.arena("resume", tmp_path / "out")
    assert (said.code, len(said.err.splitlines())) == (1, 1)
    assert "the run's settings cannot be read (contracts)" in said.err


def test_the_same_prompts_go_on_when_those_beside_them_are_worded_anew(
    monkeypatch: pytest.MonkeyPatch, videos: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "contestant.txt").write_text("Answer what follows.")
    play(videos, tmp_path / "out", prompts=mine, rounds=1)
    newer = tmp_path / "newer"
    shutil.copytree(videoautoarena.agents.prompting.prompts._OWN, newer)
    (newer / "grader.txt").write_text(f"{(newer / 'grader.txt').read_text()}Take care.\n")
    monkeypatch.setattr(videoautoarena.agents.prompting.prompts, "_OWN", newer)
    said = list[str]()
    play(videos, tmp_path / "out", prompts=mine, rounds=2, said=said)
    assert any("since this run began (grader); the recorded ones are used" in s for s in said)
    assert play_again(tmp_path / "out").differences == []


def test_prompts_that_were_never_copied_are_not_made_up(
    terminal: Terminal, videos: Path, tmp_path: Path
) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "contestant.txt").write_text("Answer what follows.")
    play(videos, tmp_path / "out", prompts=tmp_path / "prompts", rounds=1)
    alter(tmp_path / "out", "DELETE FROM files WHERE name = 'prompts/contestant'")
    said = terminal.arena("resume", tmp_path / "out")
    assert said.code == 1
    assert "was begun with other prompts (contestant)" in said.err
    play(videos, tmp_path / "out", prompts=tmp_path / "prompts", rounds=1)
    assert play_again(tmp_path / "out").differences == []


def test_a_refusal_changes_nothing(
    terminal: Terminal, videos: Path, undisturbed: Path, tmp_path: Path
) -> None:
    shutil.copytree(undisturbed, tmp_path / "out")
    other = draw_folder(tmp_path / "other", 2, seconds=2)
    (other / "clip00.mp4").unlink()
    said = terminal.simulate(
        *("--videos", other, "--out", tmp_path / "out", "--rounds", "2"),
        *("--models", ",".join(TRIO)),
    )
    assert (said.code, "lacks 1 of this run's videos" in said.err) == (1, True)
    assert play(videos, tmp_path / "out", rounds=1).total == 3


def test_a_folder_that_moved_has_to_be_told_once(
    terminal: Terminal, videos: Path, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "a.mp4").write_bytes((videos / "clip00.mp4").read_bytes())
    play(here, tmp_path / "out", rounds=1)
    here.rename(tmp_path / "there")
    gone = terminal.arena("resume", tmp_path / "out")
    assert (gone.code, len(gone.err.splitlines())) == (1, 1)
    assert "which is gone; pass --videos" in gone.err
    assert terminal.arena("resume", tmp_path / "out", "--videos", tmp_path / "there").code == 0
    assert terminal.arena("resume", tmp_path / "out").code == 0


def test_a_folder_whose_name_is_no_utf_8_is_played(videos: Path, tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/cl\xffips")
    Path(folder).mkdir()
    (Path(folder) / "x\udcfe.mp4").write_bytes((videos / "clip00.mp4").read_bytes())
    assert play(Path(folder), tmp_path / "out", rounds=1).settled == 3


def test_a_missing_key_is_named_before_anything_is_sent(
    terminal: Terminal, undisturbed: Path, tmp_path: Path
) -> None:
    shutil.copytree(undisturbed, tmp_path / "out")
    alter(
        tmp_path / "out",
        "UPDATE manifest SET body = json_set(body, '$.cast.\"offline:hawk\".model', 'openai:x',"
        " '$.cast.\"offline:hawk\".key_env', 'FAR_KEY')",
    )
    said = terminal.arena("resume", tmp_path / "out")
    assert (said.code, len(said.err.splitlines())) == (1, 1)
    assert "FAR_KEY" in said.err


READINGS = ("status", "leaderboard", "battles")


def test_who_does_not_hold_the_run_is_refused_and_reading_goes_on(
    terminal: Terminal, videos: Path, undisturbed: Path
) -> None:
    lock = RunLock(lock_of(undisturbed / RUN_FILE))
    try:
        second = terminal.arena("resume", undisturbed, "--videos", videos)
        assert second.code == 1
        assert f"is being run by process {os.getpid()}" in second.err
        assert len(second.err.splitlines()) == 1
        assert {terminal.arena(reading, undisturbed).code for reading in READINGS} == {0}
    finally:
        lock.release()


@pytest.mark.slow
def test_a_second_process_is_refused_and_reading_goes_on(
    terminal: Terminal, videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    out = tmp_path / "out"
    may_answer = threading.Event()

    def brain(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        assert may_answer.wait(PATIENCE_S)
        return ask_offline(model, messages)

    with serving(tmp_path / "log", brain=brain) as server:
        config = write_config(tmp_path / "arena.toml", "openai", server)
        words = ("--videos", videos, "--rounds", "1", "--config", config, "--out", out)
        with Life(command("simulate", *words)) as life:
            life.until(lambda: server.events("arrived"))
            second = terminal.simulate(*words)
            assert second.code == 1
            assert f"is being run by process {life.process.pid}" in second.err
            assert len(second.err.splitlines()) == 1
            for reading in READINGS:
                assert terminal.arena(reading, out).code == 0
            may_answer.set()
            assert life.end() == 0
    assert "done: 3 battles settled" in life.last_line


def test_two_models_of_one_file_are_told_apart_by_their_names(videos: Path, tmp_path: Path) -> None:
    tables = {
        name: {"model": "offline:owl", "max_frames": n} for n, name in ((4, "few"), (16, "many"))
    }
    (tmp_path / "arena.toml").write_text(toml(tables))
    few_and_many = {"models": ("few", "many"), "config": tmp_path / "arena.toml"}
    play(videos, tmp_path / "out", rounds=1, **few_and_many)
    seen = {(b.model_a, len(b.frames_a)) for b in battles_of(tmp_path / "out")}
    assert seen <= {("few", 4), ("many", 16)}
