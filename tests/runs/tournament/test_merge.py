"""Runs over different videos become one: the same battles, pairs and words, and nothing twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.played import invoke
from tests.support.small_runs import TRIO, alter, battles_of, play, play_again
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.rundir.reader import RUN_FILE

NEW = "offline:trickster"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a clip each by `mix`, and one of both by `uniform` with its halves."""
    root = tmp_path_factory.mktemp("merged")
    draw_folder(root / "all", 2)
    for part, clip in zip(("one", "two"), sorted((root / "all").iterdir()), strict=True):
        (root / part).mkdir()
        shutil.copy(clip, root / part)
        play(root / part, root / f"mix-{part}", rounds=3)
        play(root / part, root / f"uniform-{part}", pairing="uniform")
    play(root / "all", root / "uniform-all", pairing="uniform")
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


def test_battles_are_those_of_a_run_over_all_videos(ground: Path, tmp_path: Path) -> None:
    out = merged(ground, tmp_path / "to", "uniform")
    assert bytes_of(out) == bytes_of(ground / "uniform-all")
    told = [
        json.loads(invoke("leaderboard", run, "--json").stdout)["models"]
        for run in (out, ground / "uniform-all")
    ]
    assert told[0] == told[1]


def test_what_mix_drew_in_each_run_is_drawn_again_in_a_replay(ground: Path, tmp_path: Path) -> None:
    out = merged(ground, tmp_path / "to")
    assert bytes_of(out) == bytes_of(ground / "mix-one") | bytes_of(ground / "mix-two")
    again = play_again(out)
    assert (again.battles, again.others, again.differences) == (18, 0, [])
    alter(out, "UPDATE draws SET body = replace(body, '\"propensity\":', '\"propensity\":0')")
    assert play_again(out).differences


def test_a_model_is_added_to_a_merged_run_and_meets_answers_of_all(
    ground: Path, tmp_path: Path
) -> None:
    out = merged(ground, tmp_path / "to")
    words = ("--model", NEW, "--battles", "12", "--videos", ground / "all", "--quiet")
    assert invoke("add", out, *words).exit_code == 0
    met = [battle for battle in battles_of(out) if NEW in (battle.model_a, battle.model_b)]
    assert len({battle.video for battle in met}) == 2
    assert play_again(out).differences == []


def test_a_merged_run_is_rated_and_read_but_not_played_on(ground: Path, tmp_path: Path) -> None:
    out = merged(ground, tmp_path / "to")
    for words in (("status", out), ("audit", out), ("battles", out), ("compact", out)):
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
        (("uniform-one", "uniform-all"), "play each video in one run"),
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
