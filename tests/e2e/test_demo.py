"""The demo as it is shipped: real samples, three rounds, the offline cast, no key, no network."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from contextlib import chdir
from io import BytesIO
from pathlib import Path
from typing import Any

import av
import pytest
from PIL import Image
from rich.cells import cell_len

from docs import generate
from tests.support.clips import copy_but_one
from tests.support.pictures import Film, seen
from tests.support.typed import run
from videoautoarena.agents.offline.players.scoring import asked_right

ARENA = Path(sys.executable).with_name("arena")
DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, sample_clips: Path) -> tuple[Path, str]:
    place = tmp_path_factory.mktemp("demo")
    copy_but_one(sample_clips, place / "arena-samples")
    line = [ARENA, "demo", "--quiet"]
    done = subprocess.run(line, cwd=place, check=True, capture_output=True, text=True, timeout=400)
    return place, done.stdout


def arena(place: Path, *words: str) -> str:
    """Return what `arena` says in a folder, after the demo."""
    with chdir(place):
        return run("arena", *words)


@pytest.fixture(scope="module")
def board(demo: tuple[Path, str]) -> dict[str, Any]:
    board: dict[str, Any] = json.loads(arena(demo[0], "leaderboard", "arena-out/demo", "--json"))
    return board


def drawn(svg: str) -> list[str]:
    """Return the words of a picture of a terminal, in the order in which they stand."""
    texts = re.findall(r"<text [^>]*>([^<]*)</text>", svg)
    return " ".join(html.unescape(text) for text in texts).split()


def test_the_board_in_the_readme_is_the_one_that_the_demo_shows(demo: tuple[Path, str]) -> None:
    picture = generate.leaderboard(demo[0] / "arena-out/demo")
    kept = (DOCS / "leaderboard.svg").read_text(encoding="utf-8")
    assert drawn(kept) == drawn(picture), "the demo's board has changed; draw it: make pictures"


def test_parrot_is_last(board: dict[str, Any]) -> None:
    assert board["models"][-1]["model"] == "offline:parrot"


def test_no_model_is_separated_above_hawk(board: dict[str, Any]) -> None:
    hawk = next(row for row in board["models"] if row["model"] == "offline:hawk")
    assert hawk["rank_best"] == 1
    assert all(row["low"] <= hawk["high"] for row in board["models"])


def test_every_slot_is_decided_and_the_board_says_that_stand_ins_played(
    board: dict[str, Any],
) -> None:
    totals = board["settings"]["totals"]
    assert (totals["battles"], totals["voids"], totals["forfeits"]) == (108, 0, 0)
    assert board["settings"]["stand_ins"]


def test_it_says_where_the_run_lies_and_what_to_type_next(demo: tuple[Path, str]) -> None:
    place, said = demo
    assert (place / "arena-out/demo/run.sqlite").is_file()
    told = said[: said.index("\n$ ")]
    lines = [line.split() for line in told.splitlines() if "arena " in line and line[:2] == "  "]
    assert len(lines) == 6
    assert (place / "arena-out/demo/report.html").is_file()
    assert "Open arena-out/demo/report.html in a browser." in said
    for first, *words in lines:
        assert first == "arena" or (place / first).is_file()
        if words[0] in ("show", "battles", "leaderboard"):
            assert arena(place, *words[: words.index("arena-out/demo") + 1])


def test_it_ends_with_its_most_telling_battle_as_arena_show_opens_it_and_fits_80_columns(
    demo: tuple[Path, str],
) -> None:
    place, said = demo
    typed, shown = said[said.index("\n$ ") + 3 :].split("\n", 1)
    assert typed.endswith("arena show arena-out/demo")
    assert shown == arena(place, "show", "arena-out/demo")
    assert shown.startswith("why this battle: offline:hawk is first on the leaderboard and ")
    # A command to copy stays whole, however deep the folder of this installation lies.
    prose = [
        line for line in said.splitlines() if not re.search(" (arena-out/demo|--videos )", line)
    ]
    assert max(map(cell_len, prose)) <= 80


def test_the_verdict_of_that_battle_is_what_every_frame_of_its_video_says(
    demo: tuple[Path, str],
) -> None:
    place, _ = demo
    told = json.loads(arena(place, "show", "arena-out/demo", "--json"))
    battle = told["battle"]
    assert battle["verdict"] in ("a", "b")
    pictures = seen(every_frame(place / "arena-samples" / told["path"]))
    right = {
        seat: asked_right(battle[f"answer_{seat}"], battle["question"], pictures) for seat in "ab"
    }
    assert max(right, key=right.__getitem__) == battle["verdict"]
    assert right["a"] != pytest.approx(right["b"], abs=0.1)


def every_frame(clip: Path) -> Film:
    """Return all frames of a clip, small and with their times."""
    with av.open(str(clip)) as container:
        return tuple(
            (float(frame.time), jpeg_of(frame.to_image()))
            for frame in container.decode(video=0)
            if frame.time is not None
        )


def jpeg_of(image: Image.Image) -> bytes:
    file = BytesIO()
    image.save(file, "JPEG", quality=85)
    return file.getvalue()


def test_a_replay_of_it_comes_out_the_same(demo: tuple[Path, str]) -> None:
    assert "108 battles are identical, 0 differ" in arena(demo[0], "replay", "arena-out/demo")


def test_a_second_demo_finds_everything_done(demo: tuple[Path, str]) -> None:
    assert "The run is in arena-out/demo" in arena(demo[0], "demo", "--quiet")
