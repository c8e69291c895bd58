"""Names for topics, asked of a model once each through the run's journal; what it says is text."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from videoautoarena.agents.models.registry import check_keys
from videoautoarena.agents.roles.classify import name_topic
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import BadInput, CallFailed
from videoautoarena.memory.store.store import Store
from videoautoarena.memory.store.tags import TAG_SCOPE
from videoautoarena.runs.analysis.categories.tagging import TagOrder, classifying, prompts_with
from videoautoarena.runs.console.progress.events import Listeners, nobody, pass_on
from videoautoarena.runs.console.progress.interrupts import until_done
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.agreement import NO_TRUST, Trust, agreed
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.budget import check_caps
from videoautoarena.runs.run.rundir.caps import kept_caps
from videoautoarena.runs.run.rundir.context import (
    Calling,
    EarlyEnd,
    draining_asker,
    no_frames,
    work_off,
)
from videoautoarena.runs.run.rundir.reader import counted, run_file

LONGEST = 60
"""Characters of a name."""


async def name_topics(
    out: Path,
    topics: Mapping[str, Sequence[str]],
    namer: str,
    *,
    say: Callable[[str], None],
    trust: Trust = NO_TRUST,
) -> dict[str, str]:
    """Return a name for each topic, by the words that stand for it; no two have one name.

    One model call a topic, two where a reply is mended, none where the run's journal has it. What
    could not be named is left out and said. BadInput for a model that cannot be, or where calls
    ended early: the same command goes on.
    """
    with Store.open(run_file(out), write=True) as store:
        kept = RunConfig.of_manifest(store.manifest())
        config, name = classifying(kept, TagOrder(classifier=namer, config=trust.config))
        config = agreed(config, [name], out=out, trust=trust)
        check_caps(config, kept_caps(store))
        model = config.model_of(name)
        if not topics:
            return {}
        check_keys([model])
        if not model.is_offline:
            many = counted(len(topics), "topic")
            say(f"questions of {many} go to {safe(namer)}; no frames, no answers")
        prompts = prompts_with(store, "topic_namer")
        ending = EarlyEnd()
        listeners = Listeners(say, nobody)
        calling = Calling(store, config, no_frames)
        hear = partial(pass_on, listeners=listeners)
        asker = draining_asker(calling, ending, pace=TagOrder(), hear=hear)
        prompter = Prompter(asker, prompts, config.seed)
        said: dict[str, str] = {}
        failed: list[str] = []

        async def ask(words: str) -> None:
            questions = topics[words]
            scope = f"{TAG_SCOPE}topic:{digest(canonical_json([words, *questions]))[:16]}"
            try:
                said[words] = await name_topic(prompter, model, questions=questions, scope=scope)
            except CallFailed as why:
                failed.append(f"{words}: {why}")

        try:
            stopped = await until_done(asker, work_off(topics, ask, workers=8), listeners)
        finally:
            await asker.aclose()
        ending.end(asker, stopped=stopped)
        if len(said) + len(failed) < len(topics):
            raise BadInput("naming topics ended early; to continue, repeat the command")
        for line in failed:
            say(safe(f"not named: {line[:200]}"))
    return distinct({words: said[words] for words in topics if words in said})


def distinct(said: Mapping[str, str]) -> dict[str, str]:
    """Return names on one line, harmless, short and unlike each other; a blank one is left out."""
    names: dict[str, str] = {}
    for words, text in said.items():
        plain = _plain(text)
        if not plain:
            continue
        taken = set(names.values())
        name = plain
        count = 1
        while name in taken:
            count += 1
            name = f"{plain} ({count})"
        names[words] = name
    return names


def _plain(text: str) -> str:
    """Return letters, signs and single blanks of a text, without what turns or hides others."""
    seen = "".join(
        " " if char.isspace() else char
        for char in text
        if char.isspace() or unicodedata.category(char)[0] not in "C"
    )
    return " ".join(seen.split())[:LONGEST].strip()
