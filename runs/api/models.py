"""Models as a program passes them: by name, or as LangChain chat models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from videoautoarena.memory.records.errors import BadInput, WrongArgument

if TYPE_CHECKING:
    from videoautoarena.agents.providers.chat_objects import ChatModel

ModelLike: TypeAlias = "str | ChatModel"
"""`provider:model`, a name of the configuration file, or a LangChain chat model."""


def judges_of(judge: ModelLike | Sequence[ModelLike]) -> tuple[str, ...]:
    """Return the names of one judge or several; BadInput for two servers of one name."""
    judges = several(judge)
    refuse_two_of_one_name(judges)
    return tuple(map(named, judges))


def several(judge: ModelLike | Sequence[ModelLike]) -> Sequence[ModelLike]:
    """Return one judge or several as several."""
    if isinstance(judge, Sequence) and not isinstance(judge, str):
        return judge
    return (judge,)


def refuse_two_of_one_name(models: Sequence[ModelLike]) -> None:
    """Raise BadInput where two chat models would play by one name at different servers."""
    from videoautoarena.agents.providers.chat_objects import is_same_server

    first: dict[str, ChatModel] = {}
    for model in models:
        if not isinstance(model, str):
            name = named(model)
            if not is_same_server(first.setdefault(name, model), model):
                raise BadInput(
                    f"two chat models have the name {name!a} and different servers or settings of "
                    "their connections; declare one of them in arena.toml"
                )


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
