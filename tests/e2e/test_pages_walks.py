"""Through the report of a demo by clicks, keys and links, as a person goes."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runs.analysis.leaderboard.test_effects_by_slice import film_of, fought
from tests.support.browser import Browser, Page
from tests.support.played import invoke, play
from tests.support.reports import (
    Shown,
    asking,
    cursor,
    first_battle,
    listed,
    met,
    open_list,
    report_of,
    winner_of,
)
from tests.support.shown_runs import Shape, write_season

pytestmark = pytest.mark.slow
FACETS = """() => Object.fromEntries([...document.querySelectorAll('.facet')].map((facet) => [
  facet.querySelector('legend').textContent,
  Object.fromEntries([...facet.querySelectorAll('.facet-row')].map((row) =>
    [row.querySelector('.label').textContent, Number(row.querySelector('.num').textContent)]))]))"""
OUTCOMES = {"a": "A winner", "b": "A winner", "tie_good": "Tie, both good"}
OUTCOMES |= {"tie_bad": "Tie, both bad", "split": "Seats disagree", "void": "Void"}


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    with browser.looking() as page:
        yield page


def test_filters_count_what_the_run_holds(page: Page, demo: Shown) -> None:
    open_list(page, demo)
    facets = page.evaluate(FACETS)
    battles = demo.battles
    assert facets["Round"] == Counter(f"round {battle.round + 1}" for battle in battles)
    assert facets["Outcome"] == Counter(OUTCOMES[battle.verdict] for battle in battles)
    users = Counter(label.split()[0] for label, n in facets["User"].items() for _ in range(n))
    assert users == Counter(f"P{battle.persona}" for battle in battles)
    played = Counter(name for battle in battles for name in met(battle))
    assert sorted(facets["Model"].values()) == sorted(played.values())


def test_a_click_on_a_filter_narrows_the_list_and_its_removal_undoes_it(
    page: Page, demo: Shown
) -> None:
    open_list(page, demo)
    page.click(".facet:has(legend:text-is('Round')) .facet-row[title='round 3']")
    assert listed(page) == demo.count(lambda battle: battle.round == 2)
    page.click(".facet:has(legend:text-is('User')) .facet-row >> text=P3")
    assert listed(page) == demo.count(lambda battle: (battle.round, battle.persona) == (2, 3))
    assert page.evaluate(FACETS)["Round"] == Counter(
        f"round {battle.round + 1}" for battle in demo.battles if battle.persona == 3
    )
    page.click(".pill >> nth=0")
    assert listed(page) == demo.count(lambda battle: battle.persona == 3)
    page.click("text=Clear all")
    assert listed(page) == len(demo.battles)


def test_a_link_holds_filters(page: Page, demo: Shown) -> None:
    best, *_, worst = demo.ranked
    open_list(page, demo, asking(model=best, rival=worst, verdict="won"))
    assert listed(page) == demo.count(lambda one: winner_of(one) == best and worst in met(one)) > 0
    open_list(page, demo, asking(model=worst, verdict="lost"))
    lost = demo.count(lambda one: worst in met(one) and winner_of(one) not in (worst, None))
    assert listed(page) == lost > 0
    open_list(page, demo, asking(video=demo.battles[0].video, round=1))
    film = demo.battles[0].video
    assert listed(page) == demo.count(lambda one: (one.video, one.round) == (film, 1))


def test_a_link_to_what_no_battle_has_finds_none(page: Page, demo: Shown) -> None:
    open_list(page, demo, asking(model="nobody", round="abc"))
    assert listed(page) == 0
    assert page.count(".battle-row") == 0


def test_search_finds_words_of_questions_and_ids(page: Page, demo: Shown) -> None:
    wanted = demo.battles[40]
    words = str(wanted.question).split()[:3]
    open_list(page, demo)
    page.press("/")
    page.wait("() => document.activeElement.id === 'search'")
    page.type(" ".join(reversed(words)).upper())
    assert listed(page) == demo.count(
        lambda one: all(w.lower() in f"{one.question} {one.id}".lower() for w in words)
    )
    page.evaluate("() => document.activeElement.select()")
    page.type(wanted.id)
    assert listed(page) == 1
    assert first_battle(page) == wanted.id
    assert page.hash() == asking(q=wanted.id)


def test_the_hardest_and_the_most_surprising_come_first(page: Page, demo: Shown) -> None:
    open_list(page, demo)
    page.click("text=Hardest")
    hardest = max(one.difficulty or 0 for one in demo.battles)
    (first,) = [one for one in demo.battles if one.id == first_battle(page)]
    assert first.difficulty == hardest
    page.click("text=Most surprising")
    (first,) = [one for one in demo.battles if one.id == first_battle(page)]
    loser = next(iter(met(first) - {winner_of(first)}))
    assert demo.ranked.index(str(winner_of(first))) > demo.ranked.index(str(loser))


def test_keys_alone_lead_through_list_and_battles(page: Page, demo: Shown) -> None:
    page.goto(demo.file)
    page.press("b")
    page.see(".battle-row")
    assert page.hash() == "#battles"
    page.press(*"jjjjjk")
    assert cursor(page) == 5
    page.press(*"j" * 30)
    assert cursor(page) == 35
    box = "() => document.querySelector('.cursor').getBoundingClientRect().toJSON()"
    assert 0 < page.evaluate(box)["top"] < page.evaluate("() => innerHeight") - 40
    page.press("Enter")
    page.see(".answers")
    first = page.hash()
    page.press("j")
    page.see(".answers")
    assert page.hash() != first
    assert page.text(".steps .num").split()[0] == "36"
    page.press("Escape")
    page.see(".battle-row")
    assert cursor(page) == 36
    page.press("m")
    page.see(".card")
    page.press("r")
    page.see(".ladder-row")


def test_f_turns_to_the_next_reader_s_frames(page: Page, demo: Shown) -> None:
    page.goto(demo.file, f"#battle={demo.battles[5].id}")
    page.see(".lane")
    on = "() => [...document.querySelectorAll('.lane')].findIndex((x) => x.matches('.on'))"
    before = page.evaluate(on)
    page.press("f")
    assert page.evaluate(on) == (before + 1) % 3
    page.press("f", "f")
    assert page.evaluate(on) == before


def test_question_mark_opens_the_keys_and_escape_closes_them(page: Page, demo: Shown) -> None:
    page.goto(demo.file)
    page.see(".ladder-row")
    is_open = "() => document.querySelector('dialog').open"
    page.press("?")
    assert page.evaluate(is_open)
    page.press("b", "Escape")
    assert not page.evaluate(is_open)
    assert not page.hash().startswith("#battles")


def test_style_control_is_off_until_it_is_wanted_and_says_where_it_cannot_be(
    page: Page, demo: Shown, tmp_path: Path
) -> None:
    films = [film_of("Movies", number) for number in range(60)]
    out = play(tmp_path / "out", fought("Movies", videos=60, each=8), videos=films)
    told = {}
    for shown in (demo, report_of(out, tmp_path / "report.html")):
        page.goto(shown.file)
        page.see(".ladder-row")
        assert page.count(".ladder .ring") == page.count("#ladder [role=status]") == 0
        page.click("#ladder .check")
        told[shown.out] = page.count(".ladder .ring"), page.texts("#ladder [role=status]")
    assert told[out] == (3, [])
    rings, (why,) = told[demo.out]
    assert rings == 0
    assert why.startswith("Style and position bias are not taken out of the ratings")


def test_back_and_forward_go_the_way_that_was_come(page: Page, demo: Shown) -> None:
    page.goto(demo.file)
    page.click(".ladder-row a >> nth=2")
    page.see(".met-row")
    model = page.hash()
    page.click(".met-row >> nth=0")
    page.see(".battle-row")
    page.click(".facet-row[title=Lost]")
    narrowed = page.hash()
    page.click(".battle-row a >> nth=0")
    page.see(".answers")
    battle = page.hash()
    for there in (narrowed, model):
        page.back()
        assert page.hash() == there
    page.back()
    page.see(".ladder-row")
    for there in (model, narrowed, battle):
        page.forward()
        assert page.hash() == there
    page.see(".answers")


def test_back_leads_to_where_one_was_on_a_page(page: Page, demo: Shown) -> None:
    page.goto(demo.file)
    page.see(".ladder-row")
    page.evaluate("() => document.querySelector('.matrix a').scrollIntoView({block: 'center'})")
    page.settle()
    before = page.evaluate("() => scrollY")
    assert before > 0
    page.click(".matrix a >> nth=0")
    page.see(".battle-row")
    page.back()
    page.see(".ladder-row")
    page.settle()
    assert abs(page.evaluate("() => scrollY") - before) < 5


def test_t_turns_the_theme_and_the_page_remembers_it(browser: Browser, demo: Shown) -> None:
    ground = "() => getComputedStyle(document.body).backgroundColor"
    with browser.looking() as page:
        page.goto(demo.file)
        page.see(".ladder-row")
        light = page.evaluate(ground)
        page.press("t", "t")
        dark = page.evaluate(ground)
        assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
        assert light != dark
        page.goto(demo.file, "#models")
        assert page.evaluate(ground) == dark
        page.press("t")
        assert page.evaluate(ground) == light


def test_on_paper_nothing_is_cut_and_no_button_is_left(browser: Browser, demo: Shown) -> None:
    """A4 with its margins is 690 pixels wide."""
    shown = "(css) => [...document.querySelectorAll(css)].filter((x) => x.checkVisibility()).length"
    with browser.looking((690, 1000)) as page:
        page.ask("emulate_media", media="print")
        for fragment in ("#report", f"#battle={demo.battles[5].id}", "#models"):
            page.goto(demo.file, fragment)
            page.see("main")
            page.settle()
            assert page.evaluate(shown, "nav, .tools, .skip, main button.quiet") == 0, fragment
            assert page.evaluate(shown, "main h1") == 1, fragment
            assert page.surplus() <= 0, fragment
        page.goto(demo.file)
        assert page.evaluate(shown, ".ladder-row") == len(demo.ranked) + 1


def test_what_comes_down_is_what_commands_print(browser: Browser, demo: Shown) -> None:
    with browser.looking() as page:
        page.goto(demo.file)
        for name in ("Leaderboard, CSV", "Everything above, JSON", "All battles, JSON lines"):
            page.click(f"text={name}")
        page.wait("() => new Promise((done) => setTimeout(done, 300, true))")
        came = {name: data.decode() for name, data in page.downloads().items()}
    rows = list(csv.DictReader(io.StringIO(came["leaderboard.csv"])))
    assert [row["model"] for row in rows] == demo.ranked
    board = json.loads(invoke("leaderboard", demo.out, "--json").stdout)["models"]
    for row, known in zip(rows, board, strict=True):
        assert float(row["rating"]) == known["rating"]
        assert int(row["battles"]) == known["battles"]
    battles = [json.loads(line) for line in came["battles.jsonl"].splitlines()]
    assert [one["id"] for one in battles] == [one.id for one in demo.battles]
    assert [one["answer_a"] for one in battles] == [one.answer_a for one in demo.battles]
    assert json.loads(came["report.json"])["run"]["seed"] is not None


def test_a_stranger_finds_the_greatest_upset_of_the_demo_and_why_in_three_clicks(
    page: Page, demo: Shown
) -> None:
    """Of the demo the weakest model beats nobody, so this is the most surprising battle."""
    page.goto(demo.file)
    page.click("nav >> text=Battles")
    page.click("text=Most surprising")
    page.click(".battle-row a")
    page.see(".judgings")
    assert "judged better" in page.text(".answers")
    assert len(page.text(".judgings")) > 100
    assert page.complaints() == []


def test_a_stranger_finds_where_the_weakest_beat_the_strongest_in_four_clicks(
    page: Page, tmp_path: Path
) -> None:
    shown = report_of(write_season(tmp_path / "out", Shape(videos=30)), tmp_path / "report.html")
    best, *_, worst = shown.ranked
    page.goto(shown.file)
    page.click(".ladder-row a >> nth=-1")
    page.click(f".met-row[title='{best}']")
    page.click(".facet-row[title=Won]")
    page.click(".battle-row a")
    page.see(".judgings")
    id_ = page.hash().removeprefix("#battle=")
    (battle,) = [one for one in shown.battles if one.id == id_]
    assert winner_of(battle) == worst
    assert met(battle) == {best, worst}
    assert all(len(text) > 20 for text in page.texts(".standards dd"))
