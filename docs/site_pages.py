"""What the site has besides docs/: README as its first page, CONTRIBUTING and CHANGELOG.

Hooks of MkDocs (mkdocs.yml). Links are written for who reads the repository; here they are turned
to the pages of the site, and what is no page of it becomes plain text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
ADDED = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}
"""Pages of the site by the file of the repository that each is."""
_PAGE_OF = {file: page for page, file in ADDED.items()}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)#\s]*)(#[^)\s]*)?\)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that lie beside docs/."""
    for page, file in ADDED.items():
        files.append(File.generated(config, page, content=(ROOT / file).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Page, files: Files, **_: object) -> str:
    """Turn the links of a page to where they lead on the site."""
    here = ADDED.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def turned(found: re.Match[str]) -> str:
        mark, words, path, anchor = found.groups()
        target = posixpath.normpath(posixpath.join(posixpath.dirname(here), path))
        uri = _PAGE_OF.get(target, target.removeprefix("docs/"))
        if files.get_file_from_path(uri) is None:
            return words
        link = posixpath.relpath(uri, posixpath.dirname(page.file.src_uri) or ".")
        return f"{mark}[{words}]({link}{anchor or ''})"

    return _LINK.sub(turned, markdown)
