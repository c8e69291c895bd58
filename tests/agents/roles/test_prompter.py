"""A scope that is played again asks anew only for what it never came to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.asking import MODEL, Line, Pages, Script, frames_of, prompter_of, run
from videoautoarena.agents.prompting.contracts import QuestionerReply
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.memory.records.errors import CallFailed, JournalMiss, UnusableReply

SLOT = "0123456789ab-p1-r0"
ANSWER = Task("contestant", frames_of(4), scope=SLOT, question="What is thrown?")
QUESTION = Task(
    "questioner", frames_of(4), scope=SLOT, texts={"brief": "{}", "persona": "A cook.", "asked": ""}
)
GOOD = '{"question": "What is thrown?"}'


def prompter(
    lines: Sequence[Line], journal: Pages, *generations: int, is_replay: bool = False
) -> tuple[Prompter, Script]:
    script = Script(lines)
    asker = prompter_of(script, journal=journal, is_replay=is_replay).asker
    return Prompter(asker, PromptSet.load(), generations=lambda _: generations), script


def text(lines: Sequence[Line], journal: Pages, *generations: int, is_replay: bool = False) -> str:
    asked, script = prompter(lines, journal, *generations, is_replay=is_replay)
    reply = run(asked.ask_row(MODEL, ANSWER)).reply or ""
    assert len(script.seen) == len(lines)
    return reply


def question(lines: Sequence[Line], journal: Pages, *generations: int) -> str:
    asked, script = prompter(lines, journal, *generations)
    reply = run(asked.ask_json(MODEL, QUESTION, QuestionerReply))
    assert len(script.seen) == len(lines)
    return reply.question


def generations_of(journal: Pages) -> list[int]:
    return [row.nonce.generation for row in journal.rows.values()]


def test_what_an_earlier_generation_was_told_is_not_asked_again() -> None:
    journal = Pages()
    assert text(["A pancake."], journal, 0) == "A pancake."
    assert text([], journal, 0, 3) == "A pancake."
    assert text([], journal, 0, 3, is_replay=True) == "A pancake."
    assert generations_of(journal) == [0]


def test_what_failed_is_asked_again_in_its_own_generation() -> None:
    journal = Pages()
    with pytest.raises(CallFailed):
        text([""] * 3, journal, 0)
    assert text(["A pancake."], journal, 0, 2) == "A pancake."
    assert generations_of(journal) == [0, 2]
    assert text([], journal, 0, 2, 5) == "A pancake."


def test_reasoning_without_an_answer_is_asked_again() -> None:
    journal = Pages()
    text(["<think>A pancake?</think>"], journal, 0)
    # Nobody did so once: such a run replays as it was played.
    asked, _ = prompter([], journal, 0, 1, is_replay=True)
    again = run(replace(asked, is_past=True).ask_row(MODEL, ANSWER))
    assert again.reply == "<think>A pancake?</think>"
    with pytest.raises(JournalMiss):
        text([], journal, 0, 1, is_replay=True)
    assert text(["A pancake."], journal, 0, 1) == "A pancake."
    assert text([], journal, 0, 1, 2, is_replay=True) == "A pancake."


def test_a_generation_as_it_stood_fails_as_it_did() -> None:
    journal = Pages()
    with pytest.raises(CallFailed):
        text([""] * 3, journal, 0)
    text(["A pancake."], journal, 0, 2)
    with pytest.raises(CallFailed):
        text([], journal, 0, is_replay=True)


def test_a_reply_that_had_to_be_mended_stays_mended() -> None:
    journal = Pages()
    assert question(["Hm.", GOOD], journal, 0) == "What is thrown?"
    assert question([], journal, 0, 1) == "What is thrown?"


def test_a_reply_that_was_no_use_twice_is_asked_for_again() -> None:
    journal = Pages()
    with pytest.raises(UnusableReply):
        question(["Hm.", "Well."], journal, 0)
    assert question(["Oh.", GOOD], journal, 0, 1) == "What is thrown?"
    assert generations_of(journal) == [0, 0, 1, 1]


def test_a_replay_finds_what_was_never_asked_missing() -> None:
    with pytest.raises(JournalMiss):
        text([], Pages(), 0, 1, is_replay=True)
