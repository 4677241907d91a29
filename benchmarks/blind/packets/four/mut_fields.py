"""Mutations of single packets, section by section."""
from mutbase import *

b1 = set_


# ------------------------------------------------------------------ MS-MQMQ 2.2.19.1
S = "MQ 2.2.19.1"
add("base-version-um", S, "VersionNumber must be 0x10; a user message has 0x11.", "B:version-number", one(b1("base.ver", 0x11)))
add("base-version-ecq", S, "VersionNumber must be 0x10; the EstablishConnection request has 0.", "B:version-number", start("ecq", b1("base.ver", 0)))
add("base-version-sack", S, "VersionNumber must be 0x10; a SessionAck has 0x20.", "B:version-number", acks("sack", b1("base.ver", 0x20)))
add("base-signature-order", S, "Signature must be 0x524F494C; a user message has its bytes the other way round.", "B:signature", one(b1("base.sig", 0x4C494F52)))
add("base-signature-cpr", S, "Signature must be 0x524F494C; the ConnectionParameters response has 0x524F494D.", "B:signature", start("cpr", b1("base.sig", 0x524F494D)))
add("base-signature-oack", S, "Signature must be 0x524F494C; an OrderAck has 0x724F494C.", "B:signature", acks("oack", b1("base.sig", 0x724F494C)))


def size_by(n):
    def f(p, c=None):
        x = p.build()
        p.base.size = struct.unpack_from("<I", x, 8)[0] + n
    return f


add("base-size-plus4", S, "PacketSize must be the size of the packet; it is 4 more.", "B:packet-size B:packet-size-headers", one(size_by(4)))
add("base-size-minus4", S, "PacketSize must be the size of the packet; it is 4 less.", "B:packet-size B:packet-size-headers", one(size_by(-4)))
add("base-size-without-base", S, "PacketSize must include the BaseHeader; its 16 bytes are left out.", "B:packet-size B:packet-size-headers", one(size_by(-16)))
add("base-size-padding", S, "PacketSize must include padding; the 2 bytes behind the body are left out.", "B:packet-size P:padding", one(size_by(-2), body=b"12345678901234"[:14]))
add("base-size-ecq", S, "PacketSize must be the size of the packet; the EstablishConnection request says 576 in place of 572.", "B:packet-size", start("ecq", b1("base.size", 576)))
add("base-size-cpq", S, "PacketSize must be the size of the packet; the ConnectionParameters request says 28 in place of 32.", "B:packet-size", start("cpq", b1("base.size", 28)))
add("base-size-big-endian", S, "Numbers are little-endian; PacketSize of a user message is big-endian.", "B:packet-size",
    one(lambda p, c: setattr(p.base, "size", struct.unpack(">I", p.build()[8:12])[0])))


def piggy(mut, last=True):
    """An answer that carries a SessionHeader (sent when 80 percent of the time are gone)."""
    def fn(wd, bad):
        a, b = pair(wd)
        s = Session(wd, a, b)
        c = NS(a=a, b=b, wd=wd, s=s)
        plain(s, a, b, 3)
        wd.adv(8000)
        p = s.make(b, ("priv", a, 12), body=b"an answer", label="answer")
        if bad:
            mut(p, c)
        s.send(b, p)
        wd.adv(4)
        if last:
            s.close(a)
            return
        wd.adv(12000)
        plain(s, a, b, 2)
        wd.adv(12000)
        s.close()
    return fn


def put_raw(f):
    def g(p, c=None):
        p.raw = f
    return g


def rawsize(n):
    def f(d):
        v, = struct.unpack_from("<I", d, 8)
        return d[:8] + struct.pack("<I", v + n) + d[12:]
    return f


add("base-size-with-session-header", S, "PacketSize must not include the SessionHeader; in a user message with one it does.", "B:packet-size-session-header", piggy(put_raw(rawsize(16))))
add("base-size-sessionack-36", S, "PacketSize must not include the SessionHeader; in a SessionAck it does (36), as in the example of MS-MQQB 4.1.8.",
    "B:packet-size-session-header", acks("sack", b1("base.size", 36), stop=False), prov=False)
add("base-size-maximum", S, "PacketSize is at most 0x00400000; a message has more.", "B:packet-size-maximum", one(lambda p, c: setattr(p.mph, "body", bytes(0x400000))))
for tag in ("ecq", "ecr", "cpq"):
    add("base-ttrq-" + tag, S, "TimeToReachQueue must be 0xFFFFFFFF outside user messages; %s has 345600." % {
        "ecq": "the EstablishConnection request", "ecr": "the EstablishConnection response", "cpq": "the ConnectionParameters request"}[tag],
        "B:time-to-reach-queue-internal", start(tag, b1("base.ttrq", 345600)))
for tag, n in (("sack", "a SessionAck"), ("oack", "an OrderAck"), ("fack", "a FinalAck")):
    add("base-ttrq-" + tag, S, "TimeToReachQueue must be 0xFFFFFFFF outside user messages; %s has 60." % n,
        "B:time-to-reach-queue-internal", acks(tag, b1("base.ttrq", 60)))
add("base-priority-transactional", S, "The priority of a transactional message must be 0; it is 3.", "B:transactional-priority-zero", one(b1("base.PR", 3), tx=True))
add("base-in-um", S, "IN must not be set in a user message; it is.", "PK:not-internal", one(b1("base.IN", 1)))
add("base-in-clear-ecq", S, "IN must be set in an EstablishConnection packet; it is clear.", "ECP:internal-flag MQQB-3.1.5.2.3.internal-flag B:internal-set", start("ecq", b1("base.IN", 0)))
add("base-in-clear-cpr", S, "IN must be set in a ConnectionParameters packet; it is clear in the response.", "CPP:internal-flag MQQB-3.1.5.4.1.internal-flag B:internal-set", start("cpr", b1("base.IN", 0)))
add("base-in-clear-sack", S, "IN must be set in a SessionAck; it is clear.", "SA:internal-flag B:internal-set", acks("sack", b1("base.IN", 0)))
add("base-in-oack", S, "IN must not be set in an OrderAck; it is.", "B:internal-clear OA:base-flags", acks("oack", b1("base.IN", 1)))
add("base-in-fack", S, "IN must not be set in a FinalAck; it is.", "B:internal-clear FA:base-flags", acks("fack", b1("base.IN", 1)))
add("base-sh-without-header", S, "With SH set there must be a SessionHeader; SH is set and there is none.", "B:session-header-present PK:session-header-by-flag", one(b1("base.SH", 1)))
add("base-sh-clear-with-header", S, "A SessionHeader is there only when SH is set; it stands behind a message with SH clear.", "PK:session-header-absent PK:session-header-by-flag",
    piggy(lambda p, c: setattr(p.base, "SH", 0)))
add("base-sh-clear-sack", S, "SH must be set in a SessionAck; it is clear.", "SA:session-header-flag", acks("sack", b1("base.SH", 0)))
add("base-dh-without-header", S, "With DH set there must be a DebugHeader; there is none.", "B:debug-header-present PK:debug-header-by-flag", one(b1("base.DH", 1)))
dbg = lambda p, c: setattr(p, "debug", NS(QT=1, X=0, res=0, queue=guid(c.r)))
add("base-dh-clear-with-header", S, "A DebugHeader is there only when DH is set; it is there with DH clear.", "B:debug-header-absent PK:debug-header-by-flag B:packet-size-headers", one(b1("base.DH", 0), dbg))
for tag, n in (("ecq", "an EstablishConnection request"), ("cpr", "a ConnectionParameters response")):
    add("base-dh-" + tag, S, "DH must not be set outside user messages; it is in %s." % n, "B:debug-header-user-message-only", start(tag, b1("base.DH", 1)))
add("base-dh-sack", S, "DH must not be set outside user messages; it is in a SessionAck.", "B:debug-header-user-message-only", acks("sack", b1("base.DH", 1)))
add("base-tr-without-dh", S, "With TR set DH must be set too; it is not.", "B:trace-debug-header", one(b1("base.TR", 1)))
for name, bit in (("x9", 6), ("x8", 7), ("x6", 9), ("x5", 10), ("x4", 11), ("x3", 12), ("x2", 13), ("x1", 14), ("x0", 15)):
    fl = 1 << bit
    if name in ("x8", "x3"):
        fn = start("cpq" if name == "x8" else "ecr", b1("base.X", fl), stop=False)
        where = "the ConnectionParameters request" if name == "x8" else "the EstablishConnection response"
    elif name == "x5":
        fn, where = acks("sack", b1("base.X", fl), stop=False), "a SessionAck"
    else:
        fn, where = one(b1("base.X", fl), last=False), "a user message"
    add("base-flags-" + name, S, "%s should not be set; it is in %s." % (name.upper(), where), "B:flags-" + name, fn)

# ------------------------------------------------------------------ MS-MQMQ 2.2.19.2
S = "MQ 2.2.19.2"
add("user-source-null", S, "SourceQueueManager must identify the sender; it is null.", "U:source-queue-manager", one(b1("user.src", NULL)))
add("user-address-direct", S, "QueueManagerAddress must be null with a direct name; it names the destination.", "U:address-direct", one(lambda p, c: setattr(p.user, "addr", c.b.guid), direct=True))
add("user-address-private-null", S, "QueueManagerAddress must name the destination queue manager with a private queue; it is null.", "U:address-host", one(b1("user.addr", NULL)))
add("user-address-public-null", S, "QueueManagerAddress must name the destination queue manager with a public queue; it is null.", "U:address-host",
    one(b1("user.addr", NULL), dest=lambda c: ("pub", c.b, guid(c.r))))
add("user-address-is-source", S, "QueueManagerAddress must name the destination queue manager; it names the sender of the message itself.", "U:address-host U:queue-manager-address",
    one(lambda p, c: setattr(p.user, "addr", c.a.guid)), prov=False)
add("user-sent-time-zero", S, "SentTime must be the time when the packet was sent; it is 0.", "U:sent-time", one(b1("user.sent", 0), ttrq=INF))
add("user-sent-time-future", S, "SentTime must be the time when the packet was sent; it is a year later.", "U:sent-time", one(b1("user.sent", lambda u, c: u.sent + 31536000), ttrq=INF))
add("user-sent-time-big-endian", S, "SentTime is little-endian; its bytes are the other way round.", "U:sent-time",
    one(b1("user.sent", lambda u, c: struct.unpack(">I", struct.pack("<I", u.sent))[0]), ttrq=INF))
add("user-hop-count-30", S, "RC must be at most 0x1D; it is 0x1E.", "U:hop-count", one(b1("user.RC", 0x1E)))
add("user-hop-count-31", S, "RC must be at most 0x1D; it is 0x1F in a recoverable message.", "U:hop-count", one(b1("user.RC", 0x1F), rec=True))
for v in (2, 3):
    add("user-dm-%d" % v, S, "DM must be 0 or 1; it is %d." % v, "U:delivery-mode", one(b1("user.DM", v)))
add("user-th-express", S, "With TH set DM must not be 0; a transactional message has DM 0.", "U:transactional-recoverable", one(b1("user.DM", 0), tx=True))
add("user-x1", S, "X1 should not be set; it is.", "U:flags-x1", one(b1("user.X1", 1), last=False))
add("user-x2", S, "X2 should not be set; it is.", "U:flags-x2", one(b1("user.X2", 1), last=False))
add("user-x3-low", S, "X3 should not be set; its low bit is.", "U:flags-x3", one(b1("user.X3", 1), last=False))
add("user-x3-high", S, "X3 should not be set; its high bit is.", "U:flags-x3", one(b1("user.X3", 2), last=False))
for v in (1, 2, 4):
    add("user-x4-%d" % v, S, "X4 should not be set; it is %d." % v, "U:flags-x4", one(b1("user.X4", v), last=False))
for v in (1, 2, 4, 6):
    add("user-dq-%d" % v, S, "DQ must be 0, 3, 5 or 7; it is %d." % v, "U:destination-type", one(b1("user.DQ", v)))
adm = lambda c: ("priv", c.a, 9)
for v in (1, 4):
    add("user-aq-%d" % v, S, "AQ must be 0, 2, 3, 5, 6 or 7; it is %d." % v, "U:admin-type", one(b1("user.AQ", v), admin=adm, ack=2))
add("user-sh-without-header", S, "With SH set there must be a SecurityHeader; there is none.", "U:security-header-present PK:security-header-by-flag", one(b1("user.SH", 1)))
fsid = lambda p, c: setattr(p, "sec", new_sec(ST=1, sid=c.a.sid))
add("user-sh-clear-with-header", S, "With SH clear there must be no SecurityHeader; there is one.", "U:security-header-absent PK:security-header-by-flag", one(b1("user.SH", 0), fsid))
add("user-th-without-header", S, "With TH set there must be a TransactionHeader; there is none.", "U:transaction-header-present PK:transaction-header-by-flag", one(b1("user.TH", 1), rec=True, pr=0))
add("user-th-clear-with-header", S, "With TH clear there must be no TransactionHeader; there is one.", "U:transaction-header-absent PK:transaction-header-by-flag", one(b1("user.TH", 0), tx=True))
add("user-mp-clear", S, "MP must always be set; it is clear, though the header is there.", "U:message-properties-flag", one(b1("user.MP", 0)))
add("user-mp-clear-tx", S, "MP must always be set; it is clear in a transactional message.", "U:message-properties-flag", one(b1("user.MP", 0), tx=True))


def drop_mph(p, c):
    p.order = [x for x in p.order if x != "mph"]


add("user-mp-without-header", S, "With MP set there must be a MessagePropertiesHeader; there is none.", "U:message-properties-present PK:message-properties-header-always", one(drop_mph))
add("user-cq-without-connector", S, "With CQ set there must be a ConnectorType; there is none.", "U:connector-type-present", one(b1("user.CQ", 1)))
fconn = lambda p, c: setattr(p.user, "conn", guid(c.r))
add("user-cq-clear-with-connector", S, "With CQ clear there must be no ConnectorType; there is one.", "U:connector-type-absent", one(b1("user.CQ", 0), fconn))


def connector_first(p, c):
    u = p.user
    u.dq, u.conn = u.conn + u.dq, b""
    u.CQ = 1


add("user-connector-first", S, "ConnectorType stands last in UserHeader; it stands before DestinationQueue.", "U:connector-type-layout U:destination-queue-layout", one(connector_first, fconn), prov=False)
add("user-mq-without-header", S, "With MQ set there must be a MultiQueueFormatHeader; there is none.", "U:multi-queue-header-present PK:multi-queue-header-by-flag", one(b1("user.MQ", 1)))


def fmq(p, c):
    p.mq = new_mq([("priv", c.b, 11), ("dl", guid(c.r)), ("direct", "OS:elsewhere\\q")], [], [("priv", c.a, 3)])
    p.user.RQ, p.user.rq = 2, L.private_id(3)


add("user-mq-clear-with-header", S, "With MQ clear there must be no MultiQueueFormatHeader; there is one.", "U:multi-queue-header-absent PK:multi-queue-header-by-flag", one(b1("user.MQ", 0), fmq))
add("user-hh-without-header", S, "With HH set there must be a SoapHeader; there is none.", "U:soap-header-present PK:soap-header-by-flag", one(b1("user.HH", 1)))
fsoap = lambda p, c: setattr(p, "soap", new_soap("<head/>", "<body>b</body>x"))
add("user-hh-clear-with-header", S, "With HH clear there must be no SoapHeader; there is one.", "U:soap-header-absent PK:soap-header-by-flag", one(b1("user.HH", 0), fsoap))
add("user-ah", S, "AH must not be set when sent; it is (and the headers it announces are missing).", "U:http-flag MQRR-2.2.5.1.2.srmp-headers-present MQRR-2.2.5.1.1.http-flag", one(b1("user.AH", 1)))
add("user-dq-none-with-queue", S, "With DQ 0 DestinationQueue takes no bytes; there are the 4 bytes of a private queue.", "U:destination-none", one(b1("user.DQ", 0)))
add("user-dq-private-guid", S, "With DQ 3 DestinationQueue is a number of 4 bytes; it is a GUID and a number.", "U:destination-private",
    one(lambda p, c: setattr(p.user, "dq", L.private_full(c.b.guid, 11))))
add("user-dq-public-number", S, "With DQ 5 DestinationQueue is a GUID; it is a number of 4 bytes.", "U:destination-public",
    one(lambda p, c: setattr(p.user, "dq", L.private_id(11)), dest=lambda c: ("pub", c.b, guid(c.r))))
add("user-dq-direct-number", S, "With DQ 7 DestinationQueue is a direct name; it is a number of 4 bytes.", "U:destination-direct",
    one(lambda p, c: setattr(p.user, "dq", L.private_id(11)), direct=True))
add("user-dq-direct-missing", S, "With DQ 7 DestinationQueue is a direct name; there is nothing.", "U:destination-direct", one(b1("user.dq", b""), direct=True))
add("user-aq-missing", S, "AdminQueue must be present with AQ 2; it is not.", "U:admin-queue-present", one(b1("user.aq", b""), admin=adm, ack=2))
add("user-aq-none-with-queue", S, "AdminQueue must not be present with AQ 0; its 4 bytes are there.", "U:admin-queue-none", one(lambda p, c: setattr(p.user, "aq", L.private_id(9))))
add("user-aq-source-full", S, "With AQ 2 AdminQueue is a number of 4 bytes; it is a GUID and a number.", "U:admin-private-source",
    one(lambda p, c: setattr(p.user, "aq", L.private_full(c.a.guid, 9)), admin=adm, ack=2))
add("user-aq-public-short", S, "With AQ 5 AdminQueue is a GUID; it is a number of 4 bytes.", "U:admin-public",
    one(lambda p, c: setattr(p.user, "aq", L.private_id(9)), admin=lambda c: ("pub", c.a, guid(c.r)), ack=2))
add("user-aq-other-short", S, "With AQ 6 AdminQueue is a GUID and a number; the number is missing.", "U:admin-private-other",
    one(lambda p, c: setattr(p.user, "aq", p.user.aq[:16]), admin=lambda c: ("priv", NS(guid=guid(c.r)), 9), ack=2))
add("user-aq-other-source", S, "AQ 6 is for a private queue of a third host; the GUID is that of the sender.", "U:admin-private-other",
    one(lambda p, c: setattr(p.user, "aq", L.private_full(c.a.guid, 9)), admin=lambda c: ("priv", NS(guid=guid(c.r)), 9), ack=2))
add("user-aq-other-destination", S, "AQ 6 is for a private queue of a third host; the GUID is that of the destination.", "U:admin-private-other",
    one(lambda p, c: setattr(p.user, "aq", L.private_full(c.b.guid, 9)), admin=lambda c: ("priv", NS(guid=guid(c.r)), 9), ack=2))
add("user-ack-without-admin-queue", S, "A message that asks for acknowledgments must name an administration queue; it does not.", "U:admin-queue-required", one(b1("mph.flags", 3)))
add("user-ack-negative-without-admin-queue", S, "A message that asks for negative acknowledgments must name an administration queue; a transactional one does not.", "U:admin-queue-required", one(b1("mph.flags", 4), tx=True))
add("user-admin-queue-without-ack", S, "Without a bit in MessagePropertiesHeader.Flags no administration queue must be named; one is.", "U:admin-queue-absent", one(b1("mph.flags", 0), admin=adm, ack=2))
add("user-admin-direct-without-ack", S, "Without a bit in MessagePropertiesHeader.Flags no administration queue must be named; a direct name is.", "U:admin-queue-absent",
    one(b1("mph.flags", 0), direct=True, admin=lambda c: ("direct", "OS:%s\\acks" % c.a.name), ack=2))
add("user-rq-missing", S, "ResponseQueue must be present with RQ 5; it is not.", "U:response-queue-present", one(b1("user.rq", b""), resp=lambda c: ("pub", c.a, guid(c.r))))
add("user-rq-none-with-queue", S, "ResponseQueue must not be present with RQ 0; 4 bytes are there.", "U:response-queue-none", one(lambda p, c: setattr(p.user, "rq", L.private_id(7))))
add("user-rq-same-with-queue", S, "ResponseQueue must not be present with RQ 1; 4 bytes are there.", "U:response-queue-none U:response-type-same",
    one(lambda p, c: setattr(p.user, "rq", L.private_id(7)), admin=adm, ack=2, resp=lambda c: "same"))
add("user-rq-other-short", S, "With RQ 6 ResponseQueue is a GUID and a number; the number is missing.", "U:response-private-other",
    one(lambda p, c: setattr(p.user, "rq", p.user.rq[:16]), resp=lambda c: ("priv", NS(guid=guid(c.r)), 7)))
add("user-rq-other-source", S, "RQ 6 is for a private queue of another host than source and destination; the GUID is the sender's.", "U:response-private-other",
    one(lambda p, c: setattr(p.user, "rq", L.private_full(c.a.guid, 7)), resp=lambda c: ("priv", NS(guid=guid(c.r)), 7)))
add("user-rq-direct-number", S, "With RQ 7 ResponseQueue is a direct name; it is a number of 4 bytes.", "U:response-direct",
    one(lambda p, c: setattr(p.user, "rq", L.private_id(7)), direct=True, resp=lambda c: ("direct", "OS:%s\\answers" % c.a.name)))
add("user-rq-admin-host-full", S, "With RQ 4 ResponseQueue is a number of 4 bytes; it is a GUID and a number.", "U:response-private-admin",
    one(lambda p, c: setattr(p.user, "rq", L.private_full(c.a.guid, 7)), admin=adm, ack=2, resp=lambda c: ("priv", c.a, 7, 1)))
add("user-rq-same-without-admin", S, "RQ 1 says that the response queue is the administration queue; there is no administration queue.", "U:response-type-same", one(b1("user.RQ", 1)), prov=False)
add("user-rq-admin-host-without-admin", S, "RQ 4 is for the host of the administration queue; there is no administration queue.", "U:response-queue-admin-host",
    one(lambda p, c: (setattr(p.user, "RQ", 4), setattr(p.user, "rq", L.private_id(7)))), prov=False)


def swap_queues(p, c):
    p.user.aq, p.user.rq = p.user.rq, p.user.aq


add("user-admin-response-swapped", S, "AdminQueue stands before ResponseQueue; the two are exchanged.", "U:admin-queue-layout U:response-queue-layout",
    one(swap_queues, admin=adm, ack=2, resp=lambda c: ("pub", c.a, guid(c.r))), prov=False)

# ------------------------------------------------------------------ MS-MQMQ 2.2.18.1.5.2
S = "MQ 2.2.18.1.5.2"


def dn(name, sentence, reqs, f, prov=True, which="dq", **k):
    """f(c) gives the bytes of the name"""
    add("direct-" + name, S, sentence, reqs, one(lambda p, c: setattr(p.user, which, f(c)), direct=True, **k), prov=prov)




def odd(c):
    t = "OS:%s\\inbox" % c.b.name
    return t if len(t) % 2 else t + "x"


ODD = dict(dest=lambda c: ("direct", odd(c)))      # needs 2 bytes of padding
dn("count-without-nul", "Count includes the NUL; it does not.", "DN:count DN:null-terminated", lambda c: direct("OS:%s\\inbox" % c.b.name, count=2 * len("OS:%s\\inbox" % c.b.name)))
dn("count-with-padding", "Count does not include the padding; it does.", "DN:count", lambda c: direct(odd(c), count=2 * len(odd(c)) + 4), **ODD)
dn("count-characters", "Count is in bytes; it counts the characters.", "DN:count", lambda c: direct("OS:%s\\inbox" % c.b.name, count=len("OS:%s\\inbox" % c.b.name) + 1))
dn("count-zero", "Count is the length of the name; it is 0 before a name.", "DN:count", lambda c: direct("OS:%s\\inbox" % c.b.name, count=0))
dn("count-big-endian", "Count is little-endian; its bytes are the other way round.", "DN:count", lambda c: (lambda t: direct(t, count=struct.unpack(">H", struct.pack("<H", 2 * len(t) + 2))[0]))("OS:%s\\inbox" % c.b.name))
dn("count-odd", "Count is the length of a WCHAR buffer up to its NUL; it is one byte more.", "DN:count", lambda c: direct("OS:%s\\inbox" % c.b.name, count=2 * len("OS:%s\\inbox" % c.b.name) + 3))
dn("not-terminated", "The name ends with a NUL; there is none, and Count is right for it.", "DN:null-terminated", lambda c: direct("", raw=wn("OS:%s\\inbox" % c.b.name)))
dn("nul-inside", "The name is terminated by its NUL; there is another one inside.", "DN:null-terminated DN:count", lambda c: direct("", raw=w("OS:%s\0\\inbox" % c.b.name)))
dn("ascii", "The name is in WCHARs; it is in bytes.", "DN:direct-format-name DN:null-terminated", lambda c: direct("", raw=b"OS:" + c.b.name.encode() + b"\\inbox" + (b"\0" if len(c.b.name) % 2 == 0 else b"x\0")))
dn("not-padded", "The end of the name is padded to a multiple of 4 from the start of UserHeader; it is not.", "DN:layout", lambda c: struct.pack("<H", 2 * len(odd(c)) + 2) + w(odd(c)), **ODD)
dn("padded-to-8", "The end of the name is padded to a multiple of 4; there are 4 bytes more.", "DN:layout", lambda c: direct("OS:%s\\inbox" % c.b.name) + b"\xCC" * 4)
dn("prefix", "The name on the wire has no DIRECT= in front; it has.", "DN:direct-format-name", lambda c: direct("DIRECT=OS:%s\\inbox" % c.b.name), prov=False)
dn("admin-not-terminated", "The name ends with a NUL; that of the administration queue does not.", "DN:null-terminated", lambda c: direct("", raw=wn("OS:%s\\acks" % c.a.name)), which="aq",
   admin=lambda c: ("direct", "OS:%s\\acks" % c.a.name), ack=2)
dn("response-count", "Count includes the NUL; that of the response queue does not.", "DN:count", lambda c: direct("OS:%s\\answers" % c.a.name, count=2 * len("OS:%s\\answers" % c.a.name)), which="rq",
   resp=lambda c: ("direct", "OS:%s\\answers" % c.a.name))

# ------------------------------------------------------------------ MS-MQMQ 2.1.1 and 2.1.2


def nm(name, section, sentence, reqs, t, prov=True, which="dq", **k):
    add("name-" + name, "MQ " + section, sentence, reqs + " DN:direct-format-name", one(name_(t, which), direct=True, **k), prov=prov)


nm("queue-125", "2.1.1", "A queue name has at most 124 characters; it has 125.", "N1:queue-name-too-long N2:queue-name-reject", lambda c: "OS:%s\\%s" % (c.b.name, "q" * 125))
nm("queue-space", "2.1.1", "A queue name has no space; it has one.", "N1:queue-name-space-reject N2:queue-name-reject", lambda c: "OS:%s\\in box" % c.b.name)
nm("queue-control", "2.1.1", "A queue name has no control character; it has 0x07.", "N1:queue-name-control-reject N2:queue-name-reject", lambda c: "OS:%s\\in\x07box" % c.b.name)
nm("queue-not-ascii", "2.1.1", "A queue name consists of characters 0x21 to 0x7F; it has an o with diaeresis.", "N1:queue-name-space-reject N2:queue-name-reject", lambda c: "OS:%s\\inb\u00f6x" % c.b.name)
nm("queue-plus", "2.1.1", "A queue name of MSMQ 2.0 and later has no plus sign; it has one.", "N1:queue-name-plus-reject N2:queue-name-reject", lambda c: "OS:%s\\in+box" % c.b.name, prov=False)
nm("queue-comma", "2.1.1", "A queue name of MSMQ 2.0 and later has no comma; it has one.", "N1:queue-name-comma-reject N2:queue-name-reject", lambda c: "OS:%s\\in,box" % c.b.name, prov=False)
nm("queue-quote", "2.1.1", "A queue name of MSMQ 2.0 and later has no double quote; it has one.", "N1:queue-name-quote-reject N2:queue-name-reject", lambda c: "OS:%s\\in\"box" % c.b.name, prov=False)
nm("queue-backslash", "2.1.1", "A queue name has no backslash; it has one.", "N1:queue-name-backslash-reject N2:queue-name-reject", lambda c: "OS:%s\\in\\box" % c.b.name)
nm("private-misspelled", "2.1.2", "Before the name of a private queue stands \\PRIVATE$\\; it is written \\PRIVATE\\.", "N1:queue-name-backslash-reject N2:queue-name-reject", lambda c: "OS:%s\\PRIVATE\\inbox" % c.b.name)
nm("subqueue-33", "2.1.1", "A subqueue name has at most 32 characters; it has 33.", "N1:subqueue-too-long", lambda c: "OS:%s\\inbox;%s" % (c.b.name, "s" * 33))
nm("subqueue-empty", "2.1.1", "A semicolon has a subqueue name behind it; it has none.", "N1:subqueue-missing N2:suffix-empty-reject", lambda c: "OS:%s\\inbox;" % c.b.name)
nm("subqueue-space", "2.1.1", "A subqueue name has no space; it has one.", "N1:queue-name-space-reject", lambda c: "OS:%s\\inbox;sub queue" % c.b.name)
nm("subqueue-twice", "2.1.1", "There is one subqueue at most; there are two.", "N1:subqueue-alphabet-reject N2:suffix-reject", lambda c: "OS:%s\\inbox;one;two" % c.b.name)
nm("computer-257", "2.1.1", "A computer name has at most 256 characters; it has 257.", "N1:computer-too-long", lambda c: "OS:%s\\inbox" % ("c" * 257))
nm("computer-space", "2.1.1", "A computer name has no space; it has one.", "N1:computer-alphabet-reject", lambda c: "OS:be ta\\inbox")
nm("computer-missing", "2.1.2", "A direct name has an address; it has none.", "N2:address-missing", "OS:\\inbox")
nm("queue-missing", "2.1.2", "A direct name has a queue name; it has none.", "N2:queue-name-missing", lambda c: "OS:%s\\" % c.b.name)
nm("separator-missing", "2.1.2", "A backslash stands before the queue name; there is none.", "N2:queue-name-missing N1:separator", lambda c: "OS:%s" % c.b.name)
nm("private-queue-missing", "2.1.2", "A queue name stands behind \\PRIVATE$\\; there is none.", "N2:queue-name-missing", lambda c: "OS:%s\\PRIVATE$\\" % c.b.name)
nm("protocol", "2.1.2", "The protocol is TCP, OS, HTTP, HTTPS or IPX; it is UDP.", "N2:protocol-reject", lambda c: "UDP:%s\\inbox" % c.b.ip)
nm("protocol-missing", "2.1.2", "A direct name begins with a protocol and a colon; it does not.", "N2:protocol-missing", lambda c: "%s\\inbox" % c.b.name)
nm("tcp-name", "2.1.2", "Behind TCP: stands an IP address; a computer name stands there.", "N2:tcp-address-reject", lambda c: "TCP:%s\\inbox" % c.b.name)
nm("tcp-octet", "2.1.2", "Behind TCP: stands an IP address; one number is 300.", "N2:tcp-address-reject", "TCP:10.1.300.4\\inbox")
nm("tcp-three", "2.1.2", "Behind TCP: stands an IP address; it has three numbers.", "N2:tcp-address-reject", "TCP:10.1.4\\inbox")
nm("system-other", "2.1.2", "A machine queue is JOURNAL, DEADLETTER or DEADXACT; it is OUTBOX.", "N2:system-queue-reject", lambda c: "OS:%s\\SYSTEM$;OUTBOX" % c.b.name)
http = dict(which="rq", resp=lambda c: ("direct", "HTTP://%s/MSMQ\\answers" % c.a.name))
nm("http-slashes", "2.1.2", "An HTTP name has // before the host; the response queue has none.", "N2:http-msmq-reject", lambda c: "HTTP:%s/MSMQ\\answers" % c.a.name, **http)
nm("http-msmq", "2.1.2", "An HTTP name has /MSMQ behind the host; the response queue has not.", "N2:http-msmq-reject", lambda c: "HTTP://%s\\answers" % c.a.name, **http)
nm("http-port", "2.1.2", "The port of an HTTP name consists of digits; it is 80a.", "N2:http-port-reject", lambda c: "HTTP://%s:80a/MSMQ\\answers" % c.a.name, **http)
nm("https-msmq", "2.1.2", "An HTTPS name has /MSMQ behind the host; the response queue has /QUEUES.", "N2:http-msmq-reject", lambda c: "HTTPS://%s/QUEUES\\answers" % c.a.name, **http)
nm("admin-queue-missing", "2.1.2", "A direct name has a queue name; that of the administration queue has none.", "N2:queue-name-missing", lambda c: "OS:%s\\private$\\" % c.a.name, which="aq",
   admin=lambda c: ("direct", "OS:%s\\private$\\acks" % c.a.name), ack=2)

# ------------------------------------------------------------------ MS-MQMQ 2.2.18.1.4 and 2.2.20.1 to 2.2.20.3


def fmq2(p, c):
    p.mq = new_mq([("priv", c.b, 11), ("dl", guid(c.r)), ("direct", "OS:elsewhere\\q")], [("priv", c.a, 9)], [("priv", c.a, 3), ("direct", "OS:%s\\answers" % c.a.name)])
    p.user.RQ, p.user.rq = 2, L.private_id(3)
    p.user.AQ, p.user.aq = 2, L.private_id(9)
    p.mph.flags = 2


def mq(name, section, sentence, reqs, mut, prov=True, last=True, feat=fmq2, **k):
    add("mq-" + name, "MQ " + section, sentence, reqs, one(mut, feat, last=last, **k), prov=prov)


def el(i, f, part="dest"):
    """Replace element i by what f(offset, c) gives."""
    def g(p, c):
        getattr(p.mq, part).names[i] = lambda off: f(off, c)
    return g


FT = "2.2.18.1.4"
for v in (0, 4, 5, 7, 0x300):
    mq("format-type-%x" % v, FT, "FormatType must be 1, 2, 3 or 6; it is 0x%X before a direct name." % v, "F:format-type-values", el(2, lambda off, c: struct.pack("<H", v) + w("OS:elsewhere\\q")))
mq("private-not-aligned", FT, "A private name begins at a multiple of 4; it follows FormatType at once.", "F:format-name MQMQ-2.2.18.1.7.2.source-queue-manager",
   el(0, lambda off, c: struct.pack("<H", 2) + L.private_full(c.b.guid, 11)))
mq("list-not-aligned", "2.2.18.1.4.2", "DistributionListIdentifier begins at a multiple of 4; it follows FormatType at once.", "FL:alignment", el(1, lambda off, c: struct.pack("<H", 6) + guid(c.r)))
mq("private-short", FT, "An element of FormatType 2 holds a GUID and a number; the number is missing.", "F:private-format-name F:format-name-structure", el(0, lambda off, c: struct.pack("<HH", 2, 0) + c.b.guid))
mq("list-long", "2.2.18.1.4.2", "An element of FormatType 6 holds a GUID; 4 bytes more follow it.", "FL:layout F:distribution-list-format-name", el(1, lambda off, c: struct.pack("<H", 6) + bytes(-(off + 2) % 4) + guid(c.r) + struct.pack("<I", 11)))
mq("direct-count", "2.2.18.1.4.1", "A direct name in an element has no count in front; it has.", "FD:layout FD:direct-format-name", el(2, lambda off, c: struct.pack("<HH", 3, 30) + w("OS:elsewhere\\q")))
mq("direct-not-terminated", "2.2.18.1.4.1", "DirectFormatName ends with a NUL; it does not.", "FD:null-terminated", el(2, lambda off, c: struct.pack("<H", 3) + wn("OS:elsewhere\\qx")))
mq("direct-name", "2.2.18.1.4.1", "DirectFormatName is a direct format name; it has no queue.", "FD:direct-format-name N2:queue-name-missing", el(2, lambda off, c: struct.pack("<H", 3) + w("OS:elsewhere")))
mq("direct-protocol", "2.2.18.1.4.1", "DirectFormatName is a direct format name; its protocol is FTP.", "FD:direct-format-name N2:protocol-reject", el(1, lambda off, c: struct.pack("<H", 3) + w("FTP:elsewhere\\q"), "resp"))
mq("direct-prefix", "2.2.18.1.4.1", "DirectFormatName on the wire has no DIRECT= in front; it has.", "FD:direct-format-name", el(2, lambda off, c: struct.pack("<H", 3) + w("DIRECT=OS:elsewhere\\q")), prov=False)


def hs(part, n):
    def f(p, c):
        p.build()
        getattr(p.mq, part).size = 12 + len(getattr(p.mq, part).list_bytes) + (-len(getattr(p.mq, part).list_bytes) % 4) + n
    return f


mq("header-size-without-header", "2.2.20.2", "HeaderSize includes the header; its 12 bytes are left out.", "AH:header-size", hs("dest", -12))
mq("header-size-plus4", "2.2.20.2", "HeaderSize is the size of the header; it is 4 more.", "AH:header-size", hs("admin", 4))
mq("header-size-small", "2.2.20.2", "HeaderSize is at least 12; it is 8 in an empty header.", "AH:header-size", b1("mq.admin", lambda m, c: L.new_mq([], [], []).admin) and (lambda p, c: setattr(p.mq.admin, "size", 8)), feat=fmq)
mq("header-size-huge", "2.2.20.2", "HeaderSize fits the packet; it is 0x10000.", "AH:header-size", lambda p, c: setattr(p.mq.resp, "size", 0x10000))
for part, v, n in (("dest", 0xC8, "Destination"), ("admin", 0x65, "Administration"), ("resp", 0x64, "Response"), ("dest", 0x15E, "Destination")):
    mq("header-id-%s-%x" % (part, v), "2.2.20.2", "HeaderID of %s must be its own; it is 0x%04X." % (n, v), "AH:header-id", lambda p, c, part=part, v=v: setattr(getattr(p.mq, part), "id", v))
for part, n in (("dest", "Destination"), ("admin", "Administration"), ("resp", "Response")):
    mq("reserved-" + part, "2.2.20.2", "Reserved of %s should be 0; it is 0x0101." % n, "AH:reserved", lambda p, c, part=part: setattr(getattr(p.mq, part), "res", 0x0101), last=False)
mq("count-more", "2.2.20.2", "ElementCount is the number of names; it is one more.", "AH:element-count", lambda p, c: setattr(p.mq.dest, "count", 4))
mq("count-less", "2.2.20.2", "ElementCount is the number of names; it is one less.", "AH:element-count", lambda p, c: setattr(p.mq.dest, "count", 2))
mq("count-zero", "2.2.20.2", "ElementCount is the number of names; it is 0 before two.", "AH:element-count", lambda p, c: setattr(p.mq.resp, "count", 0))
mq("count-in-empty", "2.2.20.2", "ElementCount is the number of names; it is 1 in an empty list.", "AH:element-count", lambda p, c: setattr(p.mq.admin, "count", 1), feat=fmq)
mq("not-padded", "2.2.20.2", "FormatNameList is padded to a multiple of 4; it is not.", "AH:format-name-list-layout MQ:destination-layout", lambda p, c: (p.mq.dest.names.__setitem__(2, ("direct", "OS:elsewhere\\qx")), setattr(p.mq.dest, "pad", b"")),
   feat=lambda p, c: (fmq2(p, c), p.mq.dest.names.__setitem__(2, ("direct", "OS:elsewhere\\qx"))))
mq("order", "2.2.20.1", "Destination, Administration and Response come in this order; the first two are exchanged.", "MQ:destination-layout MQ:administration-layout", lambda p, c: setattr(p.mq, "order", ["admin", "dest", "resp"]))
mq("response-missing", "2.2.20.1", "Response follows Administration; it is missing.", "MQ:response-layout", lambda p, c: setattr(p.mq, "order", ["dest", "admin"]))


def cut_sig(p, c):
    p.raw = lambda d: d[:8] + struct.pack("<I", len(d) - 8) + d[12:-8]


mq("signature-missing", "2.2.20.1", "A signature header ends MultiQueueFormatHeader; it is missing.", "MQ:signature-layout", cut_sig)
mq("destination-not-listed", "2.2.20.1", "Destination lists every queue that was sent a copy; the queue of this copy is not in it.", "MQ:destination-complete", lambda p, c: p.mq.dest.names.__setitem__(0, ("priv", c.b, 999)), feat=lambda p, c: (fmq2(p, c), p.mq.dest.names.pop(1)))
mq("destination-empty", "2.2.20.1", "Destination lists every queue that was sent a copy; it is empty.", "MQ:destination-complete", lambda p, c: setattr(p.mq.dest, "names", []))
mq("signature-id", "2.2.20.3", "ID must be 0x015E; it is 0x012C.", "SG:id", lambda p, c: setattr(p.mq.sig, "id", 0x12C))
mq("signature-id-zero", "2.2.20.3", "ID must be 0x015E; it is 0.", "SG:id", lambda p, c: setattr(p.mq.sig, "id", 0))
mq("signature-reserved", "2.2.20.3", "Reserved should be 0; it is 0xFFFF.", "SG:reserved", lambda p, c: setattr(p.mq.sig, "res", 0xFFFF), last=False)


def fmq3(p, c):
    p.mq = new_mq([("priv", c.b, 11), ("dl", guid(c.r))], kind=3)
    p.sec = new_sec(ST=1, sid=c.a.sid, cert=L.key("sign1")[1])


mq("signature-size-more", "2.2.20.3", "Size is the size of Signature; it is 8 more.", "SG:size", lambda p, c: setattr(p.mq.sig, "size", 264), feat=fmq3)
mq("signature-size-less", "2.2.20.3", "Size is the size of Signature; it is 4 less.", "SG:size", lambda p, c: setattr(p.mq.sig, "size", 252), feat=fmq3)
mq("signature-wrong", "2.2.20.3", "Signature is that of the message; one of its bytes is another.", "SG:signature MQMQ-2.5.3.order", lambda p, c: setattr(p.mq, "sigedit", lambda s: s[:40] + bytes([s[40] ^ 1]) + s[41:]), feat=fmq3, prov=False)
mq("signature-wrong-kind", "2.5.3", "The signature with several destinations is made of the MSMQ 3.0 properties; it is made of the 1.0 ones.", "MQMQ-2.5.3.order SG:signature",
   lambda p, c: setattr(p.mq, "sigedit", lambda s: L.rsa_sign("sign1", 0x800E, p.signed_properties(1))), feat=fmq3, prov=False)

# ------------------------------------------------------------------ MS-MQMQ 2.2.19.3
S = "MQ 2.2.19.3"
for k in range(4):
    add("mph-flags-x%d" % (4 + k), S, "The four upper bits of Flags should be clear; bit %d is set." % (4 + k), "P:flags-unused", one(b1("mph.flags", lambda m, c, k=k: m.flags | 16 << k), last=False, admin=adm, ack=2))
add("mph-label-251", S, "LabelLength is at most 0xFA; it is 0xFB, with a label of that length.", "P:label-length-maximum P:label-rule", one(b1("mph.label", w("L" * 250))))
add("mph-label-length-without-nul", S, "LabelLength includes the NUL; it does not.", "P:label-length P:label-format", one(b1("mph.lablen", 7)))
add("mph-label-length-bytes", S, "LabelLength counts WCHARs; it counts bytes.", "P:label-length", one(b1("mph.lablen", 16)))
add("mph-label-length-zero", S, "With LabelLength 0 there must be no Label; there is one.", "P:label-absent P:label-length", one(b1("mph.lablen", 0)))
add("mph-label-not-terminated", S, "A label ends with a NUL; it does not, and LabelLength is right for it.", "P:label-format P:label-rule", one(b1("mph.label", wn("a label!"))))
add("mph-label-nul-inside", S, "The only NUL of a label is its last character; there is one inside.", "P:label-format P:label-rule", one(b1("mph.label", wn("a l\0bel\0"))))
add("mph-label-nul-twice", S, "The only NUL of a label is its last character; it ends with two.", "P:label-format P:label-rule", one(b1("mph.label", wn("a labe\0\0"))))
add("mph-label-length-one-more", S, "LabelLength is the number of WCHARs of the label; it is one more.", "P:label-length P:label-format", one(b1("mph.lablen", 9)))
for v, pr in ((0x0200, True), (0x1E00, True), (0x0003, False), (0x8008, False), (0xC003, False)):
    add("mph-class-%04x" % v, S, "MessageClass is a value of the enumeration" + ("" if not pr else " or sets bits of 0xE1FF alone") + "; it is 0x%04X." % v, "P:message-class" + (" MQMQ-2.2.18.1.6.custom-class" if pr else ""), one(b1("mph.cls", v)), prov=pr)
for v in (5, 14, 0x2003, 0x12345678):
    add("mph-body-type-%x" % v, S, "BodyType is a PROPVARIANT type constant; it is 0x%X." % v, "P:body-type", one(b1("mph.btype", v)))
add("mph-body-type-bstr", S, "BodyType is a type constant of section 2.2.12; it is 8, as in the example of MS-MQQB 4.1.7.", "P:body-type", one(b1("mph.btype", 8)), prov=False)
add("mph-message-size-more", S, "MessageSize is the size of the body; it is 40 more and reaches over the end of the packet.", "P:message-size", one(b1("mph.size", 64)))
add("mph-message-size-less", S, "MessageSize is the size of the body; it is 8 less.", "P:message-size B:packet-size-headers", one(b1("mph.size", 16)))
add("mph-message-size-zero", S, "With MessageSize 0 there must be no body; there are 24 bytes.", "P:message-size P:message-body-absent", one(lambda p, c: (setattr(p.mph, "size", 0), setattr(p.mph, "alloc", 0))))
add("mph-message-size-huge", S, "MessageSize fits the packet; it is 0x7FFFFFFF.", "P:message-size", one(lambda p, c: setattr(p.mph, "size", 0x7FFFFFFF)))
add("mph-alloc-less", S, "AllocationBodySize is the room of the body; it is less than MessageSize.", "P:allocation-body-size", one(b1("mph.alloc", 8)))
add("mph-alloc-zero", S, "AllocationBodySize is the room of the body; it is 0 with a body of 24 bytes.", "P:allocation-body-size", one(b1("mph.alloc", 0)))
add("mph-alloc-huge", S, "AllocationBodySize stays within the limit that PacketSize sets; it is 0x01000000.", "P:allocation-body-size", one(b1("mph.alloc", 0x01000000)), prov=False)
for v in (2, 4, 0x80):
    add("mph-privacy-%d" % v, S, "PrivacyLevel is 0, 1, 3 or 5; it is %d." % v, "P:privacy-level", one(b1("mph.priv", v)))
for v in (0x8005, 0x800D, 4):
    add("mph-hash-%x" % v, S, "HashAlgorithm is one of the six; it is 0x%X." % v, "P:hash-algorithm", one(b1("mph.hash", v)))
for v in (0, 0x6601, 0x6603, 0x660D):
    add("mph-encryption-%x" % v, S, "EncryptionAlgorithm is one of the five; it is 0x%X." % v, "P:encryption-algorithm", one(b1("mph.enc", v)))


def fenc(level=5, alg=0x6610, st=1, **k):
    return lambda p, c: encrypt(p, c.a, c.r, level, alg, st=st, **k)


def realg(level, alg):
    """Everything is made with another algorithm than the level allows."""
    def f(p, c):
        p.mph.body = p.info.plain
        encrypt(p, c.a, c.r, level, alg)
    return f


add("mph-privacy5-rc4", S, "PrivacyLevel 5 allows AES; the body is encrypted with RC4.", "P:encryption-by-privacy", one(realg(5, 0x6801), fenc()))
add("mph-privacy3-aes", S, "PrivacyLevel 3 allows RC2 and RC4; the body is encrypted with AES.", "P:encryption-by-privacy", one(realg(3, 0x6610), fenc(3, 0x6801)))
add("mph-privacy1-aes", S, "PrivacyLevel 1 allows RC2 and RC4; the body is encrypted with AES.", "P:encryption-by-privacy", one(realg(1, 0x660E), fenc(1, 0x6801)))
add("mph-aes-not-padded", S, "AES is used with the padding of PKCS5; the encrypted body is no multiple of 16 bytes.", "P:initialization-vector", one(lambda p, c: setattr(p.mph, "body", p.mph.body[:-4]), fenc()), prov=False)
add("mph-extension-size-more", S, "ExtensionSize is the size of the extension; it reaches over the end of the packet.", "P:extension-size", one(b1("mph.extsize", 4000), ext=b"extension data12"))
add("mph-extension-size-less", S, "ExtensionSize is the size of the extension; it is 4 less.", "P:extension-size B:packet-size-headers", one(b1("mph.extsize", 12), ext=b"extension data12"))
add("mph-extension-size-zero", S, "With ExtensionSize 0 there must be no extension; there are 16 bytes.", "P:extension-size P:extension-data-absent", one(b1("mph.extsize", 0), ext=b"extension data12"))
add("mph-not-padded", S, "The header is padded to a multiple of 4; the 2 bytes of padding are missing.", "P:padding", one(b1("mph.pad", b""), body=b"twenty two bytes here."))
add("mph-not-padded-debug", S, "The header is padded to a multiple of 4; a DebugHeader follows the body at once.", "P:padding", one(b1("mph.pad", b""), dbg, body=b"twenty three bytes here"))
add("mph-padded-more", S, "The header is padded to a multiple of 4 as needed; there are 4 bytes too many.", "P:padding B:packet-size-headers", one(b1("mph.pad", b"\xA5" * 4)))


def swap_mph(kind):
    def f(p, c):
        m = p.mph
        lab, ext, bd = m.label, m.ext, m.body
        m.lablen, m.extsize, m.size, m.alloc = len(lab) // 2, len(ext), len(bd), len(bd)
        m.pad = bytes(-(len(lab) + len(ext) + len(bd)) % 4)
        if kind == "body-ext":
            m.ext, m.body = bd, ext
        else:
            m.label, m.ext = ext, lab
    return f


add("mph-body-before-extension", S, "The body follows the extension; they are exchanged.", "P:message-body-layout P:extension-data-layout", one(swap_mph("body-ext"), ext=b"extension data12"), prov=False)
add("mph-extension-before-label", S, "The label precedes the extension; they are exchanged.", "P:label-layout P:extension-data-layout P:label-format", one(swap_mph("label-ext"), ext=b"extension data12"))

# ------------------------------------------------------------------ MS-MQMQ 2.2.20
S = "MQ 2.2.20"


def order(*o):
    return lambda p, c: setattr(p, "order", list(o))


add("order-security-before-transaction", S, "SecurityHeader follows TransactionHeader; it stands before it.", "PK:transaction-header-layout PK:security-header-layout", one(order("user", "sec", "tx", "mph"), fsid, tx=True))
add("order-properties-before-security", S, "MessagePropertiesHeader follows SecurityHeader; it stands before it.", "PK:security-header-layout PK:message-properties-header-layout", one(order("user", "mph", "sec"), fsid))
add("order-properties-before-transaction", S, "MessagePropertiesHeader follows TransactionHeader; it stands before it.", "PK:transaction-header-layout PK:message-properties-header-layout", one(order("user", "mph", "tx"), tx=True))
add("order-debug-before-properties", S, "DebugHeader follows MessagePropertiesHeader; it stands before it.", "PK:debug-header-layout PK:message-properties-header-layout", one(order("user", "debug", "mph"), dbg))
both_ = lambda p, c: (fsoap(p, c), fmq(p, c))
add("order-multi-before-soap", S, "SoapHeader stands before MultiQueueFormatHeader; it follows it.", "PK:soap-header-layout PK:multi-queue-header-layout", one(order("user", "mph", "mq", "soap"), both_))
add("order-soap-before-debug", S, "SoapHeader follows DebugHeader; it stands before it.", "PK:soap-header-layout PK:debug-header-layout", one(order("user", "mph", "soap", "debug"), lambda p, c: (fsoap(p, c), dbg(p, c))))
add("order-soap-before-properties", S, "SoapHeader follows MessagePropertiesHeader; it stands before it.", "PK:soap-header-layout PK:message-properties-header-layout", one(order("user", "soap", "mph"), fsoap))


def sess_first(p, c):
    def f(d):
        x = d[-16:]
        return d[:16] + x + d[16:-16]
    p.raw = f


add("order-session-header-first", S, "SessionHeader stands last; it follows BaseHeader.", "PK:session-header-layout PK:user-header-layout", piggy(sess_first))
add("packet-trailing-bytes", S, "Nothing follows the last header; 8 bytes do, which PacketSize counts.", "B:packet-size-headers", one(lambda p, c: setattr(p, "tail", b"\0" * 8)))
add("packet-base-header-short", S, "BaseHeader takes 16 bytes; TimeToReachQueue is missing, which PacketSize counts right.", "PK:base-header-layout",
    one(put_raw(lambda d: d[:8] + struct.pack("<I", len(d) - 4) + d[16:])), prov=False)

# ------------------------------------------------------------------ MS-MQMQ 2.2.20.4
S = "MQ 2.2.20.4"
add("session-window-zero-um", S, "WindowSize is at least 1; it is 0 in the SessionHeader of a user message.", "S:window-size-range S:window-size-default",
    piggy(put_raw(lambda d: d[:-4] + b"\0\0" + d[-2:])))
add("session-window-zero-sack", S, "WindowSize is at least 1; it is 0 in a SessionAck.", "S:window-size-range S:window-size-default", acks("sack", b1("sess.win", 0)))
add("session-window-default", S, "WindowSize should be 0x0040; it is 0x0020 in every SessionAck.", "S:window-size-default", acks("sack", b1("sess.win", 0x20), stop=False), prov=False)
add("session-window-larger", S, "WindowSize should be 0x0040, and is that of ConnectionParameters; it is 0x0080.", "S:window-size-default MQQB-3.1.6.4.window-size", acks("sack", b1("sess.win", 0x80), stop=False))

# ------------------------------------------------------------------ MS-MQMQ 2.2.20.5
S = "MQ 2.2.20.5"
for k in range(8):
    add("tx-flags-x%d" % (k + 1), S, "X%d should not be set; it is." % (k + 1), "T:flags-x%d" % (k + 1), one(b1("tx.X", 1 << k), tx=True))
add("tx-cg-without-guid", S, "With CG set there must be a ConnectorQMGuid; there is none.", "T:connector-present", one(b1("tx.CG", 1), tx=True))
add("tx-guid-without-cg", S, "With CG clear there must be no ConnectorQMGuid; there is one.", "T:connector-absent", one(b1("tx.CG", 0), lambda p, c: (setattr(p.tx, "CG", 1), setattr(p.tx, "conn", guid(c.r))), tx=True))
add("tx-number-zero", S, "TxSequenceNumber is at least 1; it is 0.", "T:sequence-number-range T:sequence-number-from-one", one(b1("tx.num", 0), tx=True))
add("tx-first-number-2", S, "The first message of a sequence has number 1; it has 2 (and previous number 1).", "T:sequence-number-from-one MQQB-3.1.1.5.first-number", one(lambda p, c: (setattr(p.tx, "num", 2), setattr(p.tx, "prev", 1)), tx=True), prov=False)
add("tx-first-previous-1", S, "The first message of a sequence has no previous one and so number 0 there; it has 1.", "T:first-has-no-previous T:previous-before", one(b1("tx.prev", 1), tx=True))
add("tx-previous-max", S, "PreviousTxSequenceNumber is at most 0xFFFFFFFE; it is 0xFFFFFFFF.", "T:previous-before T:first-has-no-previous", one(b1("tx.prev", INF), tx=True))
add("tx-header-short", S, "TransactionHeader takes 20 bytes; PreviousTxSequenceNumber is missing.", "T:previous-tx-sequence-number-layout",
    one(put_raw(lambda d: d[:8] + struct.pack("<I", len(d) - 4) + d[12:84] + d[88:]), tx=True))

# ------------------------------------------------------------------ MS-MQMQ 2.2.20.6
S = "MQ 2.2.20.6"


def fsig(kind=2, **k):
    return lambda p, c: sign(p, c.a, kind=kind, **k)


def sc(name, sentence, reqs, mut, feat=fsid, prov=True, last=True, section=None, **k):
    add("sec-" + name, section or S, sentence, reqs, one(mut, feat, last=last, **k), prov=prov)


for v in (3, 7, 15):
    sc("sender-type-%d" % v, "ST is 0, 1 or 2; it is %d." % v, "SEC:sender-id-type", b1("sec.ST", v))
sc("sender-none-with-id", "With ST 0 SenderIdSize must be 0; a SID is there.", "SEC:sender-id-none", b1("sec.ST", 0))
sc("sender-sid-guid", "With ST 1 SecurityID is a SID; it is a GUID.", "SEC:sender-id-sid", lambda p, c: setattr(p.sec, "sid", c.a.guid))
sc("sender-guid-sid", "With ST 2 SecurityID is the GUID of a queue manager; it is a SID.", "SEC:sender-id-guid", b1("sec.ST", 2))
sc("sender-guid-other", "With ST 2 SecurityID is the GUID of the sending queue manager; it is another GUID.", "SEC:sender-id-guid SEC:security-id-queue-manager",
   lambda p, c: setattr(p.sec, "sid", guid(c.r)), feat=lambda p, c: sign(p, c.a, st=2))
sc("sender-sid-missing", "With ST 1 SecurityID is a SID; there is none.", "SEC:sender-id-sid", b1("sec.sid", b""), feat=fsig())
sc("sid-revision", "A SID has revision 1; it has 2.", "SEC:sender-id-sid", lambda p, c: setattr(p.sec, "sid", b"\2" + p.sec.sid[1:]))
sc("sid-count", "A SID has as many sub-authorities as it says; it says 3 and has 5.", "SEC:sender-id-sid", lambda p, c: setattr(p.sec, "sid", b"\1\3" + p.sec.sid[2:]))
sc("au", "AU must be 0; it is 1.", "SEC:authenticated", b1("sec.AU", 1), feat=fsig())
for v in (1, 3, 5, 8):
    sc("as-%d" % v, "AS must be 0; it is %d." % v, "SEC:signature-type", b1("sec.AS", v), feat=fsig())
sc("default-provider-clear", "With DE clear and a signature ProviderName must be given; it is not.", "SEC:provider-named", b1("sec.DE", 0), feat=fsig())
sc("default-provider-with-info", "With DE set there must be no ProviderInfo; there is.", "SEC:provider-absent", b1("sec.DE", 1), feat=fsig(prov=(24, "Microsoft Enhanced RSA and AES Cryptographic Provider")))
sc("default-provider-with-info-encrypted", "With DE set there must be no ProviderInfo; there is in an encrypted message.", "SEC:provider-absent", b1("sec.DE", 1), feat=fenc())
sc("ai-clear", "AI tells whether there is SecurityData; it is clear and there is some.", "SEC:security-data", b1("sec.AI", 0), prov=False)
sc("ai-clear-signed", "AI tells whether there is SecurityData; it is clear with a signature and a certificate.", "SEC:security-data", b1("sec.AI", 0), feat=fsig())
sc("all-sizes-zero", "One of the five sizes at least must not be 0; all are, and AI is clear.", "SEC:some-size", lambda p, c: (setattr(p.sec, "sid", b""), setattr(p.sec, "ST", 0)))
sc("ai-set-nothing", "With AI set there must be SecurityData; there is none.", "SEC:security-data SEC:some-size", lambda p, c: (setattr(p.sec, "sid", b""), setattr(p.sec, "ST", 0), setattr(p.sec, "AI", 1)))
for k in range(4):
    sc("flags-x%d" % (12 + k), "X%d should not be set; it is." % (12 + k), "SEC:flags-x%d" % (12 + k), b1("sec.X", 1 << k), last=False)
for i, n, ident, feat in ((0, "SenderIdSize", "sender-id-size", fsid), (2, "SignatureSize", "signature-size", fsig()), (3, "SenderCertSize", "sender-cert-size-exact", fsig()),
                          (1, "EncryptionKeySize", "encryption-key-size", fenc()), (4, "ProviderInfoSize", "provider-info-size", fenc())):
    def sz(p, c, i=i, d=8):
        s = p.sec
        x = [len(s.sid), len(s.ekey), 256 if s.kind else 0, len(s.cert), len(s.prov)][i]
        s.sizes = {i: x + d}
    sc("size-%d-more" % i, "%s is the size of its item; it is 8 more." % n, "SEC:%s SEC:security-data-fits" % ident, sz, feat=feat)
    sc("size-%d-less" % i, "%s is the size of its item; it is 4 less." % n, "SEC:" + ident, lambda p, c, f=sz, i=i: f(p, c, i, -4), feat=feat)
sc("sizes-over-packet", "The sizes fit the packet; SignatureSize is 0xFFF0.", "SEC:security-data-fits SEC:signature-size", lambda p, c: setattr(p.sec, "sizes", {2: 0xFFF0}), feat=fsig())
sc("cert-too-large", "SenderCertSize is at most 0xFFFF; it is 0x10004, with as many bytes there.", "SEC:sender-cert-size", lambda p, c: setattr(p.sec, "cert", p.sec.cert + bytes(0x10004 - len(p.sec.cert))), feat=fsig())
sc("not-aligned", "Each item of SecurityData begins at a multiple of 4; the one behind the certificate does not.", "SEC:security-data-aligned", b1("sec.nopad", 3), feat=fsig(skey="sign2", prov=(24, "Microsoft Enhanced RSA and AES Cryptographic Provider")))
sc("certificate-not-aligned", "Each item of SecurityData is aligned to 4 bytes; MessagePropertiesHeader follows the certificate at once.", "SEC:security-data-aligned", b1("sec.nopad", 3), feat=fsig(skey="sign2"))
sc("order-cert-signature", "The certificate follows the signature; it stands before it.", "SEC:signature-layout SEC:sender-cert-layout", b1("sec.order", (0, 1, 3, 2, 4)), feat=fsig())
sc("order-key-sid", "EncryptionKey follows SecurityID; it stands before it.", "SEC:security-id-layout SEC:encryption-key-layout SEC:sender-id-sid", b1("sec.order", (1, 0, 2, 3, 4)), feat=fenc())
sc("order-provider-first", "ProviderInfo comes last in SecurityData; it comes first.", "SEC:provider-info-layout SEC:sender-id-sid", b1("sec.order", (4, 0, 1, 2, 3)), feat=fenc())
sc("provider-not-terminated", "ProviderName ends with a NUL; it does not.", "SEC:provider-name", lambda p, c: setattr(p.sec, "prov", p.sec.prov[:-2]), feat=fenc())
sc("provider-not-terminated-signed", "ProviderName ends with a NUL; it does not in a signed message.", "SEC:provider-name", lambda p, c: setattr(p.sec, "prov", p.sec.prov[:-2] + b"\x41\0"), feat=fsig(prov=(24, "Microsoft Enhanced RSA and AES Cryptographic Provider")))
sc("provider-short", "ProviderInfo begins with ProviderType; it is 2 bytes long in all.", "SEC:provider-type-layout SEC:provider-name", b1("sec.prov", b"\1\0"), feat=fenc())
sc("signature-wrong", "Signature is that of the message; one of its bytes is another.", "SEC:signature-2 MQMQ-2.5.2.order", b1("sec.sigedit", lambda s, c: (lambda x: bytes([x[0] ^ 1]) + x[1:])), feat=fsig(), prov=False)
sc("signature-other-body", "Signature is that of the message; the body was changed after signing.", "SEC:signature-2 MQMQ-2.5.2.order", lambda p, c: (setattr(p.info, "plain", p.mph.body), setattr(p.mph, "body", b"THE body of this message")), feat=fsig(), prov=False)
sc("signature-other-hash", "The hash is that of HashAlgorithm; the signature is made with SHA-1 and the field says SHA-512.", "P:hash-sha512 SEC:signature-layout", b1("sec.halg", 0x8004), feat=fsig(), prov=False)
sc("signature-order-2", "The properties of a 2.0 signature come in a given order; ApplicationTag is hashed before CorrelationID.", "MQMQ-2.5.2.order SEC:signature-2",
   lambda p, c: setattr(p.sec, "sigedit", lambda s: (lambda d: L.rsa_sign("sign1", 0x800E, d[20:24] + d[:20] + d[24:]))(p.signed_properties(2))), feat=fsig(), prov=False, section="MQ 2.5.2", apptag=7)
sc("signature-priority-2", "The priority goes into a 2.0 signature as one byte; it went in as two.", "MQMQ-2.5.2.priority",
   lambda p, c: setattr(p.sec, "sigedit", lambda s: (lambda d, n: L.rsa_sign("sign1", 0x800E, d[:-n] + b"\0" + d[-n:]))(p.signed_properties(2), len(p.user.dq) + 16 + 6 + 2)), feat=fsig(), prov=False, section="MQ 2.5.2")
sc("signature-order-1", "The properties of a 1.0 signature come in a given order; the label is hashed before the body.", "MQMQ-2.5.1.order SEC:signature-1",
   lambda p, c: setattr(p.sec, "sigedit", lambda s: L.rsa_sign("sign1", 0x800E, p.mph.corr + struct.pack("<I", p.mph.tag) + p.mph.label + p.mph.body + p.user.rq + p.user.aq)), feat=fsig(kind=1), prov=False, section="MQ 2.5.1")
sc("certificate-broken", "SenderCert is an X.509 certificate; its first byte is another.", "SEC:sender-cert-layout", lambda p, c: setattr(p.sec, "cert", b"\x31" + p.sec.cert[1:]), feat=fsig(), prov=False)
sc("certificate-cut", "SenderCert is an X.509 certificate; its last 20 bytes are missing, and SenderCertSize is right for it.", "SEC:sender-cert-layout", lambda p, c: setattr(p.sec, "cert", p.sec.cert[:-20]), feat=fsig(), prov=False)
sc("encrypted-flag-clear", "A message with a privacy level has its body encrypted, which EB tells; EB is clear.", "SEC:body-encrypted-sender P:privacy-advanced", b1("sec.EB", 0), feat=fenc(), prov=False)
sc("encrypted-key-missing", "A message with EB has the symmetric key as EncryptionKey; there is none.", "SEC:encryption-key-layout SEC:security-data-by-flags", b1("sec.ekey", b""), feat=fenc(), prov=False)
S4 = "QB 2.4.2"
for name, at, v in (("type", 0, 6), ("version", 1, 3), ("reserved", 2, 1), ("key-algorithm", 9, 0x24)):
    sc("simpleblob-" + name, "SIMPLEBLOB has constant bytes; byte %d is 0x%02X." % (at, v), "MQQB-2.4.2.constants", lambda p, c, at=at, v=v: setattr(p.sec, "ekey", p.sec.ekey[:at] + bytes([v]) + p.sec.ekey[at + 1:]), feat=fenc(), section=S4)
sc("simpleblob-algorithm", "sessionKeyAlgorithm is one of the five; it is 0x6603.", "MQQB-2.4.2.session-key-algorithm", lambda p, c: setattr(p.sec, "ekey", p.sec.ekey[:4] + struct.pack("<I", 0x6603) + p.sec.ekey[8:]), feat=fenc(), section=S4)
sc("simpleblob-algorithm-other", "sessionKeyAlgorithm is the algorithm of the key; it says RC4 in a message encrypted with AES.", "MQQB-2.4.2.session-key-algorithm", lambda p, c: setattr(p.sec, "ekey", p.sec.ekey[:4] + struct.pack("<I", 0x6801) + p.sec.ekey[8:]), feat=fenc(), section=S4)

# ------------------------------------------------------------------ MS-MQMQ 2.2.20.7 and 2.2.20.8
S = "MQ 2.2.20.7"


def so(name, sentence, reqs, mut, last=True, prov=True):
    add("soap-" + name, S, sentence, reqs, one(mut, fsoap, last=last), prov=prov)


so("header-id", "HeaderSectionID must be 0x0320; it is 0x0384.", "SOAP:header-section-id", b1("soap.hid", 0x384))
so("header-id-decimal", "HeaderSectionID must be 0x0320; it is 0x0140.", "SOAP:header-section-id", b1("soap.hid", 0x140))
so("body-id", "BodySectionID must be 0x0384; it is 0x0320.", "SOAP:body-section-id", b1("soap.bid", 0x320))
so("body-id-zero", "BodySectionID must be 0x0384; it is 0.", "SOAP:body-section-id", b1("soap.bid", 0))
so("reserved", "Reserved should be 0; it is 0x00FF.", "SOAP:reserved", b1("soap.res", 0xFF), last=False)
so("reserved1", "Reserved1 should be 0; it is 0x8000.", "SOAP:reserved1", b1("soap.res1", 0x8000), last=False)
so("header-length-without-nul", "HeaderDataLength includes the NUL; it does not.", "SOAP:header-terminated", b1("soap.hlen", 7))
so("header-length-bytes", "HeaderDataLength counts WCHARs; it counts bytes.", "SOAP:header-terminated", b1("soap.hlen", 16))
so("body-length-without-nul", "BodyDataLength includes the NUL; it does not.", "SOAP:body-terminated", b1("soap.blen", 15))
so("body-length-bytes", "BodyDataLength counts WCHARs; it counts bytes.", "SOAP:body-terminated", b1("soap.blen", 32))
so("header-not-terminated", "Header ends with a NUL; it does not.", "SOAP:header-terminated", b1("soap.head", wn("<head/>x")))
so("body-not-terminated", "Body ends with a NUL; it does not.", "SOAP:body-terminated", b1("soap.body", wn("<body>b</body>xy")))
so("header-nul-inside", "Header is a string that its NUL ends; there is another NUL inside.", "SOAP:header-terminated", b1("soap.head", wn("<he\0d/>\0")), prov=False)
so("body-missing", "Body follows Header; its section is missing.", "SOAP:body-section-id-layout SOAP:body-section-id", put_raw(lambda d: d[:8] + struct.pack("<I", len(d) - 40) + d[12:-40]))


def soap_swap(p, c):
    s = p.soap
    s.hid, s.bid, s.head, s.body = s.bid, s.hid, s.body, s.head


so("sections-swapped", "The section of Header stands before that of Body; they are exchanged.", "SOAP:header-section-id SOAP:body-section-id", soap_swap)
S = "MQ 2.2.20.8"
for v in (2, 3):
    add("debug-queue-type-%d" % v, S, "QT is 0 or 1; it is %d." % v, "D:queue-type", one(b1("debug.QT", v), dbg))
add("debug-identifier-missing", S, "With QT 1 there must be a QueueIdentifier; there is none.", "D:queue-identifier-present", one(b1("debug.queue", b""), dbg))
add("debug-identifier-too-much", S, "With QT 0 there must be no QueueIdentifier; there is one.", "D:queue-identifier-absent", one(b1("debug.QT", 0), dbg))
add("debug-reserved", S, "Reserved should be 0; it is 1.", "D:reserved", one(b1("debug.res", 1), dbg, last=False))
for k in range(14):
    add("debug-x%d" % (k + 2), S, "X%d should not be set; it is." % (k + 2), "D:flags-x%d" % (k + 2), one(b1("debug.X", 1 << k), dbg, last=False))

# ------------------------------------------------------------------ MS-MQRR 2.2.5.1.2 (headers that AH announces)
S = "RR 2.2.5.1.2"
ENV = ('<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Header><path xmlns="http://schemas.xmlsoap.org/rp/"><action>MSMQ:x</action>'
       '<to>http://host/msmq/q</to><id>uuid:1@00000000-0000-0000-0000-000000000000</id></path></Header><Body/></Envelope>')


def fsrmp(p, c):
    env = ENV + ("" if len(ENV) % 2 else " ")
    post = b"POST /msmq/q HTTP/1.1\r\nContent-Type: text/xml\r\nHost: host\r\n\r\n" + env.encode()
    post += b" " * (-(len(post) + len(p.mph.body)) % 4)
    p.srmp = NS(id=100, res=0, len=None, data=w(env))
    p.comp = NS(id=500, res=0, len=None, msize=len(p.mph.body), moff=len(post), data=post + p.mph.body)


def srmp_only(p, c):
    fsrmp(p, c)


add("srmp-headers-without-ah", "RR 2.2.5.1.1", "Without AH there are no SRMP headers; both are there.", "MQRR-2.2.5.1.1.no-srmp-headers MQRR-2.2.5.1.2.1.only-with-flag MQRR-2.2.5.1.2.2.only-with-flag B:packet-size-headers", one(srmp_only))
add("srmp-whole-message", "MQ 2.2.19.2", "AH must not be set when sent; a message with AH and both SRMP headers is.", "U:http-flag MQRR-2.2.5.1.1.http-flag", one(lambda p, c: (fsrmp(p, c), setattr(p.user, "AH", 1))))
add("srmp-envelope-alone-without-ah", "RR 2.2.5.1.2.1", "Without AH there is no SRMPEnvelopeHeader; there is one.", "MQRR-2.2.5.1.2.1.only-with-flag MQRR-2.2.5.1.1.no-srmp-headers B:packet-size-headers", one(lambda p, c: (fsrmp(p, c), setattr(p, "comp", None))))
add("srmp-compound-alone-without-ah", "RR 2.2.5.1.2.2", "Without AH there is no CompoundMessageHeader; there is one.", "MQRR-2.2.5.1.2.2.only-with-flag MQRR-2.2.5.1.1.no-srmp-headers B:packet-size-headers", one(lambda p, c: (fsrmp(p, c), setattr(p, "srmp", None))))


def sr(name, section, sentence, reqs, mut, prov=False):
    add("srmp-" + name, section, sentence + " (The message has AH set, in the base too.)", reqs, one(mut, lambda p, c: (fsrmp(p, c), setattr(p.user, "AH", 1))), prov=prov)


sr("compound-missing", S, "With AH both SRMP headers must be there; CompoundMessageHeader is missing.", "MQRR-2.2.5.1.2.srmp-headers-present MQRR-2.2.5.1.both-populated", lambda p, c: setattr(p, "comp", None))
sr("body-offset", "RR 2.2.5.1.2.2", "MsgBodyOffset lies within Data; it lies behind its end.", "MQRR-2.2.5.1.2.2.message-body", lambda p, c: setattr(p.comp, "moff", 100000))
sr("body-size", "RR 2.2.5.1.2.2", "MsgBodySize is the size of the body within Data; it reaches over its end.", "MQRR-2.2.5.1.2.2.message-body", lambda p, c: setattr(p.comp, "msize", 100000))
sr("http-size", "RR 2.2.5.1.2.2", "HTTPBodySize is the size of Data; it is larger than the packet.", "MQRR-2.2.5.1.2.2.http-body-size", lambda p, c: setattr(p.comp, "len", 90000))
sr("data-length", "RR 2.2.5.1.2.1", "DataLength is the length of Data; it does not reach its NUL.", "MQRR-2.2.5.1.2.1.data-length", lambda p, c: setattr(p.srmp, "len", len(p.srmp.data) // 2 - 10))
sr("order", "RR 2.2.5.1", "SRMPEnvelopeHeader stands before CompoundMessageHeader; they are exchanged.", "MQRR-2.2.5.1.srmp-order", order("user", "mph", "comp", "srmp"))

# ------------------------------------------------------------------ MS-MQQB 2.2.1
S = "QB 2.2.1"
add("internal-reserved-ecq", S, "Reserved must be 0; it is 1 in the EstablishConnection request.", "I:reserved", start("ecq", b1("int.res", 1), stop=False))
add("internal-reserved-cpr", S, "Reserved must be 0; it is 0xFFFF in the ConnectionParameters response.", "I:reserved", start("cpr", b1("int.res", 0xFFFF), stop=False))
add("internal-reserved-sack", S, "Reserved must be 0; it is 0x0100 in a SessionAck.", "I:reserved", acks("sack", b1("int.res", 0x100), stop=False))
for k in range(11):
    tag = ("ecq", "ecr", "cpq", "cpr", "sack")[k % 5]
    fn = acks("sack", b1("int.X", 1 << k), stop=False) if tag == "sack" else start(tag, b1("int.X", 1 << k), stop=False)
    add("internal-x%d" % (k + 5), S, "X%d should not be set; it is." % (k + 5), "I:unused-bits", fn)
for tag, v in (("ecq", 0), ("cpq", 4), ("ecr", 15)):
    add("internal-type-%s-%d" % (tag, v), S, "PT is 1, 2 or 3; it is %d." % v, "I:packet-type", start(tag, b1("int.PT", v)))
add("internal-type-sack-7", S, "PT is 1, 2 or 3; it is 7 in a SessionAck.", "I:packet-type SA:packet-type", acks("sack", b1("int.PT", 7)))
add("internal-type-sack-3", "QB 2.2.6", "PT of a SessionAck must be 1; it is 3.", "SA:packet-type", acks("sack", b1("int.PT", 3)))
add("internal-type-ecq-3", "QB 2.2.3", "PT of an EstablishConnection packet must be 2; it is 3.", "ECP:packet-type MQQB-3.1.5.2.3.packet-type", start("ecq", b1("int.PT", 3)))
add("internal-type-ecr-1", "QB 2.2.3", "PT of an EstablishConnection packet must be 2; it is 1 in the response.", "ECP:packet-type MQQB-3.1.5.3.1.packet-type", start("ecr", b1("int.PT", 1)))
add("internal-type-cpq-2", "QB 2.2.2", "PT of a ConnectionParameters packet must be 3; it is 2.", "CPP:packet-type MQQB-3.1.5.3.2.packet-type", start("cpq", b1("int.PT", 2)))
add("internal-type-cpr-1", "QB 2.2.2", "PT of a ConnectionParameters packet must be 3; it is 1 in the response.", "CPP:packet-type MQQB-3.1.5.4.1.packet-type", start("cpr", b1("int.PT", 1)))
add("internal-cs-sack", S, "CS must not be set in a SessionAck; it is.", "I:refused-elsewhere", acks("sack", b1("int.CS", 1)))
add("internal-cs-ecq", "QB 3.1.5.2.3", "CS must be 0 in an EstablishConnection request; it is 1.", "MQQB-3.1.5.2.3.cs", start("ecq", b1("int.CS", 1)))
add("internal-cs-cpq", "QB 3.1.5.3.2", "CS must be 0 in a ConnectionParameters request; it is 1.", "MQQB-3.1.5.3.2.cs", start("cpq", b1("int.CS", 1)))
add("internal-cs-cpr", "QB 3.1.5.4.1", "CS must be 0 in a ConnectionParameters response; it is 1.", "MQQB-3.1.5.4.1.cs", start("cpr", b1("int.CS", 1)))


def no_internal(p, s):
    p.noint = True


add("internal-header-missing", S, "An internal packet has an InternalHeader; it is missing in the ConnectionParameters request.", "I:present CPP:size", start("cpq", no_internal))
# ------------------------------------------------------------------ MS-MQQB 2.2.2
S = "QB 2.2.2.1"


def cpboth(name, v):
    """request and response have the same value"""
    def fn(wd, bad):
        a, b = pair(wd)
        s = Session(wd, a, b, edits={"cpq": lambda p: setattr(p.cp, name, v), "cpr": lambda p: setattr(p.cp, name, v)} if bad else None, auto=False)
        s.close(b)
    return fn


add("cp-recoverable-timeout-small", S, "RecoverableAckTimeout is at least 500; it is 499.", "CP:recoverable-ack-timeout MQQB-3.1.5.3.2.round-trip", cpboth("rat", 499))
add("cp-recoverable-timeout-large", S, "RecoverableAckTimeout is at most 120000; it is 120001.", "CP:recoverable-ack-timeout MQQB-3.1.5.3.2.round-trip", cpboth("rat", 120001))
add("cp-recoverable-timeout-zero", S, "RecoverableAckTimeout is at least 500; it is 0.", "CP:recoverable-ack-timeout MQQB-3.1.5.3.2.round-trip", cpboth("rat", 0))
add("cp-ack-timeout-small", S, "AckTimeout is at least 20000; it is 19999.", "CP:ack-timeout", cpboth("at", 19999))
add("cp-ack-timeout-large", S, "AckTimeout is at most 120000; it is 120001.", "CP:ack-timeout", cpboth("at", 120001))
add("cp-ack-timeout-seconds", S, "AckTimeout is in milliseconds, at least 20000; it is 20.", "CP:ack-timeout", cpboth("at", 20))
add("cp-reserved-request", S, "Reserved must be 0; it is 0x0040 in the request.", "CP:reserved", start("cpq", b1("cp.res", 0x40), stop=False))
add("cp-reserved-response", S, "Reserved must be 0; it is 1 in the response.", "CP:reserved", start("cpr", b1("cp.res", 1), stop=False))
add("cp-size-longer", "QB 2.2.2", "A ConnectionParameters packet has 32 bytes; it has 36, which PacketSize counts.", "CPP:size", start("cpq", lambda p, s: setattr(p, "tail", b"\0" * 4)))
add("cp-size-shorter", "QB 2.2.2", "A ConnectionParameters packet has 32 bytes; the response has 28, which PacketSize counts.", "CPP:size", start("cpr", put_raw(lambda d: d[:8] + struct.pack("<I", 28) + d[12:28])))
add("cp-response-recoverable-timeout", "QB 3.1.5.4.1", "The response repeats RecoverableAckTimeout; it has 4 more.", "MQQB-3.1.5.4.1.recoverable-ack-timeout", start("cpr", b1("cp.rat", lambda x, s: x.rat + 4), stop=False))
add("cp-response-ack-timeout", "QB 3.1.5.4.1", "The response repeats AckTimeout; it has 60000 in place of 20000.", "MQQB-3.1.5.4.1.ack-timeout", start("cpr", b1("cp.at", 60000), stop=False))

# ------------------------------------------------------------------ MS-MQQB 2.2.3
S = "QB 2.2.3.1"
add("ec-re-request", S, "RE must be 0x10; it is 0x00 in the request.", "EC:re", start("ecq", b1("ec.RE", 0)))
add("ec-re-response", S, "RE must be 0x10; it is 0x11 in the response.", "EC:re", start("ecr", b1("ec.RE", 0x11)))
add("ec-re-both", S, "RE must be 0x10; it is 0x20 in both packets.", "EC:re", lambda wd, bad: (lambda p: Session(wd, *p, edits={t: (lambda x: setattr(x.ec, "RE", 0x20)) for t in ("ecq", "ecr")} if bad else None, auto=False).close())(pair(wd)))
for k in range(5):
    tag = ("ecq", "ecr")[k % 2]
    add("ec-x%d" % (k + 11), S, "X%d should not be set; it is in the %s." % (k + 11, "request" if tag == "ecq" else "response"), "EC:unused-bits", start(tag, b1("ec.X", 1 << k), stop=False))
add("ec-reserved-request", S, "Reserved must be 0; it is 0x5A5A in the request.", "EC:reserved", start("ecq", b1("ec.res", 0x5A5A), stop=False))
add("ec-reserved-response", S, "Reserved must be 0; it is 1 in the response.", "EC:reserved", start("ecr", b1("ec.res", 1), stop=False))
add("ec-padding-zero", S, "Each byte of the padding of a response is 0x5A; they are 0.", "EC:padding", start("ecr", b1("ec.pad", bytes(512))))
add("ec-padding-one-byte", S, "Each byte of the padding of a response is 0x5A; the last is 0x5B.", "EC:padding", start("ecr", b1("ec.pad", b"\x5A" * 511 + b"\x5B")))
add("ec-size-shorter", "QB 2.2.3", "An EstablishConnection packet has 572 bytes; the request has 60, without the padding, which PacketSize counts.", "ECP:size", start("ecq", b1("ec.pad", b"")))
add("ec-size-longer", "QB 2.2.3", "An EstablishConnection packet has 572 bytes; the response has 576, which PacketSize counts.", "ECP:size", start("ecr", lambda p, s: setattr(p, "tail", b"\x5A" * 4)))
add("ec-client-guid-response", "QB 3.1.5.3.1", "The response repeats ClientGuid; it has another.", "MQQB-3.1.5.3.1.client-guid", start("ecr", lambda p, s: setattr(p.ec, "client", guid(s.w.rng))))
add("ec-client-guid-response-swapped", "QB 3.1.5.3.1", "The response repeats ClientGuid and names the acceptor in ServerGuid; ClientGuid is the acceptor's too.", "MQQB-3.1.5.3.1.client-guid", start("ecr", lambda p, s: setattr(p.ec, "client", s.b.guid)))
add("ec-server-guid-response", "QB 3.1.5.3.1", "ServerGuid of the response is that which was asked for; it is another.", "MQQB-3.1.5.3.1.server-guid EC:server-guid-response", start("ecr", lambda p, s: setattr(p.ec, "server", guid(s.w.rng))))
add("ec-server-guid-response-null", "QB 3.1.5.3.1", "ServerGuid of the response is the acceptor's identifier; it is null, as in the request for direct names.", "MQQB-3.1.5.3.1.server-guid EC:server-guid-response", start("ecr", b1("ec.server", NULL), direct=True))
add("ec-server-guid-response-client", "QB 3.1.5.3.1", "ServerGuid of the response is the acceptor's identifier; it is the initiator's.", "MQQB-3.1.5.3.1.server-guid EC:server-guid-response", start("ecr", lambda p, s: setattr(p.ec, "server", s.a.guid)))
add("ec-timestamp-response", "QB 3.1.5.3.1", "The response repeats TimeStamp; it is 20 later.", "MQQB-3.1.5.3.1.time-stamp", start("ecr", b1("ec.ts", lambda x, s: x.ts + 20), stop=False))
add("ec-timestamp-response-zero", "QB 3.1.5.3.1", "The response repeats TimeStamp; it is 0.", "MQQB-3.1.5.3.1.time-stamp", start("ecr", b1("ec.ts", 0), stop=False))
add("ec-se-response", "QB 3.1.5.3.1", "The response repeats SE; it is 0 and was 1.", "MQQB-3.1.5.3.1.se", start("ecr", b1("ec.SE", 0), stop=False))
add("ec-refused-right-guid", "QB 3.1.5.3.1", "A request for this queue manager is not refused; CS of the response is set.", "MQQB-3.1.5.3.1.cs", start("ecr", b1("int.CS", 1)), prov=False)
add("ec-refused-null-guid", "QB 3.1.5.3.1", "A request for direct names is not refused; CS of the response is set.", "MQQB-3.1.5.3.1.cs", start("ecr", b1("int.CS", 1), direct=True), prov=False)
add("ec-client-guid-null", S, "ClientGuid is the initiator's identifier; it is null in both packets.", "EC:client-guid MQQB-3.1.5.2.3.client-guid",
    lambda wd, bad: (lambda p: Session(wd, *p, edits={t: (lambda x: setattr(x.ec, "client", NULL)) for t in ("ecq", "ecr")} if bad else None, auto=False).close())(pair(wd)), prov=False)
# ------------------------------------------------------------------ MS-MQQB 2.2.4 to 2.2.6
S = "QB 2.2.4"
for tag, P_, S_, n in (("oack", "OA", "QB 2.2.4", "an OrderAck"), ("fack", "FA", "QB 2.2.5", "a FinalAck")):
    add(tag + "-priority", S_, "All bits of BaseHeader.Flags of %s are 0; the priority is 3." % n, P_ + ":base-flags", acks(tag, b1("base.PR", 3)))
    add(tag + "-base-x2", S_, "All bits of BaseHeader.Flags of %s are 0; X2 is set." % n, P_ + ":base-flags B:flags-x2", acks(tag, b1("base.X", 1 << 13)))
    add(tag + "-jp", S_, "UserHeader.Flags of %s has no bit but those given; JP is set." % n, P_ + ":user-flags", acks(tag, b1("user.JP", 1)))
    add(tag + "-jn", S_, "UserHeader.Flags of %s has no bit but those given; JN is set." % n, P_ + ":user-flags", acks(tag, b1("user.JN", 1)))
    add(tag + "-hops", S_, "UserHeader.Flags of %s has no bit but those given; RC is 1." % n, P_ + ":user-flags", acks(tag, b1("user.RC", 1)), prov=False)
    add(tag + "-response-queue", S_, "UserHeader.Flags of %s has no bit but those given; it names a response queue." % n, P_ + ":user-flags", acks(tag, lambda p, c: (setattr(p.user, "RQ", 2), setattr(p.user, "rq", L.private_id(4)))))
    add(tag + "-public-queue", S_, "DQ of %s is 3 or 7; it is 5, with the GUID of a public queue." % n, P_ + ":destination-type " + P_ + ":destination", acks(tag, lambda p, c: (setattr(p.user, "DQ", 5), setattr(p.user, "dq", guid(c.r)))))
    add(tag + "-private-queue-5", S_, "The private queue that %s goes to is 4; it is 5." % n, P_ + ":destination", acks(tag, b1("user.dq", L.private_id(5))))
    add(tag + "-direct-queue", S_, "The direct name that %s goes to ends in order_queue$; it ends in order_queue." % n, P_ + ":destination", acks(tag, name_(lambda c: "TCP:%s\\PRIVATE$\\order_queue" % c.a.ip), direct=True))
    add(tag + "-direct-public", S_, "The direct name that %s goes to is that of a private queue; \\PRIVATE$ is missing." % n, P_ + ":destination", acks(tag, name_(lambda c: "TCP:%s\\order_queue$" % c.a.ip), direct=True))
    add(tag + "-direct-os", S_, "The direct name that %s goes to begins with TCP: or SPX:; it begins with OS:." % n, P_ + ":destination", acks(tag, name_(lambda c: "OS:%s\\PRIVATE$\\order_queue$" % c.a.name), direct=True))
    add(tag + "-label", S_, "The label of %s is QM Ordering Ack; it is QM ordering ack." % n, P_ + ":label" + (" MQQB-3.1.7.17.label"), acks(tag, b1("mph.label", w("QM ordering ack"))))
    add(tag + "-label-missing", S_, "The label of %s is QM Ordering Ack; there is none." % n, P_ + ":label MQQB-3.1.7.17.label", acks(tag, b1("mph.label", b"")))
    add(tag + "-size-shorter", S_, "The body of %s has 36 bytes; it has 32." % n, P_ + ":message-size", acks(tag, b1("mph.body", lambda m, c: m.body[:32])))
    add(tag + "-size-longer", S_, "The body of %s has 36 bytes; it has 40." % n, P_ + ":message-size", acks(tag, b1("mph.body", lambda m, c: m.body + bytes(4))))
    add(tag + "-body-type", S_, "BodyType of %s is VT_EMPTY; it is 0x1011." % n, P_ + ":body-type MQQB-3.1.7.17.body-type", acks(tag, b1("mph.btype", 0x1011)))
    add(tag + "-mph-flags-upper", S_, "All bits of MessagePropertiesHeader.Flags of %s are 0; bit 4 is set." % n, P_ + ":properties-flags P:flags-unused", acks(tag, b1("mph.flags", 0x10)))
    add(tag + "-mph-flags", S_, "All bits of MessagePropertiesHeader.Flags of %s are 0; PA is set (and no administration queue named)." % n, P_ + ":properties-flags U:admin-queue-required", acks(tag, b1("mph.flags", 1)))
    add(tag + "-privacy", "QB 3.1.7.17", "PrivacyLevel of %s is none; it is 5 (RC4 being no algorithm for it, EncryptionAlgorithm is AES)." % n, "MQQB-3.1.7.17.privacy-level", acks(tag, lambda p, c: (setattr(p.mph, "priv", 5), setattr(p.mph, "enc", 0x6610))))
    add(tag + "-mp-clear", S_, "MP of %s must be set; it is clear." % n, P_ + ":user-flags U:message-properties-flag", acks(tag, b1("user.MP", 0)))
add("oack-recoverable", "QB 2.2.4", "DM of an OrderAck is 0 as all bits not named are; it is 1, as 3.1.7.17 has it.", "OA:delivery", acks("oack", b1("user.DM", 1)), prov=False)
add("fack-express", "QB 2.2.5", "DM of a FinalAck must be 1; it is 0.", "FA:user-flags MQQB-3.1.7.17.delivery", acks("fack", b1("user.DM", 0)))
add("oack-class", "QB 2.2.4", "MessageClass of an OrderAck is 0x00FF; it is 0x00FE.", "OA:message-class", acks("oack", b1("mph.cls", 0xFE)), prov=False)
add("oack-class-normal", "QB 2.2.4", "MessageClass of an OrderAck is 0x00FF; it is 0.", "OA:message-class", acks("oack", b1("mph.cls", 0)), prov=False)
add("oack-class-reach-queue", "QB 2.2.4", "MessageClass of an OrderAck is 0x00FF; it is 0x0002.", "OA:message-class", acks("oack", b1("mph.cls", 2)), prov=False)
for v in (0x8001, 0x8002, 0xC004, 0x8005, 0x800A):
    add("fack-class-%04x" % v, "QB 2.2.5", "MessageClass of a FinalAck is the receive acknowledgment or one of those listed; it is 0x%04X." % v, "FA:message-class", acks("fack", b1("mph.cls", v)), prov=v not in (0x8005, 0xC004))


def obody(f):
    def g(p, c):
        b = list(struct.unpack("<IIII", p.mph.body[:16]))
        rest = bytearray(p.mph.body[16:])
        x = f(b, rest, c)
        p.mph.body = struct.pack("<IIII", *(v & INF for v in b)) + bytes(rest)
    return g


def put(i, f):
    return obody(lambda b, r, c: b.__setitem__(i, f(b[i])))


add("oack-number-zero", "QB 2.2.4.1", "TxSequenceNumber is at least 1; it is 0.", "OAB:number", acks("oack", put(2, lambda v: 0)))
add("oack-previous-same", "QB 2.2.4.1", "TxPreviousSequenceNumber is one less than TxSequenceNumber; it is equal.", "OAB:previous", acks("oack", put(3, lambda v: v + 1)))
add("oack-previous-zero", "QB 2.2.4.1", "TxPreviousSequenceNumber is one less than TxSequenceNumber; it is 0.", "OAB:previous", acks("oack", put(3, lambda v: 0)))
add("oack-sequence-ordinal", "QB 2.2.4.1", "TxSequenceID is that of the message acknowledged; its Ordinal was never used.", "OAB:sequence", acks("oack", put(0, lambda v: v + 5)))
add("oack-sequence-time", "QB 2.2.4.1", "TxSequenceID is that of the message acknowledged; its TimeStamp is a second later.", "OAB:sequence", acks("oack", put(1, lambda v: v + 1)))
add("oack-sequence-swapped", "QB 2.2.4.1", "TxSequenceID is that of the message acknowledged; Ordinal and TimeStamp are exchanged.", "OAB:sequence", acks("oack", obody(lambda b, r, c: b.__setitem__(slice(0, 2), b[1::-1]))))
add("oack-reserved", "QB 2.2.4.1", "Reserved should be zero; its first byte is 1.", "OAB:reserved", acks("oack", obody(lambda b, r, c: r.__setitem__(0, 1)), stop=False))
add("oack-reserved-last", "QB 2.2.4.1", "Reserved should be zero; its last byte is 0xFF.", "OAB:reserved", acks("oack", obody(lambda b, r, c: r.__setitem__(19, 255)), stop=False))
add("fack-sequence", "QB 2.2.5.1", "TxSequenceID is that of the message acknowledged; its Ordinal is another.", "FAB:sequence", acks("fack", put(0, lambda v: v + 1)))
add("fack-sequence-time", "QB 2.2.5.1", "TxSequenceID is that of the message acknowledged; its TimeStamp is another.", "FAB:sequence", acks("fack", put(1, lambda v: v + 1)))
add("fack-number", "QB 2.2.5.1", "TxSequenceNumber is that of the message acknowledged; it is one more.", "FAB:sequence-number FAB:message-id", acks("fack", put(2, lambda v: v + 1)))
add("fack-number-zero", "QB 2.2.5.1", "TxSequenceNumber is at least 1; it is 0.", "FAB:number FAB:sequence-number", acks("fack", put(2, lambda v: 0)))
add("fack-previous", "QB 2.2.5.1", "TxPreviousSequenceNumber is that of the message acknowledged; it is 7 in place of 0.", "FAB:previous", acks("fack", put(3, lambda v: 7)))
add("fack-source-null", "QB 2.2.5.1", "SourceGUID is the queue manager that sent the message; it is null.", "FAB:source-guid", acks("fack", obody(lambda b, r, c: r.__setitem__(slice(0, 16), NULL))))
add("fack-source-own", "QB 2.2.5.1", "SourceGUID is the queue manager that sent the message; it is the one that acknowledges.", "FAB:source-guid", acks("fack", obody(lambda b, r, c: r.__setitem__(slice(0, 16), c.b.guid))))
add("fack-message-id", "QB 2.2.5.1", "MessageID is that of the message acknowledged; it is that of the next in the sequence.", "FAB:message-id", acks("fack", obody(lambda b, r, c: r.__setitem__(slice(16, 20), struct.pack("<I", c.m[1].user.mid)))))
add("fack-message-id-zero", "QB 2.2.5.1", "MessageID is that of the message acknowledged; it is 0.", "FAB:message-id", acks("fack", obody(lambda b, r, c: r.__setitem__(slice(16, 20), bytes(4)))))
add("sack-longer", "QB 2.2.6", "A SessionAck is three headers; 4 bytes more stand before SessionHeader, which PacketSize counts.", "SA:size", acks("sack", lambda p, c: setattr(p, "tail", bytes(4))))
add("sack-shorter", "QB 2.2.6", "A SessionAck has a SessionHeader of 16 bytes; the last 4 are missing at the end of the connection.", "SA:size S:window-size-layout", acks("sack", put_raw(lambda d: d[:-4])))
