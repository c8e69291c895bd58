"""What a run says of its settings, its calls and the people who labelled it, to work with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from videoautoarena.runs.api.results import Json, Reported, ReportedBoard, Result, cell, html_table

if TYPE_CHECKING:
    from videoautoarena.runs.analysis.audit.human_agreement import LabelReport
    from videoautoarena.runs.run.rundir.account import RunCosts, Spending, Took
    from videoautoarena.runs.run.rundir.account import Setup as KnownSetup
    from videoautoarena.runs.views.results.report import Report


class Setup(Result):
    """What a run was set up to do: its cast, who plays which part, and by which rules.

    `record` holds it with a type; no address, key or absolute path is in it.
    """

    _found: KnownSetup

    @property
    def record(self) -> KnownSetup:
        """The settings as a frozen record."""
        return self._found

    @property
    def rows(self) -> list[Json]:
        """One row: the whole."""
        return [self.to_json()]

    def to_text(self) -> str:
        """Return it as `arena export --what setup` prints it: one line of JSON."""
        return json.dumps(self._json)

    def _repr_html_(self) -> str:
        rows = [[name, cell(value)] for name, value in self._json.items()]
        return html_table("Settings of the run", ("setting", "value"), rows)


class Costs(ReportedBoard):
    """What the calls of a run took.

    A row is what the calls of one `model` in one `role` took: `calls`, `failed`,
    `input_tokens`, `output_tokens`, `cost_usd` (None where any is unknown, with `unknown_cost` of
    them), and `latency_s` in seconds, its `median` and `p90`.
    """

    _found: RunCosts
    _key = "models"

    @property
    def roles(self) -> tuple[Spending, ...]:
        """What each role cost, all its models together."""
        return self._found.roles

    @property
    def models(self) -> tuple[Spending, ...]:
        """The rows as frozen records."""
        return self._found.models

    @property
    def battles(self) -> Mapping[str, Mapping[str, Took]]:
        """What each battle that counts took, by its id and then by `ROLE:NAME`."""
        return self._found.battles

    def to_text(self) -> str:
        """Return it as `arena export --what costs` prints it: one line of JSON."""
        return json.dumps(self._json)

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.report import Report
        from videoautoarena.runs.views.results.run_page import spending_table

        table = spending_table("calls", "Calls", self._found.models, names=("role", "model"))
        return Report((table,), ())


class Labels(Reported):
    """What people who labelled a run say of its battles, and of its judges.

    A row is what one `labeller` did: `labels`, `ties`, `skipped`, `superseded`, and how often the
    judge `agreed`.
    """

    _found: LabelReport

    @property
    def record(self) -> LabelReport:
        """The whole as a frozen record: votes, findings, and questions by source."""
        return self._found

    @property
    def rows(self) -> list[Json]:
        """A row a labeller, most labels first."""
        return list(self.to_json()["labellers"])

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.labels import labels_report

        return labels_report(self._found)
