"""Whether a judge's drafts and thoughts are ever taken for its verdict, by both ways of reading.

    python -m benchmarks.reading [--replies N]

Each of N seeded replies thinks in the marks of one model family or in none, drafts up to three
verdicts while it does, and ends with one final object, behind which there may be words; some are
cut off on the way, before or behind it. What it means is its final verdict; one that was cut off
with words behind its object means none. Read wrongly is what gives another verdict; asked again is
what gives none. A second ask is another reply of the same judge, so the share that it saves is that
of replies that it would give again in a form that can be read.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from benchmarks.canned import keep, parser_of
from videoautoarena.agents.calls.replies import BadReply, read_reply
from videoautoarena.agents.prompting.contracts import READINGS, judge_reply
from videoautoarena.memory.records.standards import STANDARDS

VERDICTS = ("A", "B", "tie_good", "tie_bad", "abstain")
DIALECTS = (
    ("", ""),
    ("", "\n</think>\n"),
    ("<think>\n", "</think>\n"),
    ("<think>\n<think>\n", "\n</think>"),
    ("<think>one</think>\n<think>\n", "</think>\n"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("<analysis>short</analysis><think>", "</think><answer>"),
    (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    ("<scratchpad>\n", "\n</scratchpad>\n"),
)
HEADS = ("", "", "", "<s>", "\ufeff", "<｜Assistant｜>", "<|im_start|>assistant\n", "```json\n")
WORDS = ("Hm.", "Wait,", "A names the lamp.", "B does not.", "So far:", "At [00:12] {he} turns.")
HARMLESS = (
    *("", "", "", "\n```", "\nI hope this helps.", "\nAnswer A was longer.", "<|im_end|>"),
    *("\nThis is not tie_good or B.", '\nModel "B" hallucinated.', "\nFor accuracy A was close."),
)
CUT_BEHIND = (" Wait, A names it, so", "\n\nBut is", '\n{"own_answer": "A la', "\n<think>\nor")


class Drafted(NamedTuple):
    """One reply of a judge, and the verdict that it means; None where it means none."""

    text: str
    ending: str
    verdict: str | None
    has_words_behind: bool
    """It was cut off, and more than marks follows its object."""


def reply_with_drafts(dice: Random) -> Drafted:
    """Return a reply that thinks, drafts and ends."""
    first, last = dice.choice(DIALECTS)
    said = [dice.choice(WORDS)]
    for _ in range(dice.randrange(4)):
        said += [_judged(dice, dice.choice(VERDICTS)), dice.choice(WORDS)]
    verdict = dice.choice(VERDICTS)
    thought = f"{dice.choice(HEADS)}{first}{' '.join(said)}{last}"
    final = _judged(dice, verdict)
    how = dice.random()
    if how < 0.1:
        text = thought[: len(thought) - dice.randrange(20)]
        # A draft without any mark that a reply ends in could as well be its verdict.
        is_unmarked = not first and text.rstrip().endswith("}")
        return Drafted(f"{text} So" if is_unmarked else text, "length", None, False)
    if how < 0.2:
        return Drafted(thought + final[: dice.randrange(1, len(final))], "length", None, False)
    if how < 0.35:
        return Drafted(thought + final + dice.choice(CUT_BEHIND), "length", None, True)
    if how < 0.4:
        return Drafted(thought + final, "length", verdict, False)
    return Drafted(thought + final + dice.choice(HARMLESS), "stop", verdict, False)


def _judged(dice: Random, verdict: str) -> str:
    lead = "tie" if verdict.startswith("tie") else verdict
    quoted = dice.choice(("x", 'it says </think> {"verdict": "B"}'))
    standard = {"analysis": quoted, "verdict": lead}
    said: dict[str, object] = {
        "own_answer": "A lamp.",
        **dict.fromkeys(STANDARDS, standard),
        "verdict": verdict,
    }
    return json.dumps(said, indent=dice.choice((None, 1)))


def verdict_of(one: Drafted, reading: int) -> str | None:
    """Return the verdict that is read; None where the judge would be asked again."""
    try:
        reply = read_reply(one.text, judge_reply(2), ending=one.ending, reading=reading)
    except BadReply:
        return None
    return reply.verdict


def measure(replies: Sequence[Drafted]) -> dict[str, Counter[str]]:
    """Return for each way of reading how replies came out."""
    found: dict[str, Counter[str]] = {}
    for reading in range(1, READINGS + 1):
        counts = Counter[str]()
        for one in replies:
            read = verdict_of(one, reading)
            if read is None:
                counts["asked again" if one.verdict is None else "thrown away"] += 1
            else:
                counts["right" if read == one.verdict else "wrong"] += 1
        found[f"reading {reading}"] = counts
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    wanted = parser_of(__doc__, replies=2000).parse_args(arguments)
    dice = Random(0)
    replies = [reply_with_drafts(dice) for _ in range(wanted.replies)]
    found = measure(replies)
    for name, counts in found.items():
        told = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS)
        print(f"{name}: {told} of {len(replies)}")
    lost = [
        one
        for one in replies
        if verdict_of(one, 1) == one.verdict is not None and verdict_of(one, READINGS) is None
    ]
    behind = [one for one in replies if one.has_words_behind]
    again = [reply_with_drafts(dice) for _ in behind]
    saved = sum(verdict_of(one, READINGS) is not None for one in again)
    print(f"final verdicts that were read and are thrown away now: {len(lost)}")
    print(f"cut off with words behind the object: {len(behind)}; the second ask saves {saved}")
    wrong = found[f"reading {READINGS}"]["wrong"]
    kept = [
        keep(f"0 of {len(replies)} read wrongly", wrong == 0),
        keep("no final verdict thrown away that was read at first", not lost),
    ]
    return int(not all(kept))


KINDS = ("right", "wrong", "asked again", "thrown away")

if __name__ == "__main__":
    sys.exit(main())
