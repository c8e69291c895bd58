"""Battles of others, turned into lines that the arena rates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import invoke
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.exchange.interop.battles import import_battles
from videoautoarena.runs.rating.rate import rate_file


def history(overall: Any = "A", **changed: Any) -> dict[str, Any]:
    return {
        "video_id": "v1",
        "qid": "v1_2",
        "persona": "A person.",
        "question": "**\n\nWhy?",
        "model a": "gpt-4o",
        "model b": "aria",
        "model a answer": "so",
        "model b answer": "thus",
        "Overall Judge": overall,
        **changed,
    }


def vote(winner: Any, **changed: Any) -> dict[str, Any]:
    return {"question_id": "q", "model_a": "x", "model_b": "y", "winner": winner, **changed}


def hard(first: Any, second: Any, **changed: Any) -> dict[str, Any]:
    games = [{"score": first}, {"score": second}]
    return {"uid": "u1", "model": "x", "judge": "j", "baseline": "o3", "games": games, **changed}


def converted(tmp_path: Path, *battles: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    file = tmp_path / "battles.json"
    file.write_text(json.dumps(battles))
    import_battles([file], tmp_path / "out.jsonl", force=True, **options)
    return [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]


def test_a_history_becomes_a_battle_that_knows_its_video(tmp_path: Path) -> None:
    (line,) = converted(tmp_path, history("B", evol=True))
    assert line == {
        "model_a": "gpt-4o",
        "model_b": "aria",
        "winner": "model_b",
        "answer_a": "so",
        "answer_b": "thus",
        "video": "v1",
        "qid": "v1_2",
        "question": "**\n\nWhy?",
        "origin": "evolved",
    }


@pytest.mark.parametrize(
    ("overall", "winner"),
    [
        ("A", "model_a"),
        ("\nB\n```", "model_b"),
        ("Tie", "tie"),
        ("tie (both are good)", "tie"),
        ("Model B is better.", "model_b"),
        ("Both fail", "void"),
        ("A is better than B", "void"),
        ("", "void"),
        (None, "void"),
    ],
)
def test_what_a_history_says_of_the_winner_is_read_or_void(
    tmp_path: Path, overall: Any, winner: str
) -> None:
    assert converted(tmp_path, history(overall))[0]["winner"] == winner


def test_a_history_without_a_parsed_verdict_is_read_from_the_judges_words(tmp_path: Path) -> None:
    words = {"GPT4o Judge response": "A and B [Overall Judge]\nB\n```"}
    battle = {key: value for key, value in history().items() if key != "Overall Judge"}
    assert converted(tmp_path, {**battle, **words})[0]["winner"] == "model_b"


@pytest.mark.parametrize(
    ("winner", "written"),
    [
        ("model_a", "model_a"),
        ("model_b", "model_b"),
        ("tie", "tie"),
        ("tie (bothbad)", "tie (bothbad)"),
        (0.5, "tie"),
        (1, "model_a"),
    ],
)
def test_votes_keep_their_winners(tmp_path: Path, winner: Any, written: str) -> None:
    assert converted(tmp_path, vote(winner))[0]["winner"] == written


def test_a_judgment_is_two_games_with_the_seats_changed(tmp_path: Path) -> None:
    lines = converted(tmp_path, hard("B>A", "A=B"))
    assert [(one["model_a"], one["model_b"], one["winner"]) for one in lines] == [
        ("o3", "x", "model_b"),
        ("x", "o3", "tie"),
    ]
    assert {one["video"] for one in lines} == {"u1"}


def test_much_better_counts_three_times_as_arena_hard_has_it(tmp_path: Path) -> None:
    lines = converted(tmp_path, hard("A>>B", "[[B>A]]"))
    assert [one["winner"] for one in lines] == ["model_a"] * 3 + ["model_b"]


def test_a_judgment_with_one_void_game_is_void(tmp_path: Path) -> None:
    assert [one["winner"] for one in converted(tmp_path, hard("A>B", None))] == ["void", "void"]


def test_an_older_judgment_needs_its_baseline(tmp_path: Path) -> None:
    older = {key: value for key, value in hard("A>B", "B>A").items() if key != "baseline"}
    with pytest.raises(BadInput, match="names no baseline; pass --baseline"):
        converted(tmp_path, older)
    assert converted(tmp_path, older, baseline="gpt-4-0314")[0]["model_a"] == "gpt-4-0314"


def test_what_comes_out_is_rated(tmp_path: Path) -> None:
    votes = [
        history(overall, video_id=f"v{k}")
        for k, overall in enumerate(["A"] * 30 + ["B"] * 10 + ["Tie"] * 4 + [""])
    ]
    converted(tmp_path, *votes)
    board = rate_file(tmp_path / "out.jsonl").to_json()
    assert [row["model"] for row in board["models"]] == ["gpt-4o", "aria"]
    totals = board["settings"]["totals"]
    assert (totals["decided"], totals["voids"]) == (44, 1)
    assert board["settings"]["videos"] == [44]


def test_several_files_and_json_lines_come_together(tmp_path: Path) -> None:
    one, two, out = (tmp_path / name for name in ("one.jsonl", "two.json", "out.jsonl"))
    one.write_text(json.dumps(vote("tie")) + "\n\n" + json.dumps(vote("model_a")) + "\n")
    two.write_text(json.dumps({"first": vote("model_b")}))
    said = invoke("import", "battles", one, two, "--to", out)
    assert said.stdout == "3 battles of 2 models, fastchat\n"
    assert invoke("rate", out, "--json").exit_code == 0
    again = invoke("import", "battles", one, "--to", out)
    assert "already exists" in str(again.exception)


def test_a_line_that_is_no_json_is_named_by_its_place_in_the_file(tmp_path: Path) -> None:
    lines = tmp_path / "votes.jsonl"
    lines.write_text(json.dumps(vote("tie")) + "\n\n{\n")
    said = invoke("import", "battles", lines, "--to", tmp_path / "out.jsonl")
    assert "votes.jsonl, line 3" in str(said.exception)


def test_a_line_of_json_may_hold_what_elsewhere_ends_a_line(tmp_path: Path) -> None:
    lines = tmp_path / "votes.jsonl"
    lines.write_text(json.dumps(vote("tie", judge="one\u2028two"), ensure_ascii=False) + "\n")
    said = invoke("import", "battles", lines, "--to", tmp_path / "out.jsonl")
    assert said.stdout == "1 battle of 2 models, fastchat\n"


@pytest.mark.parametrize(
    ("battle", "told"),
    [
        ({"a": 1}, 'battle 1 is of no known format; it has "a"'),
        ({}, "it has nothing"),
        (vote("maybe"), 'battle 1: winner is "maybe"'),
        (vote("tie", model_a=""), 'has no name under "model_a"'),
        (hard("A>B", "A>B", games=[1]), "must have two games"),
        (history(**{"model b": None}), 'has no name under "model b"'),
        (history(x=float("nan")), "battle 1 holds NaN"),
    ],
)
def test_a_battle_that_cannot_be_used_is_named(
    tmp_path: Path, battle: dict[str, Any], told: str
) -> None:
    with pytest.raises(BadInput) as wrong:
        converted(tmp_path, battle)
    assert told in str(wrong.value)
    assert not (tmp_path / "out.jsonl").exists()


def test_all_battles_must_have_the_keys_of_the_first(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match='battle 2 has no "model_a", as every fastchat battle has'):
        converted(tmp_path, vote("tie"), history())


@pytest.mark.parametrize("content", ["", "[]", "7", "{", "[" * 99_999, "[1]"])
def test_a_file_without_battles_is_one_line(tmp_path: Path, content: str) -> None:
    file = tmp_path / "battles.json"
    file.write_text(content)
    with pytest.raises(BadInput) as wrong:
        import_battles([file], tmp_path / "out.jsonl")
    assert str(file) in str(wrong.value)


def test_the_file_to_write_is_one_that_can_be_rated(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"must end in \.jsonl"):
        import_battles([], tmp_path / "out.csv")
