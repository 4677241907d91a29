"""Stories of management: what an administrator is told, does, and sees of a session that the story plays."""

from __future__ import annotations

from typing import Any

from embedded_stories import FAR, NAME, Teller, of
from embedded_talk import Talk

from conformance.embedded.transfers import STATUS

MACHINE = {"type": "machine"}
HOPS = ["192.0.2.7", "2001:db8::7"]
MULTICAST = "MULTICAST=234.1.1.1:1801"
SYSTEM = "DIRECT=OS:HOST\\system$;"
BOTH = {"positive_journaling": True, "negative_journaling": True}
RECEIVED, PURGED = 0x4000, 0xC001


class Administrator(Teller):
    """Calls of an administrator."""

    def look(self, *names: str) -> None:
        """Everything that is told of these queues."""
        for name in names or (FAR,):
            self("management.get", target={"type": "queue", "format_name": name}, properties=[*range(1, 28)])

    def look_at_machine(self) -> None:
        self("management.get", target=MACHINE, properties=[*range(1, 7)])

    def act(self, action: str, name: str | None = FAR) -> None:
        target = MACHINE if name is None else {"type": "queue", "format_name": name}
        self("management.act", target=target, action=action)

    def step(self, step: str, **more: Any) -> None:
        self("management.connection", format_name=FAR, step=step, **more)

    def connect(self) -> None:
        self.step("in_process", addresses=HOPS)
        self.step("established", addresses=HOPS)

    def transfer(self, **more: Any) -> None:
        self("management.transfer", format_name=FAR, **more)

    def acknowledge(self, kind: str, **more: Any) -> None:
        self("management.acknowledge", format_name=FAR, kind=kind, **more)

    def committed(self, labels: str, **more: Any) -> list[Any]:
        far, transaction = self.talk.open(FAR, "send"), self.begin()
        sent = [self.send(far, label, transaction, **more).get("identifier") for label in labels]
        self.commit(transaction)
        return sent

    def drain_system(self) -> None:
        for name in ("JOURNAL", "DEADLETTER", "DEADXACT"):
            self.few(self.talk.open(SYSTEM + name))

    def wait(self, by_ms: int = 1500) -> None:
        self("clock.advance", by_ms=by_ms)


@of("management")
def the_machine(talk: Talk) -> list[Any]:
    tell = Administrator(talk)
    tell.look_at_machine()
    send, receive = talk.queue("private$\\a")
    for name in ("private$\\b", "open"):
        tell("queues.create", path_name=f"HOST\\{name}")
    tell.send(send, "a", body="AAECAw==")
    far = talk.open(FAR, "send")
    tell.look_at_machine()
    tell.send(far, "b")
    tell("queues.close", queue=far)
    tell.look_at_machine()
    for action in ("disconnect", "CONNECT", "Disconnect", "TIDY", "CONNECT"):
        tell.act(action, None)
        tell.look_at_machine()
    tell.look("DIRECT=OS:HOST\\private$\\a")
    tell.take(receive)
    tell.look_at_machine()
    return tell.seen


@of("management")
def local_queues(talk: Talk) -> list[Any]:
    tell = Administrator(talk)
    send, receive = talk.queue(PROPID_Q_JOURNAL=1)
    tell.look(NAME)
    for label in "abcdef":
        tell.send(send, label, body="AAECAwQFBgc=", positive_journaling=True)
    for _ in range(2):
        tell.take(receive)
    talk.open(f"{NAME};later", "receive")
    tell.look(NAME)
    tell("queues.set", format_name=NAME, properties={"PROPID_Q_JOURNAL": 0})
    tell.look(NAME, f"{NAME};JOURNAL", *(SYSTEM + name for name in ("JOURNAL", "DEADLETTER", "DEADXACT")))
    away, back = talk.queue("private$\\t", PROPID_Q_TRANSACTION=1)
    transaction = tell.begin()
    tell.send(away, "t", transaction)
    tell.commit(transaction)
    tell.take(back, transaction=tell.begin())
    tell("queues.create", path_name="HOST\\open")
    tell.look("DIRECT=OS:HOST\\private$\\t", "DIRECT=OS:HOST\\open")
    tell("queues.close", queue=send)
    tell("queues.close", queue=receive)
    tell.look(NAME)
    tell("queues.delete", format_name=NAME)
    tell.look(NAME)
    return tell.seen


@of("management")
def outgoing_queues(talk: Talk) -> list[Any]:
    tell = Administrator(talk)
    tell.look()
    for name in (FAR, MULTICAST, "DIRECT=OS:elsewhere\\q"):
        handle = talk.open(name, "send")
        tell.send(handle, "m")
        tell.look(name)
    return tell.seen


@of("management")
def steps(talk: Talk) -> list[Any]:
    tell = Administrator(talk)
    tell.send(talk.open(FAR, "send"), "m")
    for step in ("dns_failure", "in_process", "establish_packet_received", "established", "closing", "closed"):
        tell.step(step, addresses=HOPS, error=0x8007274D if step.endswith("failure") else 0)
        tell.look()
        tell.transfer()
        tell.wait()
    for step in STATUS:
        tell.step(step, addresses=HOPS[1:], error=0x80004005)
        tell.look()
    return tell.seen


@of("management")
def a_hold(talk: Talk) -> list[Any]:
    tell = Administrator(talk)
    tell.send(talk.open(FAR, "send"), "m")
    for action in ("PAUSE", "RESUME", "PAUSE"):
        tell.act(action)
        tell.look()
    tell.connect()
    tell.look()
    tell.transfer()
    tell.act("RESUME")
    tell.look()
    tell.connect()
    tell.act("RESUME")
    tell.look()
    tell.connect()
    tell.act("pause")
    tell.look()
    tell.transfer()
    tell.act("resume")
    tell.look()
    return tell.seen


@of("management")
def a_session(talk: Talk) -> list[Any]:
    tell = Administrator(talk)
    far = talk.open(FAR, "send")
    for label in "abcd":
        tell.send(far, label, **(BOTH if label == "b" else {}))
    tell.transfer()
    tell.connect()
    tell.transfer(count=3)
    tell.acknowledge("session", count=2)
    tell.look()
    tell.step("closed")
    tell.look()
    tell.connect()
    tell.transfer()
    tell.acknowledge("session", count=9)
    tell.look()
    tell.drain_system()
    tell.act("DISCONNECT", None)
    tell.send(far, "e")
    tell.transfer()
    return tell.seen


@of("management")
def a_sequence(talk: Talk) -> list[Any]:
    tell = Administrator(talk)
    tell.committed("abcd")
    tell.connect()
    tell.look()
    tell.transfer(count=3)
    tell.look()
    tell.wait()
    tell.acknowledge("session", count=3)
    for number in (1, 1, 2):
        tell.acknowledge("order", sequence_number=number)
        tell.wait()
        tell.look()
    tell.act("EOD_RESEND")
    tell.transfer()
    tell.look()
    tell.wait(30_000)
    tell.transfer()
    tell.look()
    tell.acknowledge("order", sequence_number=4)
    tell.look()
    tell.committed("e")
    tell.transfer()
    tell.look()
    return tell.seen


@of("management")
def source_journals(talk: Talk) -> list[Any]:
    tell = Administrator(talk)
    sent = tell.committed("abcd", **BOTH)
    tell.connect()
    tell.transfer()
    tell.acknowledge("order", sequence_number=4)
    tell.look()
    tell.drain_system()
    for identifier, message_class in zip(sent, (RECEIVED, PURGED, RECEIVED, PURGED), strict=True):
        tell.acknowledge("final", identifier=identifier, **{"class": message_class})
        tell.look()
        tell.drain_system()
    [plain] = tell.committed("e")
    tell.transfer()
    tell.acknowledge("order", sequence_number=1)
    tell.acknowledge("final", identifier=plain, **{"class": PURGED})
    tell.look()
    tell.drain_system()
    return tell.seen


@of("management")
def refusals(talk: Talk) -> list[Any]:
    tell = Administrator(talk)
    talk.queue()
    talk.open(FAR, "send")
    queue = {"type": "queue", "format_name": NAME}
    gone = {"type": "queue", "format_name": NAME + "x"}
    for target, numbers in (
        ({"type": "session"}, [1]), (MACHINE, [1, 7]), (queue, [7, 1]), (queue, [1, 28]), (gone, [1]),
        ({"type": "queue", "format_name": "DIRECT=OS:gone\\q"}, [7, 11]),
    ):  # fmt: skip
        tell("management.get", target=target, properties=numbers)
    for action in ("PAUSE", "RESUME", "EOD_RESEND", "TIDY", "STOP"):
        for name in (NAME, FAR, None, "DIRECT=OS:gone\\q"):
            tell.act(action, name)
            tell.look()
    tell("management.act", target={"type": "session"}, action="CONNECT")
    return tell.seen


@of("management")
def from_elsewhere(talk: Talk) -> list[Any]:
    tell = Administrator(talk)
    talk.queue(PROPID_Q_TRANSACTION=1)
    long = "DIRECT=OS:HOST.local\\private$\\q"
    for number, name, quota in ((1, NAME, 1), (2, long, 100), (2, long, 0), (2, long, 100), (3, NAME, 100)):
        tell("queues.set", format_name=NAME, properties={"PROPID_Q_QUOTA": quota})
        said = {"sequence_number": number, "previous_sequence_number": number - 1}
        said["sequence_identifier"] = {"ordinal": 3 + (name == long), "timestamp": 9}
        message = {"destination": name, "body": "AAAA", "transaction": said}
        message["identifier"] = {"source": "909ea0fc-9078-4445-8f11-394c43cd8907", "ordinal": number}
        packet = tell("packets.encode", message=message).get("packet", "")
        tell("packets.deliver", packet=packet)
        tell.wait()
        tell.look(NAME)
    return tell.seen
