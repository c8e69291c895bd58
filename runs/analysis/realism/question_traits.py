"""Measures traits of a question, whoever asked it.

Length, form, category, vagueness and language, by the same rules on both sides.

Words are read in English, and some in German. A question in a language that a trait does not read
is unknown to that trait: it is counted, and enters no figure of it. Categories are those that a
run was tagged with, or told by words; a question may stand in several, and in none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.agents.prompting.languages import UNKNOWN, asked_language
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.categories.tags import NONE, SHOWN
from videoautoarena.runs.analysis.categories.tags import categories_of as question_categories
from videoautoarena.runs.analysis.realism.question_file import RealQuestion
from videoautoarena.runs.run.rundir.reader import RunReader
from videoautoarena.scoring.texts.style import count_words
from videoautoarena.scoring.texts.traits import asked_form

Categories = frozenset[str]


class Classified(NamedTuple):
    """What a classifier said of real questions."""

    classifier: str
    """Its name, by which the run is tagged, too."""
    categories: Mapping[str, Categories | None]
    """By the text of a question; None where nothing could be read."""


READ = frozenset({"en", "de"})
"""Languages whose words are known here."""
_WORDS: dict[str, Any] = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))
_TOLD = {shown: re.compile("|".join(_WORDS["categories"][name])) for name, shown in SHOWN.items()}
GENERAL = frozenset(" ".join(line for of in _WORDS["general"].values() for line in of).split())
"""English and German words that would fit a question about any video."""


def told_categories(question: str) -> Categories:
    """Return the categories that a question's words stand for, as they are shown; in READ alone."""
    plain = " ".join(question.casefold().split())
    return frozenset(name for name, rule in _TOLD.items() if rule.search(plain))


def categories_of(
    run: RunReader, classifier: str | None = None
) -> Mapping[str, Categories | None] | None:
    """Return the categories of each battle's question, by its id, as the run was tagged.

    Nobody named: by the classifier who read most of it. A battle that is not there is one of
    whose question nobody could tell; None at all that the run has no tags.
    """
    tagged = question_categories(run, classifier)
    if not tagged:
        return None
    return {battle: frozenset(SHOWN[name] for name in names) for battle, names in tagged.items()}


_FORMS_READ = frozenset({"en"})


@dataclass(frozen=True)
class MeasuredQuestion:
    """A question, measured."""

    cluster: str
    """Key that it shares with questions that are not independent of it: its video."""
    length: int
    """Words and signs."""
    form: str | None
    """One of FORMS; None where unknown, like the next three."""
    categories: Categories | None
    """Its categories; NONE alone if it is of no other."""
    vagueness: float | None
    """0 to 1."""
    language: str | None
    """Its code."""
    difficulty: float | None = None
    """Overall grade of a difficulty grader, 1 to 5; None where nobody graded it."""


def measure_question(
    text: str, cluster: str, *, language: str | None, categories: Categories | None
) -> MeasuredQuestion:
    """Return a question measured; its categories stay None where they are not known."""
    named = None if categories is None else categories or frozenset({NONE})
    return MeasuredQuestion(
        cluster,
        count_words(text),
        asked_form(text) if _reads(_FORMS_READ, language) else None,
        named,
        measure_vagueness(text) if _reads(READ, language) else None,
        language,
    )


def simulated_questions(
    battles: Sequence[Battle],
    paths: Mapping[str, str],
    tags: Mapping[str, Categories | None] | None,
) -> dict[str, MeasuredQuestion]:
    """Return the question of each battle that has one, by the battle's id.

    Args:
        battles: of a run.
        paths: of its videos, by their ids.
        tags: what the run was tagged with, by battle; None: words tell.
    """
    found = {}
    for battle in battles:
        if battle.question is None:
            continue
        language = _known(asked_language(battle.language, battle.question))
        told = _told(battle.question, language) if tags is None else tags.get(battle.id)
        found[battle.id] = measure_question(
            battle.question,
            paths.get(battle.video, battle.video),
            language=language,
            categories=told,
        )
    return found


def asked_once(
    battles: Sequence[Battle], measured: Mapping[str, MeasuredQuestion]
) -> list[MeasuredQuestion]:
    """Return each question once, however many battles it was fought over."""
    seen = set[tuple[str, int, int, str | None]]()
    found = []
    for battle in battles:
        # Equal words of two users are two questions.
        key = (battle.video, battle.persona, battle.round, battle.question)
        if battle.id in measured and key not in seen:
            seen.add(key)
            found.append(measured[battle.id])
    return found


def real_questions(
    given: Sequence[RealQuestion],
    *,
    own: bool,
    classified: Mapping[str, Categories | None] | None = None,
) -> list[MeasuredQuestion]:
    """Return the questions of a file, measured.

    Args:
        given: the questions of the file. One without a video is independent of all others.
        own: take the categories that the file states; else words tell.
        classified: take these instead, by text; one that is not there is unknown.
    """
    found = []
    for number, one in enumerate(given):
        language = _known(asked_language(one.language, one.text))
        if classified is not None:
            told = classified.get(one.text)
        elif own:
            told = None if one.categories is None else frozenset(one.categories)
        else:
            told = _told(one.text, language)
        # A path holds no NUL, so that no video is called that.
        cluster = f"\0{number}" if one.video is None else one.video
        found.append(measure_question(one.text, cluster, language=language, categories=told))
    return found


def _known(language: str) -> str | None:
    return None if language == UNKNOWN else language


def _told(text: str, language: str | None) -> Categories | None:
    return told_categories(text) if _reads(READ, language) else None


def _reads(known: Collection[str], language: str | None) -> bool:
    """Return whether words of a language are read; an unknown language may be one of those."""
    return language is None or language in known


def measure_vagueness(question: str) -> float | None:
    """Return the share of a question's words that would fit any video; None without a word.

    Those are the words of GENERAL: function words, question words, pronouns, and nouns and verbs
    that name nothing particular ("thing", "video", "happen"). What is left are words that say which
    thing, colour, place, number or moment is meant.
    """
    # A typographic apostrophe, as phones write it, would cut a contraction in two.
    words = _WORD.findall(question.casefold().replace("’", "'"))
    return sum(word in GENERAL for word in words) / len(words) if words else None


_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
