"""The finding of each section of a report as a sentence, made of its figures.

A sentence is a list of parts: plain text, and `{"model": NAME}` where a page links to a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from videoautoarena.runs.rundir.reader import counted, spent

Parts = list[str | dict[str, str]]
Json = dict[str, Any]


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return each name without provider and owner, where that leaves all of them apart."""
    distinct = list(dict.fromkeys(names))
    cut = {name: name.split(":", 1)[-1].split("/")[-1] or name for name in distinct}
    return cut if len(set(cut.values())) == len(distinct) else {name: name for name in distinct}


def findings(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sentences of a report by section, and the short names they go with."""
    rows = [row for row in summary["models"] if row["rating"] is not None]
    cast = list(summary["methods"]["cast"])
    names = short_names([*(row["model"] for row in summary["models"]), *cast])
    return {
        "lead": leader(rows),
        "rest": places(rows),
        "ladder": gap_at_the_top(rows),
        "rounds": of_rounds(summary["rounds"]),
        "pairs": of_pairs(summary["pairs"], bool(summary["settings"]["totals"]["decided"])),
        "audit": of_audit(summary["audit"]),
        "spending": of_spending(summary),
        "short": names,
    }


def as_text(parts: Parts, names: Mapping[str, str]) -> str:
    """Return a sentence without its links."""
    texts = (part if isinstance(part, str) else names[part["model"]] for part in parts)
    return "".join(texts).strip()


def leader(rows: Sequence[Json]) -> Parts:
    """Return who leads, and who cannot be told apart from it."""
    if not rows:
        return ["No battle has been decided yet."]
    first, rivals = rows[0]["model"], [row["model"] for row in rows[1:] if row["rank_best"] == 1]
    if len(rows) == 1:
        return [{"model": first}, " is the only model with a rating."]
    if not rivals:
        return [{"model": first}, " leads."]
    if len(rivals) == len(rows) - 1:
        return [f"No model of {len(rows)} can be told apart from ", {"model": first}, "."]
    if len(rivals) > 4:
        return [{"model": first}, f" leads, but {len(rivals)} models can’t be told apart from it."]
    return [{"model": first}, " leads, but ", *listed(rivals), " can’t be told apart from it."]


def places(rows: Sequence[Json]) -> Parts:
    """Return which places below the first overlap, a sentence a group."""
    groups: list[list[Json]] = []
    for row in (row for row in rows if row["rank_best"] not in (None, 1)):
        if groups and row["rank_best"] <= max(other["rank_worst"] for other in groups[-1]):
            groups[-1].append(row)
        else:
            groups.append([row])
    found: Parts = []
    for group in groups:
        best, worst = min(r["rank_best"] for r in group), max(r["rank_worst"] for r in group)
        if len(group) == 1:
            place = ordinal(best) if best == worst else f"{ordinal(best)} to {ordinal(worst)}"
            found += [{"model": group[0]["model"]}, f" is {place}. "]
        elif len(group) > 5:
            found += [f"Places {best} to {worst} overlap: {len(group)} models. "]
        else:
            overlap = listed([row["model"] for row in group])
            found += [f"Places {best} to {worst} overlap: ", *overlap, ". "]
    return found


def gap_at_the_top(rows: Sequence[Json]) -> Parts:
    """Return how far the first stands above the second, beside how wide intervals are."""
    if len(rows) < 2:
        return ["One model has a rating." if rows else "No model has a rating."]
    first, second = rows[:2]
    gap = first["rating"] - second["rating"]
    found: Parts = [{"model": first["model"]}, f" stands {gap:,.0f} points above "]
    wide = sorted((row["high"] - row["low"]) / 2 for row in rows if row["low"] is not None)
    half = f"; half of the intervals are wider than ±{wide[len(wide) // 2]:,.0f}" if wide else ""
    return [*found, {"model": second["model"]}, f"{half}."]


def of_rounds(rounds: Sequence[Json]) -> Parts:
    """Return how difficulty moved from the first graded round to the last."""
    graded = [one for one in rounds if one["difficulty"]["mean"] is not None]
    if not graded:
        return ["No question was evolved, so none was graded."]
    before, last = graded[0]["before"], graded[-1]
    start = mean(before) if before else graded[0]["difficulty"]["mean"]
    end = last["difficulty"]["mean"]
    moved = "rose" if end > start else "fell" if end < start else "stayed"
    span = f"from {start:.1f} to {end:.1f}" if end != start else f"at {end:.1f}"
    refused = sum(one["gate"]["refused"] for one in rounds)
    tried = refused + sum(one["gate"]["passed"] for one in rounds)
    gate = f"; the gate refused {refused} of {tried} proposals for not being harder"
    return [f"Questions {moved} {span} of 5 in difficulty by round q{last['round']}{gate}."]


def of_pairs(pairs: Sequence[Json], has_battles: bool) -> Parts:
    """Return whether any pair contradicts the ratings."""
    if not pairs:
        return ["No two models have met." if not has_battles else "No pair has been decided."]
    odd = [pair for pair in pairs if "unlike its ratings" in pair["flags"]]
    if len(odd) > 3:
        return [f"{len(odd)} of {counted(len(pairs), 'pair')} contradict the ratings."]
    if odd:
        found: Parts = []
        for place, pair in enumerate(odd):
            joint = "" if not place else " and " if place == len(odd) - 1 else ", "
            found += [joint, {"model": pair["model"]}, " against ", {"model": pair["rival"]}]
        return [*(part for part in found if part), " did not go as the ratings foretell."]
    thin = sum("under 100 battles" in pair["flags"] for pair in pairs)
    few = f"; {thin} of {counted(len(pairs), 'pair')} met fewer than 100 times" if thin else ""
    return [f"No pair contradicts the ratings{few}."]


def of_audit(found: Sequence[Json]) -> Parts:
    """Return how many checks on the judges raise an alarm, pass, or were not made."""
    alarms = sum(one["alarm"] for one in found)
    known = sum(one["value"] is not None for one in found)
    missing = len(found) - known
    rest = f"; {missing} {'was' if missing == 1 else 'were'} not made" if missing else ""
    if not known:
        return ["No check on the judge could be made yet."]
    if alarms:
        raised = "raises an alarm" if alarms == 1 else "raise an alarm"
        return [f"{alarms} of {known} checks on the judge {raised}{rest}."]
    return [f"None of {known} checks on the judge raises an alarm{rest}."]


def of_spending(summary: Mapping[str, Any]) -> Parts:
    """Return calls, tokens, money and time."""
    rows, status = summary["spending"], summary["status"]
    calls = sum(row["calls"] for row in rows)
    if not calls:
        return ["No model has been called yet."]
    read, wrote = (sum(row[of] for row in rows) for of in ("input_tokens", "output_tokens"))
    cost = status["cost_usd"]
    nothing = "nothing" if summary["stand_ins"] else "$0"
    money = f"${cost:,.2f}" if cost else nothing
    if status["unknown_cost"]:
        money += f" known, and {counted(status['unknown_cost'], 'call')} of unknown cost"
    time = spent(summary["run"]["work"]["seconds"])
    return [
        f"{calls:,} calls read {tokens(read)} tokens and wrote {tokens(wrote)} in {time}, "
        f"for {money}."
    ]


def listed(models: Sequence[str]) -> Parts:
    """Return `a, b and c`, each a link."""
    found: Parts = []
    for place, model in enumerate(models):
        joint = "" if not place else " and " if place == len(models) - 1 else ", "
        found += [joint, {"model": model}] if joint else [{"model": model}]
    return found


def ordinal(number: int) -> str:
    """Return `1st`, `2nd`, `11th`."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    end = "th" if 10 <= number % 100 <= 20 else ends.get(number % 10, "th")
    return f"{number}{end}"


def tokens(number: int) -> str:
    """Return a number of tokens as people say it."""
    if number >= 1_000_000:
        return f"{number / 1e6:,.1f} million"
    return f"{number / 1000:,.0f} thousand" if number >= 1000 else str(number)
