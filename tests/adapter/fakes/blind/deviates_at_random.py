"""Is wrong in about one of fifteen reads: another label, another priority, another message, or none, never the same way in a second try."""

import random
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        chance = random.SystemRandom()
        if "message" in result and chance.random() < 0.07:
            message = {**result["message"], chance.choice(["label", "delivery"]): chance.choice(["express", "recoverable"])}
            return chance.choice([{"status": 0, "message": message}, {"status": base.TIMEOUT}, {"status": 0, "message": {**message, "priority": 99}}])
        return result


Hostile().run()
