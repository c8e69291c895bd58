"""How far another judge agrees with a run, on a terminal."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from runs.console import safe
from runs.rejudge import Report


def render(report: Report) -> RenderableType:
    """Return each judge's agreement, the confusion of verdicts, and the two boards side by side."""
    if not report["judges"]:
        return Text("nobody has judged the battles of this run again; name a judge with --judge")
    told: list[RenderableType] = [Text(safe(f"note: {mark}")) for mark in report["warnings"]]
    for judge in report["judges"]:
        told += _judge(judge)
    return Group(*told)


def _judge(judge: Report) -> list[RenderableType]:
    lines = [safe(judge["sentence"])]
    if judge["battles"]:
        clear = judge["without_ties"]
        lines += [
            f"Cohen's kappa {figure(judge['kappa'])}, without ties {figure(clear['kappa'])}; "
            "0 is what chance gives, 1 full agreement.",
            f"Where neither sees a tie, they name the same winner in {share(clear['agreement'])} "
            f"of {clear['agreement']['n']}.",
        ]
    lost = [f"{judge[key]} {key}" for key in ("failed", "abstained") if judge[key]]
    if judge["undecided"]:
        lines.append(f"Left out: {judge['undecided']} without a verdict on either side.")
    if lost:
        lines.append(f"Of {judge['judgings']} judgings {' and '.join(lost)}.")
    parts: list[RenderableType] = [Text("\n".join(lines))]
    if judge["battles"]:
        heading = f"\nVerdicts, those of the run down, those of {safe(judge['judge'])} across"
        parts += [Text(heading), _confusion(judge), Text(""), _boards(judge["boards"])]
        parts.append(Text(_order(judge["boards"])))
    return [*parts, Text("")]


def _confusion(judge: Report) -> Grid:
    grid = _grid("run", *_words(judge))
    for word, row in zip(_words(judge), judge["confusion"]["run_by_judge"], strict=True):
        grid.add_row(word, *map(str, row))
    return grid


def _words(judge: Report) -> list[str]:
    return list(judge["confusion"]["words"])


def _boards(boards: Report) -> Grid:
    grid = _grid("model", "run", "95 %", "rank", "other", "95 %", "rank")
    for row in boards["models"]:
        grid.add_row(
            Text(safe(row["model"])),
            *_cells(row, ""),
            *_cells(row, "other_"),
        )
    return grid


def _cells(row: Report, side: str) -> tuple[str, str, str]:
    low, high = row[f"{side}low"], row[f"{side}high"]
    span = "" if low is None or high is None else f"{low:.0f} to {high:.0f}"
    return f"{row[f'{side}rating']:.0f}", span, str(row[f"{side}rank"] or "")


def _grid(first: str, *others: str) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    grid.add_column(first, overflow="fold")
    for title in others:
        grid.add_column(title, justify="right", overflow="fold")
    return grid


def _order(boards: Report) -> str:
    spearman, kendall = boards["spearman"]["value"], boards["kendall"]["value"]
    if spearman is None or kendall is None:
        return "Too few rated models to say how far the two orders agree."
    return (
        f"The two boards rate the same battles; their orders agree with a Spearman of "
        f"{spearman:.2f} and a Kendall of {kendall:.2f} over {len(boards['models'])} models."
    )


def figure(found: dict[str, Any]) -> str:
    """Return a figure with its interval: `0.61 (0.48 to 0.74)`."""
    if found["value"] is None:
        return "unknown"
    return f"{found['value']:.2f} ({found['low']:.2f} to {found['high']:.2f})"


def share(found: dict[str, Any]) -> str:
    """Return a share with its interval: `61.0 % (48.0 to 74.0 %)`."""
    if found["value"] is None:
        return "unknown"
    value, low, high = (f"{100 * found[key]:.1f}" for key in ("value", "low", "high"))
    return f"{value} % ({low} to {high} %)"
