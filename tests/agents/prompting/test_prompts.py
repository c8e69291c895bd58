"""Prompts are files with strict slots, one a role."""

from __future__ import annotations

from pathlib import Path

import pytest

from videoautoarena.agents.prompting.fences import open_fences
from videoautoarena.agents.prompting.prompts import SLOTS, PromptSet
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput, StoreError

CODE = "0123456789abcdef"


def texts_with(role: str, text: str) -> dict[str, str]:
    return {**PromptSet.load().texts, role: text}


def test_every_role_has_a_prompt() -> None:
    assert set(PromptSet.load().texts) == set(SLOTS)


@pytest.mark.parametrize("role", SLOTS)
def test_every_slot_becomes_a_block_that_can_be_opened_again(role: str) -> None:
    texts = {slot: f"what ${slot} holds, {{and}} $$ more" for slot in SLOTS[role]}
    filled = PromptSet.load().fill(role, texts, code=CODE)  # type: ignore[arg-type]
    assert open_fences(filled)[1] == texts


def test_the_contestant_hears_nothing_of_a_contest() -> None:
    words = PromptSet.load().texts["contestant"].lower()
    rivals = ("battle", "contest", "arena", "other", "judge", "compare", "model", "rival", "score")
    assert not [word for word in rivals if word in words]


def test_the_judge_reads_its_four_standards_in_order() -> None:
    text = PromptSet.load().texts["judge"]
    names = ("Instruction following", "Accuracy", "Relevance", "Helpfulness")
    places = [text.index(f"{i}. {name}") for i, name in enumerate(names, start=1)]
    assert places == sorted(places)


def test_a_folder_replaces_single_prompts(tmp_path: Path) -> None:
    (tmp_path / "contestant.txt").write_text("Answer in verse.\n")
    prompts = PromptSet.load(tmp_path)
    assert prompts.texts["contestant"] == "Answer in verse.\n"
    assert prompts.texts["judge"] == PromptSet.load().texts["judge"]
    assert (prompts.given, PromptSet.load().given) == ({"contestant"}, set())


def test_a_digest_is_that_of_the_files_text() -> None:
    prompts = PromptSet.load()
    assert prompts.digests["judge"] == digest(prompts.texts["judge"])


def test_copied_texts_make_the_same_prompts() -> None:
    prompts = PromptSet.load()
    assert PromptSet.from_texts(dict(prompts.texts)).digests == prompts.digests


@pytest.mark.parametrize(
    ("role", "text", "said"),
    [
        (
            "persona",
            "$breif\n$brief",
            r"persona.txt has the unknown slot \$breif; it takes \$brief",
        ),
        ("persona", "Nothing here.", r"persona.txt misses the slot \$brief"),
        ("persona", "See: $brief", "once, on a line of its own"),
        ("persona", "$brief\n$brief", "once, on a line of its own"),
        ("persona", "$brief\nand ${brief} again", "once, on a line of its own"),
        ("persona", "$brief\n5 $ a day", r"persona.txt has a \$ that starts no slot"),
        ("persona", " \n", "persona.txt is empty"),
        ("contestant", "$question", "takes none"),
    ],
)
def test_a_prompt_that_cannot_be_used_names_file_and_slot(role: str, text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        PromptSet.from_texts(texts_with(role, text))


@pytest.mark.parametrize("text", ["${brief}", "$brief  \nIt costs 5 $$."])
def test_braces_trailing_blanks_and_doubled_signs_are_fine(text: str) -> None:
    filled = PromptSet.from_texts(texts_with("persona", text)).fill(
        "persona", {"brief": "b"}, code=CODE
    )
    assert open_fences(filled)[1] == {"brief": "b"}
    assert "$$" not in filled


def test_by_the_paper_nobody_is_told_of_a_brief_unless_a_prompt_of_ones_own_asks_for_it(
    tmp_path: Path,
) -> None:
    plain = PromptSet.load(paper=True)
    told = {"brief": "b", "persona": "p", "asked": "[]"}
    assert plain.untold("questioner") == {"brief"}
    assert open_fences(plain.fill("questioner", told, code=CODE))[1] == {
        "persona": "p",
        "asked": "[]",
    }
    assert plain.fill("persona", {}, code=CODE) == plain.texts["persona"].strip()
    (tmp_path / "questioner.txt").write_text("$brief\n$persona\n$asked\n")
    own = PromptSet.load(tmp_path, paper=True)
    assert own.untold("questioner") == set()
    assert open_fences(own.fill("questioner", told, code=CODE))[1] == told


def test_only_what_differs_from_the_paper_is_written_anew_for_it() -> None:
    usual = PromptSet.load()
    paper = PromptSet.load(paper=True)
    others = {role for role, text in paper.texts.items() if usual.texts[role] != text}
    assert others == {"persona", "questioner", "judge", "evolver", "grader"}
    again = PromptSet.from_texts(paper.texts, contracts=paper.contracts)
    assert again.digests == paper.digests
    with pytest.raises(BadInput, match=r"misses the slot \$"):
        PromptSet.from_texts(paper.texts)


@pytest.mark.parametrize("number", [0, -1])
def test_contracts_that_there_never_were_are_not_newer(number: int) -> None:
    with pytest.raises(StoreError, match=f"contracts {number} cannot be"):
        PromptSet.from_texts(PromptSet.load().texts, contracts=number)


def test_a_missing_role_is_named() -> None:
    texts = {role: text for role, text in PromptSet.load().texts.items() if role != "grader"}
    with pytest.raises(BadInput, match=r"grader.txt is missing"):
        PromptSet.from_texts(texts)


def test_a_misspelt_file_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "juge.txt").write_text("Judge.")
    with pytest.raises(BadInput, match=r"juge.txt.*judge"):
        PromptSet.load(tmp_path)


def test_a_role_nobody_plays_is_refused() -> None:
    with pytest.raises(BadInput, match="referee"):
        PromptSet.from_texts(texts_with("referee", "Decide."))


def test_a_folder_that_is_none_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no prompt"):
        PromptSet.load(tmp_path)
    with pytest.raises(BadInput, match="is no folder"):
        PromptSet.load(tmp_path / "nowhere")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "judge.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match=r"judge.txt.*UTF-8"):
        PromptSet.load(tmp_path)
