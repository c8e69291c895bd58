"""Which categories the questions of a run are of, by the tags that it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.records import QUESTION_CATEGORIES, Battle, QuestionCategory
from videoautoarena.memory.store.evidence import QuestionTag, generation_of
from videoautoarena.runs.run.rundir.reader import RunReader

NONE = "none of these"
"""Label of questions that were read and are of no category."""
UNTAGGED = "not tagged"
"""Label of questions without a tag."""
SHOWN: Mapping[str, str] = {name: name.replace("_", " ") for name in QUESTION_CATEGORIES}
"""Category to what people read."""


class TaggedQuestion(NamedTuple):
    """A question as it is tagged: once for each video, however often it was put."""

    id: str
    video: str
    text: str


def asked_of(video: str, question: str) -> TaggedQuestion:
    """Return a question about a video with its id."""
    return TaggedQuestion(digest(canonical_json([video, question]))[:16], video, question)


def questions_of(battles: Iterable[Battle]) -> list[TaggedQuestion]:
    """Return the questions of battles, equal ones about one video once, in slot order."""
    found = (asked_of(one.video, one.question) for one in battles if one.question is not None)
    return list(dict.fromkeys(found))


def standing_tags(tags: Iterable[QuestionTag]) -> list[QuestionTag]:
    """Return the tags that count: the last readable one of each classifier on each question."""
    found: dict[tuple[str, str], QuestionTag] = {}
    for tag in sorted(tags, key=lambda tag: generation_of(tag.id)[1]):
        place = (tag.classifier, tag.question)
        # A later try that could not be read does not take back an earlier reading.
        if tag.reason is None or place not in found or found[place].reason is not None:
            found[place] = tag
    return list(found.values())


def classifier_of(tags: Collection[QuestionTag]) -> str | None:
    """Return the classifier that counts where several classified a run: who read most questions.

    Of two that read equally many it is the one that began earlier; None if there are no tags.
    """
    read = Counter(tag.classifier for tag in tags if tag.reason is None)
    # `max` keeps the first of equals, and tags stand in the order in which they were made.
    return max(read, key=read.__getitem__, default=None)


def classifiers_of(run: RunReader) -> list[str]:
    """Return who tagged a run with at least one tag that could be read, who began first first."""
    standing = standing_tags(run.store.evidence.tags())
    return list(dict.fromkeys(tag.classifier for tag in standing if tag.reason is None))


def tags_of(run: RunReader, classifier: str | None = None) -> dict[str, QuestionTag]:
    """Return the tags of one classifier that could be read, by the id of the question.

    Nobody named: the one of `classifier_of`. Empty where the run has none.
    """
    standing = standing_tags(run.store.evidence.tags())
    who = classifier_of(standing) if classifier is None else classifier
    return {tag.question: tag for tag in standing if tag.classifier == who and tag.reason is None}


def said_yes(tag: QuestionTag) -> tuple[QuestionCategory, ...]:
    """Return the categories of a question, in their order; what is unknown is none of them."""
    return tuple(name for name in QUESTION_CATEGORIES if tag.categories.get(name) == "yes")


def categories_of(run: RunReader, classifier: str | None = None) -> Mapping[str, tuple[str, ...]]:
    """Return the names of its question's categories for each battle whose question was tagged.

    A battle is in none of them where its tuple is empty; one that was not tagged, or whose tag
    could not be read, is left out.
    """
    tags = tags_of(run, classifier)
    if not tags:
        return {}
    return {
        battle.id: said_yes(tags[asked.id])
        for battle in run.battles
        if battle.question is not None
        and (asked := asked_of(battle.video, battle.question)).id in tags
    }
