"""The offline examiner as it writes tasks from what it measures, and as it checks them again.

It asks for facts that its frames leave no doubt of. A wrong option is another value of the same
fact, which those frames refute, in the same words; of two facts, all four pairs of a right and a
wrong value stand to choose from, so that no option is more like the others than the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, groupby, permutations, product

import numpy as np

from videoautoarena.agents.offline.facets.table import (
    FACETS,
    CutTime,
    ExtremeMoment,
    Facet,
    MainColour,
    MomentOrder,
    ShotCount,
    SideChoice,
    Stretch,
    Value,
    VideoPart,
    part_of,
    stretch,
)
from videoautoarena.agents.offline.language.phrasing import (
    BOOKS,
    FactRequest,
    book,
    phrase,
    say,
    understand,
)
from videoautoarena.agents.offline.language.reader import hear
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.language.tasks import free, word_free
from videoautoarena.agents.offline.players.answering import rights
from videoautoarena.agents.offline.players.scoring import askable
from videoautoarena.agents.offline.players.viewers import listed
from videoautoarena.agents.offline.vision.frame_features import COLOURS, ModelInput
from videoautoarena.agents.offline.vision.sequence import FrameSequence, sight_of
from videoautoarena.agents.prompting.fences import CLOSING, LETTERS, OfferedOptions, offered

OPTIONS = 4
POINTS = (3, 6)
"""Facts in one description, the fewest and the most."""
BORNE_OUT, REFUTED = 0.6, 0.2
"""Least rightness of a claim that the frames bear out, and most of one that they refute."""
IN_SCENES = (
    "main_colour", "brightest", "darkest", "liveliest", "busiest", "plainest", "ending_light",
    "motion_half", "shots",
)  # fmt: skip
"""Facets that are asked about parts of a video."""
SCENE = (0.25, 0.45)
"""Least and largest share of the video that a scene takes."""
LEAST_SCENE_S = 2.0
_COLOURS_TRIED = 7
_APART = 0.06
"""Least distance of the times of options, as a share of the video."""
_INSTANTS = 100
_TRIES = 60


def write_topics(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return questions on the video as a whole, each with four options."""
    seen = sight_of(sent)
    known = [key for key in askable(seen) if not isinstance(FACETS[key], ExtremeMoment | CutTime)]
    dice = _dice("topic", sent)
    alone = ShotCount | MomentOrder | MainColour
    single = [(key,) for key in known if isinstance(FACETS[key], alone)]
    values = [key for key in known if isinstance(FACETS[key], SideChoice | MainColour)]
    # In most videos no scene returns, so that nobody has to look.
    values = [key for key in values if key != "returns"]
    return {"items": list(_choices(seen, [*single, *combinations(values, 2)], blocks, dice))}


def write_plots(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return questions on when something happens that happens once, each with four times."""
    seen = sight_of(sent)
    dice = _dice("plot", sent)
    keys = [(key,) for key in askable(seen) if isinstance(FACETS[key], ExtremeMoment | CutTime)]
    keys = [(key,) for (key,) in keys if len(_moments(VideoPart(seen), key)) == 1]
    items = list(_choices(seen, keys, blocks, dice))
    for item in items:
        (key,) = understand(str(item["question"])).keys
        (item["start_s"], item["end_s"]), *_ = _moments(VideoPart(seen), key)
    return {"items": items}


def write_scenes(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return tasks to describe parts of the video, each with what is to be said."""
    seen = sight_of(sent)
    dice = _dice("scene", sent)
    taken = [old for asked in listed(blocks.get("asked", "")) if (old := free(str(asked)).part)]
    items: list[dict[str, object]] = []
    least, most = SCENE
    for _ in range(_TRIES):
        if len(items) == _wanted(blocks):
            break
        lasts_s = (least + (most - least) * dice.below(1000) / 999) * seen.duration_s
        if lasts_s < LEAST_SCENE_S:
            continue
        start_s = (seen.duration_s - lasts_s) * dice.below(1000) / 999
        span = round(start_s, 1), round(start_s + lasts_s, 1)
        part = part_of(seen, span)
        shared = [min(span[1], old[1]) - max(span[0], old[0]) for old in taken]
        if part is None or any(one > (span[1] - span[0]) / 2 for one in shared):
            continue
        keys = [key for key in askable(part.seen) if key in IN_SCENES]
        if item := _described(part, keys, dice, span=span):
            items.append({"start_s": span[0], "end_s": span[1], **item})
            taken.append(span)
    return {"items": items}


def write_summary(sent: ModelInput, _blocks: dict[str, str]) -> dict[str, object]:
    """Return a task to sum the video up, with what is to be said; none if that is too little."""
    seen = sight_of(sent)
    item = _described(VideoPart(seen), list(askable(seen)), _dice("summary", sent), span=None)
    return {"items": [item] if item else []}


def check_options(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return which option these frames bear out, and the moments that are asked for."""
    part = VideoPart(sight_of(sent))
    offer = offered(f"{blocks.get('question', '')}\n{blocks.get('options', '')}\n{CLOSING}")
    found = rights(part, offer) if offer else []
    places = [place for place, right in enumerate(found) if right >= BORNE_OUT]
    word = LETTERS[places[0]] if len(places) == 1 else "several" if places else "none"
    keys = understand(offer.question).keys if offer else ()
    moments = _moments(part, keys[0]) if len(keys) == 1 and FACETS[keys[0]].is_timed else []
    said = ", ".join(f"{right:.2f}" for right in found) or "nothing I could measure"
    return {
        "analysis": f"I find the options borne out to these shares: {said}.",
        "moments": [{"start_s": start, "end_s": end} for start, end in moments],
        "answer": word,
        "names": "no",
    }


def check_points(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return which points these frames show, each by what it claims."""
    seen = sight_of(sent)
    span = free(blocks.get("question", "")).part
    part = VideoPart(seen) if span is None else part_of(seen, span)
    points = [re.sub(r"^\d+\. ", "", line) for line in blocks.get("points", "").splitlines()]
    return {
        "moments": [{"start_s": span[0], "end_s": span[1]}] if span else [],
        "points": [_shown(point, part) for point in points],
        "reference": _shown(blocks.get("reference", ""), part),
        "names": "no",
    }


def _shown(text: str, part: VideoPart | None) -> dict[str, object]:
    claims = hear(text, part.seen.duration_s).claims if part else []
    is_shown = bool(claims) and all(
        part is not None and part.right(claim.key, claim.value) >= BORNE_OUT for claim in claims
    )
    analysis = f"I find {len(claims)} statements that I can measure in it."
    return {"analysis": analysis, "shown": "yes" if is_shown else "no"}


def _choices(
    seen: FrameSequence, facts: Sequence[tuple[str, ...]], blocks: dict[str, str], dice: Dice
) -> Iterator[dict[str, object]]:
    """Yield a question on each of some facts, as many as are wanted; none is asked for twice.

    Otherwise the text of other items would tell, without the video, what is right again.
    """
    asked = listed(blocks.get("asked", ""))
    old = {key for question in asked for key in understand(str(question)).keys}
    left = _wanted(blocks)
    for keys in dice.shuffled(facts):
        if not left:
            break
        if old.intersection(keys):
            continue
        values = _options(seen, keys, dice)
        question = phrase(FactRequest(keys), dice)
        if not values:
            continue
        style = book(dice.one(BOOKS))
        draw = dice.below(10**6)
        options = []
        for option in values:
            # The dice begin again, so that all options are in the same words.
            again = Dice("option", draw)
            pairs = zip(keys, option, strict=True)
            said = [say(key, value, style=style, dice=again) for key, value in pairs]
            options.append(" ".join(said))
        if understand(question).keys != keys:
            continue
        # The first alone has to be borne out, as whoever reads the options understands them.
        # The bound is the mean of a right claim and a refuted one, since an option on two facts may
        # have one of them right.
        found = rights(VideoPart(seen), OfferedOptions(question, tuple(options)))
        if found and found[0] >= BORNE_OUT and max(found[1:]) <= (1 + REFUTED) / 2:
            left -= 1
            old.update(keys)
            yield {"question": question, "answer": options[0], "distractors": options[1:]}


def _options(seen: FrameSequence, keys: tuple[str, ...], dice: Dice) -> list[tuple[Value, ...]]:
    """Return what four options claim, the truth first; none if there are too few values."""
    true = [value for key in keys if (value := FACETS[key].measure(seen)) is not None]
    if len(true) < len(keys):
        return []
    wrong = [_others(FACETS[key], seen, dice)[: OPTIONS // len(keys) - 1] for key in keys]
    sets = [[value, *others] for value, others in zip(true, wrong, strict=True)]
    every = list(product(*sets))
    return every[:OPTIONS] if len(every) >= OPTIONS else []


def _others(facet: Facet, seen: FrameSequence, dice: Dice) -> list[Value]:
    """Return other values of a facet that these frames refute, each as likely to come first."""
    true = facet.measure(seen)
    every: list[Value] = []
    if isinstance(facet, MainColour):
        # Those that there is most of: a colour that is nowhere is soon ruled out.
        every = [COLOURS[place] for place in np.argsort(-facet.part(seen))[:_COLOURS_TRIED]]
    elif isinstance(facet, SideChoice):
        every = [side for side in facet.sides if side]
    elif isinstance(facet, MomentOrder):
        every = list(permutations(facet.landmarks))
    elif isinstance(facet, ShotCount) and isinstance(true, int):
        step = max(2, round(0.35 * true))
        # The truth may be any of the four by size, as far as none of them falls below one.
        rank = dice.below(min(OPTIONS, 1 + (true - 1) // step))
        every = [true + (place - rank) * step for place in range(OPTIONS)]
    elif isinstance(facet, ExtremeMoment | CutTime):
        # Instants apart from each other and from the truth.
        times_s = [stretch(true)[0]] if true else []
        apart_s = max(1.0, _APART * seen.duration_s)
        for _ in range(_TRIES):
            at_s = round(seen.duration_s * dice.below(1000) / 999, 1)
            is_apart = all(abs(at_s - other) >= apart_s for other in times_s)
            if is_apart and _is_refuted(facet, (at_s, at_s), seen):
                times_s.append(at_s)
                every.append((at_s, at_s))
        return every
    refuted = [value for value in every if _is_refuted(facet, value, seen)]
    return dice.shuffled(refuted)


def _is_refuted(facet: Facet, value: Value, seen: FrameSequence) -> bool:
    score = facet.score(value, seen, fine=False)
    most = 0.5 if isinstance(facet, MomentOrder) else REFUTED
    return score is not None and score.right <= most


def _moments(part: VideoPart, key: str) -> list[Stretch]:
    """Return the stretches at which a claim that it is then would be right."""
    instants = np.linspace(0, part.seen.duration_s, _INSTANTS).tolist()
    found = []
    pairs = ((at_s, part.right(key, (at_s, at_s)) >= BORNE_OUT) for at_s in instants)
    for is_right, run in groupby(pairs, lambda pair: pair[1]):
        times = [at_s for at_s, _ in run]
        if is_right:
            found.append((round(times[0], 2), round(times[-1], 2)))
    return found


def _described(
    part: VideoPart, keys: Sequence[str], dice: Dice, *, span: Stretch | None
) -> dict[str, object] | None:
    """Return a task for free words on some facts; None if too few can be understood."""
    fewest, most = POINTS
    chosen = tuple(dice.shuffled([key for key in keys if part.measure(key) is not None])[:most])
    question = phrase(FactRequest(chosen), dice) if chosen else ""
    style = book(dice.one(BOOKS))
    points = [say(key, part.measure(key), style=style, dice=dice) for key in chosen]
    points = [point for point in points if _shown(point, part)["shown"] == "yes"]
    if len(points) < fewest or set(understand(question).keys) != set(chosen):
        return None
    asked = word_free(span, question, dice)
    return {"question": asked, "reference": " ".join(points), "points": points}


def _wanted(blocks: dict[str, str]) -> int:
    count = blocks.get("count", "").strip()
    return int(count) if count.isdecimal() and len(count) < 5 else 1


def _dice(kind: str, sent: ModelInput) -> Dice:
    # With the code of the fences, which is another for every seed of a set.
    return Dice(kind, sent.text, sight_of(sent).key.hex())
