"""SmolLM2-135M behind llama.cpp's own server, in a process of its own, as a test sees it.

Not a stand-in: its replies are those of a language model, its refusals and counts those of a server
that others use. Its packages stand in `.venv-real`, apart from all that we need ourselves.
"""

from __future__ import annotations

import os
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
ENVIRONMENT = ROOT / ".venv-real"
SERVER = Path(__file__).with_name("real_server.py")
NAME = "openai:smollm2"


def lacking() -> str | None:
    """Return what the model cannot be started without here."""
    is_made = (ENVIRONMENT / ".installed").exists()
    return None if is_made else "NO REAL MODEL: make slow makes .venv-real"


def require() -> None:
    """Skip the test where there is no real model, or fail it where CI is set."""
    reason = lacking()
    if reason and os.environ.get("CI"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


class Counts(NamedTuple):
    """What the server counted since it was started."""

    input_tokens: int
    """Those that its cache still held among them."""
    output_tokens: int
    under_way: int
    """Requests that it works on."""


class RealModel:
    """A server that runs; it can be killed and started again at the same address."""

    def __init__(self) -> None:
        self._port = 0
        self._start()

    def _start(self) -> None:
        line = [ENVIRONMENT / "bin" / "python", SERVER, str(self._port)]
        self._process = subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdout is not None
        self._port = int(self._process.stdout.readline())

    @property
    def url(self) -> str:
        """Where it speaks OpenAI's protocol."""
        return f"http://127.0.0.1:{self._port}/v1"

    def table(self, name: str, **settings: str) -> str:
        """Return its table of an arena.toml under a name; each setting stands as it is written."""
        said = {"model": f'"{NAME}"', "base_url": f'"{self.url}"', "max_frames": "0", **settings}
        return "\n".join([f"[models.{name}]", *(f"{key} = {value}" for key, value in said.items())])

    def counts(self) -> Counts:
        """Return what it says that it did."""
        with urllib.request.urlopen(f"{self.url.removesuffix('/v1')}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        said = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        figures = {name.removeprefix("llamacpp:"): int(float(of)) for name, of in said.items()}
        return Counts(
            figures["prompt_tokens_total"] + figures["prompt_tokens_cached_total"],
            figures["tokens_predicted_total"],
            figures["requests_processing"],
        )

    def kill(self) -> None:
        """Send SIGKILL, as a machine that runs out of memory would."""
        self._process.kill()
        self._process.communicate()

    def restart(self) -> None:
        """Start it again where it was."""
        self._start()


@contextmanager
def real_model() -> Iterator[RealModel]:
    """Give a server for as long as the block lasts."""
    model = RealModel()
    try:
        yield model
    finally:
        model.kill()
