"""Mutations of conversations: several packets are needed to see them."""
from mutbase import *

b1 = set_


def conv(name, section, sentence, reqs, fn, prov=True):
    add(name, section, sentence, reqs, fn, prov, True)


def two(wd, **k):
    a, b = pair(wd)
    return a, b, Session(wd, a, b, **k)


def q(s, b, n=11):
    return ("direct", "OS:%s\\inbox%d" % (b.name, n)) if s.direct else ("priv", b, n)


def m(s, a, i=0, **k):
    k.setdefault("body", b"message %d" % i)
    k.setdefault("label", "m%d" % i)
    return s.msg(a, q(s, s.peer(a)), **k)


def many(s, a, n, gap=10, **k):
    r = []
    for i in range(n):
        r.append(m(s, a, i, **k))
        s.w.adv(gap)
    return r


# ------------------------------------------------------------------ start of a session
S = "QB 2.1.1"


def init(steps, bad):
    """steps: names of what happens; the session is closed afterwards."""
    def fn(wd, isbad):
        a, b = pair(wd)

        def hs(s):
            for x in bad if isbad else steps:
                if x == "ecq":
                    s.ec()
                elif x == "ecr":
                    s.ec(True)
                elif x == "cpq":
                    s.rat = max(500, min(120000, 8 * (((a.up + (wd.t - wd.t0) // 1000) & INF) - s.ts))) if hasattr(s, "ts") else 500
                    s.cp()
                elif x == "cpr":
                    s.cp(True)
                elif x == "um":
                    m(s, a, rec=True)
                elif x == "mu":
                    m(s, b)
                elif x == "sack":
                    s.sack(a)
                elif x == "kcas":
                    s.sack(b)
                elif x == "oack":
                    st = wd.stream(b, a)
                    st.got = 1
                    s.oack(a, renew=False)
                elif x == "fack":
                    p = UMtx(s, b)
                    s.fack(a, p)
                elif x == "tx":
                    s.transaction(a, q(s, b), 2)
                elif x == "b-ecq":
                    p = L.Internal(2)
                    p.ec = NS(client=b.guid, server=a.guid, ts=b.up, RE=0x10, SE=1, OS=1, QS=0, X=0, res=0, pad=b"\x5A" * 512)
                    s.put(b, p, "b")
                wd.adv(20 if x == "ecq" else 8)
        s = Session(wd, a, b, hs=hs, auto=False)
        s.close(b)
    return fn


def UMtx(s, frm):
    p = s.make(frm, q(s, s.peer(frm)), body=b"x", rec=True, pr=0)
    p.tx = new_tx(FM=1, LM=1, id=frm.next_tx(), seq=(1, frm.txts), num=1, prev=0)
    return p


FULL = ["ecq", "ecr", "cpq", "cpr"]
I_ = "MQQB-2.1.1.initialization"
conv("init-message-first", S, "A session begins with EstablishConnection and ConnectionParameters; a user message comes first.", I_, init(["ecq"], ["um"]))
conv("init-message-after-ecq", S, "User messages follow the initialization; one follows the EstablishConnection request at once.", I_, init(["ecq"], ["ecq", "um"]))
conv("init-message-after-ecr", S, "User messages follow the initialization; one is sent in place of the ConnectionParameters request.", I_, init(["ecq", "ecr"], ["ecq", "ecr", "um"]))
conv("init-message-after-cpq", S, "User messages follow the initialization; the initiator sends one before the ConnectionParameters response.", I_, init(["ecq", "ecr", "cpq"], ["ecq", "ecr", "cpq", "um"]))
conv("init-acceptor-message", S, "User messages follow the initialization; the acceptor sends one before the ConnectionParameters request.", I_, init(["ecq", "ecr"], ["ecq", "ecr", "mu"]))
conv("init-transaction-after-ecr", S, "User messages follow the initialization; transactional ones are sent before it ends.", I_, init(["ecq", "ecr"], ["ecq", "ecr", "tx"]))
conv("init-sessionack-first", S, "A session begins with EstablishConnection; a SessionAck comes first.", I_, init(["ecq"], ["sack"]))
conv("init-sessionack-before-parameters", S, "SessionAcks follow the initialization; the acceptor sends one before the ConnectionParameters response.", I_, init(["ecq", "ecr", "cpq"], ["ecq", "ecr", "cpq", "kcas"]))
conv("init-parameters-first", S, "EstablishConnection comes before ConnectionParameters; the ConnectionParameters request is first.", I_, init(["ecq"], ["cpq"]))
conv("init-parameters-without-response", S, "ConnectionParameters follows the EstablishConnection response; the request is sent before it.", I_, init(["ecq"], ["ecq", "cpq"]))
conv("init-request-twice", S, "The EstablishConnection request is sent once; it is sent twice.", I_, init(["ecq"], ["ecq", "ecq"]))
conv("init-response-twice", S, "The EstablishConnection response is sent once; it is sent twice.", I_, init(["ecq", "ecr"], ["ecq", "ecr", "ecr"]))
conv("init-parameters-twice", S, "The ConnectionParameters request is sent once; it is sent twice.", I_, init(["ecq", "ecr", "cpq"], ["ecq", "ecr", "cpq", "cpq"]))
conv("init-parameters-response-twice", S, "The ConnectionParameters response is sent once; it is sent twice.", I_, init(FULL, FULL + ["cpr"]))
conv("init-parameters-response-alone", S, "The ConnectionParameters response follows the request; it is sent without one.", I_, init(["ecq", "ecr"], ["ecq", "ecr", "cpr"]))
conv("init-again-when-open", S, "Initialization happens once; an EstablishConnection request comes again on the open session.", I_, init(FULL + ["um"], FULL + ["um", "ecq"]))
conv("init-parameters-when-open", S, "Initialization happens once; a ConnectionParameters request comes again on the open session.", I_, init(FULL + ["um"], FULL + ["um", "cpq"]))
conv("init-acceptor-request", S, "The initiator sends the EstablishConnection request; the acceptor sends one of its own first.", I_, init(["ecq"], ["b-ecq"]))
conv("init-acceptor-request-when-open", S, "Initialization happens once; the acceptor sends an EstablishConnection request on the open session.", I_, init(FULL + ["um"], FULL + ["um", "b-ecq"]))
conv("init-orderack-early", "QB 3.1.5.6", "OrderAcks are for an open session; one is sent before the ConnectionParameters exchange.", I_, init(["ecq", "ecr"], ["ecq", "ecr", "oack"]), prov=True)
conv("init-finalack-early", "QB 3.1.5.7", "FinalAcks are for an open session; one is sent before the ConnectionParameters exchange.", I_, init(["ecq", "ecr"], ["ecq", "ecr", "fack"]), prov=True)

# ------------------------------------------------------------------ identities in the start
S = "QB 3.1.5.3.1"


def refuse(go_on):
    """The request asks for another queue manager, and is refused."""
    def fn(wd, bad):
        a, b = pair(wd)
        other = guid(wd.rng)

        def hs(s):
            s.edits["ecq"] = lambda p: setattr(p.ec, "server", other)

            def r(p):
                if not (bad and go_on == "accept"):
                    p.int.CS = 1
            s.edits["ecr"] = r
            s.ecpair()
            if bad and go_on == "goes-on":
                s.cp()
                wd.adv(8)
        s = Session(wd, a, b, hs=hs, auto=False)
        s.close(a)
    return fn


conv("refuse-not-refused", S, "A request for another queue manager must be refused; CS of the response is clear.", "MQQB-3.1.5.3.1.cs MQQB-3.1.5.3.1.server-guid MQQB-2.2.1.connection-state", refuse("accept"))
conv("refuse-goes-on", "QB 3.1.5.3.2", "On a response that refuses, the initiator closes the session; it sends the ConnectionParameters request.", "MQQB-3.1.5.3.2.invalid-closes", refuse("goes-on"))


def serverguid(direct_, null):
    def fn(wd, bad):
        a, b = pair(wd)
        e = {}
        if bad:
            e["ecq"] = lambda p: setattr(p.ec, "server", NULL if null else b.guid)
        s = Session(wd, a, b, direct=direct_, edits=e)
        many(s, a, 5)
        wd.adv(11000)
        s.close()
    return fn


conv("serverguid-null-not-direct", "QB 3.1.5.2.3", "ServerGuid is null only for direct names; it is, and the messages go to private queues.", "MQQB-3.1.5.2.3.server-guid EC:server-guid", serverguid(False, True))
conv("serverguid-with-direct", "QB 3.1.5.2.3", "ServerGuid is null for direct names; it is not, and the messages go to direct names.", "MQQB-3.1.5.2.3.server-guid EC:server-guid", serverguid(True, False))


def clientguid(wd, bad):
    a, b = pair(wd)
    g = guid(wd.rng)
    e = {t: (lambda p: setattr(p.ec, "client", g)) for t in ("ecq", "ecr")} if bad else {}
    s = Session(wd, a, b, edits=e)
    many(s, a, 5)
    wd.adv(11000)
    s.close()


conv("clientguid-other", "QB 3.1.5.2.3", "ClientGuid is the queue manager of the initiator; its own messages name another as their source.", "MQQB-3.1.5.2.3.client-guid EC:client-guid", clientguid)


def source_changes(wd, bad):
    a, b, s = two(wd)
    g = guid(wd.rng)
    for i in range(6):
        m(s, a, i, edit=(lambda p: setattr(p.user, "src", g)) if bad and i == 3 else None)
        wd.adv(20)
    wd.adv(11000)
    s.close()


conv("source-other-without-hop", "QB 3.1.5.8.2", "A message that is passed on has a hop count; one of another source has hop count 0.", "MQQB-3.1.5.8.2.hop-count U:source-queue-manager", source_changes)


def timestamps(delta):
    def fn(wd, bad):
        a, b = pair(wd)
        for i in range(2):
            def hs(s):
                up = a.up
                if bad and i:
                    a.up += delta
                s.ec()
                wd.adv(18)
                s.ec(True)
                wd.t += 700
                s.rat = 500
                a.up = up
                s.cp()
                wd.adv(8)
                s.cp(True)
            s = Session(wd, a, b, hs=hs)
            many(s, a, 3)
            wd.adv(11000)
            s.close()
            wd.adv(6000)
    return fn


conv("timestamp-jumps", "QB 3.1.5.2.3", "TimeStamp counts milliseconds since the system started; in 17 seconds it grows by an hour.", "MQQB-3.1.5.2.3.time-stamp", timestamps(3600000))
conv("timestamp-jumps-minute", "QB 3.1.5.2.3", "TimeStamp counts milliseconds since the system started; it grows by 60 seconds more than have passed.", "MQQB-3.1.5.2.3.time-stamp", timestamps(60000))
conv("timestamp-stands", "QB 3.1.5.2.3", "TimeStamp counts milliseconds since the system started; 15 of the 17 seconds are missing.", "MQQB-3.1.5.2.3.time-stamp", timestamps(-15000), prov=False)


def roundtrip(rtt, v):
    def fn(wd, bad):
        a, b = pair(wd)
        s = Session(wd, a, b, rtt=rtt, edits={t: (lambda p: setattr(p.cp, "rat", v)) for t in ("cpq", "cpr")} if bad else {})
        many(s, a, 3)
        wd.adv(11000)
        s.close()
    return fn


conv("roundtrip-too-small", "QB 3.1.5.3.2", "RecoverableAckTimeout is eight times the round trip; after 300 ms it is 500.", "MQQB-3.1.5.3.2.round-trip", roundtrip(300, 500))
conv("roundtrip-too-large", "QB 3.1.5.3.2", "RecoverableAckTimeout is eight times the round trip, but 500 at least; after 20 ms it is 4000.", "MQQB-3.1.5.3.2.round-trip", roundtrip(20, 4000))
conv("roundtrip-once", "QB 3.1.5.3.2", "RecoverableAckTimeout is eight times the round trip; after 900 ms it is 900.", "MQQB-3.1.5.3.2.round-trip", roundtrip(900, 900))

# ------------------------------------------------------------------ pings
S = "QB 2.2.7"


def ping(f, connect=True, **k):
    """f(c, bad) makes the ping; then a session."""
    def fn(wd, bad):
        a, b = pair(wd, server=k.get("server", True))
        f(NS(a=a, b=b, wd=wd, bad=bad))
        if connect:
            s = Session(wd, a, b, ping="done")
            many(s, a, 3)
            wd.adv(11000)
            s.close()
    return fn


def pq(**o):
    def f(c):
        x = {n: (v(c) if callable(v) else v) for n, v in o.items()} if c.bad else {}
        r = c.wd.ping_req(c.a, c.b, **x)
        c.wd.adv(2)
        c.wd.ping_resp(c.b, c.a, r)
        c.wd.adv(3)
    return f


def pr(wait=2, **o):
    def f(c):
        r = c.wd.ping_req(c.a, c.b)
        c.wd.adv(wait)
        x = {n: (v(c, r) if callable(v) else v) for n, v in o.items()} if c.bad else {}
        c.wd.ping_resp(c.b, c.a, r, **x)
        c.wd.adv(3)
    return f


def alone(f):
    return ping(f, connect=False)


def unanswered(**o):
    """A request that nobody answers (a receiver ignores it)."""
    def f(c):
        c.wd.ping_req(c.a, c.b, **({n: (v(c) if callable(v) else v) for n, v in o.items()} if c.bad else {}))
        c.wd.adv(1500)
    return f


conv("ping-request-signature", S, "A ping carries the signature 0x5548; a request has 0x4855.", "PING:signature", alone(unanswered(sig=0x4855)))
conv("ping-response-signature", S, "A ping carries the signature 0x5548; a response has 0.", "PING:signature", alone(pr(sig=0)))
conv("ping-request-longer", S, "A ping has 24 bytes; a request has 28.", "PING:size", alone(unanswered(tail=b"\0" * 4)))
conv("ping-request-shorter", S, "A ping has 24 bytes; a request has 8 (QMGuid is missing).", "PING:size", alone(unanswered(guid=b"")))
conv("ping-response-shorter", S, "A ping has 24 bytes; a response has 20.", "PING:size", alone(pr(cut=20)))
conv("ping-request-rf", S, "RF of a request is clear; it is set.", "PING:request-rf", ping(pq(RF=1)))
conv("ping-response-rc", S, "A response repeats RC; it has it set and the request had not.", "PING:response-rc", ping(pr(RC=1)))
conv("ping-response-rc-clear", S, "A response repeats RC; it has it clear and the request had it set.", "PING:response-rc", ping(pr(RC=0), server=False))
conv("ping-response-cookie", S, "A response repeats the Cookie; it is one more.", "PING:response-cookie", alone(pr(cookie=lambda c, r: r.cookie + 1)))
conv("ping-response-cookie-zero", S, "A response repeats the Cookie; it is 0.", "PING:response-cookie", alone(pr(cookie=0)))
conv("ping-response-cookie-bytes", S, "A response repeats the Cookie; its bytes are the other way round.", "PING:response-cookie", alone(pr(cookie=lambda c, r: struct.unpack(">I", struct.pack("<I", r.cookie))[0])))
conv("ping-response-port", "QB 2.1.2", "A response goes to the port its request came from; it goes to 3527.", "MQQB-2.1.2.response-address", alone(pr(dport=3527)), prov=False)
conv("ping-response-port-next", "QB 2.1.2", "A response goes to the port its request came from; it goes to the next one.", "MQQB-2.1.2.response-address", alone(pr(dport=lambda c, r: r.sport + 1)))


def ping_to_other(c):
    x = c.wd.qm("delta", "10.200.3.4")
    r = c.wd.ping_req(c.a, c.b)
    c.wd.adv(2)
    c.wd.ping_resp(c.b, c.a, r, to=x if c.bad else None)
    c.wd.adv(3)


conv("ping-response-address", "QB 2.1.2", "A response goes to the address its request came from; it goes to another.", "MQQB-2.1.2.response-address", alone(ping_to_other))
conv("ping-request-qmguid", S, "QMGuid of a request is the initiator; the session after it names another ClientGuid.", "PING:qm-guid", ping(pq(guid=lambda c: guid(c.wd.rng))))
conv("ping-request-qmguid-acceptor", S, "QMGuid of a request is the initiator; it is the acceptor.", "PING:qm-guid", ping(pq(guid=lambda c: c.b.guid)))


def ping_while_open(**o):
    def fn(wd, bad):
        a, b = pair(wd)
        s = Session(wd, a, b)
        many(s, a, 3)
        r = wd.ping_req(a, b)
        wd.adv(2)
        wd.ping_resp(b, a, r, **({n: v(a, b, wd) for n, v in o.items()} if bad else {}))
        wd.adv(11000)
        s.close()
    return fn


conv("ping-response-qmguid", S, "QMGuid of a response is the acceptor; it differs from that of the open session.", "PING:response-qm-guid", ping_while_open(guid=lambda a, b, wd: guid(wd.rng)))
conv("ping-response-qmguid-initiator", S, "QMGuid of a response is the acceptor; it repeats that of the request.", "PING:response-qm-guid", ping_while_open(guid=lambda a, b, wd: a.guid))


def cookies(vals):
    def fn(wd, bad):
        a, b = pair(wd)
        c0 = a.cookie
        for i in range(4):
            r = wd.ping_req(a, b, **({"cookie": vals(c0, i)} if bad else {}))
            wd.adv(3)
            wd.ping_resp(b, a, r, RF=1)
            wd.adv(4000)
    return fn


conv("ping-cookie-same", "QB 3.1.7.6", "Each request has the next Cookie; they all have the same.", "MQQB-3.1.7.6.cookie", cookies(lambda c, i: c + 1))
conv("ping-cookie-steps", "QB 3.1.7.6", "Each request has the next Cookie; it grows by 2 each time.", "MQQB-3.1.7.6.cookie", cookies(lambda c, i: c + 2 * i + 1), prov=False)
conv("ping-cookie-falls", "QB 3.1.7.6", "Each request has the next Cookie; it goes back by one each time.", "MQQB-3.1.7.6.cookie", cookies(lambda c, i: c + 10 - i))
conv("ping-refused-connects", "QB 3.1.7.6", "When the response has RF no session is made; one is.", "MQQB-3.1.7.6.refused", ping(pr(RF=1)))


def late(ms):
    def f(c):
        r = c.wd.ping_req(c.a, c.b)
        c.wd.adv(ms if c.bad else 300)
        c.wd.ping_resp(c.b, c.a, r)
        c.wd.adv(3)
    return f


conv("ping-late-1200", "QB 3.1.2.9", "A response is waited for one second; a session is made on one that took 1200 ms.", "MQQB-3.1.2.9.one-second", ping(late(1200)))
conv("ping-late-2500", "QB 3.1.2.9", "A response is waited for one second; a session is made on one that took 2500 ms.", "MQQB-3.1.2.9.one-second", ping(late(2500)))


def unanswered_connect(c):
    r = c.wd.ping_req(c.a, c.b)
    c.wd.adv(2)
    if not c.bad:
        c.wd.ping_resp(c.b, c.a, r)
    c.wd.adv(1100)


conv("ping-unanswered-connects", "QB 3.1.7.6", "Without a response in time no session is made; one is, right after the second.", "MQQB-3.1.2.9.one-second MQQB-3.1.7.6.timer", ping(unanswered_connect), prov=False)


def se(v, pinged):
    def fn(wd, bad):
        a, b = pair(wd)
        s = Session(wd, a, b)
        many(s, a, 2)
        wd.adv(11000)
        s.close()
        wd.adv(6000)
        if pinged:
            wd.ping(a, b)
        s = Session(wd, a, b, ping="done" if pinged else False, edits={t: (lambda p: setattr(p.ec, "SE", v)) for t in ("ecq", "ecr")} if bad else {})
        many(s, a, 3)
        wd.adv(11000)
        s.close()
    return fn


conv("ec-se-pinged", "QB 2.2.3.1", "SE is 0 when the acceptor was pinged; it is 1.", "EC:se MQQB-3.1.5.2.3.se", se(1, True))
conv("ec-se-not-pinged", "QB 2.2.3.1", "SE is 1 when the acceptor was not pinged; it is 0.", "EC:se MQQB-3.1.5.2.3.se", se(0, False))


def osflag(v, server):
    def fn(wd, bad):
        a, b = pair(wd, server=server)
        wd.ping(a, b)
        s = Session(wd, a, b, ping="done", edits={t: (lambda p: setattr(p.ec, "OS", v)) for t in ("ecq", "ecr")} if bad else {})
        many(s, a, 3)
        wd.adv(11000)
        s.close()
    return fn


conv("ec-os-client-as-server", "QB 2.2.3.1", "OS tells the kind of system; the ping before said that it is no server, OS that it is.", "EC:os MQQB-2.2.7.request-rc", osflag(1, False))
conv("ec-os-server-as-client", "QB 2.2.3.1", "OS tells the kind of system; the ping before said that it is a server, OS that it is not.", "EC:os MQQB-2.2.7.request-rc", osflag(0, True))

# ------------------------------------------------------------------ counts of a session
S = "MQ 2.2.20.4"


def sk(mut, rec=None, n=6, back=0, stop=True, wait=400):
    """a sends n messages (rec tells which are recoverable); b answers with `back` messages; b's SessionAck is changed."""
    def fn(wd, bad):
        a, b, s = two(wd)
        s.auto = False
        for i in range(n):
            m(s, a, i, rec=(rec(i) if rec else False))
            wd.adv(9)
        for i in range(back):
            m(s, b, i, rec=i == 1)
            wd.adv(9)
        if back:
            s.sack(a)
            wd.adv(5)
        s.sack(b)
        wd.adv(30)
        for i in range(n):
            m(s, a, n + i, rec=(rec(i) if rec else False))
            wd.adv(9)
        wd.adv(wait - 9 * n if rec else 2000)
        s.sack(b, edit=(lambda p: mut(p.sess)) if bad else None)
        wd.adv(20)
        if not stop:
            many(s, a, 2)
            wd.adv(3000)
            s.sack(b)
            wd.adv(20)
        s.close(a)
    return fn


def setter(**k):
    def f(x):
        for n, v in k.items():
            setattr(x, n, v(x) if callable(v) else v)
    return f


even = lambda i: i % 2 == 0
conv("count-ack-more", S, "AckSequenceNumber is the count of messages received; it is one more than were sent.", "S:ack-sequence-number MQQB-3.1.1.6.1.acknowledged-were-sent", sk(setter(ack=lambda x: x.ack + 1)))
conv("count-ack-many-more", S, "AckSequenceNumber is the count of messages received; it is 1000 more than were sent.", "S:ack-sequence-number MQQB-3.1.1.6.1.acknowledged-were-sent", sk(setter(ack=lambda x: x.ack + 1000)))
conv("count-ack-less", S, "AckSequenceNumber is the count of messages received; two that came two seconds ago are missing.", "S:ack-sequence-number MQQB-3.1.6.4.acknowledged", sk(setter(ack=lambda x: x.ack - 2), stop=False), prov=False)
conv("count-ack-back", S, "AckSequenceNumber never goes back; it is 2 after 6.", "MQQB-3.1.1.6.1.never-decreases S:ack-sequence-number", sk(setter(ack=2)))
conv("count-ack-zero", S, "AckSequenceNumber never goes back; it is 0 after 6.", "MQQB-3.1.1.6.1.never-decreases S:ack-sequence-number", sk(setter(ack=0)))
conv("count-ack-bytes", S, "AckSequenceNumber is little-endian; its bytes are the other way round.", "S:ack-sequence-number MQQB-3.1.1.6.1.acknowledged-were-sent", sk(setter(ack=lambda x: x.ack << 8)))
conv("count-ack-per-packet", S, "AckSequenceNumber counts all messages of the session; it counts those since the last acknowledgment less one.", "MQQB-3.1.1.6.1.never-decreases S:ack-sequence-number", sk(setter(ack=5)))
conv("count-sent-more", S, "UserMsgSequenceNumber is the count of messages sent; it is one more.", "S:user-msg-sequence-number MQQB-3.1.7.1.3.user-messages-sent MQQB-3.1.6.4.sent", sk(setter(um=lambda x: x.um + 1), back=3))
conv("count-sent-less", S, "UserMsgSequenceNumber is the count of messages sent; it is one less.", "S:user-msg-sequence-number MQQB-3.1.7.1.3.user-messages-sent MQQB-3.1.6.4.sent", sk(setter(um=lambda x: x.um - 1), back=3))
conv("count-sent-none", S, "UserMsgSequenceNumber is the count of messages sent; it is 1 where none was.", "S:user-msg-sequence-number MQQB-3.1.7.1.3.user-messages-sent MQQB-3.1.6.4.sent", sk(setter(um=1)))
conv("count-sent-is-received", S, "UserMsgSequenceNumber is the count of messages sent; it is that of messages received.", "S:user-msg-sequence-number MQQB-3.1.7.1.3.user-messages-sent MQQB-3.1.6.4.sent", sk(setter(um=lambda x: x.ack), back=3))
conv("count-recoverable-sent-more", S, "RecoverableMsgSeqNumber is the count of recoverable messages sent; it counts all three messages, of which one was recoverable.", "S:recoverable-sequence-number MQQB-3.1.7.1.3.recoverable-messages-sent MQQB-3.1.6.4.recoverable-sent", sk(setter(rm=lambda x: x.um), back=3))
conv("count-recoverable-sent-zero", S, "RecoverableMsgSeqNumber is the count of recoverable messages sent; it is 0 after one.", "S:recoverable-sequence-number MQQB-3.1.7.1.3.recoverable-messages-sent MQQB-3.1.6.4.recoverable-sent", sk(setter(rm=0), back=3))
conv("count-recoverable-sent-none", S, "RecoverableMsgSeqNumber is 0 as long as no recoverable message was sent; it is 2.", "S:recoverable-sequence-number-zero S:recoverable-sequence-number MQQB-3.1.7.1.3.recoverable-messages-sent", sk(setter(rm=2)))
conv("rec-number-without-flags", S, "RecoverableMsgAckSeqNumber is 0 when nothing recoverable is acknowledged; it is 1 without flags.", "S:recoverable-ack-none MQQB-3.1.6.4.recoverable-none", sk(setter(rack=1)))
conv("rec-flags-without-number", S, "RecoverableMsgAckFlags is 0 when nothing recoverable is acknowledged; it is 1 and the number is 0.", "S:recoverable-ack-none MQQB-3.1.6.4.recoverable-none", sk(setter(rflags=1)))
conv("rec-number-missing", S, "RecoverableMsgAckSeqNumber is the lowest number acknowledged; it is 0 with the flags of three messages.", "S:recoverable-ack-none MQQB-3.1.6.4.recoverable-none S:recoverable-ack-lowest", sk(setter(rack=0), rec=even))
conv("rec-flags-missing", S, "RecoverableMsgAckFlags has a bit for each message saved; it is 0 with the number of the first.", "S:recoverable-ack-none MQQB-3.1.6.4.recoverable-none S:recoverable-ack-flags", sk(setter(rflags=0), rec=even))
conv("rec-first-bit", S, "Bit 0 stands for the message RecoverableMsgAckSeqNumber names; it is clear and bits 1 to 3 are set.", "S:recoverable-ack-first-bit MQQB-3.1.6.4.recoverable-lowest", sk(setter(rack=lambda x: x.rack - 1, rflags=lambda x: x.rflags << 1), rec=even))
conv("rec-first-bit-clear", S, "Bit 0 stands for the message RecoverableMsgAckSeqNumber names; it is clear.", "S:recoverable-ack-first-bit MQQB-3.1.6.4.recoverable-lowest", sk(setter(rflags=lambda x: x.rflags & ~1), rec=even))
conv("rec-again", S, "A recoverable message is acknowledged once; those acknowledged before are so again.", "MQQB-3.1.6.4.recoverable-once S:recoverable-ack-lowest", sk(setter(rack=1, rflags=0x3F), rec=even))
conv("rec-last-again", S, "A recoverable message is acknowledged once; the last one acknowledged before is so again.", "MQQB-3.1.6.4.recoverable-once S:recoverable-ack-lowest", sk(setter(rack=lambda x: x.rack - 1, rflags=lambda x: x.rflags << 1 | 1), rec=even))
conv("rec-not-sent", S, "Only messages that were sent are acknowledged; the flags have one bit more.", "MQQB-3.1.1.6.1.recoverable-were-sent S:recoverable-ack-flags", sk(setter(rflags=lambda x: x.rflags << 1 | 1), rec=even))
conv("rec-not-sent-far", S, "Only messages that were sent are acknowledged; bit 31 is set.", "MQQB-3.1.1.6.1.recoverable-were-sent S:recoverable-ack-flags", sk(setter(rflags=lambda x: x.rflags | 1 << 31), rec=even))
conv("rec-number-not-sent", S, "Only messages that were sent are acknowledged; the number is 10 higher.", "MQQB-3.1.1.6.1.recoverable-were-sent S:recoverable-ack-lowest", sk(setter(rack=lambda x: x.rack + 10), rec=even))
conv("rec-number-of-all", S, "RecoverableMsgAckSeqNumber counts recoverable messages; it counts all.", "MQQB-3.1.1.6.1.recoverable-were-sent S:recoverable-ack-lowest", sk(setter(rack=lambda x: x.ack - 5), rec=even))
conv("rec-express", S, "Only recoverable messages have a number here; express ones are acknowledged like them.", "MQQB-3.1.1.6.1.recoverable-were-sent", sk(setter(rack=7, rflags=0x3F)))
conv("rec-skipped", S, "RecoverableMsgAckSeqNumber is the lowest number not acknowledged; the first one is left out.", "S:recoverable-ack-lowest S:recoverable-ack-flags", sk(setter(rack=lambda x: x.rack + 1, rflags=lambda x: x.rflags >> 1), rec=even), prov=False)
conv("rec-hole", S, "Each message saved has its bit; that of the second of three is clear.", "S:recoverable-ack-flags", sk(setter(rflags=5), rec=even), prov=False)


def pg(mut, rec=False, stop=True):
    """b sends a message with a SessionHeader, which is changed."""
    def fn(wd, bad):
        a, b, s = two(wd)
        s.auto = False
        many(s, a, 3, rec=rec)
        s.sack(b)
        m(s, b, 0)
        many(s, a, 4, rec=rec)
        wd.adv(7700 if not rec else 380)
        p = s.make(b, q(s, a), body=b"an answer", rec=True)
        x = s.send
        if bad:
            p.raw = None
            old = s.header

            def h(qm):
                r = old(qm)
                mut(r)
                return r
            s.header = h
            s.send(b, p, sh=True)
            s.header = old
        else:
            s.send(b, p, sh=True)
        wd.adv(30)
        s.close(a)
    return fn


conv("header-um-own", S, "UserMsgSequenceNumber of a message counts that message too; it does not.", "S:user-msg-sequence-number MQQB-3.1.7.1.3.user-messages-sent", pg(setter(um=lambda x: x.um - 1)))
conv("header-um-more", S, "UserMsgSequenceNumber is the count of messages sent; it is one more.", "S:user-msg-sequence-number MQQB-3.1.7.1.3.user-messages-sent", pg(setter(um=lambda x: x.um + 1)))
conv("header-rm-own", S, "RecoverableMsgSeqNumber of a recoverable message counts that message too; it does not.", "S:recoverable-sequence-number MQQB-3.1.7.1.3.recoverable-messages-sent", pg(setter(rm=lambda x: x.rm - 1)))
conv("header-ack-more", S, "AckSequenceNumber is the count of messages received; it is 3 more.", "S:ack-sequence-number MQQB-3.1.1.6.1.acknowledged-were-sent", pg(setter(ack=lambda x: x.ack + 3)))
conv("header-ack-back", S, "AckSequenceNumber never goes back; it is 1 after 3.", "MQQB-3.1.1.6.1.never-decreases S:ack-sequence-number", pg(setter(ack=1)))
conv("header-rec-again", S, "A recoverable message is acknowledged once; a SessionHeader acknowledges all from the first.", "MQQB-3.1.6.4.recoverable-once", pg(setter(rack=1, rflags=0x7F), rec=True))
conv("header-rec-bit", S, "Bit 0 stands for the message RecoverableMsgAckSeqNumber names; it is clear in a user message.", "S:recoverable-ack-first-bit MQQB-3.1.6.4.recoverable-lowest", pg(setter(rflags=0xE), rec=True))
conv("header-rec-not-sent", S, "Only messages that were sent are acknowledged; a user message acknowledges 16 of them.", "MQQB-3.1.1.6.1.recoverable-were-sent", pg(setter(rflags=0xFFFF), rec=True))
conv("header-window", S, "WindowSize is no larger than in ConnectionParameters; it is 0x0100 in a user message.", "MQQB-3.1.6.4.window-size S:window-size-default", pg(setter(win=0x100)))


def next_session(wd, bad):
    """The counts of the first session go on in the second."""
    a, b = pair(wd)
    base = 0
    for i in range(2):
        s = Session(wd, a, b, auto=False)
        many(s, a, 5)
        wd.adv(3000)
        s.sack(b, edit=(lambda p: setattr(p.sess, "ack", 10)) if bad and i else None)
        wd.adv(20)
        s.close(a)
        wd.adv(6000)


conv("count-over-sessions", "QB 3.1.3.2", "The counts begin anew with each session; AckSequenceNumber goes on from the session before.", "MQQB-3.1.1.6.1.acknowledged-were-sent S:ack-sequence-number S:sequence-number-from-one", next_session)


def sent_over_sessions(wd, bad):
    a, b = pair(wd)
    for i in range(2):
        s = Session(wd, a, b, auto=False)
        many(s, b, 4)
        many(s, a, 2)
        wd.adv(3000)
        s.sack(b, edit=(lambda p: setattr(p.sess, "um", 8)) if bad and i else None)
        wd.adv(20)
        s.close(a)
        wd.adv(6000)


conv("sent-over-sessions", "QB 3.1.3.2", "The counts begin anew with each session; UserMsgSequenceNumber goes on from the session before.", "S:user-msg-sequence-number MQQB-3.1.7.1.3.user-messages-sent MQQB-3.1.6.4.sent", sent_over_sessions)
# ------------------------------------------------------------------ when acknowledgments are sent
S = "QB 3.1.6.4"


def nothing(kind):
    def fn(wd, bad):
        a, b, s = two(wd)
        s.auto = False
        if kind != "first":
            many(s, a, 4)
            wd.adv(2000)
            s.sack(b)
            wd.adv(5000)
        if kind == "other":
            # the side that has received nothing
            if bad:
                s.sack(a)
        elif bad:
            s.sack(b)
        wd.adv(50)
        many(s, a, 2)
        wd.adv(2000)
        s.sack(b)
        wd.adv(20)
        s.close(a)
    return fn


conv("sack-nothing-again", S, "A SessionAck is sent only when something came; it is sent again five seconds later.", "MQQB-3.1.6.4.something-to-acknowledge", nothing("again"))
conv("sack-nothing-first", S, "A SessionAck is sent only when something came; one is sent right after the initialization.", "MQQB-3.1.6.4.something-to-acknowledge", nothing("first"))
conv("sack-nothing-other", S, "A SessionAck is sent only when something came; the sender of the messages sends one.", "MQQB-3.1.6.4.something-to-acknowledge", nothing("other"))


def late_ack(rec, ms, ok, at=20000, rtt=20, mixed=False):
    def fn(wd, bad):
        a, b, s = two(wd, at=at, rtt=rtt)
        s.auto = False
        for i in range(4):
            m(s, a, i, rec=rec and (not mixed or i == 1))
            wd.adv(9)
        wd.adv(ms if bad else ok)
        s.sack(b)
        wd.adv(30)
        s.close(a)
    return fn


S2 = "QB 3.1.5.8.2"
T_ = "MQQB-3.1.5.8.2.acknowledged-in-time"
conv("late-express", S2, "A message is acknowledged within half of AckTimeout, here 10 seconds; it took 16.", T_, late_ack(False, 16000, 9900))
conv("late-express-60", S2, "A message is acknowledged within half of AckTimeout, here 60 seconds; it took 90.", T_, late_ack(False, 90000, 59000, at=120000))
conv("late-express-whole", S2, "A message is acknowledged within half of AckTimeout, here 10 seconds; it took 19.8.", T_, late_ack(False, 19800, 9900))
conv("late-recoverable", S2, "A recoverable message is acknowledged within RecoverableAckTimeout, here 500 ms; it took 3 seconds.", T_, late_ack(True, 3000, 440))
conv("late-recoverable-9", S2, "A recoverable message is acknowledged within RecoverableAckTimeout, here 500 ms; it took 9 seconds.", T_, late_ack(True, 9000, 440))
conv("late-recoverable-2400", S2, "A recoverable message is acknowledged within RecoverableAckTimeout, here 2400 ms; it took 6 seconds.", T_, late_ack(True, 6000, 2300, rtt=300))
conv("late-mixed", S2, "One recoverable message among express ones has the acknowledgment sent within RecoverableAckTimeout; it took 7 seconds.", T_, late_ack(True, 7000, 430, mixed=True))


def late_tx(wd, bad):
    a, b, s = two(wd)
    s.auto = False
    s.transaction(a, q(s, b), 3, gap=5, body=b"t")
    if bad:
        wd.adv(510)
        s.oack(b)
        wd.adv(2500)
        s.sack(b)
    else:
        wd.adv(470)
        s.sack(b)
        wd.adv(60)
        s.oack(b)
        wd.adv(2500)
    wd.adv(30)
    s.sack(a)
    wd.adv(20)
    s.close(a)


conv("late-transactional", S2, "Transactional messages are recoverable and acknowledged within RecoverableAckTimeout; the SessionAck takes 3 seconds, the OrderAck comes before.", T_, late_tx)


def window(n, rec=False, rtt=20):
    def fn(wd, bad):
        a, b, s = two(wd, rtt=rtt)
        s.auto = False
        lim = 30 if rec else 64
        for i in range(n):
            if not bad and i and i % lim == 0:
                s.sack(b)
                wd.adv(2)
            m(s, a, i, rec=rec)
            wd.adv(1)
        wd.adv(20)
        s.sack(b)
        wd.adv(20)
        s.close(a)
    return fn


conv("window-66", "QB 3.1.7.1", "No more messages than WindowSize (64) are under way; 66 are.", "MQQB-3.1.7.1.window", window(66))
conv("window-100", "QB 3.1.7.1", "No more messages than WindowSize (64) are under way; 100 are.", "MQQB-3.1.7.1.window", window(100))


def at_once(n, rtt):
    def fn(wd, bad):
        a, b, s = two(wd, rtt=rtt)
        s.auto = not bad
        for i in range(n):
            m(s, a, i, rec=True)
            wd.adv(2)
        wd.adv(300)
        if bad:
            r = s.st[b]
            k = r.rrecv - r.last
            s.sack(b, edit=lambda p: setattr(p.sess, "rflags", (1 << min(k, 32)) - 1))
            r.last = r.rrecv - (k - 32)
            wd.adv(5)
        else:
            wd.adv(5)
        s.close(a)
    return fn


conv("at-once-40", "QB 3.1.5.8.7", "An acknowledgment is sent at once when 32 recoverable messages wait and one more comes; it is not, and 40 wait.", "MQQB-3.1.5.8.7.recoverable-at-once", at_once(40, 300))
conv("at-once-60", "QB 3.1.5.8.7", "An acknowledgment is sent at once when 32 recoverable messages wait and one more comes; it is not, and 60 wait.", "MQQB-3.1.5.8.7.recoverable-at-once", at_once(60, 300))


def no_header(wd, bad):
    """After 80 percent of the time a message carries the acknowledgment."""
    a, b, s = two(wd)
    s.auto = False
    many(s, a, 3)
    wd.adv(8200)
    p = s.make(b, q(s, a), body=b"an answer")
    s.send(b, p, sh=not bad)
    wd.adv(20)
    if bad:
        s.sack(b)
        wd.adv(20)
    s.close(a)


conv("header-not-included", "QB 3.1.7.11", "A message made after 75 percent of the time carries the acknowledgment that is owed; it does not, and a SessionAck follows.", "MQQB-3.1.7.11.header-included", no_header, prov=False)


def header_early(wd, bad):
    a, b, s = two(wd)
    s.auto = False
    many(s, a, 3)
    wd.adv(50)
    p = s.make(b, q(s, a), body=b"an answer")
    s.send(b, p, sh=bool(bad))
    wd.adv(20)
    if not bad:
        s.sack(b)
        wd.adv(20)
    s.close(a)


conv("header-early", "QB 3.1.7.11", "A message carries an acknowledgment only after 75 percent of the time; it does after 1 percent.", "MQQB-3.1.7.11.header-included", header_early, prov=False)
# ------------------------------------------------------------------ transactional sequences
S = "QB 3.1.7.1.3"


def txs(plan, badplan, stop=True, wait=1500, flags=None, direct=False):
    """plan: a list of steps:
    ("t", n, opts)  a transaction of n messages; opts(i, p) changes message i
    ("w", ms)       wait (acknowledgments fall due)
    ("f", fn)       call fn(c)
    """
    def fn(wd, bad):
        a, b, s = two(wd, direct=direct)
        c = NS(wd=wd, a=a, b=b, s=s, ms=[], st=wd.stream(a, b))
        for x in badplan if bad else plan:
            if x[0] == "t":
                tid = x[3](c) if len(x) > 3 and x[3] else a.next_tx()
                for i in range(x[1]):
                    o = x[2] if len(x) > 2 else None
                    c.ms.append(s.txmsg(a, q(s, b, 30), i == 0, i == x[1] - 1, tid, body=b"part %d" % len(c.ms), label="t",
                                        edit=(lambda p, i=i: o(i, p, c)) if o else None))
                    wd.adv(6)
            elif x[0] == "w":
                wd.adv(x[1])
            else:
                x[1](c)
        wd.adv(3 if stop else wait)
        s.close(b)
    return fn


T2 = [("t", 2), ("w", 1500), ("t", 4)]


def on(i, **k):
    def f(j, p, c):
        if j == i:
            for n, v in k.items():
                setattr(p.tx, n, v(p.tx) if callable(v) else v)
    return f


conv("tx-number-gap", S, "A message has the number after the last one's; one number is left out.", "MQQB-3.1.7.1.3.next-number T:sequence-number", txs(T2, [("t", 2), ("w", 1500), ("t", 4, lambda i, p, c: on(i, num=i + 2, prev=i + 1)(i, p, c) if i >= 2 else None)]))
conv("tx-number-repeated", S, "A message has the number after the last one's; it has the last one's itself.", "MQQB-3.1.7.1.3.next-number T:sequence-number", txs(T2, [("t", 2), ("w", 1500), ("t", 4, on(3, num=3, prev=2))]))
conv("tx-number-back", S, "A message has the number after the last one's; it begins again with 1.", "MQQB-3.1.7.1.3.next-number T:sequence-number", txs(T2, [("t", 2), ("w", 1500), ("t", 4, on(3, num=1, prev=0))]))
conv("tx-number-by-two", S, "The numbers grow by 1; they grow by 2.", "MQQB-3.1.7.1.3.next-number T:sequence-number", txs(T2, [("t", 2), ("w", 1500), ("t", 4, lambda i, p, c: on(i, num=2 * i + 1, prev=max(0, 2 * i - 1))(i, p, c))]))
conv("tx-previous-older", S, "A new message names the one just before as previous; it names the one before that.", "MQQB-3.1.7.1.3.previous-number T:previous", txs(T2, [("t", 2), ("w", 1500), ("t", 4, on(2, prev=1))]))
conv("tx-previous-zero", S, "A new message names the one just before as previous; it names none.", "MQQB-3.1.7.1.3.previous-number T:previous", txs(T2, [("t", 2), ("w", 1500), ("t", 4, on(2, prev=0))]))
conv("tx-previous-zero-all", S, "A new message names the one just before as previous; none of them does.", "MQQB-3.1.7.1.3.previous-number T:previous", txs(T2, [("t", 2), ("w", 1500), ("t", 4, lambda i, p, c: on(i, prev=0)(i, p, c))]))
conv("tx-previous-later", "MQ 2.2.20.5", "PreviousTxSequenceNumber is that of an earlier message; it is larger than the message's own.", "T:previous-before T:previous MQQB-3.1.7.1.3.previous-number", txs(T2, [("t", 2), ("w", 1500), ("t", 4, on(2, prev=9))]))
S = "QB 3.1.1.5"


def newseq(c, d=(1, 0), num=1):
    c.st.seq = (c.st.seq[0] + d[0], c.st.seq[1] + d[1])
    c.st.num = num
    c.st.got = 0


conv("tx-sequence-too-early", S, "A new sequence begins when all of the one before is acknowledged; it begins with four not acknowledged.", "MQQB-3.1.1.5.all-acknowledged", txs([("t", 4), ("t", 2)], [("t", 4), ("f", newseq), ("t", 2)]))
conv("tx-sequence-each-transaction", S, "A new sequence begins when all of the one before is acknowledged; each transaction has its own at once.", "MQQB-3.1.1.5.all-acknowledged", txs([("t", 2), ("t", 2), ("t", 3)], [("t", 2), ("f", newseq), ("t", 2), ("f", newseq), ("t", 3)]))
conv("tx-sequence-ordinal-2", S, "The next sequence has the next Ordinal; it has the one after it.", "MQQB-3.1.1.5.next-sequence", txs(T2, [("t", 2), ("w", 1500), ("f", lambda c: newseq(c)), ("t", 4)]))
conv("tx-sequence-time", S, "The next sequence has the same TimeStamp; it is 5 seconds later, with the next Ordinal.", "MQQB-3.1.1.5.next-sequence", txs(T2, [("t", 2), ("w", 1500), ("f", lambda c: newseq(c, (0, 5))), ("t", 4)]), prov=False)
conv("tx-sequence-older", S, "No message is sent on an older sequence; a new one has the Ordinal before.", "MQQB-3.1.1.5.older-sequence", txs([("t", 2), ("w", 1500), ("t", 2), ("w", 1500), ("t", 3)], [("t", 2), ("w", 1500), ("t", 2), ("w", 1500), ("f", lambda c: newseq(c, (-2, 0), 3)), ("t", 3)]))
conv("tx-sequence-older-time", S, "No message is sent on an older sequence; a new one has an earlier TimeStamp.", "MQQB-3.1.1.5.older-sequence", txs(T2, [("t", 2), ("w", 1500), ("f", lambda c: newseq(c, (0, -100))), ("t", 4)]))
conv("tx-sequence-first-number", S, "The first message of a sequence has number 1; numbers go on from the sequence before.", "MQQB-3.1.1.5.first-number T:sequence-number-from-one", txs(T2, [("t", 2), ("w", 1500), ("f", lambda c: newseq(c, (0, 0), 3)), ("t", 4)]))
conv("tx-sequence-first-zero", S, "The first message of a sequence has number 1; it has 0.", "T:sequence-number-range MQQB-3.1.1.5.first-number", txs(T2, [("t", 2), ("w", 1500), ("t", 4, lambda i, p, c: on(i, num=i, prev=max(0, i - 1))(i, p, c))]))
conv("tx-sequence-goes-on", S, "When all is acknowledged the next sequence begins; messages go on in the one that is acknowledged.", "MQQB-3.1.1.5.next-sequence", txs(T2, [("t", 2), ("w", 1500), ("f", lambda c: (newseq(c, (-1, 0), 3), setattr(c.st, "got", 2))), ("t", 4)]), prov=False)
conv("tx-sequence-in-the-middle", S, "Only one sequence is used at a time; one message in the middle has the next.", "MQQB-3.1.1.5.all-acknowledged MQQB-3.1.1.5.first-number", txs(T2, [("t", 2), ("w", 1500), ("t", 4, on(3, seq=lambda t: (t.seq[0] + 1, t.seq[1]), num=1, prev=0))]))
S = "MQ 2.2.20.5"
conv("tx-first-missing", S, "FM is set in the first message of a transaction; it is clear.", "T:first-in-transaction", txs(T2, [("t", 2), ("w", 1500), ("t", 4, on(0, FM=0))]))
conv("tx-first-twice", S, "FM is set in the first message of a transaction alone; the second has it too.", "T:first-in-transaction", txs(T2, [("t", 2), ("w", 1500), ("t", 4, on(1, FM=1))]))
conv("tx-first-everywhere", S, "FM is set in the first message of a transaction alone; all have it.", "T:first-in-transaction", txs(T2, [("t", 2), ("w", 1500), ("t", 4, lambda i, p, c: on(i, FM=1)(i, p, c))]))
conv("tx-first-alone-missing", S, "FM is set in the only message of a transaction; it is clear.", "T:first-in-transaction", txs([("t", 2), ("w", 1500), ("t", 1), ("t", 2)], [("t", 2), ("w", 1500), ("t", 1, on(0, FM=0)), ("t", 2)]))
conv("tx-last-missing", S, "LM is set in the last message of a transaction; it is clear, and the next transaction follows.", "T:last-in-transaction", txs([("t", 3), ("t", 3)], [("t", 3, on(2, LM=0)), ("t", 3)]))
conv("tx-last-alone-missing", S, "LM is set in the only message of a transaction; it is clear, and the next transaction follows.", "T:last-in-transaction", txs([("t", 1), ("t", 3)], [("t", 1, on(0, LM=0)), ("t", 3)]))
conv("tx-last-twice", S, "LM is set in the last message of a transaction alone; the one before has it too.", "T:last-in-transaction", txs(T2, [("t", 2), ("w", 1500), ("t", 4, on(2, LM=1))]))
conv("tx-last-first", S, "LM is set in the last message of a transaction alone; the first of four has it.", "T:last-in-transaction", txs(T2, [("t", 2), ("w", 1500), ("t", 4, on(0, LM=1))]))
conv("tx-first-last-swapped", S, "FM is set in the first message of a transaction and LM in the last; they are exchanged.", "T:first-in-transaction T:last-in-transaction", txs(T2, [("t", 2), ("w", 1500), ("t", 4, lambda i, p, c: on(i, FM=int(i == 3), LM=int(i == 0))(i, p, c))]))
conv("tx-identifier-changes", S, "All messages of a transaction have the same identifier; the third has another.", "T:transaction-identifier", txs(T2, [("t", 2), ("w", 1500), ("t", 4, on(2, id=lambda t: t.id + 40000))]))
conv("tx-identifier-changes-last", S, "All messages of a transaction have the same identifier; the last has the one before.", "T:transaction-identifier", txs(T2, [("t", 2), ("w", 1500), ("t", 4, on(3, id=lambda t: t.id - 1))]))
conv("tx-identifier-counts", S, "All messages of a transaction have the same identifier; it grows by 1 with each.", "T:transaction-identifier", txs(T2, [("t", 2), ("w", 1500), ("t", 4, lambda i, p, c: on(i, id=lambda t: t.id + i)(i, p, c))]))
conv("tx-identifier-again", S, "No two transactions have the same identifier; the second has that of the first.", "T:transaction-identifier-unique", txs(T2, [("t", 2), ("w", 1500), ("t", 4, None, lambda c: c.ms[0].tx.id)]))
conv("tx-identifier-zero", S, "No two transactions have the same identifier; all have 0.", "T:transaction-identifier-unique", txs([("t", 2), ("t", 2), ("t", 2)], [("t", 2, None, lambda c: 0), ("t", 2, None, lambda c: 0), ("t", 2, None, lambda c: 0)]))


def interleave(wd, bad):
    a, b, s = two(wd)
    x, y = a.next_tx(), a.next_tx()
    order = [(x, 0), (y, 0), (x, 1), (y, 1)] if bad else [(x, 0), (x, 1), (y, 0), (y, 1)]
    for t, i in order:
        s.txmsg(a, q(s, b, 30), i == 0, i == 1, t, body=b"part")
        wd.adv(6)
    wd.adv(3)
    s.close(b)


conv("tx-interleaved", S, "The messages between the first and the last of a transaction are its own; two transactions are mixed.", "T:first-in-transaction T:last-in-transaction T:transaction-identifier", interleave, prov=False)
# ------------------------------------------------------------------ sent again
S = "QB 3.1.6.5"


def again(wait, mut=None, order_=None, edit=None, router=True, skip=None):
    """No OrderAck comes (the way leads over a router); the messages are sent again."""
    def fn(wd, bad):
        a, c_, b = pair(wd, True)
        s = Session(wd, a, c_)
        s.noorder = True
        tid = a.next_tx()
        ms = []
        for i in range(4):
            ms.append(s.txmsg(a, ("priv", b, 30), i == 0, i == 3, tid, body=b"part %d" % i, label="t"))
            wd.adv(6)
        wd.adv((wait if bad else 30.5) * 1000)
        lst = list(ms)
        if bad and order_:
            lst = [ms[i] for i in order_]
        for i, x in enumerate(lst):
            s.again(a, x, edit=(lambda p, i=i: mut(i, p, NS(a=a, b=b, ms=ms))) if bad and mut else None)
            wd.adv(4)
        wd.adv(600)
        s.close(c_)
    return fn


conv("again-too-early", S, "Transactional messages are sent again after 30 seconds; after 5.", "MQQB-3.1.6.5.resend-interval", again(5))
conv("again-much-too-early", S, "Transactional messages are sent again after 30 seconds; after 1.", "MQQB-3.1.6.5.resend-interval", again(1))
conv("again-20-seconds", S, "Transactional messages are sent again after 30 seconds; after 20.", "MQQB-3.1.6.5.resend-interval", again(20))
conv("again-order-reversed", S, "Messages are sent again in the order of their numbers; in the reverse order.", "MQQB-3.1.6.5.resend-order", again(30.5, order_=[3, 2, 1, 0]))
conv("again-order-swapped", S, "Messages are sent again in the order of their numbers; two are exchanged.", "MQQB-3.1.6.5.resend-order", again(30.5, order_=[0, 2, 1, 3]))
conv("again-renumbered", "QB 3.1.7.1.3", "A message sent again keeps its number; all have new ones that go on.", "MQQB-3.1.7.1.3.resent-number", again(30.5, lambda i, p, c: (setattr(p.tx, "num", p.tx.num + 4), setattr(p.tx, "prev", p.tx.prev + 4))))
conv("again-other-sequence", "QB 3.1.7.1.3", "A message sent again keeps its sequence; all have the next one.", "MQQB-3.1.7.1.3.resent-number MQQB-3.1.1.5.all-acknowledged", again(30.5, lambda i, p, c: setattr(p.tx, "seq", (p.tx.seq[0] + 1, p.tx.seq[1]))))
conv("again-previous-higher", "QB 3.1.7.1.3", "A message sent again names the same previous one, or an earlier one; the first names 1 and has 1.", "MQQB-3.1.7.1.3.resent-previous T:previous-before", again(30.5, lambda i, p, c: setattr(p.tx, "prev", p.tx.prev + 1) if i == 0 else None))
conv("again-new-message-id", "QB 3.1.7.1.1", "A message sent again keeps its identifier; it has a new one.", "MQQB-3.1.7.1.3.resent-number MQQB-3.1.7.1.1.identifier", again(30.5, lambda i, p, c: setattr(p.user, "mid", c.a.next_mid())), prov=False)
conv("again-exchanged-numbers", "QB 3.1.7.1.3", "A message sent again keeps its number; those of the second and third are exchanged.", "MQQB-3.1.7.1.3.resent-number", again(30.5, lambda i, p, c: (setattr(p.tx, "num", 5 - p.tx.num), setattr(p.tx, "prev", p.tx.num - 1)) if i in (1, 2) else None, order_=[0, 2, 1, 3]))
conv("again-flags-changed", "MQ 2.2.20.5", "FM is set in the first message of a transaction; when it is sent again it is clear.", "T:first-in-transaction", again(30.5, lambda i, p, c: setattr(p.tx, "FM", 0)))
conv("again-last-changed", "MQ 2.2.20.5", "LM is set in the last message of a transaction alone; when sent again the third has it too.", "T:last-in-transaction", again(30.5, lambda i, p, c: setattr(p.tx, "LM", 1) if i == 2 else None))
conv("again-identifier-changed", "MQ 2.2.20.5", "The identifier of a transaction stays the same; when sent again all have another.", "T:transaction-identifier", again(30.5, lambda i, p, c: setattr(p.tx, "id", p.tx.id + 9)))


def cut_again(mut=None, ttrq=345600, wait=6000, badonly=None):
    """The connection breaks; what is not acknowledged is sent again on the next session."""
    def fn(wd, bad):
        a, b = pair(wd)
        s = Session(wd, a, b)
        ms = [m(s, a, i, rec=True, ttrq=ttrq) for i in range(4)]
        wd.adv(30)
        s.close(a, rst=True)
        wd.adv(wait)
        s = Session(wd, a, b)
        for i, x in enumerate(ms):
            if ttrq < 100 and not bad:
                continue
            s.again(a, x, edit=(lambda p, i=i: mut(i, p, NS(a=a, b=b, ms=ms))) if bad and mut else None)
            wd.adv(4)
        many(s, a, 3, rec=True)
        wd.adv(12000)
        s.close()
    return fn


conv("expired-again", "QB 3.1.7.1.2", "A message is not sent when its time to reach the queue is over; four of 3 seconds are sent again after 6.", "MQQB-3.1.7.1.2.expired B:time-to-reach-queue-expired-sender", cut_again(ttrq=3))
conv("again-identifier-used-twice", "QB 3.1.7.1.1", "Two messages never have the same MessageID; one sent again has another body and the same identifier.", "MQQB-3.1.7.1.1.identifier U:message-id-unique", cut_again(lambda i, p, c: setattr(p.mph, "body", b"another body altogether") if i == 2 else None))


def expired(age, ttrq):
    def fn(wd, bad):
        a, b, s = two(wd)
        for i in range(5):
            m(s, a, i, ttrq=ttrq if i == 3 else INF, edit=(lambda p: setattr(p.user, "sent", p.user.sent - age)) if i == 3 and bad else None)
            wd.adv(20)
        wd.adv(11000)
        s.close()
    return fn


conv("expired-minute", "QB 3.1.7.1.2", "A message is not sent when its time to reach the queue is over; one of 60 seconds is sent after 90.", "MQQB-3.1.7.1.2.expired B:time-to-reach-queue-expired-sender", expired(90, 60))
conv("expired-days", "QB 3.1.7.1.2", "A message is not sent when its time to reach the queue is over; one of 345600 seconds is sent after five days.", "MQQB-3.1.7.1.2.expired B:time-to-reach-queue-expired-sender", expired(432000, 345600))
conv("expired-zero", "QB 3.1.7.1.2", "A message is not sent when its time to reach the queue is over; one of 0 seconds is sent after 10.", "MQQB-3.1.7.1.2.expired B:time-to-reach-queue-expired-sender", expired(10, 0))
# ------------------------------------------------------------------ identifiers
S = "QB 3.1.7.1.1"


def idents(f, n=6, direct=False):
    """f(i, p, list of messages) changes message i."""
    def fn(wd, bad):
        a, b, s = two(wd, direct=direct)
        ms = []
        for i in range(n):
            ms.append(m(s, a, i, edit=(lambda p: f(i, p, ms)) if bad else None))
            wd.adv(15)
        wd.adv(11000)
        s.close()
    return fn


ID = "MQQB-3.1.7.1.1.identifier U:message-id-unique MQMQ-2.2.18.1.3.ordinal-unique"
conv("id-twice", S, "Two messages never have the same MessageID; the fifth has that of the second.", ID, idents(lambda i, p, ms: setattr(p.user, "mid", ms[1].user.mid) if i == 4 else None))
conv("id-twice-next", S, "Two messages never have the same MessageID; one has that of the one before.", ID, idents(lambda i, p, ms: setattr(p.user, "mid", ms[2].user.mid) if i == 3 else None, direct=True))
conv("id-always-same", S, "Two messages never have the same MessageID; all have the same.", ID, idents(lambda i, p, ms: setattr(p.user, "mid", ms[0].user.mid) if i else None))
conv("id-falls", S, "Messages to one queue get rising identifiers; they fall.", "MQQB-3.1.7.1.1.ordinal", idents(lambda i, p, ms: setattr(p.user, "mid", p.user.mid - 2 * i - 20)))
conv("id-falls-once", S, "Messages to one queue get rising identifiers; the fourth has a lower one than the first.", "MQQB-3.1.7.1.1.ordinal", idents(lambda i, p, ms: setattr(p.user, "mid", ms[0].user.mid - 5) if i == 3 else None))


def id_sessions(wd, bad):
    a, b = pair(wd)
    first = None
    for i in range(2):
        s = Session(wd, a, b)
        ms = []
        for j in range(4):
            ms.append(m(s, a, 4 * i + j, edit=(lambda p: setattr(p.user, "mid", first[j].user.mid)) if bad and i else None))
            wd.adv(20)
        first = first or ms
        wd.adv(11000)
        s.close()
        wd.adv(6000)


conv("id-again-next-session", S, "Two messages never have the same MessageID; those of the second session have those of the first.", ID, id_sessions)


def id_ack(wd, bad):
    a, b, s = two(wd)
    o = {}
    ms = many(s, b, 2)
    s.st[b].otimer = None
    t = s.transaction(a, q(s, b, 30), 2, gap=5, body=b"t")
    s.edits["oack"] = (lambda p: setattr(p.user, "mid", ms[1].user.mid)) if bad else None
    wd.adv(12000)
    s.close()


conv("id-orderack", S, "Two messages never have the same MessageID; an OrderAck has that of a message before.", ID, id_ack)
# ------------------------------------------------------------------ OrderAck and FinalAck
S = "QB 3.1.1.6.2"


def oa(plan):
    """plan(c, bad) after a session has been made; nothing falls due by itself."""
    def fn(wd, bad):
        a, b, s = two(wd)
        s.auto = False
        plan(NS(wd=wd, a=a, b=b, s=s, st=wd.stream(a, b)), bad)
        wd.adv(4)
        s.close(a)
    return fn


def tx(c, n, **k):
    return c.s.transaction(c.a, q(c.s, c.b, 30), n, gap=5, body=b"part", **k)


def o_not_sent(k):
    def p(c, bad):
        tx(c, 3)
        c.wd.adv(480)
        c.s.sack(c.b)
        c.wd.adv(40)
        c.s.oack(c.b, num=3 + k if bad else 3, renew=False)
    return oa(p)


conv("oack-not-sent", S, "An OrderAck acknowledges what was received; it has number 4 and three were sent.", "MQQB-3.1.1.6.2.in-order MQQB-3.1.5.8.6.accepted", o_not_sent(1))
conv("oack-not-sent-far", S, "An OrderAck acknowledges what was received; it has number 103 and three were sent.", "MQQB-3.1.1.6.2.in-order MQQB-3.1.5.8.6.accepted", o_not_sent(100))


def o_back(c, bad):
    tx(c, 4)
    c.wd.adv(470)
    c.s.sack(c.b)
    c.wd.adv(40)
    c.s.oack(c.b, num=3)
    tx(c, 2)
    c.wd.adv(470)
    c.s.sack(c.b)
    c.wd.adv(40)
    c.s.oack(c.b, num=2 if bad else 6, renew=False)


conv("oack-back", S, "The number an OrderAck acknowledges never goes back; it is 2 after 3.", "MQQB-3.1.1.6.2.never-decreases", oa(o_back))


def o_early(ms):
    def p(c, bad):
        tx(c, 3)
        if bad:
            c.wd.adv(ms)
            c.s.oack(c.b)
            c.wd.adv(465 - ms)
            c.s.sack(c.b)
        else:
            c.wd.adv(470)
            c.s.sack(c.b)
            c.wd.adv(40)
            c.s.oack(c.b)
    return oa(p)


conv("oack-early", "QB 3.1.2.7", "An OrderAck is sent 500 ms after a message; it is sent after 40.", "MQQB-3.1.2.7.order-ack-delay", o_early(40))
conv("oack-at-once", "QB 3.1.2.7", "An OrderAck is sent 500 ms after a message; it is sent at once.", "MQQB-3.1.2.7.order-ack-delay", o_early(0.2))
conv("oack-early-300", "QB 3.1.2.7", "An OrderAck is sent 500 ms after a message; it is sent after 300.", "MQQB-3.1.2.7.order-ack-delay", o_early(300))


def o_before(c, bad):
    """An OrderAck for a sequence nothing was sent of."""
    if bad:
        c.st.got = 1
        c.s.oack(c.b, renew=False)
        c.wd.adv(600)
    c.st.got = 0
    tx(c, 2)
    c.wd.adv(470)
    c.s.sack(c.b)
    c.wd.adv(40)


conv("oack-before-message", "QB 2.2.4.1", "An OrderAck names a message that was received; none was sent yet.", "OAB:sequence MQQB-3.1.1.6.2.in-order", oa(o_before))


def o_sender(c, bad):
    """The sender acknowledges its own messages."""
    tx(c, 3)
    c.wd.adv(470)
    c.s.sack(c.b)
    c.wd.adv(40)
    if bad:
        st = c.st
        body = struct.pack("<IIII", st.seq[0], st.seq[1], 3, 2) + bytes(20)
        c.s.ackmsg(c.a, 0xFF, body, 0, "oack")
    else:
        c.s.oack(c.b)


conv("oack-by-sender", "MQ 2.2.18.1.6", "An OrderAck is sent by the queue manager of the destination to the sender; the sender sends it to the destination.", "MQMQ-2.2.18.1.6.order-ack-sender OAB:sequence", oa(o_sender))


def o_form(direct_, tag):
    def mut(p, c):
        if direct_:
            p.user.DQ, p.user.dq, p.user.addr = 3, L.private_id(4), c.a.guid
        else:
            p.user.DQ, p.user.dq, p.user.addr = 7, direct("TCP:%s\\PRIVATE$\\order_queue$" % c.a.ip), NULL
    return acks(tag, mut, direct=direct_)


for tag, n in (("oack", "OrderAck"), ("fack", "FinalAck")):
    conv(tag + "-form-private", "QB 3.1.7.17", "An %s goes to a direct name where the messages did; it goes to private queue 4." % n, "MQQB-3.1.7.17.destination-form", o_form(True, tag))
    conv(tag + "-form-direct", "QB 3.1.7.17", "An %s goes to private queue 4 where the messages went to a private queue; it goes to a direct name." % n, "MQQB-3.1.7.17.destination-form", o_form(False, tag))
    conv(tag + "-address-own", "QB 2.2.%d" % (4 if tag == "oack" else 5), "The address in the name of the order queue is that of the queue manager the %s goes to; it is that of its sender." % n,
         ("OA" if tag == "oack" else "FA") + ":address", acks(tag, name_(lambda c: "TCP:%s\\PRIVATE$\\order_queue$" % c.b.ip), direct=True), prov=False)
    conv(tag + "-address-guid", "QB 3.1.7.17", "The private queue of an %s is that of the queue manager at the other end; QueueManagerAddress is another." % n,
         "MQQB-3.1.7.17.private-name " + ("OA" if tag == "oack" else "FA") + ":destination", acks(tag, lambda p, c: setattr(p.user, "addr", guid(c.r))))


def o_direction(c, bad):
    """Sequences run both ways; the OrderAck names the wrong one."""
    tx(c, 3)
    c.s.transaction(c.b, q(c.s, c.a, 31), 2, gap=5, body=b"back")
    c.wd.adv(440)
    c.s.sack(c.b)
    c.s.sack(c.a)
    c.wd.adv(70)
    o = c.wd.stream(c.b, c.a)
    c.s.oack(c.b, num=2 if bad else 3, seq=o.seq if bad else None, renew=False)


conv("oack-own-sequence", "QB 2.2.4.1", "An OrderAck names a sequence that came from the other side; it names one of its own sender.", "OAB:sequence", oa(o_direction))


def o_old(c, bad):
    tx(c, 2)
    c.wd.adv(470)
    c.s.sack(c.b)
    c.wd.adv(40)
    old = c.st.seq
    c.s.oack(c.b)
    tx(c, 3)
    c.wd.adv(470)
    c.s.sack(c.b)
    c.wd.adv(40)
    c.s.oack(c.b, num=3, seq=old if bad else None, renew=False)


conv("oack-old-sequence", S, "An OrderAck acknowledges no number beyond those received; it has number 3 of a sequence of two.", "MQQB-3.1.1.6.2.in-order OAB:sequence", oa(o_old))
S = "QB 2.2.5.1"


def fa(mod=None, n=3, cls=0x4000, txk=None, plan=None, **o):
    """A transaction, its acknowledgments, then a FinalAck for the second message; o: what is changed in its body."""
    def p(c, bad):
        c.ms = tx(c, n, **(dict(jp=1) if txk is None else txk))
        c.wd.adv(470)
        c.s.sack(c.b)
        c.wd.adv(40)
        c.s.oack(c.b, renew=False)
        c.wd.adv(800)
        k = {x: (v(c) if callable(v) else v) for x, v in o.items()} if bad else {}
        if plan:
            plan(c, bad)
        else:
            c.s.fack(c.b, c.ms[1], cls, **k)
    return oa(p)


conv("fack-other-message", S, "MessageID names the message with this sequence and number; it is that of the third, the number that of the second.", "FAB:message-id", fa(mid=lambda c: c.ms[2].user.mid))
conv("fack-unknown-message", S, "MessageID is that of a message with this sequence and number; no message has it.", "FAB:message-id", fa(mid=lambda c: c.ms[2].user.mid + 5000))
conv("fack-other-number", S, "TxSequenceNumber is that of the message named; it is that of the first.", "FAB:sequence-number", fa(num=1, prev=0))
conv("fack-number-not-sent", S, "TxSequenceNumber is that of the message named; it is 30.", "FAB:sequence-number", fa(num=30))
conv("fack-previous-number", S, "TxPreviousSequenceNumber is that of the message named; it is its own number.", "FAB:previous", fa(prev=2))
conv("fack-previous-none", S, "TxPreviousSequenceNumber is that of the message named; it is 0 in place of 1.", "FAB:previous", fa(prev=0))
conv("fack-other-sequence", S, "TxSequenceID is that of the message named; it is the next one.", "FAB:sequence", fa(seq=lambda c: (c.ms[1].tx.seq[0] + 1, c.ms[1].tx.seq[1])))
conv("fack-other-source", S, "SourceGUID is the queue manager that sent the message; it is a third one.", "FAB:source-guid", fa(src=lambda c: guid(c.wd.rng)))
conv("fack-not-wanted", "QB 3.1.7.2.2", "A positive FinalAck is sent for messages that ask for journaling or for it; the message asks for neither.", "MQQB-3.1.7.2.2.wanted", fa(txk={}, plan=lambda c, bad: c.s.fack(c.b, c.ms[1]) if bad else None))
conv("fack-not-wanted-all", "QB 3.1.7.2.2", "A positive FinalAck is sent for messages that ask for journaling or for it; three are sent that nobody asked for.", "MQQB-3.1.7.2.2.wanted",
     fa(txk={}, plan=lambda c, bad: [c.s.fack(c.b, x) for x in c.ms] if bad else None))


def f_express(c, bad):
    """A FinalAck for a message that is not transactional."""
    ms = many(c.s, c.a, 3, rec=True)
    t = tx(c, 2, jp=1)
    c.wd.adv(440)
    c.s.sack(c.b)
    c.wd.adv(80)
    c.s.oack(c.b, renew=False)
    c.wd.adv(300)
    c.s.fack(c.b, t[0], **({"mid": ms[1].user.mid} if bad else {}))


conv("fack-not-transactional", S, "A FinalAck names a transactional message; MessageID is that of a recoverable one.", "FAB:message-id", oa(f_express))
# ------------------------------------------------------------------ administration acknowledgments
S = "QB 3.1.7.15"


def ad(mut=None, cls=2, ack=3, rec=False, direct_=False, make=None, admin="priv", stop=False, txn=False, resp=None, feat=None, before=None):
    """a sends a message that asks for acknowledgments, b sends one; mut(p, c) changes it."""
    def fn(wd, bad):
        a, b, s = two(wd, direct=direct_)
        c = NS(wd=wd, a=a, b=b, s=s, r=wd.rng)
        adm_ = ("direct", "OS:%s\\private$\\acks" % a.name) if direct_ else (("priv", a, 9) if admin == "priv" else ("pub", a, guid(wd.rng)))
        plain(s, a, b, 2)
        k = dict(body=b"please acknowledge", label="ask", ack=ack, admin=adm_ if ack else None)
        if txn:
            c.m = s.txmsg(a, q(s, b), True, True, a.next_tx(), edit=(lambda p: feat(p, c)) if feat else None, **k)
        else:
            c.m = s.msg(a, q(s, b), rec=rec, edit=(lambda p: feat(p, c)) if feat else None, **k)
        wd.adv(5)
        if make:
            make(c, bad)
        else:
            s.adm(b, c.m, cls, edit=(lambda p: mut(p, c)) if bad else None)
        wd.adv(12000)
        s.close()
    return fn


CO = "MQQB-3.1.7.15.correlation P:correlation-id-acknowledged"
conv("adm-correlation-id", S, "CorrelationID names the message acknowledged; its number is that of no message.", CO, ad(lambda p, c: setattr(p.mph, "corr", c.a.guid + struct.pack("<I", c.m.user.mid + 900))))
conv("adm-correlation-zero", S, "CorrelationID names the message acknowledged; it is zero.", CO, ad(b1("mph.corr", bytes(20))))
conv("adm-correlation-guid", S, "CorrelationID names the message acknowledged; its GUID is that of the acknowledging queue manager.", CO, ad(lambda p, c: setattr(p.mph, "corr", c.b.guid + p.mph.corr[16:])))
conv("adm-correlation-order", S, "CorrelationID is a GUID and a number; the number comes first.", CO, ad(lambda p, c: setattr(p.mph, "corr", p.mph.corr[16:] + p.mph.corr[:16])))
conv("adm-correlation-bytes", S, "The number of CorrelationID is little-endian; its bytes are the other way round.", CO, ad(lambda p, c: setattr(p.mph, "corr", p.mph.corr[:16] + p.mph.corr[:15:-1])))
conv("adm-correlation-own", S, "CorrelationID names the message acknowledged; it names the acknowledgment itself.", CO, ad(lambda p, c: setattr(p.mph, "corr", p.user.src + struct.pack("<I", p.user.mid))))
conv("adm-recoverable", S, "The acknowledgment of an express message is express; it is recoverable.", "MQQB-3.1.7.15.delivery", ad(b1("user.DM", 1)))
conv("adm-express", S, "The acknowledgment of a recoverable message is recoverable; it is express.", "MQQB-3.1.7.15.delivery", ad(b1("user.DM", 0), rec=True))
conv("adm-express-negative", S, "The negative acknowledgment of a recoverable message is recoverable; it is express.", "MQQB-3.1.7.15.delivery", ad(b1("user.DM", 0), rec=True, cls=0x8003, ack=4))
conv("adm-ttrq", S, "TimeToReachQueue of an acknowledgment is 0xFFFFFFFF; it is 345600.", "MQQB-3.1.7.15.times", ad(b1("base.ttrq", 345600)))
conv("adm-ttbr", S, "TimeToBeReceived of an acknowledgment is 0xFFFFFFFF; it is 3600.", "MQQB-3.1.7.15.times", ad(b1("user.ttbr", 3600)))
conv("adm-jn", S, "An acknowledgment asks for no negative journaling; it does.", "MQQB-3.1.7.15.plain", ad(b1("user.JN", 1)))
conv("adm-jp", S, "An acknowledgment asks for no positive journaling; it does.", "MQQB-3.1.7.15.plain", ad(b1("user.JP", 1)))
conv("adm-asks", S, "An acknowledgment asks for no acknowledgment; it asks for one, with an administration queue.", "MQQB-3.1.7.15.plain", ad(lambda p, c: (setattr(p.mph, "flags", 2), setattr(p.user, "AQ", 2), setattr(p.user, "aq", L.private_id(77)))))
conv("adm-encrypted", S, "An acknowledgment has no privacy level; it is encrypted.", "MQQB-3.1.7.15.plain", ad(lambda p, c: encrypt(p, c.b, c.r, 5, 0x6610, st=0), cls=0x8003, ack=4), prov=True)
conv("adm-signed", S, "An acknowledgment is not signed; it is.", "MQQB-3.1.7.15.unsigned", ad(lambda p, c: sign(p, c.b, st=2)))
conv("adm-destination-number", S, "An acknowledgment goes to the administration queue; it goes to another private queue.", "MQQB-3.1.7.15.destination", ad(b1("user.dq", L.private_id(10))))
conv("adm-destination-public", S, "An acknowledgment goes to the administration queue; it goes to a public queue.", "MQQB-3.1.7.15.destination", ad(lambda p, c: (setattr(p.user, "DQ", 5), setattr(p.user, "dq", guid(c.r)))))
conv("adm-destination-guid", S, "An acknowledgment goes to the administration queue, a public one; it goes to another.", "MQQB-3.1.7.15.destination", ad(lambda p, c: setattr(p.user, "dq", guid(c.r)), admin="pub"))
conv("adm-destination-direct", S, "An acknowledgment goes to the administration queue, a direct name; it goes to another.", "MQQB-3.1.7.15.destination", ad(name_(lambda c: "OS:%s\\private$\\ack" % c.a.name), direct_=True, cls=0x4000))
conv("adm-destination-response", S, "An acknowledgment goes to the administration queue; it goes to the queue with the number of the destination queue.", "MQQB-3.1.7.15.destination", ad(b1("user.dq", L.private_id(11))))
conv("adm-response-missing", S, "The response queue of an acknowledgment is the destination of the message; there is none.", "MQQB-3.1.7.15.response-queue", ad(lambda p, c: (setattr(p.user, "RQ", 0), setattr(p.user, "rq", b""))))
conv("adm-response-other", S, "The response queue of an acknowledgment is the destination of the message; it is another.", "MQQB-3.1.7.15.response-queue", ad(b1("user.rq", L.private_id(12))))
conv("adm-response-host", S, "The response queue of an acknowledgment is the destination of the message; it is on the wrong side (RQ 3).", "MQQB-3.1.7.15.response-queue", ad(b1("user.RQ", 3)))
conv("adm-response-direct", S, "The response queue of an acknowledgment is the destination of the message; it is another direct name.", "MQQB-3.1.7.15.response-queue", ad(name_(lambda c: "OS:%s\\inbox" % c.b.name, "rq"), direct_=True, cls=0x4000))
RQ_ = "MQQB-3.1.7.15.requested"
conv("adm-not-asked-receive", S, "An acknowledgment is sent where the message asks for it; it asks for that of the arrival, that of the receive is sent.", RQ_, ad(ack=1, make=lambda c, bad: c.s.adm(c.b, c.m, 0x4000 if bad else 2)))
conv("adm-not-asked-arrival", S, "An acknowledgment is sent where the message asks for it; it asks for that of the receive, that of the arrival is sent.", RQ_, ad(ack=2, make=lambda c, bad: c.s.adm(c.b, c.m, 2 if bad else 0x4000)))
conv("adm-not-asked-negative", S, "An acknowledgment is sent where the message asks for it; it asks for negative ones, a positive one is sent.", RQ_, ad(ack=12, make=lambda c, bad: c.s.adm(c.b, c.m, 2 if bad else 0x8003)))
conv("adm-not-asked-positive", S, "An acknowledgment is sent where the message asks for it; it asks for positive ones, a negative one is sent.", RQ_, ad(ack=3, make=lambda c, bad: c.s.adm(c.b, c.m, 0x8003 if bad else 2)))
conv("adm-not-asked-receive-negative", S, "An acknowledgment is sent where the message asks for it; it asks for the negative one of the arrival, that of the receive is sent.", RQ_, ad(ack=4, make=lambda c, bad: c.s.adm(c.b, c.m, 0xC002 if bad else 0x8003)))
conv("adm-not-asked-arrival-negative", S, "An acknowledgment is sent where the message asks for it; it asks for the negative one of the receive, that of the arrival is sent.", RQ_, ad(ack=8, make=lambda c, bad: c.s.adm(c.b, c.m, 0x8003 if bad else 0xC001)))


def not_asked(c, bad):
    if bad:
        c.m.info.admin = ("priv", c.a, 9)
        c.s.adm(c.b, c.m, 2)


conv("adm-not-asked-at-all", S, "An acknowledgment is sent where the message asks for it; it asks for none and names no queue.", RQ_ + " MQQB-3.1.7.15.destination", ad(ack=0, make=not_asked))
BO = "MQQB-3.1.7.15.body"
conv("adm-body-missing", S, "A negative acknowledgment returns the body; it has none.", BO, ad(b1("mph.body", b""), cls=0x8003, ack=4))
conv("adm-body-changed", S, "A negative acknowledgment returns the body; one byte is another.", BO, ad(lambda p, c: setattr(p.mph, "body", b"P" + p.mph.body[1:]), cls=0xC001, ack=8))
conv("adm-body-cut", S, "A negative acknowledgment returns the body; half of it is missing.", BO, ad(lambda p, c: setattr(p.mph, "body", p.mph.body[:9]), cls=0xC002, ack=8))
conv("adm-body-encrypted", S, "A negative acknowledgment does not return an encrypted body; it does.", BO, ad(lambda p, c: setattr(p.mph, "body", c.m.mph.body), cls=0x8003, ack=4, feat=lambda p, c: encrypt(p, c.a, c.r, 5, 0x6610)))
conv("adm-not-transactional-queue", "QB 3.1.5.8.2", "NOT_TRANSACTIONAL_Q is for transactional messages; it is sent for one that is none.", "MQQB-3.1.5.8.2.not-transactional-queue MQMQ-2.2.18.1.6.nack-not-transactional-q", ad(ack=4, make=lambda c, bad: c.s.adm(c.b, c.m, 0x8009 if bad else 0x8003)))
conv("adm-not-transactional-message", "QB 3.1.5.8.2", "NOT_TRANSACTIONAL_MSG is for messages outside transactions; it is sent for a transactional one.", "MQQB-3.1.5.8.2.not-transactional-message MQMQ-2.2.18.1.6.nack-not-transactional-msg", ad(ack=4, txn=True, make=lambda c, bad: c.s.adm(c.b, c.m, 0x800A if bad else 0x8003)))
conv("adm-class-normal-value", "MQ 2.2.18.1.6", "The acknowledgment of the arrival has class 0x0002; it has 0x8008, which is no class of an acknowledgment.", "P:message-class", ad(b1("mph.cls", 0x8008)), prov=False)
# ------------------------------------------------------------------ reports
S = "QB 3.1.7.1.7"


def rp(mut=None, texts=None, rec=False, make=None, dest=None, feat=None):
    """a sends a traced message, and reports on it to a public queue of b."""
    def fn(wd, bad):
        a, b, s = two(wd)
        c = NS(wd=wd, a=a, b=b, s=s, r=wd.rng)
        g = guid(wd.rng)
        c.g = g
        plain(s, a, b, 2)
        c.m = s.msg(a, dest(c) if dest else ("priv", b, 33), body=b"where am I", label="traced", edit=None if feat == "none" and bad else (lambda p: trace(p, g)))
        wd.adv(1)
        lab, bd = s.report_texts(c.m, True, b)
        if bad and texts:
            lab, bd = texts(lab, bd, c)
        s.report(a, c.m, ("pub", b, g), True, edit=(lambda p: mut(p, c)) if bad and mut else None, texts=(lab, bd))
        wd.adv(12000)
        s.close()
    return fn


LB, BD = "MQQB-3.1.7.1.7.label", "MQQB-3.1.7.1.7.body"
conv("report-recoverable", S, "A report is express; it is recoverable.", "MQQB-3.1.7.1.7.delivery", rp(b1("user.DM", 1)))
conv("report-private-queue", S, "A report goes to the public queue of the DebugHeader; it goes to a private queue.", "MQQB-3.1.7.1.7.destination", rp(lambda p, c: (setattr(p.user, "DQ", 3), setattr(p.user, "dq", L.private_id(3)))))
conv("report-other-queue", S, "A report goes to the public queue of the DebugHeader; it goes to another public queue.", "MQQB-3.1.7.1.7.destination D:queue-identifier-layout", rp(lambda p, c: setattr(p.user, "dq", guid(c.r))), prov=True)
for name, sentence, f in (
        ("label-received", "The label has the words received by; it has sent by.", lambda l: l.replace("received by", "sent by")),
        ("label-colon", "A colon stands between the parts of the label; a full stop does.", lambda l: l[:4] + "." + l[5:]),
        ("label-id-short", "The message's identifier has 8 digits; it has 7.", lambda l: l[:5] + l[6:]),
        ("label-hops-one", "The hops have 2 digits; they have 1.", lambda l: l[:14] + l[15:]),
        ("label-braces", "The computer is a GUID without braces; it has braces.", lambda l: l.replace("received by ", "received by {").replace(" at ", "} at ")),
        ("label-no-ampm", "AM or PM follows the hour; neither does.", lambda l: l.replace(" AM", "").replace(" PM", "")),
        ("label-month", "The month is a name of three letters; it is a number.", lambda l: l[:-9] + "11 " + l[-5:]),
        ("label-year", "The year has 2 digits; it has 4.", lambda l: l[:-2] + "20" + l[-2:]),
        ("label-no-time", "The label ends with the time; it is missing.", lambda l: l[:l.index(" at ")]),
        ("label-at", "The word at stands before the time; a comma does.", lambda l: l.replace(" at ", ", ")),
        ("label-empty", "The label is in the format given; there is none.", lambda l: "")):
    conv("report-" + name, S, sentence, LB, rp(texts=lambda l, d, c, f=f: (f(l), d)))
conv("report-label-qm", S, "The label begins with the first four digits of the source queue manager; it begins with others.", LB, rp(texts=lambda l, d, c: ("%04X" % (int(l[:4], 16) ^ 0x1111) + l[4:], d)), prov=False)
conv("report-label-computer", S, "The label names the source queue manager of the message; it names the destination.", LB, rp(texts=lambda l, d, c: (l[:l.index("by ") + 3] + L.gtext(c.b.guid) + l[l.index(" at "):], d)))
for name, sentence, f in (
        ("body-no-crlf", "The lines of the body end with CR and LF; they end with LF.", lambda d: d.replace("\r\n", "\n")),
        ("body-no-id", "The body begins with the message's identifier; the line is missing.", lambda d: d[d.index("<TARGET"):]),
        ("body-no-target", "The body names the target queue; the line is missing.", lambda d: d[:d.index("<TARGET")] + d[d.index("<NEXT"):]),
        ("body-no-hop-count", "The body ends with the hop count; the line is missing.", lambda d: d[:d.index("<HOP")]),
        ("body-next-hop-name", "The next hop is an IP address; it is a name.", lambda d: d[:d.index("<NEXT")] + "<NEXT HOP>beta</NEXT HOP>\r\n" + d[d.index("<HOP"):]),
        ("body-tag", "The tags are as given; MESSAGE ID is written MESSAGEID.", lambda d: d.replace("MESSAGE ID", "MESSAGEID")),
        ("body-order", "The lines come in a given order; the first two are exchanged.", lambda d: d[d.index("<TARGET"):d.index("<NEXT")] + d[:d.index("<TARGET")] + d[d.index("<NEXT"):]),
        ("body-hops-decimal", "The hops have 2 digits; they have 3.", lambda d: d.replace("<HOP COUNT>", "<HOP COUNT>0"))):
    conv("report-" + name, S, sentence, BD, rp(texts=lambda l, d, c, f=f: (l, f(d))))
conv("report-body-hop-space", S, "A space stands before </HOP COUNT>; it is missing.", BD, rp(texts=lambda l, d, c: (l, d.replace(" </HOP", "</HOP"))), prov=False)
conv("report-ids-differ", S, "Label and body name the same message; the body names another.", "MQQB-3.1.7.1.7.message-id MQQB-3.1.7.1.7.body", rp(texts=lambda l, d, c: (l, d.replace("%08X" % c.m.user.mid, "%08X" % (c.m.user.mid + 1)))))
conv("report-hops-differ", S, "Label and body name the same hops; the body has 03.", "MQQB-3.1.7.1.7.message-id MQQB-3.1.7.1.7.body", rp(texts=lambda l, d, c: (l, d.replace("<HOP COUNT>00", "<HOP COUNT>03"))))
conv("report-body-ascii", S, "The body is a Unicode string; it is in single bytes.", BD, rp(lambda p, c: setattr(p.mph, "body", p.mph.body[::2])))


def tq(name, section, sentence, reqs, f, pub=False, prov=True):
    """another text between the tags of TARGET QUEUE"""
    conv("report-target-" + name, section, sentence, reqs + " " + BD, rp(texts=lambda l, d, c: (l, d[:d.index("<TARGET QUEUE>") + 14] + f(d[d.index("<TARGET QUEUE>") + 14:d.index("</TARGET")], c) + d[d.index("</TARGET"):]),
         dest=(lambda c: ("pub", c.b, guid(c.r))) if pub else None), prov=prov)


tq("public-braces", "MQ 2.1.3", "The GUID of a public format name has no braces; it has, in the target queue of a report.", "N3:guid-reject", lambda t, c: t.replace("=", "={") + "}", True)
tq("public-short", "MQ 2.1.3", "The GUID of a public format name has groups of 8, 4, 4, 4 and 12 digits; the last has 11.", "N3:guid-reject", lambda t, c: t[:-1], True)
tq("public-digit", "MQ 2.1.3", "The GUID of a public format name consists of hexadecimal digits; it has a G.", "N3:guid-reject", lambda t, c: t[:-1] + "G", True)
tq("public-missing", "MQ 2.1.3", "A public format name has a GUID; it has none.", "N3:guid-missing", lambda t, c: "PUBLIC=", True)
tq("public-trailing", "MQ 2.1.3", "Nothing follows the GUID of a public format name; a backslash and a name do.", "N3:trailing-reject", lambda t, c: t + "\\queue", True)
tq("public-hyphens", "MQ 2.1.3", "The groups of a GUID are joined by hyphens; they are not.", "N3:guid-reject", lambda t, c: t.replace("-", ""), True)
tq("private-number-missing", "MQ 2.1.4", "A private format name has a number; it has none, in the target queue of a report.", "N4:number-missing", lambda t, c: t[:t.index("\\") + 1])
tq("private-number-long", "MQ 2.1.4", "The number of a private format name has at most 8 digits; it has 9.", "N4:number-too-long", lambda t, c: t[:t.index("\\") + 1] + "0" + t[t.index("\\") + 1:])
tq("private-number-digit", "MQ 2.1.4", "The number of a private format name is hexadecimal; it has an X.", "N4:number-reject", lambda t, c: t[:t.index("\\") + 1] + "0x21")
tq("private-guid", "MQ 2.1.4", "The GUID of a private format name has five groups; it has four.", "N4:guid-reject", lambda t, c: t.replace("-", "", 1))
tq("private-suffix", "MQ 2.1.4", "A private format name may have the suffix ;JOURNAL; it has ;DEADLETTER.", "N4:suffix-reject", lambda t, c: t + ";DEADLETTER")
tq("no-prefix", "MQ 2.1.2", "A format name begins with its kind and an equals sign; it does not.", "N2:prefix-reject", lambda t, c: t.replace("PRIVATE=", ""))


# ------------------------------------------------------------------ no messages in time (what the other side must do)
def goes_on(mut, name, section, sentence, reqs, prov=True):
    """A packet that the receiver must answer by closing; the session goes on in the bad one (the packet itself is wrong too)."""
    def fn(wd, bad):
        a, b, s = two(wd)
        plain(s, a, b, 2)
        s.msg(a, ("priv", b, 11), body=b"wrong", label="wrong", edit=mut if bad else None)
        wd.adv(12000)
        many(s, a, 2)
        wd.adv(12000)
        s.close()
    conv(name, section, sentence + " (The packet itself breaks its own sentence.)", reqs, fn, prov)


goes_on(lambda p: setattr(p.base, "ver", 0x11), "goes-on-version", "QB 3.1.5.1.2", "Whoever receives a packet with a wrong version closes the session; it goes on.", "MQQB-3.1.5.1.2.signature-closes MQQB-3.1.5.1.2.version-refused B:version-number")
goes_on(lambda p: setattr(p.base, "sig", 0x4C494F52), "goes-on-signature", "QB 3.1.5.1.2", "Whoever receives a packet with a wrong signature closes the session; it goes on.", "MQQB-3.1.5.1.2.signature-closes MQQB-3.1.5.1.2.signature-refused B:signature")
goes_on(lambda p: (setattr(p.user, "DQ", 4)), "goes-on-queue-type", "MQ 2.2.19.2", "Whoever receives a message with an unknown DQ closes the session; it goes on.", "U:destination-type-refused U:destination-type MQQB-3.1.5.1.3.malformed-closes")


def goes_on_refused(wd, bad):
    """The acceptor refuses, the initiator initializes the session all the same, and it goes on."""
    a, b = pair(wd)
    other = guid(wd.rng)

    def hs(s):
        s.edits["ecq"] = lambda p: setattr(p.ec, "server", other)
        s.edits["ecr"] = lambda p: setattr(p.int, "CS", 1)
        s.ecpair()
        if bad:
            s.cp()
            wd.adv(8)
            s.cp(True)
            wd.adv(8)
            many(s, a, 3)
    s = Session(wd, a, b, hs=hs, auto=False)
    s.close(a)


conv("goes-on-refused", "QB 3.1.5.3.2", "On a response that refuses, the initiator closes the session; it is initialized and used.", "MQQB-3.1.5.3.2.invalid-closes", goes_on_refused)
