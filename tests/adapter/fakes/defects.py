"""Drivers with one defect each, by their names: `python tests/adapter/fakes/defects.py NAME`."""

import os
import subprocess
import sys
import time
from pathlib import Path

import honest
from honest import Honest


class answers_the_unknown(Honest):
    """Answers success to a method nobody knows."""

    def error(self, number, code, text):
        self.answer(number)


class answers_the_wrong_shape(Honest):
    """Answers success without the member a success must have."""

    def clock_now(self, number, params):
        self.answer(number)


class answers_twice(Honest):
    """Answers a request two times."""

    def clock_now(self, number, params):
        super().clock_now(number, params)
        super().clock_now(number, params)


class answers_unknown_id(Honest):
    """Answers a request that was never made."""

    def clock_now(self, number, params):
        super().clock_now(number + 1000, params)


class answers_with_error(Honest):
    """Answers an MSMQ failure as a JSON-RPC error."""

    def clock_now(self, number, params):
        self.error(number, -32000, "queue not found")


class cannot_send(Honest):
    """Offers send, and fails every one."""

    def messages_send(self, number, params):
        self.answer(number, status=None, failure={"kind": "NotSupported", "text": "read-only"})


class dies_mid_run(Honest):
    """Crashes at its third clock.now."""

    asked = 0

    def clock_now(self, number, params):
        self.asked += 1
        if self.asked == 3:
            print("assertion failed: queue != NULL", file=sys.stderr)
            sys.exit(134)
        super().clock_now(number, params)


class dies_on_relaunch(Honest):
    """Starts once; finding its state folder used, it dies."""

    def hello(self, number, params):
        mark = Path(params["state_dir"]) / "started"
        if mark.exists():
            print("state is corrupt", file=sys.stderr)
            sys.exit(1)
        mark.touch()
        super().hello(number, params)


class endless_line(Honest):
    """Writes a line of 100 MB."""

    def clock_now(self, number, params):
        for _ in range(100):
            sys.stdout.write("x" * 1_000_000)
        sys.stdout.write("\n")


class floods(Honest):
    """Writes events without end."""

    def clock_now(self, number, params):
        while True:
            self.write('{"jsonrpc":"2.0","method":"event","params":{"object":"o1","name":"Arrived"}}')


class floods_stderr(Honest):
    """Writes megabytes to stderr before every answer."""

    def clock_now(self, number, params):
        for _ in range(40):
            sys.stderr.write("x" * 99_999 + "\n")
        super().clock_now(number, params)


class floods_with_large_events(Honest):
    """Writes events of half a megabyte, a thousand of them."""

    def clock_now(self, number, params):
        event = '{"jsonrpc":"2.0","method":"event","params":{"object":"o1","name":"Arrived","arguments":["%s"]}}'
        for _ in range(1000):
            self.write(event % ("x" * 500_000))


class forgets_its_queues(Honest):
    """Keeps nothing in its state folder."""

    def save(self):
        pass


class half_a_line(Honest):
    """Dies in the middle of writing an answer."""

    def clock_now(self, number, params):
        sys.stdout.write('{"jsonrpc":"2.0","id":')
        sys.stdout.flush()
        os._exit(0)


class hangs_mid_run(Honest):
    """Stops answering in the middle of a run, and answers late if it is let live."""

    def clock_now(self, number, params):
        time.sleep(60)
        super().clock_now(number, params)


class leaves_a_child(Honest):
    """Starts a child that outlives it and holds its stdout open; writes the child's number to the state folder."""

    def hello(self, number, params):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
        (Path(params["state_dir"]) / "child").write_text(str(child.pid))
        super().hello(number, params)


class moves_a_child_away(Honest):
    """Starts a child in a group of its own within its session, which the kill of the driver's group does not reach."""

    def hello(self, number, params):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"], process_group=0)
        assert os.getpgid(child.pid) == child.pid
        (Path(params["state_dir"]) / "child").write_text(str(child.pid))
        super().hello(number, params)


class nests_deeply(Honest):
    """Writes JSON nested a hundred thousand levels deep."""

    def clock_now(self, number, params):
        self.write("[" * 100_000)


class never_reads(Honest):
    """Says hello, and then never reads its input again."""

    def hello(self, number, params):
        super().hello(number, params)
        time.sleep(60)


class offers_less_after_a_restart(Honest):
    """Offers fewer methods once it finds its state folder used."""

    def hello(self, number, params):
        used = self.state / params["state_dir"] / "used"
        if used.exists():
            honest.FACETS = {**honest.FACETS, "messages": ["send"]}
        used.touch()
        super().hello(number, params)


class old_and_wordy(Honest):
    """No defect: of protocol 1.0, where a failure of the kind NotExpressible is one like any other."""

    def messages_peek(self, number, params):
        self.answer(number, status=None, failure={"kind": "NotExpressible", "text": "no peeks here"})


class pending_twice(Honest):
    """Says of one request twice that it waits."""

    def clock_now(self, number, params):
        for _ in range(2):
            self.write('{"jsonrpc":"2.0","method":"pending","params":{"id":' + str(number) + "}}")


class prints_bytes(Honest):
    """Writes a line that is not UTF-8."""

    def clock_now(self, number, params):
        sys.stdout.buffer.write(b"\xff\xfe\n")
        sys.stdout.buffer.flush()


class prints_garbage(Honest):
    """Prints a debug line on stdout in the middle of a run."""

    def clock_now(self, number, params):
        print("DEBUG now called")
        super().clock_now(number, params)


class refuses_hello(Honest):
    """Answers hello with a failure."""

    def hello(self, number, params):
        super().answer(number, status=None, failure={"kind": "LicenseError", "text": "the evaluation period is over"})


class serves_the_last_reader(Honest):
    """Says pending in one order and serves waiting reads in the other."""

    def messages_send(self, number, params):
        self.waiting.reverse()
        super().messages_send(number, params)
        self.waiting.reverse()


class waits_in_silence(Honest):
    """Never says that a read waits, and never ends its waiting."""

    def read(self, number, params, takes):
        if params["timeout_ms"] == 0:
            super().read(number, params, takes)


class writes_blank_lines(Honest):
    """Does not read its second request, and writes blank lines meanwhile."""

    def hello(self, number, params):
        super().hello(number, params)
        for _ in range(20_000):
            self.write("\n" * 1000)


class wrong_version(Honest):
    """Chooses a protocol version that was not offered."""

    def answer(self, number, **result):
        super().answer(number, **{**result, **({"protocol": "9.0"} if "protocol" in result else {})})


if __name__ == "__main__":
    globals()[sys.argv[1]]().run()
