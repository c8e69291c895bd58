"""From frames by name to messages, and from a chat model's message to a row's words."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from tests.support.asking import REMOTE, Pages, Script, frames_of, load_bytes, request_of, run
from tests.support.film import PROVIDERS, Film, model_at
from tests.support.loopback import always, serving
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import ChatClient, OutgoingCall, received
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.prompting.layout import fragment, label, messages, thinned
from videoautoarena.memory.records.records import Frame, Usage
from videoautoarena.memory.store.store import Store

PARROT = parse_model("offline:parrot")


@pytest.mark.parametrize(("time_s", "line"), [(0.0, "t=0.00s"), (12.5, "t=12.50s")])
def test_a_frame_follows_its_time_in_seconds(time_s: float, line: str) -> None:
    assert label(Frame(time_s=time_s, digest="d")) == line


def test_images_stand_in_the_order_of_time_and_the_text_last() -> None:
    _, human = messages("s", "Well?", frames=frames_of(2).frames, jpegs=[b"one", b"two"])
    blocks: Any = human.content
    assert [block["type"] for block in blocks] == ["text", "image", "text", "image", "text"]
    assert base64.b64decode(blocks[3]["base64"]) == b"two"
    assert blocks[-1]["text"] == "Well?"


def test_a_missing_image_is_never_passed_over() -> None:
    with pytest.raises(ValueError, match="shorter"):
        messages("s", "Well?", frames=frames_of(2).frames, jpegs=[b"one"])


def test_the_same_frames_are_thinned_once() -> None:
    frames = frames_of(9)
    assert thinned(frames, 3) is thinned(frames, 3)
    assert thinned(frames, 9) is frames
    assert fragment(thinned(frames, 3)) != fragment(frames)


def test_an_offline_model_answers_through_the_same_door() -> None:
    asker = Asker(Pages(), load_bytes)
    assert run(asker.ask(PARROT, request_of("Question:\nWhy?")))


@pytest.mark.parametrize("model", [PARROT, REMOTE])
def test_a_fault_of_our_own_loader_is_a_bug_and_no_failure(model: Model) -> None:
    async def too_few(_video: str, _digests: list[str]) -> list[bytes]:
        return []

    journal = Pages()
    with pytest.raises(ValueError, match="shorter"):
        run(Asker(journal, too_few).ask(model, request_of(frames=frames_of(2))))
    assert not journal.rows


def test_the_loader_is_asked_for_what_is_sent_and_no_more() -> None:
    asked: list[tuple[str, int]] = []

    async def note(video: str, digests: list[str]) -> list[bytes]:
        asked.append((video, len(digests)))
        return [b"jpeg"] * len(digests)

    client = ChatClient(PARROT, note)
    run(client.send(OutgoingCall("k", "contestant", "Well?", thinned(frames_of(9), 4))))
    assert asked == [("0123456789ab", 4)]


def test_all_models_of_a_run_share_what_was_loaded(tmp_path: Path) -> None:
    film = Film(count=4)

    async def ask_all() -> None:
        asker = Asker(Pages(), film.load)
        for ordinal, provider in enumerate(PROVIDERS):
            model = model_at(provider, server.gemini_url)
            await asker.ask(model, request_of(frames=film.frames, ordinal=ordinal))
        await asker.aclose()

    with serving(tmp_path / "log", brain=always("So.")) as server:
        run(ask_all())
        assert [event["images"] for event in server.events("arrived")] == [4, 4]
    assert film.asked == film.digests


def test_a_message_in_blocks_is_read_without_its_thoughts() -> None:
    blocks: Any = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "So."}]
    got = received(AIMessage(content=blocks, response_metadata={"finish_reason": "stop"}))
    assert (got.text, got.usage, got.ending) == ("So.", Usage(), "stop")


@pytest.mark.parametrize("name", ["finish_reason", "stop_reason", "done_reason", "stopReason"])
def test_why_a_reply_ended_is_found_under_any_of_its_names(name: str) -> None:
    said = AIMessage(content="So.", response_metadata={name: "max_tokens"})
    assert received(said).ending == "max_tokens"


def test_a_call_outlives_its_run_in_the_store(tmp_path: Path) -> None:
    script = Script(["words"])
    for _ in range(2):
        path = tmp_path / "run.sqlite"
        store = Store.open(path, write=True) if path.exists() else Store.create(path, {})
        try:
            asker = Asker(store.journal, load_bytes, make_client=script)
            assert run(asker.ask(PARROT, request_of())) == "words"
        finally:
            store.close()
    assert len(script.seen) == 1


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", additional_kwargs={"refusal": "No."}),
        AIMessage([{"type": "refusal", "refusal": "No."}]),
    ],
)
def test_a_refusal_is_known_by_its_field_or_its_block(message: AIMessage) -> None:
    assert (received(message).text, received(message).refusal) == ("", "No.")


@pytest.mark.parametrize("said", [None, "", 7, {"refusal": "No."}])
def test_any_other_value_in_that_field_is_no_refusal(said: object) -> None:
    assert received(AIMessage("Yes.", additional_kwargs={"refusal": said})).refusal == ""


def counted(said: dict[str, Any], text: str = "So.") -> tuple[int | None, int | None]:
    """Return what is read of a server's count: input and output."""
    usage: Any = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0, **said}
    # As the clients make it, whatever the server said.
    message = AIMessage.model_construct(
        content=text, response_metadata={}, additional_kwargs={}, usage_metadata=usage
    )
    found = received(message).usage
    return found.input_tokens, found.output_tokens


@pytest.mark.parametrize(
    ("said", "tokens"),
    [
        ({"input_tokens": 32, "output_tokens": 9, "total_tokens": 41}, (32, 9)),
        # xAI: what was thought stands in the total alone.
        ({"input_tokens": 32, "output_tokens": 9, "total_tokens": 135}, (32, 103)),
        ({"input_tokens": 32, "output_tokens": 9, "total_tokens": 3}, (32, 9)),
        ({"input_tokens": 12.0, "output_tokens": 3}, (12, 3)),
        ({}, (None, None)),
        ({"total_tokens": 15}, (None, None)),
        ({"input_tokens": 12}, (12, None)),
        ({"input_tokens": -5, "output_tokens": 3}, (None, 3)),
        ({"input_tokens": 12.5, "output_tokens": 3}, (None, 3)),
        ({"input_tokens": 10**30, "output_tokens": 3}, (None, 3)),
        ({"input_tokens": 12, "output_tokens": float("nan")}, (12, None)),
        ({"input_tokens": "12", "output_tokens": True}, (None, None)),
    ],
)
def test_what_no_server_can_have_counted_is_unknown(
    said: dict[str, Any], tokens: tuple[int | None, int | None]
) -> None:
    assert counted(said) == tokens


def test_a_reply_without_text_may_have_taken_no_output() -> None:
    assert counted({"input_tokens": 12}, text="") == (12, 0)


@pytest.mark.parametrize("cost", [1e308, 10**400, -0.1, float("nan"), float("inf"), "0.1", True])
def test_a_cost_that_cannot_be_is_unknown(cost: object) -> None:
    said = AIMessage("So.", response_metadata={"token_usage": {"cost": cost}})
    assert received(said).cost_usd is None
