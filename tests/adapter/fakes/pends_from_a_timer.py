"""A driver over a blocking API: a thread for each read that may wait, and `pending` when no answer came within 5 ms.

Behind it is the embedded queue manager with a real clock. The timer knows nothing of the API: a read may not stand in
line yet, or be about to be answered. Its answer comes when its thread runs, behind that of the call that ended it.
"""

import json
import subprocess
import sys
import threading

PENDING_S = 0.005
READS = ("messages.receive", "messages.peek", "messages.peek_next", "messages.receive_begin", "objects.invoke")


class Blocking:
    def __init__(self, arguments):
        command = [sys.executable, "-P", "-m", "conformance.embedded", "--stdio", "--clock", "real", *arguments]
        self.manager = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock = threading.Lock()
        self.inside = threading.Lock()
        self.reads = {}  # id -> [the API is entered, answered, the line]

    def write(self, line):
        with self.lock:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()

    def ask(self, line):
        with self.inside:
            self.manager.stdin.write(line)
            self.manager.stdin.flush()

    def answers(self):
        for line in self.manager.stdout:
            message = json.loads(line)
            if message.get("method") == "pending":
                continue
            read = self.reads.get(message.get("id"))
            if read is None:
                self.write(line)
            else:
                read[2] = line
                read[1].set()

    def read(self, number, line):
        entered, answered, _ = read = self.reads[number]
        self.ask(line)
        entered.set()
        if not answered.wait(PENDING_S):
            pending = {"jsonrpc": "2.0", "method": "pending", "params": {"id": number}}
            self.write(json.dumps(pending).encode() + b"\n")
            answered.wait()
        self.write(read[2])

    def run(self):
        listener = threading.Thread(target=self.answers)
        listener.start()
        for line in sys.stdin.buffer:
            request = json.loads(line)
            number, method, params = request["id"], request["method"], request.get("params", {})
            if method in READS and (params.get("timeout_ms") or method == "objects.invoke"):
                self.reads[number] = [threading.Event(), threading.Event(), b""]
                threading.Thread(target=self.read, args=(number, line), daemon=True).start()
                continue
            if method == "messages.cancel" and params["request"] in self.reads:
                self.reads[params["request"]][0].wait()
            self.ask(line)
        self.manager.stdin.close()
        listener.join()


Blocking(sys.argv[1:]).run()
