"""The offline models: in this process, from the frames they are sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents.providers.base import ModelSettings, Provider
from memory.records import Role

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class _Offline(Provider):
    def build(self, model: ModelSettings) -> BaseChatModel:
        from agents.offline import OfflineModel

        return OfflineModel(kind=model.name)

    def sampling(self, model: ModelSettings, role: Role) -> dict[str, Any]:  # noqa: ARG002
        return dict(model.parameters)


OFFLINE = _Offline("offline", parameters=(), is_offline=True)
