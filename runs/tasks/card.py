"""The card of a set that was made: what its items are, how they came about, their limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from videoautoarena.runs.bench.format.schema import SLICES, Manifest
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.terminal import safe


def card_text(manifest: Manifest) -> str:
    """Return card.md of a made set; equal input gives equal text."""
    ours = manifest.generator
    parts = [
        f"# Set of {counted(manifest.count, 'item')} with a right answer\n",
        _WHAT,
        _HOW.format(name=ours.name, version=ours.version, **_settings(manifest.selection)),
        *([_LADDER] if manifest.selection.get("is_ladder") else []),
        "## Counts\n",
        *_counts(manifest.counts),
        _LIMITS,
        f"## Licence\n\n{_licence(manifest.licence)}\n",
        _CHECKSUMS,
    ]
    return "\n".join(parts)


def _settings(selection: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return what was asked for as text, lists with commas."""
    return {
        name: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in selection.items()
    }


def _counts(counts: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    for name, parts in counts.items():
        rows = "\n".join(f"| {part} | {count} |" for part, count in parts.items())
        yield f"| {SLICES[name]} | items |\n| --- | ---: |\n{rows}\n"


def _licence(licence: str | None) -> str:
    stated = plain(licence) if licence else "Not stated. Whoever passes this on should state one."
    return (
        f"{stated}\n\n**The videos are cut together from other videos**, whose rights stay with "
        "their owners: pass\nthis set on only where you may pass on all of them. "
        "`made` names each by its sha256."
    )


def plain(text: str) -> str:
    """Return text that Markdown takes literally."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>|#" else char for char in safe(text))


_WHAT = """## What it is

Each line of `questions.jsonl` is a question about one video in `videos`, with four options, one of
which is right. In each video stretches of other videos were set into a ground:

- `needle`: one short stretch; which of four descriptions is it?
- `order`: several stretches; in which order do they come?
- `count`: one stretch several times; how often does it come?
"""
_HOW = """## How it was made

- made by: {name} {version}, maker {maker}
- seed: {seed}; items requested: {n}
- seconds of ground: {seconds}; stretches of an order, from and to: {probes}
- longer side of the videos: at most {longest_px} pixels
- The options were drawn first, all under the same checks; then which of them is the key, each as
  likely; then the video was made to it. Nothing was balanced, and no question is asked twice with
  the same options.
- No frame of the ground, and of no other option, fits an option's words as well as its own frames
  do; its colours are far from every frame of the ground; it comes from another video, without a
  cut.
- All pictures fill the frame, and each video was encoded once. How long it is does not depend on
  which option is right.
- `made` says what stands where, to the frame.
"""
_LADDER = """## Ladders

Each item stands at every length of ground, as one `ladder` of which it is a `rung`: the same
question, options, key and stretches, at the same places of the room between them. All was checked
on the longest ground; each shorter one is its beginning. The items of a ladder share one text, and
are one piece of evidence.
"""
_LIMITS = """## Limits

- Descriptions are of light and colours, as a program measures them. They ask whether a model sees
  the frames, finds what is short and keeps its order; they ask nothing about content.
- What is set in is foreign to the rest: a model that looks for what does not belong has an
  advantage that everyday videos do not give.
- Several items share the same few videos; they are not independent.
"""
_CHECKSUMS = """## Checksums

`manifest.json` holds the size and sha256 of every other file and of every video, and a digest of
itself. `arena bench verify` computes all of them again. They show that nothing was changed by
accident; they are no signature.
"""
