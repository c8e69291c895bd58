"""The offline judge: two answers, one verdict, and the reasons for it."""

from __future__ import annotations

from videoautoarena.agents.offline.facets.table import FACETS, is_stretch, stretch
from videoautoarena.agents.offline.language.phrasing import phrased, understand
from videoautoarena.agents.offline.language.tongues import CODES
from videoautoarena.agents.offline.players.scoring import AnswerSheet, weigh
from videoautoarena.agents.offline.vision.frame_features import ModelInput
from videoautoarena.agents.offline.vision.sequence import FrameSequence, sight_of
from videoautoarena.agents.prompting.contracts import judges_in_full
from videoautoarena.memory.records.standards import PAPER_CONTRACTS, standards_of

_MARGIN = 0.035
"""A smaller difference of the totals is a tie."""
_FAR = 0.25
"""Least difference of the totals by which one answer is much better."""
_GOOD = 0.55
"""Both totals above this make a tie of good answers."""
_AHEAD = 0.05


def judge(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return words on each standard and a verdict; "abstain" where a fact could not be read.

    It also abstains if neither the question nor an answer speaks of anything that is known. By
    contract 2 the reply holds what the judge sees in the frames and a verdict on each standard. By
    the paper's contract nobody abstains, and what cannot be told is a tie.
    """
    sheets, words, is_readable = _read(sent, blocks)
    lead = sheets["A"].total - sheets["B"].total
    is_good = min(sheets["A"].total, sheets["B"].total) > _GOOD
    verdict = "A" if lead > 0 else "B"
    if not is_readable:
        # Words that it cannot read decide nothing, so it rates no real model by how that phrases
        # things.
        verdict = "abstain"
    elif abs(lead) <= _MARGIN:
        verdict = "tie_good" if is_good else "tie_bad"
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


def compare(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return a reply like that of `judge`, with a verdict in five degrees and what it sees."""
    sheets, words, is_readable = _read(sent, blocks)
    lead = sheets["A"].total - sheets["B"].total
    sign = ">>" if abs(lead) >= _FAR else ">"
    degree = f"A{sign}B" if lead > 0 else f"B{sign}A"
    if not is_readable:
        degree = "abstain"
    elif abs(lead) <= _MARGIN:
        degree = "A=B"
    return {"own_answer": _own(sent, blocks.get("question", "")), **words, "verdict": degree}


def _read(
    sent: ModelInput, blocks: dict[str, str]
) -> tuple[dict[str, AnswerSheet], dict[str, str], bool]:
    """Return both answers weighed, words on each standard, and whether they could be read."""
    seen = sight_of(sent)
    ask = understand(blocks.get("question", ""))
    noted = ask.code if sent.language is None else sent.language
    # an answer in a language that I cannot tell is not held to be in the wrong one
    expected = noted if noted in CODES else None
    sheets = {
        seat: weigh(blocks.get(f"answer_{seat.lower()}", ""), ask, seen, expected) for seat in "AB"
    }
    cites = judges_in_full(sent.contracts)
    words: dict[str, str] = {
        one: _analysis(one, sheets, seen, cites=cites) for one in standards_of(sent.contracts)
    }
    is_known = bool(ask.keys) or any(sheet.rows for sheet in sheets.values())
    return sheets, words, is_known and not any(sheet.illegible for sheet in sheets.values())


def _ahead(standard: str, sheets: dict[str, AnswerSheet]) -> str:
    lead = sheets["A"].scores[standard] - sheets["B"].scores[standard]
    return "tie" if abs(lead) <= _AHEAD else "A" if lead > 0 else "B"


def _own(sent: ModelInput, question: str) -> str:
    seen = sight_of(sent)
    found = [
        f"for {FACETS[key].label}, {phrased(true)}"
        for key in understand(question).keys
        if (true := FACETS[key].measure(seen)) is not None
    ]
    return f"I find: {'; '.join(found)}." if found else "I find nothing that I could be asked for."


def _analysis(
    standard: str, sheets: dict[str, AnswerSheet], seen: FrameSequence, *, cites: bool
) -> str:
    said = list[str]()
    for seat, sheet in sheets.items():
        score = sheet.scores[standard]
        if standard == "instruction_following":
            said.append(_on_instruction(seat, sheet))
        elif standard == "accuracy":
            said.append(_on_accuracy(seat, sheet, seen, cites=cites))
        elif standard == "helpfulness":
            amount = "most" if score > 0.7 else "some" if score > 0.3 else "little"
            said.append(f"I find that {seat} gives this viewer {amount} of what was wanted.")
        elif standard == "relevance":
            lack = "leaves gaps or wanders" if score > 0.3 else "hardly answers"
            said.append(f"I find that {seat} {'keeps to the matter' if score > 0.8 else lack}.")
        else:
            raise ValueError(f"the offline judge has no words on {standard}")
    ahead = _ahead(standard, sheets)
    end = "Neither is ahead." if ahead == "tie" else f"{ahead} is better."
    return " ".join([*said, end])


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
    """Return a citation of the frame nearest to a fact that is a moment; empty for other facts."""
    value = FACETS[key].measure(seen)
    if value is None or not is_stretch(value) or stretch(value)[0] < 0:
        return ""
    nearest = float(seen.times[abs(seen.times - stretch(value)[0]).argmin()])
    return f" (t={nearest:.2f}s)"
