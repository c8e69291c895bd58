"""Captions, once read for offline models: still part of their calls' keys, sent to nobody."""

from __future__ import annotations

from tests.support.asking import MODEL, REMOTE, Pages, load_bytes, request_of
from tests.support.pictures import Film
from videoautoarena.agents.calls.ask import Asker, journal_key
from videoautoarena.agents.prompting.layout import fragment, uncaptioned
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import Cue, Frame, Frames
from videoautoarena.video.sampling.thinning import thin

CUES = (
    Cue(start_s=1.0, end_s=3.5, text="LOW TIDE"),
    Cue(start_s=5.0, end_s=8.0, text="Mind the step. Red!"),
    Cue(start_s=9.0, end_s=12.0, text="WET PAINT"),
)


def captioned(film: Film) -> Frames:
    """Return the record of a film with captions."""
    shots = tuple(Frame(time_s=t, digest=digest(jpeg)) for t, jpeg in film)
    return Frames(video="v", width_px=64, height_px=36, frames=shots, captions=CUES)


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
