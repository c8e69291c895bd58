"""Tables of what servers say word for word, and what each of it means for the next try."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_google_genai import chat_models as gemini
from langchain_openai.chat_models import base as langchain_openai

import httpx2
import openai
from google.genai import errors as genai
from videoautoarena.agents.calls.retry import fault_of
from videoautoarena.agents.transport.faults import Fault

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
    answer = httpx2.Response(row["status"], text=body, request=httpx2.Request("POST", PATH))
    try:
        if row["server"] == "Google Gemini":
            _raise_as_gemini(answer)
        else:
            _raise_as_openai(answer)
    except Exception as error:  # noqa: BLE001
        return error
    raise AssertionError(row)


def _raise_as_openai(answer: httpx2.Response) -> None:
    try:
        raise openai.AsyncOpenAI(api_key="none")._make_status_error_from_response(answer)
    except openai.BadRequestError as error:
        langchain_openai._handle_openai_bad_request(error)
    except openai.APIError as error:
        langchain_openai._handle_openai_api_error(error)


def _raise_as_gemini(answer: httpx2.Response) -> None:
    try:
        genai.APIError.raise_for_response(answer)
    except genai.ClientError as error:
        gemini._handle_client_error(error, {"model": "gemini"})
    except genai.ServerError as error:
        gemini._handle_server_error(error)


def fault_for(row: dict[str, Any]) -> Fault:
    fault = fault_of(raised(row))
    assert fault is not None
    return fault


def meaning(fault: Fault) -> set[str]:
    """Return the words of the tables that a fault answers to."""
    if fault.nature == "too-large":
        known = {"images", f"images {fault.most_images}"} if fault.most_images else set()
        return {"too-large", *known}
    if fault.nature == "transient":
        return {"busy"}
    flags = {
        "no-images": fault.kind == "no-images",
        "no-system-role": fault.refused_system,
        "stream-only": fault.demands_stream,
    }
    named = {name for name, holds in flags.items() if holds}
    return named or {fault.nature}
