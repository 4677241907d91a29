"""Tests of an implementer's own, beside those of mqconform. Run them with the implementation named:

pytest examples/test_orders.py --mq-adapter 'stdio:./my-driver'

`mq` is the implementation, reset for each test; `queue` a new queue, open to send and to receive; `judge` takes
verdicts.
"""

import base64

import pytest


def text(message):
    return base64.b64decode(message["body"]).decode()


def send(mq, queue, body, **attributes):
    message = {"body": base64.b64encode(body.encode()).decode(), **attributes}
    assert mq.call("messages.send", queue=queue["send"], message=message).ok


def receive(mq, queue):
    result = mq.call("messages.receive", queue=queue["receive"], timeout_ms=0)
    return result.values["message"] if result.ok else None


# The marker says which requirement the test is about: it holds if the test passes, and is broken if an assertion fails.
@pytest.mark.requirement("MQDMPR-3.1.1.2.arrival-order")
def test_orders_come_as_they_were_placed(mq, queue):
    for order in ("first", "second", "third"):
        send(mq, queue, order)
    assert [text(receive(mq, queue)) for _ in range(3)] == ["first", "second", "third"]


# A test about several requirements says of each whether it holds.
@pytest.mark.requirement("MQDMPR-3.1.1.2.priority-before-arrival", "MQDMPR-3.1.1.12.label-unchanged")
def test_an_express_order_overtakes(mq, queue, judge):
    send(mq, queue, "slow", label="slow lane", priority=1)
    send(mq, queue, "fast", label="fast lane", priority=7)
    first = receive(mq, queue)
    judge.holds("MQDMPR-3.1.1.2.priority-before-arrival", text(first) == "fast", expected="fast", actual=text(first))
    judge.holds(
        "MQDMPR-3.1.1.12.label-unchanged", first["label"] == "fast lane", expected="fast lane", actual=first["label"]
    )


# What a driver cannot do is skipped, and the requirement is reported as not offered.
@pytest.mark.requirement("MQDMPR-3.1.1.12.recoverable-survives")
def test_orders_survive_a_restart(mq, queue, mq_need):
    mq_need("messages.receive", "queues.open")
    if not mq.keeps_state:
        pytest.skip("the driver keeps nothing over a restart")
    send(mq, queue, "kept", delivery="recoverable")
    mq.restart(kill=True)
    opened = mq.call("queues.open", format_name=queue["format_name"], access="receive")
    kept = receive(mq, {"receive": opened.values["queue"]})
    assert kept is not None and text(kept) == "kept"
