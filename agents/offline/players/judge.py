"""The offline judge: two answers, one verdict, and the reasons for it."""

from __future__ import annotations

from collections.abc import Callable

from videoautoarena.agents.offline.facets.table import FACETS, is_stretch, stretch
from videoautoarena.agents.offline.language.phrasing import FactRequest, phrased, understand
from videoautoarena.agents.offline.language.tongues import CODES
from videoautoarena.agents.offline.players.scoring import AnswerSheet, weigh
from videoautoarena.agents.offline.vision.frame_features import ModelInput
from videoautoarena.agents.offline.vision.sequence import FrameSequence, sight_of
from videoautoarena.agents.prompting.contracts import judges_in_full
from videoautoarena.memory.records.standards import PAPER_CONTRACTS, standards_of

_MARGIN = 0.035
"""A smaller difference of the totals is a tie."""
_FAR = 0.25
"""From this difference of the totals on one answer is much better."""
_GOOD = 0.55
"""Both totals above this make a tie of good answers."""
_AHEAD = 0.05


def judge(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return words on each standard and a verdict; "abstain" where a fact could not be read.

    That is so, too, where neither the question nor an answer speaks of anything that is known.
    By contract 2 with what it sees in the frames, and a verdict on each standard. By the paper's
    nobody abstains, and what cannot be told is a tie.
    """
    sheets, words, is_readable = _read(sent, blocks)
    verdict = _verdict(sheets["A"], sheets["B"]) if is_readable else "abstain"
    if sent.contracts == PAPER_CONTRACTS and verdict == "abstain":
        verdict = "tie_bad"
    if not judges_in_full(sent.contracts):
        return {**words, "verdict": verdict}
    each = {
        standard: {
            "analysis": said,
            "verdict": verdict if verdict == "abstain" else _ahead(standard, sheets),
        }
        for standard, said in words.items()
    }
    return {"own_answer": _own(sent, blocks.get("question", "")), **each, "verdict": verdict}


def _ahead(standard: str, sheets: dict[str, AnswerSheet]) -> str:
    lead = sheets["A"].scores[standard] - sheets["B"].scores[standard]
    return "tie" if abs(lead) <= _AHEAD else "A" if lead > 0 else "B"


def compare(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return what `judge` does with a verdict in five degrees, and what it sees in the frames."""
    sheets, words, is_readable = _read(sent, blocks)
    degree = _degree(sheets["A"], sheets["B"]) if is_readable else "abstain"
    return {"own_answer": _own(sent, blocks.get("question", "")), **words, "verdict": degree}


def _read(
    sent: ModelInput, blocks: dict[str, str]
) -> tuple[dict[str, AnswerSheet], dict[str, str], bool]:
    """Weigh both answers; whether anything that is known is spoken of."""
    seen = sight_of(sent)
    ask = understand(blocks.get("question", ""))
    expected = _expected(sent.language, ask)
    sheets = {
        seat: weigh(blocks.get(f"answer_{seat.lower()}", ""), ask, seen, expected) for seat in "AB"
    }
    cites = judges_in_full(sent.contracts)
    words: dict[str, str] = {
        one: _analysis(one, sheets, seen, cites=cites) for one in standards_of(sent.contracts)
    }
    return sheets, words, bool(ask.keys) or any(sheet.rows for sheet in sheets.values())


def _expected(noted: str | None, ask: FactRequest) -> str | None:
    """Return the language that an answer is to be in; None where it is one that I cannot tell."""
    if noted is None:
        return ask.code
    return noted if noted in CODES else None


def _degree(a: AnswerSheet, b: AnswerSheet) -> str:
    if a.illegible or b.illegible:
        return "abstain"
    lead = a.total - b.total
    if abs(lead) <= _MARGIN:
        return "A=B"
    sign = ">>" if abs(lead) >= _FAR else ">"
    return f"A{sign}B" if lead > 0 else f"B{sign}A"


def _own(sent: ModelInput, question: str) -> str:
    seen = sight_of(sent)
    found = [
        f"for {FACETS[key].label}, {phrased(true)}"
        for key in understand(question).keys
        if (true := FACETS[key].measure(seen)) is not None
    ]
    return f"I find: {'; '.join(found)}." if found else "I find nothing that I could be asked for."


def _verdict(a: AnswerSheet, b: AnswerSheet) -> str:
    if a.illegible or b.illegible:
        return "abstain"
    lead = a.total - b.total
    if abs(lead) > _MARGIN:
        return "A" if lead > 0 else "B"
    return "tie_good" if min(a.total, b.total) > _GOOD else "tie_bad"


def _analysis(
    standard: str, sheets: dict[str, AnswerSheet], seen: FrameSequence, *, cites: bool
) -> str:
    say: dict[str, Callable[[str, AnswerSheet], str]] = {
        "instruction_following": _on_instruction,
        "accuracy": lambda seat, sheet: _on_accuracy(seat, sheet, seen, cites=cites),
        "relevance": _on_relevance,
        "helpfulness": _on_help,
    }
    ahead = _ahead(standard, sheets)
    end = "Neither is ahead." if ahead == "tie" else f"{ahead} is better."
    return " ".join([*(say[standard](seat, sheet) for seat, sheet in sheets.items()), end])


def _on_instruction(seat: str, sheet: AnswerSheet) -> str:
    if sheet.is_foreign:
        return f"{seat} does not answer in the language of the question."
    if not sheet.missing:
        return f"{seat} deals with everything that was asked."
    names = ", ".join(FACETS[key].label for key in sheet.missing)
    if sheet.illegible:
        return f"{seat} gives something on {names} in words that I cannot read."
    return f"{seat} says nothing usable about {names}."


def _on_accuracy(seat: str, sheet: AnswerSheet, seen: FrameSequence, *, cites: bool) -> str:
    followed = f"I could follow {sheet.followed} of {sheet.statements} statements of {seat}."
    right = [
        FACETS[row.key].label + (_times(row.key, seen) if cites else "")
        for row in sheet.rows
        if row.score is not None and not row.is_wrong
    ]
    said = [followed] if sheet.statements else [f"{seat} makes no statement I could check."]
    if right:
        said.append(f"I find {seat} right on {', '.join(right)}.")
    for row in sheet.wrong[:4]:
        facet = FACETS[row.key]
        true = phrased(facet.measure(seen)) + (_times(row.key, seen) if cites else "")
        said.append(f"{seat} gives {phrased(row.value)} for {facet.label}; I find {true}.")
    return " ".join(said)


def _times(key: str, seen: FrameSequence) -> str:
    """Cite the frame nearest to a moment that these frames show; nothing for other facts."""
    value = FACETS[key].measure(seen)
    if value is None or not is_stretch(value) or stretch(value)[0] < 0:
        return ""
    nearest = float(seen.times[abs(seen.times - stretch(value)[0]).argmin()])
    return f" (t={nearest:.2f}s)"


def _on_relevance(seat: str, sheet: AnswerSheet) -> str:
    kept = sheet.scores["relevance"]
    if kept > 0.8:
        return f"I find that {seat} keeps to the matter."
    return f"I find that {seat} {'leaves gaps or wanders' if kept > 0.3 else 'hardly answers'}."


def _on_help(seat: str, sheet: AnswerSheet) -> str:
    share = sheet.scores["helpfulness"]
    amount = "most" if share > 0.7 else "some" if share > 0.3 else "little"
    return f"I find that {seat} gives this viewer {amount} of what was wanted."
