"""Sentences of a page as parts."""

from __future__ import annotations

import pytest

from videoautoarena.runs.views.page import document


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["openai:gpt-4o", "offline:owl"], ["gpt-4o", "owl"]),
        (["x:lab/Model-7B", "y:other"], ["Model-7B", "other"]),
        (["openai:same", "gemini:same"], ["openai:same", "gemini:same"]),
        (["plain", "plain"], ["plain"]),
        (["odd:", "x"], ["odd:", "x"]),
        (["ollama:qwen:7b", "openrouter:lab/m:free"], ["qwen:7b", "m:free"]),
        (["x:lab/m (4 frames)", "x:lab/m (own history)"], ["m (4 frames)", "m (own history)"]),
        (["<b>hawk</b>", "day/night", "a: b/c"], ["<b>hawk</b>", "day/night", "a: b/c"]),
    ],
)
def test_a_short_name_is_one_that_leaves_all_apart(names: list[str], short: list[str]) -> None:
    assert list(document.short_names(names).values()) == short


def test_a_sentence_without_its_links_has_its_figures_and_short_names() -> None:
    parts: document.Parts = [{"model": "x:hawk"}, " won ", {"figure": "19", "cells": []}, "."]
    assert document.as_text(parts, {"x:hawk": "hawk"}) == "hawk won 19."
