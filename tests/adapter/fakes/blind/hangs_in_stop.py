"""Never answers stop, ignores the end of its input and every signal it can ignore."""

import signal
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
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


Hostile().run()
