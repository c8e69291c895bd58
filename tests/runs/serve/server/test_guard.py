"""Who is answered, who is not, and what every answer carries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, Router

from tests.support.served import Site, Visitor, site
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.serve.server.guard import COOKIE_S, MOST_BYTES

POLICY = "default-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
USED = "this link was used, and"
FIRST = "opens again only in the browser that opened it first"
SINCE = "this browser has opened another one since"
NEW_LINK = "start the command again"


async def page(request: Request) -> Response:
    headers = {"Content-Security-Policy": "default-src *", "X-Own": "kept"}
    return PlainTextResponse(f"for {request.state.session}", headers=headers)


async def vote(request: Request) -> Response:
    return JSONResponse({"got": await request.json(), "who": request.state.session})


async def seen(request: Request) -> Response:
    return JSONResponse({"cookie": request.headers.get("cookie"), "query": request.url.query})


async def wrong(request: Request) -> Response:
    raise BadInput("the run is gone; start another one")


async def broken(request: Request) -> Response:
    raise RuntimeError("secret key " + "-".join(("sk", "abcdefghijkl" * 3)))


ROUTES = [
    Route("/", page),
    Route("/api/vote", vote, methods=["POST"]),
    Route("/api/seen", seen),
    Route("/api/wrong", wrong),
    Route("/api/broken", broken),
]


@pytest.fixture(scope="module")
def guarded() -> Iterator[Site]:
    with site(Router(ROUTES), policy=POLICY, posts=frozenset({"/api/vote"})) as opened:
        yield opened


def test_a_link_opens_in_one_browser_and_becomes_a_cookie_that_no_script_reads(
    guarded: Site,
) -> None:
    async def run() -> None:
        sessions = guarded.sessions
        visitor = Visitor(guarded.sessions.port)
        link = sessions.link("ann")
        entered = await visitor.enter(link)
        assert (entered.status, entered.headers["location"]) == (303, "/")
        cookie = entered.headers["set-cookie"]
        assert cookie.startswith(f"arena-{visitor.port}=")
        # The browser may be closed meanwhile.
        assert cookie.endswith(f"; HttpOnly; SameSite=Strict; Path=/; Max-Age={COOKIE_S}")
        token = link.partition("=")[2]
        assert token not in cookie
        assert (await visitor.ask("/")).text == "for ann"
        # Whoever has come in may reload the link; nobody else may use it again.
        assert (await visitor.enter(link)).status == 303
        assert (await visitor.ask("/")).text == "for ann"
        stranger = Visitor(visitor.port)
        again = await stranger.enter(link)
        assert (again.status, again.text) == (403, f"{USED} {FIRST}; {NEW_LINK}\n")
        assert "set-cookie" not in again.headers
        assert (await stranger.ask("/")).status == 403

    guarded.runner.run(run())


def test_links_name_who_comes_and_the_later_one_counts(guarded: Site) -> None:
    async def run() -> None:
        sessions = guarded.sessions
        visitor = Visitor(guarded.sessions.port)
        links = {name: sessions.link(name) for name in ("ann", "bob")}
        assert len(set(links.values())) == 2
        await visitor.enter(links["ann"])
        other = Visitor(visitor.port)
        await other.enter(links["bob"])
        assert (await visitor.ask("/")).text == "for ann"
        assert (await other.ask("/")).text == "for bob"
        visitor.cookie = f"theirs=1; {other.cookie}"
        assert (await visitor.ask("/")).text == "for bob"
        # A link leads to nobody else's page.
        back = await visitor.enter(links["ann"])
        assert (back.status, back.text) == (403, f"{USED} {SINCE}; {NEW_LINK}\n")
        assert (await visitor.enter(links["bob"])).status == 303

    guarded.runner.run(run())


def test_looking_ahead_uses_up_no_link(guarded: Site) -> None:
    async def run() -> None:
        sessions = guarded.sessions
        visitor = Visitor(guarded.sessions.port)
        link = sessions.link()
        path = link.partition(f":{visitor.port}")[2]
        assert (await visitor.ask(path, "HEAD")).status == 403
        assert (await visitor.enter(link)).status == 303

    guarded.runner.run(run())


def test_a_link_of_an_earlier_start_says_so_and_leads_whoever_is_in_to_the_page(
    guarded: Site,
) -> None:
    async def run() -> None:
        link = f"http://127.0.0.1:{guarded.sessions.port}/?token=of-earlier"
        stranger = await Visitor(guarded.sessions.port).enter(link)
        said = "this link is of an earlier start; open the one printed last\n"
        assert (stranger.status, stranger.text) == (403, said)
        assert (await (await guarded.visitor("ann")).enter(link)).status == 303

    guarded.runner.run(run())


@pytest.mark.parametrize(
    "query", ["?token=", "?token=abc", "?token=%00", "?token=%C3%A9", "?TOKEN=abc", "?a=b", ""]
)
def test_a_stranger_is_refused_whatever_the_token(guarded: Site, query: str) -> None:
    async def run() -> None:
        sessions = guarded.sessions
        visitor = Visitor(guarded.sessions.port)
        sessions.link("ann")
        for path in (f"/{query}", f"/api/seen{query}"):
            assert (await visitor.ask(path)).status == 403

    guarded.runner.run(run())


def test_a_token_opens_nothing_but_the_page(guarded: Site) -> None:
    async def run() -> None:
        sessions = guarded.sessions
        visitor = Visitor(guarded.sessions.port)
        token = sessions.link("ann").partition("=")[2]
        assert (await visitor.ask(f"/api/seen?token={token}")).status == 403
        cookie = f"arena-{visitor.port}={token}"
        assert (await visitor.ask("/", headers={"Cookie": cookie})).status == 403

    guarded.runner.run(run())


def test_a_cookie_of_another_server_of_the_machine_opens_nothing(guarded: Site) -> None:
    async def run() -> None:
        visitor = await guarded.visitor("ann")
        value = visitor.cookie.partition("=")[2]
        for cookie in (f"arena-{visitor.port + 1}={value}", f"arena={value}", value):
            assert (await visitor.ask("/", headers={"Cookie": cookie})).status == 403
        both = f"arena-{visitor.port}=planted; arena-{visitor.port}={value}"
        assert (await visitor.ask("/", headers={"Cookie": both})).status == 200

    guarded.runner.run(run())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:PORT"}, 200),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Host": "127.0.0.1:PORT.evil.example"}, 421),
        ({"Host": "evil.example:PORT"}, 421),
        ({"Host": "LOCALHOST:PORT"}, 421),
        ({"Host": "0.0.0.0:PORT"}, 421),
        ({"Host": "[::1]:PORT"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "https://127.0.0.1:PORT"}, 403),
        ({"Origin": "http://localhost:PORT"}, 403),
        ({"Origin": "http://127.0.0.1:PORT"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({}, 200),
    ],
)
def test_only_our_own_pages_at_our_own_name_are_answered(
    guarded: Site, headers: Mapping[str, str], status: int
) -> None:
    answer = guarded.ask("/", **{name.replace("-", "_"): value for name, value in headers.items()})
    assert answer.status == status
    if status != 200:
        assert "ann" not in answer.text
        assert "access-control-allow-origin" not in answer.headers


def test_two_hosts_or_none_are_refused(guarded: Site) -> None:
    async def run() -> None:
        visitor = await guarded.visitor("ann")
        host = f"Host: 127.0.0.1:{visitor.port}\r\n"
        rest = f"Cookie: {visitor.cookie}\r\nConnection: close\r\n\r\n"
        raw = f"GET / HTTP/1.1\r\n{host}Host: evil.example\r\n{rest}"
        assert (await visitor.send(raw.encode())).status in (400, 421)
        assert (await visitor.send(f"GET / HTTP/1.0\r\n{rest}".encode())).status == 421
        absolute = f"GET http://evil.example/ HTTP/1.1\r\n{host}{rest}"
        assert (await visitor.send(absolute.encode())).status == 404

    guarded.runner.run(run())


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST", "ODD"])
def test_pages_are_read_and_nothing_else(guarded: Site, method: str) -> None:
    answer = guarded.ask("/", method)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "path",
    [
        "/../etc/passwd",
        "/api/../seen",
        "/./api/seen",
        "/api/seen/",
        "//api/seen",
        "/%2e%2e/etc/passwd",
        "/api/%2e%2e/seen",
        "/api%2fseen",
        "/api/s%65en",
        "/api\\seen",
        "/api/seen%00",
        "/api/seen;x",
        "*",
        "api/seen",
    ],
)
def test_a_path_that_climbs_or_is_encoded_leads_nowhere(guarded: Site, path: str) -> None:
    answer = guarded.ask(path)
    assert answer.status in (400, 404)
    assert "cookie" not in answer.text


def test_what_is_posted_is_short_json_from_our_own_page(guarded: Site) -> None:
    body = json.dumps({"vote": 1}).encode()
    good = guarded.ask("/api/vote", "POST", body=body)
    assert json.loads(good.body) == {"got": {"vote": 1}, "who": "ann"}
    charset = guarded.ask(
        "/api/vote", "POST", body=body, Content_Type="application/json; charset=utf-8"
    )
    assert charset.status == 200
    for kind in ("text/plain", "application/x-www-form-urlencoded", "", None):
        assert guarded.ask("/api/vote", "POST", body=body, Content_Type=kind).status == 415
    for origin in (None, "null", "http://evil.example"):
        assert guarded.ask("/api/vote", "POST", body=body, Origin=origin).status == 403
    assert guarded.ask("/api/vote").status == 405


def test_a_body_is_bounded_however_it_is_sent(guarded: Site) -> None:
    assert (
        guarded.ask("/api/vote", "POST", body=b'"' + b"x" * (MOST_BYTES - 2) + b'"').status == 200
    )
    assert (
        guarded.ask("/api/vote", "POST", body=b'"' + b"x" * (MOST_BYTES - 1) + b'"').status == 413
    )
    chunk = b"%x\r\n%s\r\n" % (MOST_BYTES + 1, b"x" * (MOST_BYTES + 1))
    chunked = {"Transfer_Encoding": "chunked", "Content_Length": None}
    assert guarded.ask("/api/vote", "POST", body=chunk + b"0\r\n\r\n", **chunked).status == 413
    assert guarded.ask("/", "GET", body=b"hello").status == 413


def test_every_answer_carries_the_headers_and_a_page_cannot_change_them(guarded: Site) -> None:
    for answer in (
        guarded.ask("/"),
        guarded.ask("/none"),
        guarded.ask("/", Host="evil.example"),
        guarded.ask("/api/wrong"),
        guarded.ask("/", "PUT"),
    ):
        assert answer.headers["content-security-policy"] == f"{POLICY}; frame-ancestors 'none'"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "server" not in answer.headers
    assert guarded.ask("/").headers["x-own"] == "kept"


def test_a_browser_that_looks_for_an_icon_gets_none(guarded: Site) -> None:
    answer = guarded.ask("/favicon.ico")
    assert (answer.status, answer.body) == (204, b"")
    assert guarded.ask("/favicon.ico", Host="evil.example").status == 421


def test_a_page_hears_of_no_cookie(guarded: Site) -> None:
    assert json.loads(guarded.ask("/api/seen?a=b").body) == {"cookie": None, "query": "a=b"}


def test_what_goes_wrong_is_said_in_the_terminal_without_keys(
    guarded: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    known = guarded.ask("/api/wrong")
    assert (known.status, known.text) == (503, "the run is gone; start another one\n")
    assert capsys.readouterr() == ("", "the run is gone; start another one\n")
    bug = guarded.ask("/api/broken")
    assert (bug.status, bug.text) == (500, "this is a bug; the terminal says more\n")
    said = capsys.readouterr().err
    assert "RuntimeError" in said
    assert "sk-abcdef" not in said
