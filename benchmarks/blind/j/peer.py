"""Another queue manager, as far as the proofs of this set need one: raw sockets and the embedded codec."""

from __future__ import annotations

import base64
import json
import socket
import struct
import subprocess
import sys
import time
import uuid
from dataclasses import replace
from pathlib import Path

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import INFINITE
from conformance.embedded.names import NameParser
from conformance.embedded.network import layout as net
from conformance.embedded.network.codec import (
    Codec,
    ConnectionParameters,
    EstablishConnection,
    OrderAckBody,
    SessionAck,
    SessionHeader,
    head,
)
from conformance.embedded.network.incoming import ArrivedReader
from conformance.embedded.packet_write import PacketWriter

SERVE = Path(__file__).with_name("serve.py")
HOST, OWN = "127.0.0.1", "127.0.0.2"
CODEC, READER = Codec(), ArrivedReader()
QUEUES = ("plain", "transactional,transactional", "answers")
PLAIN, TRANSACTIONAL, ANSWERS = 1, 2, 3


class Manager:
    """The queue manager of `serve.py` as a process."""

    def __init__(self, faults=(), arguments=()):
        self.listener = socket.create_server((OWN, 0), backlog=20)
        self.listener.settimeout(8)
        command = [sys.executable, str(SERVE), "--listen", f"{HOST}:0", "--ping-port", "0"]
        command += ["--peer-port", str(self.listener.getsockname()[1]), "--insecure-nacks"]
        for queue in QUEUES:
            command += ["--queue", queue]
        for name in faults:
            command += ["--fault", name]
        self.process = subprocess.Popen(
            [*command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        ready = json.loads(self.process.stdout.readline())["ready"]
        self.port = int(ready["listen"].rpartition(":")[2])
        self.ping_port = int(ready["ping"].rpartition(":")[2])
        self.guid = ready["guid"]
        self.guid_bytes = uuid.UUID(self.guid).bytes_le

    def private(self, number):
        return f"PRIVATE={self.guid}\\{number:08x}"

    def direct(self, name):
        return f"DIRECT=TCP:{HOST}\\private$\\{name}"

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.listener.close()


class Peer:
    """One connection of a queue manager with this identifier, opened or accepted by it."""

    def __init__(self, manager, guid=None, link=None):
        self.manager = manager
        self.guid = guid or str(uuid.uuid4())
        self.guid_bytes = uuid.UUID(self.guid).bytes_le
        self.writer = PacketWriter(NameParser("msmq-4.0"), self.guid)
        self.link = link or socket.create_connection((HOST, manager.port), 5, (OWN, 0))
        self.held = b""
        self.sent = self.recoverable_sent = self.received = self.recoverable = 0
        self.ordinal = int(time.time() * 1000) & 0xFFFFFF

    # The handshake.

    def establish(self, server=bytes(16), system=net.SYSTEM_RESERVED | net.NOT_PINGED, stamp=4711):
        self.link.sendall(
            CODEC.write(EstablishConnection(head(net.ESTABLISH_CONNECTION), self.guid_bytes, server, stamp, system))
        )

    def parameters(self, recoverable=500, ack=20_000, window=64):
        self.link.sendall(CODEC.write(ConnectionParameters(head(net.CONNECTION_PARAMETERS), recoverable, ack, window)))

    def open(self, recoverable=500, ack=20_000, window=64):
        self.establish()
        self.receive()
        self.parameters(recoverable, ack, window)
        self.receive()
        return self

    def accept_handshake(self, guid=None, delay=0.0, client=None):
        """Answer as an acceptor; return the two requests."""
        asked = self.receive()
        time.sleep(delay)
        server = self.guid_bytes if guid is None else guid
        answer = replace(asked, server=server, client=client or asked.client, padding=net.RESPONSE_PADDING)
        self.link.sendall(CODEC.write(answer))
        wanted = self.receive()
        if isinstance(wanted, ConnectionParameters):
            self.link.sendall(CODEC.write(wanted))
        return asked, wanted

    # Packets.

    def message(self, destination, *, transaction=None, **given):
        """Return a user message. transaction: (sequence, number, previous) of it."""
        self.ordinal += 1
        made = {
            "identifier": {"source": self.guid, "ordinal": self.ordinal},
            "destination": destination,
            "sent_time": int(time.time()),
            "time_to_reach_queue": INFINITE,
            "body": base64.b64encode(b"body").decode(),
            **given,
        }
        if transaction is not None:
            sequence, number, previous, *flags = transaction
            made["transaction"] = {
                "sequence_identifier": {"ordinal": sequence & INFINITE, "timestamp": sequence >> 32},
                "sequence_number": number,
                "previous_sequence_number": previous,
                "index": self.ordinal & 0xFFFFF,
                "first": True,
                "last": True,
                "final_ack_required": "final" in flags,
            }
            made["delivery"] = "recoverable"
        return made

    def send(self, made, header=None):
        """Send a message; header: a SessionHeader to carry. Returns it."""
        data = base64.b64decode(self.writer.encode(made))
        self.sent += 1
        self.recoverable_sent += made.get("delivery") == "recoverable"
        if header is not None:
            data = data[:2] + struct.pack("<H", struct.unpack("<H", data[2:4])[0] | lay.BASE_SESSION) + data[4:]
            data += CODEC.session(header)
        self.link.sendall(data)
        return made

    def header(self, **changed):
        bits = (1 << self.recoverable) - 1
        lowest = 1 if bits else 0
        made = SessionHeader(self.received, lowest, bits, self.sent, self.recoverable_sent, 64)
        return replace(made, **changed)

    def ack(self, **changed):
        self.link.sendall(CODEC.write(SessionAck(head(net.SESSION_ACK), self.header(**changed))))

    def order_ack(self, sequence, number):
        body = base64.b64encode(CODEC.order_body(OrderAckBody(sequence, number, number - 1))).decode()
        name = f"PRIVATE={self.manager.guid}\\{net.ORDER_QUEUE_NUMBER:08x}"
        given = {"class": net.ORDER_ACK, "label": net.LABEL, "body": body, "priority": 0, "delivery": "express"}
        return self.send(self.message(name, **given))

    def receive(self, seconds=4.0):
        """Return the next packet: an internal one, a user message as a dictionary, None in vain, "closed"."""
        end = time.monotonic() + seconds
        while True:
            whole = self._size()
            if whole and len(self.held) >= whole:
                data, self.held = self.held[:whole], self.held[whole:]
                return self._read(data)
            left = end - time.monotonic()
            if left <= 0:
                return None
            self.link.settimeout(left)
            try:
                more = self.link.recv(65536)
            except TimeoutError:
                return None
            except OSError:
                return "closed"
            if not more:
                return "closed"
            self.held += more

    def _size(self):
        if len(self.held) < lay.BASE.size:
            return 0
        _, _, flags, _, size, _ = lay.BASE.unpack_from(self.held)
        return size + (lay.SESSION.size if flags & lay.BASE_SESSION and not flags & lay.BASE_INTERNAL else 0)

    def _read(self, data):
        if struct.unpack("<H", data[2:4])[0] & lay.BASE_INTERNAL:
            return CODEC.read(data)
        self.received += 1
        read = READER.message(data)
        self.recoverable += read["delivery"] == "recoverable"
        return read

    def all(self, seconds, kind=object):
        """Return what comes in that time."""
        end, found = time.monotonic() + seconds, []
        while (left := end - time.monotonic()) > 0:
            packet = self.receive(left)
            if packet is None:
                break
            found.append(packet)
            if packet == "closed":
                break
        return [each for each in found if isinstance(each, kind)]

    def own_queue(self, number=0x21):
        return f"PRIVATE={self.guid}\\{number:08x}"

    def close(self):
        self.link.close()


def classes(packets):
    """The classes of the messages among packets."""
    return [each["class"] for each in packets if isinstance(each, dict)]
