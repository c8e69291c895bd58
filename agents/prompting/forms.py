"""What the replies of all roles are made of: plain texts and scores, and words in any spelling."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Score = Annotated[float, Field(ge=1.0, le=5.0)]

_JOINTS = re.compile(r"[\s_-]+")


class Reply(BaseModel):
    """A reply that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def plain(word: str) -> str:
    """Return a word by which its spellings are known for the same: case and joints left out."""
    return _JOINTS.sub("", word).lower()


def spelled(words: Mapping[str, str]) -> BeforeValidator:
    """Return what reads a plain word as the one that it stands for."""
    return BeforeValidator(
        lambda said: words.get(plain(said), said) if isinstance(said, str) else said
    )
