"""Runs whose users and facts were brought become one: who asks in what, and what is known, stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import videoautoarena as va
from tests.support.clips import draw_clip
from tests.support.played import invoke
from tests.support.small_runs import battles_of, play, play_again
from videoautoarena.runs.analysis.leaderboard.board import slices_of

USERS = [
    {"text": "A nurse on the night shift.", "index": 1, "language": "ar"},
    {"text": "A tram driver who is bound.", "index": 2, "video": "clip.mp4"},
]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs over a clip of the same name each, and what they were merged to."""
    root = tmp_path_factory.mktemp("known")
    for number, name in enumerate(("one", "two")):
        (root / name).mkdir()
        draw_clip(root / name / "clip.mp4", number, seconds=2)
        (root / name / "videos.csv").write_text(f"path,site,of {name}\nclip.mp4,{name},yes\n")
        file = root / f"{name}.jsonl"
        file.write_text("".join(json.dumps(user) + "\n" for user in USERS))
        out = root / f"run-{name}"
        play(root / name, out, rounds=1, languages=("en", "de"), personas=file)
    done = invoke("merge", root / "run-one", root / "run-two", "--to", root / "to", "--quiet")
    assert done.exit_code == 0, done.output
    return root


def test_what_a_user_brings_wins_over_the_language_that_is_drawn(ground: Path) -> None:
    for name in ("one", "two"):
        spoken = {b.persona: b.language for b in battles_of(ground / f"run-{name}")}
        assert spoken[1] == "ar"
        assert {spoken[2], spoken[3]} <= {"en", "de"}


def test_a_merged_run_replays_with_the_users_and_the_facts_of_each(ground: Path) -> None:
    again = play_again(ground / "to")
    assert (again.battles, again.others, again.differences) == (6, 0, [])


def test_users_are_told_with_what_they_ask_in_brought_drawn_or_invented(ground: Path) -> None:
    spoken = {(b.video, b.persona): b.language for b in battles_of(ground / "to")}
    users = {(user.video, user.persona): user for user in va.open_run(ground / "to").users()}
    assert {place: user.language for place, user in users.items()} == spoken
    assert [user.line for user in users.values()] == [1, 2, None] * 2


def test_what_is_said_of_the_videos_of_each_is_known_of_all(ground: Path) -> None:
    assert {part.name for part in slices_of(ground / "to", "site").parts} == {"one", "two"}
    assert {part.name for part in slices_of(ground / "to", "of two").parts} == {"yes", "unknown"}
