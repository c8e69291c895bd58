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

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self.let_go = Event()
        self.is_done = False

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.let_go.wait(5)
        self.is_done = True
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    def embed_image(self, uris: list[str]) -> list[list[float]]:
        return self.embed_documents(uris)


@pytest.mark.parametrize("text", ["Question:\nWhat?", "Caption:\nA dog.", None])
def test_embeddings_that_never_end_hold_up_no_program(text: str | None) -> None:
    block = {"type": "text", "text": text} if text else {"type": "image", "base64": "AAAA"}
    stuck = Stuck("small")
    chat = EmbeddingChat(embeddings=stuck)

    async def ask() -> None:
        async with asyncio.timeout(0.01):
            await chat.ainvoke([HumanMessage([block])])

    with pytest.raises(TimeoutError):
        asyncio.run(ask())
    assert not stuck.is_done
    stuck.let_go.set()


def test_a_vector_is_the_same_where_nobody_awaits_it() -> None:
    chat = EmbeddingChat(embeddings=Pictures("small"))
    asked = [HumanMessage([{"type": "text", "text": "Question:\nWhat?"}])]
    reply = chat.invoke(asked)
    assert reply.content == asyncio.run(chat.ainvoke(asked)).content
    assert str(reply.content).startswith("[")
