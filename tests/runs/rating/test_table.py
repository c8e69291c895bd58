"""The table of a run: its numbers, its JSON shape, and how it looks on a terminal."""

from __future__ import annotations

import io
import json
import math
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from rich.console import Console

from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.method import RatingMethod
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.views.results.forms import ReportView
from videoautoarena.runs.views.results.leaderboard import leaderboard_report

CAST = ["hawk", "owl", "mole"]


def battle(video: int, verdict: str, a: str = "hawk", b: str = "owl") -> Battle:
    """A battle of which only pair, video and verdict matter."""
    void = verdict == "void"
    return Battle.model_validate(
        {
            "id": f"{video:012d}-p1-r0",
            "video": f"{video:012d}",
            "duration_s": 8.0,
            "category": "other",
            "persona": 1,
            "persona_text": "A person",
            "round": 0,
            "origin": "first",
            "question": "What moves?",
            "aimed_at": None,
            "difficulty": None,
            "model_a": None if void else a,
            "model_b": None if void else b,
            "answer_a": "x",
            "answer_b": "y",
            "frames_a": (),
            "frames_b": (),
            "verdict": verdict,
            "reason": None,
            "verdicts": (),
            "evolution": (),
            "prompts": {},
            "propensity": None,
            "basis": None,
        }
    )


def season(videos: int) -> list[Battle]:
    """On every video hawk beats owl 2:1 and owl beats mole 2:1; mole beats hawk on each 4th."""
    made = []
    for video in range(videos):
        for verdict in ("a", "b", "a"):
            made += [battle(video, verdict), battle(video, verdict, "owl", "mole")]
        made.append(battle(video, "b" if video % 4 == 0 else "a", "hawk", "mole"))
    return made


def row(table: RatedLeaderboard, model: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in table.to_json()["models"] if row["model"] == model)
    return found


def shown(
    table: RatedLeaderboard, *, width: int = 80, encoding: str = "utf-8", notes: bool = False
) -> str:
    """The table as a pipe gets it."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=stream, width=width, highlight=False, soft_wrap=True)
    console.print(ReportView(leaderboard_report(table), notes=notes))
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined,no-any-return]


def summarize(table: RatedLeaderboard) -> str:
    """The one sentence to take away."""
    headline = leaderboard_report(table).headline
    assert headline is not None
    return headline.text


def test_ten_wins_to_one_are_four_hundred_points_by_plain_maximum_likelihood() -> None:
    fights = [battle(v, "a") for v in range(10)] + [battle(10, "b")]
    table = build(fights, CAST[:2], method=RatingMethod(fit="mle"))
    assert [r["rating"] for r in table.to_json()["models"]] == [1200.0, 800.0]
    assert row(table, "hawk")["win_rate"] == pytest.approx(10 / 11, abs=1e-6)
    # Bias-reduced, two models have half a battle more each: 10.5 to 1.5.
    reduced = build(fights, CAST[:2]).to_json()["models"]
    half = 200 * math.log10(10.5 / 1.5)
    assert [r["rating"] for r in reduced] == pytest.approx([1000 + half, 1000 - half], abs=1e-4)


def test_the_shape_is_the_one_other_programs_rely_on() -> None:
    table = json.loads(json.dumps(build(season(12), CAST).to_json(), allow_nan=False))
    assert set(table) == {"schema", "models", "components", "settings", "leads"}
    assert table["schema"] == 1
    assert list(table["models"][0]) == [
        "model", "rating", "low", "high", "rank", "rank_best", "rank_worst",
        "battles", "wins", "losses", "ties", "win_rate", "forfeits", "flags",
    ]  # fmt: skip
    assert table["components"] == [["hawk", "owl", "mole"]]


def test_a_leaderboard_cannot_be_changed_and_its_json_may_be() -> None:
    board = build(season(12), CAST, method=RatingMethod(pairs=True))
    changed = board.to_json()
    changed["models"][0]["flags"].append("odd")
    changed["components"][0].pop()
    changed["settings"]["videos"].clear()
    changed["pairs"]["wins"][0].clear()
    again = board.to_json()
    assert all(changed[key] != again[key] for key in ("models", "components", "settings", "pairs"))
    with pytest.raises(FrozenInstanceError):
        board.models[0].rating = 1.0  # type: ignore[misc]


def test_the_best_model_stands_first_whatever_the_roster() -> None:
    table = build(season(12), ["mole", "owl", "hawk"])
    assert [r["model"] for r in table.to_json()["models"]] == ["hawk", "owl", "mole"]
    assert [r["rank"] for r in table.to_json()["models"]] == [1, 2, 3]


@pytest.mark.parametrize("verdict", ["tie", "tie_good", "tie_bad", "split"])
def test_every_kind_of_tie_is_half_a_win_to_both(verdict: str) -> None:
    table = build([battle(v, verdict) for v in range(12)], CAST[:2])
    assert [r["rating"] for r in table.to_json()["models"]] == [1000.0, 1000.0]
    assert [r["rank"] for r in table.to_json()["models"]] == [1, 1]
    assert row(table, "owl")["ties"] == 12


def test_forfeits_and_voids_are_counted_and_never_rated() -> None:
    lost = [
        battle(1, "forfeit_a"),
        battle(2, "forfeit_b"),
        battle(3, "forfeit_a"),
        battle(4, "void"),
    ]
    table = build([*season(12), *lost], CAST)
    plain = build(season(12), CAST)
    assert row(table, "hawk") == row(plain, "hawk") | {"forfeits": 2}
    assert row(table, "owl")["forfeits"] == 1
    assert table.to_json()["settings"]["totals"] == {
        "battles": 88, "decided": 84, "ties": 0, "splits": 0, "forfeits": 3, "voids": 1,
    }  # fmt: skip


def test_a_model_that_never_fought_is_last_and_unrated() -> None:
    table = build(season(12), ["bench", *CAST])
    last = table.to_json()["models"][-1]
    assert last["model"] == "bench"
    assert [last[k] for k in ("rating", "low", "high", "rank", "win_rate")] == [None] * 5
    assert last["flags"] == []


def test_a_model_outside_the_roster_is_rated_too() -> None:
    assert row(build(season(12), []), "mole")["rank"] == 3


def test_without_a_decided_battle_nobody_is_rated() -> None:
    table = build([battle(1, "void"), battle(2, "forfeit_a")], CAST)
    assert [r["model"] for r in table.to_json()["models"]] == CAST
    assert table.to_json()["components"] == []
    assert summarize(table) == (
        "No battle was decided (1 forfeited, 1 void), so no model is rated."
    )
    assert shown(table).count("unrated") == 3


@pytest.mark.parametrize(("videos", "flagged", "warned"), [(9, 1, 1), (12, 0, 1), (50, 0, 0)])
def test_few_videos_are_said(videos: int, flagged: int, warned: int) -> None:
    table = build(season(videos), CAST)
    assert [len(r["flags"]) for r in table.to_json()["models"]] == [flagged] * 3
    assert len(table.to_json()["settings"]["warnings"]) == warned
    assert table.to_json()["settings"]["videos"] == [videos]


def test_one_video_gives_ratings_and_no_intervals() -> None:
    table = build(season(1), CAST)
    assert row(table, "owl")["low"] is None
    assert (row(table, "owl")["rank_best"], row(table, "owl")["rank_worst"]) == (None, None)
    assert "and there are no intervals" in summarize(table)
    assert "1 video is too few to rank" in " ".join(shown(table).split())


def test_an_unbeaten_model_is_flagged() -> None:
    fights = [battle(v, "a", "hawk", other) for v in range(12) for other in ("owl", "mole")]
    fights += [battle(v, "a" if v % 2 else "b", "owl", "mole") for v in range(12)]
    table = build(fights, CAST)
    assert [r["flags"] for r in table.to_json()["models"]] == [["one-sided"], [], []]
    assert "one-sided" in shown(table)


def test_groups_that_never_met_stand_apart() -> None:
    island = [battle(v, "ab"[v % 2], "x", "y") for v in range(12)]
    table = build([*season(12), *island], [*CAST, "x", "y"])
    assert table.to_json()["components"] == [["hawk", "owl", "mole"], ["x", "y"]]
    assert row(table, "x")["flags"] == ["not comparable"]
    assert row(table, "x")["rank"] == 1
    assert summarize(table).startswith("hawk leads the largest of 2 groups that never met")
    assert "2 groups of models never met" in shown(table, notes=True)


def test_a_run_of_stand_ins_says_so_and_passes_on_other_warnings() -> None:
    table = build(season(60), CAST, stand_ins=True, warnings=["the judge also competes"])
    assert table.to_json()["settings"]["stand_ins"] is True
    assert "rates stand-ins" in shown(table)
    assert "note: the judge also competes" in shown(table, notes=True)
