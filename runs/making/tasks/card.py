"""The card of a set that was made: what its items are, how they came about, their limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from videoautoarena.runs.bench.format.schema import Manifest
from videoautoarena.runs.bench.format.writer import CHECKSUMS, count_tables, licence_section, plain
from videoautoarena.runs.making.tasks.kinds import CUT_KINDS
from videoautoarena.runs.making.tasks.watched_items import FALLS
from videoautoarena.runs.run.rundir.reader import counted


def card_text(manifest: Manifest) -> str:
    """Return card.md of a made set; equal input gives equal text."""
    ours = manifest.generator
    probes: Any = manifest.selection["probes"]
    parts = [
        f"# Set of {counted(manifest.count, 'item')} with a right answer\n",
        _WHAT + "".join(f"- `{name}`: {kind.about}\n" for name, kind in CUT_KINDS.items()),
        _HOW.format(
            name=ours.name,
            version=ours.version,
            fewest=probes[0],
            most=probes[1],
            **_settings(manifest.selection),
        ),
        *([_LADDER] if manifest.selection.get("is_ladder") else []),
        "## Counts\n",
        *count_tables(manifest.counts),
        _LIMITS,
        licence_section(manifest.licence, _CUT_TOGETHER),
        f"{CHECKSUMS}\n",
    ]
    return "\n".join(parts)


def watched_card(manifest: Manifest) -> str:
    """Return card.md of a set that a model wrote from what it watched; likewise."""
    ours = manifest.generator
    selection = manifest.selection
    fallen: Any = selection["fallen"]
    rows = [(why, fallen[why]) for why in FALLS if why in fallen]
    settings = _settings(selection) | {"examiner": plain(str(selection["examiner"]))}
    parts = [
        f"# Set of {counted(manifest.count, 'item')}, written by a model\n",
        _WATCHED,
        _WRITTEN.format(name=ours.name, version=ours.version, **settings),
        "\n".join(f"  - {count}: {FALLS[why]}" for why, count in rows) or "  - none",
        "\n## Counts\n",
        *count_tables(manifest.counts),
        _WORD,
        licence_section(manifest.licence, COPIES),
        f"{CHECKSUMS}\n",
    ]
    return "\n".join(parts)


def _settings(selection: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return what was asked for as text, lists with commas."""
    return {
        name: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in selection.items()
    }


_WHAT = """## What it is

Each line of `questions.jsonl` is a question about one video in `videos`, with four options, one of
which is right. In each video stretches of other videos were set into a ground:

"""
_HOW = """## How it was made

- made by: {name} {version}, maker {maker}
- seed: {seed}; items requested: {n}
- seconds of ground: {seconds}; stretches of an order: {fewest} to {most}
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
_WATCHED = """## What it is

Each line of `questions.jsonl` is a task about one video in `videos`:

- `topic`: a question on the video as a whole, with four options, one of which is right.
- `plot`: the same on one moment that is there once.
- `scene`: a short scene to be described, with a reference and 3 to 10 scoring points.
- `summary`: the video to be summed up, likewise.
"""
_WRITTEN = """## How it was made

- made by: {name} {version}, maker {maker}
- written and checked by: {examiner}
- kinds: {kinds}; items requested: {n}; seed: {seed}
- The examiner was sent frames, with subtitles where there are some, and wrote the tasks. Then it
  was sent the frames and each task again, without what it had said of the key or the place.
- A choice stays only if the second ask finds the same option, and no other, in an order that was
  drawn. A task about one moment stays only if the second ask finds one place, and the same. A
  point stays only if the second ask finds it in the frames.
- Where a point was dropped or the reference was not borne out, the reference is put together from
  the points that stayed.
- `made` says who was asked, with which settings and prompts, from which frames, and what both asks
  said. All calls stand in `results/making.sqlite`, if it came along.
- Items that were written and dropped:
"""
_WORD = """## Limits

- **The keys are a model's word.** They were checked by a second ask of the same model, and by code
  for their form; they are not exact by construction, and no person has looked at them. What the
  model misses twice is wrong here.
- A model that sees and errs as the examiner does has an advantage. Do not rate the examiner, or
  its kin, by what it wrote.
- Only what frames show can be asked; sound cannot. Anomaly and ego items cannot be made from any
  videos: they need data from outside.
- Several items share a video; they are not independent.
"""
_CUT_TOGETHER = """**The videos are cut together from other videos**, whose rights stay with \
their owners: pass
this set on only where you may pass on all of them. `made` names each by its sha256."""
COPIES = """**The videos are copies**, whose rights stay with their owners: pass this set on only
where you may pass on all of them."""
