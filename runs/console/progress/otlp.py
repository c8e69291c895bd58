"""Where spans of calls and battles go: to a collector that the user names, and else nowhere.

It is named by the variables of OpenTelemetry, or by `--otlp`, which stands above them. What a span
says is in `runs.console.progress.spans`, which is loaded only where a collector is named.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from videoautoarena.memory.records.errors import MissingExtra, WrongArgument, install_command
from videoautoarena.runs.console.progress.events import Listeners, RunEvent, Say, all_of
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.run_config import RunConfig

if TYPE_CHECKING:
    from videoautoarena.runs.console.progress.spans import SpanWriter

FOR_TRACES = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
"""Variable that holds the whole address."""
FOR_ALL = "OTEL_EXPORTER_OTLP_ENDPOINT"
"""Variable that holds the address to which `PATH` is added."""
PATH = "v1/traces"
_EXPORTER = "opentelemetry.exporter.otlp.proto.http"
_LACK = "sending spans needs OpenTelemetry's packages"


class Collector(NamedTuple):
    """Where spans go."""

    url: str
    host: str
    """Its host and port, without credentials."""


@contextmanager
def collector_at(url: str) -> Iterator[None]:
    """Let the spans of this process go to a collector, by its base address, within the block.

    Raises:
        WrongArgument: no http or https address.
        MissingExtra: a package is not installed.
    """
    # Whoever copies the whole address from a collector's page means that one.
    whole = url if url.rstrip("/").endswith(f"/{PATH}") else f"{url.rstrip('/')}/{PATH}"
    if _host_of(whole) is None:
        raise WrongArgument("--otlp is no http address; give one such as http://localhost:4318")
    if not is_installed():
        raise MissingExtra(_LACK, "otel")
    before = os.environ.get(FOR_TRACES)
    os.environ[FOR_TRACES] = whole
    try:
        yield
    finally:
        del os.environ[FOR_TRACES]
        if before is not None:
            os.environ[FOR_TRACES] = before


def is_installed() -> bool:
    """Return whether the packages that send spans are installed; imports none of them."""
    try:
        return find_spec(_EXPORTER) is not None
    except ModuleNotFoundError:
        return False


def named_collector(say: Say) -> Collector | None:
    """Return where spans go; None if nowhere, which is said where a variable asks for more."""
    told = [(name, os.environ.get(name, "").strip()) for name in (FOR_TRACES, FOR_ALL)]
    name, address = next((one for one in told if one[1]), ("", ""))
    if not address or _is_off():
        return None
    url = address if name == FOR_TRACES else f"{address.rstrip('/')}/{PATH}"
    host = _host_of(url)
    if host is None:
        say(f"{name} is no http address: no spans are sent")
        return None
    if not is_installed():
        say(f"{name} is set, but {_LACK}: {install_command('otel')}")
        return None
    return Collector(url, host)


def _is_off() -> bool:
    """Return whether OpenTelemetry's own variables turn spans off."""
    is_disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return is_disabled or os.environ.get("OTEL_TRACES_EXPORTER", "").strip() == "none"


def _host_of(url: str) -> str | None:
    """Return the host and port of an address; None if it is no http address."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    is_clean = url.isascii() and url.isprintable() and " " not in url
    if not is_clean or parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    return f"{parts.hostname}:{port}" if port else parts.hostname


class SpanRecorder:
    """Has one piece of work written as spans, if a collector is named.

    `workflow` is what the work is called in its span. A collector that is slow, full or gone never
    holds up the work, and `close` waits for it for `spans.FLUSH_S` at most.
    """

    def __init__(self, config: RunConfig, workflow: str, say: Say) -> None:
        self._config = config
        self._workflow = workflow
        self._say = say
        self._is_open = False
        self._collector: Collector | None = None
        self._writer: SpanWriter | None = None

    def open(self) -> None:
        """Begin to send spans, and say where to; again is harmless. Takes .3 s, if there is one."""
        if self._is_open:
            return
        self._is_open = True
        self._collector = named_collector(self._say)
        if self._collector is None:
            return
        from videoautoarena.runs.console.progress.spans import SpanWriter, delivery_to

        try:
            delivery = delivery_to(self._collector.url)
        except (ValueError, RuntimeError, ImportError):
            # Its message may quote headers.
            self._say("OpenTelemetry refuses the settings in OTEL_ variables: no spans are sent")
            return
        self._writer = SpanWriter(delivery, self._config, self._workflow)
        self._say(
            f"spans of calls and battles go to {safe(self._collector.host)}: who was asked and "
            "when, tokens, costs, verdicts and their reasons, no prompt, answer or frame"
        )

    def hear(self, event: RunEvent) -> None:
        """Write what an event tells, if spans are sent."""
        if self._writer is not None:
            self._writer.hear(event)

    async def close(self) -> None:
        """Send what is left, within limits, and say how much was not taken; again is harmless."""
        writer = self._writer
        self._writer = None
        if writer is None or self._collector is None:
            return
        lost = await asyncio.to_thread(writer.close)
        if lost:
            host = safe(self._collector.host)
            self._say(f"{lost.spans:,} of {lost.of:,} spans were not taken by {host}{lost.why}")


@asynccontextmanager
async def recorded(
    listeners: Listeners, config: RunConfig, workflow: str
) -> AsyncIterator[Listeners]:
    """Yield the same listeners, and one that has the work in the block written as spans."""
    recorder = SpanRecorder(config, workflow, listeners.say)
    await asyncio.to_thread(recorder.open)
    try:
        hear = all_of(listeners.hear, recorder.hear)
        yield Listeners(listeners.say, hear, listeners.unwritten)
    finally:
        await recorder.close()
