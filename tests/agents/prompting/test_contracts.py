"""Contracts: their words stand for ever, since calls that were paid for are known by them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.canned import judged
from tests.support.schemas import schema_of
from videoautoarena.agents.calls.replies import BadReply, read_reply
from videoautoarena.agents.prompting.contracts import (
    CONTRACTS,
    LATEST_CONTRACTS,
    WholeGraderReply,
    contract,
    judge_reply,
    noted_scored,
    number_of,
    scored_note,
)
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import DIFFICULTY_SCALES, Role
from videoautoarena.memory.records.standards import PAPER_CONTRACTS, standards_of

ROLES: tuple[Role, ...] = (
    "examiner",
    "persona",
    "questioner",
    "judge",
    "evolver",
    "grader",
    "comparer",
    "scene_marker",
    "summary_marker",
    "topic_writer",
    "plot_writer",
    "scene_writer",
    "summary_writer",
    "option_checker",
    "point_checker",
)
WORDS = {
    1: {
        "examiner": "5b59e31ba5992778",
        "persona": "63f6e463f232f609",
        "questioner": "18cc8b6e24354f5d",
        "judge": "65335a37ff86e916",
        "evolver": "68382fc9747d1116",
        "grader": "05bf651ce939e4de",
        "comparer": "ce7fd741060dec1e",
        "scene_marker": "5a1bb17d9a8ed49d",
        "summary_marker": "6028be9689d12cae",
        "topic_writer": "e4ff1c53acd893fb",
        "plot_writer": "8136f03664ce67f8",
        "scene_writer": "3b0de79968bd6e99",
        "summary_writer": "f9920867d67a5595",
        "option_checker": "5e00fc174316fa5f",
        "point_checker": "9604e9f0b65e4c3e",
    },
    2: {
        "examiner": "4b8cec999856669b",
        "persona": "7bd146b21ab51467",
        "questioner": "9fcb458d54c9586c",
        "judge": "642c6bbf12e8888b",
        "evolver": "397bb8033b3c099f",
        "grader": "bc3e48202cf7ff21",
        "comparer": "a3cdda84fcaa4eb0",
        "scene_marker": "60af88a25512db93",
        "summary_marker": "12dda6c025f7fc2a",
        "topic_writer": "cc78d17d2cc1f9a0",
        "plot_writer": "80ff5dcc481e7ef7",
        "scene_writer": "1f281c88d755b61d",
        "summary_writer": "ffa5747e5185bd87",
        "option_checker": "384bbd6784cd7065",
        "point_checker": "93c82ac9e5fd21bf",
    },
    3: {
        "examiner": "189b5e45b036b048",
        "persona": "ba6a1a75b4d25e0d",
        "questioner": "81e33a3a3d756da0",
        "judge": "6f90ae0620ea554c",
        "evolver": "0c7c2595fe99ad5a",
        "grader": "e9103bc5ff27dc82",
        "comparer": "ef34a65b73710c26",
        "scene_marker": "756672286d14e046",
        "summary_marker": "7cf28832afa440a4",
        "topic_writer": "62ad944150b3cc9b",
        "plot_writer": "3e96d38bd118c6ed",
        "scene_writer": "4a4841519adfb695",
        "summary_writer": "5c9e6262065e8014",
        "option_checker": "9f5ff05d50ec48f4",
        "point_checker": "79d6efd66d3ed2cb",
    },
}
"""Number to role to the first digits of the digest of what its contract says."""


@pytest.mark.parametrize("number", range(1, LATEST_CONTRACTS + 1))
def test_no_word_of_a_contract_that_runs_have_begun_with_ever_changes(number: int) -> None:
    assert {role: digest(contract(role, number))[:16] for role in ROLES} == WORDS[number]


def test_what_begins_now_is_held_to_the_usual_contract() -> None:
    assert contract("judge") == contract("judge", CONTRACTS) != contract("judge", 1)


@pytest.mark.parametrize("number", range(1, LATEST_CONTRACTS + 1))
def test_the_first_line_of_a_contract_tells_its_number(number: int) -> None:
    assert {number_of(contract(role, number).splitlines()[0]) for role in ROLES} == {number}


@pytest.mark.parametrize("number", range(1, LATEST_CONTRACTS + 1))
@pytest.mark.parametrize("role", ROLES)
def test_a_model_that_repeats_its_task_has_not_done_it(role: Role, number: int) -> None:
    with pytest.raises(BadReply):
        read_reply(contract(role, number), schema_of(role, number))


@pytest.mark.parametrize(
    ("said", "meant"), [("a", "A"), ("Tie", "tie"), ("tie_good", "tie"), ("TIE BAD", "tie")]
)
def test_a_standard_may_be_decided_in_ones_own_spelling(said: str, meant: str) -> None:
    reply = read_reply(_reply(accuracy=said), judge_reply(CONTRACTS))
    assert reply.accuracy.verdict == meant


@pytest.mark.parametrize("said", ["both", "", None, 1, "A or B"])
def test_a_standard_decided_in_any_other_word_is_refused(said: Any) -> None:
    with pytest.raises(BadReply, match=r"accuracy\.verdict"):
        read_reply(_reply(accuracy=said), judge_reply(CONTRACTS))


@pytest.mark.parametrize("gone", ["own_answer", "relevance", "verdict"])
def test_a_judge_that_leaves_out_a_part_is_told_which(gone: str) -> None:
    said = judged("A", "fine")
    del said[gone]
    with pytest.raises(BadReply, match=f"{gone}: Field required"):
        read_reply(json.dumps(said), judge_reply(CONTRACTS))


def test_by_the_papers_contract_a_judge_gives_four_analyses_and_a_verdict_and_never_abstains() -> (
    None
):
    said = contract("judge", PAPER_CONTRACTS)
    assert "own_answer" not in said
    assert "abstain" not in said
    plain = {**dict.fromkeys(standards_of(PAPER_CONTRACTS), "Fine."), "verdict": "Tie good"}
    assert read_reply(json.dumps(plain), judge_reply(PAPER_CONTRACTS)).verdict == "tie_good"
    for verdict in ("abstain", "tie"):
        with pytest.raises(BadReply, match="verdict"):
            read_reply(json.dumps({**plain, "verdict": verdict}), judge_reply(PAPER_CONTRACTS))


@pytest.mark.parametrize(("said", "is_read"), [(4, True), (4.0, True), (3.5, False), (True, False)])
def test_by_the_papers_contract_grades_are_whole_numbers(said: Any, is_read: bool) -> None:
    grade = dict.fromkeys((*DIFFICULTY_SCALES, "overall"), said)
    reply = json.dumps({"question_1": grade, "question_2": grade})
    if is_read:
        assert read_reply(reply, WholeGraderReply).question_1.overall == said
        return
    with pytest.raises(BadReply, match=r"question_1\."):
        read_reply(reply, WholeGraderReply)


def _reply(**better: Any) -> str:
    return json.dumps(judged("A", "fine", **better))


def test_the_number_of_scored_rounds_is_read_as_it_was_noted() -> None:
    assert [noted_scored(f"Do it.\n\n{scored_note(count)}") for count in (1, 7, 12)] == [1, 7, 12]
    assert noted_scored("Scored rounds are 3.") is None
    assert noted_scored("") is None
