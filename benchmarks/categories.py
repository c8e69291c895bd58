"""How well the offline classifier tells what kind of question it is: precision and recall.

    python -m benchmarks.categories [--questions N]

What offline users ask is known by its facets: of N such questions, times and orders and counts are
categories that occur. Of the other ten there are thirty questions each in categories.json, written
by hand; a question may be of several. The classifier's rules were written before them and are not
changed for them. Every question goes through the classifier's own prompt, and its reply is read as
any model's. Intervals are Wilson's.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.canned import keep, parser_of
from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.phrasing import Ask, phrase
from videoautoarena.agents.offline.language.values import Dice
from videoautoarena.agents.offline.players.model import reply
from videoautoarena.agents.offline.vision.frame_features import Sent
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.classify import read_categories
from videoautoarena.agents.roles.prompter import Task, worded
from videoautoarena.memory.records.questions import QUESTION_CATEGORIES
from videoautoarena.runs.categories.check import Row, Said, check_rows

HAND_MADE = Path(__file__).with_suffix(".json")
COUNTED = frozenset({"shots", "blanks"})
UNTIMED = COUNTED | {"main_colour", "open_colour", "close_colour"}
OCCUR = ("counting", "order and time")


class Bound(NamedTuple):
    """What every category keeps at least."""

    precision: float
    recall: float


OFFLINE, BY_HAND = Bound(0.95, 0.95), Bound(0.75, 0.5)
"""Of what offline users ask, which the rules know, and of what was written after the rules."""


class Question(NamedTuple):
    """A question and what it is."""

    text: str
    of: frozenset[str]


def offline_questions(count: int) -> list[Question]:
    """Return questions as offline users put them, of two or three facts, some in a form."""
    found = []
    for k in range(count):
        dice = Dice("categories", str(k))
        keys = tuple(dice.shuffled(list(FACETS))[: 1 + dice.below(3)])
        form = (None, None, "table", "list", "json", "short")[dice.below(6)]
        of = {"counting"} if COUNTED & set(keys) else set()
        of |= {"order_and_time"} if set(keys) - UNTIMED else set()
        found.append(Question(phrase(Ask(keys, form=form), dice), frozenset(of)))  # type: ignore[arg-type]
    return found


def hand_made() -> list[Question]:
    """Return those that were written by hand."""
    lines = json.loads(HAND_MADE.read_text("utf-8"))
    return [Question(text, frozenset(of)) for text, of in lines]


def classified(questions: Sequence[Question]) -> tuple[Row, ...]:
    """Return precision and recall of the offline classifier."""
    prompts = PromptSet.load(categories=True)
    said: list[Said] = []
    for one in questions:
        text = worded(prompts, Task("classifier", None, scope="q", texts={"question": one.text}))
        said.append(read_categories(reply("examiner", Sent((), text, 0))).categories)
    truth: list[Said] = [
        {name: "yes" if name in one.of else "no" for name in QUESTION_CATEGORIES}
        for one in questions
    ]
    return check_rows(said, truth, [str(k) for k in range(len(questions))])


def shown(row: Row) -> str:
    """Return a row of the table."""
    figures = (
        f"{f.value:.3f} ({f.low:.3f}-{f.high:.3f})"
        if f.value is not None and f.low is not None and f.high is not None
        else "-"
        for f in (row.precision, row.recall)
    )
    return f"| {row.category} | {row.truths} | {row.claims} | {' | '.join(figures)} |"


def main() -> int:
    """Print both tables; return 1 where a bound does not hold."""
    parser = parser_of(__doc__)
    parser.add_argument("--questions", type=int, default=400)
    asked = parser.parse_args()
    holds = True
    for title, questions, bound in (
        ("of offline users", offline_questions(asked.questions), OFFLINE),
        ("written by hand", hand_made(), BY_HAND),
    ):
        rows = [row for row in classified(questions) if row.claims or row.truths]
        print(f"{len(questions)} questions {title}\n")
        print("| category | are | called | precision | recall |\n|---|---|---|---|---|")
        print("\n".join(map(shown, rows)) + "\n")
        held = [row for row in rows if (row.category in OCCUR) == (bound is OFFLINE)]
        precision = min(row.precision.value or 0.0 for row in held)
        recall = min(row.recall.value or 0.0 for row in held)
        holds &= keep(f"precision {title} at least {bound.precision}", precision >= bound.precision)
        holds &= keep(f"recall {title} at least {bound.recall}", recall >= bound.recall)
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main())
