"""Answers that refuse in plain words, told from others by a few English patterns.

A refusal that the provider marks is no answer: the model forfeits. One in plain words ("I am unable
to view videos") is an answer, and the judge says what it is worth; it is only counted here, and
`--without refusals` leaves its battle out. Refusals in other languages are not recognised.
"""

from __future__ import annotations

import re

MOST_WORDS = 80
"""A longer answer that begins by refusing goes on to answer."""
_OPENING = 240
"""Characters from the start within which it has to be said."""
_CANNOT = (
    r"(?:can(?:no|['’])?t|can not|am unable to|['’]m unable to|am not able to|['’]m not able to"
    r"|do(?:n['’]t| not) have the (?:ability|capability|means) to|won['’]t|will not)"
)
_MEANS = r"(?:videos?|images?|frames?|pictures?|clips?|footage|visuals?|media|files?|attachments?)"
_PATTERNS = (
    # "I can't help with that request"
    rf"i ?{_CANNOT} (?:\w+ ){{0,2}}?(?:help|assist|comply|fulfil+|answer|engage|discuss|continue"
    r"|participate|respond|do that|support|provide (?:\w+ ){0,3}?(?:answer|assistance|response"
    r"|help|information|analysis|description))\b",
    # "I am unable to view videos"; "I can't see a dog" is an answer, so the thing has to be media
    rf"i ?{_CANNOT} (?:\w+ ){{0,2}}?(?:view|watch|see|access|open|play|process|analy[sz]e|interpret"
    rf"|perceive|look at) (?:or \w+ )?(?:\w+ ){{0,3}}?{_MEANS}\b",
    r"i(?:['’]m| am) (?:very |so )?sorry,? (?:but )?(?:i|we) (?:can|am|won|do)\b.{0,40}\b"
    r"(?:help|assist|comply|answer|request)",
    r"(?:as|i['’]m|i am) (?:only )?an? (?:ai|text-based|large|language)\b.{0,60}"
    rf"\b(?:can(?:no|['’])?t|unable|not able|do(?:n['’]t| not))\b.{{0,60}}\b{_MEANS}\b",
    r"i (?:must|have to) (?:respectfully )?(?:decline|refuse)\b",
)
_SPOKEN = r"(?:\A|(?<=[.!?,;] )|(?<=[.!?,;] but )|(?<=sorry but )|(?<=sorry )|(?<=unfortunately ))"
_REFUSES = re.compile(rf"{_SPOKEN}(?:{'|'.join(_PATTERNS)})", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»")


def is_refusal(answer: str) -> bool:
    """Return whether an answer refuses in plain English.

    It does where it has at most `MOST_WORDS` words and says at its start that it cannot or will not
    help, or that it cannot see videos or images. That a thing is not to be seen in the video ("I
    can't see a dog") is an answer, and so is what somebody in it says.
    """
    if len(answer) > 20 * MOST_WORDS or len(answer.split()) > MOST_WORDS:
        return False
    opening = _QUOTED.sub("x", " ".join(answer[:_OPENING].split()))
    return _REFUSES.search(opening) is not None
