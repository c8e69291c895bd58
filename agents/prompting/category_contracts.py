"""What the roles reply that sort questions, and how a yes or no is read.

Models wrap a yes in brackets, stars or tags, say why, or send a JSON bool. What is none of that is
unknown: a no that nobody said would make a category look rare.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, create_model

from videoautoarena.agents.prompting.contracts import Reply, Text
from videoautoarena.memory.records.questions import QUESTION_CATEGORIES, Decision

_TAGS = re.compile(r"<[^<>]{0,40}>")
_LABEL = re.compile(r"^(?:answer|decision|verdict|label|result|value)\W*[:=]\W*", re.IGNORECASE)
_WORD = re.compile(r"[\W_]*(yes|no|true|false)\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_GOES_ON = re.compile(
    r"\W*$|[ \t]*(?:[.,;:!()\]}>\"'*`\u2013\u2014]|-(?!\w))|\s*\n"
    r"|\s+(?:because|since|as|for|it|the|this|there|that)\b"
)
"""What may follow a yes or a no: "no idea", "no-one" and "yes/no" are neither."""
_TURNS = re.compile(
    r"^\s*\?|^\W*(?:yes|no|or|actually|wait|rather|but|maybe|perhaps|possibly|hmm|unsure)\b"
    r"|\b(?:not (?:\w+ )?(?:sure|certain)|cannot (?:tell|say)|can['’]t (?:tell|say)|unclear"
    r"|uncertain|hard to (?:say|tell)|no way to)\b",
    re.IGNORECASE,
)
"""Words after it by which it is taken back, or was none."""
_YES = re.compile(r"\byes\b", re.IGNORECASE)
_MEANS: dict[str, Decision] = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}


def read_decision(said: object) -> Decision:
    """Return what a value of a reply says; "unknown" for whatever is neither yes nor no."""
    if isinstance(said, bool):
        return "yes" if said else "no"
    if isinstance(said, list) and len(said) == 1:
        return read_decision(said[0])
    if not isinstance(said, str):
        return "unknown"
    text = _LABEL.sub("", _TAGS.sub(" ", said).strip(" \t\r\n\"'*`[(")).strip()
    found = _WORD.match(text)
    if found is None or not _GOES_ON.match(found["rest"]) or _TURNS.search(found["rest"]):
        return "unknown"
    means = _MEANS[found[1].lower()]
    # "yes, there is no sign" is a yes; "no, I would say yes" is anybody's guess
    return "unknown" if means == "no" and _YES.search(found["rest"]) else means


Read = Annotated[Decision, BeforeValidator(read_decision)]


class _Lenient(Reply):
    model_config = ConfigDict(frozen=True, extra="ignore")


_FIELDS: dict[str, Any] = dict.fromkeys(QUESTION_CATEGORIES, (Read, "unknown"))
ClassifierReply: type[Reply] = create_model("ClassifierReply", __base__=_Lenient, **_FIELDS)
"""A yes or no for each category; what is missing is unknown, and what else is said is no matter."""


class TopicNamerReply(Reply):
    """What a group of questions is about, in a few words."""

    name: Text
