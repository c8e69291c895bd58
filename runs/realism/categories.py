"""What a question is about: as a run was tagged, or told by its words where it was not.

Categories do not exclude each other: a question may stand in several, and in none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from videoautoarena.runs.categories.tags import SHOWN
from videoautoarena.runs.categories.tags import categories_of as question_categories
from videoautoarena.runs.rundir.reader import Run

Categories = frozenset[str]

READ = frozenset({"en", "de"})
"""Languages whose words are known here."""
_WORDS: dict[str, Any] = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))
_TOLD = {name: re.compile("|".join(rules)) for name, rules in _WORDS["categories"].items()}
CATEGORIES = tuple(_TOLD)
"""What words can tell; a file or tags may name others."""
GENERAL = frozenset(" ".join(line for of in _WORDS["general"].values() for line in of).split())
"""English and German words that would fit a question about any video."""


def told_categories(question: str) -> Categories:
    """Return the CATEGORIES that the words of a question stand for; English and German are read."""
    plain = " ".join(question.casefold().split())
    return frozenset(name for name, rule in _TOLD.items() if rule.search(plain))


def categories_of(run: Run) -> Mapping[str, Categories | None] | None:
    """Return the categories of each battle's question, by its id, as the run was tagged.

    None of a question means that nobody could tell; None at all that the run has no tags.
    """
    tagged = question_categories(run)
    if not tagged:
        return None
    return {battle: frozenset(SHOWN[name] for name in names) for battle, names in tagged.items()}
