"""What the tests of pages rely on: a page that does what it must not do is found out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import browser as browsers
from tests.support.browser import NARROW, Browser

pytestmark = pytest.mark.slow
POLICY = "default-src 'none'; script-src 'unsafe-inline'; require-trusted-types-for 'script'"
OFFENCES = {
    "request: https://stranger.example/x.png": "new Image().src = 'https://stranger.example/x.png'",
    "policy: img-src": "new Image().src = 'http://127.0.0.1:9/x.png'",
    "policy: require-trusted-types-for": "document.body.innerHTML = '<b>x</b>'",
    "error: broken": "throw new Error('broken')",
    "warning: odd": "console.warn('odd')",
    "dialog: hello": "alert('hello')",
    "window: ": "open('about:blank')",
}


def page_of(folder: Path, body: str, policy: str = POLICY) -> Path:
    file = folder / "page.html"
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    file.write_text(f"<!doctype html><title>page</title>{meta}<body>{body}")
    return file


@pytest.mark.parametrize("complaint", OFFENCES)
def test_what_a_page_must_not_do_is_noticed(
    browser: Browser, tmp_path: Path, complaint: str
) -> None:
    page = browser.page()
    page.goto(page_of(tmp_path, f"<script>{OFFENCES[complaint]}</script>"))
    page.wait("() => new Promise((done) => setTimeout(done, 50, true))")
    assert any(one.startswith(complaint) for one in page.complaints()), page.complaints()
    page.close()


def test_a_page_that_does_nothing_of_the_kind_is_left_in_peace(
    browser: Browser, tmp_path: Path
) -> None:
    body = "<main style='inline-size: 100px'><a href='#there'>there</a><input></main>"
    with browser.looking(NARROW, "dark") as page:
        page.goto(page_of(tmp_path, body, POLICY + "; style-src 'unsafe-inline'"))
        page.click("text=there")
        assert page.hash() == "#there"
        page.back()
        assert page.hash() == ""
        page.click("input")
        page.type("words")
        assert page.evaluate("() => document.activeElement.value") == "words"
        assert page.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches")
        assert page.surplus() == 0
        assert page.requests() == [(tmp_path / "page.html").as_uri()]


def test_a_page_wider_than_its_window_is_noticed(browser: Browser, tmp_path: Path) -> None:
    page = browser.page(NARROW)
    page.goto(page_of(tmp_path, "<pre>" + "x" * 1000, policy="default-src 'none'"))
    assert page.surplus() > 1000
    page.close()


def test_without_a_browser_pages_are_skipped_and_fail_where_ci_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(browsers, "CHROMIUMS", ("no-such-browser",))
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no-such-browser"):
        browsers.require()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no-such-browser"):
        browsers.require()
