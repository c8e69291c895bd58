"""What is claimed of a spliced clip holds by construction, and wording alone tells nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.agents.offline.language.phrasing import understand
from videoautoarena.agents.offline.language.reader import hear
from videoautoarena.agents.prompting.languages import told_language
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Video
from videoautoarena.runs.analysis.trials.truth_clips import (
    KINDS,
    SHORTEST_S,
    WORDS,
    Kind,
    Pair,
    Stage,
    plan_pair,
)
from videoautoarena.video.synth.splice import Splice, instants

NAMES = {"black": "darkest", "white": "brightest", "chequered": "busiest"}
COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


def video(sha: str, duration_s: float) -> Video:
    shape = {"size_bytes": 1, "width_px": 64, "height_px": 36, "fps": 25.0, "codec": "h264"}
    return Video(id=sha[:12], sha256=sha, path=f"{sha[0]}.mp4", duration_s=duration_s, **shape)


def stage(
    *, seed: int = 0, duration_s: float = 40.0, other_s: float | None = 30.0, fewest: int = 128
) -> Stage:
    other = None if other_s is None else video("b" * 64, other_s)
    return Stage(video("a" * 64, duration_s), other, fewest, seed, (0, 0))


STAGES = st.builds(
    stage,
    seed=st.integers(0, 10_000),
    duration_s=st.floats(SHORTEST_S, 9000),
    other_s=st.floats(SHORTEST_S * 10, 9000),
    fewest=st.integers(40, 128),
)


def set_in(clip: Splice) -> list[tuple[float, float, str]]:
    """Return start, end and what it is of every piece that is not the ground."""
    spans = zip(clip.ends, clip.parts, strict=True)
    found = ((end - part.seconds, end, part) for end, part in spans)
    return [(s, e, p.card or "footage") for s, e, p in found if p.video != clip.ground]


def is_true(kind: Kind, said: str, clip: Splice) -> bool:
    """Return whether an answer holds for a clip, told from its parts alone."""
    pieces = set_in(clip)
    if kind == "count":
        return {COUNTS[word] for word in re.findall("|".join(COUNTS), said)} == {len(pieces)}
    if kind == "order":
        return re.findall("|".join(NAMES.values()), said) == [NAMES[what] for _, _, what in pieces]
    [(start, end, _)] = pieces
    [time] = re.findall(r"([\d.]+) seconds", said)
    return start <= float(time) <= end


@given(STAGES, st.sampled_from(KINDS))
@settings(max_examples=40)
def test_each_answer_is_true_of_its_own_clip_and_false_of_the_other(
    stage: Stage, kind: Kind
) -> None:
    pair = plan_pair(kind, stage)
    for which, claim in enumerate(pair.claims):
        for form in ("short", "long"):
            truths = [is_true(kind, claim.said(form), clip) for clip in pair.clips]
            assert truths == [which == 0, which == 1]


@given(STAGES, st.sampled_from(KINDS))
@settings(max_examples=40)
def test_pieces_lie_apart_within_the_video_and_in_the_sight_of_every_judge(
    stage: Stage, kind: Kind
) -> None:
    for clip in plan_pair(kind, stage).clips:
        shown = instants(clip, stage.fewest)
        for start, end, _ in set_in(clip):
            assert 0 < start < end < clip.duration_s
            assert sum(start <= s.time_s < end for s in shown) >= 3
        ground = [part for part in clip.parts if part.video == clip.ground]
        assert all(part.seconds > 0 for part in ground)
        assert ground[-1].start_s + ground[-1].seconds <= stage.ground.duration_s + 1e-6
        for before, after in pairwise(ground):
            assert before.start_s + before.seconds == pytest.approx(after.start_s)
        assert clip.duration_s <= 60 * 2.6


@given(STAGES, st.sampled_from(("card", "needle")))
@settings(max_examples=40)
def test_times_that_are_told_apart_lie_a_quarter_of_the_clip_apart(
    stage: Stage, kind: Kind
) -> None:
    pair = plan_pair(kind, stage)
    times = [float(re.findall(r"([\d.]+) seconds", claim.short)[0]) for claim in pair.claims]
    assert abs(times[0] - times[1]) >= 0.25 * pair.clips[0].duration_s


@given(STAGES, st.sampled_from(KINDS))
@settings(max_examples=50)
def test_equal_stages_plan_equal_pairs_and_another_seed_another(stage: Stage, kind: Kind) -> None:
    assert plan_pair(kind, stage) == plan_pair(kind, stage)
    other = Stage(stage.ground, stage.other, stage.fewest, stage.seed + 1, stage.draw)
    assert plan_pair(kind, other).clips != plan_pair(kind, stage).clips


def test_the_first_claim_is_as_often_early_or_large_as_not() -> None:
    def is_less(kind: Kind, pair: Pair) -> bool:
        first, second = (c.short for c in pair.claims)
        if kind == "count":
            return COUNTS[first.split()[-2]] < COUNTS[second.split()[-2]]
        return float(first.split()[-2]) < float(second.split()[-2])

    for kind in ("card", "count"):
        less = sum(is_less(kind, plan_pair(kind, stage(seed=seed))) for seed in range(400))
        assert 150 < less < 250


@pytest.mark.parametrize("kind", KINDS)
def test_the_long_form_says_the_short_one_and_nothing_else_that_could_be_checked(
    kind: Kind,
) -> None:
    pair = plan_pair(kind, stage())
    keys = understand(pair.question).keys
    for claim in pair.claims:
        assert claim.short in claim.long
        assert len(claim.long) > 4 * len(claim.short)
        short, long = (hear(said, 44.0, keys) for said in claim)
        assert [(c.key, c.value) for c in long.claims] == [(c.key, c.value) for c in short.claims]
        assert long.hedged == frozenset()


def test_what_cannot_be_made_is_said() -> None:
    reasons = {
        ("card", "lasts less than 3 s"): stage(duration_s=2.9),
        ("needle", "no second video"): stage(other_s=None),
        ("needle", "lasts less than a piece of 2.8 s"): stage(other_s=1.0),
        ("count", "16 frames are too few"): stage(fewest=16),
    }
    for (kind, reason), unfit in reasons.items():
        with pytest.raises(UnusableVideo, match=reason):
            plan_pair(kind, unfit)  # type: ignore[arg-type]


def test_a_judge_of_few_frames_gets_longer_pieces_not_lost_ones() -> None:
    few, many = (plan_pair("card", stage(fewest=count)) for count in (20, 128))
    assert few.clips[0].parts[1].seconds > 2 * many.clips[0].parts[1].seconds


@pytest.mark.parametrize("language", WORDS)
def test_every_language_says_all_that_the_others_say(language: str) -> None:
    english = WORDS["en"]
    words = WORDS[language]
    for one, other in zip(english, words, strict=True):
        assert isinstance(one, str) or set(one) == set(other) or len(one) == len(other)
    assert words.questions["count"].count("{colour}") == 1
    assert [words.answers[kind].count("{") for kind in KINDS] == [1, 1, 3, 2]


@pytest.mark.parametrize("language", WORDS)
@given(STAGES, st.sampled_from(KINDS))
@settings(max_examples=20)
def test_a_pair_in_another_language_has_the_same_clips_and_claims_what_is_true_of_each(
    language: str, stage: Stage, kind: Kind
) -> None:
    spoken = plan_pair(kind, replace(stage, language=language))
    english = plan_pair(kind, stage)
    words = WORDS[language]
    assert spoken.clips == english.clips
    for claim, clip in zip(spoken.claims, spoken.clips, strict=True):
        pieces = set_in(clip)
        short = claim.short
        assert len(claim.long) > 3 * len(short)
        if kind == "count":
            assert words.numbers[len(pieces)] in short
        elif kind == "order":
            places = [short.index(words.names[what]) for _, _, what in pieces]
            assert places == sorted(places)
        else:
            [(start, end, _)] = pieces
            [time] = re.findall(r"\d+[.,]\d", short)
            assert words.point in time
            assert start <= float(time.replace(",", ".")) <= end


@pytest.mark.parametrize("language", WORDS)
def test_questions_and_claims_are_in_their_language(language: str) -> None:
    for kind in KINDS:
        pair = plan_pair(kind, replace(stage(), language=language))
        assert told_language(pair.question) == language
        assert told_language(pair.claims[0].long) == language
