"""The honest driver with cursors, transactions and messages that a restart keeps: what repairs are made on."""

import json

from honest import FACETS, Honest

FACETS["messages"] = [*FACETS["messages"], "peek_next"]
FACETS["cursors"] = ["open", "close"]
FACETS["transactions"] = ["begin", "commit"]
ILLEGAL, SEQUENCE, RECOVERABLE = 0xC00E0017, 0xC00E0051, "recoverable"


class Thorough(Honest):
    def __init__(self):
        super().__init__()
        self.cursors = {}  # handle -> [last message seen or removed, whether it may go to the next]
        self.begun = {}  # handle -> sends, None once it has ended
        self.sent = 0

    def hello(self, number, params):
        super().hello(number, params)
        kept = self.state.with_name("messages.json")
        if kept.exists():
            for name, messages in json.loads(kept.read_text()).items():
                self.queues[name] = messages

    def survives(self, message):
        return message.get("delivery") == RECOVERABLE

    def save(self):
        super().save()
        kept = {name: [each for each in queue if self.survives(each)] for name, queue in self.queues.items()}
        beside = self.state.with_name("messages.new")
        beside.write_text(json.dumps(kept))
        beside.replace(self.state.with_name("messages.json"))

    def messages_send(self, number, params):
        self.sent += 1
        message = {**params["message"], "lookup_identifier": str(self.sent)}
        if "transaction" in params:
            self.begun[params["transaction"]].append((params["queue"], self.handles[params["queue"]], message))
            self.answer(number)
            return
        self.queues[self.handles[params["queue"]]].append({"body": "", **message})
        self.save()  # before the answer: a kill may follow it at once
        self.answer(number)
        self.wake(self.queues[self.handles[params["queue"]]])

    def behind(self, params, place):
        queue = self.queues[self.handles[params["queue"]]]
        return next((each for each in queue if int(each["lookup_identifier"]) > place), None)

    def messages_receive(self, number, params):
        if "cursor" not in params:
            super().messages_receive(number, params)
            return
        message = self.seek(params)
        self.queues[self.handles[params["queue"]]].remove(message)
        self.cursors[params["cursor"]] = [int(message["lookup_identifier"]), False]
        self.answer(number, message=message)

    def seek(self, params):
        place, onto = self.cursors[params["cursor"]]
        return self.behind(params, place - 1 if onto else place)

    def messages_peek(self, number, params):
        if "cursor" not in params:
            super().messages_peek(number, params)
            return
        message = self.seek(params)
        self.cursors[params["cursor"]] = [int(message["lookup_identifier"]), True]
        self.answer(number, message=message)

    def messages_peek_next(self, number, params):
        place, onto = self.cursors[params["cursor"]]
        if not onto:
            self.answer(number, status=ILLEGAL)
            return
        message = self.behind(params, place)
        self.cursors[params["cursor"]] = [int(message["lookup_identifier"]), True]
        self.answer(number, message=message)

    def cursors_open(self, number, params):
        self.cursors[f"c{number}"] = [0, False]
        self.answer(number, cursor=f"c{number}")

    def cursors_close(self, number, params):
        self.answer(number)

    def transactions_begin(self, number, params):
        self.begun[f"t{number}"] = []
        self.answer(number, transaction=f"t{number}")

    def transactions_commit(self, number, params):
        sends = self.begun.get(params["transaction"])
        if sends is None:
            self.answer(number, status=SEQUENCE)
            return
        self.begun[params["transaction"]] = None
        for _, name, message in sends:
            self.queues[name].append({"body": "", **message})
        self.answer(number)


if __name__ == "__main__":
    Thorough().run()
