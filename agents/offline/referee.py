"""The referee: two answers, one verdict, and the reasons for it."""

from __future__ import annotations

from agents.offline.facts import FACETS
from agents.offline.questions import understand
from agents.offline.sent import Sent
from agents.offline.sights import Sight, sight_of
from agents.offline.weighing import STANDARDS, Sheet, weigh
from agents.offline.writer import phrased

_MARGIN = 0.035
"""A smaller difference of the totals is a tie."""
_FAR = 0.25
"""From this difference of the totals on one answer is much better."""
_GOOD = 0.55
"""Both totals above this make a tie of good answers."""
_AHEAD = 0.05


def judge(sent: Sent, blocks: dict[str, str]) -> dict[str, object]:
    """Return four analyses and a verdict; "abstain" where an asked fact could not be read.

    That is so, too, where neither the question nor an answer speaks of anything that is known.
    """
    sheets, words, is_readable = _read(sent, blocks)
    verdict = _verdict(sheets["A"], sheets["B"]) if is_readable else "abstain"
    return {**words, "verdict": verdict}


def compare(sent: Sent, blocks: dict[str, str]) -> dict[str, object]:
    """Return what `judge` does with a verdict in five degrees, and what the frames tell itself."""
    sheets, words, is_readable = _read(sent, blocks)
    degree = _degree(sheets["A"], sheets["B"]) if is_readable else "abstain"
    return {"own_answer": _own(sent, blocks.get("question", "")), **words, "verdict": degree}


def _read(sent: Sent, blocks: dict[str, str]) -> tuple[dict[str, Sheet], dict[str, str], bool]:
    """Weigh both answers; whether anything that is known is spoken of."""
    seen = sight_of(sent)
    ask = understand(blocks.get("question", ""), reads=bool(sent.captions))
    sheets = {seat: weigh(blocks.get(f"answer_{seat.lower()}", ""), ask, seen) for seat in "AB"}
    words = {standard: _analysis(standard, sheets, seen) for standard in STANDARDS}
    return sheets, words, bool(ask.keys) or any(sheet.rows for sheet in sheets.values())


def _degree(a: Sheet, b: Sheet) -> str:
    if a.illegible or b.illegible:
        return "abstain"
    lead = a.total - b.total
    if abs(lead) <= _MARGIN:
        return "A=B"
    sign = ">>" if abs(lead) >= _FAR else ">"
    return f"A{sign}B" if lead > 0 else f"B{sign}A"


def _own(sent: Sent, question: str) -> str:
    seen = sight_of(sent)
    found = [
        f"for {FACETS[key].label}, {phrased(true)}"
        for key in understand(question, reads=bool(sent.captions)).keys
        if (true := FACETS[key].measure(seen)) is not None
    ]
    return f"I find: {'; '.join(found)}." if found else "I find nothing that I could be asked for."


def _verdict(a: Sheet, b: Sheet) -> str:
    if a.illegible or b.illegible:
        return "abstain"
    lead = a.total - b.total
    if abs(lead) > _MARGIN:
        return "A" if lead > 0 else "B"
    return "tie_good" if min(a.total, b.total) > _GOOD else "tie_bad"


def _analysis(standard: str, sheets: dict[str, Sheet], seen: Sight) -> str:
    say = {
        "instruction_following": _on_instruction,
        "accuracy": lambda seat, sheet: _on_accuracy(seat, sheet, seen),
        "relevance": _on_relevance,
        "helpfulness": _on_help,
    }[standard]
    lead = sheets["A"].scores[standard] - sheets["B"].scores[standard]
    end = "Neither is ahead." if abs(lead) <= _AHEAD else f"{'A' if lead > 0 else 'B'} is better."
    return " ".join([*(say(seat, sheet) for seat, sheet in sheets.items()), end])


def _on_instruction(seat: str, sheet: Sheet) -> str:
    if not sheet.missing:
        return f"{seat} deals with everything that was asked."
    names = ", ".join(FACETS[key].label for key in sheet.missing)
    if sheet.illegible:
        return f"{seat} gives something on {names} in words that I cannot read."
    return f"{seat} says nothing usable about {names}."


def _on_accuracy(seat: str, sheet: Sheet, seen: Sight) -> str:
    followed = f"I could follow {sheet.followed} of {sheet.statements} statements of {seat}."
    right = [FACETS[r.key].label for r in sheet.rows if r.score is not None and not r.is_wrong]
    said = [followed] if sheet.statements else [f"{seat} makes no statement I could check."]
    if right:
        said.append(f"I find {seat} right on {', '.join(right)}.")
    return " ".join([*said, *(_objection(seat, row.key, sheet, seen) for row in sheet.wrong[:4])])


def _objection(seat: str, key: str, sheet: Sheet, seen: Sight) -> str:
    facet = FACETS[key]
    claimed = next(row.value for row in sheet.rows if row.key == key)
    true = phrased(facet.measure(seen))
    return f"{seat} gives {phrased(claimed)} for {facet.label}; I find {true}."


def _on_relevance(seat: str, sheet: Sheet) -> str:
    kept = sheet.scores["relevance"]
    if kept > 0.8:
        return f"I find that {seat} keeps to the matter."
    return f"I find that {seat} {'leaves gaps or wanders' if kept > 0.3 else 'hardly answers'}."


def _on_help(seat: str, sheet: Sheet) -> str:
    share = sheet.scores["helpfulness"]
    amount = "most" if share > 0.7 else "some" if share > 0.3 else "little"
    return f"I find that {seat} gives this viewer {amount} of what was wanted."
