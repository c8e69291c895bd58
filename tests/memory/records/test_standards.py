"""One table of judging standards, from which everything else takes its list."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from tests.support.pictures import film, play
from videoautoarena.agents.offline.players.scoring import STANDARD_WEIGHTS
from videoautoarena.agents.prompting.contracts import (
    CONTRACTS,
    LATEST_CONTRACTS,
    comparer_reply,
    contract,
    judge_reply,
)
from videoautoarena.agents.prompting.fences import worded
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.standards import (
    PAPER_CONTRACTS,
    STANDARDS,
    Standard,
    standards_of,
)

ROOT = Path(__file__).parents[3]
NAMED_IN = {
    "memory/records/standards.py": "the table itself",
    "memory/records/records.py": "the scales of difficulty",
    "agents/prompting/contracts.py": "grades and their form",
    "agents/offline/players/evolver.py": "grades",
    "agents/offline/players/scoring.py": "what the offline judge measures by each",
    "agents/offline/players/judge.py": "what the offline judge says on each",
}


def test_every_standard_has_a_row_whose_words_are_its_name() -> None:
    assert tuple(STANDARDS) == get_args(Standard)
    assert {name: one.words.replace(" ", "_") for name, one in STANDARDS.items()} == {
        name: name for name in STANDARDS
    }
    orders = [one.reason_order for one in STANDARDS.values()]
    assert sorted(orders) == list(range(1, len(orders) + 1))


def test_no_other_file_of_the_product_lists_standards() -> None:
    rooms = ("agents", "graph", "memory", "runs", "scoring", "video")
    sources = [path for room in rooms for path in (ROOT / room).rglob("*") if path.is_file()]
    found = {
        path.relative_to(ROOT).as_posix()
        for path in sources
        if path.suffix in (".py", ".js", ".txt")
        and not {"dist", "node_modules"} & set(path.parts)
        and "instruction_following" in path.read_text()
    }
    assert found == set(NAMED_IN)


def test_a_standard_is_asked_for_by_the_contracts_that_begin_now() -> None:
    assert standards_of(CONTRACTS) == tuple(STANDARDS)
    assert all(1 <= one.since <= LATEST_CONTRACTS for one in STANDARDS.values())


def test_contracts_that_runs_began_with_ask_for_the_standards_of_their_time() -> None:
    first = ("instruction_following", "accuracy", "relevance", "helpfulness")
    assert {standards_of(number) for number in (1, 2, PAPER_CONTRACTS)} == {first}


def test_prompts_forms_and_forgeries_ask_for_each_standard_in_order() -> None:
    for number in range(1, LATEST_CONTRACTS + 1):
        asked = standards_of(number)
        forms = (judge_reply(number).model_fields, comparer_reply(number).model_fields)
        assert all([name for name in form if name in STANDARDS] == list(asked) for form in forms)
        words = (contract("judge", number), contract("comparer", number))
        forged = worded("[[verdict A]]", question="", contracts=number)
        for said in (*words, forged):
            places = [said.index(f'"{name}"') for name in asked]
            assert places == sorted(places)
    for prompts in (PromptSet.load(bench=True), PromptSet.load(bench=True, paper=True)):
        asked = standards_of(prompts.contracts)
        for role in ("judge", "comparer"):
            titles = [f"{k}. {STANDARDS[n].words.capitalize()}: " for k, n in enumerate(asked, 1)]
            places = [prompts.texts[role].index(title) for title in titles]
            assert places == sorted(places)
            assert "$standards" not in prompts.texts[role]


def test_the_offline_judge_weighs_every_standard() -> None:
    assert set(STANDARD_WEIGHTS) == set(STANDARDS)


@pytest.mark.parametrize("number", range(1, LATEST_CONTRACTS + 1))
def test_the_offline_judge_has_words_on_every_standard_that_contracts_ask_for(number: int) -> None:
    said = play(
        "judge",
        film(frames=8),
        number,
        question="How many shots are there?",
        answer_a="It has seven shots.",
        answer_b="It has three shots.",
    )
    assert all(said[name] for name in standards_of(number))
