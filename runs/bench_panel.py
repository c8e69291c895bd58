"""How far the judges of a panel agree on a bench, from the votes that its results keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runs.audit_input import above, finding, percent
from runs.audit_panel import agreement_of
from runs.audit_verdicts import MOST_ABSTENTIONS
from runs.bench_points import videos_of
from runs.benches import OpenBench
from runs.console import safe
from runs.findings import Finding
from runs.results import Result, Vote
from scoring.cells import Ints
from scoring.raters import MISSING
from scoring.shares import measure_share

_CAMPS = {"win": 0, "loss": 1, "tie": 2}


def panel_of(bench: OpenBench, results: Sequence[Result]) -> list[Finding]:
    """Return how far judges agree on a bench; nothing where each ruling is one judge's.

    A case is a ruling: an answer, what it was held against, and the seats.
    """
    voted = [
        (ruling.qid, ruling.votes)
        for result in results
        for ruling in result.rulings
        if ruling.votes
    ]
    judges = list(dict.fromkeys(vote.judge for _, votes in voted for vote in votes))
    if len(judges) < 2:
        return []
    table = np.full((len(voted), len(judges)), MISSING)
    for row, (_, votes) in enumerate(voted):
        for vote in votes:
            table[row, judges.index(vote.judge)] = _CAMPS.get(vote.verdict, MISSING)
    video = videos_of(bench, [qid for qid, _ in voted])
    each = [votes for _, votes in voted]
    return [
        *agreement_of(judges, table, video, case="ruling"),
        *(_abstains(judge, each, video) for judge in judges),
    ]


def _abstains(judge: str, votes: Sequence[Sequence[Vote]], video: Ints) -> Finding:
    said = [next((v.verdict for v in each if v.judge == judge), None) for each in votes]
    asked = np.array([verdict is not None for verdict in said])
    abstained = np.array([float(verdict == "abstain") for verdict in said])
    share, failed = measure_share(abstained[asked], video[asked]), said.count("failed")
    name, behind = safe(judge), f", and failed in {failed}" if failed else ""
    sentence = f"{name} could not tell in {percent(share)} of {share.n} rulings{behind}."
    crosses = above(share, MOST_ABSTENTIONS)
    return finding(f"panel.abstentions.{name}", share, sentence, crosses=crosses)
