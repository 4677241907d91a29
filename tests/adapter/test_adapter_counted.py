"""A driver that is an object knows a request by its number in its own life: ids go on counting over a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.adapter.connectors import connect
from conformance.adapter.host import counted


def test_the_first_request_of_a_life_is_one() -> None:
    assert counted("messages.cancel", {"request": 9}, 7) == {"request": 3}
    assert counted("messages.cancel", {"request": "9"}, 7) == {"request": "9"}
    assert counted("messages.peek", {"request": 9}, 7) == {"request": 9}


@pytest.mark.parametrize("in_process", [True, False])
def test_a_read_that_waits_after_a_restart_can_be_cancelled(in_process: bool, tmp_path: Path) -> None:
    with connect("embedded", state_dir=tmp_path, in_process=in_process) as client:
        path = f"{client.hello.computer}\\private$\\q"
        created = client.call("queues.create", path_name=path)
        client.restart(kill=True)
        opened = client.call("queues.open", format_name=created.values["format_name"], access="receive")
        read = client.start("messages.receive", queue=opened.values["queue"], timeout_ms=1000, deadline_ms=None)
        client.wait_blocked_or_done(read, 2000)
        assert not read.done
        assert client.call("messages.cancel", request=read.id).ok
        assert read.done
