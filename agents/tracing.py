"""Whether LangSmith listens: only where the environment says so; nothing of ours turns it on."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

NAMES = ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING")
"""Variables that turn it on, in the order in which LangSmith's own client reads them."""
_ADDRESSES = ("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT")
_HOME = "api.smith.langchain.com"


def is_traced() -> bool:
    """Return whether every prompt, frame and reply also goes to LangSmith."""
    return next(filter(str.strip, map(_value, NAMES)), "") == "true"


def trace_host() -> str:
    """Return the host that traces go to, without credentials."""
    address = next(filter(str.strip, map(_value, _ADDRESSES)), "")
    return urlsplit(address.strip(" \"'")).hostname or _HOME


def _value(name: str) -> str:
    return os.environ.get(name, "")
