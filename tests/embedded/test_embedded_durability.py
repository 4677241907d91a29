"""What survives: a stop, a new start, and a kill in the middle of work."""

from __future__ import annotations

from pathlib import Path

from embedded_process import Process
from embedded_talk import NAME, Talk


def restarted(talk: Talk, tmp_path: Path) -> Talk:
    talk.driver.close()
    return Talk(tmp_path)


def test_recoverable_messages_and_queues_come_back_in_order(talk: Talk, tmp_path: Path) -> None:
    send, receive = talk.queue(PROPID_Q_LABEL="kept", PROPID_Q_JOURNAL=1)
    for label, priority in (("a", 3), ("b", 7), ("c", 3), ("d", 3)):
        talk.send(send, label, priority=priority, delivery="recoverable")
    talk.send(send, "express")
    assert talk.receive(receive) == "b"
    talk.ok("messages.receive_begin", queue=receive, timeout_ms=0)
    cursor = talk.ok("messages.peek", queue=receive, timeout_ms=0)["message"]
    talk.ok("clock.advance", by_ms=5000)
    now = talk.ok("clock.now")["time_ms"]
    highest = int(cursor["lookup_identifier"])

    again = restarted(talk, tmp_path)
    assert again.ok("clock.now")["time_ms"] >= now
    assert again.ok("queues.get", format_name=NAME, properties=["PROPID_Q_LABEL"])["properties"] == {
        "PROPID_Q_LABEL": "kept"
    }
    receive = again.open()
    assert again.drain(receive) == ["a", "c", "d"]
    assert again.drain(again.open(NAME + ";JOURNAL"))[0] == "b"
    later = again.send(again.open(NAME, "send"), "later")
    assert int(later["lookup_identifier"]) > highest
    again.driver.close()


def test_an_open_transaction_is_undone_at_the_start(talk: Talk, tmp_path: Path) -> None:
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    fill = talk.begin()
    for label in "ab":
        talk.send(send, label, fill)
    talk.ok("transactions.commit", transaction=fill)
    transaction = talk.begin()
    talk.receive(receive, transaction=transaction)
    talk.send(send, "never", transaction)
    talk.ok("transactions.prepare", transaction=transaction)
    again = restarted(talk, tmp_path)
    assert again.drain(again.open()) == ["a", "b"]
    again.driver.close()


def test_time_to_be_received_goes_on_over_a_restart(talk: Talk, tmp_path: Path) -> None:
    send, _ = talk.queue()
    talk.send(send, "short", delivery="recoverable", time_to_be_received=10)
    talk.ok("clock.advance", by_ms=9000)
    again = restarted(talk, tmp_path)
    assert again.ok("queues.counts", format_name=NAME)["messages"] == 1
    again.ok("clock.advance", by_ms=1000)
    assert again.ok("queues.counts", format_name=NAME)["messages"] == 0
    again.driver.close()


def test_reset_is_durable(talk: Talk, tmp_path: Path) -> None:
    send, _ = talk.queue()
    talk.send(send, "a", delivery="recoverable")
    talk.ok("reset")
    again = restarted(talk, tmp_path)
    assert again("queues.open", format_name=NAME, access="receive")["status"] != 0
    again.driver.close()


def test_a_kill_loses_nothing_that_was_answered_and_shows_nothing_half_done(tmp_path: Path) -> None:
    work = Process(tmp_path)
    work("queues.create", path_name="HOST\\private$\\q", properties={"PROPID_Q_TRANSACTION": 1})
    work("queues.create", path_name="HOST\\private$\\r", properties={"PROPID_Q_TRANSACTION": 1})
    first = work("queues.open", format_name=NAME, access="send")["queue"]
    second = work("queues.open", format_name="DIRECT=OS:HOST\\private$\\r", access="send")["queue"]
    taken = work("queues.open", format_name=NAME, access="receive")["queue"]

    # Each transaction puts one message in either queue; the odd ones take the oldest message out of the first again.
    rounds = 60
    handles = [work("transactions.begin")["transaction"] for _ in range(rounds)]
    for number, transaction in enumerate(handles):
        for queue in (first, second):
            work.post("messages.send", queue=queue, message={"label": str(number)}, transaction=transaction)
        if number % 2:
            work.post("messages.receive", queue=taken, timeout_ms=0, transaction=transaction)
        work.post("transactions.commit", transaction=transaction)
    answered = 0
    for number in range(rounds - 20):
        results = [work.read() for _ in range(4 if number % 2 else 3)]
        answered += all(result["status"] == 0 for result in results)
    assert answered == rounds - 20
    work.kill()

    after = Process(tmp_path)

    def labels(name: str) -> list[int]:
        queue = after("queues.open", format_name=name, access="receive")["queue"]
        found = []
        while (answer := after("messages.receive", queue=queue, timeout_ms=0))["status"] == 0:
            found.append(int(answer["message"]["label"]))
        return found

    kept, whole = labels(NAME), labels("DIRECT=OS:HOST\\private$\\r")
    committed = len(whole)
    assert answered <= committed <= rounds
    assert whole == list(range(committed))
    assert kept == list(range(committed // 2, committed))
    after.kill()
