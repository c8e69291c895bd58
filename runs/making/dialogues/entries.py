"""Lines of a made set of dialogues: what was said, what it is marked by, and how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, cast

from pydantic import JsonValue

from videoautoarena.agents.prompting.contracts import RoundReply
from videoautoarena.agents.roles.write_dialogue import ChecklistQuestion
from videoautoarena.graph.dialogue import MadeDialogue
from videoautoarena.graph.dialogue_checks import denials
from videoautoarena.runs.bench.format.schema import Authorship, Check, DialogueItem, Round

MAKER = "1"
"""Goes up whenever equal replies would give other dialogues by this code."""
ROLES = (
    "dialogist", "checklist_maker", "checklist_validator", "leak_checker", "dialogue_answerer",
    "checklist_marker",
)  # fmt: skip


class DialogueOrigin(Authorship):
    """How a dialogue came about, as `made` of its line says it."""

    kind: str
    """`dialogue`."""
    maker: str
    """Version of the rules by which it was made."""
    clip: dict[str, Any]
    """What it is about: `id`, `scenes` (their numbers), `spans`, `why` (`whole`, `scene`, `object`
    or `theme`) and what is `shared`."""
    fitness: dict[str, Any]
    """Ability to what the examiner rated the clip, 1 to 6."""
    objects: dict[str, str]
    """Id to name of the objects in the clip, as the examiner named them."""
    repaired: list[str]
    """What was wrong with the first try, if there was a second one."""


class RoundOrigin(TypedDict):
    """How a round came about; each key only if there is something to say."""

    tried: NotRequired[list[dict[str, Any]]]
    """Each answer to a scored round that was tried out: `round`, `how` (`knows all, sees other
    frames`, `knows no history`, `takes it for another`, `sees no frames`), `answer`, and `met`:
    whether it does as expected, item by item."""
    denials: NotRequired[list[int]]
    """Numbers, from 1, of the items that ask whether a thing is said not to be there; over-refusal
    counts by them."""
    explicit: NotRequired[str]
    """The user's words with everything named in full, in a round that goes back."""
    others: NotRequired[list[str]]
    """The same for each other thing that could be meant."""


def entry_of(facts: Mapping[str, Any], made: MadeDialogue) -> DialogueItem:
    """Return the line of a dialogue that passed; `facts` say what it is about and who made it."""
    video = facts["video"]
    clip = facts["clip"]
    prompter = facts["prompter"]
    examiner = facts["examiner"]
    prompts = prompter.prompts
    rounds = [
        _round(one, made, number=number, items=made.checklists.get(number, ()))
        for number, one in enumerate(made.rounds, 1)
    ]
    origin: DialogueOrigin = {
        "kind": "dialogue",
        "maker": MAKER,
        "seed": facts["seed"],
        "examiner": examiner.resolved,
        "parameters": dict(examiner.keyed("dialogist")),
        "prompts": {role: prompts.digests[role] for role in ROLES},
        "contracts": prompts.contracts,
        "reading": prompts.reading,
        "clip": clip.model_dump(mode="json"),
        "fitness": facts["fitness"],
        "objects": facts["objects"],
        "repaired": [one.why for one in made.faults],
    }
    bare = DialogueItem(
        qid="",
        video_id=video.id,
        ability=facts["ability"],
        # Not rounded: a thousandth of a second more may be a frame of another scene.
        spans=list(clip.spans),
        is_cross_scene=clip.is_cross_scene,
        rounds=rounds,
        duration_s=round(video.duration_s, 3),
        made=cast(dict[str, JsonValue], origin),
    )
    return bare.model_copy(update={"qid": bare.own_qid()})


def _round(
    one: RoundReply, made: MadeDialogue, *, number: int, items: tuple[ChecklistQuestion, ...]
) -> Round:
    about: RoundOrigin = {}
    if items:
        about["tried"] = [dict(each) for each in made.tried if each["round"] == number]
        if denied := denials(items):
            about["denials"] = list(denied)
    if one.explicit:
        about["explicit"] = one.explicit
    if one.others:
        about["others"] = list(one.others)
    return Round(
        user=one.user,
        reference=one.assistant,
        checklist=[Check(text=i.text, expected="yes" if i.is_yes else "no") for i in items],
        is_about_video=one.about == "video",
        refers_to=one.refers_to,
        objects=list(one.objects),
        made=cast(dict[str, JsonValue], about),
    )
