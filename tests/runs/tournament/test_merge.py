"""Runs over different videos become one: the same battles, pairs and words, and nothing twice."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.clips import draw_folder
from tests.support.faulty_disk import Disk, recorded
from tests.support.killed_runs import Job, program
from tests.support.played import invoke
from tests.support.small_runs import (
    TRIO,
    alter,
    altered,
    battles_of,
    play,
    play_again,
    put_back,
)
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.store.connection import RunLock, lock_of
from videoautoarena.memory.store.evidence import BattleVote, Label
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.run.config.stopping_rule import keep_rule
from videoautoarena.runs.run.inputs.users import users_of
from videoautoarena.runs.run.rundir.reader import RUN_FILE, open_run, warnings_of
from videoautoarena.runs.tournament import merge
from videoautoarena.runs.tournament.merge import runs_in

NEW = "offline:trickster"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a clip each by `mix`, and two by `uniform`, of which the first is there twice.

    Those by `mix` have languages, and each its own users, facts and categories.
    """
    root = tmp_path_factory.mktemp("merged")
    draw_folder(root / "all", 2)
    for part, clip in zip(("one", "two"), sorted((root / "all").iterdir()), strict=True):
        (root / part).mkdir()
        shutil.copy(clip, root / part)
        csv = f"path,title,category,of {part}\n{clip.name},Film {part},{part}s,yes\n"
        (root / part / "videos.csv").write_text(csv)
        users = root / f"{part}.jsonl"
        users.write_text(json.dumps({"text": f"A user of {part}."}) + "\n")
        brought = {"personas": users, "languages": ("en", "de"), "rounds": 3}
        play(root / part, root / f"mix-{part}", **brought)
        play(root / part, root / f"uniform-{part}", pairing="uniform", rounds=1, facts="none")
    shutil.copytree(root / "uniform-one", root / "uniform-again")
    return root


def merged(ground: Path, to: Path, pairing: str = "mix") -> Path:
    done = invoke(
        "merge", ground / f"{pairing}-one", ground / f"{pairing}-two", "--to", to, "-q", "--json"
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["battles"] == len(battles_of(to))
    assert (told["runs"], told["videos"], told["unplayed"]) == (2, 2, 0)
    return to


def bytes_of(out: Path) -> dict[str, bytes | None]:
    with Store.open(out / RUN_FILE, write=False) as store:
        return {id_: store.battle_bytes(id_) for id_ in store.settled_ids()}


@pytest.mark.slow
def test_battles_are_those_of_a_run_over_all_videos(ground: Path, tmp_path: Path) -> None:
    out = merged(ground, tmp_path / "to", "uniform")
    whole = tmp_path / "whole"
    play(ground / "all", whole, pairing="uniform", rounds=1)
    assert bytes_of(out) == bytes_of(whole)
    told = [
        json.loads(invoke("leaderboard", run, "--json").stdout)["models"] for run in (out, whole)
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize("wrong", [None, errno.EINVAL])
def test_folders_that_are_made_for_a_merged_run_are_on_the_disk_where_it_syncs_any(
    ground: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: int | None
) -> None:
    synced: set[int] = set()
    sync = os.fsync

    def fsync(file: int) -> None:
        synced.add(os.fstat(file).st_ino)
        if wrong is not None and Path(f"/dev/fd/{file}").is_dir():
            raise OSError(wrong, os.strerror(wrong))
        sync(file)

    monkeypatch.setattr(os, "fsync", fsync)
    out = merged(ground, tmp_path / "new" / "to")
    assert {folder.stat().st_ino for folder in (tmp_path, out.parent, out)} <= synced


def test_what_mix_drew_in_each_run_is_drawn_again_in_a_replay(ground: Path, tmp_path: Path) -> None:
    out = merged(ground, tmp_path / "to")
    assert bytes_of(out) == bytes_of(ground / "mix-one") | bytes_of(ground / "mix-two")
    again = play_again(out)
    assert (again.battles, again.others, again.differences) == (18, 0, [])
    alter(out, "UPDATE draws SET body = replace(body, '\"propensity\":', '\"propensity\":0')")
    assert play_again(out).differences


def test_each_part_of_a_merged_run_is_the_run_that_it_was(ground: Path, tmp_path: Path) -> None:
    with open_run(merged(ground, tmp_path / "to")) as run:
        parts = [list(part) for part in runs_in(run.slots, run.manifest)]
    for name, part in zip(("one", "two"), parts, strict=True):
        with open_run(ground / f"mix-{name}") as run:
            assert part == list(run.slots)


def test_users_and_facts_of_all_runs_are_known(ground: Path, tmp_path: Path) -> None:
    out = merged(ground, tmp_path / "to")
    with open_run(out) as run:
        facts = run.known_facts
        users = users_of(run.store, looks=False)
        assert facts.columns == ("title", "category", "of one", "of two")
        assert facts.categories == ("ones", "twos", "other")
        assert sorted(one.title or "" for one in run.facts().values()) == ["Film one", "Film two"]
        assert {battle.language for battle in run.battles} == {"en", "de"}
    assert (users.file, users.in_file, users.not_drawn) == ("one.jsonl, two.jsonl", 2, 0)
    assert (users.brought, users.invented) == (2, 4)


def test_what_was_said_of_battles_comes_along(ground: Path, tmp_path: Path) -> None:
    parts = [shutil.copytree(ground / f"mix-{n}", tmp_path / n) for n in ("one", "two")]
    for part in parts:
        tagged = invoke("categories", "tag", part, "--classifier", "offline:examiner", "-q")
        assert tagged.exit_code == 0, tagged.output
        battle = battles_of(part)[0].id
        with Store.open(part / RUN_FILE, write=True) as store:
            store.evidence.add_labels([Label(battle=battle, labeller="anna", verdict="a")])
            vote = BattleVote(battle=battle, labeller="ben", verdict="b", first="a")
            run_async(store.evidence.votes.put(vote))
    to = tmp_path / "to"
    assert invoke("merge", *parts, "--to", to, "-q").exit_code == 0
    with open_run(to) as run:
        tagged_ones = {tag.id for tag in run.store.evidence.tags()}
        said = [(label.labeller, label.verdict) for label in run.store.evidence.labels()]
    assert sorted(said) == [("anna", "a")] * 2 + [("ben", "b")] * 2
    for part in parts:
        with open_run(part) as run:
            mine = {tag.id for tag in run.store.evidence.tags()}
            assert mine
            assert mine <= tagged_ones


@pytest.mark.parametrize(
    "number", [3, *(pytest.param(number, marks=pytest.mark.slow) for number in (4, 6))]
)
def test_a_run_of_an_older_layout_is_merged_and_left_as_it_is(
    ground: Path, tmp_path: Path, number: int
) -> None:
    older = shutil.copytree(ground / "mix-one", tmp_path / "older")
    with altered(older) as file:
        put_back(file, number)
    before = (older / RUN_FILE).read_bytes()
    to = tmp_path / "to"
    assert invoke("merge", older, ground / "mix-two", "--to", to, "-q").exit_code == 0
    assert bytes_of(to) == bytes_of(older) | bytes_of(ground / "mix-two")
    assert (older / RUN_FILE).read_bytes() == before


def test_nobody_else_writes_meanwhile(ground: Path, tmp_path: Path) -> None:
    line = ("merge", ground / "mix-one", ground / "mix-two", "--to", tmp_path / "to", "-q")
    (tmp_path / "to").mkdir()
    for busy in (ground / "mix-two", tmp_path / "to"):
        lock = RunLock(lock_of(busy / RUN_FILE))
        done = invoke(*line)
        lock.release()
        assert done.exit_code == 1
        assert "wait for it to end, or stop it" in str(done.exception)
        assert not (tmp_path / "to" / RUN_FILE).exists()
    assert invoke(*line).exit_code == 0


def test_a_part_that_a_rule_ended_is_said_and_never_called_unfinished(
    ground: Path, tmp_path: Path
) -> None:
    ended = shutil.copytree(ground / "mix-one", tmp_path / "ended")
    alter(ended, "DELETE FROM battles WHERE id LIKE '%-r2'")
    with Store.open(ended / RUN_FILE, write=True) as store:
        keep_rule(store, "battles=2")
    to = tmp_path / "to"
    done = invoke("merge", ended, ground / "mix-two", "--to", to, "-q")
    assert "3 slots never played" in done.output
    with open_run(to) as run:
        said = " ".join(warnings_of(run))
    assert "--until battles=2 ended 1 of the 2 merged runs early" in said
    assert "3 of 18 slots were never played in the runs that were merged" in said
    told = json.loads(invoke("status", to, "--json").stdout)
    assert told["next"].startswith("arena leaderboard")
    assert "merged from 2 runs" in invoke("status", to).output


def test_two_videos_of_one_name_are_said(ground: Path, tmp_path: Path) -> None:
    other = shutil.copytree(ground / "mix-two", tmp_path / "other")
    name = next(path.name for path in (ground / "one").iterdir() if path.suffix == ".mp4")
    alter(other, "UPDATE videos SET body = json_set(body, '$.path', :name)", name=name)
    done = invoke("merge", ground / "mix-one", other, "--to", tmp_path / "to", "-q")
    assert "1 path stands for several videos" in done.output


@pytest.mark.parametrize("place", ["file", "file/below", "dangling", "/proc/none"])
def test_a_folder_that_cannot_be_is_refused_in_one_line(
    ground: Path, tmp_path: Path, place: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    done = invoke("merge", ground / "mix-one", ground / "mix-two", "--to", tmp_path / place, "-q")
    assert isinstance(done.exception, BadInput | OSError)
    assert "\n" not in str(done.exception)


@pytest.mark.slow
def test_killed_or_without_room_at_any_write_nothing_half_is_left(
    ground: Path, tmp_path: Path
) -> None:
    to = tmp_path / "to"
    record = tmp_path / "ops"
    line = ["merge", str(ground / "mix-one"), str(ground / "mix-two"), "--to", str(to), "-q"]
    with program("videoautoarena.runs.cli.playing.resume") as running:
        assert running.run(Job("arena", line, Disk(record=str(record)))) == 0
        whole = bytes_of(to)
        size = (to / RUN_FILE).stat().st_size
        writes = len(recorded(record))
        fates = list[int]()
        for disk in (
            *(Disk(kill_at=writes * part // 4) for part in range(1, 4)),
            *(Disk(room=size * part // 2) for part in range(2)),
        ):
            shutil.rmtree(to)
            fates.append(running.run(Job("arena", line, disk)))
            if disk.room is not None:
                assert not to.exists()
            elif fates[-1]:
                assert not (to / RUN_FILE).exists()
                assert running.run(Job("arena", line)) == 0
            if to.exists():
                assert bytes_of(to) == whole
                assert sorted(path.name for path in to.iterdir()) == [RUN_FILE, f"{RUN_FILE}.lock"]
            to.mkdir(exist_ok=True)
    assert fates.count(-9) >= 2
    assert fates[-2:] == [1] * 2


@pytest.mark.slow
def test_a_model_is_added_to_a_merged_run_and_meets_answers_of_all(
    ground: Path, tmp_path: Path
) -> None:
    out = merged(ground, tmp_path / "to")
    words = ("--model", NEW, "--battles", "6", "--videos", ground / "all", "--quiet")
    assert invoke("add", out, *words).exit_code == 0
    met = [battle for battle in battles_of(out) if NEW in (battle.model_a, battle.model_b)]
    assert len({battle.video for battle in met}) == 2
    assert play_again(out).differences == []


def test_a_merged_run_is_rated_and_read_but_not_played_on(ground: Path, tmp_path: Path) -> None:
    out = merged(ground, tmp_path / "to")
    for words in (("status", out), ("audit", out), ("battles", out)):
        assert invoke(*words).exit_code == 0, words
    for words in (("resume", out), ("simulate",)):
        done = (
            invoke(*words, "--videos", ground / "all")
            if words[0] == "resume"
            else invoke(
                *words, "--videos", ground / "all", "--out", out, "--rounds", "3",
                "--models", ",".join(TRIO),
            )
        )  # fmt: skip
        assert done.exit_code == 1
        assert "was merged from other runs; play those on" in str(done.exception)
    again = invoke("merge", out, ground / "uniform-one", "--to", tmp_path / "more")
    assert again.exit_code == 1


@pytest.mark.parametrize(
    ("folders", "said"),
    [
        (("mix-one",), "one run alone"),
        (("mix-one", "mix-one"), "is named twice"),
        (("mix-one", "uniform-two"), "is another run ("),
        (("uniform-one", "uniform-again"), "play each video in one run"),
        (("mix-one", "nothing"), "no folder"),
        (("mix-one", "all"), "holds no run"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(
    ground: Path, tmp_path: Path, folders: tuple[str, ...], said: str
) -> None:
    done = invoke("merge", *(ground / name for name in folders), "--to", tmp_path / "to")
    assert done.exit_code == 1
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)
    assert not (tmp_path / "to" / RUN_FILE).exists()


@pytest.mark.parametrize("name", ["rounds", "contracts", "reading"])
def test_a_run_that_was_played_otherwise_is_refused(
    ground: Path, tmp_path: Path, name: str
) -> None:
    other = shutil.copytree(ground / "mix-two", tmp_path / "other")
    alter(other, "UPDATE manifest SET body = json_set(body, '$.' || :name, 1)", name=name)
    done = invoke("merge", ground / "mix-one", other, "--to", tmp_path / "to")
    assert done.exit_code == 1
    assert f"is another run ({name} 1" in str(done.exception)


def test_a_disk_without_room_is_said_and_no_folder_is_left(
    ground: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=5))
    to = tmp_path / "old" / "new" / "to"
    (tmp_path / "old").mkdir()
    done = invoke("merge", ground / "mix-one", ground / "mix-two", "--to", to)
    assert "has 5 bytes free" in str(done.exception)
    assert list((tmp_path / "old").iterdir()) == []


def test_folders_that_do_not_reach_the_disk_are_removed_and_what_others_put_there_is_not(
    ground: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = tmp_path / "old" / "new" / "to"
    (tmp_path / "old").mkdir()

    def sync(folder: Path) -> None:
        if folder == tmp_path / "old":
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(merge, "sync_folder", sync)
    done = invoke("merge", ground / "mix-one", ground / "mix-two", "--to", to)
    assert "cannot be made" in str(done.exception)
    assert list((tmp_path / "old").iterdir()) == []

    def others(folder: Path) -> None:
        (to.parent / "theirs").touch()
        sync(folder)

    monkeypatch.setattr(merge, "sync_folder", others)
    invoke("merge", ground / "mix-one", ground / "mix-two", "--to", to)
    assert [path.name for path in to.parent.iterdir()] == ["theirs"]


def test_a_run_that_a_model_was_added_to_is_refused(ground: Path, tmp_path: Path) -> None:
    grown = shutil.copytree(ground / "mix-one", tmp_path / "grown")
    words = ("--model", NEW, "--battles", "2", "--videos", ground / "one", "--quiet")
    assert invoke("add", grown, *words).exit_code == 0
    done = invoke("merge", grown, ground / "mix-two", "--to", tmp_path / "to")
    assert done.exit_code == 1
    assert "merge runs as they were played, then arena add it" in str(done.exception)


def test_nothing_is_written_over_a_run(ground: Path, tmp_path: Path) -> None:
    out = merged(ground, tmp_path / "to")
    before = (out / RUN_FILE).read_bytes()
    done = invoke("merge", ground / "uniform-one", ground / "uniform-two", "--to", out)
    assert done.exit_code == 1
    assert "holds a run already" in str(done.exception)
    assert (out / RUN_FILE).read_bytes() == before
