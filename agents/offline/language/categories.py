"""Which categories a question belongs to, by its words alone, as the offline classifier tells.

It measures no picture for it: nothing that is measured in frames tells a sign from a diagram. Each
language that offline models speak has rules of its own; a question is read by those of its own
language, and by all of them where its words do not tell which that is.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from videoautoarena.agents.offline.language.tables import wording
from videoautoarena.agents.offline.language.tongues import CODES, leading

_LONGEST = 4000
"""Characters of a question that are read; its kind is said before."""
_NAMED = 3
_WORD = re.compile(r"[^\W\d_]{4,}")
_COMMON = frozenset(
    _WORD.findall(
        "what when where which whose from that this there with does have been being were will "
        "would could should about into their them they your give times point most least many "
        "please answer second tenth exact list table like know long video picture clip "
        "wann welche welchem welchen welcher welches oder aber nicht eine einen einem einer dass "
        "sind wird werden haben hatte kann können sollte über unter zwischen diese diesem dieser "
        "gern wenn bitte sekunde zehntelsekunde genau viele meisten wenigsten bild gibt wüsste"
    )
)


def categories_in(question: str) -> dict[str, str]:
    """Return yes or no for each category, in their order."""
    # Not casefolded, which would make "ss" of the "ß" that German rules hold.
    plain = " ".join(question[:_LONGEST].lower().replace("’", "'").split())
    own = leading(plain)
    codes = CODES if own is None else (own.code,)
    return {
        name: "yes"
        if any(rule.search(plain) for code in codes for rule in _rules(code)[name])
        else "no"
        for name in _rules(CODES[0])
    }


def topic_in(questions: str) -> str:
    """Return the words that most of some questions, one a line, have in common."""
    counted = Counter[str]()
    for line in questions.splitlines():
        counted.update(dict.fromkeys(_WORD.findall(line.casefold()), 1))
    words = [word for word, _ in counted.most_common() if word not in _COMMON]
    return " and ".join(words[:_NAMED]) or "various things"


@cache
def _rules(code: str) -> dict[str, tuple[re.Pattern[str], ...]]:
    found = wording("language", "categories", code)
    return {name: tuple(map(re.compile, rules)) for name, rules in found.items()}
