"""Write valid captures to ./valid (the current directory)."""
import os, sys, struct
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mqlib as L
from mqlib import World, Session, trace, sign, encrypt, new_mq, new_soap, w, guid, INF, NULL

OUT = []
WORDS = "order invoice report stock price ledger parcel ticket branch agent claim offer notice query answer batch".split()


def text(rng, n=6):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, n)))


def body(rng, big=400):
    """(body, body type)"""
    k = rng.randrange(9)
    if k == 0:
        return b"", 0
    if k == 1:
        return struct.pack("<i", rng.randrange(-1000, 1000)), 3
    if k == 2:
        return w(text(rng, 30)), 31
    if k == 3:
        return bytes(rng.getrandbits(8) for _ in range(rng.randrange(1, big))), 0x1011
    if k == 4:
        return guid(rng), 72
    if k == 5:
        return struct.pack("<Q", rng.getrandbits(64)), 21
    if k == 6:
        return struct.pack("<h", rng.randrange(-300, 300)), 2
    if k == 7:
        return struct.pack("<H", 0xFFFF), 11
    return bytes(rng.getrandbits(8) for _ in range(rng.randrange(1, big))), 0


def pair(wd, third=False, server=True):
    r = wd.rng
    n = r.randrange(1, 200)
    a = wd.qm("alpha%d" % n, "10.%d.%d.%d" % (r.randrange(256), r.randrange(256), r.randrange(1, 100)), server)
    b = wd.qm("beta%d" % n, "10.%d.%d.%d" % (r.randrange(256), r.randrange(256), r.randrange(100, 200)))
    if third:
        c = wd.qm("gamma%d" % n, "10.%d.%d.%d" % (r.randrange(256), r.randrange(256), r.randrange(200, 254)))
        return a, b, c
    return a, b


def some(wd, s, q, dests, n, rec=0.0, gap=(5, 80), **k):
    """n ordinary messages"""
    r = wd.rng
    out = []
    for _ in range(n):
        bd, bt = body(r)
        kk = dict(k)
        if r.random() < 0.3:
            kk["ext"] = bytes(r.getrandbits(8) for _ in range(r.randrange(1, 60)))
        if r.random() < 0.3:
            kk["corr"] = bytes(r.getrandbits(8) for _ in range(20))
        if r.random() < 0.2:
            kk["jn"] = 1
        if r.random() < 0.2:
            kk["jp"] = 1
        out.append(s.msg(q, r.choice(dests), body=bd, btype=bt, label=text(r) if r.random() < 0.7 else "", rec=r.random() < rec,
                         pr=r.randrange(8) if r.random() < 0.4 else 3, **kk))
        wd.adv(r.uniform(*gap))
    return out


def dests(wd, b, n=3):
    r = wd.rng
    return [("priv", b, r.randrange(10, 300)) for _ in range(n)] + [("pub", b, guid(r)) for _ in range(n)]


def names(b, n=3):
    return ["OS:%s\\queue%d" % (b.name, i) for i in range(n)] + ["TCP:%s\\private$\\inbox%d" % (b.ip, i) for i in range(n)]


def express(wd):
    a, b = pair(wd)
    s = Session(wd, a, b)
    some(wd, s, a, dests(wd, b), 70)
    wd.adv(11000)
    some(wd, s, a, dests(wd, b), 30, ttrq=INF, ttbr=wd.rng.randrange(60, 9000))
    wd.adv(11000)
    s.close()


def recoverable(wd):
    a, b = pair(wd)
    s = Session(wd, a, b, rtt=wd.rng.choice((5, 40, 90, 187)))
    some(wd, s, a, dests(wd, b), 80, rec=0.8, gap=(30, 140))
    wd.adv(2500)
    some(wd, s, b, dests(wd, a), 20, rec=0.5, gap=(40, 160))
    wd.adv(12000)
    s.close(b)


def transactions(wd):
    a, b = pair(wd)
    s = Session(wd, a, b)
    r = wd.rng
    qs = [("priv", b, 40 + i) for i in range(3)]
    for i in range(14):
        m = s.transaction(a, qs if i % 3 == 0 else r.choice(qs), r.randrange(1, 7), gap=r.uniform(2, 40), jp=i % 2, jn=1 if i % 4 == 0 else 0,
                          fa=1 if i % 5 == 0 else 0, label=text(r), body=body(r)[0])
        if i % 3 == 1:
            s.transaction(a, r.choice(qs), 2, gap=3, body=b"second")
        wd.adv(1300)
        if i % 2 or i % 4 == 0 or i % 5 == 0:
            for x in m:
                if x.user.JP or x.user.JN or x.tx.FA:
                    s.fack(b, x, 0x4000 if r.random() < 0.8 else r.choice((0xC000, 0xC001, 0xC002)))
                    wd.adv(15)
            wd.adv(900)
    wd.adv(11000)
    s.close()


def tx_both(wd):
    a, b = pair(wd)
    s = Session(wd, a, b)
    r = wd.rng
    for i in range(9):
        s.transaction(a, ("pub", b, guid(r)), r.randrange(1, 5), gap=9, body=body(r)[0], label=text(r))
        wd.adv(1200)
        s.transaction(b, ("priv", a, 77), r.randrange(1, 5), gap=9, body=body(r)[0], conn=guid(r) if i % 3 == 0 else None)
        wd.adv(1200)
    wd.adv(11000)
    s.close()


def direct(wd):
    a, b = pair(wd)
    s = Session(wd, a, b, direct=True)
    r = wd.rng
    q = [("direct", x) for x in names(b)]
    resp = ("direct", r.choice(("OS:%s\\private$\\answers" % a.name, "TCP:%s\\answers" % a.ip, "HTTP://%s/MSMQ\\answers" % a.name,
                                "HTTPS://%s:8443/MSMQ\\private$\\answers" % a.name)))
    some(wd, s, a, q, 40, rec=0.3, gap=(20, 90), resp=resp)
    wd.adv(3000)
    for i in range(6):
        m = s.transaction(a, q, r.randrange(1, 6), gap=8, jp=1, body=body(r)[0], label="t%d" % i)
        wd.adv(1500)
        for x in m:
            s.fack(b, x)
        wd.adv(1500)
    some(wd, s, b, [("direct", "OS:%s\\private$\\answers" % a.name)], 10)
    wd.adv(11000)
    s.close()


def longnames(wd):
    a, b = pair(wd)
    s = Session(wd, a, b, direct=True)
    r = wd.rng
    for i in range(40):
        host = "".join(r.choice("abcdefghijklmnopqrstuvwxyz0123456789-") for _ in range(r.choice((1, 15, 63, 200, 256))))
        qn = "".join(r.choice("abcdefghijklmnopqrstuvwxyzABCDEFG0123456789_-.!#$&'()=@[]^{}~") for _ in range(r.choice((1, 8, 60, 123, 124))))
        pre = r.choice(("", "private$\\", "PRIVATE$\\"))
        sub = r.choice(("", "", ";sub", ";" + "s" * 32))
        s.msg(a, ("direct", "OS:%s\\%s%s%s" % (host, pre, qn, sub)), body=body(r)[0], label="x" * r.choice((0, 1, 100, 249)),
              resp=("direct", "TCP:10.0.%d.%d\\private$\\%s" % (i, i, qn)))
        wd.adv(40)
    wd.adv(11000)
    s.close()


def admin(wd):
    a, b = pair(wd)
    s = Session(wd, a, b, rtt=wd.rng.choice((10, 30, 60)))
    r = wd.rng
    aq = [("priv", a, 9), ("pub", a, guid(r))]
    for i in range(24):
        fl = r.randrange(1, 16)
        d = r.choice(dests(wd, b))
        rec = i % 3 == 0
        bd, bt = body(r)
        m = s.msg(a, d, body=bd, btype=bt, ack=fl, admin=aq[i % 2], rec=rec, label=text(r), resp=r.choice(("same", ("priv", a, 5), ("priv", b, 6), None)),
                  jn=r.randrange(2))
        wd.adv(r.uniform(2, 10))
        if fl & 1 and i % 4 != 3:
            s.adm(b, m, 0x0002)
            wd.adv(20)
        if fl & 4 and i % 4 == 3:
            s.adm(b, m, r.choice((0x8003, 0x800A)))
        elif fl & 2 and i % 4 != 2:
            s.adm(b, m, 0x4000)
        elif fl & 8 and i % 4 != 3:
            s.adm(b, m, r.choice((0xC000, 0xC001, 0xC002, 0xC004)))
        wd.adv(r.uniform(300, 900) if rec else r.uniform(5, 60))
        if i % 8 == 7:
            wd.adv(12000)
    wd.adv(12000)
    s.close()


def admin_direct(wd):
    a, b = pair(wd)
    s = Session(wd, a, b, direct=True)
    r = wd.rng
    for i in range(24):
        rec = i % 2 == 0
        m = s.msg(a, ("direct", r.choice(names(b))), body=body(r)[0], ack=0xA, admin=("direct", "OS:%s\\private$\\acks" % a.name), rec=rec, label=text(r))
        wd.adv(r.uniform(2, 9))
        s.adm(b, m, r.choice((0x4000, 0x4000, 0xC001, 0xC002)))
        wd.adv(r.uniform(600, 800))
    wd.adv(12000)
    s.close()


def admin_third(wd):
    """Administration queue on a third queue manager: the acknowledgments go there."""
    a, b, c = pair(wd, True)
    s = Session(wd, a, b)
    r = wd.rng
    ms = []
    for i in range(30):
        ms.append(s.msg(a, ("priv", b, 12), body=body(r)[0], ack=3, admin=("priv", c, 44), resp=("priv", c, 46, "admin"), rec=i % 2 == 1))
        wd.adv(20)
    t = Session(wd, b, c)
    for m in ms:
        p = t.adm(b, m, 2)
        wd.adv(25)
    wd.adv(12000)
    s.close()
    t.close()


def admin_tx(wd):
    a, b = pair(wd)
    s = Session(wd, a, b)
    r = wd.rng
    for i in range(8):
        ms = s.transaction(a, ("priv", b, 31 if i == 6 else 30), r.randrange(2, 5), gap=6, ack=5 if i % 2 or i == 6 else 3, admin=("priv", a, 8), body=b"tx body %d" % i, jn=1 if i == 6 else 0)
        wd.adv(3)
        for m in ms:
            if i == 6:
                s.adm(b, m, 0x8009)
                s.fack(b, m, 0x8009)
            else:
                s.adm(b, m, 2)
            wd.adv(4)
        wd.adv(2600)
    wd.adv(11000)
    s.close()


def reports(wd):
    a, b = pair(wd)
    s = Session(wd, a, b)
    r = wd.rng
    for i in range(24):
        g = guid(r)
        host = b if i % 2 else a
        def ed(p):
            trace(p, g)
        rec = r.random() < 0.3
        d = r.choice(dests(wd, b))
        m = s.msg(a, d, body=body(r)[0], label=text(r), rec=rec, edit=ed)
        wd.adv(1)
        s.report(a if host is b else b, m, ("pub", host, g), host is b)
        wd.adv(r.uniform(550, 900) if rec else r.uniform(4, 30))
    for i in range(10):
        s.msg(a, ("priv", b, 3), body=b"no trace", edit=lambda p: setattr(p, "debug", L.NS(QT=i % 2, X=0, res=0, queue=guid(r) if i % 2 else b"")))
        wd.adv(5)
    wd.adv(12000)
    s.close()


def multi(wd):
    a, b, c = pair(wd, True)
    s = Session(wd, a, b)
    t = Session(wd, a, c)
    r = wd.rng
    for i in range(22):
        db, dc = ("pub", b, guid(r)), ("priv", c, 5 + i)
        host = "h" * r.randrange(1, 30)
        x = ("direct", "OS:%s\\q" % host)
        lst = [("priv", b, 300 + i), dc, db] if i % 3 == 0 else [dc, ("priv", b, 300 + i), ("dl", guid(r))]
        if i % 3 == 2:
            # an even number of WCHARs puts what follows on a multiple of 4
            nm = "OS:%s\\q" % host
            nm += "" if (len(nm) + 1) % 2 == 0 else "q"
            lst = [("direct", nm), db, dc]
            db2 = db
        else:
            db2 = ("priv", b, 300 + i)
        if i % 3 == 0:
            lst = [("priv", b, 300 + i), dc]
        adm = [("priv", a, 7)] if i % 2 else []
        rsp = [("priv", a, 8), ("direct", "OS:%s\\answers" % a.name)] if i % 4 < 2 else []
        bd = body(r)[0]
        for sess, d in ((s, db2), (t, dc)):
            def ed(p):
                p.mq = new_mq(lst, adm, rsp)
                if i % 5 == 0:
                    p.sec = L.new_sec(ST=1, sid=a.sid, cert=L.key("sign1")[1])
                    p.mq = new_mq(lst, adm, rsp, kind=3)
            m = sess.msg(a, d, body=bd, label="many", ack=1 if adm else 0, admin=("priv", a, 7) if adm else None, ext=b"e" * (i % 5),
                         resp=("priv", a, 8) if rsp else None, edit=ed)
            if adm and d[1] is sess.b:
                sess.adm(sess.b, m, 2)
        wd.adv(60)
    wd.adv(12000)
    s.close()
    t.close()


def soap(wd):
    a, b = pair(wd)
    s = Session(wd, a, b)
    r = wd.rng
    for i in range(50):
        h = "<h%s>%s</h>" % ("x" * r.randrange(9), text(r))
        o = "<b>%s</b>" % text(r, 20)
        h += "" if (len(h) + 1) % 2 == 0 else " "
        o += "" if (len(o) + 1) % 2 == 0 else " "
        def ed(p):
            p.soap = new_soap(h, o)
            if i % 4 == 0:
                p.mq = new_mq([("priv", b, 60), ("dl", guid(r))])
        s.msg(a, ("priv", b, 60), body=body(r)[0], label="soap", rec=i % 3 == 0, edit=ed)
        wd.adv(30)
    wd.adv(12000)
    s.close()


def signed(wd):
    a, b = pair(wd)
    s = Session(wd, a, b, rtt=9)
    r = wd.rng
    for i in range(44):
        def ed(p):
            sign(p, a, kind=(1, 2, 2, 2)[i % 4], skey="sign1" if i % 5 else "sign2", halg=(0x800E, 0x800E, 0x800E, 0x800C, 0x8004)[i % 5],
                 st=1 + i % 2 if i % 7 else 0, prov=(24, "Microsoft Enhanced RSA and AES Cryptographic Provider") if i % 6 == 0 else None)
        s.msg(a, r.choice(dests(wd, b)), body=body(r)[0], label=text(r), rec=i % 2 == 0, tag="um", edit=ed, jp=i % 2, jn=(i >> 1) & 1,
              ext=b"ext" if i % 3 == 0 else b"", resp=("priv", a, 4) if i % 3 == 1 else None)
        wd.adv(45)
    wd.adv(1500)
    s.transaction(a, ("priv", b, 5), 5, gap=10, body=b"signed in a transaction", edit=lambda p: sign(p, a))
    wd.adv(12000)
    s.close()


def encrypted(wd):
    a, b = pair(wd)
    s = Session(wd, a, b)
    r = wd.rng
    for i in range(44):
        lev, alg = ((5, 0x6610), (5, 0x660E), (5, 0x660F), (3, 0x6801), (1, 0x6801))[i % 5]
        def ed(p):
            encrypt(p, a, r, lev, alg, "crypt1", st=i % 3, signed=2 if i % 4 == 0 else 0)
        s.msg(a, r.choice(dests(wd, b)), body=body(r)[0] + b"secret", label=text(r), rec=i % 2 == 0, edit=ed)
        wd.adv(55)
    wd.adv(1500)
    s.transaction(a, ("priv", b, 5), 3, gap=10, body=b"locked", edit=lambda p: encrypt(p, a, r, 5, 0x6610))
    wd.adv(12000)
    s.close()


def identity(wd):
    """Security headers with a sender's identifier alone, connector types, tags."""
    a, b = pair(wd)
    s = Session(wd, a, b)
    r = wd.rng
    for i in range(60):
        def ed(p):
            if i % 3:
                p.sec = L.new_sec(ST=i % 3, sid=a.sid if i % 3 == 1 else a.guid, DE=i % 2)
            if i % 4 == 0:
                p.user.conn = guid(r)
            if i % 9 == 0:
                p.mph.alloc = len(p.mph.body)
            p.base.res = r.getrandbits(8)
        s.msg(a, r.choice(dests(wd, b)), body=body(r)[0], label=text(r), tag="um", rec=i % 5 == 0, edit=ed)
        wd.adv(40)
    wd.adv(12000)
    s.close()


def pings(wd):
    a, b = pair(wd, server=wd.rng.random() < 0.5)
    r = wd.rng
    for i in range(6):
        wd.ping(a, b)
        s = Session(wd, a, b, ping="done", direct=i % 2 == 1)
        d = dests(wd, b) if i % 2 == 0 else [("direct", x) for x in names(b)]
        some(wd, s, a, d, 7, rec=0.3)
        wd.adv(11000)
        if i == 3:
            q = wd.ping_req(a, b)
            wd.adv(4)
            wd.ping_resp(b, a, q, RF=1)
            wd.adv(5000)
            wd.ping_req(a, b)         # no answer
            wd.adv(4000)
        s.close(r.choice((a, b)))
        wd.adv(6000)


def both(wd):
    """Messages in both directions, some with a session header."""
    a, b = pair(wd)
    s = Session(wd, a, b)
    r = wd.rng
    for i in range(7):
        some(wd, s, a, dests(wd, b), 5, gap=(5, 60))
        wd.adv(8000 if i % 2 else 3000)
        some(wd, s, b, dests(wd, a), 5, gap=(5, 60))
        wd.adv(12000)
        s.msg(a, ("priv", b, 8), rec=True, body=b"rec")
        wd.adv(400)
        s.msg(b, ("priv", a, 8), rec=i % 2 == 0, body=b"with session header")
        wd.adv(2000 if i % 2 else 12000)
    wd.adv(12000)
    s.close()


def cut(wd):
    """The connection breaks; what is not acknowledged is sent again on the next session."""
    a, b = pair(wd)
    r = wd.rng
    rest = []
    for i in range(5):
        s = Session(wd, a, b)
        for m in rest:
            s.again(a, m)
            wd.adv(4)
        wd.adv(1500)
        some(wd, s, a, dests(wd, b), 10, rec=0.6)
        wd.adv(11500)
        rest = some(wd, s, a, dests(wd, b), 4, rec=1.0, gap=(1, 20)) if i < 4 else []
        s.close(r.choice((a, b)), rst=i % 2 == 0)
        wd.adv(6000)


def cut_tx(wd):
    a, b = pair(wd)
    r = wd.rng
    rest = []
    for i in range(6):
        s = Session(wd, a, b, direct=False)
        for m in rest:
            s.again(a, m)
            wd.adv(4)
        wd.adv(1800)
        for j in range(3):
            s.transaction(a, [("priv", b, 50), ("priv", b, 51)], r.randrange(1, 5), gap=9, body=body(r)[0])
            wd.adv(1400)
        rest = s.transaction(a, ("priv", b, 50), 4, gap=9, body=b"not acknowledged") if i < 5 else []
        s.close(r.choice((a, b)), rst=i % 2 == 1)
        wd.adv(6000)


def bridge(wd):
    """Some transactional messages expire while the connection is broken; the rest bridges the gap."""
    a, b = pair(wd)
    r = wd.rng
    for k in range(5):
        s = Session(wd, a, b)
        some(wd, s, a, dests(wd, b), 6, rec=0.5)
        wd.adv(1500)
        tid = a.next_tx()
        ms = []
        n = r.randrange(4, 8)
        gone = set(r.sample(range(1, n - 1), r.randrange(1, 3)))
        for i in range(n):
            ms.append(s.txmsg(a, ("priv", b, 30), i == 0, i == n - 1, tid, body=b"part %d" % i, ttrq=3 if i in gone else INF))
            wd.adv(4)
        s.close(b, rst=True)
        wd.adv(6000)
        s = Session(wd, a, b)
        last = 0
        for i in range(n):
            if i not in gone:
                s.again(a, ms[i], edit=lambda p: setattr(p.tx, "prev", last))
                last = ms[i].tx.num
                wd.adv(4)
        wd.adv(12000)
        s.close()
        wd.adv(6000)


def resend(wd):
    """The way to the destination leads through a routing server and no OrderAck
    comes back in time: after 30 seconds the messages are sent again."""
    a, c, b = pair(wd, True)
    r = wd.rng
    s = Session(wd, a, c)
    s.noorder = True
    ms = []
    for i in range(5):
        for m in ms:
            s.again(a, m)
            wd.adv(3)
        ms += s.transaction(a, ("priv", b, 50 + i), r.randrange(2, 5), gap=5, body=body(r)[0], label=text(r))
        wd.adv(1500)
        some(wd, s, a, [("priv", b, 90), ("priv", c, 91)], 5, gap=(2, 30))
        wd.adv(31000 if i < 3 else 310000)
    s.close()


def several(wd):
    """Several sessions of one pair at a time, in both directions, and a third queue manager."""
    a, b, c = pair(wd, True)
    s = Session(wd, a, b)
    d = Session(wd, a, b, direct=True)
    e = Session(wd, b, a)
    f = Session(wd, c, b)
    r = wd.rng
    for i in range(12):
        some(wd, s, a, dests(wd, b), 2, rec=0.4)
        some(wd, d, a, [("direct", x) for x in names(b)], 2, rec=0.4)
        some(wd, e, b, dests(wd, a), 2)
        some(wd, f, c, dests(wd, b), 2, rec=0.2)
        wd.adv(r.uniform(100, 4000))
    wd.adv(12000)
    for x in (s, d, e, f):
        x.close()


def routed(wd):
    """A routing server passes on the messages of another queue manager."""
    a, b, c = pair(wd, True)
    s = Session(wd, a, c)
    t = Session(wd, c, b)
    r = wd.rng
    for i in range(40):
        bd, bt = body(r)
        rec = i % 3 == 0
        m = s.msg(a, ("pub", b, guid(r)), body=bd, btype=bt, label=text(r), rec=rec)
        wd.adv(6)
        t.again(c, m, "um", edit=lambda p: setattr(p.user, "RC", 1))
        wd.adv(50)
    wd.adv(12000)
    s.close()
    t.close()


def window(wd):
    a, b = pair(wd)
    s = Session(wd, a, b)
    r = wd.rng
    for i in range(90):
        s.msg(a, ("priv", b, 20), body=b"%04d" % i)
        wd.adv(2)
    wd.adv(12000)
    for i in range(76):
        s.msg(a, ("priv", b, 21), body=b"recoverable %d" % i, rec=True)
        wd.adv(3)
    wd.adv(3000)
    s.msg(a, ("priv", b, 21), body=b"last", rec=True)
    wd.adv(13000)
    s.close()


def pause(wd):
    """A queue is paused: SessionAck with a window of 1."""
    a, b = pair(wd)
    s = Session(wd, a, b)
    some(wd, s, a, dests(wd, b), 60)
    s.sack(b, edit=lambda p: setattr(p.sess, "win", 1))
    wd.adv(14000)
    s.close()


def mixed(wd):
    a, b = pair(wd)
    s = Session(wd, a, b, ping=True, rtt=30)
    r = wd.rng
    for i in range(10):
        some(wd, s, a, dests(wd, b), 4, rec=0.5)
        wd.adv(900)
        m = s.transaction(a, ("pub", b, guid(r)), 2, gap=4, body=body(r)[0], jp=1)
        wd.adv(1500)
        for x in m:
            s.fack(b, x)
        wd.adv(1500)
        m = s.msg(a, ("priv", b, 7), ack=1, admin=("priv", a, 3), body=b"please tell")
        s.adm(b, m, 2)
        wd.adv(r.uniform(10, 400))
        if i % 3 == 2:
            wd.adv(12000)
    wd.adv(12000)
    s.close()


def big(wd):
    a, b = pair(wd)
    s = Session(wd, a, b)
    for i in range(12):
        s.msg(a, ("priv", b, 7), body=bytes(wd.rng.getrandbits(8) for _ in range(3000 * i + 1)), label="large", rec=i % 2 == 0)
        wd.adv(90)
    wd.adv(12000)
    some(wd, s, a, dests(wd, b), 30)
    wd.adv(12000)
    s.close()


def handshakes(wd):
    a, b = pair(wd)
    for i in range(14):
        s = Session(wd, a, b, rtt=(1, 30, 62, 63, 100, 300)[i % 6], at=(20000, 60000, 120000)[i % 3], direct=i % 2 == 1)
        if i % 2 == 0:
            some(wd, s, a, dests(wd, b), 3)
            wd.adv(500)
        s.close(b if i % 3 else a, rst=i % 5 == 0)
        wd.adv(6000)


PLAN = [(express, 4), (recoverable, 4), (transactions, 5), (tx_both, 3), (direct, 3), (longnames, 2), (admin, 4), (admin_direct, 2),
        (admin_third, 2), (admin_tx, 2), (reports, 3), (multi, 3), (soap, 2), (signed, 3), (encrypted, 3), (identity, 2), (pings, 3),
        (both, 3), (cut, 3), (cut_tx, 3), (resend, 2), (bridge, 2), (several, 3), (routed, 2), (window, 2), (pause, 1), (mixed, 3), (big, 1), (handshakes, 2)]
MODES = [("whole", 0.0), ("coalesce", 0.0), ("random", 0.0), ("whole", 0.15), ("small", 0.05), ("coalesce", 0.1)]


def build():
    i = 0
    for f, n in PLAN:
        for k in range(n):
            mode, re = MODES[(i + k) % len(MODES)]
            if f is big and mode == "small":
                mode = "whole"
            wd = World("valid %s %d" % (f.__name__, k), mode, re)
            f(wd)
            yield "%03d-%s.pcap" % (i, f.__name__.replace("_", "-")), wd
            i += 1


def main():
    os.makedirs("valid", exist_ok=True)
    total = frames = 0
    for name, wd in build():
        with open(os.path.join("valid", name), "wb") as f:
            f.write(wd.pcap())
        total += wd.count
        frames += len(wd.frames)
        OUT.append(name)
    print(len(OUT), "captures,", total, "packets of the protocol,", frames, "frames")


if __name__ == "__main__":
    main()
