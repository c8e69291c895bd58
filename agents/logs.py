"""What libraries log: without keys, and nowhere unless somebody asked for it.

Their warnings quote servers, and their debug logs whole requests.
"""

from __future__ import annotations

import logging
from typing import Any

from agents.redaction import trace_without_keys

LIBRARIES = (
    "google_genai",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "langchain_core",
    "langchain_google_genai",
    "langchain_openai",
    "openai",
)


def keep_keys_out_of_logs() -> None:
    """Take keys out of every record that this process logs from now on; once is enough.

    Where nobody set up logging, Python would print the libraries' warnings; it no longer does.
    """
    for name in LIBRARIES:
        logging.getLogger(name).addHandler(logging.NullHandler())
    make = logging.getLogRecordFactory()
    if make is not _cleaned:
        _Before.make = make
        logging.setLogRecordFactory(_cleaned)


class _Before:
    """What made records before."""

    make: Any = logging.LogRecord


def _cleaned(*args: Any, **kwargs: Any) -> logging.LogRecord:
    record: logging.LogRecord = _Before.make(*args, **kwargs)
    try:
        record.msg, record.args = trace_without_keys(record.getMessage()), None
    except (TypeError, ValueError):
        # Message and arguments do not fit; logging itself says so.
        return record
    if record.exc_info:
        trace = logging.Formatter().formatException(record.exc_info)
        record.exc_text = trace_without_keys(trace)
    return record
