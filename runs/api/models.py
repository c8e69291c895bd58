"""Models as a program passes them: by name, or as LangChain chat models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from videoautoarena.memory.records.errors import WrongArgument

if TYPE_CHECKING:
    from videoautoarena.agents.providers.chat_objects import ChatModel

ModelLike: TypeAlias = "str | ChatModel"
"""`provider:model`, a name of the configuration file, or a LangChain chat model."""


def judges_of(judge: ModelLike | Sequence[ModelLike]) -> tuple[str, ...]:
    """Return the names of one judge or several."""
    if isinstance(judge, Sequence) and not isinstance(judge, str):
        return tuple(map(named, judge))
    return (named(judge),)


def named(model: ModelLike) -> str:
    """Return a model's name; a chat model is kept by its name until the process ends."""
    from videoautoarena.agents.providers.chat_objects import hold, is_chat_model

    if isinstance(model, str):
        return model
    if not is_chat_model(model):
        raise WrongArgument(
            f"a {type(model).__name__} is no model; pass provider:model or a LangChain chat model"
        )
    return hold(model)
