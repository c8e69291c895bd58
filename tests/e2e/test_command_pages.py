"""Whoever pastes the examples on the commands in their order sees each of them work."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.generate import DOCS, GROUPS
from tests.support.clips import copy_but_one
from tests.support.pages import OF_THE_READER
from tests.support.typed import run
from tests.test_docs import README, command_lines


def first_lines() -> list[list[str]]:
    """Return the lines of the README that make what all examples use."""
    lines = command_lines(README)
    return lines[lines.index(["arena", "samples", "clips"]) :][:2]


def needs_more(words: list[str]) -> bool:
    """Return whether a line needs a key, somebody's files, or serves a page until it is stopped."""
    if {part for word in words for part in Path(word).parts[:1]} & OF_THE_READER:
        return True
    is_hosted = any("openai:" in word for word in words)
    is_paid = is_hosted and "--plan" not in words and words[:2] != ["arena", "init"]
    return is_paid or words[1] in ("view", "annotate")


@pytest.mark.slow
def test_the_examples_on_the_commands_work_in_the_order_of_the_pages(
    tmp_path: Path, sample_clips: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    copy_but_one(sample_clips, tmp_path / "clips")
    for words in first_lines():
        run(*words)
    pages = [DOCS / "commands" / f"{group}.md" for group in GROUPS.values()]
    lines = [words for page in pages for words in command_lines(page)]
    left_out = [words for words in lines if needs_more(words)]
    for words in lines:
        if words not in left_out:
            run(*words)
    assert len(left_out) < len(lines) / 3
