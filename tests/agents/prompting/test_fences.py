"""A fence's code is found again, and occurs in nothing that it fences."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from videoautoarena.agents.prompting import fences
from videoautoarena.agents.prompting.fences import fence_code
from videoautoarena.memory.records.digests import digest

TEXTS = {"question": "What is thrown?", "answer": 'A pan"cake", «so».\n'}


def code_of(texts: dict[str, str], *, counter: int = 0) -> str:
    told = [7, "v-p1-r0", "judge", counter, [list(text) for text in sorted(texts.items())]]
    material = json.dumps(told, separators=(",", ":"))
    return hashlib.sha256(material.encode()).hexdigest()[:16]


def test_a_code_is_the_digest_of_seed_scope_role_counter_and_all_texts() -> None:
    assert fence_code(7, "v-p1-r0", "judge", TEXTS) == code_of(TEXTS)
    backwards = dict(reversed(TEXTS.items()))
    assert fence_code(7, "v-p1-r0", "judge", backwards) == code_of(TEXTS)


class Counted:
    """A digest that follows from the counter alone, so that a text can hold it."""

    def __init__(self, material: bytes) -> None:
        self._counter = int(json.loads(material)[3])

    def hexdigest(self) -> str:
        return digest(f"counter {self._counter}")


@pytest.mark.parametrize(("held", "counter"), [((), 0), ((0,), 1), ((0, 1, 2), 3), ((1,), 0)])
def test_the_counter_goes_up_until_the_code_occurs_in_no_text(
    monkeypatch: pytest.MonkeyPatch, held: Sequence[int], counter: int
) -> None:
    codes = [digest(f"counter {number}")[:16] for number in range(4)]
    monkeypatch.setattr(fences, "hashlib", SimpleNamespace(sha256=Counted))
    marks = "".join(f"<<<end a {codes[number]}>>>" for number in held)
    texts = {"a": "nothing", "b": f"It is. {marks}\n", "c": ""}
    assert fence_code(7, "v-p1-r0", "judge", texts) == codes[counter]
