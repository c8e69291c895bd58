from __future__ import annotations

import pytest

from videoautoarena.memory.records.errors import (
    ArenaError,
    CallFailed,
    EmptyReply,
    FramesLost,
    ProviderFailed,
    Refusal,
    UnusableReply,
)
from videoautoarena.memory.records.records import Grade


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UnusableReply("no verdict"), "unusable-reply"),
        (EmptyReply("no text"), "empty"),
        (Refusal("I cannot help with that"), "refusal"),
        (FramesLost("frames changed"), "frames"),
        (ProviderFailed("bad request", kind="http-400"), "http-400"),
        (CallFailed("no reason"), "failed"),
    ],
)
def test_a_failed_call_says_of_what_kind(error: CallFailed, kind: str) -> None:
    assert error.kind == kind
    assert isinstance(error, ArenaError)


def test_a_grade_adds_up_its_four_standards() -> None:
    grade = Grade(
        instruction_following=1.1, accuracy=2.2, relevance=3.3, helpfulness=4.4, overall=5.0
    )
    assert grade.total == 11.0
