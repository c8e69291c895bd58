"""Lines of a made set of dialogues: what was said, what it is marked by, and how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from videoautoarena.agents.prompting.dialogue_contracts import RoundReply
from videoautoarena.agents.roles.write_dialogue import Item
from videoautoarena.graph.dialogue import Made
from videoautoarena.graph.dialogue_checks import denials
from videoautoarena.runs.bench.format.entries import Check, DialogueItem, Round

MAKER = "1"
"""Goes up whenever equal replies would give other dialogues by this code."""
ROLES = (
    "dialogist", "checklist_maker", "checklist_validator", "leak_checker", "dialogue_answerer",
    "checklist_marker",
)  # fmt: skip


def entry_of(facts: Mapping[str, Any], made: Made) -> DialogueItem:
    """Return the line of a dialogue that passed; `facts` say of what and by whom."""
    video, clip, prompter = facts["video"], facts["clip"], facts["prompter"]
    examiner, prompts = facts["examiner"], prompter.prompts
    rounds = [
        _round(one, made, number=number, items=made.checklists.get(number, ()))
        for number, one in enumerate(made.rounds, 1)
    ]
    bare = DialogueItem(
        qid="",
        video_id=video.id,
        ability=facts["ability"],
        # To the last digit: a thousandth more or less is a frame of another scene.
        spans=list(clip.spans),
        is_cross_scene=clip.is_cross_scene,
        rounds=rounds,
        duration_s=round(video.duration_s, 3),
        made={
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
        },
    )
    return bare.model_copy(update={"qid": bare.own_qid()})


def _round(one: RoundReply, made: Made, *, number: int, items: tuple[Item, ...]) -> Round:
    about: dict[str, JsonValue] = {}
    if items:
        about["tried"] = [dict(each) for each in made.tried if each["round"] == number]
        if denied := denials(items):
            about["denials"] = list[JsonValue](denied)
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
        made=about,
    )
