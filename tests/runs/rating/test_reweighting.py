"""Battles weighed as if every pair had been equally likely."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import battle, invoke, play, slot, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Battle, Slot
from videoautoarena.runs.rating.method import weigh_battles

FILM = video()


def drawn(*propensities: float | None) -> tuple[list[Battle], list[Slot]]:
    slots = [slot(FILM, k) for k in range(len(propensities))]
    played = [battle(s, propensity=p) for s, p in zip(slots, propensities, strict=True)]
    return played, slots


def test_a_pair_that_was_half_as_likely_counts_twice() -> None:
    weights = list(weigh_battles(*drawn(0.25, 0.5)).values())
    assert weights == pytest.approx([4 / 3, 2 / 3])


def test_uniform_pairs_weigh_one_in_every_generation() -> None:
    battles, slots = drawn(1 / 3, 1 / 3, 1 / 6)
    later = [*slots[:2], slots[2].model_copy(update={"generation": 1})]
    assert list(weigh_battles(battles, later).values()) == pytest.approx([1.0, 1.0, 1.0])


def test_a_dealt_pair_is_refused() -> None:
    with pytest.raises(BadInput, match="not drawn at random; leave out reweight=True"):
        weigh_battles(*drawn(0.5, None))


def test_a_void_needs_no_weight() -> None:
    battles, slots = drawn(0.5, None)
    lost = battles[1].model_copy(update={"verdict": "void"})
    assert set(weigh_battles([battles[0], lost], slots)) == {battles[0].id}


def board(run: Path, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke("leaderboard", run, "--json", *options).output)
    return found


def test_a_uniform_run_is_rated_as_without_and_another_one_is_not(tmp_path: Path) -> None:
    even = [("hawk", "owl", "a"), ("owl", "mole", "a"), ("mole", "hawk", "a"), ("hawk", "owl", "b")]
    for name, chances in (("even", [1 / 3] * 4), ("odd", [0.6, 0.1, 0.3, 0.6])):
        films = [video(b"1"), video(b"2"), video(b"3")]
        battles = [
            battle(slot(film, k), model_a=a, model_b=b, verdict=verdict, propensity=chance)
            for film in films
            for k, ((a, b, verdict), chance) in enumerate(zip(even, chances, strict=True))
        ]
        run = play(tmp_path / name, battles, videos=films)
        plain = board(run)
        weighed = board(run, "--reweight")
        same = [row["rating"] for row in plain["models"]] == pytest.approx(
            [row["rating"] for row in weighed["models"]], abs=1e-3
        )
        assert same == (name == "even")
        settings = weighed["settings"]["reweighted"]
        assert (settings["effective_battles"] == pytest.approx(12.0)) == (name == "even")
    shown = " ".join(invoke("leaderboard", run, "--reweight").output.split())
    assert "effective number of battles:" in shown
    assert board(run, "--reweight", "--intervals", "battle")["models"][0]["low"] is not None


def test_a_run_whose_pairs_were_dealt_says_so_in_one_line(tmp_path: Path) -> None:
    run = play(tmp_path / "out", drawn(None)[0])
    result = invoke("leaderboard", run, "--reweight")
    assert result.exit_code == 1
    assert "leave out --reweight" in str(result.exception)
