"""A Ray cluster on this machine: a head that plays nothing and nodes that do, killed on demand.

Run by an interpreter that has Ray. Takes a line of JSON for each command and answers with one.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster  # type: ignore[import-not-found,unused-ignore]

SHARED_BYTES = 80 * 2**20
HOST = "127.0.0.1"


def main() -> None:
    """Start the cluster, say where it is, and do what is asked until the input ends."""
    out = os.dup(1)
    os.dup2(2, 1)
    head = {"num_cpus": 0, "include_dashboard": False}
    common: dict[str, Any] = {"object_store_memory": SHARED_BYTES, "node_ip_address": HOST}
    cluster = Cluster(initialize_head=True, head_node_args={**head, **common})
    nodes = [cluster.add_node(num_cpus=1, **common) for _ in range(int(sys.argv[1]))]
    cluster.connect()
    cluster.wait_for_nodes()

    def say(**facts: Any) -> None:
        os.write(out, json.dumps(facts).encode() + b"\n")

    say(address=cluster.address)
    try:
        for line in sys.stdin:
            told = json.loads(line)
            if told["do"] == "kill-node":
                # SIGKILL to the node and all that runs there.
                cluster.remove_node(nodes.pop(told.get("which", 0)), allow_graceful=False)
            elif told["do"] == "add-node":
                nodes.append(cluster.add_node(num_cpus=1, **common))
                cluster.wait_for_nodes()
            say(did=told["do"])
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
