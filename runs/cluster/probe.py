"""What a machine says of itself, though the package may be missing there.

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
    """Return versions or an error, which variables are empty, and which paths are missing."""
    found: dict[str, Any] = {
        "host": platform.node(),
        "pid": os.getpid(),
        "python": platform.python_version(),
        "empty": [name for name in names if not os.environ.get(name, "").strip()],
        "missing": [path for path in paths if not os.path.exists(path)],
        "ray": importlib.metadata.version("ray"),
        "free_bytes": _room_for_cache(),
    }
    try:
        # Imported and not just looked up: a version can be read where a dependency is missing.
        importlib.import_module(f"{_PACKAGE}.runs.cluster.actors")
        found["version"] = importlib.metadata.version(_PACKAGE)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what the machine lacks
        found["error"] = f"{type(error).__name__}: {error}"
    return found


def _room_for_cache() -> int:
    """Return how many bytes are free where this machine keeps decoded frames."""
    folder = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(folder):
        folder = os.path.join(os.path.expanduser("~"), ".cache")
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return shutil.disk_usage(folder).free
