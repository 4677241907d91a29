"""The embedded implementation behind a driver that dies in every third `reset`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from conformance.embedded.driver import EmbeddedDriver


def write(message: dict) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


driver: EmbeddedDriver | None = None
resets = 0
for line in sys.stdin:
    request = json.loads(line)
    number, method = request["id"], request["method"]
    if driver is None:
        driver = EmbeddedDriver(Path(request["params"]["state_dir"]))
    resets += method == "reset"
    if resets == 3:
        print("double free or corruption", file=sys.stderr)
        sys.exit(134)
    driver.handle(
        method,
        request["params"],
        lambda result, number=number: write({"id": number, "result": result}),
        lambda number=number: write({"method": "pending", "params": {"id": number}}),
        request=number,
    )
    if method == "stop":
        break
