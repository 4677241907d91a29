"""Puts links to themselves, to the folder they are in and to nothing into its state folder, beside FIFOs and sockets that block whoever opens them."""

import os
import socket
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
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


Hostile().run()
