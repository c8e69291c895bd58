"""A whole `simulate` that is killed at a single write, meets a full disk or loses power goes on.

The undisturbed run, the killed one and the one that goes on from it are the command itself, with
stand-ins, on a disk that fails on command (`tests/support/faulty_disk.py`). Where the machine has
them, strace kills at real system calls and a tmpfs is really full: each test says what it ran.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.faulty_disk import Disk, Op, recorded
from tests.support.forks import ended
from tests.support.killed_runs import Ground, Program, cut_power, program, promised
from tests.support.whole_runs import battles, command, environment
from videoautoarena.memory.records.digests import unit_interval
from videoautoarena.memory.store.store import Store

pytestmark = pytest.mark.slow

KINDS = ("append", "restart", "page", "truncate", "close")
ANYWHERE = 8
SIZES = (1, 6, 11, 16, 21, 26)
"""Thirtieths of what the run takes; all thirty, as all writes, in `make bench-kills`."""


@pytest.fixture(scope="module")
def children() -> Iterator[Program]:
    with program() as running:
        yield running


@pytest.fixture(scope="module")
def ground(children: Program, tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground.prepared(children, tmp_path_factory.mktemp("ground"))


def say(capsys: pytest.CaptureFixture[str], words: str) -> None:
    with capsys.disabled():
        print(f"\n{words}")  # noqa: T201


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_killed_at_one_write_of_each_kind_goes_on(
    ground: Ground, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    count = ground.kinds.count(kind)
    disk = Disk(kill_at=(count + 1) // 2, of_kind=kind)
    assert ground.goes_on(disk, kind) == -signal.SIGKILL
    say(capsys, f"killed in process at {kind} {disk.kill_at} of {count}")


@pytest.mark.parametrize("which", range(ANYWHERE))
def test_a_run_killed_at_any_write_goes_on(ground: Ground, which: int) -> None:
    # Calls share commits as they come, so no two runs come to the same number of writes.
    number = 1 + int(unit_interval(0, "kill", which) * 0.7 * len(ground.kinds))
    disk = Disk(kill_at=number, is_torn=which % 2 == 0)
    assert ground.goes_on(disk, f"any-{which}") in (-signal.SIGKILL, 0)


def test_a_run_on_six_sizes_of_full_disk_goes_on(
    ground: Ground, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = ground.most_bytes
    ended = [ground.goes_on(Disk(room=whole * size // 30), f"room-{size}") for size in SIZES]
    assert set(ended) <= {0, 1}, "a full disk is told in one line and ends with 1"
    assert ended.count(1) >= 4
    say(capsys, f"full at six sizes up to {whole / 1e6:.1f} MB: {ended.count(1)} stopped")


@pytest.fixture(scope="module")
def synced(ground: Ground) -> list[Op]:
    """What a run does that waits for the disk with every commit."""
    record = ground.folder / "synced.ops"
    assert ground.simulate(ground.folder / "synced", Disk(record=str(record)), "--fsync") == 0
    return recorded(record)


@pytest.mark.parametrize("part", [1, 4, 7])
def test_with_fsync_a_run_goes_on_from_what_was_synced(
    ground: Ground, synced: list[Op], tmp_path: Path, part: int
) -> None:
    left = tmp_path / "left"
    again = tmp_path / "again"
    left.mkdir()
    promises = cut_power(synced[: part * len(synced) // 8 - 3], left, seed=part)
    ground.goes_on_from(left, again, "--fsync")
    # What was promised is on the disk: nothing of it is asked, drawn or settled again.
    assert not promises & promised(again)


@contextmanager
def mounted(folder: Path, size_kb: int) -> Iterator[Path]:
    """Give a disk of so many KB; skips aloud where none can be made."""
    folder.mkdir()
    line = ["mount", "-t", "tmpfs", "-o", f"size={size_kb}k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(line, capture_output=True).returncode:
        pytest.skip(
            "no tmpfs can be mounted here; a full disk in one process is tested all the same"
        )
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_run_on_a_disk_that_is_really_full_goes_on_when_it_grows(
    ground: Ground, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with mounted(tmp_path / "disk", 800) as disk:
        line = command("simulate", *ground.arguments(disk / "out"))
        full = ended(line, env=environment())
        assert full.returncode == 1, full.stderr[-2000:]
        assert "disk is full" in full.stderr.splitlines()[-1]
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        again = ended(line, env=environment())
        assert again.returncode == 0, again.stderr[-2000:]
        assert battles(disk / "out") == ground.battles
        say(capsys, "full on a tmpfs of 800 KB: gone on with")


def test_a_run_on_media_that_cannot_be_written_is_read_with_its_log(
    ground: Ground, tmp_path: Path
) -> None:
    out = ground.folder / "stopped"
    twin = tmp_path / "twin"
    number = ground.kinds.count("page") * 2 // 3
    assert ground.simulate(out, Disk(kill_at=number, of_kind="page")) == -signal.SIGKILL
    shutil.copytree(out, twin)
    with Store.open(twin / "run.sqlite", write=True) as store:
        settled = len(store.settled_ids())
    with mounted(tmp_path / "disk", 64_000) as disk:
        for file in ("run.sqlite", "run.sqlite-wal"):
            shutil.copy(out / file, disk / file)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        status = command("arena", "status", disk)
        done = ended(status, env=environment())
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"{settled} of 6 slots settled")
        assert sorted(file.name for file in disk.iterdir()) == ["run.sqlite", "run.sqlite-wal"]
        resume = command("arena", "resume", disk)
        refused = ended(resume, env=environment())
        assert (refused.returncode, refused.stderr.count("\n")) == (1, 1), refused.stderr


def has_strace() -> bool:
    """Return whether strace is there and may trace."""
    if shutil.which("strace") is None:
        return False
    return (
        subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode == 0
    )


def test_a_run_killed_by_strace_inside_a_checkpoint_goes_on(
    ground: Ground, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not has_strace():
        pytest.skip("no strace that may trace; kills within one process are tested all the same")
    out = tmp_path / "out"
    line = command("simulate", *ground.arguments(out))
    traced = ["strace", "-f", "-o", "/dev/null", "-e", "trace=pwrite64", "-P", f"{out}/run.sqlite"]
    inject = ["-e", "inject=pwrite64:signal=SIGKILL:when=12"]
    killed = subprocess.run([*traced, *inject, *line], env=environment(), capture_output=True)
    assert killed.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL), killed.stderr[-2000:]
    again = ended(line, env=environment())
    assert again.returncode == 0, again.stderr
    assert battles(out) == ground.battles
    say(capsys, "killed by strace at its write 12 to run.sqlite: gone on with")
