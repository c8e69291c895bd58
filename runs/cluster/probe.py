"""What a machine says of itself when the package may be missing there.

Its function travels whole, by value, so that it imports nothing of ours before it looks.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import shutil
from collections.abc import Sequence
from typing import Any

_PACKAGE = "videoautoarena"


def look(names: Sequence[str], paths: Sequence[str]) -> dict[str, Any]:
    """Return version, or why there is none; which variables are empty, which paths are missing."""
    found: dict[str, Any] = {
        "host": platform.node(),
        "pid": os.getpid(),
        "python": platform.python_version(),
        "empty": [name for name in names if not os.environ.get(name)],
        "missing": [path for path in paths if not os.path.exists(path)],
        "free_bytes": shutil.disk_usage(os.path.expanduser("~")).free,
    }
    try:
        importlib.import_module(f"{_PACKAGE}.runs.cluster.actors")
        found["version"] = importlib.metadata.version(_PACKAGE)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what the machine lacks
        found["error"] = f"{type(error).__name__}: {error}"
    return found
