"""Packets, sessions and captures of the MSMQ binary protocol."""
import os, struct, random, uuid, hashlib, datetime
from types import SimpleNamespace as NS
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

HERE = os.path.dirname(os.path.abspath(__file__))
NULL = b"\0" * 16
INF = 0xFFFFFFFF

# ---------------------------------------------------------------- keys
_keys = {}


def key(name):
    if name not in _keys:
        with open(os.path.join(HERE, "keys", name + ".pem"), "rb") as f:
            k = serialization.load_pem_private_key(f.read(), None)
        with open(os.path.join(HERE, "keys", name + ".der"), "rb") as f:
            c = f.read()
        _keys[name] = (k, c)
    return _keys[name]


HASHES = {0x8003: hashes.MD5, 0x8004: hashes.SHA1, 0x800C: hashes.SHA256, 0x800E: hashes.SHA512}


def rsa_sign(name, alg, data):
    return key(name)[0].sign(data, padding.PKCS1v15(), HASHES[alg]())


def simple_blob(name, alg, sym, rng):
    n = key(name)[0].public_key().public_numbers()
    size = (n.n.bit_length() + 7) // 8
    ps = bytes(rng.randrange(1, 256) for _ in range(size - 3 - len(sym)))
    m = b"\0\2" + ps + b"\0" + sym
    c = pow(int.from_bytes(m, "big"), n.e, n.n)
    return bytes([1, 2, 0, 0]) + struct.pack("<I", alg) + bytes([0, 0xA4, 0, 0]) + c.to_bytes(size, "little")


def rc4(k, data):
    s = list(range(256))
    j = 0
    for i in range(256):
        j = (j + s[i] + k[i % len(k)]) & 255
        s[i], s[j] = s[j], s[i]
    i = j = 0
    out = bytearray()
    for b in data:
        i = (i + 1) & 255
        j = (j + s[i]) & 255
        s[i], s[j] = s[j], s[i]
        out.append(b ^ s[(s[i] + s[j]) & 255])
    return bytes(out)


def aes(k, data):
    n = 16 - len(data) % 16
    e = Cipher(algorithms.AES(k), modes.CBC(b"\0" * 16)).encryptor()
    return e.update(data + bytes([n]) * n) + e.finalize()


CSP = {1: (1, "Microsoft Base Cryptographic Provider v1.0"),
       3: (1, "Microsoft Enhanced Cryptographic Provider v1.0"),
       5: (24, "Microsoft Enhanced RSA and AES Cryptographic Provider")}


# ---------------------------------------------------------------- small parts
def guid(rng):
    b = bytearray(rng.getrandbits(8) for _ in range(16))
    b[7] = (b[7] & 0x0F) | 0x40
    b[8] = (b[8] & 0x3F) | 0x80
    return bytes(b)


def gtext(g):
    return str(uuid.UUID(bytes_le=g)).upper()


def w(text):
    return text.encode("utf-16-le") + b"\0\0"


def wn(text):
    return text.encode("utf-16-le")


def sid(rng):
    return bytes([1, 5, 0, 0, 0, 0, 0, 5]) + struct.pack("<5I", 21, *(rng.getrandbits(32) for _ in range(3)),
                                                        rng.randrange(1000, 5000))


def direct(name, off=0, pad=b"\xCC", count=None, raw=None):
    """DirectQueueFormatName; off is where it begins within UserHeader (multiple of 4)."""
    t = w(name) if raw is None else raw
    d = struct.pack("<H", len(t) if count is None else count) + t
    while (off + len(d)) % 4:
        d += pad
    return d


def private_id(n):
    return struct.pack("<I", n)


def private_full(g, n):
    return g + struct.pack("<I", n)


# queue names as the scenarios use them: ("priv", host, id) ("pub", host, guid) ("direct", text)
def queue_format(q):
    if q[0] == "priv":
        return "PRIVATE=%s\\%08X" % (gtext(q[1].guid), q[2])
    if q[0] == "pub":
        return "PUBLIC=" + gtext(q[2])
    return "DIRECT=" + q[1]


# ---------------------------------------------------------------- user message
def element(ftype, payload, off):
    """One MQFFormatNameElement that begins at offset off of the packet."""
    d = struct.pack("<H", ftype)
    if ftype in (2, 6):
        while (off + len(d)) % 4:
            d += b"\xEE"
    return d + payload


def q_element(q, off):
    if q[0] == "direct":
        return element(3, w(q[1]), off)
    if q[0] == "pub":
        return element(1, q[2], off)
    if q[0] == "priv":
        return element(2, private_full(q[1].guid, q[2]), off)
    return element(6, q[1], off)            # ("dl", guid)


class UM:
    """A user message; every value may be overridden before build()."""

    def __init__(self):
        self.base = NS(ver=0x10, res=0, PR=3, IN=0, SH=None, DH=None, X=0, TR=0, sig=0x524F494C, size=None, ttrq=345600)
        self.user = NS(src=NULL, addr=NULL, ttbr=INF, sent=0, mid=0, RC=0, DM=0, X1=0, JN=0, JP=0, DQ=3, AQ=0, RQ=0,
                       SH=None, TH=None, MP=1, CQ=None, MQ=None, X2=0, AH=0, X3=0, HH=None, X4=0,
                       dq=b"", aq=b"", rq=b"", conn=None)
        self.tx = None
        self.sec = None
        self.mph = NS(flags=0, lablen=None, cls=0, corr=b"\0" * 20, btype=0, tag=0, size=None, alloc=None, priv=0,
                      hash=0x800E, enc=0x6801, extsize=None, label=b"", ext=b"", body=b"", pad=None)
        self.debug = None
        self.srmp = None
        self.comp = None
        self.soap = None
        self.mq = None
        self.sess = None
        self.order = ["user", "tx", "sec", "mph", "debug", "srmp", "comp", "soap", "mq"]
        self.tail = b""
        self.raw = None          # bytes -> bytes, last change
        self.info = NS()

    # --- parts
    def b_user(self):
        u = self.user

        def bit(v, has):
            return v if v is not None else (1 if has else 0)
        f = (u.RC | u.DM << 5 | u.X1 << 7 | u.JN << 8 | u.JP << 9 | u.DQ << 10 | u.AQ << 13 | u.RQ << 16
             | bit(u.SH, self.sec) << 19 | bit(u.TH, self.tx) << 20 | u.MP << 21 | bit(u.CQ, u.conn) << 22
             | bit(u.MQ, self.mq) << 23 | u.X2 << 24 | u.AH << 25 | u.X3 << 26 | bit(u.HH, self.soap) << 28 | u.X4 << 29)
        d = u.src + u.addr + struct.pack("<IIII", u.ttbr, u.sent, u.mid & INF, f)
        d += u.dq + u.aq + u.rq + (u.conn or b"")
        return d

    def b_tx(self, off=0):
        t = self.tx
        f = t.CG | t.FA << 1 | t.FM << 2 | t.LM << 3 | t.id << 4 | t.X << 24
        return struct.pack("<IIIII", f, t.seq[0], t.seq[1], t.num, t.prev) + (t.conn or b"")

    def mq_list(self):
        m = self.mq
        return b"".join(a.list_bytes for a in (m.dest, m.admin, m.resp))

    def signed_properties(self, kind):
        u, m = self.user, self.mph
        plain = getattr(self.info, "plain", m.body)
        d = m.corr + struct.pack("<I", m.tag) + plain + m.label + u.rq + u.aq
        if kind == 1:
            return d
        if kind == 3:
            d += m.ext + (self.mq_list() if self.mq else b"")
        d += u.src + bytes([u.DM, self.base.PR, u.JP << 1 | u.JN, m.flags & 15]) + struct.pack("<HI", m.cls, m.btype)
        d += u.conn or NULL
        if kind == 2:
            d += u.dq
        return d

    def b_sec(self, off=0):
        s = self.sec
        sig = s.sig
        if s.kind and sig is None:
            sig = rsa_sign(s.key, s.halg or self.mph.hash, self.signed_properties(s.kind))
            if s.sigedit:
                sig = s.sigedit(sig)
        sig = sig or b""
        items = [s.sid, s.ekey, sig, s.cert, s.prov]
        sizes = [len(x) for x in items]
        for i, v in (s.sizes or {}).items():
            sizes[i] = v
        data = b""
        order = s.order or range(5)
        for i in order:
            x = items[i]
            data += x + (b"" if s.nopad == i else bytes(-len(x) % 4))
        f = s.ST | s.AU << 4 | s.EB << 5 | s.DE << 6 | (s.AI if s.AI is not None else (1 if data else 0)) << 7 | s.AS << 8 | s.X << 12
        return struct.pack("<HHHHII", f, *sizes) + data

    def b_mph(self, off=0):
        m = self.mph
        d = struct.pack("<BBH", m.flags, len(m.label) // 2 if m.lablen is None else m.lablen, m.cls) + m.corr
        d += struct.pack("<IIIIIIII", m.btype, m.tag, len(m.body) if m.size is None else m.size,
                         len(m.body) if m.alloc is None else m.alloc, m.priv, m.hash, m.enc,
                         len(m.ext) if m.extsize is None else m.extsize)
        d += m.label + m.ext + m.body
        d += (b"\xA5" * (-len(d) % 4)) if m.pad is None else m.pad
        return d

    def b_debug(self, off=0):
        g = self.debug
        return struct.pack("<HH", g.QT | g.X << 2, g.res) + (g.queue or b"")

    def b_srmp(self, off=0):
        s = self.srmp
        d = struct.pack("<HHI", s.id, s.res, len(s.data) // 2 if s.len is None else s.len) + s.data
        return d + bytes(-len(d) % 4)

    def b_comp(self, off=0):
        s = self.comp
        d = struct.pack("<HHIII", s.id, s.res, len(s.data) if s.len is None else s.len, s.msize, s.moff) + s.data
        return d + bytes(-len(d) % 4)

    def b_soap(self, off=0):
        s = self.soap
        d = struct.pack("<HHI", s.hid, s.res, len(s.head) // 2 if s.hlen is None else s.hlen) + s.head
        return d + struct.pack("<HHI", s.bid, s.res1, len(s.body) // 2 if s.blen is None else s.blen) + s.body

    def b_mq(self, off=0):
        m = self.mq
        d = b""
        for a in (getattr(m, n) for n in m.order):
            lst = b""
            for q in a.names:
                lst += q(off + len(d) + 12 + len(lst)) if callable(q) else q_element(q, off + len(d) + 12 + len(lst))
            a.list_bytes = lst
            lst += b"\xDD" * (-len(lst) % 4) if a.pad is None else a.pad
            d += struct.pack("<IHHI", 12 + len(lst) if a.size is None else a.size, a.id, a.res,
                             len(a.names) if a.count is None else a.count) + lst
        s = m.sig
        sig = s.sig
        if m.kind and sig is None:
            sig = rsa_sign(m.key, self.mph.hash, self.signed_properties(3))
            if m.sigedit:
                sig = m.sigedit(sig)
        sig = sig or b""
        d += struct.pack("<HHI", s.id, s.res, len(sig) if s.size is None else s.size) + sig
        return d + bytes(-len(d) % 4)

    def build(self):
        b = self.base
        d = b""
        parts = {}
        if self.mq and self.sec and self.sec.kind == 3:
            self.b_mq(0)
        for n in self.order:
            if n == "user" or n == "mph" or getattr(self, n, None) is not None:
                if n == "user":
                    x = self.b_user()
                else:
                    x = getattr(self, "b_" + n)(16 + len(d))
                parts[n] = len(x)
                d += x
        d += self.tail
        size = 16 + len(d) if b.size is None else b.size
        f = (b.PR | b.IN << 3 | (b.SH if b.SH is not None else (1 if self.sess else 0)) << 4
             | (b.DH if b.DH is not None else (1 if self.debug else 0)) << 5 | b.TR << 8 | b.X)
        d = struct.pack("<BBHIII", b.ver, b.res, f, b.sig, size & INF, b.ttrq) + d
        if self.sess:
            d += session_header(self.sess)
        if self.raw:
            d = self.raw(d)
        return d


def session_header(s):
    return struct.pack("<HHIHHHH", s.ack & 0xFFFF, s.rack & 0xFFFF, s.rflags, s.um & 0xFFFF, s.rm & 0xFFFF, s.win, s.res)


def new_tx(**k):
    t = NS(CG=0, FA=0, FM=0, LM=0, id=1, X=0, seq=(1, 1), num=1, prev=0, conn=None)
    t.__dict__.update(k)
    return t


def new_sec(**k):
    s = NS(ST=0, AU=0, EB=0, DE=1, AI=None, AS=0, X=0, sid=b"", ekey=b"", sig=None, cert=b"", prov=b"", sizes=None,
           order=None, nopad=None, kind=0, key="sign1", halg=None, sigedit=None)
    s.__dict__.update(k)
    return s


def new_mq(dest, admin=(), resp=(), sig=b"", kind=0, skey="sign1"):
    def addr(i, names):
        return NS(id=i, res=0, size=None, count=None, names=list(names), pad=None, list_bytes=b"")
    return NS(dest=addr(0x64, dest), admin=addr(0xC8, admin), resp=addr(0x12C, resp), order=["dest", "admin", "resp"],
              sig=NS(id=0x15E, res=0, size=None, sig=None if kind else sig), kind=kind, key=skey, sigedit=None)


def new_soap(head, body):
    return NS(hid=0x320, res=0, hlen=None, head=w(head), bid=0x384, res1=0, blen=None, body=w(body))


def provider(ptype, name):
    return struct.pack("<I", ptype) + w(name)


class Internal:
    """EstablishConnection, ConnectionParameters and SessionAck packets."""

    def __init__(self, pt):
        self.base = NS(ver=0x10, res=0, PR=3, IN=1, SH=1 if pt == 1 else 0, DH=0, X=0, TR=0, sig=0x524F494C, size=None, ttrq=INF)
        self.int = NS(res=0, PT=pt, CS=0, X=0)
        self.kind = pt
        self.ec = self.cp = self.sess = None
        self.tail = b""
        self.noint = False
        self.raw = None

    def build(self):
        b, i = self.base, self.int
        d = b"" if self.noint else struct.pack("<HH", i.res, i.PT | i.CS << 4 | i.X << 5)
        if self.ec:
            e = self.ec
            d += e.client + e.server + struct.pack("<IHH", e.ts & INF, e.RE | e.SE << 8 | e.OS << 9 | e.QS << 10 | e.X << 11, e.res) + e.pad
        if self.cp:
            c = self.cp
            d += struct.pack("<IIHH", c.rat, c.at, c.res, c.win)
        d += self.tail
        size = 16 + len(d) if b.size is None else b.size
        f = b.PR | b.IN << 3 | b.SH << 4 | b.DH << 5 | b.TR << 8 | b.X
        d = struct.pack("<BBHIII", b.ver, b.res, f, b.sig, size, b.ttrq) + d
        if self.sess:
            d += session_header(self.sess)
        if self.raw:
            d = self.raw(d)
        return d


# ---------------------------------------------------------------- network
def _sum(d):
    if len(d) % 2:
        d += b"\0"
    s = sum(struct.unpack(">%dH" % (len(d) // 2), d))
    while s >> 16:
        s = (s & 0xFFFF) + (s >> 16)
    return ~s & 0xFFFF


def ip_packet(w_, src, dst, proto, payload):
    w_.ipid = (w_.ipid + 1) & 0xFFFF
    h = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), w_.ipid, 0x4000, 128, proto, 0, src.ipb, dst.ipb)
    h = h[:10] + struct.pack(">H", _sum(h)) + h[12:]
    return dst.mac + src.mac + b"\x08\x00" + h + payload


class Conn:
    def __init__(self, wd, a, b, sport, dport=1801):
        self.w, self.a, self.b = wd, a, b
        self.port = {a: sport, b: dport}
        self.seq = {a: wd.rng.getrandbits(31), b: wd.rng.getrandbits(31)}
        self.buf = {a: b"", b: b""}
        self.open = False
        wd.conns.append(self)

    def peer(self, q):
        return self.b if q is self.a else self.a

    def seg(self, q, flags, data=b"", t=None, seq=None):
        o = self.peer(q)
        s = self.seq[q] if seq is None else seq
        h = struct.pack(">HHIIBBHHH", self.port[q], self.port[o], s & INF, (self.seq[o] if flags & 16 else 0) & INF,
                        0x50, flags, 0xFAF0, 0, 0)
        ps = q.ipb + o.ipb + struct.pack(">BBH", 0, 6, len(h) + len(data))
        h = h[:16] + struct.pack(">H", _sum(ps + h + data)) + h[18:]
        self.w.frame(ip_packet(self.w, q, o, 6, h + data), t)

    def start(self):
        a, b, wd = self.a, self.b, self.w
        self.seg(a, 2)
        self.seq[a] += 1
        wd.t += 150
        self.seg(b, 18)
        self.seq[b] += 1
        wd.t += 120
        self.seg(a, 16)
        wd.t += 60
        self.open = True

    def send(self, q, data):
        if self.w.mode == "coalesce":
            if self.buf[self.peer(q)]:
                self.flush(self.peer(q))
            self.buf[q] += data
            if len(self.buf[q]) > 4000:
                self.flush(q)
            return
        self.push(q, data)

    def flush(self, q=None):
        for x in ([q] if q else [self.a, self.b]):
            if self.buf[x]:
                d, self.buf[x] = self.buf[x], b""
                self.push(x, d, True)

    def push(self, q, data, whole=False):
        wd, rng = self.w, self.w.rng_net
        i = 0
        while i < len(data):
            if wd.mode == "random":
                n = rng.choice((1, 3, 7, 16, 20, 33, 64, 100, 300, 536, 1000, 1460))
            elif wd.mode == "small":
                n = rng.randrange(1, 40)
            else:
                n = 1460
            c = data[i:i + n]
            i += n
            s = self.seq[q]
            self.seg(q, 24 if i >= len(data) else 16, c)
            if wd.retrans and rng.random() < wd.retrans:
                self.seg(q, 24, c, wd.t + 30, seq=s)
            self.seq[q] += len(c)
            wd.t += 40
            self.seg(self.peer(q), 16, t=wd.t)
            wd.t += 10

    def close(self, q, rst=False):
        self.flush()
        wd, o = self.w, self.peer(q)
        if rst:
            self.seg(q, 20)
        else:
            self.seg(q, 17)
            self.seq[q] += 1
            wd.t += 100
            self.seg(o, 17)
            self.seq[o] += 1
            wd.t += 80
            self.seg(q, 16)
        wd.t += 50
        self.open = False


class QM:
    def __init__(self, wd, name, ip, server=True):
        self.w, self.name, self.ip = wd, name, ip
        self.ipb = bytes(int(x) for x in ip.split("."))
        self.mac = bytes([0x02, 0, 0x5E]) + self.ipb[1:]
        self.guid = guid(wd.rng)
        self.mid = wd.rng.randrange(1000, 500000)
        self.up = wd.rng.randrange(10 ** 6, 4 * 10 ** 8)     # ms since start of system at t0
        self.cookie = wd.rng.randrange(1, 50)
        self.txts = wd.t // 10 ** 6 - wd.rng.randrange(86400, 90 * 86400)
        self.txid = wd.rng.randrange(1, 5000)
        self.tag = wd.rng.getrandbits(20)
        self.server = server
        self.sid = sid(wd.rng)
        self.port = wd.rng.randrange(49200, 60000)

    def next_mid(self):
        self.mid += 1
        return self.mid

    def next_tx(self):
        self.txid += 1
        return self.txid


class Stream:
    """The transactional sequence from one queue manager to another."""

    def __init__(self, q):
        self.seq = (1, q.txts)
        self.num = 1
        self.sent = 0
        self.acked = 0
        self.got = 0          # last accepted at the receiver
        self.table = []


class World:
    def __init__(self, seed, mode="whole", retrans=0.0, t0=None):
        self.seed_name = seed
        self.rng = random.Random(seed)
        self.rng_net = random.Random(seed + "net")
        self.t = (t0 or (1600000000 + self.rng.randrange(0, 10 ** 8))) * 10 ** 6 + self.rng.randrange(10 ** 6)
        self.t0 = self.t
        self.frames = []
        self.ipid = self.rng.randrange(60000)
        self.mode, self.retrans = mode, retrans
        self.conns, self.sessions = [], []
        self.streams = {}
        self.log = []            # (time, session number, from, kind, bytes)
        self.edits = {}          # tag -> function on the packet
        self.count = 0

    def frame(self, d, t=None):
        self.frames.append((self.t if t is None else t, len(self.frames), d))

    def qm(self, name, ip, server=True):
        return QM(self, name, ip, server)

    def stream(self, a, b):
        if (a, b) not in self.streams:
            self.streams[(a, b)] = Stream(a)
        return self.streams[(a, b)]

    def flush(self):
        for c in self.conns:
            c.flush()

    def adv(self, ms):
        """Let time pass; acknowledgments that fall due are sent."""
        self.flush()
        end = self.t + int(ms * 1000)
        while True:
            due = None
            for s in self.sessions:
                if s.auto and s.isopen:
                    d = s.next_due()
                    if d and (due is None or d[0] < due[0]):
                        due = d
            if due is None or due[0] > end:
                break
            self.t = max(self.t, due[0])
            due[1]()
            self.flush()
        self.t = max(self.t, end)

    def udp(self, a, sport, b, dport, data):
        h = struct.pack(">HHHH", sport, dport, 8 + len(data), 0)
        ps = a.ipb + b.ipb + struct.pack(">BBH", 0, 17, len(h) + len(data))
        c = _sum(ps + h + data) or 0xFFFF
        self.frame(ip_packet(self, a, b, 17, h[:6] + struct.pack(">H", c) + data))
        self.log.append((self.t, 0, a.name, "ping", data))
        self.count += 1

    def pcap(self):
        self.flush()
        out = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
        for t, _, d in sorted(self.frames, key=lambda x: (x[0], x[1])):
            out += struct.pack("<IIII", t // 10 ** 6, t % 10 ** 6, len(d), len(d)) + d
        return out

    # ---- pings
    def ping_req(self, a, b, **k):
        a.cookie += 1
        p = NS(RC=0 if a.server else 1, RF=0, X=0x1F40, sig=0x5548, cookie=a.cookie, guid=a.guid, sport=a.port + 7, dport=3527, tail=b"")
        p.__dict__.update(k)
        d = struct.pack("<HHI", p.RC | p.RF << 1 | p.X << 2, p.sig, p.cookie) + p.guid + p.tail
        self.udp(a, p.sport, b, p.dport, d)
        return p

    def ping_resp(self, b, a, req, to=None, **k):
        p = NS(RC=req.RC, RF=0, X=0x2CA5, sig=0x5548, cookie=req.cookie, guid=b.guid, sport=3527, dport=req.sport, tail=b"", cut=None)
        p.__dict__.update(k)
        d = struct.pack("<HHI", p.RC | p.RF << 1 | p.X << 2, p.sig, p.cookie) + p.guid + p.tail
        self.udp(b, p.sport, to or a, p.dport, d[:p.cut] if p.cut else d)
        return p

    def ping(self, a, b, **k):
        r = self.ping_req(a, b, **k)
        self.adv(2)
        self.ping_resp(b, a, r)
        self.adv(3)
        return r


class Session:
    def __init__(self, wd, a, b, direct=False, ping=False, rtt=20, at=20000, win=64, auto=True, edits=None, hs=None, port=None):
        """hs: None for the usual start, or a function (session) that makes another."""
        self.w, self.a, self.b, self.direct = wd, a, b, direct
        self.pinged = ping
        self.noorder = False
        self.rtt, self.at, self.win = rtt, at, win
        self.rat = max(500, min(120000, rtt * 8))
        self.auto = False
        self.isopen = False
        self.edits = edits or {}
        self.st = {}
        for q in (a, b):
            self.st[q] = NS(sent=0, rsent=0, recv=0, rrecv=0, last=0, unacked=0, acked=0, start=None, dur=None, otimer=None,
                            rec_since=False, outlist=[])
        wd.sessions.append(self)
        self.no = len(wd.sessions)
        if ping is True:
            wd.ping(a, b)
        a.port += 1
        self.c = Conn(wd, a, b, port or a.port)
        self.c.start()
        if hs:
            hs(self)
        else:
            self.handshake()
        self.isopen = True
        self.auto = auto

    def peer(self, q):
        return self.b if q is self.a else self.a

    def put(self, q, p, tag):
        e = self.edits.get(tag) or self.w.edits.get(tag)
        if e:
            e(p)
        d = p.build()
        self.c.send(q, d)
        self.w.log.append((self.w.t, self.no, q.name, tag, d))
        self.w.count += 1
        return d

    # ---- start
    def ec(self, resp=False, **k):
        a, b = self.a, self.b
        p = Internal(2)
        if not resp:
            self.ts = (a.up + (self.w.t - self.w.t0) // 1000) & INF
            p.ec = NS(client=a.guid, server=NULL if self.direct else b.guid, ts=self.ts, RE=0x10, SE=0 if self.pinged else 1,
                      OS=1 if a.server else 0, QS=0, X=0, res=0, pad=b"\x5A" * 512)
        else:
            p.ec = NS(client=a.guid, server=b.guid, ts=self.ts, RE=0x10, SE=0 if self.pinged else 1,
                      OS=1 if a.server else 0, QS=0, X=0, res=0, pad=b"\x5A" * 512)
        p.base.res = 0x5A if resp else 0xC0
        self.put(b if resp else a, p, "ecr" if resp else "ecq")
        return p

    def cp(self, resp=False):
        p = Internal(3)
        p.cp = NS(rat=self.rat, at=self.at, res=0, win=self.win)
        p.base.res = 0xC0
        self.put(self.b if resp else self.a, p, "cpr" if resp else "cpq")
        return p

    def ecpair(self):
        t = self.w.t
        self.ec()
        self.w.adv(max(0.3, self.rtt - (self.w.t - t) / 1000 - 0.2))
        self.ec(True)
        self.w.flush()
        self.w.t = max(self.w.t, t + self.rtt * 1000 + 100)
        now = (self.a.up + (self.w.t - self.w.t0) // 1000) & INF
        self.rat = max(500, min(120000, 8 * (now - self.ts)))

    def handshake(self):
        self.ecpair()
        self.cp()
        self.w.adv(self.rtt / 2 or 1)
        self.cp(True)
        self.w.adv(self.rtt / 2 or 1)

    # ---- timers
    def next_due(self):
        best = None
        for q in (self.a, self.b):
            s = self.st[q]
            if s.unacked and s.start is not None:
                t = s.start + s.dur
                if best is None or t < best[0]:
                    best = (t, lambda q=q: self.sack(q))
            if s.otimer is not None:
                t = s.otimer + 503000
                if best is None or t < best[0]:
                    best = (t, lambda q=q: self.oack(q))
        return best

    def header(self, q):
        s = self.st[q]
        n = s.rrecv - s.last
        return NS(ack=s.recv, rack=s.last + 1 if n else 0, rflags=(1 << n) - 1 if n else 0, um=s.sent, rm=s.rsent, win=self.win, res=0)

    def acked(self, q):
        """q has just acknowledged all it has received."""
        s, o = self.st[q], self.st[self.peer(q)]
        s.last = s.rrecv
        s.unacked = 0
        s.start = None
        s.rec_since = False
        o.acked = s.recv

    def sack(self, q, tag="sack", edit=None, keep=False):
        p = Internal(1)
        p.sess = self.header(q)
        p.base.res = 0xCD
        if edit:
            edit(p)
        if not keep:
            self.acked(q)
        self.put(q, p, tag)
        return p

    def outstanding(self, q):
        return self.st[q].sent - self.st[q].acked

    def send(self, q, p, tag="um", sh=None, quiet=False, nocount=False):
        """Send a user message of any kind from q and let the other side count it."""
        o = self.peer(q)
        s, r = self.st[q], self.st[o]
        if self.auto:
            while self.outstanding(q) >= self.win:
                d = self.next_due()
                self.w.adv(max(0.1, (d[0] - self.w.t) / 1000 + 0.2))
        s.sent += 1
        if p.user.DM:
            s.rsent += 1
        owed = s.unacked and s.start is not None and self.w.t - s.start > 0.75 * s.dur
        if (sh is None and owed and self.auto and not getattr(p.info, "plainack", False)) or sh:
            p.sess = self.header(q)
            self.acked(q)
        p.info.session = self
        p.info.frm = q
        p.info.t = self.w.t
        p.info.bytes = self.put(q, p, tag)
        # receiver
        r.recv += 1
        r.unacked += 1
        if r.start is None:
            r.start, r.dur = self.w.t, self.at * 500
        if p.user.DM:
            if r.rrecv - r.last >= 32 and self.auto:
                self.w.t += 200
                pk = Internal(1)
                pk.sess = self.header(o)
                pk.base.res = 0xCD
                r.last, r.unacked, r.rec_since = r.rrecv, 0, False
                s.acked = r.recv
                self.put(o, pk, "sack")
            r.rrecv += 1
            if not r.rec_since:
                r.rec_since = True
                r.start, r.dur = self.w.t, self.rat * 1000
        if p.sess:
            pass
        return p

    # ---- user messages
    def qfields(self, p, frm, to, dest, admin=None, resp=None):
        u = p.user
        if dest[0] == "priv":
            u.DQ, u.dq, u.addr = 3, private_id(dest[2]), dest[1].guid
        elif dest[0] == "pub":
            u.DQ, u.dq, u.addr = 5, dest[2], dest[1].guid
        else:
            u.DQ, u.dq, u.addr = 7, direct(dest[1], 0), NULL
        dhost = dest[1] if dest[0] != "direct" else to
        if admin:
            if admin[0] == "priv":
                if admin[1] is frm:
                    u.AQ, u.aq = 2, private_id(admin[2])
                elif admin[1] is dhost:
                    u.AQ, u.aq = 3, private_id(admin[2])
                else:
                    u.AQ, u.aq = 6, private_full(admin[1].guid, admin[2])
            elif admin[0] == "pub":
                u.AQ, u.aq = 5, admin[2]
            else:
                u.AQ, u.aq = 7, direct(admin[1], 0)
        if resp:
            if resp == "same":
                u.RQ, u.rq = 1, b""
            elif resp[0] == "priv":
                if len(resp) > 3:
                    u.RQ, u.rq = 4, private_id(resp[2])
                elif resp[1] is frm:
                    u.RQ, u.rq = 2, private_id(resp[2])
                elif resp[1] is dhost:
                    u.RQ, u.rq = 3, private_id(resp[2])
                else:
                    u.RQ, u.rq = 6, private_full(resp[1].guid, resp[2])
            elif resp[0] == "pub":
                u.RQ, u.rq = 5, resp[2]
            else:
                u.RQ, u.rq = 7, direct(resp[1], 0)

    def make(self, frm, dest, body=b"", label="", rec=False, ack=0, admin=None, resp=None, ttrq=345600, ttbr=INF, pr=3,
             cls=0, corr=None, btype=0, apptag=0, ext=b"", jn=0, jp=0, src=None, rc=0):
        p = UM()
        to = self.peer(frm)
        p.base.PR = pr
        p.base.ttrq = ttrq
        u = p.user
        u.src = (src or frm).guid
        u.ttbr = ttbr
        u.sent = self.w.t // 10 ** 6
        u.mid = frm.next_mid() if src is None else src.next_mid()
        u.DM = 1 if rec else 0
        u.JN, u.JP, u.RC = jn, jp, rc
        self.qfields(p, src or frm, to, dest, admin, resp)
        m = p.mph
        m.flags, m.cls, m.btype, m.tag, m.ext, m.body = ack, cls, btype, apptag, ext, body
        m.label = w(label) if label else b""
        m.corr = corr or b"\0" * 20
        p.info.dest, p.info.admin, p.info.resp = dest, admin, resp
        return p

    def msg(self, frm, dest, tag="um", sh=None, edit=None, **k):
        p = self.make(frm, dest, **k)
        if edit:
            edit(p)
        self.send(frm, p, tag, sh)
        self.w.t += 300
        return p

    def txmsg(self, frm, dest, first, last, tid, fa=0, tag="tx", sh=None, edit=None, conn=None, **k):
        to = self.peer(frm)
        st = self.w.stream(frm, to)
        k["rec"] = True
        k["pr"] = 0
        p = self.make(frm, dest, **k)
        p.tx = new_tx(FM=1 if first else 0, LM=1 if last else 0, id=tid, FA=fa, seq=st.seq, num=st.num, prev=st.num - 1,
                      CG=1 if conn else 0, conn=conn)
        if edit:
            edit(p)
        st.num += 1
        st.sent = st.num - 1
        st.table.append(p)
        self.send(frm, p, tag, sh)
        self.arrived(frm, p)
        self.w.t += 300
        return p

    def arrived(self, frm, p):
        to = self.peer(frm)
        st = self.w.stream(frm, to)
        if p.tx.seq == st.seq and p.tx.num > st.got and p.tx.prev <= st.got:
            st.got = p.tx.num
        r = self.st[to]
        if not self.noorder:
            r.otimer = self.w.t

    def again(self, frm, p, tag="re", edit=None):
        """Send a message again (same bytes but for what the session changes)."""
        import copy
        q = copy.copy(p)
        q.sess = None
        q.info = copy.copy(p.info)
        q.user = copy.copy(p.user)
        q.tx = copy.copy(p.tx)
        q.base = copy.copy(p.base)
        q.mph = copy.copy(p.mph)
        if edit:
            edit(q)
        self.send(frm, q, tag)
        if q.tx:
            self.arrived(frm, q)
        self.w.t += 300
        return q

    def transaction(self, frm, dest, n, gap=5, **k):
        tid = frm.next_tx()
        out = []
        for i in range(n):
            d = dest[i % len(dest)] if isinstance(dest, list) else dest
            out.append(self.txmsg(frm, d, i == 0, i == n - 1, tid, **k))
            self.w.adv(gap)
        return out

    def ackmsg(self, q, cls, body, dm, tag, edit=None):
        o = self.peer(q)
        p = UM()
        p.base.PR = 0
        p.base.ttrq = INF
        u = p.user
        u.src = q.guid
        u.sent = self.w.t // 10 ** 6
        u.mid = q.next_mid()
        u.DM = dm
        if self.direct:
            u.DQ, u.dq, u.addr = 7, direct("TCP:%s\\PRIVATE$\\order_queue$" % o.ip, 0), NULL
        else:
            u.DQ, u.dq, u.addr = 3, private_id(4), o.guid
        m = p.mph
        m.label = w("QM Ordering Ack")
        m.cls, m.body = cls, body
        p.info.plainack = True
        if edit:
            edit(p)
        self.send(q, p, tag)
        self.w.t += 300
        return p

    def oack(self, q, num=None, seq=None, tag="oack", edit=None, renew=True):
        o = self.peer(q)
        st = self.w.stream(o, q)
        n = st.got if num is None else num
        self.st[q].otimer = None
        body = struct.pack("<IIII", *(seq or st.seq), n, n - 1 if n else 0) + b"\0" * 20
        p = self.ackmsg(q, 0x00FF, body, 0, tag, edit)
        if seq is None or seq == st.seq:
            st.acked = max(st.acked, n)
            st.table = [x for x in st.table if x.tx.num > n]
            if renew and st.acked == st.sent:
                st.seq = (st.seq[0] + 1, st.seq[1])
                st.num, st.sent, st.acked, st.got = 1, 0, 0, 0
                st.table = []
        return p

    def fack(self, q, m, cls=0x4000, tag="fack", edit=None, **o):
        t = m.tx
        body = struct.pack("<IIII", *o.get("seq", t.seq), o.get("num", t.num), o.get("prev", t.prev)) \
            + o.get("src", m.user.src) + struct.pack("<I", o.get("mid", m.user.mid))
        return self.ackmsg(q, cls, body, 1, tag, edit)

    def adm(self, q, m, cls, tag="adm", edit=None, **k):
        """Administration acknowledgment for message m."""
        p = self.make(q, m.info.admin, rec=bool(m.user.DM), cls=cls, corr=m.user.src + struct.pack("<I", m.user.mid & INF),
                      ttrq=INF, resp=m.info.dest, body=m.mph.body if cls >= 0x8000 and not (m.sec and m.sec.EB) else b"")
        if edit:
            edit(p)
        self.send(q, p, tag)
        self.w.t += 300
        return p

    def report_texts(self, m, sent, remote=None, hops=None, mid=None, when=None):
        d = datetime.datetime.fromtimestamp((when or self.w.t) // 10 ** 6, datetime.timezone.utc)
        g = gtext(m.user.src)
        hops = "%02X" % m.user.RC if hops is None else hops
        mid = "%08X" % m.user.mid if mid is None else mid
        day = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[d.weekday()]
        mon = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[d.month - 1]
        label = "%s:%s:%s received by %s at %02d:%02d:%02d %s %s,%s %02d %02d" % (
            g[:4], mid, hops, g, d.hour % 12 or 12, d.minute, d.second, "AM" if d.hour < 12 else "PM", day, mon, d.day, d.year % 100)
        body = "<MESSAGE ID>%s</MESSAGE ID>\r\n<TARGET QUEUE>%s</TARGET QUEUE>\r\n" % (mid, queue_format(m.info.dest))
        if sent:
            body += "<NEXT HOP>%s</NEXT HOP>\r\n<HOP COUNT>%s </HOP COUNT>\r\n" % (remote.ip, hops)
        return label, body

    def report(self, q, m, rq, sent, edit=None, tag="rep", texts=None):
        """Report about m from q to the public queue rq; sent: q has sent m (otherwise received it)."""
        label, body = texts or self.report_texts(m, sent, self.peer(q))
        p = self.make(q, rq, label=label, body=wn(body), cls=1)
        if edit:
            edit(p)
        self.send(q, p, tag)
        self.w.t += 300
        return p

    def close(self, q=None, rst=False):
        self.auto = False
        self.isopen = False
        self.c.close(q or self.a, rst)


def trace(p, g):
    """Ask for tracing into the public queue g."""
    p.base.TR = 1
    p.debug = NS(QT=1, X=0, res=0, queue=g)


def sign(p, q, kind=2, skey="sign1", halg=0x800E, st=1, prov=None):
    p.mph.hash = halg
    p.sec = new_sec(ST=st, sid=q.sid if st == 1 else (q.guid if st == 2 else b""), cert=key(skey)[1], kind=kind, key=skey, DE=0 if prov else 1,
                    prov=provider(*prov) if prov else b"")


def encrypt(p, q, rng, level=5, alg=0x6610, ckey="crypt1", st=1, signed=0):
    m = p.mph
    p.info.plain = m.body
    size = {0x6610: 32, 0x660F: 24, 0x660E: 16, 0x6801: 5 if level == 1 else 16}[alg]
    k = bytes(rng.getrandbits(8) for _ in range(size))
    m.body = rc4(k, m.body) if alg == 0x6801 else aes(k, m.body)
    m.priv, m.enc = level, alg
    p.sec = new_sec(ST=st, sid=q.sid if st == 1 else (q.guid if st == 2 else b""), EB=1, DE=0, ekey=simple_blob(ckey, alg, k, rng), prov=provider(*CSP[level]))
    if signed:
        p.sec.kind, p.sec.cert, p.mph.hash = signed, key("sign1")[1], 0x800E
