"""Makes 5,000 empty files in its state folder, with line feeds, escape sequences, bytes that are no UTF-8, leading dashes and 255 bytes in their names."""

import os
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def do_hello(self, number, params):
        result = super().do_hello(number, params)
        if self.first("many"):
            odd = [b"-rf %d", b"\xff\xfe%d", b"a\nb%d", b"\x1b[2J%d", b"<b>%d", b"%d.json", b"state-%d.new", b"l" * 240 + b"%d", b" %d ", b"..%d"]
            for n in range(5000):
                os.close(os.open(os.fsencode(self.state) + b"/" + odd[n % len(odd)] % n, os.O_CREAT | os.O_WRONLY, (0o600, 0)[n % 2]))
        return result


Hostile().run()
