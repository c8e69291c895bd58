"""A plan says of every frame of its film which frame of which video it shows."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.video.decode.index import Index
from videoautoarena.video.synth.timeline import (
    Excerpt,
    FilmPlan,
    Probe,
    Timeline,
    lay_out,
    rate_of,
    refuse_beyond,
)

RATES = (Fraction(25), Fraction(30), Fraction(30000, 1001), Fraction(24000, 1001), Fraction(10))
Shown = list[tuple[str, int]]


def index_of(frames: int, rate: Fraction, *, clock: int | None = None, start: int = 0) -> Index:
    """Return the times of a video of constant rate, as a clock of so many ticks a second has it."""
    per_s = clock or rate.numerator
    shown = tuple(start + round(number / rate * per_s) for number in range(frames))
    return Index(shown, shown[:1], Fraction(1, per_s), rate)


def shown_by(timeline: Timeline) -> Shown:
    return [timeline.shown(frame) for frame in range(timeline.frames)]


def unrolled(timeline: Timeline) -> Shown:
    return [
        (run.video, run.number + run.step * place)
        for run in timeline.runs
        for place in range(run.frames)
    ]


@st.composite
def plans(draw: st.DrawFn) -> tuple[FilmPlan, dict[str, Index]]:
    indexes = {
        name: index_of(
            draw(st.integers(5, 90)),
            draw(st.sampled_from(RATES)),
            clock=draw(st.sampled_from((None, 1000, 90_000))),
            start=draw(st.integers(0, 500)),
        )
        for name in "abc"
    }
    rate = indexes["a"].rate or Fraction(1)

    def excerpt(name: str) -> dict[str, object]:
        index = indexes[name]
        first = draw(st.integers(0, len(index.shown) - 2))
        left_s = index.duration_s - index.seconds(index.shown[first])
        seconds = draw(st.floats(0.05, max(0.06, left_s)))
        return {"video": name, "start_s": index.seconds(index.shown[first]), "seconds": seconds}

    ground = tuple(
        Excerpt(**excerpt(name)) for name in ("a", *draw(st.lists(st.sampled_from("ab"))))
    )  # type: ignore[arg-type]
    frames = max(1, round(sum(Fraction(part.seconds) for part in ground) * rate))
    befores = draw(st.lists(st.integers(0, frames), max_size=4))
    probes = tuple(Probe(**excerpt("c"), before=before) for before in befores)  # type: ignore[arg-type]
    return FilmPlan(ground=ground, probes=probes), indexes


@settings(max_examples=20)
@given(planned=plans())
def test_runs_say_of_every_frame_what_it_shows(planned: tuple[FilmPlan, dict[str, Index]]) -> None:
    timeline = lay_out(*planned)
    assert unrolled(timeline) == shown_by(timeline)
    assert list(accumulate([run.frames for run in timeline.runs], initial=0))[:-1] == [
        run.first for run in timeline.runs
    ]
    assert all(number < len(planned[1][video].shown) for video, number in shown_by(timeline))


@settings(max_examples=20)
@given(planned=plans())
def test_without_its_probes_a_film_is_its_ground(
    planned: tuple[FilmPlan, dict[str, Index]],
) -> None:
    plan, indexes = planned
    timeline = lay_out(plan, indexes)
    shown = shown_by(timeline)
    probed = {
        frame
        for place in timeline.probes
        for frame in range(place.first, place.first + place.frames)
    }
    assert len(probed) == sum(place.frames for place in timeline.probes)
    bare = lay_out(plan.model_copy(update={"probes": ()}), indexes)
    assert [seen for frame, seen in enumerate(shown) if frame not in probed] == shown_by(bare)


@settings(max_examples=20)
@given(planned=plans())
def test_each_probe_stands_before_its_frame_of_the_ground(
    planned: tuple[FilmPlan, dict[str, Index]],
) -> None:
    plan, indexes = planned
    timeline = lay_out(plan, indexes)
    for probe, place in zip(plan.probes, timeline.probes, strict=True):
        earlier = [other.frames for other in timeline.probes if other.first < place.first]
        assert place.first - sum(earlier) == probe.before
        assert place.frames == max(1, round(probe.seconds * timeline.rate))
        assert place.start_s == pytest.approx(place.first / timeline.rate)
        assert {timeline.shown(place.first + n)[0] for n in range(place.frames)} == {"c"}


def test_a_ground_of_many_pieces_has_as_many_frames_as_they_last_together() -> None:
    indexes = {"a": index_of(90, Fraction(25))}
    # 31.25 frames each.
    parts = tuple(Excerpt(video="a", seconds=1.25) for _ in range(400))
    last = Probe(video="a", seconds=1.0, before=12_500)
    timeline = lay_out(FilmPlan(ground=parts, probes=(last,)), indexes)
    assert timeline.frames == 400 * 1.25 * 25 + 25
    assert timeline.probes[0].first == 12_500
    assert {len(piece.numbers) for piece in timeline.pieces[:-1]} == {31, 32}


@given(
    frames=st.integers(2, 400),
    rate=st.sampled_from(RATES),
    clock=st.sampled_from((None, 1000, 90_000)),
    data=st.data(),
)
def test_at_its_own_rate_a_video_is_shown_frame_by_frame_whatever_its_clock(
    frames: int, rate: Fraction, clock: int | None, data: st.DataObject
) -> None:
    index = index_of(frames, rate, clock=clock)
    first = data.draw(st.integers(0, frames - 1))
    # Times are often written down with three decimals.
    start_s = round(index.seconds(index.shown[first]), 3)
    seconds = round(float((frames - first) / rate), 3)
    excerpt = Excerpt(video="a", start_s=start_s, seconds=seconds)
    refuse_beyond(excerpt, index)
    timeline = lay_out(FilmPlan(ground=(excerpt,)), {"a": index})
    assert shown_by(timeline) == [("a", number) for number in range(first, frames)]
    assert len(list(timeline.runs)) == 1


def test_another_rate_leaves_frames_out_or_shows_them_again() -> None:
    indexes = {"a": index_of(50, Fraction(25)), "b": index_of(60, Fraction(30))}
    plan = FilmPlan(
        ground=(Excerpt(video="a", seconds=2),), probes=(Probe(video="b", seconds=1, before=0),)
    )
    numbers = [number for video, number in shown_by(lay_out(plan, indexes)) if video == "b"]
    assert numbers == [int((n + 0.5) * 30 / 25) for n in range(25)]
    assert lay_out(plan, indexes).probes[0].frames == 25


def test_several_probes_before_one_frame_follow_each_other_as_in_the_plan() -> None:
    indexes = {name: index_of(50, Fraction(25)) for name in "abc"}
    probes = (
        Probe(video="c", seconds=0.2, before=10),
        Probe(video="b", seconds=0.4, before=10),
        Probe(video="b", seconds=0.2, before=0),
        Probe(video="c", seconds=0.2, before=50),
    )
    line = lay_out(FilmPlan(ground=(Excerpt(video="a", seconds=2),), probes=probes), indexes)
    assert [(place.first, place.frames) for place in line.probes] == [
        (15, 5),
        (20, 10),
        (0, 5),
        (70, 5),
    ]
    assert line.frames == 75


def test_a_probe_behind_the_end_of_the_ground_is_refused() -> None:
    indexes = {"a": index_of(50, Fraction(25))}
    probe = Probe(video="a", seconds=1, before=51)
    with pytest.raises(BadInput, match="before frame 51 of a ground of 50"):
        lay_out(FilmPlan(ground=(Excerpt(video="a", seconds=2),), probes=(probe,)), indexes)


def test_an_excerpt_beyond_the_end_of_its_video_is_refused() -> None:
    index = index_of(50, Fraction(25))
    refuse_beyond(Excerpt(video="a", start_s=1.5, seconds=0.519), index)
    with pytest.raises(UnusableVideo, match=r"lasts 2\.000 s: there are no 0\.6 s from 1\.5 s on"):
        refuse_beyond(Excerpt(video="a", start_s=1.5, seconds=0.6), index)


def test_the_rate_is_the_claimed_one_where_it_is_so_and_counted_where_not() -> None:
    ntsc = Fraction(30000, 1001)
    assert rate_of(index_of(900, ntsc, clock=1000)) == ntsc
    assert rate_of(index_of(900, ntsc, clock=1000)._replace(rate=Fraction(1000))) == pytest.approx(
        float(ntsc), rel=1e-4
    )
    assert rate_of(index_of(900, Fraction(25))._replace(rate=None)) == 25
    assert rate_of(index_of(1, Fraction(25))) == 25
    assert rate_of(index_of(1, Fraction(25))._replace(rate=None)) == 1


def test_every_part_of_a_plan_counts_for_its_name() -> None:
    plan = FilmPlan(
        ground=(Excerpt(video="a", seconds=2),), probes=(Probe(video="b", seconds=1, before=7),)
    )
    others = [
        plan.model_copy(update={"ground": (Excerpt(video="a", seconds=2.1),)}),
        plan.model_copy(update={"probes": (Probe(video="b", seconds=1, before=8),)}),
        plan.model_copy(update={"probes": ()}),
    ]
    assert len({film.sha256 for film in (plan, *others)}) == 4
    assert FilmPlan.model_validate_json(plan.model_dump_json()).sha256 == plan.sha256
    assert plan.videos == ["a", "b"]
