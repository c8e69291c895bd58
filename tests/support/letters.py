"""LangChain embeddings that only count letters, and count how often they are asked."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from langchain_core.embeddings import Embeddings
from PIL import Image


class Letters(Embeddings):
    """As many numbers a text as there are letters; a model called `short` returns too few."""

    asked = 0

    def __init__(self, model: str) -> None:
        self.model = model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return how often each letter occurs in each text."""
        if self.model == "broken":
            raise RuntimeError("no more credit")
        type(self).asked += 1
        vectors = [[float(text.count(chr(97 + k))) for k in range(26)] for text in texts]
        return vectors[1:] if self.model == "short" else vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text."""
        return self.embed_documents([text])[0]


class Pictures(Letters):
    """Embeds pictures, too: their mean colour."""

    is_broken = False
    """Whether what it returns of pictures is no vector."""

    def embed_image(self, uris: list[str]) -> list[list[float]]:
        """Return the mean red, green and blue of each file, 0 to 1."""
        type(self).asked += 1
        if self.is_broken:
            return [[] for _ in uris]
        small = (Image.open(uri).convert("RGB").resize((1, 1)) for uri in uris)
        return [[part / 255 for part in one.getpixel((0, 0))] for one in small]

    def embed_query(self, text: str) -> list[float]:
        """Return the colour that a text names."""
        return [float(name in text.lower()) for name in ("red", "green", "blue")]


class Apart(Pictures):
    """Embeds words and pictures in two spaces."""

    def embed_query(self, text: str) -> list[float]:
        """Return as many numbers as there are letters, and not three."""
        return self.embed_documents([text])[0]


class Logged(Pictures):
    """Takes its time, and notes in the file of `ASKED_LOG` what it is asked for."""

    def embed_image(self, uris: list[str]) -> list[list[float]]:
        """Return the mean colour of each file, noted by its content."""
        for uri in uris:
            self._noted(Path(uri).read_bytes())
        return super().embed_image(uris)

    def embed_query(self, text: str) -> list[float]:
        """Return the colour that a text names, noted by the text."""
        self._noted(text.encode())
        return super().embed_query(text)

    def _noted(self, content: bytes) -> None:
        time.sleep(0.1)
        line = hashlib.sha256(content).hexdigest()
        with Path(os.environ["ASKED_LOG"]).open("a") as log:
            log.write(f"{line}\n")
