"""Embeddings are called like a chat model, whatever becomes of the call."""

from __future__ import annotations

import asyncio
from threading import Event

import pytest
from langchain_core.messages import HumanMessage

from tests.support.letters import Pictures
from videoautoarena.agents.providers.embedding_chat import EmbeddingChat


class Stuck(Pictures):
    """Embeds nothing before it is let go."""

    let_go = Event()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.let_go.wait(5)
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    def embed_image(self, uris: list[str]) -> list[list[float]]:
        return self.embed_documents(uris)


@pytest.mark.parametrize("text", ["Question:\nWhat?", "Caption:\nA dog.", None])
def test_embeddings_that_never_end_hold_up_no_program(text: str | None) -> None:
    block = {"type": "text", "text": text} if text else {"type": "image", "base64": "AAAA"}
    chat, asked = EmbeddingChat(embeddings=Stuck("small")), Stuck.asked

    async def ask() -> None:
        async with asyncio.timeout(0.01):
            await chat.ainvoke([HumanMessage([block])])

    Stuck.let_go.clear()
    with pytest.raises(TimeoutError):
        asyncio.run(ask())
    assert Stuck.asked == asked
    Stuck.let_go.set()
