"""The card of a made set of dialogues: what it is, how it came about, its limits."""

from __future__ import annotations

from typing import Any

from videoautoarena.graph.dialogue_checks import FALLS
from videoautoarena.runs.bench.format.schema import Manifest
from videoautoarena.runs.bench.format.writer import CHECKSUMS, count_tables, licence_section, plain
from videoautoarena.runs.making.tasks.card import COPIES
from videoautoarena.runs.run.rundir.reader import counted


def dialogue_card(manifest: Manifest) -> str:
    """Return card.md of a set of dialogues; equal input gives equal text."""
    ours = manifest.generator
    chosen = manifest.selection
    turns: Any = chosen["turns"]
    parts = [
        f"# Set of {counted(manifest.count, 'dialogue')}, written by a model\n",
        _WHAT,
        _HOW.format(
            name=ours.name,
            version=ours.version,
            maker=chosen["maker"],
            examiner=plain(str(chosen["examiner"])),
            seed=chosen["seed"],
            fewest=turns[0],
            most=turns[1],
        ),
        _reasons(chosen["repaired"], "Repaired once, and kept:"),
        _reasons(chosen["dropped"], "Dropped after one repair, or not made:"),
        "\n## Counts\n",
        *count_tables(manifest.counts, of="dialogues"),
        _LIMITS,
        licence_section(manifest.licence, COPIES),
        f"{CHECKSUMS}\n",
    ]
    return "\n".join(parts)


def _reasons(counts: Any, title: str) -> str:
    rows = [f"  - {count}: {FALLS[why]}" for why, count in sorted(counts.items())]
    return "\n".join([f"- {title}", *(rows or ["  - none"])])


_WHAT = """## What it is

Each line of `questions.jsonl` is a dialogue about one video in `videos`, or about some stretches of
it (`spans`): rounds of what the user says and how the reference answers. Rounds with a checklist
are scored: an answer is held against questions with an expected yes or no.

- `object_reference`: the user points back to something by words like "the second of them".
- `memory_recall`: the user goes back to an earlier round and asks more deeply.
- `content_summary`: the last round wants facts that no round spoke of before.
- `answer_refusal`: the user asks for what is not there. Its `refusal_twin` asks alike for what is.
- `topic_shifting`: the user leaves the video and comes back, twice at least.
- `proactive_interaction`: the user is bored; the answer points to something and asks in turn.
"""
_HOW = """## How it was made

- made by: {name} {version}, maker {maker}; seed: {seed}; rounds: {fewest} to {most}
- written and checked by: {examiner}
- The examiner captioned the shots of each video, put them together to scenes, named the objects in
  them and said which come back. It rated what each part of the video is good for, and only parts
  that it rated 5 or 6 of 6 were used.
- Items of a checklist stay if a second ask, shown the reference and no frames, finds the same.
- A scored round stays only if it is answered by who knows the dialogue and sees other frames than a
  contestant is sent as a rule.
- **Rounds of object reference and memory recall that need no memory were refused**: who sees twice
  the frames and knows no history must fail, and so must who takes the words for something else that
  was named. So what a model without memory loses here is by construction, and no measure of how
  often people ask such questions.
- A round is thrown out if who sees no frames and knows the rest of the dialogue meets all its Yes
  items, or if all their values stand in the rest of the dialogue. Refusals and bored users are
  exempt.
- `made` says what each answer that was tried out scored. All calls stand in
  `results/making.sqlite`, if it came along."""
_LIMITS = """## Limits

- **References and checklists are a model's word**, checked by code and by more asks of the same
  model. `arena dialogues review` writes them out for a person.
- A model that sees and errs as the examiner does has an advantage. Do not rate the examiner, or
  its kin, by what it wrote.
- Objects were named by the examiner; no detector was used.
- Dialogues share videos; they are not independent.
"""
