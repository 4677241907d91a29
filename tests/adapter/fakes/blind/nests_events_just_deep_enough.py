"""Sends valid events whose arguments are 900 lists deep, so that a reader gets through and a writer, a copier or a printer of them may not."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        depth = 300 + self.asked * 10 % 700
        base.push(b'{"jsonrpc":"2.0","method":"event","params":{"object":"o1","name":"A","arguments":' + b"[" * depth + b"]" * depth + b"}}\n")
        return result


Hostile().run()
