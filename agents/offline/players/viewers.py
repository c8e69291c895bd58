"""Offline models that watch: examiner, personas with their questions, and contestants."""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.phrasing import (
    FactRequest,
    phrase,
    phrased,
    understand,
)
from videoautoarena.agents.offline.language.tables import Dice, table, wording
from videoautoarena.agents.offline.language.tongues import CODES, counted, spoken, told
from videoautoarena.agents.offline.players.answering import choose, speak
from videoautoarena.agents.offline.players.scoring import askable, difficulty
from videoautoarena.agents.offline.vision.frame_features import COLOURS, ModelInput
from videoautoarena.agents.offline.vision.sequence import FrameSequence, MeasuredScene, sight_of
from videoautoarena.agents.prompting.fences import attacked, attacks, offered

_SCENES = 40
_FIRST_FACTS = 2
_FIRST_DIFFICULTY = 0.35
"""People begin with what anybody can see; what is hard comes by evolution."""
_BAND = 0.2
_FALLBACK = ("main_colour", "liveliest", "busiest", "plainest", "darkest", "brightest")


class UserProfile(NamedTuple):
    """A user, the words by which the text is known again, and the facets they care for."""

    text: str
    stem: str
    taste: tuple[str, ...]


def examine(sent: ModelInput, _blocks: dict[str, str]) -> dict[str, object]:
    """Return an account of what is measured, and the scenes between the cuts."""
    seen = sight_of(sent)
    shots = counted(len(seen.scenes), style="words")
    facts = [
        f"{FACETS[key].label}: {phrased(FACETS[key].measure(seen))}"
        for key in askable(seen)
        if key != "shots"
    ]
    plural = "" if len(seen.scenes) == 1 else "s"
    account = f"It runs {seen.duration_s:.1f} seconds in {shots} shot{plural}."
    if facts:
        account += f" What stands out is {'; '.join(facts)}."
    scenes = [_scene(scene) for scene in seen.scenes[:_SCENES]]
    # Nothing that is measured in pictures tells one category from another.
    return {"account": account, "category": "other", "scenes": scenes}


def invent(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return three users: two whose tastes these frames feed best, and one with none.

    Each is described in the language that they ask in.
    """
    known = set(askable(sight_of(sent)))
    before = [str(text) for text in listed(blocks.get("alike", ""))]
    # What tells one video from another: its brief, or its first frame where none is handed on.
    video = blocks.get("brief") or sent.pictures[0].digest.hex()
    dice = Dice("persona", video, *before)
    codes = [spoken(sent.user_languages.get(user)) for user in (1, 2, 3)]
    # shuffled before the stable sort, so that equal fits take turns from video to video
    books = [profiles(code) for code in dict.fromkeys(("en", *codes))]
    new = [
        place
        for place in range(len(profiles()))
        if not any(book[place].text in before for book in books)
    ]
    places = dice.shuffled(new or range(len(profiles())))
    fed = sorted(places, key=lambda place: -len(known.intersection(profiles()[place].taste)))
    chosen = [fed[0], fed[1 + dice.below(2)]]
    close = [profiles(code)[place].text for code, place in zip(codes, chosen, strict=False)]
    return {"personas": [*close, dice.one(wording("players", "users", codes[2])["unrelated"])]}


def first_question(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return a question that this user has not asked yet, on facts that are plain to see."""
    seen = sight_of(sent)
    code = spoken(sent.language)
    asked = [str(question) for question in listed(blocks.get("asked", ""))]
    dice = Dice("questioner", *(f"{k}:{v}" for k, v in sorted(blocks.items())))
    old = {frozenset(understand(question).keys) for question in asked}
    candidates = _candidates(seen, blocks.get("persona", ""), dice)
    fresh = [keys for keys in candidates if frozenset(keys) not in old] or candidates
    for keys in fresh:
        for _ in range(4):
            question = phrase(FactRequest(keys, code=code), dice)
            if question not in asked:
                return {"question": question}
    return {"question": phrase(FactRequest(candidates[0], form="list", code=code), dice)}


def tastes(persona: str) -> tuple[str, ...]:
    """Return the facets a user cares for; none if the user's text is not known."""
    known = (profile for code in CODES for profile in profiles(code))
    return next((p.taste for p in known if p.stem in persona.lower()), ())


@cache
def profiles(code: str = CODES[0]) -> tuple[UserProfile, ...]:
    """Return every user who cares for something in particular, in a language."""
    close = wording("players", "users", code)["close"]
    return tuple(UserProfile(p["text"], p["stem"], tuple(p["taste"])) for p in close)


def _candidates(seen: FrameSequence, persona: str, dice: Dice) -> list[tuple[str, ...]]:
    """Return sets of facts to ask for, those to this user's taste first."""
    known = askable(seen) or _FALLBACK
    taste = tastes(persona)
    own = dice.shuffled([key for key in known if key in taste])
    ranked = own + dice.shuffled([key for key in known if key not in taste])
    pairs = list(combinations(ranked, min(_FIRST_FACTS, len(ranked))))
    triples = list(combinations(ranked[:6], min(_FIRST_FACTS + 1, len(ranked))))

    def bands_off(keys: tuple[str, ...]) -> int:
        return round(abs(difficulty(seen, FactRequest(keys)) - _FIRST_DIFFICULTY) / _BAND)

    return [*sorted(pairs, key=bands_off), *triples]


def listed(text: str) -> list[Any]:
    """Return a text as a JSON list; empty if it is something else."""
    try:
        found = json.loads(text or "[]")
    except ValueError:
        return []
    return found if isinstance(found, list) else []


def _scene(scene: MeasuredScene) -> dict[str, object]:
    light = "bright" if scene.luma > 0.6 else "dark" if scene.luma < 0.25 else "plainly lit"
    colour = COLOURS[int(scene.shares.argmax())]
    start = round(scene.start_s, 2)
    end = round(scene.end_s, 2)
    return {"start_s": start, "end_s": end, "what": f"a {light} shot, mostly {colour}"}


def answer(kind: str, sent: ModelInput) -> str:
    """Return the answer of a contestant of that kind to what it was sent."""
    if kind == "parrot":
        return str(table("players", "manners")["parrot"])
    offer = offered(sent.question)
    if offer is not None:
        plain = choose(sent, offer)
    else:
        seen = sight_of(sent) if sent.pictures else None
        plain = speak(kind, seen, sent.question, sent.history)
    if kind == "windbag":
        padding = wording("players", "manners", told(sent.question).code)["padding"]
        before, between, after, last, _ = Dice("padding", sent.question).shuffled(padding)
        # A table or list is no longer read as one with words before it on its first line.
        gap = "\n\n" if offer or plain[0] in "|-{" else " "
        return f"{before} {between}{gap}{plain}{gap}{after} {last}"
    # a choice is read without a judge, so that there is nobody to be tricked
    if kind == "trickster" and offer is None:
        dice = Dice("attack", sent.question, *(p.digest.hex() for p in sent.pictures))
        # A contestant does not know by which contracts its judge replies.
        return attacked(plain, dice.one(attacks()), question=sent.question, contracts=1)
    return plain
