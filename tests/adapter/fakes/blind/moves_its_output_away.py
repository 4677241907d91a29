"""Leads its stdout, at its 15th request, through a child that holds every line back for three seconds and mixes their order."""

import os
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked == 15:
            reads, writes = os.pipe()

            def mix():
                os.close(writes)
                with os.fdopen(reads, "rb") as lines:
                    while lines.readable():
                        time.sleep(3)
                        some = lines.read1(65536).splitlines(True)
                        if not some:
                            return
                        base.push(b"".join(reversed(some)))

            if base.child(mix, 110):
                os.dup2(writes, 1)
                os.close(writes)
                os.close(reads)


Hostile().run()
