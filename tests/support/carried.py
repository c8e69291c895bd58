"""Chat models, ours and LangChain's own, and single calls that carry a run of frames."""

from __future__ import annotations

from typing import Any

from pydantic import SecretStr

from tests.support.asking import run
from tests.support.bodies import Book, Kept
from tests.support.film import Film
from videoautoarena.agents.prompting.layout import AS_USUAL, ImageOptions
from videoautoarena.agents.transport.splice import FrameBytes, SplicedFrames, carrying, run_of
from videoautoarena.memory.records.records import VideoFrames


def plain_chat(provider: str, book: Book) -> Any:
    """Return a chat model as LangChain makes it."""
    # Each package takes a second or more to import.
    if provider == "openai":
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            model="gpt-4o", api_key=SecretStr("none"), base_url=f"{book.url}/v1", max_retries=0
        )
    from langchain_google_genai import ChatGoogleGenerativeAI

    return ChatGoogleGenerativeAI(
        model="gemini-2.5-flash", google_api_key=SecretStr("none"), base_url=book.url, max_retries=1
    )


def run_for(
    film: Film, look: ImageOptions = AS_USUAL, frames: VideoFrames | None = None
) -> SplicedFrames:
    """Return the run of a film's frames, loaded for it alone."""
    shown = frames or film.frames
    images = run(FrameBytes(film.load).images(film.video, [frame.digest for frame in shown.frames]))
    return run_of(shown, images, look)


async def call(chat: Any, content: list[Any], carried: SplicedFrames | None) -> None:
    """Make one call with `carried`, and close the connections."""
    try:
        with carrying(carried):
            await chat.ainvoke(content)
    finally:
        await close(chat)


async def close(chat: Any) -> None:
    """Close the connections of async calls."""
    if hasattr(chat, "root_async_client"):
        await chat.root_async_client.close()
    else:
        await chat.client.aio.aclose()


def call_async(chat: Any, content: list[Any], carried: SplicedFrames | None) -> None:
    """Make one call from a loop of its own."""
    run(call(chat, content, carried))


def call_sync(chat: Any, content: list[Any], carried: SplicedFrames | None) -> None:
    """Make one call without a loop, and close the connections."""
    try:
        with carrying(carried):
            chat.invoke(content)
    finally:
        (chat.root_client if hasattr(chat, "root_client") else chat.client).close()


def sent(book: Book) -> Kept:
    """Return the one request that was sent, and forget it."""
    (kept,) = book.requests
    book.requests.clear()
    return kept
