"""A server of one's own whose models answer at once what `benchmarks.canned` makes up.

`python -m benchmarks.served SECONDS` waits so long before each answer, prints its address and ends
with its standard input.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from langchain_core.messages import AIMessage, BaseMessage

from benchmarks.canned import USAGE, reply
from tests.support.loopback import Manners, serving
from videoautoarena.agents.prompting.contracts import FORMAT_LINE
from videoautoarena.memory.records.records import Role

COUNTED = {
    "input_tokens": USAGE.input_tokens,
    "output_tokens": USAGE.output_tokens,
    "total_tokens": (USAGE.input_tokens or 0) + (USAGE.output_tokens or 0),
}


def answer(_model: str, messages: Sequence[BaseMessage]) -> AIMessage:
    """Reply as the role that the last text asks for."""
    content = messages[-1].content
    last = content if isinstance(content, str) else content[-1]
    text = last if isinstance(last, str) else str(last["text"])
    role = text.rpartition(FORMAT_LINE)[2].split("\n")[0] if FORMAT_LINE in text else "contestant"
    return AIMessage.model_validate(
        {"content": reply(cast(Role, role), text), "usage_metadata": COUNTED}
    )


def main() -> None:
    """Serve until the standard input ends."""
    wait_s = float(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        manners = Manners(latency_s=(wait_s, wait_s))
        with serving(Path(folder) / "log", manners, brain=answer) as server:
            print(server.openai_url, flush=True)
            sys.stdin.read()


if __name__ == "__main__":
    main()
