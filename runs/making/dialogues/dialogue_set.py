"""A set of dialogues that was made: what was ordered, what came of it, its folder and card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NotRequired, TypedDict

from videoautoarena.graph.dialogue_checks import FALLS, Fall
from videoautoarena.runs.bench.format.schema import Ability, DialogueItem, Manifest
from videoautoarena.runs.bench.format.writer import CHECKSUMS, count_tables, licence_section, plain
from videoautoarena.runs.formats.record_json import keyed, record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.paid_job import JobPlan
from videoautoarena.runs.making.dialogues.video_dialogues import MAKER, DialogueTally, DialogueWish
from videoautoarena.runs.making.tasks.card import COPIES
from videoautoarena.runs.making.tasks.drafting import WritingOrder
from videoautoarena.runs.run.rundir.reader import counted


@dataclass(frozen=True)
class DialogueOrder(WritingOrder):
    """Which dialogues are made of which folder by whom, and where they go."""

    wish: DialogueWish = DialogueWish()  # noqa: RUF009 - frozen


class AbilityCount(NamedTuple):
    """How many dialogues of an ability there are."""

    ability: Ability
    wanted: int
    made: int
    videos: int
    """Videos that have one."""
    dropped: dict[Fall, int]


class LostVideo(NamedTuple):
    """A video with a call that failed, or without frames."""

    video: str
    """Its path."""
    reason: str


@dataclass(frozen=True)
class MadeDialogues:
    """A set of dialogues that was made, was there, or would be made."""

    SHOWN: ClassVar = (
        "folder", "bench", "examiner", "dialogues", "rounds", "scored", "abilities", "videos",
        "dropped", "repaired", "failures", "unusable", "was_there", "plan",
    )  # fmt: skip

    folder: Path
    """Where it lies."""
    examiner: str
    """`provider:model`."""
    bench: str | None
    """Its digest; None if it is not finished, or only planned."""
    wanted: Mapping[Ability, int]
    made: Mapping[Ability, int]
    rounds: int = 0
    """Rounds of all dialogues."""
    scored: int = field(default=0, metadata=keyed("scored_rounds"))
    """Rounds of these that have a checklist."""
    videos: int = 0
    """Videos of the folder that could be used."""
    served: Mapping[Ability, int] = field(default_factory=dict)
    """Videos that have a dialogue of each ability."""
    fallen: Counter[tuple[Ability, Fall]] = field(default_factory=Counter)
    repaired: Counter[Fall] = field(default_factory=Counter)
    """What was wrong with first tries, to how many."""
    failures: tuple[LostVideo, ...] = field(default=(), metadata=keyed("failed"))
    """`video` and `reason` of each call that failed for good."""
    unusable: tuple[LostVideo, ...] = ()
    """`video` and `reason` of each that gives no frames."""
    was_there: bool = False
    """The folder held this set already."""
    plan: JobPlan | None = None
    """Only with `--plan`, as of [a written task](#a-made-task)."""

    @property
    def dialogues(self) -> int:
        """Dialogues in it."""
        return sum(self.made.values())

    @property
    def abilities(self) -> list[AbilityCount]:
        """One an ability: `ability`, `wanted`, `made`, `videos` that have one, and `dropped`."""
        return [
            AbilityCount(
                ability,
                wanted,
                self.made.get(ability, 0),
                self.served.get(ability, 0),
                dict(sorted(self._dropped(ability).items())),
            )
            for ability, wanted in self.wanted.items()
        ]

    @property
    def dropped(self) -> dict[Fall, int]:
        """Why dialogues were dropped, to how many."""
        return dict(sorted(self.reasons.items()))

    @property
    def reasons(self) -> Counter[Fall]:
        """Why dialogues were dropped, of all abilities."""
        return reasons_of(self.fallen)

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena dialogues make --json`."""
        return {**record_json(self), "repaired": dict(sorted(self.repaired.items()))}

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        shown = safe(str(self.folder))
        wanted = sum(self.wanted.values())
        if self.plan is not None:
            about = f"at most {counted(wanted, 'dialogue')} about {counted(self.videos, 'video')}"
            return [f"{shown} would have {about}", *self.plan.as_lines()]
        verb = "already holds this set" if self.was_there else "made"
        size = (
            f"{counted(self.dialogues, 'dialogue')} of {wanted}, {self.rounds} rounds, "
            f"{self.scored} of them scored"
        )
        lines = [f"{shown} {verb}: {size}, bench {(self.bench or '')[:12]}"]
        for ability, count in self.wanted.items():
            made = self.made.get(ability, 0)
            served = self.served.get(ability, 0)
            of = f"{made} of {count}, {served} of {counted(self.videos, 'video')}"
            fell = self._dropped(ability)
            # Of a video that does not serve an ability nothing was written, so nothing was dropped.
            if unserved := fell.pop("fitness", 0):
                of += f"; {unserved} {'does' if unserved == 1 else 'do'} not serve it"
            lines.append(f"  {ability.replace('_', ' ')}: {of}")
            if fell:
                lines.append(f"    dropped: {fall_words(fell)}")
        lines.append(f"written and checked by {safe(self.examiner)}")
        if self.repaired:
            lines.append(f"repaired: {fall_words(self.repaired)}")
        return lines

    def _dropped(self, ability: Ability) -> Counter[Fall]:
        return Counter({why: count for (of, why), count in self.fallen.items() if of == ability})


def fall_words(fallen: Mapping[Fall, int]) -> str:
    """Return in words how often each reason was met."""
    return ", ".join(f"{FALLS[why]} ({count})" for why, count in sorted(fallen.items()))


def reasons_of(fallen: Mapping[tuple[Ability, Fall], int]) -> Counter[Fall]:
    """Return how often each reason was met, over all abilities."""
    found = Counter[Fall]()
    for (_, why), count in fallen.items():
        found[why] += count
    return found


def outcome_of(
    order: DialogueOrder, items: Sequence[DialogueItem], *, videos: int, **more: Any
) -> MadeDialogues:
    """Return what came of an order by the dialogues that there are."""
    kinds = order.wish.kinds
    made = Counter(item.ability for item in items)
    # Pairs in a set: a video with several dialogues of an ability counts once.
    served = Counter(ability for ability, _ in {(item.ability, item.video_id) for item in items})
    return MadeDialogues(
        folder=order.to,
        wanted=dict.fromkeys(kinds, order.wish.per_video * videos),
        made={kind: made[kind] for kind in kinds},
        rounds=sum(len(item.rounds) for item in items),
        scored=sum(one.is_scored for item in items for one in item.rounds),
        videos=videos,
        served={kind: served[kind] for kind in kinds},
        **more,
    )


class DialogueSelection(TypedDict):
    """What `selection` of the manifest says of dialogues that were made."""

    maker: str
    """Version of the rules."""
    examiner: str
    """`provider:model`."""
    abilities: list[str]
    """Abilities that were asked for."""
    per_video: int
    """Dialogues of each ability that were asked for of a video."""
    turns: list[int]
    """Rounds of a dialogue, from and to."""
    seed: int
    """Seed of all draws."""
    videos: int
    """Videos of the folder that could be used."""
    dropped: dict[str, int]
    """Why dialogues were dropped, to how many: `fitness` (no part rated 5 or 6), `unwritten`,
    `rounds`, `length`, `repeated`, `asked`, `unscored`, `refers` (form), `object`, `mention`,
    `referents`, `recall`, `summary`, `refusal`, `shift`, `question` (the ability), `items`,
    `balance` (the checklist), `unsolved`, `memory`, `referent`, `leak`, `values` (the trials) and
    `failed`."""
    repaired: dict[str, int]
    """What was wrong with first tries, to how many."""
    failed: int
    """Calls that failed for good."""
    unusable: int
    """Videos that give no frames."""
    scored: NotRequired[int]
    """Scored rounds of a dialogue that were asked for; only where a number was."""


def selection_of(wish: DialogueWish, tally: DialogueTally, examiner: str) -> DialogueSelection:
    """Return what the manifest says of how the dialogues came about."""
    found: DialogueSelection = {
        "maker": MAKER,
        "examiner": examiner,
        "abilities": list(wish.kinds),
        "per_video": wish.per_video,
        "turns": list(wish.turns),
        "seed": wish.seed,
        "videos": tally.total,
        "dropped": dict(sorted(reasons_of(tally.fallen).items())),
        "repaired": dict(sorted(tally.repaired.items())),
        "failed": tally.failed,
        "unusable": len(tally.unusable),
    }
    if wish.scored is not None:
        found["scored"] = wish.scored
    return found


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
            scored=f", {chosen['scored']} of them to be scored" if "scored" in chosen else "",
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

- made by: {name} {version}, maker {maker}; seed: {seed}; rounds: {fewest} to {most}{scored}
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
