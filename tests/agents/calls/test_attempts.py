"""The tries of one call: what is tried again, how long, with which frames, and what never is."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.support.asking import (
    REMOTE,
    Line,
    Pages,
    Script,
    Status,
    frames_of,
    load_bytes,
    no_pause,
    prompter_of,
    request_of,
    run,
)
from tests.support.virtual import run_virtual
from videoautoarena.agents.calls.ask import Asker, journal_key
from videoautoarena.agents.calls.attempts import tokens_of
from videoautoarena.agents.calls.clients import OutgoingCall, ReceivedReply
from videoautoarena.agents.calls.retry import pause_s
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.layout import Request, thinned
from videoautoarena.agents.roles.answer import answer
from videoautoarena.memory.records.errors import (
    CallFailed,
    ContentFiltered,
    EmptyReply,
    ProviderFailed,
)
from videoautoarena.memory.records.records import CallLimits, CallRow, Usage


class Picky:
    """A server that takes so many images a request and says what it was sent."""

    def __init__(self, most: int, reason: str = "Request entity too large") -> None:
        self.most = most
        self.reason = reason
        self.script = Script(self._speak)

    def _speak(self, sending: OutgoingCall) -> Line:
        count = len(sending.frames.frames) if sending.frames else 0
        return Status(413, body={"message": self.reason}) if count > self.most else f"{count} seen"

    @property
    def counts(self) -> list[int]:
        return [len(sending.frames.frames) for sending in self.script.seen if sending.frames]

    def ask(self, model: Model = REMOTE, *, frames: int = 64, journal: Pages | None = None) -> str:
        asker = Asker(journal or Pages(), load_bytes, make_client=self.script)
        return run(asker.ask(model, request_of(frames=frames_of(frames))))


def test_a_request_that_is_too_large_is_sent_again_with_half_its_frames() -> None:
    server = Picky(40)
    journal = Pages()
    assert server.ask(journal=journal) == "32 seen"
    (row,) = journal.rows.values()
    assert (row.frames, [(a.kind, a.waited_s) for a in row.attempts]) == (32, [("too-large", 0.0)])
    assert len({sending.key for sending in server.script.seen}) == 1


def test_a_limit_that_a_request_keeps_to_says_nothing_of_what_would_fit() -> None:
    model = REMOTE.with_settings(limits=CallLimits(images_per_request=100))
    server = Picky(40)
    assert (server.ask(model), server.counts) == ("32 seen", [64, 32])


def test_pauses_follow_from_the_runs_seed_and_the_call_alone() -> None:
    async def waited(seed: int) -> list[float]:
        found: list[float] = []

        async def pause(seconds: float) -> None:
            found.append(seconds)

        script = Script([*[TimeoutError()] * 2, "words"])
        asker = Asker(Pages(), load_bytes, make_client=script, seed=seed, pause=pause)
        await asker.ask(REMOTE, request_of())
        return found

    key = journal_key(REMOTE, request_of())
    for seed in (0, 7):
        told = [pause_s(seed, key, tries=tries, hint_s=None) for tries in (1, 2)]
        assert run(waited(seed)) == told
    assert run(waited(0)) != run(waited(7))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_call_is_tried_no_more_often_than_it_may_be(most: int) -> None:
    script = Script(lambda _: TimeoutError("nothing came back"))
    asker = Asker(Pages(), load_bytes, make_client=script, most_tries=most)
    with pytest.raises(ProviderFailed):
        run_virtual(asker.ask(REMOTE, request_of()))
    assert len(script.seen) == most


def test_a_try_that_was_refused_takes_no_tokens_of_a_minute() -> None:
    model = REMOTE.with_settings(limits=CallLimits(tokens_per_minute=6000))
    asker = Asker(Pages(), load_bytes, make_client=Script([Status(429), "words"]))

    async def took_s() -> float:
        await asker.ask(model, request_of())
        return asyncio.get_running_loop().time()

    assert run_virtual(took_s()) < 5


def test_a_turn_that_is_given_back_unused_takes_no_tokens_of_a_minute() -> None:
    """One call finds out how many images are taken, and the other waits for that."""
    model = REMOTE.with_settings(limits=CallLimits(tokens_per_minute=100_000))
    server = Picky(4)
    sent_s = list[float]()
    requests = [request_of(ordinal=n, frames=frames_of(8)) for n in range(2)]

    def speak(sending: OutgoingCall) -> Line:
        sent_s.append(asyncio.get_running_loop().time())
        return server._speak(sending)

    async def ask_both() -> None:
        asker = Asker(Pages(), load_bytes, make_client=Script(speak), concurrency=1)
        await asyncio.gather(*(asker.ask(model, request) for request in requests))

    run_virtual(ask_both())
    gaps_s = [
        tokens_of(model, request_of(frames=frames_of(count))) * 60 / 100_000 for count in (8, 4)
    ]
    assert sent_s == pytest.approx([0.0, gaps_s[0], sum(gaps_s)], abs=0.01)


def test_frames_are_left_out_evenly() -> None:
    server = Picky(40)
    server.ask()
    times = [[f.time_s for f in sent.frames.frames] for sent in server.script.seen if sent.frames]
    assert times[1] == [frame.time_s for frame in thinned(frames_of(64), 32).frames]


def test_a_server_that_says_how_many_images_it_takes_gets_as_many() -> None:
    server = Picky(5, "At most 5 image(s) may be provided in one request.")
    assert server.ask() == "5 seen"


def test_frames_are_halved_until_they_are_few_enough() -> None:
    server = Picky(10)
    journal = Pages()
    assert server.ask(journal=journal) == "8 seen"
    assert server.counts == [64, 32, 16, 8]


def test_a_request_of_which_no_part_is_taken_fails_for_good() -> None:
    server = Picky(0)
    journal = Pages()
    for _ in range(2):
        with pytest.raises(ProviderFailed) as caught:
            server.ask(journal=journal)
        assert caught.value.kind == "too-large"
    assert server.counts == [64, 32, 16, 8, 4, 2, 1]


@pytest.mark.parametrize("frames", [0, 1])
def test_what_cannot_be_made_smaller_fails_at_once(frames: int) -> None:
    server = Picky(-1)
    with pytest.raises(ProviderFailed):
        server.ask(frames=frames)
    assert server.counts == [frames]


def test_a_body_longer_than_its_server_takes_is_not_sent() -> None:
    limits = CallLimits(body_bytes=5_000)
    server = Picky(64)
    journal = Pages()
    server.ask(REMOTE.with_settings(limits=limits), journal=journal)
    (row,) = journal.rows.values()
    assert [attempt.kind for attempt in row.attempts] == ["too-large"]
    assert server.counts == [row.frames]
    assert row.frames is not None
    assert 1 < row.frames < 32


def test_a_call_that_lost_frames_is_answered_from_the_journal_with_as_many() -> None:
    server = Picky(40)
    journal = Pages()
    server.ask(journal=journal)
    asker = Asker(journal, load_bytes, is_replay=True)
    row = run(asker.ask_row(REMOTE, request_of(frames=frames_of(64))))
    assert (row.reply, row.frames) == ("32 seen", 32)


def test_an_answer_names_the_frames_it_was_made_from_in_the_run_and_in_its_replay() -> None:
    server = Picky(40)
    journal = Pages()
    frames = frames_of(64)
    prompter = prompter_of(server.script, journal=journal)
    again = replace(prompter, asker=Asker(journal, load_bytes, is_replay=True))
    answers = [
        run(answer(each, REMOTE, frames=frames, question="Why?", slot="v-p1-r0", seat=0)).answer
        for each in (prompter, again)
    ]
    assert answers[0] == answers[1]
    assert answers[0].frames == tuple(f.time_s for f in thinned(frames, 32).frames)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {"code": "insufficient_quota"}, "quota"),
        (402, {}, "quota"),
        (400, {"code": "content_filter"}, "content-filter"),
    ],
)
def test_what_patience_cannot_mend_is_not_tried_again(
    status: int, body: dict[str, str], kind: str
) -> None:
    script = Script([Status(status, body=body)])
    journal = Pages()
    for _ in range(2):
        asker = Asker(journal, load_bytes, make_client=script)
        with pytest.raises(CallFailed) as caught:
            run(asker.ask(REMOTE, request_of()))
        assert caught.value.kind == kind
    assert isinstance(caught.value, ContentFiltered) == (kind == "content-filter")
    assert len(script.seen) == 1


def test_a_server_without_room_is_asked_for_fifteen_minutes() -> None:
    async def ask() -> tuple[str, float, int]:
        script = Script(lambda _: Status(429))
        asker = Asker(Pages(), load_bytes, make_client=script)
        with pytest.raises(ProviderFailed) as caught:
            await asker.ask(REMOTE, request_of())
        return caught.value.kind, asyncio.get_running_loop().time(), len(script.seen)

    kind, waited_s, tries = run_virtual(ask())
    assert kind == "http-429"
    assert 900 <= waited_s < 1000
    assert tries < 40


def test_a_reply_that_a_filter_took_away_is_no_empty_one() -> None:
    class Filtering(Script):
        async def send(self, sending: OutgoingCall) -> ReceivedReply:
            return replace(await super().send(sending), ending="content_filter")

    journal = Pages()
    for _ in range(2):
        asker = Asker(journal, load_bytes, make_client=Filtering([""]))
        with pytest.raises(ContentFiltered, match="content_filter"):
            run(asker.ask(REMOTE, request_of()))


@pytest.mark.parametrize(
    ("text", "refusal", "ending", "kind", "tries"),
    [
        ("", "", "model_context_window_exceeded", "empty", 1),
        ("", "", "FinishReason.MAX_TOKENS", "empty", 1),
        ("", "", "refusal", "content-filter", 1),
        ("", "", "guardrail_intervened", "content-filter", 1),
        ("", "I had rather not.", "error", "refusal", 1),
        ("", "I had rather not.", "refusal", "refusal", 1),
        ("A her", "", "FinishReason.ERROR", "malformed", 3),
        ("A her", "I had rather not.", "error", "malformed", 3),
        ("", "", "stop", "empty", 3),
        ("A heron.", "", "refusal", "content-filter", 1),
        ("A her", "", "FinishReason.SAFETY", "content-filter", 1),
        ("A her", "", "FinishReason.MAX_TOKENS", None, 1),
    ],
)
def test_the_end_of_a_reply_says_what_it_is_and_whether_another_try_may_help(
    text: str, refusal: str, ending: str, kind: str | None, tries: int
) -> None:
    script = Script(lambda _: ReceivedReply(text, Usage(), ending, refusal))
    journal = Pages()
    asker = Asker(journal, load_bytes, make_client=script, pause=no_pause)
    with suppress(CallFailed):
        run(asker.ask(REMOTE, request_of()))
    (row,) = journal.rows.values()
    assert (row.failure_kind, row.reply, len(script.seen)) == (kind, None if kind else text, tries)


@pytest.mark.parametrize(
    ("ending", "why"),
    [
        ("stop", "the server's reasoning parser took the answer"),
        ("length", "it was cut off while the model thought"),
    ],
)
def test_an_empty_reply_says_that_all_its_words_stand_among_the_thoughts(
    ending: str, why: str
) -> None:
    script = Script(lambda _: ReceivedReply("", Usage(), ending, has_thoughts=True))
    journal = Pages()
    asker = Asker(journal, load_bytes, make_client=script, pause=no_pause)
    with pytest.raises(EmptyReply, match=f"all words stand in reasoning_content; {why}"):
        run(asker.ask(REMOTE, request_of()))


def test_an_answer_that_was_recorded_before_stays_one_whatever_its_filter_said() -> None:
    journal = Pages()
    asker = Asker(journal, load_bytes, make_client=Script(["A her"]))
    run(asker.ask(REMOTE, request_of()))
    ((key, row),) = journal.rows.items()
    journal.rows[key] = row.model_copy(update={"ending": "content_filter"})
    again = Asker(journal, load_bytes, make_client=Script([]))
    assert run(again.ask(REMOTE, request_of())) == "A her"


def test_draining_sends_no_further_try_of_a_call_that_pauses() -> None:
    async def drained() -> int:
        script = Script(lambda _: Status(429, {"retry-after": "5"}))
        asker = Asker(Pages(), load_bytes, make_client=script)
        call = asyncio.create_task(asker.ask(REMOTE, request_of()))
        await asyncio.sleep(1)
        asker.drain()
        await asker.drained.wait()
        await asyncio.sleep(60)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        return len(script.seen)

    assert run_virtual(drained()) == 1


class Coins:
    """A purse with room for so many calls, that counts what is not given back."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.out = 0

    async def hold(self, _model: Model, _request: Request) -> Coins | None:
        if not self.left:
            return None
        self.left = self.left - 1
        self.out = self.out + 1
        return self

    async def renew(self, _hold: object, _attempt: object) -> bool:
        return True

    def settle(self, _hold: object, _row: CallRow | None) -> None:
        self.out -= 1

    def rank(self, _nonce: object) -> int:
        return 0


def test_an_empty_purse_drains_the_run_and_every_hold_is_settled() -> None:
    async def broke() -> tuple[int, int, bool]:
        coins = Coins(5)
        journal = Pages()
        script = Script(lambda _: "words")
        asker = Asker(journal, load_bytes, make_client=script, spend_cap=coins, concurrency=2)
        calls = [asyncio.create_task(asker.ask(REMOTE, request_of(ordinal=i))) for i in range(9)]
        await asker.drained.wait()
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        return coins.out, len(script.seen) - len(journal.rows), asker.is_broke

    assert run_virtual(broke()) == (0, 0, True)
