"""Chat models that run inside the process: they measure the frames they are sent and speak of that.

They know nothing but the messages of one call: no path, no store, no name of a video or of a rival.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents.offline.model import OfflineModel

__all__ = ["OfflineModel"]


def __getattr__(name: str) -> type[OfflineModel]:
    # langchain is slow to import, and most who come here only want the names in `cast`
    if name == "OfflineModel":
        from agents.offline.model import OfflineModel

        return OfflineModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
