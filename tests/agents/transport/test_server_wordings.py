"""Tables of what servers say word for word, and what each of it means for the next try."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from videoautoarena.agents.calls.retry import fault_of
from videoautoarena.agents.transport.faults import CallFault, GarbledAnswer
from videoautoarena.agents.transport.server_words import error_in_text

if TYPE_CHECKING:
    import httpx2
    import openai

HERE = Path(__file__).parent
OURS = HERE / "server_wordings.jsonl"
BY_NAME = HERE / "wordings_by_name.jsonl"
"""Written by somebody who was given names of servers and statuses alone."""
PATH = "https://server.example/v1/chat/completions"


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def raised(row: dict[str, Any]) -> Exception:
    """Return what reaches the retries: the client's own exception, as LangChain passes it on."""
    body = row["body"] if isinstance(row["body"], str) else json.dumps(row["body"])
    if row["status"] == 200:
        return GarbledAnswer("ValueError", error_in_text(body))
    import httpx2

    answer = httpx2.Response(row["status"], text=body, request=httpx2.Request("POST", PATH))
    try:
        if row["server"] == "Google Gemini":
            _raise_as_gemini(answer)
        else:
            _raise_as_openai(answer)
    except Exception as error:  # noqa: BLE001
        return error
    raise AssertionError(row)


@cache
def _client() -> openai.AsyncOpenAI:
    import openai

    return openai.AsyncOpenAI(api_key="none")


def _raise_as_openai(answer: httpx2.Response) -> None:
    import openai
    from langchain_openai.chat_models import base as langchain_openai

    try:
        raise _client()._make_status_error_from_response(answer)
    except openai.BadRequestError as error:
        langchain_openai._handle_openai_bad_request(error)
    except openai.APIError as error:
        langchain_openai._handle_openai_api_error(error)


def _raise_as_gemini(answer: httpx2.Response) -> None:
    from google.genai import errors as genai
    from langchain_google_genai import chat_models as gemini

    try:
        genai.APIError.raise_for_response(answer)
    except genai.ClientError as error:
        gemini._handle_client_error(error, {"model": "gemini"})
    except genai.ServerError as error:
        gemini._handle_server_error(error)


def fault_for(row: dict[str, Any]) -> CallFault:
    fault = fault_of(raised(row))
    assert fault is not None
    return fault


def meaning(fault: CallFault) -> set[str]:
    """Return the words of the tables that a fault answers to."""
    if fault.nature == "too-large":
        return {"too-large", "images", f"images {fault.most_images}"}
    if fault.nature == "transient":
        return {"busy"}
    flags = {
        "no-images": fault.kind == "no-images",
        "no-system-role": fault.refused_system,
        "stream-only": fault.demands_stream,
    }
    named = {name for name, holds in flags.items() if holds}
    return named or {fault.nature}


def missed(table: list[dict[str, Any]]) -> list[str]:
    return [
        f"{row['server']} {row['status']} {row['means']}: {fault_for(row).reason}"
        for row in table
        if row["means"] not in meaning(fault_for(row))
    ]


def test_the_table_holds_what_twenty_servers_say() -> None:
    table = rows(OURS)
    harmless = [row for row in table if row["means"] == "permanent"]
    assert len({row["server"] for row in table}) >= 20
    assert len(harmless) >= 20
    assert len(table) - len(harmless) >= 60


@pytest.mark.parametrize("row", rows(OURS), ids=lambda row: f"{row['server']} {row['means']}")
def test_a_wording_is_read_as_what_it_means(row: dict[str, Any]) -> None:
    fault = fault_for(row)
    assert row["means"] in meaning(fault), fault.reason


@pytest.mark.parametrize("row", rows(OURS), ids=lambda row: f"{row['server']} {row['means']}")
def test_every_refusal_is_told_in_its_servers_words(row: dict[str, Any]) -> None:
    reason = fault_for(row).reason
    opening, _, words = reason.partition(": ")
    assert opening == f"HTTP {row['status']}"
    assert len(words) > 5
    assert len(reason) <= 300
    assert not any(mark in words for mark in ("{'", '{"', "<html", "Error code:"))


def test_wordings_that_were_written_by_name_are_recognised() -> None:
    table = rows(BY_NAME)
    refusals = [row for row in table if row["means"] not in ("permanent", "busy")]
    known = len(refusals) - len(missed(refusals))
    assert known >= 0.9 * len(refusals), missed(refusals)


@pytest.mark.parametrize("file", [OURS, BY_NAME], ids=lambda file: file.stem)
def test_nothing_harmless_is_taken_for_too_large(file: Path) -> None:
    harmless = [row for row in rows(file) if row["means"] in ("permanent", "busy")]
    taken = [row["body"] for row in harmless if fault_for(row).nature == "too-large"]
    assert taken == []
