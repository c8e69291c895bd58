"""Money goes to the battles of the run first, then to newcomers; to these alone where they play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.played import battle, play, slot, video
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.runs.tournament.forecast import spend_order_of


def places(out: Path, *, newcomers_only: bool) -> dict[str, int]:
    with Store.open(out / RUN_FILE, write=False) as store:
        config = RunConfig.of_manifest(store.manifest())
        return dict(
            spend_order_of(config, store, in_waves=True, newcomers_only=newcomers_only).places
        )


def test_battles_over_stored_answers_come_last_and_alone_where_nothing_else_is_played(
    tmp_path: Path,
) -> None:
    film = video()
    done, *own = (slot(film, round_) for round_ in range(3))
    late = slot(film, 3, ordinal=4, generation=2).model_copy(update={"id": f"{film.id}-p1-r3"})
    guest = done.model_copy(update={"id": f"{done.id}+1", "generation": 1, "ordinal": 3})
    config = resolve(
        RunRequest(models=("offline:hawk", "offline:owl", "offline:mole"), rounds=4)
    ).config
    joined: dict[str, Any] = {"joined": {"offline:mole": 1}, "guests": {"offline:mole": (1,)}}
    settings = config.model_copy(update=joined).manifest("0", {})
    out = play(tmp_path / "o", [battle(done)], slots=[done, *own, guest, late], settings=settings)
    order = [own[0].id, own[1].id, late.id, guest.id]
    assert places(out, newcomers_only=False) == {film.id: 0, **{s: k for k, s in enumerate(order)}}
    assert places(out, newcomers_only=True) == {film.id: 0, guest.id: 0}
