"""Drivers that crash, hang, fork, hold pipes, or make a state folder that is hard to remove."""

import fcntl
import os
import random
import signal
import socket
import threading
import time
from pathlib import Path

import base


class crashes_before_hello(base.Driver):
    """Exits with code 1 and a long Python traceback on stderr before it has read anything."""
    def run(self):
        base.guard()
        self.deep(200)

    def deep(self, n):
        return self.deep(n - 1) if n else {}["the driver's own mistake"]


class exits_at_once_with_code_zero(base.Driver):
    """Ends with exit code 0 before it has read anything, as if all had gone well."""
    def run(self):
        os._exit(0)


class hangs_before_hello(base.Driver):
    """Reads nothing and writes nothing for 170 s, deaf to SIGTERM and SIGINT."""
    def run(self):
        base.guard()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        time.sleep(170)


class crashes_in_hello_after_half_of_it(base.Driver):
    """Writes half of its answer to hello and ends by SIGSEGV."""
    def before(self, number, name, params):
        base.push(b'{"jsonrpc":"2.0","id":1,"result":{"status":0,"protocol":"1.1","name":"ha')
        os.kill(os.getpid(), signal.SIGSEGV)


class crashes_in_every_reset(base.Driver):
    """Says a good hello and ends by SIGABRT in every reset."""
    def do_reset(self, number, params):
        os.abort()


class hangs_in_its_fifth_reset(base.Driver):
    """Answers four resets and never the fifth, in each of its lives."""
    def do_reset(self, number, params):
        if self.count["reset"] == 5:
            time.sleep(170)
        return super().do_reset(number, params)


class crashes_now_and_then(base.Driver):
    """Ends at a random moment, about once in 40 requests, by a random signal or exit code, and without a fixed seed."""
    def before(self, number, name, params):
        if self.asked > 5 and random.SystemRandom().random() < 0.025:
            way = random.SystemRandom().choice([signal.SIGKILL, signal.SIGTERM, signal.SIGPIPE, signal.SIGUSR1, signal.SIGXCPU, 0])
            if way:
                signal.signal(way, signal.SIG_DFL) if way != signal.SIGKILL else None
                os.kill(os.getpid(), way)
            os._exit(random.SystemRandom().choice([0, 1, 2, 3, 4, 5, 130, 255]))


class crashes_in_every_restart(base.Driver):
    """Behaves perfectly until it is started a second time on the same state folder; then it ends before hello is answered."""
    def do_hello(self, number, params):
        result = super().do_hello(number, params)
        return os._exit(7) if self.restarted else result


class hangs_in_every_restart(base.Driver):
    """Behaves perfectly until it is started a second time on the same state folder; then it never answers hello and ignores the end of its input."""
    def do_hello(self, number, params):
        result = super().do_hello(number, params)
        if self.restarted:
            time.sleep(170)
        return result


class is_another_one_after_a_restart(base.Driver):
    """After a restart on the same state folder it has another name, profile, computer, clock, protocol version and fewer facets."""
    def hello(self, params):
        result = super().hello(params)
        if self.restarted:
            result.update(protocol="1.0", name="another", profile="msmq-1.0", computer="ELSEWHERE", clock="virtual", slack_ms=0)
            result.pop("accepts", None)
            result["facets"] = {"manager": ["hello"], "clock": ["now", "advance"], "transactions": ["begin", "commit"]}
        return result


class chooses_a_version_nobody_offered(base.Driver):
    """Answers hello with protocol 9.9, and is right in everything else."""
    def hello(self, params):
        return {**super().hello(params), "protocol": "9.9"}


class hangs_in_stop(base.Driver):
    """Never answers stop, ignores the end of its input and every signal it can ignore."""
    def started(self):
        for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGALRM, signal.SIGXCPU}:
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass

    def do_stop(self, number, params):
        pass

    def ended(self):
        time.sleep(170)


class floods_when_it_is_told_to_stop(base.Driver):
    """Answers stop correctly, then writes up to 1 GB to stdout and stderr at once, and again when its input ends or SIGTERM comes."""
    def started(self):
        signal.signal(signal.SIGTERM, lambda *_: self.ended())

    def do_stop(self, number, params):
        self.answer(number, {"status": 0})
        self.ended()

    def ended(self):
        threading.Thread(target=base.flood, args=(b"still here\n" * 50000, 1 << 30, 2), daemon=True).start()
        base.flood(b'{"jsonrpc":"2.0","id":1,"result":{"status":0}}\n' * 20000)


class stops_itself_with_sigstop(base.Driver):
    """Sends SIGSTOP to itself at its twentieth request, so that it is neither dead nor alive; a child kills it after 100 s if nobody else has."""
    def before(self, number, name, params):
        if self.asked == 20:
            mine = os.getpid()

            def end():
                for _ in range(100):
                    time.sleep(1)
                    if os.getppid() != mine:
                        return
                os.kill(mine, signal.SIGKILL)

            base.child(end, 110)
            os.kill(mine, signal.SIGSTOP)


class pokes_its_parent_with_signals(base.Driver):
    """Sends its parent, before each answer, signals that nobody dies of (SIGCHLD, SIGWINCH, SIGURG, SIGCONT), fifty of each."""
    def after(self, number, name, result):
        for which in (signal.SIGCHLD, signal.SIGWINCH, signal.SIGURG, signal.SIGCONT) * 50:
            if self.asked < 300 and os.getppid() > 1:
                os.kill(os.getppid(), which)
        return result


class leaves_a_child_that_holds_its_pipes(base.Driver):
    """Forks a child in its own process group that keeps stdin, stdout and stderr open for 60 s and ignores SIGTERM and SIGHUP; the driver itself stops as asked."""
    def started(self):
        def stay():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            time.sleep(60)

        base.child(stay, 60)


class leaves_a_daemon_in_a_new_session(base.Driver):
    """Starts a grandchild in a session of its own which holds all three pipes for 100 s; at most 30 of them live at a time."""
    def started(self):
        base.child(lambda: time.sleep(100), 100, daemon=True)


class leaves_a_daemon_that_goes_on_answering(base.Driver):
    """Crashes at every 50th request, and leaves a daemon behind that goes on writing answers and events into the old stdout for 60 s."""
    def before(self, number, name, params):
        if self.asked == 50:

            def talk():
                for n in range(6000):
                    self.line(id=number + n // 20, result={"status": 0})
                    self.event()
                    time.sleep(0.01)

            base.child(talk, 60, daemon=True)
            os._exit(1)


class crashes_and_leaves_its_pipes_with_a_daemon(base.Driver):
    """Crashes at its 30th request, while a silent daemon in another session keeps stdout open for 110 s, so that the end of the pipe never comes."""
    def before(self, number, name, params):
        if self.asked == 30:
            base.child(lambda: time.sleep(110), 110, daemon=True)
            os.kill(os.getpid(), signal.SIGKILL)


class forks_a_storm(base.Driver):
    """Forks up to 28 children at its tenth request, half of them daemons in sessions of their own, which sleep for 90 s."""
    def before(self, number, name, params):
        if self.asked == 10 and self.first("storm"):
            for many in range(28):
                base.child(lambda: time.sleep(90), 90, daemon=many % 2 == 0)


class forks_children_that_fork_on(base.Driver):
    """Keeps a chain alive: each child forks its successor in a new session, ends at once, and so has another number every 300 ms, for 60 s."""
    def started(self):
        def chain():
            for _ in range(200):
                time.sleep(0.3)
                if os.fork():
                    os._exit(0)
                base.guard(100, watch=False)
                os.setsid()

        base.child(chain, 100, daemon=True)


class forks_a_twin_on_the_same_pipes(base.Driver):
    """Forks at its tenth request, and both processes go on reading the same stdin and answering on the same stdout, each with half of the truth."""
    def before(self, number, name, params):
        if self.asked == 10 and base.alive() < 20 and os.fork() == 0:
            base.guard()


class closes_its_output_and_lives_on(base.Driver):
    """Closes stdout at its 15th request and goes on reading its input, for as long as there is any."""
    def before(self, number, name, params):
        if self.asked == 15:
            os.close(1)
            while os.read(0, 65536):
                pass
            time.sleep(170)


class closes_its_input_and_lives_on(base.Driver):
    """Closes stdin after its 15th answer, so that the next request meets a broken pipe, and lives on."""
    def before(self, number, name, params):
        if self.asked == 15:
            self.answer(number, {"status": 0, **({"format_name": "DIRECT=OS:HOST\\x"} if name == "queues.create" else {})})
            os.close(0)
            time.sleep(170)


class stops_reading_its_input(base.Driver):
    """Makes its input pipe as small as it gets and reads no more after 15 requests, so that a large request blocks the one who writes it; it sends events meanwhile."""
    def started(self):
        try:
            fcntl.fcntl(0, 1031, 4096)  # F_SETPIPE_SZ
        except OSError:
            pass

    def before(self, number, name, params):
        while self.asked >= 15:
            self.event()
            time.sleep(0.2)


class makes_its_pipes_nonblocking(base.Driver):
    """Sets O_NONBLOCK on stdin, stdout and stderr, whose descriptions it may share with others, and is correct otherwise."""
    def started(self):
        for pipe in (0, 1, 2):
            os.set_blocking(pipe, False)


class makes_its_state_folder_2500_deep(base.Driver):
    """Makes a chain of 2,500 folders in its state folder at its first hello, too deep for a recursive delete and for an absolute path."""
    def do_hello(self, number, params):
        result = super().do_hello(number, params)
        if self.first("deep"):
            home = os.getcwd()
            os.chdir(self.state)
            for _ in range(2500):
                os.mkdir("d")
                os.chdir("d")
            os.chdir(home)
        return result


class makes_5000_files_with_odd_names(base.Driver):
    """Makes 5,000 empty files in its state folder, with line feeds, escape sequences, bytes that are no UTF-8, leading dashes and 255 bytes in their names."""
    def do_hello(self, number, params):
        result = super().do_hello(number, params)
        if self.first("many"):
            odd = [b"-rf %d", b"\xff\xfe%d", b"a\nb%d", b"\x1b[2J%d", b"<b>%d", b"%d.json", b"state-%d.new", b"l" * 240 + b"%d", b" %d ", b"..%d"]
            for n in range(5000):
                os.close(os.open(os.fsencode(self.state) + b"/" + odd[n % len(odd)] % n, os.O_CREAT | os.O_WRONLY, (0o600, 0)[n % 2]))
        return result


class fills_its_state_folder_with_links_and_pipes(base.Driver):
    """Puts links to themselves, to the folder they are in and to nothing into its state folder, beside FIFOs and sockets that block whoever opens them."""
    def do_hello(self, number, params):
        result = super().do_hello(number, params)
        if self.first("links"):
            home = os.getcwd()
            os.chdir(self.state)
            for name, there in (("self", "self"), ("loop", "."), ("nothing", "/nonexistent/x"), ("a", "b"), ("b", "a"), ("log", "fifo.log")):
                os.symlink(there, name)
            for name in ("fifo.log", "fifo.json", "run.ndjson", "lock"):
                os.mkfifo(name)
            with socket.socket(socket.AF_UNIX) as pipe:
                pipe.bind("socket")
            os.chdir(home)
        return result


class locks_its_state_folder(base.Driver):
    """Makes folders nobody may read or enter in its state folder, and takes all rights from the state folder itself after hello (root is not stopped by it)."""
    def do_hello(self, number, params):
        self.state = os.path.abspath(params["state_dir"])
        os.chmod(self.state, 0o700)
        result = super().do_hello(number, params)
        if self.first("locked"):
            for n in range(5):
                os.makedirs(Path(self.state, f"locked{n}", "inside"))
                os.chmod(Path(self.state, f"locked{n}", "inside"), 0)
                os.chmod(Path(self.state, f"locked{n}"), (0, 0o100, 0o200, 0o400, 0o500)[n])
        os.chmod(self.state, 0)
        return result


class makes_sparse_files_of_terabytes(base.Driver):
    """Makes files of up to 8 TB without content in its state folder, which take no room unless somebody copies or reads them."""
    def do_hello(self, number, params):
        result = super().do_hello(number, params)
        for name in ("core", "driver.log", "queues.json", "state.db"):
            with Path(self.state, name).open("ab") as file:
                for bits in (43, 40, 36, 33):
                    try:
                        file.truncate(1 << bits)
                        break
                    except OSError:
                        pass
        return result


class removes_its_state_folder(base.Driver):
    """Deletes its state folder, which holds nothing but its own files, at its 20th request; what is asked after a restart finds none."""
    def before(self, number, name, params):
        if self.asked == 20 and self.state:
            for file in Path(self.state).iterdir():
                if file.is_file():
                    file.unlink()
            try:
                os.rmdir(self.state)
            except OSError:
                pass


class has_a_daemon_that_fills_its_state_folder(base.Driver):
    """Leaves a daemon that keeps adding and removing up to 50 files in the state folder for 60 s, so that it is never empty while it is deleted."""
    def do_hello(self, number, params):
        result = super().do_hello(number, params)

        def fill():
            for n in range(6000):
                try:
                    os.makedirs(f"{self.state}/x{n % 25}") if n // 25 % 2 == 0 else os.rmdir(f"{self.state}/x{n % 25}")
                except OSError:
                    if not os.path.isdir(self.state):
                        return
                time.sleep(0.01)

        if self.first("fill"):
            base.child(fill, 60, daemon=True)
        return result
