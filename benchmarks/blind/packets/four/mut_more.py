"""More mutations: queues of the other types, headers in acknowledgments, what a receiver must close over."""
from mutbase import *
from mut_fields import b1, fsig, fmq3, sc, mq, adm, acks
from mut_conv import conv, two, many, q, m, ad, rp, UMtx, tx, oa, at_once, sk

S = "MQ 2.2.19.2"
add("user-rq-source-guid", S, "With RQ 2 ResponseQueue is a number of 4 bytes; it is a GUID.", "U:response-private-source", one(lambda p, c: setattr(p.user, "rq", guid(c.r)), resp=lambda c: ("priv", c.a, 7)))
add("user-rq-destination-full", S, "With RQ 3 ResponseQueue is a number of 4 bytes; it is a GUID and a number.", "U:response-private-destination", one(lambda p, c: setattr(p.user, "rq", L.private_full(c.b.guid, 7)), resp=lambda c: ("priv", c.b, 7)))
add("user-rq-public-number", S, "With RQ 5 ResponseQueue is a GUID; it is a GUID and a number.", "U:response-public", one(lambda p, c: setattr(p.user, "rq", p.user.rq + L.private_id(1)), resp=lambda c: ("pub", c.a, guid(c.r))))
add("user-aq-destination-full", S, "With AQ 3 AdminQueue is a number of 4 bytes; it is a GUID and a number.", "U:admin-private-destination", one(lambda p, c: setattr(p.user, "aq", L.private_full(c.b.guid, 7)), admin=lambda c: ("priv", c.b, 7), ack=2))
add("user-aq-direct-guid", S, "With AQ 7 AdminQueue is a direct name; it is a GUID.", "U:admin-direct", one(lambda p, c: setattr(p.user, "aq", b"\xF1" + guid(c.r)[1:]), direct=True, admin=lambda c: ("direct", "OS:%s\\acks" % c.a.name), ack=2))
add("base-in-clear-ecr", "MQ 2.2.19.1", "IN must be set in an EstablishConnection packet; it is clear in the response.", "ECP:internal-flag MQQB-3.1.5.3.1.internal-flag B:internal-set", start("ecr", b1("base.IN", 0)))
add("base-in-clear-cpq", "MQ 2.2.19.1", "IN must be set in a ConnectionParameters packet; it is clear in the request.", "CPP:internal-flag MQQB-3.1.5.3.2.internal-flag B:internal-set", start("cpq", b1("base.IN", 0)))
add("name-http-separator", "MQ 2.1.2", "In an HTTP name a backslash stands behind /MSMQ; a slash does, in the response queue.", "N2:http-separator N2:queue-name-missing DN:direct-format-name",
    one(name_(lambda c: "HTTP://%s/MSMQ/answers" % c.a.name, "rq"), direct=True, resp=lambda c: ("direct", "HTTP://%s/MSMQ\\answers" % c.a.name)))
for tag, P_, S_, n in (("oack", "OA", "QB 2.2.4", "an OrderAck"), ("fack", "FA", "QB 2.2.5", "a FinalAck")):
    add(tag + "-signed", S_, "%s is a BaseHeader, a UserHeader and a MessagePropertiesHeader; it has a SecurityHeader with a signature." % n.capitalize().replace("order", "Order").replace("ack", "Ack").replace("final", "Final"),
        P_ + ":layout " + P_ + ":user-flags MQQB-3.1.7.17.plain", acks(tag, lambda p, c: sign(p, c.b, st=2)))
    add(tag + "-session-header", S_, "All bits of BaseHeader.Flags of %s are 0; SH is set and a SessionHeader follows." % n, P_ + ":base-flags " + P_ + ":layout",
        acks(tag, lambda p, c: setattr(p, "sess", c.s.header(c.b))))
    add(tag + "-transaction-header", S_, "UserHeader.Flags of %s has no bit but those given; TH is set and a TransactionHeader follows (DM being 1 with it)." % n, P_ + ":layout " + P_ + ":user-flags",
        acks(tag, lambda p, c: (setattr(p, "tx", new_tx(FM=1, LM=1, id=77, seq=(1, c.b.txts), num=1, prev=0)), setattr(p.user, "DM", 1))))
    add(tag + "-multi-queue-header", S_, "UserHeader.Flags of %s has no bit but those given; MQ is set and a MultiQueueFormatHeader follows." % n, P_ + ":layout " + P_ + ":user-flags",
        acks(tag, lambda p, c: setattr(p, "mq", new_mq([("priv", c.a, 4)]))))
    add(tag + "-private-queue-bytes", S_, "The private queue that %s goes to is 4; the bytes of the number are the other way round." % n, P_ + ":destination MQMQ-2.2.18.1.5.1.private-queue-identifier",
        acks(tag, b1("user.dq", struct.pack(">I", 4))))


# ------------------------------------------------------------------ signatures (the way the values are joined is a reading)
def part(kind, f):
    """A signature over other bytes: f changes the list of the values behind the first six."""
    def g(p, c):
        def e(s):
            u, h = p.user, p.mph
            head = h.corr + struct.pack("<I", h.tag) + h.body + h.label + u.rq + u.aq
            if kind == 3:
                head += h.ext + p.mq_list()
            v = [u.src, bytes([u.DM]), bytes([p.base.PR]), bytes([u.JP << 1 | u.JN]), bytes([h.flags & 15]), struct.pack("<H", h.cls), struct.pack("<I", h.btype), u.conn or NULL]
            if kind == 2:
                v.append(u.dq)
            return L.rsa_sign("sign1", 0x800E, head + b"".join(f(v)))
        setattr(p.sec if kind == 2 else p.mq, "sigedit", e)
    return g


def rep(i, f):
    return lambda v: [f(x) if k == i else x for k, x in enumerate(v)]


for kind, sect, feat in ((2, "2.5.2", fsig()), (3, "2.5.3", fmq3)):
    for nm_, ident, sent, f in (("delivery-mode", "delivery-mode", "DM goes into the signature as one byte; it went in as four.", rep(1, lambda x: x + b"\0\0\0")),
                                ("journaling", "journaling", "JP and JN go into the signature as bits 1 and 0; they went in exchanged.", rep(3, lambda x: bytes([(x[0] & 1) << 1 | x[0] >> 1]))),
                                ("flags", "flags", "Flags goes into the signature as one byte; it went in as two.", rep(4, lambda x: x + b"\0")),
                                ("class", "message-class", "MessageClass goes into the signature as 2 bytes; it went in as 4.", rep(5, lambda x: x + b"\0\0")),
                                ("body-type", "body-type", "BodyType goes into the signature as 4 bytes; it went in as 2.", rep(6, lambda x: x[:2])),
                                ("source", "order", "SourceQueueManager goes into the signature; it was left out.", rep(0, lambda x: b""))):
        sc("signature-%s-%d" % (nm_, kind), sent, "MQMQ-%s.%s" % (sect, ident), part(kind, f), feat=feat, prov=False, section="MQ " + sect, jp=1)

# ------------------------------------------------------------------ acknowledgments of acknowledgments, reports
conv("adm-insecure", "QB 3.1.7.15", "Negative acknowledgments that tell of queues are not sent by default; BAD_DST_Q is.", "MQQB-3.1.7.15.insecure", ad(ack=4, make=lambda c, bad: c.s.adm(c.b, c.m, 0x8000 if bad else 0x8003)), prov=False)
conv("report-class", "QB 3.1.7.1.7", "The class of a report is 0x0001; it is 0.", "MQMQ-2.2.18.1.6.report", rp(b1("mph.cls", 0)), prov=False)


def no_report(wd, bad):
    a, b, s = two(wd)
    g = guid(wd.rng)
    x = s.msg(a, q(s, b, 33), body=b"where am I", label="traced", edit=lambda p: trace(p, g))
    wd.adv(2)
    if not bad:
        s.report(a, x, ("pub", b, g), True)
    wd.adv(12000)
    s.close()


conv("report-not-sent", "QB 3.1.7.1.7", "A message with TR has a report sent; there is none on this session.", "MQQB-3.1.7.1.7.sent", no_report, prov=False)


def oack_late(c, bad):
    tx(c, 3)
    c.wd.adv(470)
    c.s.sack(c.b)
    c.wd.adv(25000 if bad else 40)
    c.s.oack(c.b)


conv("oack-late", "QB 3.1.1.6.2", "An OrderAck is made 500 ms after the last message; it comes after 25 seconds.", "MQQB-3.1.1.6.2.scheduled MQQB-3.1.5.8.6.scheduled", oa(oack_late), prov=False)


def not_bridged(wd, bad):
    """Message 3 expires while the connection is broken."""
    a, b = pair(wd)
    s = Session(wd, a, b)
    tid = a.next_tx()
    ms = []
    for i in range(4):
        ms.append(s.txmsg(a, q(s, b, 30), i == 0, i == 3, tid, body=b"part %d" % i, ttrq=3 if i == 2 else INF))
        wd.adv(4)
    s.close(b, rst=True)
    wd.adv(6000)
    s = Session(wd, a, b)
    for i in (0, 1, 3):
        s.again(a, ms[i], edit=(lambda p: setattr(p.tx, "prev", 2)) if i == 3 and not bad else None)
        wd.adv(4)
    wd.adv(12000)
    s.close()


conv("again-gap-not-bridged", "QB 3.1.7.1.3", "A message sent again names the one before it in the table as previous; it names an expired one that is not sent.", "MQQB-3.1.7.1.3.resent-previous", not_bridged, prov=False)


def routed_header(mut):
    """A router passes a transactional message on."""
    def fn(wd, bad):
        a, b, c = pair(wd, True)
        s = Session(wd, a, c)
        t = Session(wd, c, b)
        s.noorder = t.noorder = True
        tid = a.next_tx()
        for i in range(3):
            x = s.txmsg(a, ("priv", b, 30), i == 0, i == 2, tid, body=b"part %d" % i)
            wd.adv(5)

            def ed(p):
                p.user.RC = 1
                if bad:
                    mut(p, i)
            t.again(c, x, "um", edit=ed)
            wd.adv(5)
        wd.adv(3000)
        s.close()
        t.close()
    return fn


conv("routed-transaction-number", "QB 3.1.1.5", "A queue manager on the way passes the TransactionHeader on; it gives the messages numbers of its own.", "MQQB-3.1.1.5.passed-on MQQB-3.1.1.6.2.passed-on", routed_header(lambda p, i: (setattr(p.tx, "num", p.tx.num + 10), setattr(p.tx, "prev", p.tx.prev + 10))))
conv("routed-transaction-sequence", "QB 3.1.1.5", "A queue manager on the way passes the TransactionHeader on; it gives the messages a sequence of its own.", "MQQB-3.1.1.5.passed-on MQQB-3.1.1.6.2.passed-on", routed_header(lambda p, i: setattr(p.tx, "seq", (p.tx.seq[0], p.tx.seq[1] + 77777))))
conv("routed-hop-count-zero", "QB 3.1.5.8.2", "A queue manager on the way adds 1 to the hop count; it stays 0.", "MQQB-3.1.5.8.2.hop-count", routed_header(lambda p, i: setattr(p.user, "RC", 0)))


# ------------------------------------------------------------------ whoever receives ... closes the session
def early(what, name, section, ident):
    def fn(wd, bad):
        a, b = pair(wd)

        def hs(s):
            s.ec()
            wd.adv(18)
            s.ec(True)
            wd.t += 700
            wd.flush()
            if bad:
                if what == "um":
                    m(s, a, 77)
                elif what == "sack":
                    s.sack(a)
                elif what == "oack":
                    wd.stream(b, a).got = 1
                    s.oack(a, renew=False)
                elif what == "fack":
                    s.fack(a, UMtx(s, b))
                elif what == "ecq":
                    s.ec()
                elif what == "cpr":
                    s.cp(True)
                wd.t += 500
                wd.flush()
            s.rat = max(500, min(120000, 8 * (((a.up + (wd.t - wd.t0) // 1000) & INF) - s.ts)))
            s.cp()
            wd.adv(9)
            s.cp(True)
            wd.adv(5)
        s = Session(wd, a, b, hs=hs)
        many(s, a, 3)
        wd.adv(12000)
        s.close()
    conv("goes-on-early-" + what, section, "Whoever receives %s before its turn closes the session; it is initialized and used. (The early packet itself breaks the order of the initialization.)" % name,
         ident + " MQQB-2.1.1.initialization", fn)


early("um", "a user message", "QB 3.1.5.8", "MQQB-3.1.5.8.state-closes")
early("sack", "a SessionAck", "QB 3.1.5.5", "MQQB-3.1.5.5.state-closes")
early("oack", "an OrderAck", "QB 3.1.5.6", "MQQB-3.1.5.6.state-closes")
early("fack", "a FinalAck", "QB 3.1.5.7", "MQQB-3.1.5.7.state-closes")
early("ecq", "an EstablishConnection packet", "QB 3.1.5.3", "MQQB-3.1.5.3.state-closes")
early("cpr", "a ConnectionParameters packet", "QB 3.1.5.4", "MQQB-3.1.5.4.state-closes")


def open_again(what):
    def fn(wd, bad):
        a, b, s = two(wd)
        many(s, a, 2)
        if bad:
            s.ec() if what == "ecq" else s.cp()
        wd.adv(12000)
        many(s, a, 3)
        wd.adv(12000)
        s.close()
    return fn


conv("goes-on-open-ecq", "QB 3.1.5.3", "Whoever receives an EstablishConnection packet on an open session closes it; it goes on. (The packet itself breaks the order of the initialization.)", "MQQB-3.1.5.3.state-closes MQQB-2.1.1.initialization", open_again("ecq"))
conv("goes-on-open-cpq", "QB 3.1.5.4", "Whoever receives a ConnectionParameters packet on an open session closes it; it goes on. (The packet itself breaks the order of the initialization.)", "MQQB-3.1.5.4.state-closes MQQB-2.1.1.initialization", open_again("cpq"))


def goes_type(wd, bad):
    a, b, s = two(wd)
    many(s, a, 2)
    p = L.Internal(9)
    if bad:
        s.put(a, p, "odd")
    wd.adv(12000)
    many(s, a, 3)
    wd.adv(12000)
    s.close()


conv("goes-on-packet-type", "QB 2.2.1", "Whoever receives an internal packet of an unknown type closes the session; it goes on. (The packet itself has PT 9.)", "MQQB-2.2.1.packet-type-closes I:packet-type", goes_type)
conv("goes-on-count", "QB 3.1.5.5.5", "Whoever receives a SessionHeader that counts more messages than came closes the session; it goes on. (The SessionHeader itself counts two too many.)",
     "MQQB-3.1.5.5.5.counts-closes S:user-msg-sequence-number MQQB-3.1.7.1.3.user-messages-sent MQQB-3.1.6.4.sent", sk(lambda x: setattr(x, "um", x.um + 2), back=3, stop=False))


def goes_aq(wd, bad):
    a, b, s = two(wd)
    many(s, a, 2)
    m(s, a, 5, ack=2, admin=("priv", a, 9), edit=(lambda p: setattr(p.user, "AQ", 4)) if bad else None)
    wd.adv(12000)
    many(s, a, 3)
    wd.adv(12000)
    s.close()


conv("goes-on-admin-type", "MQ 2.2.19.2", "Whoever receives a message with an unknown AQ closes the session; it goes on. (The message itself has AQ 4.)", "U:admin-type-refused U:admin-type MQQB-3.1.5.1.3.malformed-closes", goes_aq)


def goes_malformed(wd, bad):
    a, b, s = two(wd)
    many(s, a, 2)
    m(s, a, 5, edit=(lambda p: setattr(p.mph, "size", 4000)) if bad else None)
    wd.adv(12000)
    many(s, a, 3)
    wd.adv(12000)
    s.close()


conv("goes-on-malformed", "QB 3.1.5.1.3", "Whoever receives a packet that breaks the layout closes the session; it goes on. (MessageSize of the packet reaches over its end.)", "MQQB-3.1.5.1.3.malformed-closes P:message-size", goes_malformed)
