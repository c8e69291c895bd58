"""The table of a run: its numbers, its JSON shape, and how it looks on a terminal."""

from __future__ import annotations

import io
import json
import math
import re
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from rich.console import Console

from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.leaderboard.text import Bar, board_lines, render, summarize
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.rating.leaderboard import Leaderboard
from videoautoarena.runs.rating.method import Method
from videoautoarena.runs.rating.table import build

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


def row(table: Leaderboard, model: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in table.to_json()["models"] if row["model"] == model)
    return found


def shown(
    table: Leaderboard, *, width: int = 80, encoding: str = "utf-8", notes: bool = False
) -> str:
    """The table as a pipe gets it."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=stream, width=width, highlight=False, soft_wrap=True)
    console.print(render(table, notes=notes))
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined,no-any-return]


def test_ten_wins_to_one_are_four_hundred_points_by_plain_maximum_likelihood() -> None:
    fights = [battle(v, "a") for v in range(10)] + [battle(10, "b")]
    table = build(fights, CAST[:2], method=Method(fit="mle"))
    assert [r["rating"] for r in table.to_json()["models"]] == [1200.0, 800.0]
    assert row(table, "hawk")["win_rate"] == pytest.approx(10 / 11, abs=1e-6)
    # Bias-reduced, two models have half a battle more each: 10.5 to 1.5.
    reduced = build(fights, CAST[:2]).to_json()["models"]
    half = 200 * math.log10(10.5 / 1.5)
    assert [r["rating"] for r in reduced] == pytest.approx([1000 + half, 1000 - half], abs=1e-4)


def test_the_shape_is_the_one_other_programs_rely_on() -> None:
    table = json.loads(json.dumps(build(season(12), CAST).to_json(), allow_nan=False))
    assert set(table) == {"schema", "models", "components", "settings"}
    assert table["schema"] == 1
    assert list(table["models"][0]) == [
        "model", "rating", "low", "high", "rank", "rank_best", "rank_worst",
        "battles", "wins", "losses", "ties", "win_rate", "forfeits", "flags",
    ]  # fmt: skip
    assert table["components"] == [["hawk", "owl", "mole"]]


def test_a_leaderboard_cannot_be_changed_and_its_json_may_be() -> None:
    board = build(season(12), CAST, method=Method(pairs=True))
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
    table, plain = build([*season(12), *lost], CAST), build(season(12), CAST)
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


def test_nothing_fought_is_nothing_rated() -> None:
    assert summarize(build([], CAST)) == "No battle was decided, so no model is rated."


@pytest.mark.parametrize(("videos", "flagged", "warned"), [(9, 1, 1), (12, 0, 1), (50, 0, 0)])
def test_few_videos_are_said(videos: int, flagged: int, warned: int) -> None:
    table = build(season(videos), CAST)
    assert [len(r["flags"]) for r in table.to_json()["models"]] == [flagged] * 3
    assert len(table.to_json()["settings"]["warnings"]) == warned
    assert table.to_json()["settings"]["videos"] == [videos]


def test_one_video_gives_ratings_and_no_intervals() -> None:
    table = build(season(1), CAST)
    assert row(table, "owl")["low"] is None
    assert (row(table, "owl")["rank_best"], row(table, "owl")["rank_worst"]) == (1, 3)
    assert "only: there are no intervals yet" in summarize(table)
    assert "unknown" in shown(table)
    assert "only 1 video: too few" in shown(table)


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


@pytest.mark.parametrize("alarms", [0, 1, 3])
@pytest.mark.parametrize("warnings", [[], ["one"], ["one", "two"]])
@pytest.mark.parametrize("stand_ins", [False, True])
def test_three_lines_stand_under_a_table_and_say_how_many_more_there_are(
    alarms: int, warnings: list[str], stand_ins: bool
) -> None:
    raised = tuple(
        Finding(f"k{k}", 0.9, 0.8, 1.0, 40, f"Bad {k}.", is_alarm=True) for k in range(alarms)
    )
    table = replace(build(season(9), CAST, stand_ins=stand_ins, warnings=warnings), audit=raised)
    few, every = board_lines(table, notes=False), board_lines(table, notes=True)
    assert len(few) == 3
    assert summarize(table) in few
    assert few[0] == (every[1] if alarms else every[0])
    assert ("rates stand-ins" in few[2]) == stand_ins
    assert "too few videos to rank" in few[2]
    hidden = sum(map(int, re.findall(r"(\d+) more (?:note|alarm)", few[2])))
    assert len(every) == 2 + stand_ins + 1 + hidden


def test_a_leader_who_stands_apart_is_named_alone() -> None:
    fights = [battle(v, "b" if v % 10 == 0 else "a") for v in range(60)]
    assert summarize(build(fights, CAST[:2])) == "hawk leads, and its interval overlaps no other."


def test_a_close_race_says_how_many_more_videos_would_tell() -> None:
    # 18.5 of 31 leave a gap of 68 points; the two half-widths add up to 134.
    fights = [battle(v, "a" if v % 5 < 3 else "b") for v in range(30)]
    table = build(fights, CAST[:2])
    gap = table.to_json()["models"][0]["rating"] - table.to_json()["models"][1]["rating"]
    widths = sum(r["high"] - r["rating"] for r in table.to_json()["models"])
    needed = 30 * (widths / gap) ** 2 - 30
    assert 86 < needed < 87
    assert summarize(table) == (
        "hawk leads, but is not separated from owl; about 87 more videos would separate "
        "them at the current gap."
    )


def test_equals_share_the_first_place() -> None:
    fights = [battle(v, "tie", a, b) for v in range(12) for a, b in (CAST[:2], CAST[1:])]
    assert summarize(build(fights, CAST)) == (
        "hawk, owl and mole share the first place; more videos may never separate them."
    )


def test_a_hair_between_two_is_out_of_reach() -> None:
    fights = [battle(v, "ab"[v % 2]) for v in range(400)] + [battle(401, "a")]
    assert summarize(build(fights, CAST[:2])) == (
        "hawk leads, but is not separated from owl; "
        "no realistic number of videos would separate them."
    )


def test_with_few_videos_the_sentence_is_careful() -> None:
    assert summarize(build(season(9), CAST)).startswith(
        "So far hawk leads, but is not separated from owl"
    )


def test_a_table_fits_eighty_columns_and_is_plain_in_a_pipe() -> None:
    text = shown(build(season(12), CAST, stand_ins=True))
    grid = text.split("\n\n")[0].splitlines()[:5]
    assert max(len(line) for line in grid) <= 80
    assert "\x1b" not in text


def test_every_bar_stands_on_the_same_scale() -> None:
    text = shown(build(season(30), CAST))
    dots = [line.index("●") for line in text.splitlines() if "●" in line]
    assert len(dots) == 3
    assert dots == sorted(dots, reverse=True)


def test_a_console_without_unicode_gets_plain_bars() -> None:
    text = shown(build(season(30), CAST), encoding="ascii")
    assert "o" in text
    assert "●" not in text


def test_an_interval_is_never_shown_as_zero() -> None:
    table = build(season(12), CAST)
    hawk, *rest = table.models
    assert hawk.rating is not None
    near = replace(hawk, low=hawk.rating - 0.001, high=hawk.rating + 0.001)
    assert "-0.1/+0.1" in shown(replace(table, models=(near, *rest)))


def test_a_hostile_name_is_shown_and_not_obeyed() -> None:
    evil = "[red]x[/]\x1b[2J\u202egpt"
    table = build([battle(v, "ab"[v % 2], evil, "owl") for v in range(12)], [evil, "owl"])
    text = shown(table, width=120)
    assert "[red]x[/]\\x1b[2J\\u202egpt" in text
    assert "\x1b" not in text
    assert table.to_json()["models"][0]["model"] == evil


def test_a_long_name_is_folded_and_not_lost() -> None:
    name = "a-provider-with-a-very-long-name/a-model-with-a-longer-name-2026-11-21-preview"
    table = build([battle(v, "ab"[v % 2], name, "owl") for v in range(12)], [name, "owl"])
    lines = shown(table).splitlines()
    grid = lines[: next(k for k, line in enumerate(lines) if "battles decided" in line)]
    assert max(len(line) for line in grid) <= 80
    assert "preview" in "".join(line[5:30].strip() for line in grid)


def test_a_bar_has_its_middle_inside() -> None:
    console = Console(width=20, file=io.StringIO())
    console.print(Bar(0, 2, 4))
    assert console.file.getvalue().rstrip() == "──●──"  # type: ignore[attr-defined]
