"""What a run may spend holds from one process to the next, and what it has spent is in its file."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.asking import Script, load_bytes, no_pause, request_of
from tests.support.played import play, slot
from tests.support.played import video as film
from tests.support.runfiles import video
from videoautoarena.agents.calls.ask import Asker, CallEvent
from videoautoarena.agents.calls.clients import ReceivedReply
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.estimates import Estimates
from videoautoarena.agents.limits.prices import NANO, MoneyAndTokens, summed
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.errors import BadInput, StoreError
from videoautoarena.memory.records.records import Attempt, CallRow, Intent, Nonce, Price, Usage
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.console.progress.costs import CallCosts
from videoautoarena.runs.run.battles.export import lines_of
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.config.stopping_rule import keep_caps, kept_caps, merged_caps
from videoautoarena.runs.run.rundir.budget import Budget, check_caps, priced, spent_so_far
from videoautoarena.runs.run.rundir.opener import OpenOptions, begin
from videoautoarena.runs.run.rundir.reader import RUN_FILE, open_run
from videoautoarena.runs.run.rundir.spending import Calls
from videoautoarena.video.folder.find import Findings


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    path = tmp_path / "arena.toml"
    path.write_text(
        '[models.a]\nmodel = "openai:a"\nbase_url = "http://127.0.0.1:9/v1"\nframe_tokens = 10\n'
        "price = { input_usd = 1.0, output_usd = 1.0 }\nparameters = { max_tokens = 100 }\n"
    )
    flags = RunRequest(models=("a", "offline:hawk"), examiner="openai:gpt-4o", config=path)
    return resolve(flags).config


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(tmp_path / "out" / "run.sqlite", {}) as made:
        yield made


def record(store: Store, key: str, **changed: object) -> None:
    told: dict[str, object] = {
        "key": key,
        "nonce": Nonce(scope="v-p1-r0", role="contestant", ordinal=len(key)),
        "model": "openai:a",
        "alias": "a",
        "endpoint": "127.0.0.1:9",
        "prompt": "",
        "reply": "yes",
        "usage": Usage(input_tokens=1000, output_tokens=500),
        "cost_usd": 0.5,
        **changed,
    }
    asyncio.run(store.journal.record(CallRow.model_validate(told)))


def test_known_costs_and_tokens_are_summed_and_stand_ins_left_out(
    store: Store, config: RunConfig
) -> None:
    record(store, "1")
    record(store, "2", cost_usd=0.25)
    record(store, "3", model="offline:hawk", alias="offline:hawk", endpoint="in-process")
    assert spent_so_far(config, store.journal) == MoneyAndTokens(750_000_000, 3000)


def test_a_call_made_before_its_price_was_known_is_priced_now(
    store: Store, config: RunConfig
) -> None:
    record(store, "1", cost_usd=None)
    assert spent_so_far(config, store.journal) == MoneyAndTokens(1_500_000, 1500)


def test_what_may_have_been_charged_counts_at_its_most(store: Store, config: RunConfig) -> None:
    lost = {"reply": None, "failure": "gone", "usage": Usage(), "cost_usd": None}
    record(store, "1", **lost, failure_kind="timeout", may_have_cost_usd=2.0)
    assert spent_so_far(config, store.journal).nano == 2_000_000_000
    free = {**lost, "cost_usd": 0.0, "cost_from": "refused"}
    record(store, "22", **free, failure_kind="http-429")
    assert spent_so_far(config, store.journal).nano == 2_000_000_000


@pytest.mark.parametrize("usage", [Usage(input_tokens=60), Usage(output_tokens=60), Usage()])
def test_tokens_that_were_counted_on_one_side_alone_count_at_their_most(
    store: Store, config: RunConfig, usage: Usage
) -> None:
    record(store, "1", usage=usage, frames=4, text_chars=60)
    spent = spent_so_far(config, store.journal)
    assert spent.nano == 500_000_000
    # 60 characters, 4 frames of 10, 100 tokens of output.
    assert spent.tokens >= 200


def test_a_try_that_a_stop_cut_off_counts_once_by_its_intent(
    store: Store, config: RunConfig
) -> None:
    nonce = Nonce(scope="v-p1-r0", role="contestant", ordinal=1)
    asyncio.run(store.journal.intend(Intent("1", nonce, "openai:a", 1, 3.0, 200)))
    store.journal.leave_over("1", 1)
    stopped = Attempt(kind="stopped", reason="", waited_s=1, may_have_cost_usd=3.0)
    record(store, "1", attempts=(stopped,), frames=4, text_chars=60)
    assert spent_so_far(config, store.journal) == MoneyAndTokens(3_500_000_000, 1500 + 200)


def test_tries_on_the_way_count_too_where_a_model_may_have_been_at_work(
    store: Store, config: RunConfig
) -> None:
    tries = [
        Attempt(kind=kind, reason="", waited_s=1, may_have_cost_usd=cost)
        for kind, cost in (("timeout", 3.0), ("http-429", 0.0), ("connection", None))
    ]
    record(store, "1", attempts=tuple(tries), frames=4, text_chars=60)
    # The last one's price is computed now: 60 characters, 4 frames of 10, 100 tokens of output.
    assert spent_so_far(config, store.journal) == MoneyAndTokens(
        3_500_000_000 + 200_000, 1500 + 2 * 200
    )


@pytest.mark.parametrize(
    ("said", "money", "tokens"),
    [
        ({"cost_usd": 0.25, "usage": Usage(input_tokens=9, output_tokens=1)}, 250_000_000, 10),
        ({"cost_usd": 0.0}, 0, 200),
        ({"usage": Usage(input_tokens=9, output_tokens=1)}, 10_000, 10),
        ({"may_have_cost_usd": 0.0}, 0, 200),
        ({"cost_usd": 0.25, "may_have_cost_usd": 0.25}, 250_000_000, 200),
    ],
)
def test_what_a_try_on_the_way_tells_counts_once_and_the_rest_at_its_most(
    store: Store, config: RunConfig, said: dict[str, object], money: int, tokens: int
) -> None:
    tried = Attempt.model_validate({"kind": "empty", "reason": "", "waited_s": 1, **said})
    record(store, "1", attempts=(tried,), frames=4, text_chars=60)
    assert spent_so_far(config, store.journal) == MoneyAndTokens(500_000_000 + money, 1500 + tokens)


def test_purse_restart_status_and_export_agree_on_what_empty_replies_cost(
    tmp_path: Path, config: RunConfig
) -> None:
    """At a dollar for a million tokens 1001 of them are $0.001001; one provider asks for none."""
    usage = Usage(input_tokens=1000, output_tokens=1)
    scope = slot(film(), 0).id
    free = ReceivedReply("", usage, cost_usd=0.0)
    empty = ReceivedReply("", usage)
    script = Script([empty, free, ReceivedReply("yes", usage)])
    heard = list[CallEvent]()
    out = play(tmp_path / "run", [], slots=[slot(film(), 0)])

    async def ask(store: Store) -> MoneyAndTokens:
        budget = Budget.of(store, config)
        asker = Asker(
            store.journal,
            load_bytes,
            make_client=script,
            spend_cap=budget.spend_cap,
            pause=no_pause,
            on_event=heard.append,
        )
        await asker.ask(config.model_of("a"), request_of(scope=scope))
        return getattr(budget.spend_cap, "spent", MoneyAndTokens())

    with Store.open(out / RUN_FILE, write=True) as store:
        keep_caps(store, SpendCaps(2.0))
        spend_cap = asyncio.run(ask(store))
    with open_run(out) as run:
        journal = run.store.journal
        costs = CallCosts(settled=0)
        (row,), (taken,) = journal.calls(), journal.each_taken()
        costs.add(taken)
        (exported,) = map(json.loads, lines_of(run, "calls").lines)
        again = spent_so_far(config, journal)
        spent = journal.spent()
    assert spend_cap.tokens == again.tokens == spent.input_tokens + spent.output_tokens == 3003
    # A sum of money is rounded up to a billionth.
    assert [spend_cap.nano, again.nano] == pytest.approx([2_002_000] * 2, abs=3)
    assert spent.usd == pytest.approx(0.002002)
    assert (spent.calls, spent.unknown, spent.lost.tries) == (1, 0, 0)
    counted = Calls(1, 0, 3000, 3, 0, pytest.approx(0.002002), 0)
    assert costs.total == costs.by_role["contestant"] == costs.by_model["a"] == counted
    tried = exported["attempts"]
    assert [one["cost_usd"] for one in tried] == [pytest.approx(0.001001), 0.0]
    assert [one["usage"]["input_tokens"] for one in tried] == [1000, 1000]
    assert [one["may_have_cost_usd"] for one in tried] == [None, None]
    assert heard[-1].attempts == row.attempts


def test_a_cap_holds_until_another_is_given_or_it_is_lifted(store: Store) -> None:
    assert kept_caps(store) == SpendCaps()
    keep_caps(store, merged_caps(SpendCaps(), SpendCaps(2.0, None)))
    assert merged_caps(kept_caps(store), SpendCaps(None, 5_000.0)) == SpendCaps(2.0, 5_000.0)
    assert merged_caps(kept_caps(store), SpendCaps(math.inf, None)) == SpendCaps()


def test_a_run_that_is_cut_off_while_it_begins_has_its_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(*_args: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("videoautoarena.runs.run.rundir.opener.keep_subtitles", cut_off)
    config = resolve(RunRequest()).config
    open_options = OpenOptions(caps=SpendCaps(2.0))
    found = Findings([video("a.mp4")], [], [])
    with pytest.raises(KeyboardInterrupt):
        begin(
            tmp_path,
            config,
            prompts=PromptSet.load(),
            found=found,
            folder=tmp_path,
            open_options=open_options,
        )
    with Store.open(tmp_path / RUN_FILE, write=False) as store:
        assert kept_caps(store) == SpendCaps(2.0)


def test_a_budget_begins_with_what_was_spent_and_what_frames_were_seen_to_take(
    store: Store, config: RunConfig
) -> None:
    record(store, "1", frames=10)
    keep_caps(store, SpendCaps(2.0))
    budget = Budget.of(store, config)
    assert budget.estimates.seen == {"openai:a": 100.0}
    assert getattr(budget.spend_cap, "spent", None) == MoneyAndTokens(500_000_000, 1500)


def test_prices_are_looked_up_again_and_are_no_part_of_what_a_run_is(config: RunConfig) -> None:
    now = priced(config)
    found = now.cast["openai:gpt-4o"].price
    assert found is not None
    assert found.source.startswith("genai-prices ")
    assert now.cast["offline:hawk"].price is None
    assert now.identity() == config.identity()
    assert priced(now) == now


def test_a_cap_in_dollars_wants_every_price(config: RunConfig) -> None:
    entry = config.cast["a"].model_copy(update={"price": None})
    unpriced = config.model_copy(update={"cast": {**config.cast, "a": entry}})
    check_caps(config, SpendCaps(2.0))
    check_caps(unpriced, SpendCaps(None, 1000.0))
    with pytest.raises(BadInput, match=r"no price is known for a; write it under \[models\.a\]"):
        check_caps(unpriced, SpendCaps(2.0))
    assert isinstance(unpriced.model_of("a"), Model)


def test_a_reply_that_a_filter_ended_counts_at_its_most(store: Store, config: RunConfig) -> None:
    lost = {"reply": None, "failure": "gone", "usage": Usage(), "failure_kind": "content-filter"}
    record(store, "1", **lost, cost_usd=None, may_have_cost_usd=2.0, text_chars=60)
    assert spent_so_far(config, store.journal) == MoneyAndTokens(2_000_000_000, 160)
    record(store, "22", **lost, cost_usd=0.0, cost_from="refused", text_chars=60)
    assert spent_so_far(config, store.journal) == MoneyAndTokens(2_000_000_000, 160)


def test_a_cap_in_dollars_wants_the_price_of_a_service_tier(config: RunConfig) -> None:
    entry = config.cast["openai:gpt-4o"]
    tiered = {"parameters": {"extra_body": {"service_tier": "priority"}}}

    def cast(**changed: object) -> RunConfig:
        new = entry.model_copy(update={**tiered, **changed})
        return config.model_copy(update={"cast": {**config.cast, "openai:gpt-4o": new}})

    check_caps(cast(price=Price(input_usd=9, output_usd=9)), SpendCaps(2.0))
    check_caps(cast(), SpendCaps(None, 1000.0))
    for told in (cast(), priced(cast())):
        with pytest.raises(BadInput, match="service_tier of openai:gpt-4o") as caught:
            check_caps(told, SpendCaps(2.0))
        assert "\n" not in str(caught.value)


def test_stopped_and_resumed_again_and_again_a_run_keeps_to_its_cap(
    tmp_path: Path, config: RunConfig
) -> None:
    """Each process is stopped in the pause behind a try that may have been charged."""
    path = tmp_path / "again" / "run.sqlite"
    sent = 0
    Store.create(path, {}).close()
    model = config.model_of("a")
    most = summed(Estimates().most(model, request_of()).usd, 0).nano
    for _ in range(6):
        with Store.open(path, write=True) as store:
            keep_caps(store, SpendCaps(3.5 * most / NANO))
            sent += asyncio.run(_stopped(store, config, model))
    with Store.open(path, write=False) as store:
        told = store.journal.spent()
        assert spent_so_far(config, store.journal).nano == 3 * most
    assert (sent, told.calls, told.lost.tries) == (3, 0, 3)


async def _stopped(store: Store, config: RunConfig, model: Model) -> int:
    """Return how many tries one process sends."""
    script = Script(lambda _: TimeoutError("nothing came back"))
    budget = Budget.of(store, config)
    asker = Asker(
        store.journal, load_bytes, make_client=script, spend_cap=budget.spend_cap, pause=_for_ever
    )
    call = asyncio.create_task(asker.ask(model, request_of()))
    for _ in range(20):
        await asyncio.sleep(0)
    asker.drain()
    await asker.drained.wait()
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    return len(script.seen)


async def _for_ever(_seconds: float) -> None:
    await asyncio.get_running_loop().create_future()


@pytest.mark.parametrize("text", ["[]", '{"usd": -1}', '{"tokens": "many"}', '{"usd": NaN}'])
def test_caps_that_nobody_here_wrote_are_one_line(text: str, store: Store) -> None:
    store.put_file("local/caps", text)
    with pytest.raises(StoreError, match="local/caps cannot be read"):
        kept_caps(store)
