"""Drivers with odd texts, declarations, clocks and handles, and those whose answers are wrong."""

import json
import os
import random
import time

import base


TERMINAL = "\x1b[2J\x1b[H\x1b]0;owned\x07\x1b]52;c;cm0gLXJm\x07\x1b[8m\x9b31m\r\x08\x08OK\u202egnihtyreve\u2066\x00\x7f\n::error::x\n##vso[task.complete result=Succeeded]"


class names_itself_with_terminal_tricks(base.Driver):
    """Its name and version hold escape sequences that clear the screen, set the title, write to the clipboard and turn the writing round; so do its failures and its log."""
    def started(self):
        base.push((TERMINAL + "\n").encode() * 20, 2)

    def hello(self, params):
        return {**super().hello(params), "name": "mq" + TERMINAL, "version": TERMINAL}

    def after(self, number, name, result):
        if result["status"] >= 0x80000000:
            result = {"status": None, "failure": {"kind": "Error" + TERMINAL, "text": TERMINAL}}
        elif "message" in result:
            result = {**result, "message": {**result["message"], "label": TERMINAL}}
        return result


MARKUP = "</script><script>alert(1)</script><img src=x onerror=alert(2)>]]>--><!--&amp;&#0;\"'`|a|b|\n# x\n```\n=cmd|' /C calc'!A0\n{{7*7}}${7*7}%(x)s{0.__class__}"


class writes_html_and_formulas_into_its_texts(base.Driver):
    """Its name, its labels and its failures hold HTML, scripts, the ends of CDATA and comments, Markdown, spreadsheet formulas and template marks."""
    def hello(self, params):
        return {**super().hello(params), "name": MARKUP, "version": MARKUP, "readings": {MARKUP: MARKUP}}

    def after(self, number, name, result):
        if result["status"] >= 0x80000000 and self.asked % 2:
            result = {"status": None, "failure": {"kind": MARKUP, "text": MARKUP}}
        elif "message" in result:
            result = {**result, "message": {**result["message"], "label": MARKUP, "response_queue": MARKUP}}
        return result


class names_itself_like_a_path(base.Driver):
    """Its name, version and computer look like paths that lead out of a folder, format strings, options, and a name of 250 kB."""
    def hello(self, params):
        return {**super().hello(params), "name": "../../../../../../tmp/mqconform-escaped/%n%s{x}" + "/n" * 125000, "version": "--help;$(id)\x00.html",
                "computer": "..\\..\\CON|NUL", "queue_manager": "00000000-0000-0000-0000-000000000000"}


SURROGATES = "\ud800x\udfff\udc80\u0000\ufffe\uffff\U0010ffff"


class sends_lone_surrogates(base.Driver):
    """Puts lone surrogates, NULs and noncharacters into names, labels, handles and failures, correctly escaped as JSON allows."""
    def before(self, number, name, params):
        if isinstance(params.get("queue"), str):
            params["queue"] = int(params["queue"].split("=")[-1]) if "=" in params["queue"] else 0

    def hello(self, params):
        return {**super().hello(params), "name": SURROGATES, "version": SURROGATES}

    def after(self, number, name, result):
        if "queue" in result:
            result = {**result, "queue": f"{SURROGATES}={result['queue']}"}
        elif "message" in result:
            result = {**result, "message": {**result["message"], "label": SURROGATES, "administration_queue": SURROGATES}}
        elif result["status"] >= 0x80000000 and self.asked % 3 == 0:
            result = {"status": None, "failure": {"kind": SURROGATES, "text": SURROGATES}}
        return result


class sends_bytes_that_are_no_utf8(base.Driver):
    """Writes answers with bytes that are no UTF-8, surrogates as three bytes, overlong signs, or all of it in UTF-16."""
    def line(self, **members):
        text = json.dumps({"jsonrpc": "2.0", **members}).encode()
        if self.asked > 8:
            odd = (b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\xaf", b"\x80", b"\xf5\x80\x80\x80")[self.asked % 5]
            text = text.replace(b'"2.0"', b'"2.0","x":"' + odd + b'"', 1)
            if self.asked % 7 == 0:
                text = json.dumps({"jsonrpc": "2.0", **members}).encode("utf-16")
        base.push(text + b"\n")


class puts_line_separators_into_its_texts(base.Driver):
    """Its texts hold U+2028, U+2029, U+0085, vertical tabs and form feeds, written raw where JSON allows it: one line for the protocol, many for splitlines."""
    def after(self, number, name, result):
        if name == "hello" or "message" in result:
            if "message" in result:
                result["message"] = {**result["message"], "label": "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"}
            else:
                result["name"] = "a\u2028b\u2029c\u0085d"
            return base.push(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}, ensure_ascii=False).encode() + b"\n")
        return result


class declares_too_much_in_hello(base.Driver):
    """Its hello names 60,000 facets with methods, 60,000 limits and 60,000 readings, in a valid line just below 8 MiB."""
    def hello(self, params):
        return {**super().hello(params), "facets": {**self.facets, **{f"facet{n}": ["a", "b", f"m{n}"] for n in range(60000)}},
                "limits": {f"limit{n}": 10**30 for n in range(60000)}, "readings": {f"reading.{n}": "yes" for n in range(60000)}}


class declares_limits_that_forbid_everything(base.Driver):
    """Its limits are a body of 0 bytes, one queue, and one call at a time; it accepts no message member, no access and no share mode."""
    accepts = {"message": [], "properties": [], "access": [], "share": [], "format_names": []}

    def hello(self, params):
        return {**super().hello(params), "limits": {"max_body_bytes": 0, "max_queues": 1, "max_parallel_calls": 1}}


class declares_a_giant_body_limit(base.Driver):
    """Its limits are 2**62 bytes a body, 2**62 queues and 2**62 calls at a time, in the hope that somebody tries."""
    def hello(self, params):
        return {**super().hello(params), "limits": {"max_body_bytes": 2**62, "max_queues": 2**62, "max_parallel_calls": 2**62}}


class declares_the_longest_waits_allowed(base.Driver):
    """Declares settle_ms and slack_ms of 60,000 each, the most the schema allows, and answers quickly."""
    slack_ms = settle_ms = 60000


class declares_impossible_waits(base.Driver):
    """Declares a settle_ms of 10**30 and a slack_ms of -1."""
    slack_ms, settle_ms = -1, 10**30


class declares_facets_that_cannot_be(base.Driver):
    """Names a facet twice, the same method twice, methods with a dot, with no name, and facets with the names of Python's own attributes."""
    def hello(self, params):
        odd = {"": [""], "__dict__": ["__init__"], "messages.send": ["send"], "cursors": ["open", "open"], "clock": [], "Queues": ["create"], "x\x00": ["\x1b[2J"]}
        return {**super().hello(params), "facets": {**self.facets, **odd}}


class has_a_virtual_clock_that_runs(base.VirtualDriver):
    """Declares a virtual clock, but time passes by itself, a hundred times faster than on the wall, and reads end without clock.advance."""
    def before(self, number, name, params):
        self.time_ms = 1767225600000 + int(time.monotonic() * 100000) % 10**12
        self.end_reads()


class has_a_clock_that_goes_back_and_leaps(base.VirtualDriver):
    """Has a virtual clock which after an advance is a day earlier, in the year 9999, before 1970 or 2**80 milliseconds later."""
    def after(self, number, name, result):
        if "time_ms" in result:
            result = {**result, "time_ms": [0, -1, 253402300799999, -62135596800001, 2**80, result["time_ms"] - 86400000][self.asked % 6]}
        return result


class never_comes_back_from_clock_advance(base.VirtualDriver):
    """Has a virtual clock whose fourth clock.advance is never answered, though the reads it made due are."""
    def do_clock_advance(self, number, params):
        result = super().do_clock_advance(number, params)
        return None if self.count["clock.advance"] >= 4 else result


class gives_the_same_handle_for_everything(base.Driver):
    """Hands out the handle 0 for every queue it opens, and means the one opened last."""
    def do_queues_open(self, number, params):
        super().do_queues_open(number, params)
        self.handles[0] = self.handles.pop(number)
        return {"status": 0, "queue": 0}


class refuses_the_handles_it_gave(base.Driver):
    """Half of the handles it has just given are refused as invalid, and handles nobody ever gave are taken."""
    def opened(self, params, *allowed):
        if isinstance(params["queue"], int) and params["queue"] % 2 and self.asked > 10:
            raise base.Refused(base.HANDLE)
        if params["queue"] not in self.handles and self.handles:
            params = {**params, "queue": next(iter(self.handles))}
        return super().opened(params, *allowed)


class lies_about_identifiers(base.Driver):
    """All messages have the same lookup identifier, or one of twenty nines beyond 64 bits, and message identifiers that go down."""
    def after(self, number, name, result):
        if "message" in result:
            lookup = ["0", "99999999999999999999", "00000000000000000001"][self.asked % 3]
            guid = "00000000-0000-0000-0000-000000000000"
            return {**result, "message": {**result["message"], "lookup_identifier": lookup, "identifier": {"source": guid, "ordinal": 4294967295 - self.asked},
                                          "sent_time": 10**40, "arrival_time": 0}}
        return result


class lies_about_counts(base.Driver):
    """Says that its queues hold a random number of messages, or 10**300 of them."""
    def do_queues_counts(self, number, params):
        return {**super().do_queues_counts(number, params), "messages": random.SystemRandom().choice([0, 1, 2, 2**63, 10**300]), "bytes": 2**64}


class lies_about_statuses(base.Driver):
    """Says success where it refused and failure where it succeeded, with unusual HRESULTs: warnings, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF."""
    def after(self, number, name, result):
        if self.asked > 8 and self.asked % 3 == 0 and name not in ("reset", "stop"):
            return {"status": [1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x400E03E8, 0][self.asked // 3 % 6]}
        return result


class answers_null_without_a_failure(base.Driver):
    """Answers failures with status null and no failure, with a failure beside a success, and with kinds that are empty, long, or NotExpressible of what it has just done."""
    def after(self, number, name, result):
        fail = {"kind": "NotExpressible", "text": ""}
        odd = [{"status": None}, {**result, "failure": fail}, {"status": None, "failure": fail}, {"status": None, "failure": {"kind": "", "text": "t" * base.MB}}]
        return odd[self.asked // 4 % 4] if self.asked > 12 and self.asked % 4 == 0 else result


class answers_errors_with_megabytes_of_data(base.Driver):
    """From its 20th request on it answers each with a JSON-RPC error whose data are 7 MB and whose message goes over a thousand lines."""
    def before(self, number, name, params):
        if self.asked >= 20:
            message = "Traceback (most recent call last):\n" * 1000
            self.line(id=number, error={"code": -10**50 if self.asked % 2 else -32603, "message": message, "data": {"x": "d" * 7000000}})
            return True


class offers_methods_it_does_not_know(base.Driver):
    """Offers every facet and answers what it does not have with the error -32601, in the midst of the tests."""
    facets = {**base.Driver.facets, "cursors": ["open", "close"], "transactions": ["begin", "prepare", "commit", "abort"], "clock": ["now", "advance"],
              "names": ["parse"], "packets": ["encode", "decode", "deliver"], "structures": ["encode", "decode"], "outgoing": ["pause", "resume", "take"],
              "objects": ["create", "call", "get", "put", "events"]}


class can_express_nothing(base.Driver):
    """Offers every facet, and answers all but hello and stop with NotExpressible."""
    facets = {**base.Driver.facets, "cursors": ["open", "close"], "transactions": ["begin", "prepare", "commit", "abort"], "names": ["parse"],
              "packets": ["encode", "decode", "deliver"], "structures": ["encode", "decode"], "outgoing": ["pause", "resume", "take"]}

    def before(self, number, name, params):
        if name not in ("hello", "attach", "stop"):
            self.answer(number, {"status": None, "failure": {"kind": "NotExpressible", "text": f"{name} with {params}"[:300]}})
            return True


FACETS = {"manager": "hello attach reset stop limits", "names": "parse", "packets": "encode decode deliver", "structures": "encode decode",
          "queues": "create delete open close purge get set counts", "cursors": "open close", "transactions": "begin prepare commit abort",
          "messages": "send receive peek peek_next receive_by_lookup_id peek_by_lookup_id receive_begin receive_end move cancel",
          "outgoing": "pause resume take", "objects": "create call get put events", "clock": "now advance"}
MESSAGE = {"message": {"body": "", "label": "", "priority": 3}}
CANNED = {"names.parse": {"kind": "direct", "parts": {}}, "packets.encode": {"packet": "EAADAExJT1I="}, "packets.decode": {"message": {"destination": ""}},
        "structures.encode": {"data": ""}, "structures.decode": {"value": None}, "queues.create": {"format_name": "DIRECT=OS:HOST\\q"},
        "queues.open": {"queue": "h"}, "queues.get": {"properties": {}}, "queues.counts": {"messages": 0}, "messages.receive": MESSAGE, "messages.peek": MESSAGE,
        "messages.peek_next": MESSAGE, "messages.receive_by_lookup_id": MESSAGE, "messages.peek_by_lookup_id": MESSAGE, "messages.receive_begin": {**MESSAGE, "read": "r"},
        "cursors.open": {"cursor": "c"}, "transactions.begin": {"transaction": "t"}, "outgoing.take": {"packets": []}, "objects.create": {"object": "o"},
        "objects.get": {"value": 0}, "clock.now": {"time_ms": 0}, "clock.advance": {"time_ms": 0}}


class says_yes_to_everything(base.Driver):
    """Offers every method of the protocol, and answers each with success and the same canned members, without doing anything."""
    facets = {facet: methods.split() for facet, methods in FACETS.items()}
    clock = "virtual"

    def hello(self, params):
        result = super().hello(params)
        result.pop("accepts", None)
        return result

    def before(self, number, name, params):
        if name not in ("hello", "stop"):
            self.answer(number, {"status": 0, **CANNED.get(name, {})})
            return True


class refuses_everything(base.Driver):
    """Offers what the base does and refuses all but hello, attach, reset and stop with a random HRESULT."""
    def before(self, number, name, params):
        if name not in ("hello", "attach", "reset", "stop"):
            self.answer(number, {"status": 0xC0000000 + random.SystemRandom().randrange(0x3FFFFFFF)})
            return True


class deviates_at_random(base.Driver):
    """Is wrong in about one of fifteen reads: another label, another priority, another message, or none, never the same way in a second try."""
    def after(self, number, name, result):
        chance = random.SystemRandom()
        if "message" in result and chance.random() < 0.07:
            message = {**result["message"], chance.choice(["label", "delivery"]): chance.choice(["express", "recoverable"])}
            return chance.choice([{"status": 0, "message": message}, {"status": base.TIMEOUT}, {"status": 0, "message": {**message, "priority": 99}}])
        return result


class deviates_only_once_in_its_life(base.Driver):
    """Gives one wrong label, the first time that something is received on a state folder, and is right for ever after."""
    def after(self, number, name, result):
        if "message" in result and self.asked > 20 and self.first("lie"):
            return {**result, "message": {**result["message"], "label": "wrong once"}}
        return result


class deviates_only_when_it_is_watched_again(base.Driver):
    """Is right for 200 requests and wrong for the next 200, and so on by turns; after a restart it is the other way round."""
    def after(self, number, name, result):
        if "message" in result and (self.asked // 200 + self.restarted) % 2:
            return {**result, "message": {**result["message"], "label": "wrong by turns"}}
        return result


class forgets_everything_in_a_restart(base.Driver):
    """Is perfect until it is killed, and then has lost every queue and message it said were kept; in each second life it has messages nobody sent."""
    def load(self):
        super().load()
        self.queues = {name: [{"body": "", "label": "ghost", "priority": 3, "delivery": "recoverable", "lookup_identifier": "1"}] * (os.getpid() % 2)
                       for name in self.queues if os.getpid() % 3}


class keeps_everything_over_a_reset(base.Driver):
    """Answers reset with success and forgets nothing, so that each test finds what all the tests before it have left."""
    def do_reset(self, number, params):
        return {"status": 0}


class corrupts_its_own_restart_with_a_half_written_state(base.Driver):
    """Writes its state in place and slowly, so that a kill leaves half of it, and crashes in hello after that, for ever."""
    def save(self):
        text = json.dumps([self.last, self.queues])
        with self.file().open("w") as file:
            for part in range(0, len(text), 64):
                file.write(text[part:part + 64])
                file.flush()
                time.sleep(0.0005)

    def load(self):
        if self.file().exists():
            self.last, self.queues = json.loads(self.file().read_text())


class answers_after_it_was_told_to_stop(base.Driver):
    """Says hello, answers stop twice, stays, answers requests that were sent long ago, and ends with exit code 139."""
    def do_stop(self, number, params):
        for other in range(1, number + 1):
            self.line(id=other, result={"status": 0})
        self.line(id=number, result={"status": 0})
        time.sleep(3)
        os._exit(139)


class moves_its_output_away(base.Driver):
    """Leads its stdout, at its 15th request, through a child that holds every line back for three seconds and mixes their order."""
    def before(self, number, name, params):
        if self.asked == 15:
            reads, writes = os.pipe()

            def mix():
                os.close(writes)
                with os.fdopen(reads, "rb") as lines:
                    while lines.readable():
                        time.sleep(3)
                        some = lines.read1(65536).splitlines(True)
                        if not some:
                            return
                        base.push(b"".join(reversed(some)))

            if base.child(mix, 110):
                os.dup2(writes, 1)
                os.close(writes)
                os.close(reads)
