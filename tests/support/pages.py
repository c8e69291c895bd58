"""Parts of the pages in docs/, as tests read them."""

from __future__ import annotations

import re

from docs.generate import DOCS


def section(page: str, heading: str) -> str:
    text = (DOCS / page).read_text()
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, f"{page} has no section {heading!r}"
    return found[1]


def first_column(text: str) -> list[str]:
    """Return what the rows of tables are about; one row may be about several fields."""
    cells = re.findall(r"^\| (`[^|]*?) \|", text, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
