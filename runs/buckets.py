"""The duration buckets that videos are sliced by."""

from __future__ import annotations

from itertools import pairwise

BUCKETS_S = (8, 15, 60, 180, 600, 900, 3600)
"""Upper ends of the duration buckets in seconds; the last bucket is open."""


def bucket(duration_s: float) -> str:
    """Return the name of the duration bucket, such as `8-15 s`."""
    return BUCKET_NAMES[sum(duration_s > end for end in BUCKETS_S)]


BUCKET_NAMES = (
    f"up to {BUCKETS_S[0]} s",
    *(f"{low}-{high} s" for low, high in pairwise(BUCKETS_S)),
    f"above {BUCKETS_S[-1]} s",
)
