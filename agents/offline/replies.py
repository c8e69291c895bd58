"""Which role answers a message: a reply from what was sent, and from nothing else."""

from __future__ import annotations

import json

from agents.fences import open_fences
from agents.offline.contestants import answer
from agents.offline.evolution import evolve, grade
from agents.offline.referee import compare, judge
from agents.offline.sent import Sent
from agents.offline.users import examine, first_question, invent

PANEL = frozenset({"examiner", "judge"})
"""Kinds that play whichever role the contract names."""


def reply(kind: str, sent: Sent) -> str:
    """Return the reply of an offline model; the role is read outside the fences only."""
    # a contestant is never anything else, whatever the question says of reply formats
    role = sent.role if kind in PANEL else None
    if role is None or not sent.pictures:
        return answer(kind, sent)
    blocks = open_fences(sent.text)[1]
    if role == "examiner":
        return json.dumps(examine(sent))
    acts = {
        "persona": invent,
        "questioner": first_question,
        "judge": judge,
        "evolver": evolve,
        "grader": grade,
        "comparer": compare,
    }
    return json.dumps(acts[role](sent, blocks)) if role in acts else answer(kind, sent)
