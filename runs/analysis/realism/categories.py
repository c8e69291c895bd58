"""Tells what a question is about: by the tags of a run, or by its words where there are none.

Categories do not exclude each other: a question may stand in several, and in none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.runs.analysis.categories.tags import SHOWN
from videoautoarena.runs.analysis.categories.tags import categories_of as question_categories
from videoautoarena.runs.run.rundir.reader import RunReader

Categories = frozenset[str]


class Classified(NamedTuple):
    """What a classifier said of real questions."""

    classifier: str
    """Its name; the run is tagged by it, too."""
    categories: Mapping[str, Categories | None]
    """By the text of a question; None where nothing could be read."""


READ = frozenset({"en", "de"})
"""Languages whose words are known here."""
_WORDS: dict[str, Any] = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))
_TOLD = {shown: re.compile("|".join(_WORDS["categories"][name])) for name, shown in SHOWN.items()}
GENERAL = frozenset(" ".join(line for of in _WORDS["general"].values() for line in of).split())
"""English and German words that would fit a question about any video."""


def told_categories(question: str) -> Categories:
    """Return the categories that a question's words stand for; only languages of READ are known."""
    plain = " ".join(question.casefold().split())
    return frozenset(name for name, rule in _TOLD.items() if rule.search(plain))


def categories_of(
    run: RunReader, classifier: str | None = None
) -> Mapping[str, Categories | None] | None:
    """Return the categories of each battle's question, by its id, as the run was tagged.

    Without a name, the classifier that read most of it counts. A battle is left out if its
    question has no readable tag; None means that the run has no tags at all.
    """
    tagged = question_categories(run, classifier)
    if not tagged:
        return None
    return {battle: frozenset(SHOWN[name] for name in names) for battle, names in tagged.items()}
