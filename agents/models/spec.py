"""The settings of a model, and how many frames it is sent without any.

Sampling parameters are written down and travel with a bench, so nothing that holds a key or leads
a client elsewhere is one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field

from videoautoarena.agents.providers.base import Provider
from videoautoarena.agents.providers.declared import Declaration
from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import (
    CallLimits,
    Price,
    Record,
    Role,
    Structured,
    SystemRole,
    TokenField,
)

CONTESTANT_FRAMES = 64
"""Most frames of a contestant that names no limit (VideoAutoArena, experimental settings)."""
# No sampling has more.
MOST_FRAMES = 1024


def usual_frames(max_frames: int | None, role: Role) -> int:
    """Return the most frames a model is sent in `role`, whatever its server takes."""
    if max_frames is not None:
        return max_frames
    return CONTESTANT_FRAMES if role == "contestant" else MOST_FRAMES


class ModelSpec(Record):
    """What may be said of a model, in its table of `arena.toml`; what is None is left open."""

    model: str
    """`provider:model`; the provider is built in, installed, or declared below."""
    base_url: str | None = None
    """Where it is served; OpenAI-compatible ones end in `/v1`."""
    key_env: str | None = None
    """Name of the environment variable with its key."""
    max_frames: int | None = Field(default=None, ge=0, le=1024)
    """Most frames it is sent, 0 to 1024; a contestant gets 64 without it."""
    timeout_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Longest one try may take, up to twice that where the process was stopped; 300 without it."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Sampling parameters by one name for every provider. `temperature`, `top_p`, `max_tokens`,
    `seed`, `stop`, `presence_penalty` and `frequency_penalty` go to every remote model;
    `reasoning_effort`, `verbosity`, `logit_bias`, `stream` and `extra_body` (a table of what only
    your server knows) to OpenAI's protocol; `top_k`, `thinking_budget`, `thinking_level` and
    `media_resolution` to Gemini; to `anthropic`, `bedrock` and a provider that is installed or
    declared every field of its class, such as `thinking` or `additional_model_request_fields`, that
    can hold neither key nor address. A model is sent
    what is set here and, as a contestant, `max_tokens`; a stand-in takes none."""
    detail: Literal["low", "high", "auto"] | None = None
    """How closely the provider looks at each frame: `low`, `high` or `auto`; Gemini, where it is
    sent as the media resolution, knows the first two; other providers have none."""
    cache_breakpoint: bool | None = None
    """True marks the last frame as the end of what the provider's cache should keep; without it,
    true where caches match at marks alone: Claude at Anthropic, Bedrock and OpenRouter, GPT-5.6 and
    later at OpenAI itself, else false. It is no part of a call's key."""
    limits: CallLimits | None = None
    """What its server takes."""
    price: Price | None = None
    """US dollars a million tokens; beats the table of prices."""
    frame_tokens: int | None = Field(default=None, ge=0, le=100_000)
    """Tokens one frame counts as, for estimates."""
    token_limit_field: TokenField | None = None
    """Name under which a server of OpenAI's protocol is told how many tokens a reply may take:
    `max_tokens` or `max_completion_tokens`; without it the second at OpenAI itself, the first at
    any other `base_url`, and what a server refuses by name is sent to it by the other one."""
    system: SystemRole | None = None
    """`user`: the system text is the head of the user's message, for a model or server that takes
    no system or developer message; without it, a server that refuses one is sent it so from then
    on. The words are the same, so that it is no part of a call's key and may be set or left out in
    the middle of a run."""
    structured: Structured | None = None
    """How its server is asked to hold it to JSON in roles that reply in it: by `json_schema`, the
    schema of the role's reply; `json_object`, one object of any shape; `auto`, the schema, and what
    a server does not refuse of both; `off`, nothing, as without it. A schema is read before the
    frames, so that no cache has them for two roles. It is part of the key of such calls: with
    another one they are asked, and paid for, again."""


class ResolvedSpec(ModelSpec):
    """A model as it is called, and as a run keeps it: only its role or server may decide more."""

    timeout_s: float = Field(default=300.0, gt=0, allow_inf_nan=False)
    """Longest one try may take."""
    cache_breakpoint: bool = False
    """Whether the last frame is marked as the end of what the provider's cache should keep."""
    limits: CallLimits = CallLimits()
    """What its server takes."""
    declared: Declaration | None = None
    """What its provider is, unless that is built in or installed under its name."""

    def resolved_settings(self) -> dict[str, Any]:
        """Return these settings by name, without those that a subclass adds."""
        return {name: getattr(self, name) for name in ResolvedSpec.model_fields}


_SECRET = re.compile(
    r"(?i)api[-_]?key|secret|passw|authorization|credential|bearer|cookie|(access|auth|hf)[-_]?token"
)

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_parameters(alias: str, provider: Provider, *, parameters: Mapping[str, Any]) -> None:
    """Return if all parameters can be sent; BadInput names one, never its value."""
    for name in _names(parameters):
        if _SECRET.search(name):
            raise BadInput(f"{alias!a}: {name!a} is no parameter; put keys in a variable (key_env)")
    for name in parameters:
        if not provider.takes(name):
            known = provider.parameters
            there = f"there are {', '.join(known)}" if known else "offline models take none"
            raise BadInput(f"{alias!a} has the unknown parameter {name!a}; {there}")
    try:
        canonical_json(dict(parameters))
    except (TypeError, ValueError):
        raise BadInput(f"{alias!a} has a parameter that is no JSON value") from None


def check_key_env(alias: str, name: str) -> None:
    """Return if `name` can be that of a variable; BadInput, without it, where it may be a key."""
    # Google's keys begin with AIza and may pass for the name of a variable.
    if not _VARIABLE.fullmatch(name) or name.startswith("AIza"):
        raise BadInput(f"{alias!a}: key_env is the name of a variable, such as MY_KEY, not a key")


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from map(str, value)
        value = list(value.values())
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _names(inner)
