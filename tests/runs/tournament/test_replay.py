"""A replay finds whatever was changed, names it, and changes nothing itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.small_runs import alter, play, play_again
from tests.support.typed import Terminal
from tests.support.whole_runs import folder_bytes

FIRST_OF = "place = (SELECT min(place) FROM calls WHERE role = :role)"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("played")
    play(draw_folder(place / "videos", 1, seconds=3), place / "out")
    shutil.rmtree(place / "videos")
    return place / "out"


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    return shutil.copytree(played, tmp_path / "out")


def test_an_untouched_run_comes_out_the_same_without_its_videos(run: Path) -> None:
    found = play_again(run)
    assert (found.battles, found.others, found.differences) == (6, 0, [])


@pytest.mark.parametrize(
    ("sql", "values", "told"),
    [
        (
            "UPDATE battles SET body = json_set(body, '$.round', 7) WHERE id LIKE '%-p1-r0'",
            {},
            "-p1-r0: round differ",
        ),
        ("UPDATE battles SET body = '{}' WHERE id LIKE '%-p1-r0'", {}, "Battle that cannot be rea"),
        ("UPDATE battles SET body = 'x' WHERE id LIKE '%-p1-r0'", {}, "-p1-r0: the run holds a ro"),
        (
            f"UPDATE calls SET body = json_set(body, '$.reply', 'hm') WHERE {FIRST_OF}",
            {"role": "contestant"},
            "no call of judge in",
        ),
        (f"UPDATE calls SET body = '{{}}' WHERE {FIRST_OF}", {"role": "judge"}, "CallRow that can"),
        (f"DELETE FROM calls WHERE {FIRST_OF}", {"role": "judge"}, "no call of judge in"),
        (f"DELETE FROM calls WHERE {FIRST_OF}", {"role": "examiner"}, "no call of examiner in"),
        (
            "UPDATE draws SET body = json_set(body, '$.model_a', 'offline:owl')",
            {},
            "holds the draw offline:owl against",
        ),
        ("DELETE FROM draws WHERE slot LIKE '%-p1-r0'", {}, "the run holds no draw for slot"),
        ("DELETE FROM frames", {}, "differ"),
        ("DELETE FROM slots WHERE id LIKE '%-p1-r0'", {}, "-p1-r0: was not reached"),
        ("DELETE FROM videos", {}, "but no such video"),
        ("DELETE FROM files WHERE name = 'prompts/judge'", {}, "judge.txt is missing"),
        ("UPDATE manifest SET body = json_set(body, '$.rounds', 'x')", {}, "settings cannot be"),
        ("UPDATE manifest SET body = json_set(body, '$.examiner', 'z')", {}, "settings name 'z'"),
    ],
)
def test_what_was_changed_is_named_and_nothing_is_written(
    terminal: Terminal, run: Path, sql: str, values: dict[str, str], told: str
) -> None:
    alter(run, sql, **values)
    before = folder_bytes(run)
    said = terminal.arena("replay", run)
    assert said.code == 1
    assert told in said.out + said.err
    assert "Traceback" not in said.err
    assert folder_bytes(run) == before


def test_what_is_wrong_with_one_lineage_ends_no_other(run: Path) -> None:
    alter(run, "DELETE FROM draws WHERE slot LIKE '%-p2-r0'")
    found = play_again(run)
    assert (found.battles, found.others) == (4, 2)
    assert all("-p2" in line for line in found.differences)


def test_of_an_unfinished_run_only_what_is_settled_is_compared(run: Path) -> None:
    alter(run, "DELETE FROM battles WHERE id LIKE '%-r1'")
    alter(run, "DELETE FROM calls WHERE scope LIKE '%-r1'")
    found = play_again(run)
    assert (found.battles, found.differences) == (3, [])


def test_a_run_killed_before_its_first_battle_is_an_empty_replay(run: Path) -> None:
    for table in ("battles", "draws", "calls", "frames"):
        alter(run, f"DELETE FROM {table}")
    assert play_again(run).battles == 0


def test_a_replay_needs_no_key(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FAR_KEY", raising=False)
    alter(
        run,
        "UPDATE manifest SET body = json_set(body, '$.cast.\"offline:hawk\".key_env', 'FAR_KEY')",
    )
    assert play_again(run).battles == 6
