"""`simulate` as a person meets it: real clips, wrong flags, broken files, a second run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support.clips import draw_clip, draw_folder
from tests.support.loopback import serving
from tests.support.small_runs import toml
from tests.support.typed import Terminal, run
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.rundir.reader import RUN_FILE

SMALL = ("--rounds", "1", "--models", "offline:hawk,offline:mole,offline:parrot")


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips, a round over them, and what was printed of it."""
    root = tmp_path_factory.mktemp("ground")
    clips = draw_folder(root / "clips", 2, seconds=2)
    told = run("simulate", "--videos", clips, *SMALL, "--out", root / "arena-out", "--json")
    (root / "told.json").write_text(told)
    return root


@pytest.fixture
def clips(ground: Path, tmp_path: Path) -> Path:
    return shutil.copytree(ground / "clips", tmp_path / "clips")


@pytest.fixture
def played(ground: Path, tmp_path: Path) -> Path:
    """A round over the clips, in `arena-out`."""
    return shutil.copytree(ground / "arena-out", tmp_path / "arena-out")


def test_a_folder_of_videos_becomes_rated_battles(terminal: Terminal, ground: Path) -> None:
    told = json.loads((ground / "told.json").read_text())
    assert told == {
        "schema": 1,
        "out": str(ground / "arena-out"),
        "slots": 6,
        "settled": 6,
        "void": 0,
        "interrupted": False,
        "gone": None,
        "forfeiting": [],
        "until": None,
        "capped": False,
        "cost_usd": 0.0,
        "unknown_cost": 0,
        "lost": {"tries": 0, "usd": 0.0, "tokens": 0},
        "cap_use": None,
        "tokens": told["tokens"],
        "board": told["board"],
        "bench": None,
    }
    board = json.loads(terminal.arena("leaderboard", ground / "arena-out", "--json").out)
    assert {row["model"] for row in board["models"]} == set(SMALL[3].split(","))
    rated = {row["model"]: row["rating"] for row in told["board"]["models"]}
    assert rated == {row["model"]: row["rating"] for row in board["models"]}


@pytest.mark.usefixtures("played")
def test_the_same_command_again_pays_nothing_and_changes_nothing(
    terminal: Terminal, clips: Path
) -> None:
    before = terminal.arena("battles", "arena-out", "--jsonl").out
    again = terminal.simulate("--videos", clips, *SMALL)
    assert again.code == 0
    assert "0 of 6 battles left" in again.err
    # Who leads, in the words of the leaderboard.
    said, shown = (
        " ".join(text.split())
        for text in (again.err, terminal.arena("leaderboard", "arena-out").out)
    )
    (leads,) = re.findall(r"\d videos? [^.]* too few to rank [^.]*\.", said)
    assert leads in shown
    assert terminal.arena("battles", "arena-out", "--jsonl").out == before


@pytest.mark.slow
@pytest.mark.usefixtures("played")
def test_more_rounds_go_on_where_the_run_ended_to_the_battles_of_a_whole_run_at_once(
    terminal: Terminal, clips: Path
) -> None:
    before = terminal.arena("battles", "arena-out", "--jsonl").out.splitlines()
    more = terminal.simulate("--videos", clips, "--rounds", "2", *SMALL[2:])
    assert "6 of 12 battles left" in more.err
    after = terminal.arena("battles", "arena-out", "--jsonl").out.splitlines()
    assert after[:6] == before
    assert terminal.arena("replay", "arena-out").code == 0
    terminal.simulate("--videos", clips, "--rounds", "2", *SMALL[2:], "--out", "whole")
    whole = terminal.arena("battles", "whole", "--jsonl").out.splitlines()
    assert sorted(after) == sorted(whole)


@pytest.mark.usefixtures("played")
def test_videos_that_were_added_are_appended(terminal: Terminal, clips: Path) -> None:
    draw_clip(clips / "new.mp4", 77, seconds=2)
    more = terminal.simulate("--videos", clips, *SMALL)
    assert "1 video is new and was appended" in more.err
    assert "3 of 9 battles left" in more.err


@pytest.mark.usefixtures("played")
def test_a_resumed_run_needs_no_settings(terminal: Terminal) -> None:
    said = terminal.arena("resume", "arena-out")
    assert said.code == 0
    assert "0 of 6 battles left" in said.err


@pytest.mark.slow
def test_a_finished_run_needs_no_key_to_say_so(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    videos = draw_folder(tmp_path / "one", 1, seconds=2)
    monkeypatch.setenv("FAR_KEY", "sk-0123")
    with serving(tmp_path / "log") as server:
        table = {"base_url": server.openai_url, "key_env": "FAR_KEY"}
        names = ("hawk", "mole", "judge")
        tables = {name: {"model": f"openai:{name}", **table} for name in names}
        (tmp_path / "arena.toml").write_text(toml(tables))
        words = ("--models", "hawk,mole", "--examiner", "offline:examiner", "--judge", "judge")
        assert terminal.simulate("--videos", videos, *words, "--rounds", "1").code == 0
    monkeypatch.delenv("FAR_KEY")
    planned = terminal.simulate("--videos", videos, *words, "--out", "new", "--plan")
    assert planned.code == 0
    assert "could not start here yet: 'hawk' needs a key; set FAR_KEY" in planned.out
    said = terminal.arena("resume", "arena-out")
    assert said.code == 0, said.err
    assert "0 of 3 battles left" in said.err
    (more,) = draw_folder(tmp_path / "two", 1, seconds=3).iterdir()
    more.rename(videos / "more.mp4")
    assert "needs a key; set FAR_KEY" in terminal.arena("resume", "arena-out").err


def test_a_limit_takes_a_part_and_broken_files_and_copies_cost_only_themselves_and_are_named(
    terminal: Terminal, clips: Path
) -> None:
    (clips / "empty.mp4").touch()
    (clips / "no\x1b[2Jvideo.mp4").write_text("not a video")
    (clips / "copy.mp4").write_bytes((clips / "clip00.mp4").read_bytes())
    said = terminal.simulate("--videos", clips, *SMALL, "--limit", "1", "--json")
    assert said.code == 0
    assert json.loads(said.out)["slots"] == 3
    assert "skipped empty.mp4: is empty" in said.err
    assert "skipped no\\x1b[2Jvideo.mp4" in said.err
    assert "\x1b[2J" not in said.err
    assert "is the same video as" in said.err


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (("--videos", "nowhere"), 1, "nowhere"),
        (("--videos", "clips", "--models", "gpt-4o,offline:owl"), 1, "provider:model"),
        (("--videos", "clips", "--models", "offline:owl"), 1, "one model"),
        (("--videos", "clips", "--models", "offline:owl,offline:judge"), 1, "compete"),
        (("--videos", "clips", "--rounds", "0"), 2, "--rounds is 0"),
        (("--videos", "clips", "--prompts", "nowhere"), 1, "nowhere"),
        (("--videos", "clips", "--config", "nowhere.toml"), 1, "nowhere.toml"),
        (("--videos", "clips", "--out", "clips"), 1, "is not empty"),
        (("--videos", "clips/clip00.mp4"), 1, "is a file"),
        (("--videos", "empty"), 1, "no usable video"),
        (
            ("--videos", "clips", "--models", "openai:a,openai:b", "--examiner", "openai:c"),
            1,
            "OPENAI_API_KEY",
        ),
        (("--videos", "clips", "--swap", "half"), 2, "half"),
        (("--videos", "clips", "--colour", "red"), 2, "--colour"),
        ((), 2, "--videos"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    terminal: Terminal, clips: Path, words: tuple[str, ...], code: int, line: str
) -> None:
    empty = clips.parent / "empty"
    empty.mkdir()
    before = sorted(clips.parent.rglob("*"))
    said = terminal.simulate(*words)
    assert said.code == code
    assert line in said.err
    assert said.out == ""
    assert len(said.err.splitlines()) == 1 or code == 2
    assert sorted(clips.parent.rglob("*")) == before


@pytest.mark.parametrize(
    "other",
    [
        ("--seed", "4"),
        ("--swap", "0.5"),
        ("--models", "offline:owl,offline:mole"),
        ("--preset", "paper"),
    ],
)
@pytest.mark.usefixtures("played")
def test_the_out_of_another_run_is_refused_and_left_alone(
    terminal: Terminal, clips: Path, other: tuple[str, str]
) -> None:
    before = terminal.arena("battles", "arena-out", "--jsonl").out
    own = SMALL[:2] if other[0] == "--models" else SMALL
    said = terminal.simulate("--videos", clips, *own, *other)
    assert said.code == 1
    assert "holds another run" in said.err
    assert "Traceback" not in said.err
    assert terminal.arena("battles", "arena-out", "--jsonl").out == before


@pytest.mark.usefixtures("played")
def test_a_folder_that_lost_an_unplayed_video_is_refused(terminal: Terminal, clips: Path) -> None:
    (clips / "clip00.mp4").unlink()
    said = terminal.simulate("--videos", clips, "--rounds", "2", *SMALL[2:])
    assert said.code == 1
    assert "lacks 1 of this run's videos (clip00.mp4)" in said.err


def test_a_changed_prompt_is_told_and_the_run_keeps_its_own(
    terminal: Terminal, clips: Path, tmp_path: Path
) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "contestant.txt").write_text("Answer what follows.")
    given = (*SMALL[2:], "--limit", "1", "--prompts", prompts)
    terminal.simulate("--videos", clips, *given, "--rounds", "1")
    (prompts / "contestant.txt").write_text("Answer it well.")
    said = terminal.simulate("--videos", clips, *given, "--rounds", "2")
    assert "prompts changed on disk since this run began (contestant)" in said.err
    with Store.open(Path("arena-out") / RUN_FILE, write=False) as store:
        kept = store.file("prompts/contestant")
    assert kept is not None
    assert kept.text == "Answer what follows."
    assert terminal.arena("replay", "arena-out").code == 0


def test_a_manifest_holds_no_clock_and_no_path(ground: Path) -> None:
    with Store.open(ground / "arena-out" / RUN_FILE, write=False) as store:
        manifest = json.dumps(store.manifest())
    assert str(ground) not in manifest
    assert "time" not in manifest.replace("timeout_s", "")


def test_before_frames_leave_the_machine_it_is_said_where_they_go(
    terminal: Terminal, clips: Path
) -> None:
    (clips.parent / "arena.toml").write_text(
        "[models.far]\nmodel = 'openai:far'\nbase_url = 'http://127.0.0.1:9/v1'\ntimeout_s = 1\n"
    )
    said = terminal.simulate(
        *("--videos", clips, "--rounds", "1", "--config", "arena.toml", "--limit", "1"),
        *(
            "--models",
            "far,offline:mole",
            "--allow-offline-judge",
            "--examiner",
            "offline:examiner",
            "--quiet",
            "--patience",
            "0",
        ),
    )
    assert (
        "frames of 1 video (up to 64 per call) go to 127.0.0.1:9 for far: at most 3 calls"
        in said.err
    )
    assert "[1/3]" not in said.err
    assert "127.0.0.1:9 could not be reached for 0 s" in said.err
    assert said.code == 5


def test_quiet_leaves_out_battles_and_names_skipped_files(terminal: Terminal, clips: Path) -> None:
    (clips / "broken.mp4").write_bytes(b"no video at all")
    said = terminal.simulate("--videos", clips, *SMALL, "--limit", "1", "--quiet")
    (clips / "broken.mp4").unlink()
    assert "skipped broken.mp4" in said.err
    assert "] " not in said.err
    assert "done: " in said.err


@pytest.mark.usefixtures("played")
def test_a_run_that_is_continued_without_a_number_of_rounds_keeps_its_own(
    terminal: Terminal, clips: Path
) -> None:
    said = terminal.simulate("--videos", clips, *SMALL[2:])
    assert said.code == 0
    assert "1 round," in said.err
    assert "0 of 6 battles left" in said.err


def test_a_run_goes_on_at_the_address_a_server_has_moved_to(
    terminal: Terminal, clips: Path
) -> None:
    toml = Path("arena.toml")
    model = (
        "[models.far]\nmodel = 'openai:far'\ntimeout_s = 1\nbase_url = 'http://127.0.0.1:{}/v1'\n"
    )
    words = ("--videos", clips, "--limit", "1", "--models", "far,offline:mole", "--rounds", "1")
    allowed = (
        "--examiner",
        "offline:examiner",
        "--judge",
        "offline:judge",
        "--allow-offline-judge",
    )
    for port in (9, 10):
        toml.write_text(model.format(port))
        assert terminal.simulate(*words, *allowed, "--patience", "0").code == 5
    with Store.open(Path("arena-out") / RUN_FILE, write=False) as store:
        assert store.manifest()["cast"]["far"]["base_url"] == "http://127.0.0.1:10/v1"


@pytest.mark.usefixtures("played")
def test_the_videos_are_looked_for_where_they_lay_last(terminal: Terminal, clips: Path) -> None:
    terminal.simulate("--videos", clips, *SMALL)
    moved = clips.rename(clips.parent / "moved")
    terminal.simulate("--videos", moved, *SMALL)
    assert terminal.arena("resume", "arena-out").code == 0
