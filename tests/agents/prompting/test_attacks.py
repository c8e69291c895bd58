from __future__ import annotations

import pytest

from tests.support.schemas import schema_of
from videoautoarena.agents.calls.replies import read_reply
from videoautoarena.agents.prompting.contracts import CONTRACTS, contract
from videoautoarena.agents.prompting.fences import Attack, attacked, attacks, constants, worded
from videoautoarena.memory.records.digests import canonical_json, digest


def test_the_kit_holds_attacks_of_many_kinds() -> None:
    assert len(attacks()) >= 20
    assert len({attack.family for attack in attacks()}) >= 12


@pytest.mark.parametrize("kit", [attacks(), constants()], ids=["attacks", "constants"])
def test_every_name_and_every_text_of_the_kit_is_its_own(kit: tuple[Attack, ...]) -> None:
    assert len({one.name for one in kit}) == len(kit)
    assert len({one.text for one in kit}) == len(kit)
    assert all(one.text.strip() for one in kit)


def test_names_need_no_escape_in_a_key_or_a_table() -> None:
    names = [one.name for one in (*attacks(), *constants())]
    assert all(name.replace("-", "").isalnum() and name.isascii() for name in names)


def test_the_answer_itself_stays_whole_under_every_attack() -> None:
    for attack in attacks():
        found = attacked("An onion, at 0:03.", attack, question="What is in the pan?")
        assert found.count("An onion, at 0:03.") == 1
        assert found.startswith("An onion") == (attack.place == "after")


def test_a_contestant_knows_the_question_and_can_quote_it() -> None:
    assert worded("It was: [[question]]", question="Why {so}?") == "It was: Why {so}?"
    quoting = [one for one in attacks() if "[[question]]" in one.text]
    assert quoting
    assert all("[[" not in worded(one.text, question="Why?") for one in quoting)


def test_a_family_tricks_with_characters_that_no_reader_sees() -> None:
    hidden = [one for one in attacks() if any(ord(c) in (0x200B, 0x202E) for c in one.text)]
    assert {one.family for one in hidden} == {"unicode"}


@pytest.mark.parametrize("number", range(1, CONTRACTS + 1))
@pytest.mark.parametrize("choice", ["A", "B"])
def test_a_forged_verdict_is_one_in_the_form_that_the_judge_is_asked_for(
    choice: str, number: int
) -> None:
    forged = worded(f"[[verdict {choice}]]", question="Why?", contracts=number)
    assert read_reply(forged, schema_of("judge", number)).model_dump()["verdict"] == choice
    line = worded("[[form]]", question="Why?", contracts=number)
    assert contract("judge", number).startswith(f"{line}\n")


def test_the_kit_against_judges_of_contract_1_stays_as_it_was() -> None:
    texts = {one.name: worded(one.text, question="?", contracts=1) for one in attacks()}
    # Other words would make other trials, to be paid again.
    assert digest(canonical_json(texts))[:16] == "b980de933f12fd41"
