"""Embeddings of questions, kept beside the run they are of: asked for once, the same ever after."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from agents.embeddings import embed
from memory.digests import canonical_json, digest
from memory.errors import BadInput
from runs.console import safe
from scoring.cells import Floats

Say = Callable[[str], None]


def vectors_of(questions: Sequence[str], model: str, *, folder: Path, say: Say) -> Floats:
    """Return the vectors of questions, shape (questions, width).

    Args:
        questions: in any order; the same ones in the same order are kept.
        model: as `agents.embeddings.embed` takes it.
        folder: the run's, where a file is added.
        say: is told what leaves the machine, before it does.

    Raises:
        BadInput: the model cannot be used, or its file is damaged.
    """
    file = folder / f"embeddings-{digest(canonical_json([model, *questions]))[:16]}.npy"
    if file.exists():
        return _read(file, len(questions))
    say(f"{len(questions)} questions go to {safe(model)} to be embedded; no frames, no answers")
    vectors = np.array(embed(model, questions), dtype=np.float32)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".embeddings-", delete=False) as draft:
        np.save(draft, vectors)
    Path(draft.name).replace(file)
    return _read(file, len(questions))


def _read(file: Path, count: int) -> Floats:
    try:
        vectors: Floats = np.load(file, allow_pickle=False).astype(np.float64)
    except (OSError, ValueError) as wrong:
        raise BadInput(f"{file} is damaged; delete it to ask again") from wrong
    if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
        raise BadInput(f"{file} holds no embeddings of these questions; delete it to ask again")
    return vectors
