"""Tags are kept beside the battles, each once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.store.evidence import QuestionTag
from videoautoarena.memory.store.store import Store


def tag(id_: str, said: str = "yes") -> QuestionTag:
    return QuestionTag.model_validate(
        {
            "id": id_,
            "question": "q",
            "video": "v",
            "text": "Who?",
            "classifier": "c",
            "model": "offline:judge",
            "categories": {"entities": said},
        }
    )


def test_tags_come_back_as_they_were_kept_and_the_first_stands(path: Path) -> None:
    async def put(store: Store) -> None:
        for one in (tag("b"), tag("a"), tag("b", "no")):
            await store.evidence.put_tag(one)

    with Store.create(path, {}) as store:
        asyncio.run(put(store))
    with Store.open(path, write=False) as store:
        assert store.evidence.tags() == [tag("b"), tag("a")]
        with pytest.raises(StoreError, match="opened for reading"):
            asyncio.run(store.evidence.put_tag(tag("c")))
