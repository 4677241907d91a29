"""Makes a chain of 2,500 folders in its state folder at its first hello, too deep for a recursive delete and for an absolute path."""

import os
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
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


Hostile().run()
