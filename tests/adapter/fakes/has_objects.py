"""The honest driver with objects: a queue information, its queue, a source of events.

Its argument is what it does wrong once asked: unlisted_type, wrong_value, wrong_element, short_list, unknown_source or
untyped_event.
"""

import json
import sys

from honest import FACETS, Honest

FACETS["objects"] = ["create", "invoke", "get", "query", "release", "advise", "unadvise", "describe"]
CLOSED, NO_CLASS, NO_INTERFACE, UNKNOWN_HANDLE = 0xC00E0008, 0x80040154, 0x80004002, 0x80070006
IIDS = {"fd174a80-89cf-11d2-b0f2-00e02c074f6b", "d7d6e07b-dccd-11d0-aa4b-0060970debae"}


class HasObjects(Honest):
    def __init__(self, wrong):
        super().__init__()
        self.wrong, self.made, self.blocked = wrong, {}, []

    def answer(self, number, **result):
        if "protocol" in result:
            result["protocol"] = "1.2"
        super().answer(number, **result)

    def give(self, kind):
        self.made[f"o{len(self.made) + 1}"] = {"class": kind, "PathName": ""}
        return f"o{len(self.made)}"

    def objects_create(self, number, params):
        if params["class"] in ("MSMQQueueInfo", "MSMQEvent"):
            self.answer(number, object=self.give(params["class"]))
        else:
            self.answer(number, status=NO_CLASS)

    def objects_invoke(self, number, params):
        known, member = self.made.get(params["object"]), params["member"]
        if known is None:
            self.answer(number, status=UNKNOWN_HANDLE)
        elif params["kind"] == "put":
            known[member] = params["arguments"][-1]["value"]
            self.answer(number)
        elif member == "Open":
            self.answer(number, value={"vt": "DISPATCH", "value": self.give("MSMQQueue")})
        elif member == "Receive":
            self.blocked.append(number)
            self.write(json.dumps({"jsonrpc": "2.0", "method": "pending", "params": {"id": number}}))
        elif member == "Close":
            while self.blocked:
                self.answer(self.blocked.pop(), status=CLOSED)
            self.answer(number)
        else:
            self.answer(number)

    def objects_get(self, number, params):
        known = self.made.get(params["object"])
        if known is None:
            self.answer(number, status=UNKNOWN_HANDLE)
            return
        value = {"vt": "BSTR", "value": known["PathName"]}
        if self.wrong == "unlisted_type":
            value["vt"] = "VECTOR"
        if self.wrong == "wrong_value":
            value = {"vt": "I2", "value": 70000}
        if self.wrong == "wrong_element":
            value = {"vt": "ARRAY", "of": "VARIANT", "value": [{"vt": "I4", "value": "a"}]}
        values = [{"status": 0, "value": value} for _ in params["members"]]
        self.answer(number, values=values[1:] if self.wrong == "short_list" else values)

    def objects_query(self, number, params):
        if params["iid"] in IIDS:
            self.answer(number, object=params["object"])
        else:
            self.answer(number, status=NO_INTERFACE)

    def objects_release(self, number, params):
        for each in params["objects"]:
            self.made[each] = None
        self.answer(number)

    def objects_advise(self, number, params):
        source = "o99" if self.wrong == "unknown_source" else params["object"]
        arguments = [1] if self.wrong == "untyped_event" else [{"vt": "I4", "value": 0}]
        event = {"object": source, "name": "Arrived", "arguments": arguments}
        self.write(json.dumps({"jsonrpc": "2.0", "method": "event", "params": event}))
        self.answer(number, cookie=1)

    def objects_unadvise(self, number, params):
        self.answer(number)

    def objects_describe(self, number, params):
        described = {"name": "IMSMQQueueInfo", "iid": "d7d6e07b-dccd-11d0-aa4b-0060970debae", "members": []}
        self.answer(number, interfaces=[described])


if __name__ == "__main__":
    HasObjects(sys.argv[1] if len(sys.argv) > 1 else "").run()
