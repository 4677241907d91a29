"""adapters/activex-node, the second object model: started as its README says, it speaks the protocol and conforms."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from idioms import EVENTS, LEFT_OUT, NODE, need_node

from conformance.adapter.check import check_adapter
from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.adapter.session import Result
from conformance.run import run
from conformance.verdict import ExitCode, Json

FOLDER = Path(__file__).parents[2] / "adapters" / "activex-node"
METHODS = {"create", "invoke", "get", "query", "release", "advise", "unadvise", "describe"}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    need_node()
    with connect(NODE, state_dir=tmp_path / "state") as opened:
        yield opened


def new(client: Client, name: str) -> Any:
    return client.call("objects.create", **{"class": name}).values["object"]


def invoke(client: Client, target: Any, member: str, *arguments: Json, kind: str = "method") -> Result:
    return client.call("objects.invoke", object=target, member=member, kind=kind, arguments=list(arguments))


def text(value: str) -> Json:
    return {"vt": "BSTR", "value": value}


def number(value: int) -> Json:
    return {"vt": "I4", "value": value}


def opened(client: Client, access: int) -> Any:
    info = new(client, "MSMQQueueInfo")
    invoke(client, info, "PathName", text(".\\private$\\q"), kind="put")
    invoke(client, info, "Create")
    return invoke(client, info, "Open", number(access), number(0)).values["value"]["value"]


def test_it_speaks_the_protocol(tmp_path: Path) -> None:
    need_node()
    steps = check_adapter(NODE, state_dir=tmp_path / "state")
    assert [step for step in steps if step.state == "wrong"] == []
    assert {f"objects.{name}" for name in METHODS} <= {step.what for step in steps if step.state == "ok"}


def test_a_run_of_a_class_conforms(tmp_path: Path) -> None:
    need_node()
    result = run(adapter=NODE, suites="objects", pytest_args=["-k", "mqac_3_9"], out=tmp_path / "out")
    assert result.exit_code == ExitCode.CONFORMS, (tmp_path / "out").as_posix()


def test_every_member_of_the_library_is_implemented() -> None:
    """Each member that a class declares has its function: nothing is found at run time alone."""
    need_node()
    script = """
      const { classes } = require("./interfaces.json"), library = require("./type_library.js");
      const all = { ...require("./application.js"), ...require("./management.js"), ...require("./transactions.js"),
        ...require("./query.js"), ...require("./queue_info.js"), ...require("./queue.js"), ...require("./message.js"),
        ...require("./destination.js"), ...require("./event.js") };
      const lacking = [];
      for (const [name, { interfaces }] of Object.entries(classes))
        for (const each of library.describe(name).interfaces.filter((one) => interfaces.includes(one.name)))
          for (const { kind, name: short } of each.members) {
            const { member } = library.find(name, [], each.name, kind, short);
            const id = `${member.kind} ${member.name}`, own = all[name];
            if (!(id in own.members) && !(id in (own.blocking || {}))) lacking.push(`${name}.${id}`);
          }
      console.log(JSON.stringify(lacking));
    """
    told = subprocess.run(["node", "-e", script], cwd=FOLDER, capture_output=True, text=True, timeout=30, check=True)
    assert json.loads(told.stdout) == []


def test_a_read_waits_and_the_driver_goes_on(client: Client) -> None:
    queue = opened(client, 1)
    waiting = client.start("objects.invoke", object=queue, member="Receive", kind="method", arguments=[])
    assert client.wait_blocked_or_done(waiting, 5_000) and not waiting.done
    assert invoke(client, queue, "IsOpen", kind="get").values["value"] == {"vt": "I2", "value": 1}
    assert invoke(client, queue, "Close").ok
    assert waiting.result(5_000).status == 0xC00E0008


def test_time_passes_in_the_clock_alone(client: Client) -> None:
    queue = opened(client, 1)
    arguments = [number(0), LEFT_OUT, LEFT_OUT, number(2_000)]
    waiting = client.start("objects.invoke", object=queue, member="Receive", kind="method", arguments=arguments)
    assert client.wait_blocked_or_done(waiting, 5_000)
    client.call("clock.advance", by_ms=1_999)
    assert not waiting.done
    client.call("clock.advance", by_ms=1)
    assert waiting.result(5_000).status == 0xC00E001B


def test_arguments_are_coerced_as_automation_does(client: Client) -> None:
    message = new(client, "MSMQMessage")
    assert invoke(client, message, "Priority", {"vt": "I2", "value": 5}, kind="put").ok
    assert invoke(client, message, "Priority", kind="get").values["value"] == number(5)
    assert invoke(client, message, "Priority", {"vt": "DISPATCH", "value": None}, kind="put").status == 0x80020005
    assert invoke(client, message, "Priority", number(1), number(2), kind="put").status == 0x8002000E
    assert invoke(client, message, "Priority").status == 0x80020003
    assert invoke(client, message, "Prioritie", kind="get").status == 0x80020006


def test_an_older_interface_has_the_older_name_of_a_member(client: Client) -> None:
    queue = opened(client, 1)
    names = {"IMSMQQueue": 0xC00E0088, "IMSMQQueue4": 0xC00E0088, "IMSMQMessage": 0x80004002}
    arguments = [number(0), LEFT_OUT, LEFT_OUT, number(0)]
    for interface, status in names.items():
        result = client.call(
            "objects.invoke",
            object=queue,
            member="Receive",
            kind="method",
            arguments=arguments,
            interface=interface,
        )
        assert result.status == status, interface


def test_a_success_that_is_not_zero_is_told(client: Client) -> None:
    assert invoke(client, new(client, "MSMQDestination"), "Close").status == 1


def test_each_sink_is_told_once(client: Client) -> None:
    queue, event = opened(client, 32), new(client, "MSMQEvent")
    for _ in range(2):
        assert client.call("objects.advise", object=event, sink="events", iid=EVENTS).ok
    cookie = client.call("objects.advise", object=event, sink="events", iid=EVENTS).values["cookie"]
    assert client.call("objects.unadvise", object=event, cookie=cookie, iid=EVENTS).ok
    assert client.call("objects.unadvise", object=event, cookie=cookie, iid=EVENTS).status == 0x80040200
    arguments = [{"vt": "DISPATCH", "value": event}, number(0), number(0)]
    assert client.call(
        "objects.invoke", object=queue, member="EnableNotification", kind="method", arguments=arguments
    ).ok
    client.call("clock.now")
    assert [each.name for each in client.events()] == ["ArrivedError", "ArrivedError"]


def test_an_event_is_fired_by_hand_and_not_after_its_release(client: Client) -> None:
    queue, event = opened(client, 32), new(client, "MSMQEvent")
    assert client.call("objects.advise", object=event, sink="events", iid=EVENTS).ok
    target = {"vt": "DISPATCH", "value": queue}
    assert invoke(client, event, "FireArrivedEvent", target, number(2)).ok
    assert invoke(client, event, "FireArrivedErrorEvent", target, number(5), number(0)).ok
    client.call("clock.now")
    assert [each.name for each in client.events()] == ["Arrived", "ArrivedError"]
    invoke(client, queue, "EnableNotification", {"vt": "DISPATCH", "value": event}, number(0), number(1000))
    assert client.call("objects.release", objects=[event]).ok
    client.call("clock.advance", by_ms=2000)
    assert client.events() == []


def test_no_file_is_long() -> None:
    assert [file.name for file in FOLDER.glob("*.js") if len(file.read_text().splitlines()) > 500] == []
