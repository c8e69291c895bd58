"""Who plays a bench against whom: a cast of which one model is the anchor."""

from __future__ import annotations

from pydantic import JsonValue

from memory.errors import BadInput
from runs.arenafile import ArenaFile
from runs.bench_cast import BenchCast, Wanted, cast_of
from runs.bench_game import Player
from runs.benches import OpenBench
from runs.cast import OFFLINE_CAST
from runs.console import safe
from runs.names import in_full
from runs.rate_columns import quoted
from runs.results import REFERENCES, read_head, result_files
from runs.sealing import digest_of
from runs.trial_judges import arena_file


def cast_against(bench: OpenBench, wanted: Wanted) -> BenchCast:
    """Return who plays a bench, who judges, and who is the anchor if there is one.

    An anchor is a model, whose answers are asked for or were handed in, or by the words `selected`
    and `rejected` those answers of the bench itself.

    Raises:
        BadInput: as `cast_of`, or nobody is left to be held against the anchor.
    """
    file = arena_file(wanted.config)
    wanted = _named_in_full(bench, wanted, file)
    anchor = wanted.anchor
    if anchor is None:
        return cast_of(bench, wanted)
    roster = wanted.models or file.roles.models or OFFLINE_CAST
    names = tuple(name for name in roster if name != anchor)
    if not names:
        raise BadInput(f"{quoted(anchor)} would only meet itself; name other models with --model")
    if anchor in REFERENCES:
        cast = cast_of(bench, wanted._replace(models=names))
        held = Player(anchor, digest_of(["reference", anchor]), given=_references(bench, anchor))
    else:
        cast = cast_of(bench, wanted._replace(models=(*names, anchor)))
        *_, held = cast.players
        cast = cast._replace(players=cast.players[:-1])
    if len(cast.config.judges) > 1:
        raise BadInput("one judge compares with an anchor, no panel; name it with --judge")
    notes = [*cast.notes]
    if not wanted.models and not file.roles.models:
        notes.append("nobody named a model, so the offline stand-ins play")
    if anchor in wanted.models:
        notes.append(f"{safe(anchor)} is the anchor, and is not held against itself")
    return cast._replace(anchor=held, notes=tuple(notes))


def _named_in_full(bench: OpenBench, wanted: Wanted, file: ArenaFile) -> Wanted:
    """Return what was typed with short names of models that the bench knows written whole."""
    run = bench.manifest.run
    heads = [read_head(path, bench) for path in result_files(bench)]
    known = [name for key in ("models", "judges") for name in _listed(run.get(key))]
    known += [
        name for one in bench.items for name in (one.selected_model, one.rejected_model) if name
    ]
    known += [
        name for head in heads for name in (head.model, *(head.judge or "").split(",")) if name
    ]
    known = [*file.models, *REFERENCES, *known]
    return wanted._replace(
        models=tuple(in_full(name, known) for name in wanted.models),
        judges=tuple(in_full(name, known) for name in wanted.judges),
        anchor=wanted.anchor and in_full(wanted.anchor, known),
    )


def _listed(value: JsonValue) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else []


def _references(bench: OpenBench, which: str) -> dict[str, str]:
    return {
        item.qid: item.selected_answer if which == "selected" else item.rejected_answer
        for item in bench.items
    }
