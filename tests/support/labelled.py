"""Runs whose battles people labelled: a judge with a favourite, and people without one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.support.played import battle, play, slot, video
from tests.support.votes import written
from videoautoarena.memory.records.records import Battle
from videoautoarena.memory.store.evidence import Label
from videoautoarena.memory.store.store import Store

NAMES = ("hawk", "owl", "mole")
STRENGTH = {"hawk": 0.8, "owl": 0.0, "mole": -0.8}
FAVOUR = {"hawk": 0.0, "owl": 0.0, "mole": 1.0}
"""What the judge sees in a model and people do not, in nats."""


def season(out: Path, *, videos: int = 40, rounds: int = 6, seed: int = 1) -> dict[str, str]:
    """Play a run whose judge overrates mole; return what a person says of each battle, by its id.

    The longer answer is the judge's choice half of the time.
    """
    rng = np.random.default_rng(seed)
    films = []
    battles: list[Battle] = []
    words: dict[str, str] = {}
    for k in range(videos):
        film = video(f"clip {k}".encode(), path=f"clip{k}.mp4")
        films.append(film)
        for round_ in range(rounds):
            a, b = map(str, rng.permutation(NAMES)[:2])
            gap = STRENGTH[a] - STRENGTH[b] + rng.logistic()
            judged = gap + FAVOUR[a] - FAVOUR[b] + rng.normal(0, 0.7)
            place = slot(film, round_)
            longer = "word " * int(rng.integers(5, 40))
            battles.append(
                battle(
                    place,
                    model_a=a,
                    model_b=b,
                    verdict=_word(judged, rng),
                    answer_a=longer if rng.random() < 0.5 else "word " * 10,
                    answer_b="word " * 10,
                )
            )
            words[place.id] = _word(gap, rng)
    slots = [
        slot(films[k // rounds], k % rounds, ordinal=k).model_copy(update={"id": one.id})
        for k, one in enumerate(battles)
    ]
    play(out, battles, videos=films, slots=slots)
    return words


def _word(gap: float, rng: np.random.Generator) -> str:
    if rng.random() < 0.07:
        return "tie_good"
    return "a" if gap > 0 else "b"


def label(out: Path, *labels: Label) -> None:
    """Put labels into a run."""
    with Store.open(out / "run.sqlite", write=True) as store:
        store.evidence.add_labels(labels)


def label_all(out: Path, words: dict[str, str], labeller: str = "anna") -> None:
    """Label battles as `words` has it."""
    label(
        out,
        *(
            Label.model_validate({"battle": id_, "labeller": labeller, "verdict": word})
            for id_, word in words.items()
        ),
    )


def rows(path: Path, *told: tuple[object, ...], columns: str = "battle labeller verdict") -> Path:
    """Write a file of labels."""
    return written(path, told, columns.split())
