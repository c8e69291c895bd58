"""What questions are about, found from their words: latent topics, then dense clusters of them.

scikit-learn is an extra and takes a second and a half to import, so functions import it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.memory.records.errors import BadInput, need_package
from videoautoarena.memory.records.records import DECIDED
from videoautoarena.runs.analysis.categories.tags import TaggedQuestion, asked_of, questions_of
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.rating.finding import UNKNOWN, Figure, figure_of
from videoautoarena.runs.rating.fit import share_of
from videoautoarena.runs.rating.method import SOLID_BATTLES
from videoautoarena.runs.run.rundir.reader import RunReader, counted
from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.fitting.newton import one_blas_thread

LEAST = 20
"""The fewest questions that get topics."""
DEPTH = 16
"""Latent dimensions: enough for some dozens of topics, few enough for clusters to be dense."""
# The most words by which questions are told apart: those that occur most often.
WORDS = 2000
SMALLEST = 5
"""The fewest questions of a topic, which has a hundredth of all at least."""
MOST = 3000
"""Questions that are clustered; the rest join the nearest cluster, since the cost is quadratic."""
OTHER = "other"
"""The topic of questions outside of every cluster."""


class Topic(NamedTuple):
    """What several questions of a run are about."""

    topic: str
    """The three weightiest words of its questions; `other` of those outside of every cluster."""
    questions: int
    """Its questions, equal ones about one video counted once."""
    share: Figure
    """Share of all questions; its interval knows which of them share a video."""
    videos: int
    """Videos that its questions are about."""
    battles: int
    """Decided battles over its questions."""
    both_bad_share: Figure
    """Share of these in which both answers were bad."""
    is_thin: bool
    """Under 100 decided battles."""
    example: str
    """The shortest of its questions with most of the words that stand for it."""


@dataclass(frozen=True)
class RunTopics:
    """What the questions of a run are about."""

    questions: int
    """Questions of the run, equal ones about one video counted once."""
    topics: tuple[Topic, ...]
    """The largest first, `other` last, see below."""
    seed: int
    """The run's, by which topics are found."""

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena topics --json`."""
        return record_json(self)


def need_topics() -> None:
    """Raise MissingExtra where topics cannot be found."""
    need_package("sklearn", "topics need scikit-learn", "text")


def topics_of(
    questions: Sequence[str], seed: int, vectors: Floats | None = None
) -> list[str | None]:
    """Return the topic of each question: its three weightiest words, or `other` for outliers.

    All None if there are too few questions or words, or nothing clusters. With one seed and one
    release of scikit-learn the answer is the same each time.

    Args:
        questions: whose words also name the topics.
        seed: of the reduction.
        vectors: shape (questions, width), what to cluster in place of words; None: their words.

    Source: HDBSCAN by Campello, Moulavi and Sander (2013), PAKDD; VisionArena draws so.
    """
    need_topics()
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    # A word of one question alone groups nothing, nor does one of more than half of them.
    read = TfidfVectorizer(
        stop_words="english", min_df=2, max_df=0.5, max_features=WORDS, sublinear_tf=True
    )
    try:
        weights = read.fit_transform(questions)
    except ValueError:  # no word occurs twice
        return [None] * len(questions)
    # What all embeddings have in common would else be the first of the latent dimensions.
    wide = weights if vectors is None else vectors - vectors.mean(axis=0)
    depth = min(DEPTH, min(wide.shape) - 1)
    if len(questions) < LEAST or depth < 1:
        return [None] * len(questions)
    # Sums of several threads may end in other bits, and so in other clusters.
    with one_blas_thread():
        # scikit-learn takes seeds below 2**32 alone; here any whole number is one.
        found = TruncatedSVD(depth, random_state=seed % 2**32).fit_transform(wide)
        # Of unit length, so that questions are near by their direction and not by their length.
        labels = _cluster(normalize(found), seed)
    if labels.max() < 0:
        return [None] * len(questions)
    names = _names(weights, labels, read.get_feature_names_out())
    return [names.get(int(label), OTHER) for label in labels]


def topics_in(run: RunReader) -> dict[str, str]:
    """Return the topic of each question of a run, by the id of the question; calls no model.

    Raises MissingExtra without scikit-learn, BadInput where nothing clusters.
    """
    return _topics_of_questions(run, questions_of(run.battles))


def _topics_of_questions(run: RunReader, asked: Sequence[TaggedQuestion]) -> dict[str, str]:
    found = topics_of([one.text for one in asked], _seed(run))
    if None in found or not found:
        raise BadInput(
            f"{run.folder} has no topics: {counted(len(asked), 'question')} make no cluster, which "
            f"takes {LEAST} questions at least and words that come back"
        )
    return {one.id: str(topic) for one, topic in zip(asked, found, strict=True)}


def _seed(run: RunReader) -> int:
    return int(run.manifest.get("seed") or 0)


def topic_report(run: RunReader) -> RunTopics:
    """Return the topics of a run with their questions and battles; calls no model.

    Raises as `topics_in`.
    """
    asked = questions_of(run.battles)
    topics = _topics_of_questions(run, asked)
    # Battle by battle, since a large run's do not fit into memory together.
    bad: dict[str, list[bool]] = {topic: [] for topic in topics.values()}
    films: dict[str, list[str]] = {topic: [] for topic in topics.values()}
    for battle in run.battles:
        if battle.question is not None and battle.verdict in DECIDED:
            topic = topics[asked_of(battle.video, battle.question).id]
            bad[topic].append(battle.verdict == "tie_bad")
            films[topic].append(battle.video)
    sizes = Counter(topics.values())
    order = sorted(sizes, key=lambda topic: (topic == OTHER, -sizes[topic], topic))
    found = []
    for topic in order:
        mine = [one for one in asked if topics[one.id] == topic]
        hits = [topics[one.id] == topic for one in asked]
        ended = bad[topic]
        found.append(
            Topic(
                topic=topic,
                questions=len(mine),
                share=figure_of(share_of(hits, [one.video for one in asked])),
                videos=len({one.video for one in mine}),
                battles=len(ended),
                both_bad_share=figure_of(share_of(ended, films[topic])) if ended else UNKNOWN,
                is_thin=len(ended) < SOLID_BATTLES,
                example=_example(topic, [one.text for one in mine]),
            )
        )
    return RunTopics(questions=len(asked), topics=tuple(found), seed=_seed(run))


def _example(topic: str, questions: Sequence[str]) -> str:
    """Return the shortest of the questions that hold most of a topic's words."""
    words = [] if topic == OTHER else topic.split()
    held = [sum(word in text.casefold() for word in words) for text in questions]
    # Of equally many words and signs the text itself decides, so that no order of slots does.
    return min(zip(held, questions, strict=True), key=lambda one: (-one[0], len(one[1]), one[1]))[1]


def _cluster(points: Floats, seed: int) -> Ints:
    """Return the cluster of each point; -1 stands for none."""
    from sklearn.cluster import HDBSCAN

    size = len(points)
    drawn = np.sort(np.random.default_rng(seed % 2**32).permutation(size)[:MOST])
    least = max(SMALLEST, len(drawn) // 100)
    labels = np.full(size, -1, dtype=np.int64)
    labels[drawn] = HDBSCAN(min_cluster_size=least, copy=True).fit_predict(points[drawn])
    groups = [points[labels == label].mean(axis=0) for label in range(labels.max() + 1)]
    if groups and size > len(drawn):
        rest = np.setdiff1d(np.arange(size), drawn)
        labels[rest] = np.argmax(points[rest] @ np.array(groups).T, axis=1)
    return labels


def _names(weights: object, labels: Ints, words: Sequence[str]) -> dict[int, str]:
    names: dict[int, str] = {}
    for label in range(int(labels.max()) + 1):
        total = np.asarray(weights[np.flatnonzero(labels == label)].sum(axis=0)).ravel()  # type: ignore[index]
        # Stable, so that words of equal weight give the same name each time.
        best = np.argsort(-total, kind="stable")[:3]
        name = " ".join(str(words[k]) for k in best if total[k] > 0)
        # Two clusters may have the same three words, and an item knows its topic by name alone.
        names[label] = f"{name} ({label})" if name in names.values() else name
    return names
