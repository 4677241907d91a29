"""What the mutations share."""
import os, struct
from types import SimpleNamespace as NS
import mqlib as L
from mqlib import World, Session, guid, w, wn, INF, NULL, trace, sign, encrypt, new_mq, new_soap, new_sec, new_tx, direct
from make_valid import pair, dests, text, body

LIST = []
SHORT = {"B": "MQMQ-2.2.19.1", "U": "MQMQ-2.2.19.2", "P": "MQMQ-2.2.19.3", "PK": "MQMQ-2.2.20", "MQ": "MQMQ-2.2.20.1",
         "AH": "MQMQ-2.2.20.2", "SG": "MQMQ-2.2.20.3", "S": "MQMQ-2.2.20.4", "T": "MQMQ-2.2.20.5", "SEC": "MQMQ-2.2.20.6",
         "SOAP": "MQMQ-2.2.20.7", "D": "MQMQ-2.2.20.8", "F": "MQMQ-2.2.18.1.4", "FD": "MQMQ-2.2.18.1.4.1",
         "FL": "MQMQ-2.2.18.1.4.2", "DN": "MQMQ-2.2.18.1.5.2", "N1": "MQMQ-2.1.1", "N2": "MQMQ-2.1.2", "N3": "MQMQ-2.1.3",
         "N4": "MQMQ-2.1.4", "I": "MQQB-2.2.1", "CP": "MQQB-2.2.2.1", "CPP": "MQQB-2.2.2", "EC": "MQQB-2.2.3.1", "ECP": "MQQB-2.2.3",
         "OA": "MQQB-2.2.4", "OAB": "MQQB-2.2.4.1", "FA": "MQQB-2.2.5", "FAB": "MQQB-2.2.5.1", "SA": "MQQB-2.2.6", "PING": "MQQB-2.2.7"}


def ids(text_):
    r = []
    for x in text_.split():
        if ":" in x:
            k, v = x.split(":")
            x = SHORT[k] + "." + v
        r.append(x)
    return r


def sec(text_):
    return text_.replace("MQ ", "MS-MQMQ ").replace("QB ", "MS-MQQB ").replace("RR ", "MS-MQRR ")


def add(name, section, sentence, reqs, fn, prov=True, conv=False):
    LIST.append(NS(name=name, section=sec(section), sentence=sentence, reqs=ids(reqs), fn=fn, prov=prov, conv=conv))


def plain(s, a, b, n=1, gap=12):
    for i in range(n):
        s.msg(a, ("direct", "OS:%s\\inbox" % b.name) if s.direct else ("priv", b, 11), body=b"plain %d" % i, label="plain")
        s.w.adv(gap)


def one(mut, feat=None, last=True, direct=False, tx=False, rec=False, dest=None, **k):
    """A session in which one message is made by feat and, in the bad one, changed by mut(p, c)."""
    def fn(wd, bad):
        a, b = pair(wd)
        s = Session(wd, a, b, direct=direct)
        plain(s, a, b, 1 + len(wd.seed_name) % 3)
        c = NS(a=a, b=b, wd=wd, s=s, r=wd.rng)

        def ed(p):
            if feat:
                feat(p, c)
            if bad:
                mut(p, c)
        kk = dict(k)
        kk.setdefault("body", b"the body of this message")
        kk.setdefault("label", "a label")
        for n in ("admin", "resp"):
            if callable(kk.get(n)):
                kk[n] = kk[n](c)
        d = dest(c) if dest else (("direct", "OS:%s\\inbox" % b.name) if direct else ("priv", b, 11))
        if tx:
            s.txmsg(a, d, True, True, a.next_tx(), edit=ed, **kk)
        else:
            s.msg(a, d, rec=rec, edit=ed, **kk)
        if last:
            wd.adv(3)
            s.close(b)
        else:
            wd.adv(1200)
            plain(s, a, b, 2)
            wd.adv(11000)
            s.close(a)
    return fn


ORDER = ["ecq", "ecr", "cpq", "cpr"]


def start(tag, mut, stop=True, **k):
    """Session initialization; the packet tag is changed by mut(p, s) in the bad one. stop: nothing follows it."""
    def fn(wd, bad):
        a, b = pair(wd)

        def hs(s):
            if bad:
                s.edits[tag] = lambda p: mut(p, s)
            s.ec()
            if stop and tag == "ecq":
                return
            wd.adv(s.rtt - 1)
            s.ec(True)
            wd.t += 700
            s.rat = max(500, min(120000, 8 * (((a.up + (wd.t - wd.t0) // 1000) & INF) - s.ts)))
            if stop and tag == "ecr":
                return
            s.cp()
            if stop and tag == "cpq":
                return
            wd.adv(9)
            s.cp(True)
            wd.adv(5)
        s = Session(wd, a, b, hs=hs, auto=not stop, **k)
        if stop:
            wd.adv(3)
            s.close(a if tag in ("ecr", "cpr") else b)
        else:
            plain(s, a, b, 3)
            wd.adv(11000)
            s.close()
    return fn


def acks(tag, mut, stop=True, direct=False, cls=0x4000, rec=False, n=3):
    """A transaction with its OrderAck and FinalAck; tag is oack, fack or sack."""
    def fn(wd, bad):
        a, b = pair(wd)
        s = Session(wd, a, b, direct=direct)
        c = NS(a=a, b=b, wd=wd, s=s, r=wd.rng)
        if bad:
            s.edits[tag] = lambda p: mut(p, c)
        q = ("direct", "OS:%s\\inbox" % b.name) if direct else ("priv", b, 21)
        c.m = s.transaction(a, q, n, gap=6, jp=1, jn=1, body=b"one of a transaction", label="tx")
        if tag == "sack" and stop:
            wd.adv(495)
            s.close(a)
            return
        wd.adv(530)
        if tag == "oack" and stop:
            s.close(a)
            return
        wd.adv(700)
        s.fack(b, c.m[0], cls)
        if tag == "fack" and stop:
            wd.adv(3)
            s.close(a)
            return
        wd.adv(11000)
        plain(s, a, b, 2)
        wd.adv(11000)
        s.close()
    return fn


def set_(path, v):
    """An edit that sets one value: "base.ver" or a function of the packet."""
    o, n = path.split(".")

    def f(p, c=None):
        x = getattr(p, o)
        setattr(x, n, v(x, c) if callable(v) else v)
    return f


def name_(t, which="dq"):
    """Give the message another direct name."""
    def f(p, c):
        setattr(p.user, which, direct(t(c) if callable(t) else t))
    return f
