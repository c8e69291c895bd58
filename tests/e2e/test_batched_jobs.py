"""Benches and paid jobs whose calls are handed over in batches, as they are typed."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.support import wire
from tests.support.batch_servers import BatchBook, batch_server
from tests.support.clips import draw_folder
from tests.support.loopback import ask_offline
from tests.support.small_benches import calls_of, freeze_ground, run_bench
from tests.support.small_runs import play as run
from tests.support.task_sets import choice, write_set
from videoautoarena.agents.calls import batch_queue
from videoautoarena.runs.analysis.categories.tags import standing_tags
from videoautoarena.runs.cli.program.main import arena
from videoautoarena.runs.run.rundir.reader import open_run
from videoautoarena.runs.views.page.data import PageData
from videoautoarena.video.folder.find import find_videos

ITEMS = 6


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GATHER_S", "FIRST_LOOK_S", "LONGEST_LOOK_S"):
        monkeypatch.setattr(batch_queue, name, 0.05)
    monkeypatch.setenv("LOOPBACK_KEY", "sk-loopback-0123456789")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A bench of six questions about one clip."""
    (film,) = find_videos(draw_folder(tmp_path / "videos", 1, seconds=2)).videos
    items = [choice(film.id, k, question=f"How many at {k}?") for k in range(ITEMS)]
    write_set(tmp_path / "set", items, videos=tmp_path / "videos")
    return tmp_path


def configure(place: Path, port: int, other: int | None = None) -> None:
    price = "price = { input_usd = 10.0, output_usd = 50.0 }"
    (place / "arena.toml").write_text(
        f'[providers.own]\nchat_model = "langchain_openai:ChatOpenAI"\nbase_url = "http://127.0.0.1:{port}/v1"\n'
        f'[models.o]\nmodel = "openai:gpt-4o"\nbase_url = "http://127.0.0.1:{port}/v1"\n'
        f'key_env = "LOOPBACK_KEY"\n{price}\n'
        f'[models.g]\nmodel = "google_genai:gemini-2.0-flash"\n'
        f'base_url = "http://127.0.0.1:{other or port}"\nkey_env = "LOOPBACK_KEY"\n{price}\n'
        '[models.other]\nmodel = "own:thing"\n'
    )


def interrupt() -> None:
    # A second one would stop at once.
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        os.kill(os.getpid(), signal.SIGINT)


def play(place: Path, *models: str, more: tuple[str, ...] = ("--batch",)) -> Result:
    line = ["bench", "run", str(place / "set"), "--config", str(place / "arena.toml"), *more]
    line += ["--videos", str(place / "videos")]
    for name in models:
        line += ["--model", name]
    return CliRunner().invoke(arena, line, standalone_mode=False)


def test_a_bench_is_played_in_one_batch_a_model_at_half_the_price(place: Path) -> None:
    book = BatchBook(say=lambda *_: "A")
    with batch_server(book) as port:
        configure(place, port)
        ended = play(place, "o", "g")
    assert ended.return_value == 0, ended.output
    assert sorted((one.protocol, len(one.lines)) for one in book.batches) == [
        ("gemini", ITEMS),
        ("openai", ITEMS),
    ]
    assert "ended with 6 results" in ended.stderr
    rows = calls_of(place / "set")
    assert {row.cost_usd for row in rows} == {0.001}
    assert (book.direct, set(book.paid.values())) == ([], {1})


UNREAD = {
    "look": "a batch of 6 calls cannot be read",
    "results": "a batch of 6 calls cannot be read",
    "list": "the list of batches cannot be read",
}


@pytest.mark.parametrize(
    ("what", "how"), [("look", "500"), ("look", "401"), ("results", "garble"), ("list", "503")]
)
def test_a_batch_that_cannot_be_read_leaves_its_own_model_for_another_time(
    place: Path, what: str, how: str
) -> None:
    mishaps = {what: how} | ({"post": "lose"} if what == "list" else {})
    bad = BatchBook(say=lambda *_: "A", mishap=lambda _, asked: mishaps.get(asked, ""))
    # It goes on long after the other has been given up.
    good = BatchBook(say=lambda *_: "A", looks=12)
    with batch_server(bad) as port, batch_server(good) as other:
        configure(place, port, other)
        first = play(place, "o", "g", more=("--batch", "--json"))
        told = [line for line in first.stderr.splitlines() if UNREAD[what] in line]
        assert (first.return_value, len(told)) == (5, 1), first.output
        assert told[0].startswith("openai:gpt-4o: ")
        assert "nothing of it is sent again; repeat the command later" in told[0]
        end = json.loads(first.stdout)
        assert (end["settled"], end["unread"]) == (ITEMS, {"openai:gpt-4o": told[0]})
        # Fewer at a time than are in the batch.
        again = play(place, "o", "g", more=("--concurrency", "1"))
        assert (again.return_value, again.stderr.count(UNREAD[what])) == (5, 1)
        mishaps.clear()
        second = play(place, "o", "g", more=())
    assert second.return_value == 0, second.output
    assert (len(bad.batches), len(good.batches), bad.direct + good.direct) == (1, 1, [])
    assert len(calls_of(place / "set")) == 2 * ITEMS
    assert set((bad.paid + good.paid).values()) == {1}


def test_a_batch_that_is_refused_ends_its_own_model_and_leaves_nothing(place: Path) -> None:
    bad = BatchBook(mishap=lambda _, what: "400" if what == "post" else "")
    good = BatchBook(say=lambda *_: "A", looks=12)
    with batch_server(bad) as port, batch_server(good) as other:
        configure(place, port, other)
        ended = play(place, "o", "g")
    assert ended.return_value == 5, ended.output
    assert "openai:gpt-4o: a batch of 6 calls was not taken: HTTP 400" in ended.stderr
    assert len(calls_of(place / "set")) == ITEMS
    assert "left in batches" not in ended.stderr


def test_a_batch_of_another_account_is_sent_again_only_where_its_user_says_so(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = BatchBook(say=lambda *_: "A", looks=10**6)
    book.on_answered = lambda _, what: interrupt() if what == "look" else None
    with batch_server(book) as port:
        configure(place, port)
        assert play(place, "o").return_value == 130
        book.on_answered = lambda *_: None
        book.looks = 1
        monkeypatch.setenv("LOOPBACK_KEY", "sk-of-another-0123456789")
        second = play(place, "o")
        assert second.return_value == 5, second.output
        assert "is not there for this key: another account may hold it" in second.stderr
        third = play(place, "o", more=("--batch", "--retry-failed"))
    assert third.return_value == 0, third.output
    assert len(book.batches) == 2
    assert "possibly paid: 6 attempts of unknown cost" in third.stderr


def test_an_interrupt_leaves_the_batch_and_the_same_command_reads_it(place: Path) -> None:
    book = BatchBook(say=lambda *_: "A", looks=10**6)
    book.on_answered = lambda _, what: interrupt() if what == "look" else None
    with batch_server(book) as port:
        configure(place, port)
        first = play(place, "o")
        assert "6 calls left in batches at the provider: repeat the command" in first.stderr
        assert first.return_value == 130
        assert calls_of(place / "set") == []
        book.on_answered = lambda *_: None
        book.batches[0].looks = 1
        second = play(place, "o")
    assert second.return_value == 0, second.output
    assert (len(book.batches), len(calls_of(place / "set"))) == (1, ITEMS)


def status(place: Path, *more: str) -> Result:
    return CliRunner().invoke(arena, ["status", str(place), *more], standalone_mode=False)


def test_status_tells_of_batches_of_a_bench_wherever_it_is_asked(place: Path) -> None:
    book = BatchBook(say=lambda *_: "A", looks=10**6)
    book.on_answered = lambda _, what: interrupt() if what == "look" else None
    with batch_server(book) as port:
        configure(place, port)
        assert play(place, "o").return_value == 130
        places = (place / "set", place / "set/results", place / "set/results/calls.sqlite")
        for one in places:
            told = " ".join(status(one).stdout.split())
            assert "calls.sqlite: no process is at it no call has ended yet in a batch" in told
            assert re.search(r" of openai:gpt-4o for \d+ s: 0 of 6 answered, 6 not read yet", told)
        (kept,) = json.loads(status(place / "set", "--json").stdout)["files"]
        (batch,) = kept["batches"]
        assert (batch["calls"], batch["open"], batch["state"]) == (ITEMS, ITEMS, "posted")
        assert (kept["process"], kept["lost"]["tries"], kept["cost_usd"]) == (None, 0, 0)
        book.on_answered = lambda *_: None
        book.batches[0].looks = 1
        play(place, "o")
    ended = status(place / "set").stdout
    assert "model o: 6 calls, 0 failed" in ended
    assert "in a batch" not in ended


def test_status_of_a_set_without_calls_says_what_it_is(place: Path) -> None:
    ended = status(place / "set")
    assert "holds a frozen set and no run" in str(ended.exception)


def test_a_plan_in_batches_costs_half(place: Path) -> None:
    configure(place, 9)
    usual, batched = (
        json.loads(play(place, "o", more=("--plan", "--json", *more)).stdout)
        for more in ((), ("--batch",))
    )
    assert usual["cost_usd"] > 0
    for name in ("cost_usd", "bound90_usd"):
        assert batched[name] == pytest.approx(usual[name] / 2)
    assert any("half the usual price" in line for line in batched["notices"])
    assert (usual["duration_s"] > 0, batched["duration_s"]) == (True, None)


def examiner_says(_key: str, body: dict[str, Any]) -> str:
    request = wire.read("/v1/chat/completions", body)
    return str(ask_offline("examiner", request.messages).text)


def model_says(_key: str, body: dict[str, Any]) -> str:
    request = wire.read("/v1/chat/completions", body)
    return str(ask_offline(body["model"], request.messages).text)


@pytest.mark.slow
def test_answers_come_in_one_batch_and_their_judging_in_the_next(tmp_path: Path) -> None:
    ground = freeze_ground(tmp_path)
    book = BatchBook(say=model_says)
    with batch_server(book) as port:
        way = f'base_url = "http://127.0.0.1:{port}/v1"\nkey_env = "LOOPBACK_KEY"\n'
        (tmp_path / "arena.toml").write_text(
            f'[models.h]\nmodel = "openai:hawk"\n{way}[models.j]\nmodel = "openai:judge"\n{way}'
        )
        typed = ("--model", "h", "--judge", "j", "--config", tmp_path / "arena.toml", "--batch")
        more = ("--videos", tmp_path / "videos", "--allow-offline-judge")
        ended = run_bench(ground / "bench", *typed, *more)
    assert ended.return_value == 0, ended.output
    answered, judged = ([body["model"] for _, body in one.lines] for one in book.batches)
    assert (set(answered), set(judged)) == ({"hawk"}, {"judge"})
    assert len(judged) >= 2 * len(answered)
    assert (book.direct, set(book.paid.values())) == ([], {1})


def tag(place: Path, *more: str) -> Result:
    line = ["categories", "tag", str(place / "out"), "--classifier", "o", "--config"]
    line += [str(place / "arena.toml"), *more]
    return CliRunner().invoke(arena, line, standalone_mode=False)


def test_a_paid_job_hands_its_calls_over_and_status_tells_of_them(tmp_path: Path) -> None:
    run(draw_folder(tmp_path / "videos", 2, seconds=3), tmp_path / "out", rounds=1)
    book = BatchBook(say=examiner_says, looks=10**6)
    book.on_answered = lambda _, what: interrupt() if what == "look" else None
    with batch_server(book) as port:
        configure(tmp_path, port)
        first = tag(tmp_path, "--batch")
        count = len(book.batches[0].lines)
        assert f"{count} calls left in batches at the provider" in first.stderr
        told = CliRunner().invoke(arena, ["status", str(tmp_path / "out")], standalone_mode=False)
        words = rf"in a batch of openai:gpt-4o for \d+ s: 0 of {count} answered"
        assert re.search(words, " ".join(told.stdout.split()))
        assert "possibly paid" not in told.stdout
        page = json.dumps(PageData.read(tmp_path / "out").summary)
        assert "Batches at a provider still hold" in page
        book.on_answered = lambda *_: None
        book.batches[0].looks = 1
        second = tag(tmp_path)
    assert second.return_value == 0, second.output
    assert (len(book.batches), book.direct, set(book.paid.values())) == (1, [], {1})
    with open_run(tmp_path / "out") as reader:
        assert len(standing_tags(reader.store.evidence.tags())) == count


def test_offline_models_are_asked_as_usual_and_a_line_says_so(place: Path) -> None:
    configure(place, 9)
    ended = play(place, "offline:hawk")
    assert ended.return_value == 0, ended.output
    assert "asked as usual, since they run on this machine: offline:hawk" in ended.stderr


def test_a_provider_without_batches_is_refused_in_one_line_before_anything(place: Path) -> None:
    book = BatchBook()
    with batch_server(book) as port:
        configure(place, port)
        ended = play(place, "other")
    assert "takes no batches; leave out --batch" in str(ended.exception)
    assert book.requests == []
