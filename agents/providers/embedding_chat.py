"""Embeddings behind the face of a chat model, so that they are called, paid and kept like one."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import LanguageModelInput
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig

from videoautoarena.agents.prompting.contracts import QUESTION_LINE


class EmbeddingChat(BaseChatModel):
    """Replies to a message with its vector: of its pictures, on average, or else of its text."""

    embeddings: Any

    @property
    def _llm_type(self) -> str:
        return "embeddings"

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,  # noqa: ARG002
        *,
        stop: list[str] | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> AIMessage:
        """Return the reply; embeddings that know no way to wait are asked in a thread."""
        text, jpegs = _asked(self._convert_input(input).to_messages())
        if jpegs:
            return AIMessage(_mean(await _apart(partial(self._of_jpegs, jpegs))))
        return AIMessage(_mean([await self._of_text(text, **kwargs)]))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> ChatResult:
        """Return the same reply to callers that do not await it."""
        text, jpegs = _asked(messages)
        reply = AIMessage(_mean(self._of_jpegs(jpegs) if jpegs else [self._embed(text)]))
        return ChatResult(generations=[ChatGeneration(message=reply)])

    def _embed(self, text: str) -> list[float]:
        head, _, rest = text.partition("\n")
        if head == QUESTION_LINE:
            return list(self.embeddings.embed_query(rest))
        return list(self.embeddings.embed_documents([rest])[0])

    async def _of_text(self, text: str, **options: Any) -> list[float]:
        head, _, rest = text.partition("\n")
        found = self.embeddings
        if head == QUESTION_LINE:
            if type(found).aembed_query is Embeddings.aembed_query:
                return list(await _apart(partial(self._embed, text)))
            return list(await found.aembed_query(rest, **options))
        if type(found).aembed_documents is Embeddings.aembed_documents:
            return list(await _apart(partial(self._embed, text)))
        return list((await found.aembed_documents([rest], **options))[0])

    def _of_jpegs(self, jpegs: list[bytes]) -> list[list[float]]:
        # `embed_image` takes paths of files and no bytes.
        with TemporaryDirectory(prefix="arena-clip-") as folder:
            files = [Path(folder, f"{place}.jpg") for place in range(len(jpegs))]
            for file, jpeg in zip(files, jpegs, strict=True):
                file.write_bytes(jpeg)
            vectors = self.embeddings.embed_image([str(file) for file in files])
            return [list(vector) for vector in vectors]


async def _apart(work: Callable[[], Any]) -> Any:
    """Return the result of work that is done in a thread of its own.

    Work that never ends holds no thread that others wait for, nor the end of the program.
    """
    loop = asyncio.get_running_loop()
    context = copy_context()
    ended: asyncio.Future[Any] = loop.create_future()

    def settle(found: Any, wrong: BaseException | None) -> None:
        if not ended.done():
            ended.set_exception(wrong) if wrong else ended.set_result(found)

    def run() -> None:
        found = None
        wrong = None
        try:
            found = context.run(work)
        except BaseException as error:  # noqa: BLE001 - it is raised where the work was wanted
            wrong = error
        # Nobody may wait any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, found, wrong)

    Thread(target=run, daemon=True).start()
    return await ended


def _asked(messages: list[BaseMessage]) -> tuple[str, list[bytes]]:
    """Return the text of the last message, and its pictures."""
    blocks = [block for block in messages[-1].content if isinstance(block, dict)]
    jpegs = [base64.b64decode(b["base64"]) for b in blocks if b.get("type") == "image"]
    return str(blocks[-1].get("text", "")), jpegs


def _mean(vectors: list[list[float]]) -> str:
    mean = [sum(column) / len(vectors) for column in zip(*vectors, strict=True)]
    # Seven digits are what a float of 32 bits holds.
    return json.dumps([float(f"{number:.7g}") for number in mean])
