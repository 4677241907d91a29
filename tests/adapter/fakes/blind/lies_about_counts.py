"""Says that its queues hold a random number of messages, or 10**300 of them."""

import random
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def do_queues_counts(self, number, params):
        return {**super().do_queues_counts(number, params), "messages": random.SystemRandom().choice([0, 1, 2, 2**63, 10**300]), "bytes": 2**64}


Hostile().run()
