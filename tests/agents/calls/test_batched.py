from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.asking import frames_of, load_bytes, no_pause, request_of
from tests.support.batch_servers import BatchBook, batch_server
from tests.support.batching import (
    PROTOCOLS,
    asked_in_batches,
    model_of,
    prompt_telling,
    requests_of,
)
from videoautoarena.agents.batches.anthropic import AnthropicBatches
from videoautoarena.agents.batches.gemini import GeminiBatches
from videoautoarena.agents.batches.openai import OpenAIBatches
from videoautoarena.agents.batches.service import BatchLimits
from videoautoarena.agents.batches.services import service_of
from videoautoarena.agents.calls import batch_queue
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import BatchedClient, OutgoingCall
from videoautoarena.agents.limits.budget import CappedBudget
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.estimates import Estimates
from videoautoarena.agents.limits.prices import summed
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import GraderReply
from videoautoarena.agents.transport.exchange import KeptBody
from videoautoarena.agents.transport.faults import GarbledAnswer
from videoautoarena.memory.records.errors import BadInput, BatchRefused
from videoautoarena.memory.records.records import CallRow
from videoautoarena.memory.store.store import Store

__all__ = ["prompt_telling"]
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)
SERVICES = {"openai": OpenAIBatches, "gemini": GeminiBatches, "anthropic": AnthropicBatches}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.sqlite"
    Store.create(path, {}).close()
    return path


def left_in(path: Path) -> tuple[int, int]:
    """Return how many batches wait for replies, and how many tries may be paid for."""
    with Store.open(path, write=False) as store:
        return len(store.journal.batches.open()), store.journal.lost().tries


@each_protocol
def test_calls_go_out_in_one_batch_and_come_back_in_any_order(file: Path, protocol: str) -> None:
    book = BatchBook()
    with batch_server(book) as port:
        found = asked_in_batches(file, model_of(protocol, port), requests_of(5))
    assert len(book.batches) == 1
    assert all(row.reply == f"reply to {row.key[:8]}" for row in found.rows.values())
    assert set(book.paid.values()) == {1}
    # 100 tokens in at $10 and 20 out at $50 a million, at half the price.
    assert {row.cost_usd for row in found.rows.values()} == {0.001}
    assert all(row.batch for row in found.rows.values())
    assert left_in(file) == (0, 0)


@each_protocol
def test_a_batch_holds_the_bodies_that_ordinary_calls_send(
    file: Path, tmp_path: Path, protocol: str
) -> None:
    request = request_of("Look at 0.", frames=frames_of(3), scope="0123456789ab-p1-r0")
    other = tmp_path / "other.sqlite"
    Store.create(other, {}).close()
    book = BatchBook()
    with batch_server(book) as port:
        model = model_of(protocol, port, parameters={"temperature": 0.3})
        asked_in_batches(file, model, [request])
        sent_by_itself(other, model, request)
    ((_, batched),) = book.batches[0].lines
    (direct,) = book.direct
    assert batched == direct
    assert str(direct).count("base64") + str(direct).count("inlineData") >= 3


@pytest.mark.parametrize("protocol", ["openai", "gemini"])
def test_a_batch_asks_for_the_same_form_of_reply_as_ordinary_calls(
    file: Path, tmp_path: Path, protocol: str
) -> None:
    request = replace(requests_of(1)[0], schema=GraderReply)
    other = tmp_path / "other.sqlite"
    Store.create(other, {}).close()
    book = BatchBook()
    with batch_server(book) as port:
        model = model_of(protocol, port, structured="json_schema")
        found = asked_in_batches(file, model, [request])
        row = sent_by_itself(other, model, request)
    assert book.batches[0].lines[0][1] == book.direct[0]
    assert (found.rows[0].structured, found.rows[0].key) == (row.structured, row.key)


def test_no_batch_asks_for_replies_in_pieces(file: Path) -> None:
    book = BatchBook()
    with batch_server(book) as port:
        model = model_of("openai", port, parameters={"stream": True})
        found = asked_in_batches(file, model, requests_of(1))
    assert len(found.rows) == 1
    assert not book.batches[0].lines[0][1].get("stream")


def sent_by_itself(path: Path, model: Model, request: object) -> CallRow:
    async def whole() -> CallRow:
        with Store.open(path, write=True) as store:
            asker = Asker(store.journal, load_bytes, pause=no_pause)
            try:
                return await asker.ask_row(model, request)  # type: ignore[arg-type]
            finally:
                await asker.aclose()

    return asyncio.run(whole())


def test_a_call_whose_body_cannot_be_made_fails_by_itself_and_others_go_out(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = BatchedClient.body

    async def body(self: BatchedClient, sending: OutgoingCall) -> KeptBody:
        if "Look at 1." in sending.text:
            raise GarbledAnswer("it holds nothing that can be sent")
        return await made(self, sending)

    monkeypatch.setattr(BatchedClient, "body", body)
    book = BatchBook()
    with batch_server(book) as port:
        found = asked_in_batches(file, model_of("openai", port), requests_of(3))
    assert (sorted(found.rows), list(found.failed)) == ([0, 2], [1])
    assert "nothing that can be sent" in str(found.failed[1])
    assert (len(book.batches[0].lines), left_in(file)) == (2, (0, 0))


@each_protocol
def test_what_expired_or_was_cancelled_goes_into_the_next_batch(file: Path, protocol: str) -> None:
    ends = ["cancelled", "expired"]

    def fate(_key: str, times: int) -> str:
        return ends.pop() if ends and times == 1 else "answered"

    book = BatchBook(fate=fate)
    with batch_server(book) as port:
        found = asked_in_batches(file, model_of(protocol, port), requests_of(4))
    assert [len(batch.lines) for batch in book.batches] == [4, 2]
    assert set(book.paid.values()) == {1}
    assert sum(len(row.attempts) for row in found.rows.values()) == 2
    assert left_in(file) == (0, 0)


@each_protocol
def test_a_call_that_is_refused_fails_for_good_and_for_nothing(file: Path, protocol: str) -> None:
    keys: list[str] = []
    book = BatchBook(fate=lambda key, _: keys.append(key) or ("answered", "refused")[len(keys) < 2])
    with batch_server(book) as port:
        found = asked_in_batches(file, model_of(protocol, port), requests_of(3))
    (why,) = found.failed.values()
    assert "no such parameter" in str(why)
    assert len(found.rows) == 2
    with Store.open(file, write=False) as store:
        (row,) = [one for one in store.journal.calls() if one.failure]
    assert (row.failure_kind, row.cost_usd) == ("http-400", 0.0)


@each_protocol
def test_a_call_that_never_ends_is_given_up_after_three_batches(file: Path, protocol: str) -> None:
    book = BatchBook(fate=lambda *_: "cancelled")
    with batch_server(book) as port:
        found = asked_in_batches(file, model_of(protocol, port), requests_of(1))
    assert (len(book.batches), list(found.failed), dict(book.paid)) == (3, [0], {})
    assert left_in(file) == (0, 0)


@each_protocol
def test_a_call_that_the_results_lack_is_told_counted_and_asked_again(
    file: Path, protocol: str
) -> None:
    book = BatchBook(fate=lambda _key, times: "missing" if times == 1 else "answered")
    with batch_server(book) as port:
        found = asked_in_batches(file, model_of(protocol, port), requests_of(2))
    assert any("2 of 2 calls are missing" in line for line in found.said)
    assert len(found.rows) == 2
    assert left_in(file) == (0, 2)


@each_protocol
def test_a_batch_whose_answer_is_lost_is_found_in_the_list_and_not_posted_again(
    file: Path, protocol: str
) -> None:
    book = BatchBook(mishap=lambda _, what: "lose" if what == "post" else "")
    with batch_server(book) as port:
        found = asked_in_batches(file, model_of(protocol, port), requests_of(3))
    assert (len(book.batches), len(found.rows)) == (1, 3)
    assert "list" in book.requests
    assert any("before anything is sent again" in line for line in found.said)


@each_protocol
@pytest.mark.usefixtures("prompt_telling")
def test_a_batch_that_never_arrived_is_posted_again_once_the_list_has_told(
    file: Path, protocol: str
) -> None:
    posts: list[int] = []

    def mishap(number: int, what: str) -> str:
        if what != "post":
            return ""
        posts.append(number)
        return "drop" if len(posts) == 1 else ""

    book = BatchBook(mishap=mishap)
    with batch_server(book) as port:
        found = asked_in_batches(file, model_of(protocol, port), requests_of(3))
    assert (len(book.batches), len(found.rows), len(posts)) == (1, 3, 2)
    assert set(book.paid.values()) == {1}


def test_another_batch_of_as_many_calls_is_not_taken_for_ones_own(file: Path) -> None:
    book = BatchBook(mishap=lambda _, what: "lose" if what == "post" else "")
    book.take("anthropic", None, [(f"another-{k}", {}) for k in range(3)])
    with batch_server(book) as port:
        found = asked_in_batches(file, model_of("anthropic", port), requests_of(3))
    assert (len(book.batches), len(found.rows)) == (2, 3)
    assert all(row.reply == f"reply to {row.key[:8]}" for row in found.rows.values())


@each_protocol
def test_a_file_is_split_by_its_bytes_and_by_its_calls(
    file: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = SERVICES[protocol]
    with batch_server(BatchBook()) as port:
        asked_in_batches(file, model_of(protocol, port), requests_of(1))
    book = BatchBook()
    monkeypatch.setattr(service, "LIMITS", BatchLimits(10**6, 2))
    with batch_server(book) as port:
        model = model_of(protocol, port)
        asked_in_batches(file, model, requests_of(6)[1:])
        sizes = [len(str(body)) for batch in book.batches for _, body in batch.lines]
        monkeypatch.setattr(service, "LIMITS", BatchLimits(2 * max(sizes), 100))
        more = [request_of(f"{'x' * max(sizes)} {k}", ordinal=k) for k in range(1)]
        found = asked_in_batches(file, model, [*requests_of(13)[6:], *more])
    assert sorted(len(batch.lines) for batch in book.batches)[-1] == 2
    assert sum(len(batch.lines) for batch in book.batches) == 12
    # What no batch could hold is told as a server would tell it.
    (why,) = found.failed.values()
    assert "too large" in str(why)


@each_protocol
def test_an_interrupt_leaves_batches_and_the_next_process_reads_them(
    file: Path, protocol: str
) -> None:
    book = BatchBook(looks=10**6)
    with batch_server(book) as port:
        model = model_of(protocol, port)
        left = asked_in_batches(
            file, model, requests_of(4), until=lambda _asker: "look" in book.requests
        )
        assert left.rows == {}
        assert left_in(file) == (1, 4)
        book.batches[0].looks = 2
        # Whatever it is asked with: what waits in a batch is sent in no other way.
        found = asked_in_batches(file, model, requests_of(4), is_batching=False)
    assert (len(book.batches), len(found.rows), book.direct) == (1, 4, [])
    assert set(book.paid.values()) == {1}


@each_protocol
def test_a_batch_that_is_refused_ends_the_work_in_one_line_and_leaves_nothing(
    file: Path, protocol: str
) -> None:
    book = BatchBook(mishap=lambda _, what: "400" if what == "post" else "")
    with batch_server(book) as port, pytest.raises(BatchRefused, match="was not taken: HTTP 400"):
        asked_in_batches(file, model_of(protocol, port), requests_of(2))
    assert left_in(file) == (0, 0)


def test_a_batch_that_fails_for_want_of_room_is_posted_again(file: Path) -> None:
    book = BatchBook(fail=lambda number: "token_limit_exceeded" if number == 1 else "")
    with batch_server(book) as port:
        found = asked_in_batches(file, model_of("openai", port), requests_of(2))
    assert (len(book.batches), len(found.rows)) == (2, 2)
    assert all(row.attempts == () for row in found.rows.values())


def test_a_batch_that_fails_for_what_it_holds_ends_the_work(file: Path) -> None:
    book = BatchBook(fail=lambda _: "model_not_found")
    with batch_server(book) as port, pytest.raises(BatchRefused, match="model_not_found"):
        asked_in_batches(file, model_of("openai", port), requests_of(2))
    assert left_in(file) == (0, 0)


@pytest.mark.usefixtures("prompt_telling")
def test_servers_that_fail_for_a_while_are_asked_again(file: Path) -> None:
    seen: set[str] = set()
    book = BatchBook(mishap=lambda _, what: "" if what in seen else seen.add(what) or "503")
    with batch_server(book) as port:
        found = asked_in_batches(file, model_of("openai", port), requests_of(3))
    assert (len(book.batches), len(found.rows)) == (1, 3)
    assert seen == {"upload", "post", "list", "look", "results"}


@each_protocol
def test_a_batch_with_a_providers_name_is_never_sent_again_unasked(
    file: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = BatchBook(looks=10**6)
    with batch_server(book) as port:
        model = with_key(monkeypatch, protocol, port, "first")
        asked_in_batches(file, model, requests_of(2), until=lambda _: "look" in book.requests)
        with_key(monkeypatch, protocol, port, "other")
        # A year later nobody knows any better.
        monkeypatch.setattr(time, "time", lambda now=time.time: now() + 365 * 86_400)
        with pytest.raises(BatchRefused, match=r"not there for this key: .* retry_failed=True"):
            asked_in_batches(file, model, requests_of(2))
        assert left_in(file) == (1, 2)
        book.looks = 1
        found = asked_in_batches(file, model, requests_of(2), gives_up=True)
    assert (len(book.batches), len(found.rows)) == (2, 2)
    assert left_in(file) == (0, 2)


def with_key(
    monkeypatch: pytest.MonkeyPatch, protocol: str, port: int, account: str, **settings: Any
) -> Model:
    """Return a model whose key is that of an account from now on."""
    monkeypatch.setenv("SOME_KEY", f"sk-of-the-{account}-account")
    return model_of(protocol, port, key_env="SOME_KEY", **settings)


@each_protocol
@pytest.mark.usefixtures("prompt_telling")
def test_a_batch_that_was_taken_unheard_is_not_sent_again_with_the_key_of_another_account(
    file: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unheard = {"post": "lose", "list": "500"}
    book = BatchBook()
    # The first account has a batch of before, and none of it is in the list of the other.
    with batch_server(book) as port:
        model = with_key(monkeypatch, protocol, port, "first")
        asked_in_batches(file, model, requests_of(3)[2:])
        book.mishap = lambda _, what: unheard.get(what, "") if book.batches[1:] else lose(what)
        with pytest.raises(BatchRefused, match="the list of batches cannot be read: HTTP 500"):
            asked_in_batches(file, model, requests_of(2))
        book.mishap = lambda *_: ""
        with_key(monkeypatch, protocol, port, "other")
        with pytest.raises(
            BatchRefused, match=r"cannot be told with this key: .* retry_failed=True"
        ):
            asked_in_batches(file, model, requests_of(2))
        assert (len(book.batches), left_in(file)) == (2, (1, 2))
        with_key(monkeypatch, protocol, port, "first")
        found = asked_in_batches(file, model, requests_of(2))
    assert (len(book.batches), len(found.rows), left_in(file)) == (2, 2, (0, 0))
    assert set(book.paid.values()) == {1}


def lose(what: str) -> str:
    return "lose" if what == "post" else ""


def unanswered(file: Path, book: BatchBook, model: Model) -> None:
    """Post a batch that never arrives, and end before anything tells so."""
    book.mishap = lambda _, what: "drop" if what == "post" else ""
    asked_in_batches(file, model, requests_of(2), until=lambda _: "post" in book.requests)
    assert left_in(file) == (1, 2)
    book.mishap = lambda *_: ""


@each_protocol
def test_another_process_with_the_same_key_posts_again_what_never_arrived(
    file: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = BatchBook()
    # An account of Anthropic is told by its latest batch.
    book.take("anthropic", None, [])
    with batch_server(book) as port:
        model = with_key(monkeypatch, protocol, port, "first")
        unanswered(file, book, model)
        monkeypatch.setattr(batch_queue, "TELLING_S", 0.02)
        found = asked_in_batches(file, model, requests_of(2))
    assert (len(book.batches), len(found.rows), left_in(file)) == (2, 2, (0, 0))
    assert set(book.paid.values()) == {1}


def test_nothing_tells_of_a_first_batch_in_an_account_and_its_user_decides(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = BatchBook()
    with batch_server(book) as port:
        model = model_of("anthropic", port)
        unanswered(file, book, model)
        monkeypatch.setattr(batch_queue, "TELLING_S", 0.02)
        with pytest.raises(BatchRefused, match="whether a batch of 2 calls was taken cannot be"):
            asked_in_batches(file, model, requests_of(2))
        assert (book.batches, left_in(file)) == ([], (1, 2))
        found = asked_in_batches(file, model, requests_of(2), gives_up=True)
    assert (len(book.batches), len(found.rows), left_in(file)) == (1, 2, (0, 2))


@each_protocol
@pytest.mark.parametrize("what", ["look", "results"])
@pytest.mark.parametrize("how", ["500", "401", "garble"])
def test_what_cannot_be_read_is_neither_lost_nor_asked_again(
    file: Path, protocol: str, what: str, how: str
) -> None:
    book = BatchBook(mishap=lambda _, asked: how if asked == what else "")
    with batch_server(book) as port:
        model = model_of(protocol, port)
        with pytest.raises(BatchRefused, match="a batch of 2 calls cannot be read") as refused:
            asked_in_batches(file, model, requests_of(2))
        assert (refused.value.model, refused.value.may_be_paid) == (model.resolved, True)
        assert (len(book.batches), left_in(file)) == (1, (1, 2))
        book.mishap = lambda *_: ""
        found = asked_in_batches(file, model, requests_of(2))
    assert (len(book.batches), len(found.rows), left_in(file)) == (1, 2, (0, 0))
    assert set(book.paid.values()) == {1}


@pytest.mark.usefixtures("prompt_telling")
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_an_answer_without_a_list_does_not_say_that_a_batch_was_never_taken(
    file: Path, protocol: str
) -> None:
    said = {"post": "lose", "list": "blank"}
    book = BatchBook(mishap=lambda _, what: said.get(what, "") if book.batches else lose(what))
    with batch_server(book) as port, pytest.raises(BatchRefused, match="list of batches cannot"):
        asked_in_batches(file, model_of(protocol, port), requests_of(2))
    assert len(book.batches) == 1


def test_calls_of_an_unread_batch_count_against_the_cap_and_let_others_have_the_rest(
    file: Path,
) -> None:
    book = BatchBook(mishap=lambda _, what: "401" if what == "look" else "")
    with batch_server(book) as port:
        model = model_of("openai", port)
        budget = capped(10 * most_usd(model), file)
        with pytest.raises(BatchRefused):
            asked_in_batches(
                file, model, requests_of(2), spend_cap=budget, estimates=budget.estimates
            )
    assert budget.held.nano == 0
    assert budget.spent.nano == summed(2 * most_usd(model), 0).nano


def capped(usd: float, path: Path) -> CappedBudget:
    with Store.open(path, write=False) as store:
        spent = store.journal.spent()
    total = summed(spent.usd, spent.input_tokens + spent.output_tokens)
    total = total.plus(summed(spent.lost.usd, spent.lost.tokens))
    return CappedBudget(SpendCaps(usd=usd), Estimates(), spent=total)


def most_usd(model: Model) -> float:
    return Estimates(is_batched=True).most(model, requests_of(1)[0]).usd or 0.0


def test_batches_hold_no_more_than_the_cap(file: Path) -> None:
    book = BatchBook()
    with batch_server(book) as port:
        model = model_of("openai", port)
        budget = capped(2.5 * most_usd(model), file)
        asked_in_batches(file, model, requests_of(6), spend_cap=budget, estimates=budget.estimates)
    # Each reply costs far less than it may, which makes room for the next two.
    sizes = [len(batch.lines) for batch in book.batches]
    assert (max(sizes), sum(sizes)) == (2, 6)


def test_what_a_batch_lost_counts_against_the_cap_beside_what_is_asked_again(file: Path) -> None:
    book = BatchBook(fate=lambda _key, times: "missing" if times == 1 else "answered")
    with batch_server(book) as port:
        model = model_of("openai", port)
        budget = capped(10 * most_usd(model), file)
        more = {"spend_cap": budget, "estimates": budget.estimates}
        found = asked_in_batches(file, model, requests_of(2), **more)
    assert len(found.rows) == 2
    assert budget.spent.nano == summed(2 * most_usd(model) + 2 * 0.001, 0).nano
    # Another process counts the same.
    assert capped(1, file).spent == budget.spent


def test_at_a_cap_what_is_out_is_read_before_work_ends(file: Path) -> None:
    book = BatchBook(looks=4)
    with batch_server(book) as port:
        model = model_of("openai", port)
        # Room for one call at most; each costs far less, and so a few go out one after another.
        budget = capped(1.01 * most_usd(model), file)
        found = asked_in_batches(
            file,
            model,
            requests_of(40),
            until=lambda asker: asker.drained.is_set(),
            spend_cap=budget,
            estimates=budget.estimates,
        )
    assert 0 < len(found.rows) < 40
    assert left_in(file) == (0, 0)
    assert sum(row.cost_usd or 0 for row in found.rows.values()) <= 1.01 * most_usd(model)


def test_a_cap_that_no_longer_holds_a_batch_cancels_it_and_counts_what_ended(file: Path) -> None:
    book = BatchBook(looks=10**6)
    with batch_server(book) as port:
        model = model_of("openai", port)
        budget = capped(10 * most_usd(model), file)
        more = {"spend_cap": budget, "estimates": budget.estimates}
        asked_in_batches(
            file, model, requests_of(4), until=lambda _: "look" in book.requests, **more
        )
        book.looks = 1
        budget = capped(3 * most_usd(model), file)
        assert budget.spent.nano == summed(4 * most_usd(model), 0).nano
        more = {"spend_cap": budget, "estimates": budget.estimates}
        found = asked_in_batches(file, model, requests_of(4), **more)
    assert "cancel" in book.requests
    assert any("is cancelled, since the cap" in line for line in found.said)
    # Two had ended anyway; the others go out again, as the cap has room.
    assert len(found.rows) == 4
    assert set(book.paid.values()) <= {1}


def test_no_key_is_in_what_a_batch_holds(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-very-secret-123456")
    book = BatchBook()
    with batch_server(book) as port:
        model = model_of("openai", port, key_env="SOME_KEY")
        found = asked_in_batches(file, model, requests_of(2))
    held = repr((book.files, book.batches, found.said))
    assert len(found.rows) == 2
    assert "very-secret" not in held
    assert b"very-secret" not in file.read_bytes()


def test_a_provider_without_batches_says_so_in_one_line() -> None:
    with pytest.raises(BadInput, match="takes no batches; leave out batch=True"):
        service_of(Model(alias="m", model="offline:hawk"))
