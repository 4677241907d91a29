"""All messages have the same lookup identifier, or one of twenty nines beyond 64 bits, and message identifiers that go down."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        if "message" in result:
            lookup = ["0", "99999999999999999999", "00000000000000000001"][self.asked % 3]
            guid = "00000000-0000-0000-0000-000000000000"
            return {**result, "message": {**result["message"], "lookup_identifier": lookup, "identifier": {"source": guid, "ordinal": 4294967295 - self.asked},
                                          "sent_time": 10**40, "arrival_time": 0}}
        return result


Hostile().run()
