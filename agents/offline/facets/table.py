"""The table of facets: everything the offline models can ask, say and check."""

from __future__ import annotations

from videoautoarena.agents.offline.facets.colours import BlankCount, ColourOrder, MainColour
from videoautoarena.agents.offline.facets.comparison import (
    Choice,
    Moment,
    Sequence,
    cut_lead,
    light_gain,
    motion_lead,
)
from videoautoarena.agents.offline.facets.cuts import (
    CutTime,
    ShotCount,
    Span,
    longest_shot,
    shortest_shot,
    shots_as_long,
)
from videoautoarena.agents.offline.facets.facet import Facet
from videoautoarena.agents.offline.vision.sequence import comeback, still_stretch

_MOMENTS = (
    Moment("darkest", "darkest moment", curve="luma", highest=False, floor=0.10),
    Moment("brightest", "brightest moment", curve="luma", highest=True, floor=0.10),
    Moment("liveliest", "liveliest moment", curve="motion", highest=True, floor=0.02),
    Moment("busiest", "most crowded picture", curve="edge", highest=True, floor=0.6),
    Moment("plainest", "plainest picture", curve="edge", highest=False, floor=0.6),
)
_CUTTING = (
    ShotCount("shots", "number of shots"),
    CutTime("first_cut", "first cut", last=False),
    CutTime("last_cut", "last cut", last=True),
    Span("longest", "longest shot", find=longest_shot, rivals=shots_as_long),
    Span("shortest", "shortest shot", find=shortest_shot, rivals=shots_as_long),
    Span("still", "stillest stretch", find=still_stretch, rivals=lambda _, itself: [itself]),
    BlankCount("blanks", "number of blank pictures"),
)
_COLOURS = (
    MainColour("main_colour", "main colour", part=lambda seen: seen.shares.mean(axis=0)),
    MainColour("open_colour", "colour of the opening", part=lambda seen: seen.scenes[0].shares),
    MainColour("close_colour", "colour of the ending", part=lambda seen: seen.scenes[-1].shares),
    ColourOrder("colour_order", "colours in order"),
)
_LIGHTS = ("brighter", "darker", "same")
_HALVES = ("first", "second", "even")
_LANDMARKS = {m.key: m for m in _MOMENTS if m.key in ("darkest", "brightest", "busiest")}
_COMPARISONS = (
    Choice("ending_light", "light at the end against the beginning", light_gain, 0.04, _LIGHTS),
    Choice("pace", "pace of the cutting by half", cut_lead, 0.2, _HALVES),
    Choice("motion_half", "movement by half", motion_lead, 0.12, _HALVES),
    Choice("returns", "scenes that return", comeback, 0.5, ("yes", "no", None)),
    Sequence("sequence", "order of moments", _LANDMARKS),
)

FACETS: dict[str, Facet] = {f.key: f for f in (*_MOMENTS, *_CUTTING, *_COLOURS, *_COMPARISONS)}
"""Key to facet, in the order in which an examiner thinks of them."""
