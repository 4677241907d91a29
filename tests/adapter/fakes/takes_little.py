"""No defect: of protocol 1.1, it says how little it takes, and answers what it cannot express."""

from honest import Honest

ACCEPTS = {
    "message": ["body", "label", "priority"],
    "properties": ["PROPID_Q_LABEL"],
    "access": ["send", "receive"],
    "share": ["deny_none"],
    "format_names": ["journal"],
}


class TakesLittle(Honest):
    version = "1.1"

    def answer(self, number, **result):
        if "protocol" in result:
            result |= {"protocol": self.version, "accepts": ACCEPTS}
        super().answer(number, **result)

    def messages_peek(self, number, params):
        failure = {"kind": "NotExpressible", "text": "a peek before a full moon"}
        self.answer(number, status=None, failure=failure)


if __name__ == "__main__":
    TakesLittle().run()
