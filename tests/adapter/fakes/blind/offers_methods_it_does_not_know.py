"""Offers every facet and answers what it does not have with the error -32601, in the midst of the tests."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    facets = {**base.Driver.facets, "cursors": ["open", "close"], "transactions": ["begin", "prepare", "commit", "abort"], "clock": ["now", "advance"],
              "names": ["parse"], "packets": ["encode", "decode", "deliver"], "structures": ["encode", "decode"], "outgoing": ["pause", "resume", "take"],
              "objects": ["create", "call", "get", "put", "events"]}


Hostile().run()
