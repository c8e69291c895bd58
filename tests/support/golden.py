"""The stored run of two clips and four rounds, whose judge was not asked by standard."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

from tests.support.played import invoke
from videoautoarena.runs.run.rundir.reader import RUN_FILE

GOLDEN = Path(__file__).parents[1] / "runs" / "golden" / "run-contracts-1.sqlite.xz"


def unpack(out: Path) -> Path:
    """Return `out`, now holding the stored run."""
    out.mkdir()
    (out / RUN_FILE).write_bytes(lzma.decompress(GOLDEN.read_bytes()))
    return out


def exported(out: Path, what: str) -> list[dict[str, Any]]:
    """Return what `arena export --what` prints, read line by line."""
    told = invoke("export", out, "--what", what)
    assert told.exit_code == 0, told.output
    return [json.loads(line) for line in told.stdout.splitlines()]
