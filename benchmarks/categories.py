"""How well the offline classifier tells what kind of question it is: precision and recall.

    python -m benchmarks.categories [--questions N]

What offline users ask is known by its facets: of N such questions in each language that they speak,
times and orders and counts are categories that occur, and no other may be called. Of the rest there
are questions written by hand, thirty each in English (categories.json) and ten each in German
(categories_de.json); a question may be of several. They were written after the classifier's rules,
by who wrote those; no rule was changed for them. Their bounds were set when the figures were known:
they tell whether something became worse, and are no evidence that it is good. Every question goes
through the classifier's own prompt, and its reply is read as any model's. Intervals are Wilson's.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.canned import keep, parser_of
from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.phrasing import FactRequest, phrase
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.players.model import reply
from videoautoarena.agents.offline.vision.frame_features import ModelInput
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.classify import read_categories
from videoautoarena.agents.roles.prompter import Task, worded
from videoautoarena.memory.records.records import QUESTION_CATEGORIES
from videoautoarena.runs.analysis.categories.check import CategoryCheckRow, Said, check_rows

HAND_MADE = Path(__file__).with_suffix(".json")
GERMAN = Path(__file__).with_name("categories_de.json")
COUNTED = frozenset({"shots", "blanks"})
UNTIMED = COUNTED | {"main_colour", "open_colour", "close_colour"}
OCCUR = ("counting", "order and time")


class Bound(NamedTuple):
    """What every category keeps at least."""

    precision: float
    recall: float


OFFLINE = Bound(0.95, 0.95)
"""Of what offline users ask, which the rules know."""
BY_HAND = {"English": Bound(0.75, 0.5), "German": Bound(0.65, 0.5)}
"""Of what was written by hand, set after the results: bounds of what may not become worse."""


class Question(NamedTuple):
    """A question and what it is."""

    text: str
    of: frozenset[str]


def offline_questions(count: int, code: str = "en") -> list[Question]:
    """Return questions as offline users put them, of one to three facts, some in a form."""
    found = []
    for k in range(count):
        dice = Dice("categories", str(k))
        keys = tuple(dice.shuffled(list(FACETS))[: 1 + dice.below(3)])
        form = (None, None, "table", "list", "json", "short")[dice.below(6)]
        of = {"counting"} if COUNTED & set(keys) else set()
        of |= {"order_and_time"} if set(keys) - UNTIMED else set()
        found.append(Question(phrase(FactRequest(keys, form=form, code=code), dice), frozenset(of)))  # type: ignore[arg-type]
    return found


def hand_made(file: Path = HAND_MADE) -> list[Question]:
    """Return those that were written by hand, in English or those of another file."""
    lines = json.loads(file.read_text("utf-8"))
    return [Question(text, frozenset(of)) for text, of in lines]


def classified(questions: Sequence[Question]) -> tuple[CategoryCheckRow, ...]:
    """Return precision and recall of the offline classifier."""
    prompts = PromptSet.load(categories=True)
    said: list[Said] = []
    for one in questions:
        text = worded(prompts, Task("classifier", None, scope="q", texts={"question": one.text}))
        said.append(read_categories(reply("examiner", ModelInput((), text, 0))).categories)
    truth: list[Said] = [
        {name: "yes" if name in one.of else "no" for name in QUESTION_CATEGORIES}
        for one in questions
    ]
    return check_rows(said, truth, [str(k) for k in range(len(questions))])


def shown(row: CategoryCheckRow) -> str:
    """Return a row of the table."""
    figures = (
        f"{f.value:.3f} ({f.low:.3f}-{f.high:.3f})"
        if f.value is not None and f.low is not None and f.high is not None
        else "-"
        for f in (row.precision, row.recall)
    )
    return f"| {row.category} | {row.truths} | {row.claims} | {' | '.join(figures)} |"


def printed(questions: Sequence[Question], title: str) -> list[CategoryCheckRow]:
    """Print the table of some questions, and return its rows."""
    rows = [row for row in classified(questions) if row.claims or row.truths]
    print(f"{len(questions)} questions {title}\n")
    print("| category | are | called | precision | recall |\n|---|---|---|---|---|")
    print("\n".join(map(shown, rows)) + "\n")
    return rows


def kept(rows: Sequence[CategoryCheckRow], bound: Bound, title: str) -> bool:
    """Return whether every category keeps its bound, and say so."""
    precision = min(row.precision.value or 0.0 for row in rows)
    recall = min(row.recall.value or 0.0 for row in rows)
    return keep(f"precision {title} at least {bound.precision}", precision >= bound.precision) & (
        keep(f"recall {title} at least {bound.recall}", recall >= bound.recall)
    )


def main() -> int:
    """Print all tables; return 1 where a bound does not hold."""
    parser = parser_of(__doc__)
    parser.add_argument("--questions", type=int, default=400)
    asked = parser.parse_args()
    holds = True
    for language, code, file in (("English", "en", HAND_MADE), ("German", "de", GERMAN)):
        users = offline_questions(asked.questions, code)
        rows = printed(users, f"of offline users in {language}")
        known = [row for row in rows if row.category in OCCUR]
        holds &= kept(known, OFFLINE, f"of offline users in {language}")
        holds &= keep("nothing else is called", known == rows)
        written = printed(hand_made(file), f"written by hand in {language}")
        rest = [row for row in written if row.category not in OCCUR]
        holds &= kept(rest, BY_HAND[language], f"written by hand in {language}")
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main())
