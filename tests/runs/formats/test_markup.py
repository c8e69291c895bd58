"""Tables for pasting: every form holds against names that were made to break it."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.played import battle, invoke, lineage, manifest, play, slot, video
from videoautoarena.runs.formats.files import comma_separated, quote_formula, unquote_formula
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.views.results.forms import marked_up
from videoautoarena.runs.views.results.leaderboard import ROW_FIELDS
from videoautoarena.runs.views.results.report import Column, Report, Sentence, Table, Verbatim

EVIL = "=cmd()|' a&b_c%d\\e\"f\ng\x1b[2J\u202e{x}$y#~^<b>`*[z](http://h)--"
TEXT = st.text(st.characters(exclude_categories=()), max_size=12)


def pasted(form: str, name: str, rating: int, *notes: str, caption: str = "Results",
           of: str = "both") -> str:  # fmt: skip
    columns = (Column("model", "model", "name"), Column("rating", "rating", "rating"))
    table = Table(of, caption, columns, ({"model": name, "rating": rating},))
    return marked_up(Report((table,), tuple(Sentence((Verbatim(one),)) for one in notes)), form)


class Cells(HTMLParser):
    """The texts of a table's body, and every tag, as a browser reads them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.tags.add(tag)
        if tag == "td":
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.texts and data.strip():
            self.texts[-1] += data


@given(TEXT.map(str.strip))
def test_every_text_comes_out_of_html_as_it_is_shown_elsewhere(name: str) -> None:
    cells = Cells(pasted("html", name, 1))
    assert cells.texts == [safe(name).strip(), "1"]
    assert cells.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}


@pytest.mark.parametrize(
    "evil", [EVIL, "</td><script>x</script>", "&lt;b&gt; &#60;", "<!-- <![CDATA["]
)
def test_html_shows_markup_as_text(evil: str) -> None:
    cells = Cells(pasted("html", evil, 1))
    assert cells.texts == [safe(evil), "1"]
    assert "script" not in cells.tags


@given(st.text("'=-+@ x\t", max_size=6))
def test_a_quote_before_a_formula_can_be_taken_off_again(text: str) -> None:
    cell = quote_formula(text)
    assert unquote_formula(cell) == text
    assert cell in (text, f"'{text}")
    assert not cell.lstrip().startswith(("=", "+", "-", "@"))


def test_markdown_is_a_table_with_its_figures_on_the_right() -> None:
    text = "| model | rating |\n| --- | ---: |\n| hawk | 1200 |"
    assert pasted("markdown", "hawk", 1200) == text


def test_latex_has_the_rules_of_booktabs_a_short_caption_a_label_and_its_notes_below() -> None:
    text = pasted("latex", "hawk", 1200, "50 % of it.", caption="A & B")
    body = text.split("\\toprule\n")[1].split("\\bottomrule")[0]
    assert body == "model & rating \\\\\n\\midrule\nhawk & 1200 \\\\\n"
    assert "\\begin{tabular}{lr}" in text
    assert "\\caption{A \\& B}\n\\label{tab:both}\n\\begin{tabular}" in text
    _, below = text.split("\\end{tabular}\n")
    told = r"\parbox{\linewidth}{\footnotesize 50 \% of it.}"
    assert below == f"\\par\\smallskip\n{told}\n\\end{{table}}"
    assert pasted("latex", "hawk", 1200).endswith("\\end{tabular}\n\\end{table}")


def test_a_label_holds_what_tex_reads_as_it_is() -> None:
    assert "\\label{tab:by-questionkind}\n" in pasted("latex", "hawk", 1, of="by-question_kind}é")


@pytest.mark.parametrize("by", [[], ["--by", "round"], ["--by", "pair"]])
def test_every_latex_table_is_titled_in_a_few_words_and_can_be_referred_to(
    by: list[str], tmp_path: Path
) -> None:
    text = invoke(
        "leaderboard", play(tmp_path / "out", lineage(video())), "--format", "latex", *by
    ).output
    (caption,) = re.findall(r"^\\caption\{(.*)\}$", text, re.M)
    (label,) = re.findall(r"^\\label\{tab:([a-z-]+)\}$", text, re.M)
    assert 3 < len(caption.split()) < 12
    assert label not in ("", "results")
    assert text.index("parbox") > text.index("end{tabular}")


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("a&b_c%d#e", r"a\&b\_c\%d\#e"),
        ("a\\b", r"a\textbackslash{}b"),
        ("{a}$^~", r"\{a\}\$\textasciicircum{}\textasciitilde{}"),
        ("[a]*", "{[}a]{*}"),
        ("gpt-4--x''", "gpt-4-{}-x'{}'"),
        ("a\n\x1b", r"a\textbackslash{}x0a\textbackslash{}x1b"),
    ],
)
def test_latex_prints_a_name_as_it_is_written(name: str, escaped: str) -> None:
    assert f"\n{escaped} & 1 \\\\\n" in pasted("latex", name, 1)


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("a|b", r"a\|b"),
        ("a\\|b", r"a\\\|b"),
        ("<img>&amp;", r"\<img\>\&amp;"),
        ("[a](http://h)", r"\[a\](http\://h)"),
        ("*a*_b_`c`~d~$e$", r"\*a\*\_b\_\`c\`\~d\~\$e\$"),
        ("a\nb\x1b", r"a\\x0ab\\x1b"),
    ],
)
def test_markdown_shows_a_name_as_it_is_written(name: str, escaped: str) -> None:
    assert pasted("markdown", name, 1).splitlines()[2] == f"| {escaped} | 1 |"


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-1", "@sum", " =1", "\u00a0=1"])
def test_a_spreadsheet_finds_no_formula_in_a_name(name: str) -> None:
    (row,) = list(csv.reader(io.StringIO(comma_separated(["model"], [[name]]))))[1:]
    assert row[0].startswith("'")


def test_figures_stay_figures_and_what_is_missing_stays_empty() -> None:
    assert comma_separated(["a", "b", "c"], [[-24.5, None, 'x,"y"']]) == ('a,b,c\n-24.5,,"x,""y"""')


@given(name=TEXT)
def test_any_name_is_one_cell_of_one_row(name: str) -> None:
    rows = list(csv.reader(io.StringIO(comma_separated(["m", "n"], [[name, 1]]))))
    assert [len(row) for row in rows] == [2, 2]
    lines = pasted("markdown", name, 1).split("\n")
    assert len(lines) == 3
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", lines[2])) == 3
    body = pasted("latex", name, 1).split("\\midrule\n")[1].split("\\bottomrule")[0]
    assert body.count("\n") == 1
    assert len(re.findall(r"(?<!\\)&", body)) == 1
    assert all(ord(char) >= 32 for line in (*lines, body[:-1]) for char in line)


@pytest.fixture
def evil_run(tmp_path: Path) -> Path:
    played = battle(slot(video(), 0), model_a=EVIL, question=EVIL)
    cast = {name: {"model": "openai:x"} for name in (EVIL, "owl", "examiner", "judge")}
    return play(tmp_path / "out", [played], settings=manifest(models=[EVIL, "owl"], cast=cast))


@pytest.mark.parametrize("by", [[], ["--by", "round"]], ids=["whole", "sliced"])
@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
def test_no_form_lets_a_name_through_raw(evil_run: Path, form: str, by: list[str]) -> None:
    result = invoke("leaderboard", evil_run, "--format", form, *by)
    assert result.exit_code == 0
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", result.output)
    assert "cmd()" in result.output


def test_csv_of_a_board_has_stable_columns(evil_run: Path) -> None:
    text = invoke("leaderboard", evil_run, "--format", "csv").output
    head, first, *_ = csv.reader(io.StringIO(text))
    assert tuple(head) == ROW_FIELDS
    assert first[1].startswith("'=cmd()|' a&b_c%d\\e\"f\\x0ag\\x1b[2J\\u202e")


def test_json_is_the_short_way_to_say_format_json(evil_run: Path) -> None:
    for words in ([], ["--by", "format"]):
        short = invoke("leaderboard", evil_run, "--json", *words).output
        assert short == invoke("leaderboard", evil_run, "--format", "json", *words).output
    assert json.loads(short)["by"] == "format"


@pytest.mark.parametrize("command", ["leaderboard", "battles"])
def test_two_forms_at_once_are_refused(evil_run: Path, command: str) -> None:
    result = invoke(command, evil_run, "--json", "--format", "csv")
    assert result.exit_code == 2
    assert "contradict each other" in result.output


def test_battles_are_given_as_csv_too(evil_run: Path) -> None:
    text = invoke("battles", evil_run, "--format", "csv").output
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["model_b"], row["verdict"], row["round"]) == ("owl", "a", "0")
    assert row["question"].startswith("'=cmd()")
    for form in ("json", "jsonl"):
        assert invoke("battles", evil_run, "--format", form).output == (
            invoke("battles", evil_run, f"--{form}").output
        )
