"""The runs that one process has open: who may play them, and that none is left open."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

import videoautoarena as va
from tests.support.clips import draw_folder
from videoautoarena.runs.api import simulate as simulating
from videoautoarena.runs.api.simulate import OpenRuns, RunRefused, arena, opened
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.tournament.runner import RunSession

CAST = ("offline:hawk", "offline:mole", "offline:parrot")


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_folder(tmp_path_factory.mktemp("ground") / "clips", 2, seconds=2)


@pytest.fixture
def request_(clips: Path, tmp_path: Path) -> RunRequest:
    return RunRequest(videos=clips, out=tmp_path / "out", models=CAST, rounds=1)


def nobody(_said: Any) -> None:
    pass


def test_another_thread_takes_no_run_away_between_two_nodes_or_while_it_is_rated(
    request_: RunRequest,
) -> None:
    async def play() -> None:
        runs = OpenRuns()
        await runs.open(request_, "a", nobody)
        with pytest.raises(RunRefused, match="is being played"):
            await runs.open(request_, "b", nobody)
        async with runs.playing(request_, "a", nobody):
            pass
        rated, refused = await asyncio.gather(
            runs.rate(request_, "a", nobody),
            runs.open(request_, "b", nobody),
            return_exceptions=True,
        )
        assert isinstance(rated, dict)
        assert isinstance(refused, RunRefused)
        # Once it is over anybody may go on with it.
        await runs.open(request_, "b", nobody)
        await runs.rate(request_, "b", nobody)

    asyncio.run(play())


def test_a_run_that_its_thread_has_left_is_taken_over(
    request_: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulating, "LEFT_S", 0.0)

    async def play() -> None:
        runs = OpenRuns()
        await runs.open(request_, "a", nobody)
        counts = await runs.open(request_, "b", nobody)
        assert (counts["slots"], counts["left"]) == (6, 6)
        assert (await runs.rate(request_, "b", nobody))["settled"] == 0

    asyncio.run(play())
    # Closed by whoever took it over, so that it can be opened again.
    assert va.simulate(out=request_.out, quiet=True).status().settled == 6


def test_a_graph_alone_does_not_join_the_game_of_another(request_: RunRequest) -> None:
    async def play() -> list[Any]:
        plays = [arena().ainvoke({}, context=request_) for _ in range(2)]
        return list(await asyncio.gather(*plays, return_exceptions=True))

    first, second = asyncio.run(play())
    assert (first["settled"], first["ended"]) == (6, "")
    assert isinstance(second, va.BadInput)


def test_who_is_cancelled_while_a_run_is_opened_leaves_it_closed(request_: RunRequest) -> None:
    async def play() -> va.Run:
        asked: dict[str, Any] = {**request_.model_dump(exclude_none=True), "quiet": True}
        opening = asyncio.create_task(va.asimulate(**asked))
        await asyncio.sleep(0)
        while not (request_.out / "run.sqlite").exists():
            await asyncio.sleep(0.001)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        while True:
            try:
                return await va.asimulate(**asked)
            except va.ArenaError as busy:
                # The thread that opens it cannot be stopped, and closes it when it is done.
                assert "is being run by" in str(busy)  # noqa: PT017
                await asyncio.sleep(0.01)

    assert asyncio.run(asyncio.wait_for(play(), 60)).status().settled == 6


def test_a_run_that_was_opened_before_its_caller_heard_of_it_is_closed() -> None:
    closed = list[str]()

    class Session:
        def leave(self) -> None:
            closed.append("left")

    async def play() -> None:
        def cancel_and_open() -> Any:
            loop.call_soon_threadsafe(opening.cancel)
            return Session()

        loop = asyncio.get_running_loop()
        opening: asyncio.Task[RunSession] = asyncio.create_task(opened(cancel_and_open))
        with pytest.raises(asyncio.CancelledError):
            await opening

    asyncio.run(play())
    assert closed == ["left"]


def test_an_event_loop_of_ones_own_logs_no_keys(
    request_: RunRequest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "7f-A-key-of-somebody")
    before = logging.getLogRecordFactory()
    logging.setLogRecordFactory(logging.LogRecord)
    try:
        asyncio.run(va.asimulate(**request_.model_dump(exclude_none=True), quiet=True))
        logging.getLogger("openai").warning("sent %s", "7f-A-key-of-somebody")
    finally:
        logging.setLogRecordFactory(before)
    assert "7f-A-key" not in caplog.text
