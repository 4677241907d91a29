"""Drivers whose lines are too long, too many, too deep, late, or no lines of the protocol."""

import base64
import json
import os
import signal
import sys
import threading
import time

import base


class floods_with_events_nobody_asked_for(base.Driver):
    """Behaves for fifteen requests, then writes events of objects that do not exist as fast as it can, up to 1 GB, instead of answering."""
    def before(self, number, name, params):
        if self.asked >= 15:
            line = b'{"jsonrpc":"2.0","method":"event","params":{"object":"o%d","name":"Arrived","arguments":["' + b"x" * 200 + b'"]}}\n'
            for many in range(1000):
                base.flood(b"".join(line.replace(b"%d", b"%d" % (many * 4000 + n)) for n in range(4000)), base.MB)


EVENTS = b'{"jsonrpc":"2.0","method":"event","params":{"object":"o1","name":"Arrived","arguments":[1,2,3]}}\n' * 20000


class floods_with_events_between_good_answers(base.Driver):
    """Answers everything correctly, but writes 20,000 valid events of unknown objects before each answer."""
    def after(self, number, name, result):
        if name != "hello":
            base.push(EVENTS)
        return result


BOMB = b'{"jsonrpc":"2.0","method":"event","params":{"object":"o1","name":"Arrived","arguments":[' + b"{}," * 2790000 + b"{}]}}\n"


class floods_with_json_bombs_as_events(base.Driver):
    """Writes valid events just below 8 MiB whose arguments are millions of empty objects: each takes some 250 MB when it is parsed, and forty come at once."""
    def before(self, number, name, params):
        if self.asked == 10:
            base.flood(BOMB, 40 * len(BOMB))


class answers_with_a_json_bomb(base.Driver):
    """Answers queues.create, from the fifth on, with a line just below 8 MiB that is a list of 1.1 million objects where a text belongs."""
    def before(self, number, name, params):
        if name == "queues.create" and self.count[name] >= 5:
            base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,"format_name":[' % number + b'{"":0},' * 1190000 + b"0]}}\n")
            return True


class answers_hello_with_a_json_bomb(base.Driver):
    """Its very first answer is a hello whose readings are 600,000 members and whose version is a nest of objects, just below 8 MiB."""
    def before(self, number, name, params):
        readings = b",".join(b'"%x":{}' % n for n in range(600000))
        base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,"version":[{"":[]}],"readings":{' % number + readings + b"}}}\n")
        return True


class nests_an_answer_a_million_deep(base.Driver):
    """Answers its tenth request with a million opening brackets, then as many closing ones, on one line that is well below the limit."""
    def before(self, number, name, params):
        if self.asked >= 10:
            base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,"x":' % number + b"[" * 10**6 + b"]" * 10**6 + b"}}\n")
            return True


class nests_events_just_deep_enough(base.Driver):
    """Sends valid events whose arguments are 900 lists deep, so that a reader gets through and a writer, a copier or a printer of them may not."""
    def after(self, number, name, result):
        depth = 300 + self.asked * 10 % 700
        base.push(b'{"jsonrpc":"2.0","method":"event","params":{"object":"o1","name":"A","arguments":' + b"[" * depth + b"]" * depth + b"}}\n")
        return result


class answers_with_a_line_that_never_ends(base.Driver):
    """Begins a good answer to its twelfth request and goes on with one text of up to 1 GB without a line feed."""
    def before(self, number, name, params):
        if self.asked >= 12:
            base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,"format_name":"' % number)
            base.flood(b"A" * base.MB)


class answers_one_byte_over_the_line_limit(base.Driver):
    """Answers peeks and receives with lines of exactly 8 MiB, line feed not counted, and then with one byte more."""
    def after(self, number, name, result):
        if "message" not in result:
            return result
        over = self.count[name] > 2
        head, tail = b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,"message":{"label":"' % number, b'","body":"' + base64.b64encode(b"b") + b'"}}}'
        base.push(head + b"l" * (8 * base.MB - len(head) - len(tail) + over) + tail + b"\n")


class answers_bodies_of_six_megabytes(base.Driver):
    """Every message it gives back has another body of 6 MB, in a valid line just below 8 MiB."""
    def after(self, number, name, result):
        if "message" in result:
            result = {**result, "message": {**result["message"], "body": f"{self.asked:04}" * 2000000}}
        return result


class makes_texts_wide(base.Driver):
    """Labels are 7 million letters and one musical sign, so that every text takes four times its length in memory and 12 times in escaped form."""
    def after(self, number, name, result):
        if "message" in result:
            text = json.dumps({"jsonrpc": "2.0", "id": number, "result": {**result, "message": {**result["message"], "label": "WIDE"}}})
            return base.push(text.replace("WIDE", "\U0001d11e" + "a" * 7000000).encode() + b"\n")
        return result


class floods_its_log(base.Driver):
    """Answers everything correctly and writes up to 1 GB of log lines to stderr meanwhile."""
    def started(self):
        lines = b"".join(b"%07d everything is fine, nothing to be seen here, please move along\n" % n for n in range(16000))
        threading.Thread(target=base.flood, args=(lines, 1 << 30, 2), daemon=True).start()


class writes_a_log_line_that_never_ends(base.Driver):
    """Answers correctly, writes 1 GB without a line feed to stderr meanwhile, and crashes at its 100th request, so that the last lines are shown."""
    def started(self):
        threading.Thread(target=base.flood, args=(b"\x1b[31m\xff\x00z" * 100000, 1 << 30, 2), daemon=True).start()

    def before(self, number, name, params):
        if self.asked == 100:
            os.abort()


class floods_with_answers_to_requests_not_sent(base.Driver):
    """Answers each request correctly, and then 500 requests with identifiers that were never sent, some of them negative, some soon to come."""
    def after(self, number, name, result):
        if self.asked > 8:
            self.line(id=number, result=result)
            for other in range(500):
                self.line(id=number + 1 + other if other % 2 else -other, result={"status": 0})
            return None
        return result


class answers_the_next_request_before_it_is_sent(base.Driver):
    """Answers each request correctly and at once also the one to come, before it has been read."""
    def after(self, number, name, result):
        self.line(id=number, result=result)
        if self.asked > 5:
            self.line(id=number + 1, result={"status": 0, "format_name": "DIRECT=OS:HOST\\private$\\lie", "queue": "lie"})


class answers_everything_twice(base.Driver):
    """Gives every answer twice, the second time with the opposite status."""
    def after(self, number, name, result):
        self.line(id=number, result=result)
        if self.asked > 5:
            self.line(id=number, result={"status": 0xC00E0006})


class answers_a_request_with_another_ones_result(base.Driver):
    """From its twentieth request on, each answer holds what the request before should have got."""
    kept = {"status": 0}

    def after(self, number, name, result):
        self.kept, wrong = result, self.kept
        return wrong if self.asked > 20 else result


class answers_a_request_late(base.Driver):
    """Holds every answer back until the next request has come, which for most never comes: each ends with its deadline."""
    held = None

    def after(self, number, name, result):
        if self.asked < 8:
            return result
        if self.held:
            self.line(**self.held)
        self.held = {"id": number, "result": result}


class drips_its_answers(base.Driver):
    """Writes every answer byte by byte with 20 ms between them (5 ms in hello), so that each comes late but in time."""
    def line(self, **members):
        for byte in json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n":
            base.push(bytes([byte]))
            time.sleep(0.02 if self.asked > 1 else 0.005)


class drips_a_hello_for_ever(base.Driver):
    """Answers hello with a space every half second, and never with more."""
    def before(self, number, name, params):
        while True:
            base.push(b" ")
            time.sleep(0.5)


class drips_blank_lines_in_place_of_an_answer(base.Driver):
    """At its tenth request it writes a blank line, or an event, every 100 ms: it is never silent and never answers."""
    def before(self, number, name, params):
        while self.asked >= 10:
            base.push(b"\n")
            self.event()
            time.sleep(0.1)


class gets_slower_and_slower(base.Driver):
    """Every answer is right and takes 30 ms longer than the one before, up to 9 s."""
    def after(self, number, name, result):
        time.sleep(min(9, 0.03 * self.asked))
        return result


class writes_half_a_line_and_hangs(base.Driver):
    """Writes the first half of its twentieth answer and then sleeps, deaf to SIGTERM, SIGINT, SIGHUP and the end of its input."""
    def before(self, number, name, params):
        if self.asked >= 20:
            for number_of in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number_of, signal.SIG_IGN)
            base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"stat' % number)
            time.sleep(170)


class writes_half_a_line_and_exits(base.Driver):
    """Writes the first half of its twentieth answer, in the middle of a UTF-8 sign, and exits with code 0."""
    def before(self, number, name, params):
        if self.asked >= 20:
            base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,"format_name":"\xe2\x82' % number)
            os._exit(0)


class puts_its_last_answer_without_a_line_feed_and_exits(base.Driver):
    """Every tenth answer is whole and right but has no line feed, and the driver exits with it."""
    def after(self, number, name, result):
        if self.asked % 10:
            return result
        base.push(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode())
        os._exit(0)


class puts_two_answers_on_one_line(base.Driver):
    """Writes an event and an answer on one line, at other times a JSON-RPC batch in a list."""
    def line(self, **members):
        event = '{"jsonrpc":"2.0","method":"event","params":{"object":"o1","name":"A"}}'
        text = json.dumps({"jsonrpc": "2.0", **members})
        if self.asked > 6:
            text = f"[{event},{text}]" if self.asked % 2 else event + text
        base.push(text.encode() + b"\n")


class pretty_prints_its_answers(base.Driver):
    """Writes every answer but that to hello over several lines."""
    def line(self, **members):
        base.push(json.dumps({"jsonrpc": "2.0", **members}, indent=None if self.asked < 2 else 1).encode() + b"\n")


class prints_a_banner_first(base.Driver):
    """Prints what people print by mistake, a banner, a warning and progress dots, on stdout before and between its answers."""
    def started(self):
        base.push(b"Welcome to HostileMQ 1.0\r\n\r\nWARNING: DeprecationWarning: x\n")

    def after(self, number, name, result):
        base.push(b"....\n")
        return result


class ends_its_lines_oddly(base.Driver):
    """Ends its lines with a carriage return and a line feed, puts tabs and spaces around, and begins with a byte order mark."""
    def line(self, **members):
        mark = b"\xef\xbb\xbf" if self.asked == 1 else b" \t\r"
        base.push(mark + json.dumps({"jsonrpc": "2.0", **members}).encode() + b" \t\r\n")


class is_an_echo(base.Driver):
    """Writes back every line it reads, as cat does, so that requests come back as if the driver asked them."""
    def run(self):
        base.guard()
        while line := sys.stdin.buffer.readline():
            base.push(line)


class says_y_for_ever(base.Driver):
    """Ignores its input and writes "y" and a line feed up to 2 GB, as the program yes does."""
    def run(self):
        base.guard()
        base.flood(b"y\n" * 500000, 2 << 30)


class asks_the_harness(base.Driver):
    """Sends requests of its own to the harness, hello and stop and reset among them, with identifiers of requests that are under way, and notifications that do not exist."""
    def before(self, number, name, params):
        if self.asked > 4:
            for method in ("hello", "stop", "messages.cancel", "shutdown", "$/progress", "__init__", "pending", ""):
                self.line(id=number, method=method, params={"id": number})
                self.line(method=method, params=[])


class hands_out_numbers_of_a_hundred_thousand_digits(base.Driver):
    """Puts integers of 100,000 digits where a time, a count, a handle or an identifier belongs."""
    facets = {**base.VirtualDriver.facets}
    clock = "virtual"

    def after(self, number, name, result):
        digits = b"9" * 100000
        wrong = {"queues.open": b'"queue":', "queues.counts": b'"messages":', "clock.now": b'"time_ms":', "clock.advance": b'"time_ms":'}
        if name in wrong and self.count[name] > 2:
            return base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,' % number + wrong[name] + digits + b"}}\n")
        if self.asked == 40:
            return base.push(b'{"jsonrpc":"2.0","id":' + digits + b',"result":{"status":0}}\n')
        return result


class has_handles_of_four_thousand_digits(base.Driver):
    """Its queue handles are integers of 4,000 digits, just below what Python converts, and it takes them back as they were."""
    def before(self, number, name, params):
        if "queue" in params and isinstance(params["queue"], int):
            params["queue"] -= 10**3999

    def after(self, number, name, result):
        return {**result, "queue": result["queue"] + 10**3999} if "queue" in result else result


class has_handles_of_a_megabyte(base.Driver):
    """Its queue handles are texts of 1 MB, each of them valid, so that every later request and every step of every story holds one."""
    def before(self, number, name, params):
        if isinstance(params.get("queue"), str):
            params["queue"] = int(params["queue"].strip("h") or 0)

    def after(self, number, name, result):
        return {**result, "queue": "h" * base.MB + str(result["queue"])} if "queue" in result else result


class answers_with_nan_and_infinity(base.Driver):
    """Uses NaN, Infinity, 1e999 and -1e999 as statuses, times and counts."""
    def after(self, number, name, result):
        if self.asked > 8:
            odd = (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999")[self.asked % 5]
            return base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":%b}}\n' % (number, odd))
        return result


class spells_numbers_strangely(base.Driver):
    """Writes its statuses and identifiers as 0.0, -0, 0e5 and 12.0, which some JSON readers and JSON Schema take for integers."""
    def line(self, **members):
        text = json.dumps({"jsonrpc": "2.0", **members})
        if self.asked > 5:
            text = text.replace('"status": 0', '"status": ' + ("0.0", "-0", "0e5", "-0.0")[self.asked % 4])
            if self.asked % 3 == 0 and "id" in members:
                text = text.replace(f'"id": {members["id"]},', f'"id": {members["id"]}.0,')
        base.push(text.encode() + b"\n")


class says_members_twice(base.Driver):
    """Writes objects with the same member twice and different values: two statuses, two identifiers, two results."""
    def line(self, **members):
        text = json.dumps({"jsonrpc": "2.0", **members})
        if self.asked > 6:
            text = text.replace('"status": 0', '"status": 3222142983, "status": 0').replace('{"jsonrpc"', '{"id": 1, "result": {"status": 0}, "jsonrpc"')
        base.push(text.encode() + b"\n")


class answers_with_identifiers_of_the_wrong_type(base.Driver):
    """Answers with the identifier as text, as true, as null, in a list, in an object, or left out."""
    def after(self, number, name, result):
        if self.asked <= 8:
            return result
        self.line(**[{"id": str(number)}, {"id": True}, {"id": None}, {"id": [number]}, {"id": {"id": number}}, {}][self.asked % 6], result=result)


class answers_with_the_wrong_types(base.Driver):
    """Replaces one member of each answer by a value of another type: a text where a number belongs, a list, null, true, an object in an object."""
    def after(self, number, name, result):
        odd = ["0", None, True, [], {}, -1, 1.5, 2**70, {"status": 0}, "\x00", [[]], ""]
        if self.asked > 8:
            keys = sorted(result)
            key = keys[self.asked % len(keys)]
            result = {**result, key: odd[self.asked // 2 % len(odd)]}
            if self.asked % 11 == 0:
                self.line(id=number, result=odd[self.asked % len(odd)])
                return None
        return result


class answers_with_members_nobody_knows(base.Driver):
    """Adds members such as __class__, __proto__, status.code and the empty name to its results, up to 10,000 of them."""
    def after(self, number, name, result):
        odd = {"__class__": "x", "__proto__": {}, "constructor": 1, "status.code": 0, "": None, "$ref": "common.json#/$defs/handle", "self": 1}
        if self.asked > 8:
            return {**result, **odd, **{str(n): n for n in range(10000)}}
        return result


class breaks_its_base64(base.Driver):
    """Gives bodies back with wrong padding, line feeds, the letters of URLs, stray bits, or signs beyond ASCII."""
    def after(self, number, name, result):
        odd = ["====", "QQ", "QR==", "Q", "QUJD\n", "-_-_", "QQ==QQ==", "QUJ\u0663", "\u212aAAA", "A" * 100001, "QQ=\u200b="]
        if "message" in result:
            result = {**result, "message": {**result["message"], "body": odd[self.count[name] % len(odd)]}}
        return result


class says_pending_of_everything(base.Driver):
    """Says pending of each request, ten times, of requests that are long answered, and of ones that never were."""
    def before(self, number, name, params):
        for other in [number] * 10 + [number - 1, number + 5, 0, -1, 2**64]:
            if self.asked > 5:
                self.line(method="pending", params={"id": other})

    def after(self, number, name, result):
        self.line(id=number, result=result)
        self.line(method="pending", params={"id": number})


class never_ends_a_read_that_waits(base.Driver):
    """Says pending and then never answers: neither the time-out, nor a message, nor messages.cancel, which it says has worked, end the read."""
    def end_reads(self):
        pass

    def do_messages_send(self, number, params):
        kept, self.waiting = self.waiting, {}
        try:
            return super().do_messages_send(number, params)
        finally:
            self.waiting = kept

    def do_messages_cancel(self, number, params):
        return {"status": 0}


class ends_reads_too_early_and_in_a_wrong_order(base.Driver):
    """Answers every read that waits when half of its time is over, and the youngest of several first."""
    def read(self, number, params, takes):
        if 0 < params["timeout_ms"] < base.ENDLESS:
            params = {**params, "timeout_ms": max(1, params["timeout_ms"] // 2)}
        result = super().read(number, params, takes)
        self.waiting = dict(reversed(self.waiting.items()))
        return result
