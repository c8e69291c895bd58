"""One document with all that it runs inside, and nothing else that could run."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.runs.views.page.document import (
    LOADING,
    Page,
    assets,
    block,
    document,
    policy,
    safe_json,
)

PAGES: tuple[Page, ...] = ("report", "annotate", "set")


class Read(HTMLParser):
    """What an HTML parser makes of a document: its scripts and styles with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self.metas: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag in ("script", "style"):
            self.found.append((tag, known, ""))
        if tag == "meta" and known.get("http-equiv"):
            self.metas[str(known["http-equiv"])] = str(known["content"])

    def handle_data(self, data: str) -> None:
        if self.found and self.lasttag in ("script", "style") and self.cdata_elem:
            tag, known, before = self.found[-1]
            self.found[-1] = tag, known, before + data


def hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("page", PAGES)
def test_the_policy_names_the_very_bytes_of_the_script_and_the_style(page: Page) -> None:
    head, tail = document(page, place="file", title="<b>", summary={"a": "</script>"})
    read = Read(head + block("x", "abc") + tail)
    known = read.metas["Content-Security-Policy"]
    run = [text for tag, attrs, text in read.found if tag == "script" and "type" not in attrs]
    looks = [text for tag, _, text in read.found if tag == "style"]
    assert [hashed(text) in known for text in (*run, *looks)] == [True, True]
    assert "unsafe" not in known
    assert "default-src 'none'" in known
    assert "require-trusted-types-for 'script'" in known
    assert "trusted-types 'none'" in known
    kept = [json.loads(text) for _, attrs, text in read.found if attrs.get("id") == "summary"]
    assert kept == [{"a": "</script>"}]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_that_it_loads_before_its_script_runs_and_only_where_one_will(
    page: Page,
) -> None:
    head, _ = document(page)
    said = f'<p class="muted loading" role="status">{LOADING[page]}</p>'
    assert 0 < head.index(f'<div id="app"><main class="wide">{said}</main>') < head.index("<script")
    assert "@media(scripting:none){.loading{display:none}}" in assets(page).style


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_no_address_that_a_browser_would_ask(page: Page) -> None:
    head, tail = document(page, place="file")
    outside = re.sub(r"<(script|style)>.*?</\1>", "", head + tail, flags=re.DOTALL)
    assert "src=" not in outside
    assert "href=" not in outside
    assert not re.search(r"@import|url\(", assets(page).style)


def test_a_file_may_connect_to_nobody_and_a_served_page_to_its_server_alone() -> None:
    assert "connect-src" not in policy("report", "file")
    assert "connect-src 'self'" in policy("report", "served")
    assert "http" not in policy("report", "served")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=40),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=20,
    )
)
def test_json_in_a_page_comes_out_as_it_went_in_and_ends_no_element(value: object) -> None:
    text = safe_json(value)
    assert not set("<>&\u2028\u2029") & set(text)
    whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    assert json.loads(text) == json.loads(whole)


def test_figures_that_are_no_numbers_are_refused_where_a_page_is_made() -> None:
    with pytest.raises(ValueError, match="JSON"):
        safe_json({"rating": float("nan")})
