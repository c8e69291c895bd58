"""Who follows a run of another process hears what its file holds, as it came."""

from __future__ import annotations

from pathlib import Path

from tests.support.played import battle, play, slot, video
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.console.progress.events import BattleSettled, Listeners, RunEvent
from videoautoarena.runs.console.progress.follow import Follower
from videoautoarena.runs.run.rundir.reader import RUN_FILE


def test_battles_are_heard_in_the_order_in_which_they_settled(tmp_path: Path) -> None:
    places = [slot(video(), round_) for round_ in range(3)]
    out = play(tmp_path / "out", [], slots=places)
    heard: list[RunEvent] = []
    follower = Follower(out, Listeners(lambda _line: None, heard.append))
    follower.look()
    settled = [places[place] for place in (2, 0, 1)]
    with Store.open(out / RUN_FILE, write=True) as store:
        for one in settled:
            run_async(store.put_battle(battle(one)))
    follower.look()
    found = [event.battle.id for event in heard if isinstance(event, BattleSettled)]
    assert found == [one.id for one in settled]
