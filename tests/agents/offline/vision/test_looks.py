"""What a picture looks like is said only where a second look would say the same."""

from __future__ import annotations

import pytest

from tests.support.asking import MODEL, REMOTE, Pages, load_bytes, request_of
from tests.support.looks import PROBES, frame, glance_at, likeness_to, look_of
from tests.support.pictures import Film
from videoautoarena.agents.calls.ask import Asker, journal_key
from videoautoarena.agents.offline.vision.frame_features import measured
from videoautoarena.agents.offline.vision.looks import (
    FITS,
    PictureLook,
)
from videoautoarena.agents.prompting.layout import fragment, uncaptioned
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import Cue, Frame, VideoFrames
from videoautoarena.video.sampling.thinning import thin


def test_two_colours_and_the_light_are_said_of_a_picture() -> None:
    assert look_of([glance_at("blue", "white")]) == PictureLook("half-lit", "blue", "white")
    assert look_of([glance_at("yellow", "white")]) == PictureLook("bright", "yellow", "white")
    assert look_of([glance_at("black", "blue")]) == PictureLook("dark", "black", "blue")


@pytest.mark.parametrize("part", [0.0, 0.05, 0.45, 0.48, 0.55])
def test_nothing_is_said_where_no_colour_leads_or_none_follows(part: float) -> None:
    assert look_of([glance_at("blue", "white", part)]) is None


def test_nothing_is_said_of_a_stretch_with_one_frame_that_does_not_fit() -> None:
    steady = [glance_at("blue", "white")] * 9
    assert look_of(steady) == look_of(steady[:1])
    assert look_of([*steady, glance_at("red", "yellow")]) is None


def test_a_frame_fits_its_own_words_and_no_others() -> None:
    for own in PROBES:
        look = look_of([glance_at(*own)])
        assert look is not None
        for other in PROBES:
            assert (likeness_to(look, glance_at(*other)) > FITS) == (own == other)


def test_colours_that_change_places_are_another_look() -> None:
    look = look_of([glance_at("blue", "white")])
    assert look is not None
    assert likeness_to(look, glance_at("white", "blue")) < 0.5


def test_a_picture_is_measured_by_its_bytes_alone() -> None:
    one, again = (measured(frame("red", "yellow")) for _ in range(2))
    assert one is not again
    assert (one.luma, one.shares.tolist()) == (again.luma, again.shares.tolist())


CUES = (
    Cue(start_s=1.0, end_s=3.5, text="LOW TIDE"),
    Cue(start_s=5.0, end_s=8.0, text="Mind the step. Red!"),
    Cue(start_s=9.0, end_s=12.0, text="WET PAINT"),
)


def captioned(film: Film) -> VideoFrames:
    """Return the record of a film with captions."""
    shots = tuple(Frame(time_s=t, digest=digest(jpeg)) for t, jpeg in film)
    return VideoFrames(video="v", width_px=64, height_px=36, frames=shots, captions=CUES)


def test_they_enter_the_key_and_their_absence_does_not(story: Film) -> None:
    frames = captioned(story)
    bare = frames.model_copy(update={"captions": ()})
    keys = {journal_key(MODEL, request_of(frames=f)) for f in (frames, bare, thin(frames, 4))}
    assert len(keys) == 3


def test_without_them_the_fragment_is_that_of_frames_that_had_none(story: Film) -> None:
    frames = captioned(story)
    bare = frames.model_copy(update={"captions": ()})
    assert fragment(uncaptioned(frames)) == fragment(bare) != fragment(frames)
    assert uncaptioned(frames) is uncaptioned(frames)
    assert uncaptioned(bare) is bare


def test_fewer_frames_keep_the_captions_of_their_stretches(story: Film) -> None:
    frames = captioned(story)
    assert [len(thin(frames, count).captions) for count in (64, 16, 4, 0)] == [3, 3, 1, 0]


def test_they_count_for_offline_models_alone(story: Film) -> None:
    prompter = Prompter(Asker(Pages(), load_bytes), PromptSet.load(None))
    work = Task("contestant", captioned(story), "v-p1-r0", question="What?")
    remote = prompter._request(REMOTE, work, None, generation=0).frames
    local = prompter._request(MODEL, work, None, generation=0).frames
    assert remote is not None
    assert local is not None
    assert remote.captions == ()
    assert local.captions == CUES
