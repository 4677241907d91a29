"""After a restart on the same state folder it has another name, profile, computer, clock, protocol version and fewer facets."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def hello(self, params):
        result = super().hello(params)
        if self.restarted:
            result.update(protocol="1.0", name="another", profile="msmq-1.0", computer="ELSEWHERE", clock="virtual", slack_ms=0)
            result.pop("accepts", None)
            result["facets"] = {"manager": ["hello"], "clock": ["now", "advance"], "transactions": ["begin", "commit"]}
        return result


Hostile().run()
