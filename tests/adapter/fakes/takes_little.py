"""Of protocol 1.1, it says how little it takes, and answers what it cannot express. It forgets labels at a restart."""

from honest import FACETS, NO_QUEUE, Honest

ACCEPTS = {
    "message": ["body", "label", "priority"],
    "properties": ["PROPID_Q_LABEL"],
    "access": ["send", "receive"],
    "share": ["deny_none"],
    "format_names": ["journal"],
}


FACETS["queues"] += ["get", "set"]


class TakesLittle(Honest):
    version = "1.1"

    def __init__(self):
        super().__init__()
        self.labels = {}

    def queues_create(self, number, params):
        self.labels["DIRECT=OS:" + params["path_name"]] = params.get("properties", {}).get("PROPID_Q_LABEL", "")
        super().queues_create(number, params)

    def queues_get(self, number, params):
        assert params["properties"] == ["PROPID_Q_LABEL"], "asked for what it does not accept"
        found = params["format_name"] in self.queues
        shown = {"properties": {"PROPID_Q_LABEL": self.labels.get(params["format_name"], "")}} if found else {}
        self.answer(number, status=0 if found else NO_QUEUE, **shown)

    def queues_set(self, number, params):
        assert list(params["properties"]) == ["PROPID_Q_LABEL"], "given what it does not accept"
        self.labels[params["format_name"]] = params["properties"]["PROPID_Q_LABEL"]
        self.answer(number)

    def answer(self, number, **result):
        if "protocol" in result:
            result |= {"protocol": self.version, "accepts": ACCEPTS}
        super().answer(number, **result)

    def messages_peek(self, number, params):
        failure = {"kind": "NotExpressible", "text": "a peek before a full moon"}
        self.answer(number, status=None, failure=failure)


if __name__ == "__main__":
    TakesLittle().run()
