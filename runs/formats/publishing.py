"""What to look at before videos or frames leave the house, said on cards and in the terminal."""

from __future__ import annotations

from videoautoarena.runs.formats.terminal import say

BEFORE_PASSING_ON = """**Before this is passed on**: see that the licence of each video allows it,
and that whoever can be seen, heard or named in videos, frames, questions and answers may be shown.
Nothing here was checked for faces or personal data."""
"""On every card, behind the licence."""


def say_before_publishing(what: str) -> None:
    """Say what to check of pictures that were just written."""
    # Two lines, of which none is wider than a terminal.
    say(f"{what}: before others get them,\ncheck licences, faces and personal data")
