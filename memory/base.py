"""What every record is: frozen, and closed to unknown keys."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer


class Record(BaseModel):
    """A frozen record that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Lending(Record):
    """A record that speaks of a borrowed answer only where there is one."""

    @model_serializer(mode="wrap")
    def _without_gap(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        if data.get("borrowed") is None:
            data.pop("borrowed", None)
        return data
