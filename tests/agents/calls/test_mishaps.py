"""What becomes of a call for everything that a server or model can do wrong, in both protocols."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.asking import Pages, frames_of, load_bytes, no_pause, request_of
from tests.support.loopback import PROSE, Loopback, always, serving
from tests.support.manners import Chaos, Limits, Manners, Mishap
from tests.support.virtual import skipping
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.models.registry import Model
from videoautoarena.memory.records.errors import CallFailed
from videoautoarena.memory.records.records import CallRow

NAMES = {"openai": "gpt-4o", "google_genai": "gemini-2.5-flash"}
SAID = "A heron."


class Told(NamedTuple):
    """What one call left behind."""

    row: CallRow
    arrived: list[dict[str, Any]]

    @property
    def tried(self) -> list[str]:
        return [attempt.kind for attempt in self.row.attempts]


@pytest.fixture(params=["openai", "google_genai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def _ask(model: Model, calls: int) -> list[CallRow]:
    journal = Pages()
    asker = Asker(journal, load_bytes, pause=no_pause)
    try:
        for number in range(calls):
            try:
                await asker.ask(model, request_of("Well?", frames=frames_of(8), ordinal=number))
            except CallFailed:
                continue
    finally:
        await asker.aclose()
    return list(journal.rows.values())


def model_at(provider: str, server: Loopback, timeout_s: float = 30.0) -> Model:
    url = server.openai_url if provider == "openai" else server.gemini_url
    return Model(
        alias="r", model=f"{provider}:{NAMES[provider]}", base_url=url, timeout_s=timeout_s
    )


def suffer(
    place: Path, provider: str, manners: Manners, *, calls: int = 1, timeout_s: float = 30.0
) -> list[Told]:
    """Make calls one after the other of a server with these manners."""
    with serving(place / "log", manners, brain=always(SAID)) as server:
        rows = asyncio.run(_ask(model_at(provider, server, timeout_s), calls))
        tries = sum(len(row.attempts) + 1 for row in rows)
        arrived = [event for event in server.after(tries) if event["event"] == "arrived"]
        return [Told(row, [e for e in arrived if e["key"] == row.key]) for row in rows]


@pytest.mark.parametrize(
    ("mishap", "tried"),
    [
        (Mishap("status", status=429, retry_after=0), "http-429"),
        (Mishap("status", status=429, retry_after=3), "http-429"),
        (Mishap("status", status=429, retry_after=86_400), "http-429"),
        (Mishap("status", status=429, retry_after="soon"), "http-429"),
        (Mishap("status", status=429, retry_after="in a while"), "http-429"),
        (Mishap("status", status=429), "http-429"),
        (Mishap("status", status=500), "http-500"),
        (Mishap("html", status=502), "http-502"),
        (Mishap("status", status=503), "http-503"),
        (Mishap("html", status=529), "http-529"),
        (Mishap("close"), "connection"),
        (Mishap("half"), "connection"),
        (Mishap("cut"), "connection"),
    ],
)
def test_what_passes_is_tried_again_and_the_call_succeeds(
    mishap: Mishap, tried: str, provider: str, tmp_path: Path
) -> None:
    (told,) = suffer(tmp_path, provider, Manners(mishaps=(mishap,)))
    assert (told.row.reply, told.tried, len(told.arrived)) == (SAID, [tried], 2)


@pytest.mark.parametrize(("deed", "provider"), [("silent", "openai"), ("trickle", "google_genai")])
def test_an_answer_that_takes_too_long_is_tried_again(
    deed: Any, provider: str, tmp_path: Path
) -> None:
    def is_late() -> bool:
        return len(server.events("arrived")) == 2 > len(server.events("sent"))

    manners = Manners(mishaps=(Mishap(deed, nth=2, seconds=10),))
    with serving(tmp_path / "log", manners, brain=always(SAID)) as server, skipping(is_late):
        rows = asyncio.run(_ask(model_at(provider, server, timeout_s=3.0), 2))
    assert [row.reply for row in rows] == [SAID, SAID]
    # On a machine under load others may take too long as well.
    assert {attempt.kind for row in rows for attempt in row.attempts} == {"timeout"}


def test_slow_bytes_that_come_in_time_are_an_answer(provider: str, tmp_path: Path) -> None:
    (told,) = suffer(tmp_path, provider, Manners(mishaps=(Mishap("trickle", seconds=0.2),)))
    assert (told.row.reply, told.tried) == (SAID, [])


@pytest.mark.parametrize(
    ("deed", "kind"),
    [
        ("quota", "quota"),
        ("filter-error", "content-filter"),
        ("filter", "content-filter"),
        ("filtered", "content-filter"),
    ],
)
def test_what_no_patience_helps_is_asked_once(
    deed: Any, kind: str, provider: str, tmp_path: Path
) -> None:
    (told,) = suffer(tmp_path, provider, Manners(mishaps=(Mishap(deed, times=9),)))
    assert (told.row.reply, told.row.failure_kind, len(told.arrived)) == (None, kind, 1)


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_a_reasoning_parser_took_is_named_as_that(
    stream: bool, tmp_path: Path
) -> None:
    manners = Manners(mishaps=(Mishap("reasoned", times=9),))
    with serving(tmp_path / "log", manners, brain=always(SAID)) as server:
        model = model_at("openai", server)
        if stream:
            model = model.with_settings(parameters={"stream": True})
        (row,) = asyncio.run(_ask(model, 1))
    assert (row.failure_kind, len(row.attempts)) == ("empty", 2)
    assert "all words stand in reasoning_content" in (row.failure or "")


def test_a_structured_refusal_is_a_failure_of_its_own_kind(tmp_path: Path) -> None:
    (told,) = suffer(tmp_path, "openai", Manners(mishaps=(Mishap("refusal"),)))
    assert (told.row.failure_kind, told.row.failure) == (
        "refusal",
        "I'm sorry, I can't help with that.",
    )


def test_an_answer_that_recites_is_kept_back_by_a_filter(tmp_path: Path) -> None:
    (told,) = suffer(tmp_path, "google_genai", Manners(mishaps=(Mishap("refusal"),)))
    assert told.row.failure_kind == "content-filter"


@pytest.mark.parametrize(
    ("deed", "ending", "said"),
    [("prose", "stop", PROSE), ("truncated", "cut", "A he"), ("other-model", "stop", SAID)],
)
def test_a_reply_is_kept_as_it_is_with_how_it_ended(
    deed: Any, ending: str, said: str, provider: str, tmp_path: Path
) -> None:
    (told,) = suffer(tmp_path, provider, Manners(mishaps=(Mishap(deed),)))
    endings = {"cut": ("length", "MAX_TOKENS"), "stop": ("stop", "STOP")}[ending]
    assert (told.row.reply, told.row.ending in endings) == (said, True)
    is_other = deed == "other-model"
    assert told.row.served_by == ("another-model-2" if is_other else NAMES[provider])


NO_ANSWERS = ("empty", "blanks", "html", "wrong-json", "cut-json", "deep-json", "no-choice")


@pytest.mark.parametrize("deed", NO_ANSWERS)
def test_what_is_no_answer_never_becomes_one_and_is_asked_for_three_times(
    deed: Any, provider: str, tmp_path: Path
) -> None:
    mishap = Mishap(deed, status=200, times=99)
    (told,) = suffer(tmp_path, provider, Manners(mishaps=(mishap,)))
    assert told.row.reply is None
    assert told.row.failure_kind in ("malformed", "empty")
    assert len(told.arrived) == 3


@pytest.mark.parametrize("deed", NO_ANSWERS)
def test_what_was_no_answer_once_may_be_one_the_next_time(
    deed: Any, provider: str, tmp_path: Path
) -> None:
    (told,) = suffer(tmp_path, provider, Manners(mishaps=(Mishap(deed, status=200),)))
    assert (told.row.reply, len(told.arrived)) == (SAID, 2)
    assert told.tried[0] in ("malformed", "empty")


def test_a_reply_that_its_provider_broke_off_is_no_answer(tmp_path: Path) -> None:
    (told,) = suffer(tmp_path, "openai", Manners(mishaps=(Mishap("broken-off", times=99),)))
    assert (told.row.reply, told.row.failure_kind, len(told.arrived)) == (None, "malformed", 3)
    assert told.row.failure == "the provider broke the reply off (error)"
    (tmp_path / "again").mkdir()
    (told,) = suffer(tmp_path / "again", "openai", Manners(mishaps=(Mishap("broken-off"),)))
    assert (told.row.reply, told.tried) == (SAID, ["malformed"])


@pytest.mark.parametrize(("deed", "provider"), [("huge", "openai"), ("bomb", "google_genai")])
def test_a_body_that_goes_on_is_read_no_further(deed: Any, provider: str, tmp_path: Path) -> None:
    (told,) = suffer(tmp_path, provider, Manners(mishaps=(Mishap(deed, times=99),)))
    assert (told.row.reply, told.row.failure_kind, len(told.arrived)) == (None, "malformed", 3)
    assert "longer than 32 MB" in (told.row.failure or "")


def test_a_reply_that_goes_on_twice_is_a_failure_and_is_not_kept(
    provider: str, tmp_path: Path
) -> None:
    (told,) = suffer(tmp_path, provider, Manners(mishaps=(Mishap("endless", times=99),)))
    assert (told.row.reply, told.row.failure_kind, len(told.arrived)) == (None, "malformed", 2)
    assert len(told.row.failure or "") < 200
    assert told.row.usage.output_tokens is not None


def test_a_reply_that_goes_on_once_is_asked_again_and_what_it_cost_is_kept(
    provider: str, tmp_path: Path
) -> None:
    (told,) = suffer(tmp_path, provider, Manners(mishaps=(Mishap("endless"),)))
    assert (told.row.reply, told.tried, len(told.arrived)) == (SAID, ["malformed"], 2)
    (attempt,) = told.row.attempts
    assert "characters; 200000 are read" in attempt.reason
    assert attempt.usage.output_tokens is not None


def test_a_reply_that_goes_on_after_another_mishap_is_not_asked_for_again(tmp_path: Path) -> None:
    mishaps = (Mishap("broken-off"), Mishap("endless", times=99))
    (told,) = suffer(tmp_path, "openai", Manners(mishaps=mishaps))
    assert (told.row.reply, told.tried) == (None, ["malformed"])


@pytest.mark.parametrize("deed", ["html", "wrong-json", "cut-json", "no-choice"])
def test_a_body_that_cannot_be_read_once_is_asked_for_again(deed: Any, tmp_path: Path) -> None:
    mishap = Mishap(deed, status=200, times=2)
    (told,) = suffer(tmp_path, "openai", Manners(mishaps=(mishap,)))
    assert (told.row.reply, told.tried) == (SAID, ["malformed"] * 2)


@pytest.mark.parametrize("limit", ["images", "long_images"])
def test_a_request_that_is_too_large_goes_out_once_more_with_fewer_frames(
    limit: str, provider: str, tmp_path: Path
) -> None:
    limits = Limits(**{limit: 4})
    (told,) = suffer(tmp_path, provider, Manners(limits=limits))
    assert (told.row.reply, told.tried) == (SAID, ["too-large"])
    assert [event["images"] for event in told.arrived] == [8, 4]
    assert told.row.frames == 4


def test_answers_with_the_same_id_are_answers_of_their_own(provider: str, tmp_path: Path) -> None:
    told = suffer(tmp_path, provider, Manners(), calls=3)
    assert [one.row.reply for one in told] == [SAID] * 3
    assert len({one.row.key for one in told}) == 3


def test_equal_requests_meet_equal_chaos_whenever_they_come() -> None:
    chaos = Chaos(seed=3, rate_429=0.3, rate_5xx=0.2, rate_broken=0.1, rate_malformed=0.2)
    tries = [(f"key {key}", attempt) for key in range(200) for attempt in range(1, 6)]
    met = {tried: chaos.mishap(*tried) for tried in tries}
    assert {tried: chaos.mishap(*tried) for tried in reversed(tries)} == met
    first = [met[f"key {key}", 1] for key in range(200)]
    refused = [m for m in first if m is not None and m.status == 429]
    assert 40 <= len(refused) <= 80


def test_chaos_lets_every_call_by_at_the_fourth_try() -> None:
    chaos = Chaos(rate_429=1.0)
    assert [chaos.mishap("key", attempt) is None for attempt in range(1, 9)] == [False] * 3 + [
        True
    ] * 5
