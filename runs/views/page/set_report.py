"""A frozen set with its results as one HTML file."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import DIALOGUE, RESULTS, TASK_KINDS
from videoautoarena.runs.bench.format.writer import refuse_within
from videoautoarena.runs.formats.files import whole_file
from videoautoarena.runs.formats.record_json import fields_json, keyed
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.runs.views.page import dialogue_report, task_report
from videoautoarena.runs.views.page.document import document
from videoautoarena.runs.views.page.report import report_file
from videoautoarena.runs.views.page.sentences import as_text

Json = dict[str, Any]


@dataclass(frozen=True)
class WrittenSet:
    """What came of it."""

    SHOWN: ClassVar = ("to", "items", "models", "size_bytes")
    to: Path = field(metadata=keyed("report"))
    """The file that was written."""
    items: int
    """In the set."""
    models: int
    """How many results are in it."""
    size_bytes: int = field(metadata=keyed("bytes"))
    """Of it."""
    unit: str = "item"
    """What one of its items is called."""

    def to_json(self) -> Json:
        """Return it as `arena report --json` prints it."""
        return fields_json(self)

    def as_lines(self) -> list[str]:
        """Return it for a person."""
        what = f"{counted(self.items, self.unit)}, {counted(self.models, 'result')}"
        return [f"{safe(str(self.to))}: {what}, {self.size_bytes / 1e6:,.1f} MB"]


def write_set_report(folder: Path, to: Path | None, *, force: bool) -> WrittenSet:
    """Write the report of the results on a set of tasks or dialogues; calls no model.

    Without a name it lies beside the results, since a set holds nothing but what was sealed.

    Raises:
        BadInput: no such set, one without results, or a file that cannot be written.
    """
    opened = open_bench(folder)
    is_spoken = opened.manifest.kind == DIALOGUE
    if not is_spoken and opened.manifest.kind not in TASK_KINDS:
        raise BadInput(
            f"{folder} is a set of kind {opened.manifest.kind}; reports are of runs, of tasks with "
            "a right answer, and of dialogues"
        )
    kind = dialogue_report if is_spoken else task_report
    summary = kind.summary_of(opened)
    file = report_file(folder / RESULTS, to, force=force)
    refuse_within(folder, file)
    lead = as_text(summary["words"]["lead"], summary["words"]["short"])
    tables = summary.pop("plain")
    head, tail = document(
        "set",
        place="file",
        title=f"{lead} · {folder.name}",
        summary=summary,
        plain=f"<h1>{html.escape(lead)}</h1>{tables}",
    )
    content = (head + tail).encode()
    with whole_file(file) as stream:
        stream.write(content)
    unit = "dialogue" if is_spoken else "item"
    return WrittenSet(file, len(opened.items), summary["set"]["results"], len(content), unit)
