"""Outgoing queues as management shows them: MS-MQDMPR 3.1.1.3, MS-MQMQ 2.3.12.11, 2.3.12.12 and 2.3.12.25.

The harness plays the connection to the destination, step by step (MS-MQQB 3.1.5.2 to 3.1.5.9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.histories.examples import (
    ACT,
    ADDRESS,
    REMOTE,
    acting,
    begin_managed,
    connected,
    of_queue,
    step,
    stored,
    transfer,
)
from conformance.model import Call
from conformance.model.journals import MULTICAST
from conformance.model.management_rows import QUEUE, ROWS, STATUSES

if TYPE_CHECKING:
    from conformance.histories.history import History

CONNECTION = "management.connection"
OTHER, THIRD = "198.51.100.4", "203.0.113.9"  # RFC 5737
IPV6 = "2001:db8::7"  # RFC 3849
SPELLINGS = (
    *("::ffff:192.0.2.7", "2001:db8::198.51.100.4", "2001:db8:0:0:0:0:0:9", "2001:DB8::A", "2001:db8:1:2:3:4:5:6"),
    *("::1", "64:ff9b::203.0.113.9", "fe80::1", "0.0.0.0", "255.255.255.255", "192.0.2.100"),
)
STATE, ROW = "MQDMPR-3.1.1.3.state-", "MQMQ-2.3.12.11.mgmt-queue-state-"
HISTORY = "MQDMPR-3.1.1.3."
LATER = tuple(name for name in STATUSES if name not in ("in_process", "established"))
UNRESOLVED = ("dns_failure", "routing_data_not_available")
SESSION_TYPES = tuple(
    row.shown
    for row in ROWS.values()
    if row.name.removeprefix(QUEUE).startswith(("EOD_NO", "EOD_RE", "EOD_LAST_ACK_", "NEXT", "CONNECTION"))
)


@pytest.fixture
def history(mq: Any, judge: Any, mq_need: Any) -> History:
    return begin_managed(mq, judge, mq_need, CONNECTION)


def send(*messages: str) -> tuple[Call, ...]:
    """Send messages to another computer."""
    return tuple(Call("messages.send", message=message, handle="s1") for message in messages)


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.5.outgoing-inactive",
    "MQDMPR-3.1.7.1.5.outgoing-no-next-hops",
    f"{STATE}inactive",
    f"{ROW}nonactive",
    "MQMQ-2.3.12.4.mgmt-queue-remote-location",
    "MQMQ-2.3.12.7.propid-mgmt-queue-message-count",
    "MQMQ-2.3.12.8.propid-mgmt-queue-bytes-in-queue",
    "MQMQ-2.3.12.11.propid-mgmt-queue-state",
)
def test_a_new_outgoing_queue_is_inactive(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_managed(mq, judge, mq_need)
    history.run(of_queue(judge, REMOTE), *send("a"), of_queue(judge, REMOTE, "MESSAGE_COUNT", "BYTES_IN_QUEUE"))


@pytest.mark.requirement(
    "MQMQ-2.3.12.3.mgmt-queue-type-multicast",
    "MQMQ-2.3.12.4.mgmt-queue-remote-location",
    "MQDMPR-3.1.1.3.multicast",
    "MQDMPR-3.1.7.1.5.outgoing-multicast",
    "MQDMPR-3.1.7.1.5.outgoing-multicast-set",
)
def test_a_queue_to_a_multicast_address_is_told_as_such(mq: Any, judge: Any, mq_need: Any) -> None:
    mq.need("format_names", "multicast")
    history = begin_managed(mq, judge, mq_need)
    history.run(Call("queues.open", name="s2", queue=MULTICAST, access="send"))
    history.run(of_queue(judge, MULTICAST), of_queue(judge, REMOTE), of_queue(judge, MULTICAST, "TYPE"))


@pytest.mark.requirement(
    f"{STATE}waiting",
    f"{STATE}connected",
    f"{STATE}disconnecting",
    f"{STATE}disconnected",
    f"{ROW}waiting",
    f"{ROW}connected",
    f"{ROW}disconnecting",
    f"{ROW}disconnected",
)
def test_the_state_follows_the_connection(history: History, judge: Any) -> None:
    state = of_queue(judge, REMOTE, "STATE")
    for _ in range(2):
        history.run(step("in_process", ADDRESS), state, step("establish_packet_received"), state)
        history.run(step("established", ADDRESS), state, step("closing"), state, step("closed"), state)


@pytest.mark.requirement(f"{STATE}need-validation", f"{ROW}need-validate", f"{STATE}inactive")
@pytest.mark.parametrize("failure", UNRESOLVED)
def test_a_destination_that_is_not_found_needs_validation(history: History, judge: Any, failure: str) -> None:
    """While no message waits, nothing needs an address."""
    state = of_queue(judge, REMOTE, "STATE")
    history.run(step(failure, error=0xC00E0013), state, *send("a"), state, step(failure, error=0xC00E0013), state)


@pytest.mark.requirement(f"{STATE}waiting", f"{STATE}inactive")
@pytest.mark.parametrize("failure", [name for name in LATER if name not in UNRESOLVED])
def test_other_failures_leave_the_state_as_it_is(history: History, judge: Any, failure: str) -> None:
    state = of_queue(judge, REMOTE, "STATE")
    history.run(*send("a"), step(failure, error=1), state, step("in_process", ADDRESS), step(failure, error=2), state)


@pytest.mark.requirement(f"{STATE}on-hold", f"{ROW}onhold", "MQDMPR-3.1.7.2.4.inactive", "MQDMPR-3.1.4.14.pauses")
def test_a_queue_on_hold_stays_so_through_its_connection(history: History, judge: Any, mq_need: Any) -> None:
    mq_need(ACT)
    state = of_queue(judge, REMOTE, "STATE", "NEXTHOPS")
    history.run(acting("PAUSE", REMOTE), state, step("in_process", ADDRESS), state, step("established", ADDRESS), state)
    history.run(step("closing"), state, step("closed"), state, acting("RESUME", REMOTE), state)
    history.run(*connected(), state, acting("PAUSE", REMOTE), state, acting("RESUME", REMOTE), state)


@pytest.mark.requirement(
    f"{HISTORY}next-hops",
    "MQMQ-2.3.12.12.propid-mgmt-queue-nexthops",
    "MQMQ-2.3.12.12.address-rule",
    "MQMQ-2.3.12.12.ip-addr-rule",
    "MQMQ-2.3.12.12.ipv6-addr-rule",
)
def test_next_hops_are_what_is_tried_and_then_what_is_connected(history: History, judge: Any) -> None:
    hops = of_queue(judge, REMOTE, "NEXTHOPS")
    history.run(hops, step("in_process", ADDRESS, OTHER), hops, step("established", OTHER), hops)
    history.run(step("closed"), hops, step("in_process", THIRD, IPV6, ADDRESS), hops, step("established", IPV6), hops)
    history.run(step("closing"), hops, step("closed"), hops)


@pytest.mark.requirement(f"{HISTORY}next-hops", "MQMQ-2.3.12.12.ipv6-addr-rule", "MQMQ-2.3.12.12.ip-addr-rule")
@pytest.mark.parametrize("address", SPELLINGS)
def test_a_next_hop_is_told_however_its_address_is_written(history: History, judge: Any, address: str) -> None:
    hops = of_queue(judge, REMOTE, "NEXTHOPS", "CONNECTION_HISTORY")
    history.run(step("in_process", address, ADDRESS), hops, step("established", address), hops, step("closed"), hops)


@pytest.mark.requirement(
    *(one for name in ("in_process", "established") for one in STATUSES[name][1:]),
    *(one for name in LATER for one in STATUSES[name][1:]),
    *(f"{HISTORY}{word}" for word in ("connection-history", "connection-history-status")),
    *(f"{HISTORY}history-{word}" for word in ("time", "error", "address-list")),
    "MQMQ-2.3.12.25.propid-mgmt-queue-connection-history",
    "MQMQ-2.3.12.25.status-values",
    "MQMQ-2.3.12.25.address-rule",
    "MQMQ-2.3.12.25.ip-address-rule",
)
@pytest.mark.parametrize("later", LATER)
def test_each_step_is_in_the_history(history: History, judge: Any, later: str) -> None:
    mq = history.client
    look = of_queue(judge, REMOTE, "CONNECTION_HISTORY")
    error = 0x8007274D if STATUSES[later][0] >= 0x80000000 else 0
    history.run(look, step("in_process", ADDRESS), look, step(later, error=error), look)
    if mq.offers("clock.advance") and mq.hello.clock == "virtual":
        history.run(Call("clock.advance", by_ms=61_000))
    history.run(step("in_process", OTHER), step("established", OTHER), look, step("closing"), step("closed"), look)


@pytest.mark.requirement(*SESSION_TYPES)
def test_an_outgoing_queue_shows_its_properties(history: History, judge: Any) -> None:
    history.run(*connected(), of_queue(judge, REMOTE), *send("a"), of_queue(judge, REMOTE))


@pytest.mark.requirement(
    f"{STATE}connected", f"{STATE}waiting", f"{STATE}disconnected", "MQMQ-2.3.12.7.propid-mgmt-queue-message-count"
)
def test_messages_are_transferred_over_a_connection_alone(history: History, judge: Any, mq_need: Any) -> None:
    mq_need("management.transfer", "management.acknowledge")
    count = of_queue(judge, REMOTE, "MESSAGE_COUNT", "BYTES_IN_QUEUE")
    history.run(*send("a", "b"), transfer(), step("in_process", ADDRESS), transfer(), step("established", ADDRESS))
    history.run(transfer(1), count, *send("c"), transfer(), count, stored(1), count, transfer(), stored(2), count)
    history.run(
        *send("d"), step("closing"), transfer(), step("closed"), transfer(), *connected(), transfer(), stored(1)
    )
    history.run(count, transfer())


@pytest.mark.requirement(f"{STATE}connected")
def test_what_was_not_acknowledged_is_transferred_again(history: History, mq_need: Any) -> None:
    mq_need("management.transfer", "management.acknowledge")
    history.run(*send("a", "b", "c"), *connected(), transfer(), stored(1), step("closed"), *connected(), transfer())
    history.run(stored(2), transfer(), step("closed"), *connected(), transfer())


@pytest.mark.requirement(f"{HISTORY}connection-history", "MQDMPR-3.1.1.volatile")
def test_a_history_ends_with_the_queue_manager(history: History, judge: Any) -> None:
    if not history.client.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    look = of_queue(judge, REMOTE, "CONNECTION_HISTORY", "STATE", "NEXTHOPS")
    history.run(*send("a"), *connected(), look, Call("restart", kill=False))
    history.run(Call("queues.open", name="s1", queue=REMOTE, access="send"), look)
