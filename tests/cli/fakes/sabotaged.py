"""The embedded implementation behind a driver that goes wrong at every 40th send, in the way its argument names."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from conformance.embedded.driver import EmbeddedDriver


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def answer(number: int, result: dict) -> None:
    write(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}))


def dies(number: int) -> None:
    print("assertion failed: queue != NULL", file=sys.stderr)
    sys.exit(134)


def hangs(number: int) -> None:
    time.sleep(60)


def prints_garbage(number: int) -> None:
    write("Sending message... \x1b[31mdone")


def half_a_line(number: int) -> None:
    sys.stdout.write('{"jsonrpc": "2.0", "id": ')
    sys.stdout.flush()
    sys.exit(0)


def endless_line(number: int) -> None:
    for _ in range(100):
        sys.stdout.write("x" * 1_000_000)
    write("")


def answers_unknown_id(number: int) -> None:
    answer(number + 1000, {"status": 0})


def answers_twice(number: int) -> None:
    """What it answers is right; it is the second time that is not."""
    call(lambda result: [answer(number, result) for _ in range(2)])


def lies_about_types(number: int) -> None:
    answer(number, {"status": "fine", "message": []})


defect = globals()[sys.argv[1]]
driver: EmbeddedDriver | None = None
sends = 0
for line in sys.stdin:
    request = json.loads(line)
    number, method = request["id"], request["method"]
    if driver is None:
        driver = EmbeddedDriver(Path(request["params"]["state_dir"]))
    sends += method == "messages.send"

    def call(reply: Callable[[dict], object], request: dict = request, driver: EmbeddedDriver = driver) -> None:
        pending = {"jsonrpc": "2.0", "method": "pending", "params": {"id": request["id"]}}
        driver.handle(
            request["method"], request["params"], reply, lambda: write(json.dumps(pending)), request=request["id"]
        )

    if method == "messages.send" and sends == 40:
        defect(number)
        sends = 0
        continue
    call(lambda result, number=number: answer(number, result))
    if method == "stop":
        break
