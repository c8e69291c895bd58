"""By which words a statement or a question is known to speak of a facet. Tables only."""

from __future__ import annotations

import re

from videoautoarena.agents.offline.language.values import NUMBER
from videoautoarena.agents.offline.vision.frame_features import COLOURS

_HUE = "(?:" + "|".join(COLOURS) + ")"
_TONE = "(?:colou?rs?|tones?|hues?|shades?)"
_START = (
    r"(?:open(?:s|ed|ing)?|beg[aiu]n\w*|start(?:s|ed|ing)?|initial(?:ly)?|first (?:scene|shot))"
)
_END = (
    r"(?:clos(?:e|es|ed|ing)|end(?:s|ed|ing)?|finish\w*|conclud\w+|last (?:scene|shot)"
    r"|final (?:scene|shot))"
)
_PIECES = "(?:shots?|scenes?|segments?|takes?|views|parts|cuts|edits|transitions)"
_ACTION = "(?:motion|movement|action|activity)"
_MORE = r"(?:bright|dark|light|dimm)er|(?:more|less) light|as (?:bright|dark) as"
LANDMARKS = {
    "darkest": r"darkest|dimmest|blackest",
    "brightest": r"brightest|lightest",
    "busiest": r"busiest|fullest|most crowded|most detailed|densest",
}
_LANDMARK = "(?:" + "|".join(LANDMARKS.values()) + ")"
_ORDERED = r"\b(?:order|first|before|then|followed|precedes?|chronolog\w+|sequence)\b"


def _table(**patterns: str) -> dict[str, re.Pattern[str]]:
    return {key: re.compile(pattern, re.IGNORECASE) for key, pattern in patterns.items()}


TOPICS = _table(
    darkest=r"\bdarkest|dimmest|blackest|(least|lowest|minimum) (light|bright\w+)"
    r"|(light|brightness)\b.{0,20}\b(lowest|minimum)",
    brightest=r"\bbrightest|lightest|(most|highest|maximum) (light|bright\w+)"
    r"|light is (at its )?(strongest|highest)",
    liveliest=rf"liveliest|most (lively|active)|moves (the )?most"
    rf"|(most|greatest|peak|highest|strongest) (\w+ )?{_ACTION}"
    rf"|{_ACTION}\b.{{0,20}}\b(peaks?|height|strongest|highest)",
    busiest=r"busiest|most (crowded|cluttered|detail\w*|intricate|complex)|densest"
    r"|fullest (picture|frame|image)|most going on",
    plainest=r"plainest|emptiest|simplest|sparsest|barest|least (detail|clutter)\w*",
    shots=rf"{NUMBER}\s+(?:\w+\s+){{0,3}}?{_PIECES}\b|(number of|how many) (\w+ )?{_PIECES}"
    r"|\b(one|single) (continuous|unbroken)|never cuts|no cuts\b",
    blanks=r"\b(flat|blank|solid)\b[^.;|]{0,30}\b(fill|cover)"
    r"|\bblank (pictures?|frames?|screens?)\b|covered by (\w+ ){0,2}(flat|solid)\b",
    first_cut=r"(first|initial) (cut|change of (shot|scene)|edit|switch|transition|scene change)"
    r"|opening (shot|scene|segment) (ends?|lasts?|gives? way|stops?)|from the opening shot",
    last_cut=r"(last|final|concluding) (cut|change of (shot|scene)|edit|switch|transition"
    r"|scene change)|(final|closing|last) (shot|scene|segment) (begins?|starts?)"
    r"|to the (final|closing|last) (shot|scene)",
    longest=r"(longest|most extended)\W+(\w+\W+){0,3}?(shot|scene|take|segment|stretch without)",
    shortest=r"(shortest|briefest|quickest|least extended)\W+(\w+\W+){0,2}?"
    r"(shot|scene|take|segment|glimpse)",
    still=r"stillest|calmest|quietest|nothing moves|(hardly|barely|scarcely) (anything )?mov\w+"
    r"|(stays?|holds?|remains?|almost|nearly|practically)\W+(\w+\W+){0,2}?"
    r"(still|unmoving|motionless|static|unchanged)|static (interval|stretch|part|picture)"
    rf"|no {_ACTION} (from|between)",
    main_colour=rf"(main|dominant|overall|prevailing|predominant|primary|leading) (\w+ )?{_TONE}"
    rf"|{_TONE} (\w+ ){{0,2}}(dominates|prevails)|{_HUE} (prevails|dominates)",
    open_colour=rf"\b{_START}\b[^.;|]{{0,40}}\b({_TONE}|{_HUE})\b"
    rf"|\b{_TONE}\b[^.;|]{{0,40}}\b{_START}\b",
    close_colour=rf"\b{_END}\b[^.;|]{{0,40}}\b({_TONE}|{_HUE})\b"
    rf"|\b{_TONE}\b[^.;|]{{0,40}}\b{_END}\b",
    colour_order=r"colou?rs?\b.{0,70}\b(order|sequence|follow|progress\w*|succession|go)\b"
    r"|(order|sequence|progression|succession)\b.{0,40}\bcolou?rs?|palette (moves|goes|runs)"
    r"|tones\b.{0,30}succession",
    ending_light=rf"\b{_END}\b.{{0,60}}({_MORE}|\bsame\b)|({_MORE})\b.{{0,60}}\b({_END}|{_START})\b"
    r"|(brightness|light)\b.{0,40}\b(increases|decreases|unchanged|same|at the end)",
    pace=r"half\b.{0,50}\b(cuts?|pace|edit\w*|quick\w*|fast\w*)\b"
    r"|\b(cut|pace|edit|quick|fast)\w*\b.{0,60}hal(f|ves)",
    motion_half=rf"hal(f|ves)\b.{{0,40}}{_ACTION}|{_ACTION}\b.{{0,60}}hal(f|ves)",
    returns=r"\b(come|came|go|goes|cut)s? back|\breturns?\b|reappear|revisit|repeat|recur"
    r"|seen before|shown again|scene\w*\b.{0,20}again",
    sequence=rf"{_LANDMARK}\b.{{0,60}}{_LANDMARK}.{{0,90}}{_ORDERED}|{_ORDERED}.{{0,90}}{_LANDMARK}\b.{{0,60}}"
    rf"{_LANDMARK}|{_LANDMARK}\b.{{0,40}}{_ORDERED}.{{0,40}}{_LANDMARK}",
)

COVERS: dict[str, tuple[str, ...]] = {
    "sequence": ("darkest", "brightest", "busiest", "plainest", "liveliest", "ending_light"),
    "longest": ("shots", "first_cut", "last_cut", "main_colour"),
    "shortest": ("shots", "first_cut", "last_cut"),
    "still": ("shots", "liveliest"),
    "blanks": ("main_colour", "shots"),
    "colour_order": ("open_colour", "close_colour", "main_colour", "shots"),
    "open_colour": ("main_colour", "shots"),
    "close_colour": ("main_colour", "shots"),
    "ending_light": ("open_colour", "close_colour", "darkest", "brightest"),
    "pace": ("shots", "first_cut", "last_cut", "motion_half"),
    "motion_half": ("liveliest", "still"),
    "returns": ("shots", "first_cut", "last_cut", "longest", "shortest"),
    "first_cut": ("shots", "open_colour"),
    "last_cut": ("shots", "close_colour"),
}
"""A facet and those that its words also seem to name."""

STEMS = _table(
    darkest=r"dark|shadow|\bdim|black|(low|minim|least).{0,25}(bright|light|illumin)"
    r"|(bright|light|illumin).{0,25}(low|minim|least)",
    brightest=r"bright|lightest|illumin|light.{0,25}(peak|max|high|strong)"
    r"|(high|max|peak|strong).{0,25}light",
    liveliest=r"motion|mov(e|ing)|action|activ|dynamic|energ|live|animated|fast",
    busiest=r"clutter|complex|crowd|detail|busy|busi|dens|packed|elements|full|most",
    plainest=r"simpl|empt|plain|minim|bare|spars|hardly|least|fewest",
    shots=r"shot|scene|cut|segment|clip|edit|take|part",
    blanks=r"\bflat|blank|solid|nothing on",
    first_cut=r"\b(first|initial|opening|earliest)\b",
    last_cut=r"\b(last|final|closing|ending|concluding|latest)\b",
    longest=r"long|extended|lengthy",
    shortest=r"short|brief|quick|flash|fleeting",
    still=r"still|static|motionless|unmov|freez|frozen|calm|quiet|unchanged"
    r"|(no|hardly|little|barely|scarcely).{0,15}(chang|mov|happen|motion)",
    main_colour=r"colou?r|tone|palette|hue|dominat|mostly|look|prevail|overall",
    open_colour=r"open|begin|start|first|initial",
    close_colour=r"clos|\bend|last|final|finish|conclud",
    colour_order=r"colou?r|palette|tone|shift|progress|then| to |→|->|success",
    ending_light=r"\bend|clos|final|last|finish|same|brightness|light",
    pace=r"half|halves|pace|rhythm|tempo",
    motion_half=r"half|halves",
    returns=r"again|return|back|repeat|reappear|recur|revisit|second time|once",
    sequence=r"first|order|chronolog|then|before|followed|preced",
)
"""What only hints at a facet; enough with a value of the right type, for what was asked."""

SIDES: dict[str, dict[str, re.Pattern[str]]] = {
    "ending_light": _table(
        brighter=r"\b(brighter|lighter)\b|more light|\b(increas|gain|rise)",
        darker=r"\b(darker|dimmer)\b|less light|\b(decreas|fade|drop)",
        same=r"\bsame\b|as (bright|dark) as|unchanged|equal|alike",
    ),
    "pace": _table(
        even=r"\beven(ly)? (across|in|over|through)|both halves|\bsame\b|steady|equal|neither",
        first=r"(first|earlier|opening) half|early",
        second=r"(second|latter|later|closing) half|late",
    ),
    "motion_half": _table(
        even=r"\beven(ly)? (across|in|over|through)|both halves|\bsame\b|equal|neither",
        first=r"(first|earlier|opening) half|early",
        second=r"(second|latter|later|closing) half|late",
    ),
    "returns": _table(
        no=r"\b(no|not|never|none|nothing|nowhere|without)\b|n't\b|\bonly once\b",
        yes=r"again|return|back|repeat|reappear|recur|revisit|seen before|second time",
    ),
}
"""For facets of few answers: what names each side. The first that matches holds."""

NO_CUT = re.compile(
    r"\bno (such )?cuts?\b|never cuts|(one|single) (continuous|unbroken)|without (a|any) cuts?\b|"
    r"uncut",
    re.IGNORECASE,
)
HEDGE = re.compile(
    r"\b(not|un)\W?clear|(hard|difficult|impossible) to (say|tell|judge)|can(not|'t|’t) (say|tell)"
    r"|unsure|not sure|unable to|no (determination|telling)|don't know|do not know",
    re.IGNORECASE,
)
"""Neither right nor wrong: a unit that admits not to know claims nothing."""
