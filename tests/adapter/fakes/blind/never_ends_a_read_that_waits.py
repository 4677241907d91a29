"""Says pending and then never answers: neither the time-out, nor a message, nor messages.cancel, which it says has worked, end the read."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def end_reads(self):
        pass

    def do_messages_send(self, number, params):
        kept, self.waiting = self.waiting, {}
        try:
            return super().do_messages_send(number, params)
        finally:
            self.waiting = kept

    def do_messages_cancel(self, number, params):
        return {"status": 0}


Hostile().run()
