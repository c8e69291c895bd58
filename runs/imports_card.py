"""The card of a bench that somebody else made: what is known of it, and what is not."""

from __future__ import annotations

from collections import Counter

from runs.console import safe
from runs.reading import counted
from runs.sealing import Item, Source


def import_card(items: list[Item], source: Source, *, licence: str | None, version: str) -> str:
    """Return card.md of an imported bench; equal input gives equal text."""
    total = len(items)
    longer = sum(len(item.selected_answer) > len(item.rejected_answer) for item in items)
    videos = Counter(item.video_id for item in items)
    several = sum(number > 1 for number in videos.values())
    extra = sorted({key for item in items for key in item.extra})
    return f"""# Bench of {counted(total, "question")}

## What it is

Imported from a {source.format} file, sha256 `{source.digest}`, by videoautoarena {version}.
Each line of `questions.jsonl` is a question about a video with two answers, the selected one and
the rejected one. Who selected, and how, is known to whoever published the file. Nothing in it was
corrected; `arena bench export` writes it as it was.

## Licence

{_plain(licence or "not stated; ask whoever published it before passing it on")}

## Counts

| what | number |
| --- | ---: |
| questions | {total} |
| videos | {len(videos)} |
| videos with several questions | {several} |
| questions whose selected answer is the longer one | {longer} |
| keys kept that mean nothing here | {len(extra)} |

Videos are known by their ids in the file alone: there are no digests to check them by, and neither
durations nor categories to slice them by.

## Known biases

- The selected answer is the longer one in {longer} of {total} questions. A scorer that only prefers
  length gets those right.
- Questions about the same video are not independent; intervals take it into account.

## Checksums

`manifest.json` holds the size and sha256 of the two other files, and a digest of itself.
`arena bench verify` computes all of them again. They show that nothing was changed by accident;
they are no signature.
"""


def _plain(text: str) -> str:
    """Return `text` as text that Markdown takes literally."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>|#" else char for char in safe(text))
