"""The offline judge with a checklist and no frames: what an answer says to each of its items."""

from __future__ import annotations

import re

from videoautoarena.agents.offline.language.checks import Answer, Check, hear_answer, read_check
from videoautoarena.agents.offline.players.marking import SAME, points_in, said_of

_ASKED = re.compile(
    r"^(does|did|do|is|are|has|was|can) the (answer|reply|response|assistant|model)\w*\s"
    r"((\w+ly )?(mention|mentions?|states?|says?|describes?|names?|identif(y|ies)|points? out)\s)?"
    r"(that\s)?",
    re.IGNORECASE,
)
"""How an item begins that somebody else worded: what follows is what the answer is to say."""
_WORDS = {True: "The answer says so.", False: "I do not find it in the answer."}


def mark_checklist(blocks: dict[str, str]) -> dict[str, object]:
    """Return yes or no for each item; the answer is heard once for all of them."""
    answer = blocks.get("answer", "")
    items = points_in(blocks.get("checklist", ""))
    checks = [read_check(item) for item in items]
    heard = hear_answer(answer, [check for check in checks if check is not None])
    met = [_meets(heard, check, item) for check, item in zip(checks, items, strict=True)]
    return {"items": [{"analysis": _WORDS[one], "answer": "yes" if one else "no"} for one in met]}


def _meets(heard: Answer, check: Check | None, item: str) -> bool:
    """Return whether the answer meets an item; one in unknown words by the facts or words in it."""
    if check is not None:
        return heard.meets(check)
    return said_of(_ASKED.sub("", item), heard.text) >= SAME
