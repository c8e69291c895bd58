"""What a server refuses is learnt once: for calls that wait, that come later, and that resume."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.support.asking import (
    MODEL,
    REMOTE,
    Line,
    Pages,
    Script,
    Status,
    frames_of,
    load_bytes,
    request_of,
    run,
)
from videoautoarena.agents.calls.ask import Asker, CallEvent, journal_key
from videoautoarena.agents.calls.clients import OutgoingCall, ReceivedReply
from videoautoarena.agents.limits.budget import CappedBudget
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.estimates import Estimates
from videoautoarena.agents.limits.server_limits import ServerLimits
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.agents.transport.faults import refused_fields
from videoautoarena.memory.records.errors import BadInput, ProviderFailed
from videoautoarena.memory.records.records import CallLimits, CallRow, LearntLimits, Price, Usage

TOO_MANY = "At most {} image(s) may be provided in one request."
TOO_LARGE = "Request entity too large"
UNKNOWN = "[{'type': 'extra_forbidden', 'loc': ['body', '%s'], 'msg': 'Extra inputs'}]"
PLACE = {"model": REMOTE.resolved, "endpoint": REMOTE.endpoint}


@dataclass
class Server:
    """Answers what `refuse` lets pass, and what was learnt of it is kept as in a run."""

    refuse: Callable[[OutgoingCall], Exception | None]
    limits: ServerLimits = field(default_factory=ServerLimits)
    model: Model = REMOTE
    tokens: Sequence[int] = ()
    """Output tokens of its replies, one after the other; 8 from there on."""

    def __post_init__(self) -> None:
        self.script = Script(self._speak)
        self.journal = Pages()
        self.said: list[str] = []
        self._left = list(self.tokens)
        self.limits.keep = lambda learnt: setattr(self, "kept", learnt)
        self.kept: list[LearntLimits] = []

    def _speak(self, sending: OutgoingCall) -> Line:
        if (wrong := self.refuse(sending)) is not None:
            return wrong
        said = self._left.pop(0) if self._left else 8
        return ReceivedReply(f"{images(sending)} seen", Usage(input_tokens=3, output_tokens=said))

    def hear(self, event: CallEvent) -> None:
        if event.kind == "learnt":
            self.said.append(event.text)

    def ask(self, *requests: Request, **settings: Any) -> list[CallRow | BaseException]:
        """Ask all at once."""
        estimates = Estimates(limits=self.limits)
        settings = {"make_client": self.script, "on_event": self.hear, **settings}
        asker = Asker(self.journal, load_bytes, estimates=estimates, **settings)

        async def ask_all() -> list[CallRow | BaseException]:
            asks = (asker.ask_row(self.model, request) for request in requests)
            return await asyncio.gather(*asks, return_exceptions=True)

        return run(ask_all())

    @property
    def counts(self) -> list[int]:
        return [images(sending) for sending in self.script.seen]


def images(sending: OutgoingCall) -> int:
    return len(sending.frames.frames) if sending.frames else 0


def asks(count: int, frames: int = 64, first: int = 0) -> list[Request]:
    places = range(first, first + count)
    return [request_of(frames=frames_of(frames), ordinal=2 * n) for n in places]


def taking(most: int, words: str = TOO_MANY) -> Callable[[OutgoingCall], Exception | None]:
    refusal = Status(400, body={"message": words.format(most)})
    return lambda sending: refusal if images(sending) > most else None


def test_a_number_that_a_server_names_costs_one_refusal_for_all_later_calls() -> None:
    server = Server(taking(4))
    server.ask(*asks(1))
    server.ask(*asks(9, first=1))
    assert server.counts == [64, *[4] * 10]
    assert server.said == [
        "r is sent at most 4 images a request from now on: 127.0.0.1:9 takes no more"
    ]
    assert server.kept == [LearntLimits(**PLACE, images=4, refused_images=64)]


def test_without_a_number_frames_are_halved_until_they_are_taken() -> None:
    server = Server(taking(10, TOO_LARGE))
    server.ask(*asks(1))
    server.ask(*asks(3, first=1))
    assert server.counts == [64, 32, 16, 8, 8, 8, 8]
    assert server.said == [
        "r is sent at most 8 images a request from now on: 127.0.0.1:9 refused 16 and took 8"
    ]
    assert server.kept == [LearntLimits(**PLACE, images=8, refused_images=16)]


@pytest.mark.parametrize("words", [TOO_MANY, TOO_LARGE])
def test_of_calls_that_wait_none_is_sent_too_large(words: str) -> None:
    server = Server(taking(32, words))
    rows = server.ask(*asks(20), concurrency=3)
    assert sorted(server.counts) == [*[32] * 20, *[64] * 3]
    assert all(isinstance(row, CallRow) and row.frames == 32 for row in rows)
    assert len(server.said) == 1


def test_one_call_alone_finds_out_how_far_frames_must_be_halved() -> None:
    server = Server(taking(5, TOO_LARGE))
    rows = server.ask(*asks(20), concurrency=8)
    assert Counter(server.counts) == {64: 8, 32: 1, 16: 1, 8: 1, 4: 20}
    assert all(isinstance(row, CallRow) for row in rows)


def test_who_finds_that_out_and_fails_keeps_nobody_waiting() -> None:
    def refuse(sending: OutgoingCall) -> Exception | None:
        if images(sending) > 16:
            return Status(413)
        return Status(403) if sending.key == journal_key(REMOTE, asks(1)[0]) else None

    server = Server(refuse)
    first, *others = server.ask(*asks(9), concurrency=3)
    assert isinstance(first, ProviderFailed)
    assert all(isinstance(row, CallRow) and row.frames == 16 for row in others)


def test_who_finds_that_out_and_is_cancelled_keeps_nobody_waiting() -> None:
    begun = asyncio.Event()

    async def hang(sending: OutgoingCall) -> ReceivedReply:
        server.script.seen.append(sending)
        if images(sending) > 8:
            raise Status(413)
        if sending.key == journal_key(REMOTE, asks(1)[0]):
            begun.set()
            await asyncio.Event().wait()
        return ReceivedReply("seen", Usage())

    server = Server(taking(8))
    server.script.send = hang  # type: ignore[method-assign]
    asker = Asker(Pages(), load_bytes, make_client=server.script)

    async def ask_two() -> CallRow:
        first = asyncio.create_task(asker.ask_row(REMOTE, asks(1)[0]))
        await begun.wait()
        second = asyncio.create_task(asker.ask_row(REMOTE, asks(1, first=1)[0]))
        await asyncio.sleep(0)
        assert not second.done()
        first.cancel()
        return await second

    assert run(ask_two()).frames == 8


def test_a_call_of_fewer_frames_keeps_them() -> None:
    server = Server(taking(32))
    server.ask(*asks(1))
    server.ask(*asks(1, frames=20, first=1))
    assert server.counts == [64, 32, 20]


def test_a_learnt_limit_changes_no_key() -> None:
    server = Server(taking(4))
    server.ask(*asks(2), concurrency=1)
    assert set(server.journal.rows) == {journal_key(REMOTE, request) for request in asks(2)}
    again = Asker(server.journal, load_bytes, is_replay=True)
    assert [run(again.ask(REMOTE, request)) for request in asks(2)] == ["4 seen"] * 2


def test_what_was_learnt_before_costs_no_refusal() -> None:
    server = Server(taking(4), ServerLimits.of([LearntLimits(**PLACE, images=4)]))
    server.ask(*asks(3))
    assert (server.counts, server.said) == ([4] * 3, [])


def test_a_higher_number_that_is_stated_since_is_believed_until_it_is_refused() -> None:
    stated = REMOTE.with_settings(limits=CallLimits(images_per_request=32))
    before = LearntLimits(**PLACE, images=4, refused_images=8)
    for most, sent in ((32, [32] * 3), (16, [32, 16, 16, 16])):
        server = Server(taking(most), ServerLimits.of([before]), model=stated)
        server.ask(*asks(1, frames=32))
        server.ask(*asks(2, frames=32, first=1))
        assert server.counts == sent
    assert server.kept == [LearntLimits(**PLACE, images=16, refused_images=32, stated_images=32)]
    again = Server(taking(16), ServerLimits.of(server.kept), model=stated)
    again.ask(*asks(1, frames=32))
    assert again.counts == [16]


def test_another_server_of_the_same_model_is_another_matter() -> None:
    learnt = LearntLimits(model=REMOTE.resolved, endpoint="127.0.0.1:8", images=4)
    server = Server(taking(64), ServerLimits.of([learnt]))
    server.ask(*asks(1))
    assert server.counts == [64]


def test_a_text_that_is_too_long_by_itself_teaches_nothing() -> None:
    def refuse(sending: OutgoingCall) -> Exception | None:
        return Status(413) if sending.text == "long" else None

    server = Server(refuse)
    (lost,) = server.ask(replace(asks(1)[0], text="long"))
    server.ask(*asks(1, first=1))
    assert isinstance(lost, ProviderFailed)
    assert server.counts == [64, 32, 16, 8, 4, 2, 1, 64]
    assert (server.said, server.kept) == ([], [])


def test_a_size_that_was_taken_is_halved_for_one_call_alone_and_the_next_time_for_all() -> None:
    def refuse(sending: OutgoingCall) -> Exception | None:
        return Status(413) if sending.text == "long" and images(sending) > 32 else None

    server = Server(refuse)
    for number, text in enumerate(["short", "long", "short", "long", "short"]):
        server.ask(replace(asks(1, first=number)[0], text=text))
    assert server.counts == [64, 64, 32, 64, 64, 32, 32]
    assert len(server.said) == 1


def test_what_is_held_back_here_for_its_bytes_teaches_nothing_of_images() -> None:
    model = REMOTE.with_settings(limits=CallLimits(body_bytes=5_000))
    server = Server(taking(64), model=model)
    server.ask(*asks(1))
    assert (server.said, server.kept) == ([], [])


def test_a_stand_in_is_never_sent_less() -> None:
    limits = ServerLimits.of(
        [LearntLimits(model=MODEL.resolved, endpoint=MODEL.endpoint, images=4)]
    )
    server = Server(taking(64), limits, model=MODEL)
    server.ask(*asks(1))
    assert server.counts == [64]


def knowing(*fields: str) -> Callable[[OutgoingCall], Exception | None]:
    """Refuse a limit of tokens by any other name, as Mistral does."""

    def refuse(sending: OutgoingCall) -> Exception | None:
        name = sending.token_field or "nothing"
        return None if name in fields else Status(422, body={"detail": UNKNOWN % name})

    return refuse


def test_a_refused_name_of_the_limit_of_tokens_is_tried_once_for_all_calls() -> None:
    server = Server(knowing("max_completion_tokens"))
    rows = server.ask(*asks(5), concurrency=1)
    names = [sending.token_field for sending in server.script.seen]
    assert names == ["max_tokens", *["max_completion_tokens"] * 5]
    first = rows[0]
    assert isinstance(first, CallRow)
    assert [(a.kind, a.waited_s, a.may_have_cost_usd) for a in first.attempts] == [
        ("http-422", 0.0, 0.0)
    ]
    assert server.said == [
        "r is sent max_completion_tokens from now on: 127.0.0.1:9 refuses max_tokens"
    ]
    assert server.kept == [LearntLimits(**PLACE, token_limit_field="max_completion_tokens")]


def test_calls_that_were_under_way_learn_the_name_as_well() -> None:
    server = Server(knowing("max_completion_tokens"))
    rows = server.ask(*asks(9), concurrency=3)
    assert all(isinstance(row, CallRow) for row in rows)
    assert (len(server.script.seen), len(server.said)) == (12, 1)


def test_a_server_that_refuses_first_the_one_name_and_later_the_other_loses_no_call() -> None:
    server = Server(knowing("max_completion_tokens"))
    server.ask(*asks(2), concurrency=1)
    server.refuse = knowing("max_tokens")
    rows = server.ask(*asks(2, first=2), concurrency=1)
    assert all(isinstance(row, CallRow) for row in rows)
    assert len(server.script.seen) == 6


def test_a_server_that_knows_neither_name_fails_the_call_after_both() -> None:
    server = Server(knowing())
    assert all(isinstance(row, ProviderFailed) for row in server.ask(*asks(3), concurrency=1))
    assert len(server.script.seen) == 9
    assert len(server.said) == 2


@pytest.mark.parametrize(
    ("status", "words", "fields"),
    [
        (422, UNKNOWN % "max_completion_tokens", ("max_completion_tokens",)),
        (400, "Unrecognized request argument supplied: max_tokens", ("max_tokens",)),
        (400, "property 'max_completion_tokens' is unsupported", ("max_completion_tokens",)),
        (422, "bad field: max_completion_tokens", ("max_completion_tokens",)),
        (400, "max_tokens must be between 1 and 2048", ()),
        (
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            ("max_tokens", "max_completion_tokens"),
        ),
        (400, "temperature is not supported with this model", ()),
        (400, "'max_tokens' is too large: 32000. This model does not support more than 8192", ()),
        (400, "Unsupported value: 'max_completion_tokens' must be at most 4096", ()),
        (422, "[{'msg': 'extra_forbidden', 'loc': ['top_k'], 'input': {'max_tokens': 9}}]", ()),
        (500, "max_tokens is not supported", ()),
    ],
)
def test_a_server_says_which_name_it_does_not_know(
    status: int, words: str, fields: tuple[str, ...]
) -> None:
    assert refused_fields(status, words) == fields


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({}, "max_completion_tokens"),
        ({"base_url": "https://api.openai.com/v1"}, "max_completion_tokens"),
        ({"base_url": "https://eu.api.openai.com/v1"}, "max_completion_tokens"),
        ({"base_url": "https://api.mistral.ai/v1"}, "max_tokens"),
        ({"base_url": "https://notapi.openai.com.example/v1"}, "max_tokens"),
        (
            {"base_url": "http://h/v1", "token_limit_field": "max_completion_tokens"},
            "max_completion_tokens",
        ),
        ({"token_limit_field": "max_tokens"}, "max_tokens"),
        ({"parameters": {"extra_body": {"max_tokens": 9}}}, None),
    ],
)
def test_the_limit_goes_by_its_new_name_to_openai_alone_unless_told_otherwise(
    settings: dict[str, Any], name: str | None
) -> None:
    assert parse_model("openai:m", settings).token_field == name


def test_other_providers_have_no_choice_of_names() -> None:
    assert parse_model("google_genai:gemini-2.5-flash").token_field is None
    with pytest.raises(BadInput, match="takes no token_limit_field"):
        parse_model("google_genai:g", {"token_limit_field": "max_tokens"})


PRICED = REMOTE.with_settings(
    price=Price(input_usd=0, output_usd=1_000_000), parameters={"max_tokens": 10}
)
"""A dollar a token, ten dollars a call."""


def test_a_reply_beyond_its_limit_is_told_once_and_as_much_is_set_aside_from_then_on() -> None:
    server = Server(lambda _: None, model=PRICED, tokens=[30, 40])
    server.ask(*asks(2), concurrency=1)
    assert server.said == [
        "127.0.0.1:9 does not keep r to the 10 output tokens that it was allowed: a reply took 30; "
        "from now on as many are set aside for each of its calls"
    ]
    assert Estimates(limits=server.limits).most(PRICED, asks(1)[0]).usd == pytest.approx(40)
    assert server.kept == [LearntLimits(**PLACE, output_limit=10, output_tokens=40)]


def test_a_cap_holds_within_what_was_under_way_when_the_limit_was_first_broken() -> None:
    server = Server(lambda _: None, model=PRICED, tokens=[30] * 99)
    estimates = Estimates(limits=server.limits)
    spend_cap = CappedBudget(SpendCaps(usd=100.0), estimates)
    asker = Asker(
        server.journal,
        load_bytes,
        make_client=server.script,
        estimates=estimates,
        spend_cap=spend_cap,
        concurrency=2,
    )

    async def ask_all() -> None:
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(asker.ask(PRICED, request)) for request in asks(20)]
            await asker.drained.wait()
            assert all(call.cancel() or call.done() for call in calls)

    run(ask_all())
    assert asker.is_broke
    rows = server.journal.rows.values()
    assert sum(row.cost_usd or 0.0 for row in rows) == 30.0 * len(rows) <= 100.0 + 2 * 20.0


def longer_than(limit: int, each: int, text: int) -> Callable[[OutgoingCall], Exception | None]:
    """Refuse with 429 and both numbers what takes more tokens than a minute has."""

    def refuse(sending: OutgoingCall) -> Exception | None:
        asked = text + each * images(sending)
        words = f"Request too large on tokens per min (TPM): Limit {limit}, Requested {asked}."
        return Status(429, body={"message": words}) if asked > limit else None

    return refuse


@pytest.mark.parametrize(
    ("each", "text", "counts"),
    [(5000, 5210, [8, 5, 4]), (5000, 0, [8, 6]), (1000, 29_500, [8, 6, 1]), (7000, 8000, [8, 3])],
)
def test_a_request_that_is_too_long_by_a_known_share_loses_no_frame_too_many(
    each: int, text: int, counts: list[int]
) -> None:
    server = Server(longer_than(30_000, each, text))
    server.ask(*asks(1, frames=8))
    assert server.counts == counts


@pytest.mark.parametrize("each", [90, 700, 2_100, 29_000])
@pytest.mark.parametrize("text", [0, 900, 14_000, 29_900])
def test_a_minute_that_is_too_small_costs_three_refusals_at_most(each: int, text: int) -> None:
    server = Server(longer_than(30_000, each, text))
    server.ask(*asks(1, frames=64))
    most = min(64, (30_000 - text) // each)
    assert len(server.counts) <= 4
    assert server.counts[-1] == max(1, most)


def test_a_text_that_is_too_long_by_itself_is_given_up_after_one_frame() -> None:
    server = Server(longer_than(30_000, 1000, 40_000))
    (failed,) = server.ask(*asks(1, frames=8))
    assert isinstance(failed, ProviderFailed)
    assert server.counts[-1] == 1
    assert len(server.counts) <= 4
