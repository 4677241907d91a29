"""The honest driver as a TCP server: one connection at a time, a namespace each. Prints its port."""

import json
import socket
from pathlib import Path

from honest import FACETS, Honest


class OverTcp(Honest):
    def __init__(self, shared: dict[str, dict], stream) -> None:
        super().__init__()
        self.shared = shared
        self.stream = stream

    def write(self, line: str) -> None:
        self.stream.write(line + "\n")
        self.stream.flush()

    def hello(self, number, params) -> None:
        self.state = Path("/dev/null")
        facets = {**FACETS, "manager": [*FACETS["manager"], "attach"]}
        self.answer(
            number, protocol="1.0", name="over-tcp", version="1", profile="msmq-4.0", computer="HOST", facets=facets,
            clock="virtual",
        )  # fmt: skip

    def attach(self, number, params) -> None:
        self.queues = self.shared.setdefault(params["namespace"], {})
        self.answer(number)

    def run(self) -> None:
        for line in self.stream:
            request = json.loads(line)
            getattr(self, request["method"].replace(".", "_"))(request["id"], request["params"])


server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
namespaces: dict[str, dict] = {}
while True:
    connection, _ = server.accept()
    with connection, connection.makefile("rw", encoding="utf-8", newline="\n") as stream:
        OverTcp(namespaces, stream).run()
