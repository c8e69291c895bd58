"""What a provider's cache could have spared is estimated, and what it did is what it said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.memory.records.records import Role
from videoautoarena.memory.store.journal import CallFigures
from videoautoarena.runs.console.progress.costs import CacheCount, CacheShare


def row(
    cached: int | None,
    *,
    scope: str = "v1-p1-r0",
    role: Role = "judge",
    model: str = "openai:m",
    frames: int = 128,
    **more: int,
) -> CallFigures:
    return CallFigures(
        scope=scope,
        role=role,
        generation=0,
        model=model,
        alias="m",
        is_answered=True,
        frames=frames,
        text_chars=400,
        latency_s=1.0,
        cost_usd=None,
        input_tokens=more.get("tokens", 1000),
        output_tokens=1,
        cached_tokens=cached,
        attempts=(),
    )


def added_up(rows: list[CallFigures]) -> CacheShare:
    count = CacheCount()
    for one in rows:
        count.add(one)
    return count.total()


def test_all_calls_after_the_first_could_read_all_but_their_own_text() -> None:
    # 1,000 tokens each, of which 400 / 4 are the role's own text.
    found = added_up([row(0, scope="v1", role="examiner"), row(900), row(450)])
    assert found == CacheShare(1800, 1350, 0)
    assert found.share == 0.75
    assert found.as_line().endswith("1,350 of about 1,800 reusable input tokens read (75%)")


def test_more_than_was_foreseen_is_told_without_a_share_of_it() -> None:
    found = added_up([row(0), row(950)])
    assert found.as_line() == "prompt cache: 950 input tokens read, all that were reusable"


@pytest.mark.parametrize("other", [{"scope": "v2-p1-r0"}, {"model": "openai:n"}, {"frames": 64}])
def test_another_video_model_or_choice_of_frames_shares_nothing(other: dict[str, str]) -> None:
    found = added_up([row(0), row(0, **other)])  # type: ignore[arg-type]
    assert (found.could, found.share) == (0, None)


def test_where_nobody_says_the_share_is_unknown_and_not_nothing() -> None:
    found = added_up([row(None), row(None)])
    assert (found.read, found.share, found.unknown) == (None, None, 2)
    assert found.as_line() == "prompt cache: unknown (no provider reports it)"


def test_a_call_that_does_not_say_is_left_out_of_both() -> None:
    found = added_up([row(0), row(None), row(900)])
    assert (found.could, found.read, found.unknown) == (900, 900, 1)


def test_stand_ins_have_no_cache() -> None:
    found = added_up([row(0, model="offline:hawk"), row(0, model="offline:hawk")])
    assert found == CacheShare()
    assert found.as_line() == ""


@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 2000)), max_size=20))
def test_the_share_is_one_whatever_a_provider_says(tokens: list[tuple[int, int]]) -> None:
    found = added_up([row(cached, tokens=total) for total, cached in tokens])
    assert found.could >= 0
    assert found.share is None or 0 <= found.share <= 1
