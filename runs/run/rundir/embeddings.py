"""Embeddings of texts of a run, requested once and kept in its folder."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from videoautoarena.agents.providers.embeddings import embed
from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.scoring.fitting.counts import Floats

Say = Callable[[str], None]


def vectors_of(
    texts: Sequence[str], model: str, *, folder: Path, say: Say, what: str = "questions"
) -> Floats:
    """Return the vectors of texts, shape (texts, width), from a file in `folder` if it exists.

    A file holds the vectors of the same texts in the same order. `say` is called with what leaves
    the machine, before it does; `what` says what the texts are. BadInput if the model cannot be
    used, or the file is damaged.
    """
    file = folder / f"embeddings-{digest(canonical_json([model, *texts]))[:16]}.npy"
    if file.exists():
        return _read(file, len(texts), what)
    say(f"{len(texts)} {what} go to {safe(model)} to be embedded; no frames, no answers")
    vectors = np.array(embed(model, texts), dtype=np.float32)
    # Renamed once it is whole: they were paid for, and a part of them would be taken for damage.
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".embeddings-", delete=False) as draft:
        try:
            np.save(draft, vectors)
        except BaseException:
            Path(draft.name).unlink()
            raise
    Path(draft.name).replace(file)
    return _read(file, len(texts), what)


def _read(file: Path, count: int, what: str) -> Floats:
    try:
        # The folder may be from anybody, and a pickle runs whatever it says.
        vectors: Floats = np.load(file, allow_pickle=False).astype(np.float64)
    except (OSError, ValueError) as wrong:
        raise BadInput(f"{file} is damaged; delete it to ask again") from wrong
    if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
        raise BadInput(f"{file} holds no embeddings of these {what}; delete it to ask again")
    return vectors
