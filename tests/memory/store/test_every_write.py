"""A run goes on after a kill at any write, sync or truncation of its files, and after a power cut.

The script of `tests/support/killed_runs.py` needs no model and no graph: store and journal alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.faulty_disk import Disk, Op, recorded
from tests.support.killed_runs import (
    STORE_ALONE,
    Job,
    Program,
    counted,
    cut_power,
    kept,
    program,
    promised,
)

PAGES = 12
"""So small a log is put into the file a dozen times."""
FEW = {"append": 2, "restart": 1, "page": 2, "truncate": 1, "sync": 1, "delete": 1, "close": 1}
"""How many of each kind the fast suite is killed at."""
EVERY = 7
"""The slow suite is killed at one of so many operations; pages and appends come in runs."""
SIZES = range(110_000, 1_580_000, 98_000)


@pytest.fixture(scope="module")
def children() -> Iterator[Program]:
    with program(STORE_ALONE) as running:
        yield running


def script(out: Path, disk: Disk, *more: str) -> Job:
    says = f"{out}.says"
    return Job("script", [str(out / "run.sqlite"), *more], disk, checkpoint_pages=PAGES, says=says)


@pytest.fixture(scope="module")
def calm(children: Program, tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], list[str]]:
    """What the script leaves when nothing happens, and the kinds of what it does."""
    out, ops = (tmp_path_factory.mktemp("calm") / name for name in ("out", "ops"))
    assert children.run(script(out, Disk(record=str(ops)))) == 0
    return kept(out / "run.sqlite"), counted(recorded(ops))


def goes_on(children: Program, out: Path, disk: Disk, whole: set[str]) -> int:
    """Hold that a run loses nothing on a disk and goes on from it; return how it had ended."""
    ops = out.with_name(f"{out.name}.ops")
    code = children.run(script(out, replace(disk, record=str(ops))))
    if (out / "run.sqlite").exists():
        assert promised(ops) <= kept(out / "run.sqlite")
    else:
        assert not promised(ops)
    assert children.run(script(out, Disk())) == 0, Path(f"{out}.says").read_text()
    assert kept(out / "run.sqlite") == whole
    return code


def test_a_kill_at_some_of_each_kind_of_write_loses_nothing(
    children: Program, calm: tuple[set[str], list[str]], tmp_path: Path
) -> None:
    whole, kinds = calm
    assert set(kinds) == set(FEW)
    for kind, count in FEW.items():
        for which in range(1, count + 1):
            # Threads share commits as they come, so the very last one may not be reached.
            number = which * kinds.count(kind) // (count + 1) or 1
            disk = Disk(kill_at=number, of_kind=kind, is_torn=which % 2 == 0)
            assert goes_on(children, tmp_path / f"{kind}-{which}", disk, whole) == -9


@pytest.mark.slow
def test_a_kill_at_every_seventh_write_sync_or_truncation_loses_nothing(
    children: Program,
    calm: tuple[set[str], list[str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole, kinds = calm
    ended = []
    numbers = range(1, len(kinds) + 1, EVERY)
    for which, number in enumerate(numbers):
        out = tmp_path / str(number)
        disk = Disk(kill_at=number, is_torn=which % 2 == 0)
        ended.append(goes_on(children, out, disk, whole))
        # Threads share commits as they come: a run that was not killed had fewer operations.
        is_killed = ended[-1] == -9
        assert is_killed or len(counted(recorded(out.with_name(f"{out.name}.ops")))) < number
    assert set(ended) <= {-9, 0}
    with capsys.disabled():
        print(f"\n{ended.count(-9)} kills at {len(numbers)} operations, all gone on with")  # noqa: T201
    assert ended.count(-9) > 0.5 * len(numbers)


def test_a_full_disk_of_any_size_loses_nothing(
    children: Program, calm: tuple[set[str], list[str]], tmp_path: Path
) -> None:
    ended = [
        goes_on(children, tmp_path / str(size), Disk(room=size), calm[0]) for size in SIZES[::7]
    ]
    assert ended[0] != 0
    assert ended[-1] == 0


@pytest.mark.slow
def test_a_full_disk_of_fifteen_sizes_loses_nothing(
    children: Program, calm: tuple[set[str], list[str]], tmp_path: Path
) -> None:
    ended = [goes_on(children, tmp_path / str(size), Disk(room=size), calm[0]) for size in SIZES]
    assert len(ended) == 15
    assert 4 < ended.count(0) < 15


@pytest.fixture(scope="module")
def synced(children: Program, tmp_path_factory: pytest.TempPathFactory) -> list[Op]:
    """What the script does where every commit waits for the disk."""
    out, ops = (tmp_path_factory.mktemp("synced") / name for name in ("out", "ops"))
    assert children.run(script(out, Disk(record=str(ops)), "fsync")) == 0
    return recorded(ops)


@pytest.mark.parametrize("step", [41, pytest.param(9, marks=pytest.mark.slow)])
def test_with_fsync_a_power_cut_at_any_moment_loses_nothing(
    synced: list[Op], tmp_path: Path, step: int
) -> None:
    """What was not synced is gone, or in part; see `cut_power`."""
    for number in range(1, len(synced) + 1, step):
        for seed in (None, number):
            left = tmp_path / f"{number}-{seed}"
            left.mkdir()
            promises = cut_power(synced[:number], left, seed=seed)
            there = kept(left / "run.sqlite") if (left / "run.sqlite").exists() else set()
            assert promises <= there, f"operation {number}, seed {seed}"


def test_without_fsync_a_power_cut_loses_commits_and_no_run(
    children: Program, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    record = tmp_path / "ops"
    assert children.run(script(out, Disk(record=str(record)))) == 0
    ops = recorded(record)
    losses = 0
    for number in range(1, len(ops) + 1, 53):
        left = tmp_path / str(number)
        left.mkdir()
        promises = cut_power(ops[:number], left, seed=None)
        there = kept(left / "run.sqlite") if (left / "run.sqlite").exists() else set()
        losses += not promises <= there
    # Or this would not be able to find what `--fsync` is for.
    assert losses


@pytest.fixture
def stopped_in_a_checkpoint(
    children: Program, calm: tuple[set[str], list[str]], tmp_path: Path
) -> Path:
    """A run that was killed between two pages which went from its log into its file."""
    out = tmp_path / "stopped"
    page = calm[1].count("page") * 2 // 3
    assert children.run(script(out, Disk(kill_at=page, of_kind="page"))) == -9
    assert (out / "run.sqlite-wal").stat().st_size
    (out / "run.sqlite-shm").unlink()
    return out


def test_where_nothing_can_be_written_a_run_with_a_log_is_read_from_a_copy(
    children: Program, stopped_in_a_checkpoint: Path
) -> None:
    out = stopped_in_a_checkpoint
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    left = set(Path(tempfile.gettempdir()).iterdir())
    disk = Disk(unwritable=str(out))
    says = out.with_name("said")
    job = Job("read", [str(out / "run.sqlite")], disk, says=str(says))
    assert children.run(job) == 0, says.read_text()
    assert set(Path(tempfile.gettempdir()).iterdir()) == left
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before
    read = int(says.read_text())
    assert read == sum(len(key) == 64 for key in kept(out / "run.sqlite"))


def test_where_nothing_can_be_written_a_run_with_an_empty_log_is_read_as_it_is(
    children: Program, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    says = tmp_path / "said"
    assert children.run(script(out, Disk())) == 0
    (out / "run.sqlite-wal").touch()
    job = Job("read", [str(out / "run.sqlite")], Disk(unwritable=str(out)), says=str(says))
    assert children.run(job) == 0, says.read_text()
    assert int(says.read_text()) == 24
