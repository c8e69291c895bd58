"""A run as the version wrote it that took a draft in a reply that was cut off for a verdict.

Its judge drafts a verdict for B, argues for A and is cut off; its contestants think in marks that
were not known.
"""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from tests.support.golden import GOLDEN
from tests.support.played import invoke
from tests.support.small_runs import battles_of, play_again
from videoautoarena.agents.calls.replies import BadReply, read_reply
from videoautoarena.agents.prompting.contracts import judge_reply
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.rundir.reader import RUN_FILE, reading_of


@pytest.fixture
def out(tmp_path: Path) -> Path:
    stored = GOLDEN.with_name("run-reading-1.sqlite.xz")
    place = tmp_path / "out"
    place.mkdir()
    (place / RUN_FILE).write_bytes(lzma.decompress(stored.read_bytes()))
    return place


def test_its_replay_reads_as_it_was_read(out: Path) -> None:
    found = play_again(out)
    assert (found.battles, found.others, found.differences) == (3, 0, [])
    assert [battle.verdict for battle in battles_of(out)] == ["b"] * 3
    assert all("<unused94>thought" in (battle.answer_a or "") for battle in battles_of(out))


def test_it_says_in_which_way_it_is_read(out: Path) -> None:
    with Store.open(out / RUN_FILE, write=False) as store:
        assert reading_of(store.manifest()) == 1
    shown = invoke("show", out, battles_of(out)[0].id)
    assert "reading 1" in shown.output


def test_what_begins_now_would_read_its_replies_otherwise(out: Path) -> None:
    battle = battles_of(out)[0]
    with Store.open(out / RUN_FILE, write=False) as store:
        (row,) = [one for one in store.journal.calls(battle.id) if one.nonce.role == "judge"]
    assert read_reply(row.reply or "", judge_reply(2), ending=row.ending, reading=1).verdict == "B"
    with pytest.raises(BadReply, match="cut off"):
        read_reply(row.reply or "", judge_reply(2), ending=row.ending)
