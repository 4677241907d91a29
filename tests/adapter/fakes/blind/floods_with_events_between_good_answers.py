"""Answers everything correctly, but writes 20,000 valid events of unknown objects before each answer."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402

EVENTS = b'{"jsonrpc":"2.0","method":"event","params":{"object":"o1","name":"Arrived","arguments":[1,2,3]}}\n' * 20000


class Hostile(base.Driver):
    def after(self, number, name, result):
        if name != "hello":
            base.push(EVENTS)
        return result


Hostile().run()
