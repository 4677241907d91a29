"""The embedded implementation behind a driver that reads a disputed sentence one way in one test, another in the next.

Each of its answers can be defended, and so can each of its tests: only the run as a whole shows that it has no reading.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from conformance.embedded.driver import EmbeddedDriver
from conformance.spec.constants.hresults import MQ_ERROR_IO_TIMEOUT, MQ_ERROR_MESSAGE_NOT_FOUND


def write(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **value}) + "\n")
    sys.stdout.flush()


class FollowsBothReadings:
    """R-MQDMPR-zero-timeout-status: `by-kind` and `message-not-found` by turns."""

    def __init__(self) -> None:
        self.driver: EmbeddedDriver | None = None
        self.tests = 0

    def handle(self, request: dict[str, Any]) -> None:
        number, method, params = request["id"], request["method"], request["params"]
        self.tests += method == "reset"
        other_face = self.tests % 2 == 1 and params.get("timeout_ms") == 0

        def reply(result: dict[str, Any]) -> None:
            if other_face and result.get("status") == MQ_ERROR_IO_TIMEOUT:
                result = {**result, "status": MQ_ERROR_MESSAGE_NOT_FOUND}
            write({"id": number, "result": result})

        if self.driver is None:
            self.driver = EmbeddedDriver(Path(params["state_dir"]))
        self.driver.handle(
            method, params, reply, lambda: write({"method": "pending", "params": {"id": number}}), request=number
        )


face = FollowsBothReadings()
for line in sys.stdin:
    request = json.loads(line)
    face.handle(request)
    if request["method"] == "stop":
        break
