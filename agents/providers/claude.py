"""Claude at Anthropic, and whatever Bedrock's Converse serves: LangChain's classes, as they think.

What Anthropic's API asks of a model that thinks is checked here, before anything is sent.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeGuard

from videoautoarena.agents.prompting.layout import CacheMark
from videoautoarena.agents.providers.base import (
    CONTESTANT_TOKENS,
    LEAST_CACHED,
    ModelSettings,
    ReplyForm,
)
from videoautoarena.agents.providers.declared import DeclaredProvider
from videoautoarena.agents.providers.own_credentials import OwnCredentials, aws_credentials
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.agents.transport.transport import SplicingTransport
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Role

if TYPE_CHECKING:
    from langchain_anthropic import ChatAnthropic
    from langchain_core.language_models import BaseChatModel

CACHE_CONTROL = CacheMark("cache_control", {"type": "ephemeral"})
CACHE_POINT = CacheMark("cachePoint", {"type": "default"}, "behind")
REFEREE_TOKENS = 8_192
"""max_tokens of a role other than a contestant's: Anthropic answers no call without a limit, and
LangChain's own, of up to 128,000, would be what a call may cost."""
ADAPTIVE_TOKENS = 12_288
"""Tokens added to the limit of a model that decides itself how long it thinks."""
LEAST_BUDGET = 1_024
"""The fewest tokens that Anthropic lets a model think."""
FIRST_UNASKED = 5
"""The version of Claude from which a model thinks unless it is told not to."""
_VERSION = re.compile(r"claude-[a-z]+-(\d)(?!\d)")
_NO_CACHE = re.compile(r"claude-(?:v?[12]|instant|3-(?:opus|sonnet|haiku))")
"""Claudes that Bedrock refuses a mark of."""

CLASS_PATH = re.compile(r"langchain_anthropic(?:\.\w+)*[.:]ChatAnthropic")
"""Path of LangChain's class for Anthropic's Messages."""
CACHED_FROM = (
    (r"claude-(?:opus|fable|mythos)-5", 512),
    (r"claude-(?:opus-4[.-][56]|haiku-4[.-]5)(?!\d)", 4_096),
    (r"claude-opus-4[.-]7|claude-mythos|haiku", 2_048),
    ("", LEAST_CACHED),
)
"""Tokens of the shortest beginning that is kept of Claudes, wherever they are served (Anthropic's
guide to prompt caching, August 2026); they do not grow or shrink from version to version."""


def is_claude(name: str) -> bool:
    """Return whether a model's name is that of a Claude, wherever it is served."""
    return "claude" in name.lower()


def thinking_tokens(name: str, parameters: Mapping[str, Any]) -> int:
    """Return the tokens that a model's thoughts may take beside its answer."""
    said = _thinking(parameters)
    thinking = said if isinstance(said, Mapping) else {}
    budget = thinking.get("budget_tokens")
    if thinking.get("type") == "enabled" and _is_whole(budget):
        return budget
    if thinking:
        return ADAPTIVE_TOKENS if thinking.get("type") == "adaptive" else 0
    versions = (int(found) for found in _VERSION.findall(name.lower()))
    thinks_unasked = any(version >= FIRST_UNASKED for version in versions)
    # A level of effort lets LangChain's classes ask for thoughts.
    has_effort = bool({"effort", "reasoning_effort"} & parameters.keys())
    return ADAPTIVE_TOKENS if thinks_unasked or has_effort else 0


def _thinking(parameters: Mapping[str, Any]) -> object:
    """Return what is said of thinking, also where Bedrock has the fields of one model."""
    more = parameters.get("additional_model_request_fields")
    inner = more.get("thinking") if isinstance(more, Mapping) else None
    return parameters.get("thinking", inner)


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def check_thinking(model: ModelSettings) -> None:
    """Return if a Claude can think as it is told to; BadInput says what Anthropic would refuse."""
    said = model.parameters
    thinking = _thinking(said)
    if thinking is None:
        return
    if not isinstance(thinking, Mapping):
        raise BadInput(
            f"{model.alias!a}: thinking is a table; write "
            'parameters = { thinking = { type = "enabled", budget_tokens = 4000 } }'
        )
    if thinking.get("type") not in ("enabled", "adaptive"):
        return
    if said.get("temperature", 1) != 1:
        raise BadInput(f"{model.alias!a} thinks at a temperature of 1 alone; leave temperature out")
    if "top_k" in said:
        raise BadInput(f"{model.alias!a} takes no top_k while it thinks; leave it out")
    top_p = said.get("top_p", 1)
    if isinstance(top_p, int | float) and not 0.95 <= top_p <= 1:
        raise BadInput(f"{model.alias!a} takes a top_p from 0.95 to 1 while it thinks")
    budget = thinking.get("budget_tokens")
    if thinking["type"] == "adaptive":
        return
    if not _is_whole(budget) or budget < LEAST_BUDGET:
        raise BadInput(f"{model.alias!a}: budget_tokens is a number from {LEAST_BUDGET:,} on")
    most = said.get("max_tokens")
    if _is_whole(most) and budget >= most:
        raise BadInput(
            f"{model.alias!a}: max_tokens counts what it thinks, too; set more than its "
            f"{budget:,} budget_tokens"
        )


@dataclass(frozen=True)
class _LangChainClass(DeclaredProvider):
    """A class of LangChain's that is known by name; each call tells it its limit of tokens."""

    def sampling(self, model: ModelSettings, role: Role) -> dict[str, Any]:
        chosen = dict(model.parameters)
        most = CONTESTANT_TOKENS if role == "contestant" else REFEREE_TOKENS
        chosen.setdefault("max_tokens", most + self.thought_tokens(model))
        return chosen

    def thought_tokens(self, model: ModelSettings) -> int:
        return thinking_tokens(model.name, model.parameters)

    def options(self, model: ModelSettings, role: Role, *, key: str) -> dict[str, Any]:
        """Return the limit of tokens, and headers with the journal key where they can be sent."""
        said = super().options(model, role, key=key)
        return {**said, "max_tokens": self.sampling(model, role)["max_tokens"]}

    def held_to(
        self,
        model: ModelSettings,  # noqa: ARG002
        options: dict[str, Any],
        form: ReplyForm,
    ) -> dict[str, Any]:
        wish = {"name": form.name, "schema": form.schema}
        return options | {"response_format": {"type": "json_schema", "json_schema": wish}}


@dataclass(frozen=True)
class DeclaredClaude(_LangChainClass):
    """LangChain's class for Claude under a name of one's own, as `arena.toml` declares it.

    By itself the class would ask for up to 128,000 tokens, more than any plan or cap reckons with.
    What nobody set is no part of a key: calls were made before it was sent.
    """

    def keyed(self, model: ModelSettings, role: Role) -> dict[str, Any]:  # noqa: ARG002
        return dict(model.parameters)


@dataclass(frozen=True)
class AnthropicProtocol(_LangChainClass):
    """Whoever serves Anthropic's Messages, through LangChain's class over connections of ours."""

    def check(self, model: ModelSettings) -> None:
        check_thinking(model)
        arguments = self._arguments(model)
        try:
            chat: Any = self.chat_class(**arguments)
            # What this Claude does not take LangChain says at each call, before it is sent.
            refuse = getattr(chat, "_assert_valid_model_configuration", None)
            if refuse is not None:
                refuse({})
        except ValueError as wrong:
            raise BadInput(f"{model.alias!a} cannot be set up: {redacted(str(wrong))}") from None

    def build(self, model: ModelSettings) -> BaseChatModel:
        arguments = self._arguments(model)
        chat: BaseChatModel = _over_our_transport(self.chat_class)(**arguments)
        return chat

    async def close(self, chat: Any) -> None:
        await chat._async_client.close()


@dataclass(frozen=True)
class ConverseProtocol(_LangChainClass):
    """Amazon Bedrock's Converse, signed with what boto3 finds."""

    def needs_breakpoint(self, model: ModelSettings) -> bool:
        # Other models of Bedrock refuse the mark, or keep no images.
        return is_claude(model.name) and not _NO_CACHE.search(model.name.lower())

    def check(self, model: ModelSettings) -> None:
        if os.environ.get("LANGSMITH_GATEWAY", "").strip() and not model.url:
            raise BadInput(
                f"LANGSMITH_GATEWAY is set, by which {model.alias!a} would be reached through "
                "LangSmith; unset it"
            )
        if is_claude(model.name):
            check_thinking(model)
        super().check(model)

    def find_credentials(self) -> OwnCredentials:
        return aws_credentials()

    async def close(self, chat: Any) -> None:
        for client in (chat.client, chat.bedrock_client):
            client.close()

    def arguments_of(self, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the class's arguments: Converse has `thinking` among the fields of one model."""
        given = dict(super().arguments_of(parameters))
        thinking = given.pop("thinking", None)
        if thinking is not None:
            more = given.get("additional_model_request_fields") or {}
            given["additional_model_request_fields"] = {"thinking": thinking, **more}
            # Else nothing says how many tokens of its output were thoughts.
            given.setdefault("additional_model_response_field_paths", ["/usage"])
        return given


@cache
def _over_our_transport(found: type[ChatAnthropic]) -> type[ChatAnthropic]:
    """Return LangChain's class with a connection of its own, which frames are spliced into.

    LangChain's is shared by all models of one address, across event loops, where it cannot live.
    """
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

    class Claude(found):  # type: ignore[misc, valid-type]
        @cached_property
        def _async_client(self) -> AsyncAnthropic:
            way = self._client_params
            transport: Any = SplicingTransport(way["base_url"])
            client = DefaultAsyncHttpxClient(timeout=way["timeout"], transport=transport)
            return AsyncAnthropic(**way, http_client=client)

    return Claude
