"""Fewer of a run's frames, and the subtitles that then go with them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from videoautoarena.memory.records.records import Cue, VideoFrames


def thin(frames: VideoFrames, count: int) -> VideoFrames:
    """Return `count` of the frames, evenly spaced, both ends kept; all where there are fewer."""
    return take(frames, kept_places(len(frames.frames), count))


def take(frames: VideoFrames, kept: Sequence[int]) -> VideoFrames:
    """Return the frames at the places `kept`, ascending.

    A frame stands for the stretch from its own time to that of the frame after it in `frames`, the
    last one for all that follows. The cues that overlap a kept frame's stretch are kept, captions
    as well as subtitles, so that nobody reads of a time that it was shown nothing of, and words
    are thinned as pictures are.
    """
    times = [frame.time_s for frame in frames.frames]
    subtitles = frames.subtitles
    cues = shown_cues(subtitles.cues, times, kept) if subtitles else ()
    changed = {
        "frames": tuple(frames.frames[i] for i in kept),
        "captions": shown_cues(frames.captions, times, kept),
        "subtitles": subtitles.model_copy(update={"cues": cues}) if subtitles and cues else None,
    }
    return frames.model_copy(update=changed)


def kept_places(total: int, count: int) -> list[int]:
    """Return the places, ascending, of the `count` frames that `thin` keeps of `total`."""
    if count <= 1:
        return list(range(min(total, max(0, count))))
    return sorted({round(i * (total - 1) / (count - 1)) for i in range(count)}) if total else []


def shown_cues(cues: Sequence[Cue], times: Sequence[float], kept: Sequence[int]) -> tuple[Cue, ...]:
    """Return the cues within the stretches of the frames at the places `kept`, ascending."""
    shown = []
    for cue in cues:
        first = max(0, bisect_right(times, cue.start_s) - 1)
        # A cue that ends just as a frame appears is over, unless the cue is an instant.
        last = max(first, bisect_left(times, cue.end_s) - 1)
        if bisect_right(kept, last) > bisect_left(kept, first):
            shown.append(cue)
    return tuple(shown)
