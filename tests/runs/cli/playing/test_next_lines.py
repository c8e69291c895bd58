"""What `arena demo` says last: what to type next."""

from __future__ import annotations

from pathlib import Path

import pytest

from videoautoarena.runs.cli.playing import simulate


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_what_to_type_next_fits_the_terminal_but_for_commands_to_copy(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulate, "bin_folder", lambda: ".venv/bin/")
    said = "\n".join(simulate.next_lines(Path("arena-out/demo"), columns)).split("\n")
    wide = [line for line in said if len(line) > columns]
    assert all(line.startswith("  .venv/bin/") for line in wide)
    assert max(map(len, said)) <= max(columns, 61)
    assert " ".join(" ".join(said).split()).count("also while a run goes on") == 1
