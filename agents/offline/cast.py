"""Who there is among the offline models, and how many frames each is sent.

Imports nothing, so that `--help` and name checks stay quick.
"""

from __future__ import annotations

KINDS: dict[str, int] = {
    "hawk": 64,
    "owl": 16,
    "mole": 4,
    "blind": 0,
    "parrot": 8,
    "terse": 8,
    "windbag": 8,
    "trickster": 8,
    "examiner": 128,
    "judge": 128,
}
"""Kind to the most frames it is sent. A kind uses every frame it receives."""
