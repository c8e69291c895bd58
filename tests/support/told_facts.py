"""Facts as people tell them of videos, asked for in a dialogue, and given away in other words."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from tests.support.written_dialogues import Rounds, written
from videoautoarena.agents.prompting.contracts import RoundReply
from videoautoarena.agents.roles.write_dialogue import ChecklistQuestion

_COLOURS = "red blue green yellow brown purple orange pink grey turquoise"
_THINGS = "lamp basket trumpet bottle ladder cherry brush umbrella candle shoe glass box"
_SMALL = """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
COLOURS = _COLOURS.split()
THINGS = _THINGS.split()
NUMERALS = _SMALL.split()


class Told(NamedTuple):
    """A fact in patterns that are filled the same way, see `filled`."""

    user: str
    explicit: str
    reference: str
    yes: tuple[str, ...]
    no: tuple[str, ...]
    leaks: tuple[str, ...]


TOLD = (
    Told(
        "When does he drop it?", "When does the man drop the {thing}?",
        "He drops it at {clock}.",
        ("Does the answer put it between {start} and {end}?",),
        ("Does the answer put it at {wrong}?",),
        ("It goes down about {t} s, mind.", "Something breaks {t_words} seconds in.",
         "By {min} min {s} s it lies on the floor.", "Look at {clock}.",
         "At the {t}-second mark there is a bang.", "That is around {t}."),
    ),
    Told(
        "How many dogs run by, and when?", "", "{Count} dogs run by at {clock}.",
        ("Does the answer say that {count} dogs run by?",
         "Does it give a time from {before} to {after} seconds?"),
        ("Does it say that one dog runs by?", "Does it give {wrong}?"),
        ("Some {n} of them are there by {t} seconds.",
         "You get {count} hounds at {clock}.", "{Count} animals pass {t_words} seconds in."),
    ),
    Told(
        "What colour is it, and when does she take it off?",
        "What colour is the woman's coat, and when does she take the coat off?",
        "The coat is {colour}, and she takes it off at {clock}.",
        ("Does the answer say that the coat is {colour}?",
         "Does it say that she takes it off at about {t} seconds?"),
        ("Does the answer say that the coat is {colour_2}?",
         "Does it say that she takes it off at {wrong}?"),
        ("She wears something {colour} until {clock}.",
         "The {colour} piece comes off {t_words} seconds in.",
         "At {min} minutes {s} seconds a {colour} bundle lands on a chair."),
    ),
    Told(
        "What does he put on the table, and what beside it?", "",
        "He puts a {thing} on the table and a {thing_2} beside it.",
        ("Does the answer say that he puts a {thing} on the table?",
         "Does it say that a {thing_2} comes beside it?"),
        ("Does the answer say that he puts a hat on the table?",
         "Does it say that a plate comes beside it?"),
        ("The {thing} and the {thing_2} stand side by side.",
         "There are {things}, and {things_2} as well.",
         "You mean where the {thing_2} leans against the {thing}?"),
    ),
    Told(
        "Where does the cat go then?", "Where does the cat go after the {thing} falls?",
        "It climbs onto the {thing_2} and hides behind a curtain.",
        ("Does the answer say that the cat climbs onto a {thing_2}?",
         "Does it say that the cat hides behind a curtain?"),
        ("Does the answer say that the cat runs under the bed?",
         "Does it say that the cat leaves?"),
        ("Climbing a {thing_2} and hiding behind curtains is what it likes.",
         "It has climbed the {thing_2}, and the curtain hides it.",
         "Who would climb the {thing_2} and hide by the curtains?"),
    ),
    Told(
        "What is the girl holding, and how many?", "",
        "She is holding {count} {colour} kites.",
        ("Does the answer say that the girl holds kites?",
         "Does it say that there are {count}?", "Does it say that they are {colour}?"),
        ("Does the answer say that the girl holds flags?", "Does it say that there is one?"),
        ("The {n} {colour} kites pull hard.", "A {colour} kite, and {count} in all.",
         "Kites, {count} of them, {colour} from tip to tail."),
    ),
    Told(
        "What is written on the sign?", "What is written on the sign above the door?",
        "It reads \u201cfresh {things}\u201d.",
        ("Does the answer give the words \u201cfresh {things}\u201d?",),
        ("Does the answer give the words \u201csold out\u201d?",),
        ("FRESH {things}, they say.", "Somebody promises a fresh {thing}.",
         "They sell {things}, all fresh."),
    ),
    Told(
        "How long does she stand still, and what wakes her?", "",
        "For about {t} seconds, until a {thing} rings.",
        ("Does the answer give about {t} seconds?", "Does it say that a {thing} wakes her?"),
        ("Does the answer give an hour?", "Does it say that a child wakes her?"),
        ("For {t_words} seconds nothing moves, and then the {thing} goes.",
         "The {thing} comes after {t}s.", "It takes {t} seconds and a {thing}."),
    ),
    Told(
        "And how does it end?", "How does the game on the board end?",
        "It ends {m}:{k} when the {colour} team scores.",
        ("Does the answer give {m}:{k}?", "Does it say that the {colour} team scores?"),
        ("Does the answer give 0:1?", "Does it say that the {colour_2} team scores?"),
        ("It is {m} to {k} for {colour}.", "{Colour} makes it {m}-{k}.",
         "They go home {m} : {k}, all {colour}."),
    ),
    Told(
        "What happens to the fence?", "What happens to the fence behind the house?",
        "Two men paint it {colour} and hang a {thing} on it.",
        ("Does the answer say that it is painted {colour}?",
         "Does it say that a {thing} is hung on it?"),
        ("Does the answer say that it is painted {colour_2}?", "Does it say that it burns?"),
        ("They are painting all of it {colour}, and {things} hang there.",
         "Paint it {colour} and hang up the {thing}!",
         "It hangs there, that {thing}, on what they painted {colour}."),
    ),
)  # fmt: skip
PLAIN = (
    ("What do we see first?", "A street with one bus and two people at a corner."),
    ("Who comes in?", "A man with a hat, and then a second one."),
    ("Is it day or night?", "It is day; the sun is low at about {a} seconds."),
    ("And what of the child?", "The child sits down once and eats an apple."),
    ("How many windows has the house?", "It has {b} windows, and a {c} door."),
    ("What lies on the floor?", "A {d}, next to the chair that one of them sat on."),
    ("Does anybody speak?", "Somebody does, from {e} to {f}, to the other man."),
    ("What is in the sky?", "Some clouds, and {g} birds that fly to the left."),
    ("What is the car doing?", "It is going slowly past a {h} wall."),
    ("Does the light change?", "It gets darker after {i} seconds."),
    ("Who is the tallest?", "The woman in the {j} shirt."),
    ("What does the cook cut?", "Onions, in {k} pieces, on a board."),
    ("Where is the camera?", "Near the ground, and it moves up at {l}."),
    ("What was that noise?", "Nothing that can be seen; they look to the right."),
)  # fmt: skip


def filled(random: Random) -> dict[str, Any]:
    """Return what stands in the patterns of one fact."""
    t = random.randrange(61, 180)
    n = random.randrange(2, 13)
    colour, colour_2 = random.sample(COLOURS, 2)
    thing, thing_2 = random.sample(THINGS, 2)
    return {
        "t": t, "clock": _clock(t), "start": _clock(t - 1), "end": _clock(t + 1),
        "before": t - 1, "after": t + 1, "min": t // 60, "s": t % 60, "t_words": _words(t),
        "wrong": _clock((t + 60) % 180), "n": n, "m": n % 8 + 1, "k": (n + 3) % 9,
        "count": NUMERALS[n - 2],
        "Count": NUMERALS[n - 2].capitalize(), "colour": colour, "Colour": colour.capitalize(),
        "colour_2": colour_2, "thing": thing, "thing_2": thing_2,
        "things": _many(thing), "things_2": _many(thing_2),
    }  # fmt: skip


def asked_of(seed: int) -> tuple[Rounds, int, list[ChecklistQuestion], list[str]]:
    """Return a dialogue, the number of a scored round, its items, and what would give it away."""
    random = Random(seed)
    told, other = random.sample(TOLD, 2)
    known = filled(random)
    elsewhere = filled(random)
    rounds = [_plain(random) for _ in range(random.randrange(3, 6))]
    rounds.append(written(_(other.user, elsewhere), _(other.reference, elsewhere)))
    random.shuffle(rounds)
    number = random.randrange(2, len(rounds) + 2)
    user = _(told.user, known)
    explicit = _(told.explicit, known)
    one = written(user, _(told.reference, known), scored="yes", explicit=explicit)
    rounds.insert(number - 1, one)
    items = [ChecklistQuestion(_(text, known), True) for text in told.yes]
    items += [ChecklistQuestion(_(text, known), False) for text in told.no]
    return rounds, number, items, [_(text, known) for text in told.leaks]


def planted(rounds: Rounds, number: int, leak: str) -> Iterator[Rounds]:
    """Yield a dialogue with a leak in an earlier answer, an earlier and a later question."""
    first = rounds[0]
    last = rounds[-1]
    yield [_changed(first, assistant=f"{first.assistant} {leak}"), *rounds[1:]]
    yield [_changed(first, user=f"{leak} {first.user}"), *rounds[1:]]
    if number < len(rounds):
        yield [*rounds[:-1], _changed(last, user=f"{leak} {last.user}")]
    else:
        yield [*rounds, written(leak, "So it is.")]


def _plain(random: Random) -> RoundReply:
    user, said = random.choice(PLAIN)
    times = {key: random.randrange(1, 180) for key in "ai"}
    start = random.randrange(1, 170)
    clocks = {"e": _clock(start), "f": _clock(start + 9), "l": _clock(random.randrange(1, 180))}
    counts = {key: random.choice(NUMERALS[:11]) for key in "bgk"}
    colours = {key: random.choice(COLOURS) for key in "chj"}
    words = {"d": random.choice(THINGS)}
    return written(user, said.format(**times, **clocks, **counts, **colours, **words))


def _(pattern: str, known: dict[str, Any]) -> str:
    return pattern.format(**known)


def _changed(one: RoundReply, **change: str) -> RoundReply:
    return one.model_copy(update=change)


def _many(thing: str) -> str:
    if thing.endswith("y"):
        return f"{thing[:-1]}ies"
    return f"{thing}es" if thing.endswith(("s", "x", "sh")) else f"{thing}s"


def _clock(at_s: int) -> str:
    return f"{at_s // 60}:{at_s % 60:02d}"


def _words(number: int) -> str:
    if number >= 100:
        return f"a hundred and {_words(number - 100)}" if number > 100 else "a hundred"
    small = ["", "one", *NUMERALS]
    if number < 20:
        return small[number]
    return f"{_TENS.split()[number // 10 - 2]}-{small[number % 10]}".rstrip("-")
