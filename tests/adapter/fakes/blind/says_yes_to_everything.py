"""Offers every method of the protocol, and answers each with success and the same canned members, without doing anything."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402

FACETS = {"manager": "hello attach reset stop limits", "names": "parse", "packets": "encode decode deliver", "structures": "encode decode",
          "queues": "create delete open close purge get set counts", "cursors": "open close", "transactions": "begin prepare commit abort",
          "messages": "send receive peek peek_next receive_by_lookup_id peek_by_lookup_id receive_begin receive_end move cancel",
          "outgoing": "pause resume take", "objects": "create call get put events", "clock": "now advance"}
M = {"message": {"body": "", "label": "", "priority": 3}}
MORE = {"names.parse": {"kind": "direct", "parts": {}}, "packets.encode": {"packet": "EAADAExJT1I="}, "packets.decode": {"message": {"destination": ""}},
        "structures.encode": {"data": ""}, "structures.decode": {"value": None}, "queues.create": {"format_name": "DIRECT=OS:HOST\\q"},
        "queues.open": {"queue": "h"}, "queues.get": {"properties": {}}, "queues.counts": {"messages": 0}, "messages.receive": M, "messages.peek": M,
        "messages.peek_next": M, "messages.receive_by_lookup_id": M, "messages.peek_by_lookup_id": M, "messages.receive_begin": {**M, "read": "r"},
        "cursors.open": {"cursor": "c"}, "transactions.begin": {"transaction": "t"}, "outgoing.take": {"packets": []}, "objects.create": {"object": "o"},
        "objects.get": {"value": 0}, "clock.now": {"time_ms": 0}, "clock.advance": {"time_ms": 0}}


class Hostile(base.Driver):
    facets = {facet: methods.split() for facet, methods in FACETS.items()}
    clock = "virtual"

    def hello(self, params):
        result = super().hello(params)
        result.pop("accepts", None)
        return result

    def before(self, number, name, params):
        if name not in ("hello", "stop"):
            self.answer(number, {"status": 0, **MORE.get(name, {})})
            return True


Hostile().run()
