"""Classes that find their credentials themselves: Bedrock signs with AWS's own, given no key."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tests.agents.providers.test_declared import Parrot, parse
from tests.support.asking import Pages, frames_of, load_bytes, request_of, run
from tests.support.bodies import Book, HttpReply, keeping
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.models.registry import Model, build_chat_model, check_keys, parse_model
from videoautoarena.agents.providers.declared import Declaration
from videoautoarena.memory.records.errors import ProviderFailed
from videoautoarena.memory.records.records import CallRow

REPLY = {
    "output": {"message": {"role": "assistant", "content": [{"text": "A heron."}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 90, "outputTokens": 7, "totalTokens": 97},
    "metrics": {"latencyMs": 3},
}
AWS = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
}


class Keyless(Parrot):
    """Says which key it was given, if any."""

    house_api_key: Any = None


def key_of(model: Model) -> Any:
    check_keys([model])
    return build_chat_model(model).house_api_key  # type: ignore[attr-defined]


def keyless(**said: Any) -> Model:
    declaration = Declaration(chat_model=f"{__name__}:Keyless", **said)
    return parse_model("house:big", {"declared": declaration})


def test_a_class_with_credentials_of_its_own_is_given_no_stand_in() -> None:
    assert (key_of(keyless()), key_of(keyless(auth="own"))) == ("none", None)


def test_a_key_that_is_named_goes_to_it_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_KEY", "word")
    assert key_of(keyless(auth="own", key_env="HOUSE_KEY")) == "word"


@pytest.mark.parametrize("auth", ["none", "OWN", True])
def test_there_is_no_other_way(auth: Any) -> None:
    with pytest.raises(ValidationError):
        Declaration(chat_model="a:B", auth=auth)


def test_a_declaration_without_it_is_written_as_ever() -> None:
    assert "auth" not in parse().declared.model_dump(mode="json")
    own = Declaration(chat_model="a:B", auth="own")
    assert own.model_dump(mode="json")["auth"] == "own"


def ask_bedrock(book: Book, **said: Any) -> CallRow:
    declaration = Declaration(chat_model="langchain_aws:ChatBedrockConverse", **said)
    name = "bedrock:anthropic.claude-sonnet-4-20250514-v1:0"
    model = parse_model(name, {"declared": declaration, "base_url": book.url})
    check_keys([model])

    async def once() -> CallRow:
        asker = Asker(Pages(), load_bytes)
        try:
            return await asker.ask_row(model, request_of("Why?", frames=frames_of(2)))
        finally:
            await asker.aclose()

    return run(once())


@pytest.mark.slow  # its packages take four seconds to be imported
def test_bedrock_signs_with_the_credentials_that_it_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in AWS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
    with keeping(script=lambda _request: HttpReply(json.dumps(REPLY).encode())) as book:
        row = ask_bedrock(book, auth="own")
        # With the stand-in of other classes it would keep its own credentials back.
        with pytest.raises(ProviderFailed, match="requires an HTTPS endpoint"):
            ask_bedrock(book)
    (request,) = book.requests
    assert request.headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert (row.reply, row.ending, row.frames) == ("A heron.", "end_turn", 2)
    assert (row.usage.input_tokens, row.usage.output_tokens) == (90, 7)
