"""Records hold what can be, and read what a body leaves out as it was meant."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.runfiles import battle
from videoautoarena.memory.records.digests import read_body, write_body
from videoautoarena.memory.records.records import (
    Battle,
    CallLimits,
    CallRow,
    Nonce,
    Persona,
    Price,
    Record,
    Sampling,
    StoredAnswer,
    Usage,
)
from videoautoarena.memory.store.evidence import LabelSample

SAMPLE = {"seed": 0, "of": ("v",), "drawn": ()}
PRICE = {"input_usd": 0.0, "output_usd": 0.0}


@pytest.mark.parametrize(
    ("kind", "told", "field", "good", "bad"),
    [
        (Persona, {"text": ""}, "index", (1, 3), (0, 4)),
        (LabelSample, SAMPLE, "chance", (1e-9, 1.0), (0.0, 1.1)),
        (Sampling, {}, "frames", (2, 1024), (1, 1025)),
        (Sampling, {}, "size_px", (16, 4096), (15, 4097)),
        (Sampling, {}, "quality", (1, 95), (0, 96)),
        (Sampling, {}, "fps", (0.01, 240.0), (0.0, 240.5)),
        (CallLimits, {}, "concurrency", (1,), (0,)),
        (CallLimits, {}, "requests_per_minute", (0.01,), (0.0, float("inf"))),
        (CallLimits, {}, "tokens_per_minute", (0.01,), (0.0, float("inf"))),
        (CallLimits, {}, "images_per_request", (0,), (-1,)),
        (CallLimits, {}, "body_bytes", (1,), (0,)),
        (Price, PRICE, "input_usd", (0.0,), (-0.1, float("inf"), float("nan"))),
        (Price, PRICE, "output_usd", (0.0,), (-0.1, float("inf"))),
        (Price, PRICE, "cached_usd", (0.0,), (-0.1, float("inf"))),
        (Price, PRICE, "written_usd", (0.0,), (-0.1, float("inf"))),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value)[:20],
)
def test_a_record_holds_what_can_be_and_nothing_beyond(
    kind: type[Record],
    told: dict[str, Any],
    field: str,
    good: tuple[float, ...],
    bad: tuple[float, ...],
) -> None:
    for value in good:
        assert getattr(kind.model_validate({**told, field: value}), field) == value
    for value in bad:
        with pytest.raises(ValidationError):
            kind.model_validate({**told, field: value})


def test_what_the_body_of_a_call_leaves_out_is_nothing() -> None:
    told = '{"alias":"a","endpoint":"h","key":"k","model":"m","prompt":"","reply":null,'
    row = read_body(CallRow, f'{told}"nonce":{{"role":"judge","scope":"v"}}}}')
    assert row.model_dump(exclude={"alias", "endpoint", "key", "model", "prompt", "reply"}) == {
        "nonce": Nonce(scope="v", role="judge", generation=0, ordinal=0).model_dump(),
        "failure": None,
        "failure_kind": None,
        "usage": dict.fromkeys(Usage.model_fields),
        "cost_usd": None,
        "cost_from": None,
        "may_have_cost_usd": None,
        "served_by": None,
        "ending": None,
        "frames": None,
        "structured": None,
        "text_chars": 0,
        "latency_s": 0.0,
        "attempts": (),
        "batch": None,
    }


def test_only_a_borrowed_answer_is_spoken_of() -> None:
    plain = battle("v-p1-r0~1")
    lent = plain.model_copy(update={"borrowed": StoredAnswer(battle="v-p1-r0", seat="b")})
    assert "borrowed" not in json.loads(write_body(plain))
    assert json.loads(write_body(lent))["borrowed"] == {"battle": "v-p1-r0", "seat": "b"}
    for one in (plain, lent):
        assert read_body(Battle, write_body(one)) == one


def test_as_it_stands_a_sampling_is_the_one_that_runs_without_a_word_were_made_with() -> None:
    assert Sampling().model_dump() == {
        "frames": 128,
        "size_px": 512,
        "fit": "keep",
        "quality": 85,
        "policy": "uniform",
        "fps": None,
        "decoder": "av",
        "ocr": False,
    }
