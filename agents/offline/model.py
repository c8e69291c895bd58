"""The offline models as LangChain chat models."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult

from agents.offline.replies import reply
from agents.offline.sent import Sent, read


class OfflineModel(BaseChatModel):
    """One member of the offline cast. Knows the messages of the call and nothing else."""

    kind: str

    @property
    def _llm_type(self) -> str:
        return "offline"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> ChatResult:
        sent = read(messages)
        text = reply(self.kind, sent)
        message = AIMessage(content=text, usage_metadata=_usage(sent, text))
        return ChatResult(generations=[ChatGeneration(message=message)])


def _usage(sent: Sent, text: str) -> UsageMetadata:
    """Count words and images as one token each."""
    into, out = sent.words + len(sent.pictures), len(text.split())
    return UsageMetadata(input_tokens=into, output_tokens=out, total_tokens=into + out)
