"""How far length alone tells who wins.

Long answers may be good ones, so none of this proves a bias; it tells how much of the ranking a
judge that cannot read would have found. Lengths are in characters, which every script has.
"""

from __future__ import annotations

import numpy as np

from runs.audit_input import AuditInput, Mask, above, finding, percent, unknown
from runs.findings import Finding
from scoring.cells import Ints
from scoring.shares import Share, measure_share

_CAMPS = {"a": 0, "b": 1}
MATCHED = 0.1
"""Answers are equally long where the longer has at most this share more."""
MOST_LONGER = 0.75
"""More wins of the longer answer are an alarm."""
MOST_MATCHED = 0.55
"""The same of equally long answers, where length has no reason to matter."""


def audit_length(given: AuditInput) -> list[Finding]:
    """Return how often the longer answer won, and what a judge of lengths would have said."""
    decided = [b for b in given.decided if b.answer_a and b.answer_b]
    if not decided:
        return [unknown("length.longer", "No battle of two answers was decided; length is moot.")]
    a, b = [len(x.answer_a or "") for x in decided], [len(x.answer_b or "") for x in decided]
    lengths = np.array([a, b]).T
    camps = np.array([_CAMPS.get(x.verdict, 2) for x in decided])
    video = given.number_videos(decided)
    longer = np.where(lengths[:, 0] == lengths[:, 1], 2, lengths[:, 1] > lengths[:, 0])
    chosen = (camps < 2) & (longer < 2)
    matched = chosen & (lengths.max(axis=1) <= (1.0 + MATCHED) * lengths.min(axis=1))
    same = _share((camps == longer) & (longer < 2), video, np.ones(len(decided), dtype=bool))
    return [
        _longer(_share(camps == longer, video, chosen)),
        _only(same),
        _matched(_share(camps == longer, video, matched)),
    ]


def _longer(share: Share) -> Finding:
    if share.n == 0:
        return unknown("length.longer", "No battle with a winner had answers of unlike length.")
    sentence = (
        f"The longer answer won {percent(share)} of {share.n} battles with a winner; half would "
        "be no preference, more may be merit or a taste for length."
    )
    return finding("length.longer", share, sentence, crosses=above(share, MOST_LONGER))


def _only(share: Share) -> Finding:
    sentence = (
        "A judge that only compares lengths would have said the same in "
        f"{percent(share)} of {share.n} decided battles, a tie counted as a miss."
    )
    return finding("length.only", share, sentence)


def _matched(share: Share) -> Finding:
    if share.n == 0:
        return unknown(
            "length.matched",
            "No battle with a winner had answers within 10 % of one length, so taste for length "
            "cannot be told from merit there.",
        )
    sentence = (
        f"Between answers within 10 % of one length the longer won {percent(share)} of {share.n}; "
        "there length has no reason to matter."
    )
    return finding("length.matched", share, sentence, crosses=above(share, MOST_MATCHED))


def _share(hits: Mask, video: Ints, kept: Mask) -> Share:
    return measure_share(hits[kept].astype(float), video[kept])
