"""OpenAI, and every server that speaks its chat completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents.providers.base import COMMON, NO_KEY, Provider
from agents.transport import SplicingTransport
from memory.records import Role

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from agents.models import Model


class _OpenAI(Provider):
    def build(self, model: Model) -> BaseChatModel:
        from langchain_openai import ChatOpenAI
        from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

        # Clients of its own: LangChain shares one across event loops, where it cannot live.
        way: dict[str, Any] = {
            "timeout": model.timeout_s,
            "transport": SplicingTransport(model.url),
        }
        return ChatOpenAI(
            model=model.name,
            api_key=model.key() or NO_KEY,
            base_url=model.url,
            timeout=model.timeout_s,
            max_retries=0,
            use_responses_api=False,
            http_client=DefaultHttpxClient(**way),
            http_async_client=DefaultAsyncHttpxClient(**way),
            **model.parameters,
        )

    def options(self, model: Model, role: Role, *, key: str) -> dict[str, Any]:
        options: dict[str, Any] = {"extra_headers": {"Idempotency-Key": key}}
        tokens = self.sampling(model, role).get("max_tokens")
        return options | ({"max_tokens": tokens} if tokens else {})

    async def close(self, chat: Any) -> None:
        chat.http_client.close()
        await chat.http_async_client.aclose()


OPENAI = _OpenAI(
    "openai",
    home="https://api.openai.com/v1",
    key_names=("OPENAI_API_KEY",),
    base_names=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    # What only other servers know stands in extra_body.
    parameters=(*COMMON, "reasoning_effort", "verbosity", "logit_bias", "extra_body"),
    details=("low", "high", "auto"),
    has_part_detail=True,
    can_splice=True,
)
