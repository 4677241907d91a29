"""`mqconform adapter check`: tries every part of the protocol on a driver and reports each step to its author.

The check judges the driver, not the queue manager behind it: the driver must answer a valid call with success, in the
shape of the schema. The suites judge whether the answer is right.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

from conformance.adapter import protocol
from conformance.adapter.check_calls import GROUPS, LAST_GROUPS, REPAIRS, CheckStep, DriverCheck, GiveUp
from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.adapter.directory_server import Handlers
from conformance.adapter.errors import DriverFault, NotAccepted
from conformance.suggest import nearest

_SPEED_S = 0.3  # seconds during which calls are counted to measure the speed


def check_adapter(
    connector: str,
    *,
    state_dir: Path,
    in_process: bool = False,
    deadline_ms: int = 5_000,
    hello_ms: int = 10_000,
    patience_ms: int = 2_000,
    handlers: Handlers = MappingProxyType({}),
) -> list[CheckStep]:
    """Check a driver against the protocol.

    state_dir: an empty folder of ours. handlers: how the directory speaks other protocols than JSON-RPC. Raises
    ConnectorError, and DriverUnusable when there is no valid hello or the driver breaks too often.
    """
    client = connect(
        connector, state_dir=state_dir / "state", in_process=in_process, deadline_ms=deadline_ms, hello_ms=hello_ms
    )
    client.directory_handlers = handlers
    with client:
        walk = DriverCheck(client, patience_ms)
        _hello(walk)
        _unknown_method(walk, in_process)
        _walk_groups(walk, GROUPS)
        _walk_groups(walk, REPAIRS)
        _restart(walk)
        _walk_groups(walk, LAST_GROUPS)
        _untried(walk)
        _speed(walk)
        _stop(walk)
        return walk.steps


def _walk_groups(walk: DriverCheck, groups: tuple[Callable[[DriverCheck], None], ...]) -> None:
    for group in groups:
        try:
            group(walk)
        except (GiveUp, NotAccepted):
            continue
        except DriverFault as fault:
            walk.say(group.__name__.replace("_", " "), "wrong", fault.sentence)


def _hello(walk: DriverCheck) -> None:
    hello = walk.client.hello
    walk.say(
        "hello", "ok", f"{hello.name} {hello.version}, {hello.profile}, {hello.clock} clock, protocol {hello.protocol}"
    )
    walk.tried.add("hello")
    known = protocol.methods()
    declared = {
        name if facet == "manager" else f"{facet}.{name}" for facet, names in hello.facets.items() for name in names
    }
    for name in sorted(declared - set(known)):
        close = nearest(name, known)
        walk.say(
            "hello.facets",
            "wrong",
            f"offers {name}, which the protocol lacks" + (f"; did you mean {close}?" if close else ""),
        )
    for facet in protocol.FACETS:
        absent = [
            method.name for method in known.values() if method.facet == facet and not hello.offers(method.full_name)
        ]
        if absent:
            walk.say(facet, "missing", f"not offered, so tests that need it are skipped: {', '.join(absent)}")

    for kind, names in hello.accepts.items():
        told = f"accepts {'only ' + ', '.join(sorted(names)) if names else 'none'}; tests that need more are skipped"
        walk.say(kind.replace("_", " "), "missing", told)


def _unknown_method(walk: DriverCheck, in_process: bool) -> None:
    if in_process:
        return  # The host process answers this. An object is never called with an undeclared method.
    try:
        error = walk.client.probe("mqconform.no_such_method")
    except DriverFault as fault:
        walk.say("unknown method", "wrong", f"{fault.sentence}; it must answer JSON-RPC error -32601 and go on")
        return
    if error["code"] == -32601:
        walk.say("unknown method", "ok", "answered with JSON-RPC error -32601")
    else:
        walk.say("unknown method", "wrong", f"answered error {error['code']}; JSON-RPC has -32601 for a missing method")


def _untried(walk: DriverCheck) -> None:
    broken = sorted({step.what for step in walk.steps if step.state == "wrong"})
    for name in protocol.methods():
        if walk.client.offers(name) and name not in walk.tried | walk.lacking | {"stop"}:
            why = f"after {', '.join(broken)} went wrong" if broken else "because it needs methods that are not offered"
            walk.say(name, "missing", f"offered, but could not be tried {why}")


def _restart(walk: DriverCheck) -> None:
    client = walk.client
    for kill, what in ((False, "graceful restart"), (True, "kill and restart")):
        try:
            made = _queue_to_find(client)
            went = client.restart(kill=kill)
            found = made is None or not client.keeps_state or _opens(client, made)
        except DriverFault as fault:
            walk.say(what, "wrong", f"{fault.sentence}; it must start again on a state folder it has used before")
            continue
        if not went:
            walk.say(what, "wrong", "did not end after stop and the end of its input, and had to be killed")
        elif not client.keeps_state:
            walk.say(what, "ok", "connected again, in a new namespace")
        elif not found:
            walk.say(what, "wrong", f"the queue {made}, made before, is not found again: keep it in hello's state_dir")
        else:
            walk.say(what, "ok", "ended as asked, and said hello again on the same state folder")


def _queue_to_find(client: Client) -> str | None:
    """Create a queue that must survive a restart. Returns its format name, None if the driver cannot create one."""
    if not (client.offers("queues.create") and client.offers("queues.open")):
        return None
    if not client.hello.takes("access", "send"):
        return None
    if client.offers("reset"):
        client.call("reset")
    result = client.call("queues.create", path_name=f"{client.hello.computer}\\private$\\mqconform-restart")
    name: str | None = result.values.get("format_name")
    return name if name is not None and _opens(client, name) else None


def _opens(client: Client, format_name: str) -> bool:
    return client.call("queues.open", format_name=format_name, access="send").ok


def _speed(walk: DriverCheck) -> None:
    good = {step.what for step in walk.steps if step.state == "ok"} - {
        step.what for step in walk.steps if step.state == "wrong"
    }
    method = next((name for name in ("clock.now", "reset") if name in good), None)
    if method is None:
        return
    count, began = 0, time.monotonic()
    try:
        while time.monotonic() - began < _SPEED_S:
            walk.client.call(method)
            count += 1
    except DriverFault as fault:
        walk.say("speed", "wrong", fault.sentence)
        return
    walk.say("speed", "ok", f"{count / (time.monotonic() - began):,.0f} calls of {method} a second")


def _stop(walk: DriverCheck) -> None:
    if not walk.client.offers("stop"):
        walk.client.close()
    elif walk.client.close():
        walk.say("stop", "ok", "ended by itself")
    else:
        walk.say("stop", "wrong", "did not end in time after stop and the end of its input")
