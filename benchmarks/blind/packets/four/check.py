"""A small reader of captures: decodes every packet and reports what breaks the documents.
Usage: check.py FILE...   (prints findings, one a line)"""
import os, re, struct, sys, uuid
from collections import defaultdict

CLASSES = {0, 1, 2, 0xFF, 0x4000, 0x8000, 0x8001, 0x8002, 0x8003, 0x8004, 0x8005, 0x8006, 0x8007, 0x8009, 0x800A, 0x800B,
           0xC000, 0xC001, 0xC002, 0xC004}
VT = {0, 1, 2, 3, 11, 12, 16, 17, 18, 19, 20, 21, 31, 65, 72}
FINAL = {0x4000, 0x8009, 0x8000, 0x8004, 0x8007, 0x800B, 0x8006, 0x8003, 0xC000, 0xC001, 0xC002}
NULL = b"\0" * 16
QN = r"[\x21\x23-\x2a\x2d-\x3a\x3c-\x5b\x5d-\x7f]{1,124}"
FORMAT = re.compile(r"PUBLIC=[0-9A-F]{8}-(?:[0-9A-F]{4}-){3}[0-9A-F]{12}\Z|PRIVATE=[0-9A-F]{8}-(?:[0-9A-F]{4}-){3}[0-9A-F]{12}\\[0-9A-F]{1,8}(?:;JOURNAL)?\Z", re.I)
SUB = r"(?:;[\x21\x23-\x2a\x2d-\x3a\x3c-\x5b\x5d-\x7f]{1,32})?"
ADDR = (r"(?:TCP:(?:\d{1,3}\.){3}\d{1,3}|OS:[\x21-\x5b\x5d-\x7e]{1,256}|HTTPS?://[\x21-\x2e\x30-\x39\x3b-\x5b\x5d-\x7e]+(?::\d*)?/MSMQ|IPX:[0-9A-F]+:[0-9A-F]+)")
DIRECT = re.compile(ADDR + r"\\(?:PRIVATE\$\\)?" + QN + SUB + r"(?:;JOURNAL)?\Z|" + ADDR + r"\\SYSTEM\$;(?:JOURNAL|DEADLETTER|DEADXACT)\Z", re.I)
ORDERQ = re.compile(r"TCP:(\d{1,3}\.){3}\d{1,3}\\PRIVATE\$\\order_queue\$\Z")
LABEL = re.compile(r"[0-9A-F]{4}:[0-9A-F]{8}:[0-9A-F]{2} received by [0-9A-F]{8}-([0-9A-F]{4}-){3}[0-9A-F]{12} at \d\d:\d\d(:\d\d)? [AP]M "
                   r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun),(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d\d \d\d\Z")
BODY = re.compile(r"<MESSAGE ID>([0-9A-F]{8})</MESSAGE ID>\r\n<TARGET QUEUE>[^\r\n]+</TARGET QUEUE>\r\n"
                  r"(<NEXT HOP>[0-9.]+</NEXT HOP>\r\n<HOP COUNT>([0-9A-F]{2}) </HOP COUNT>\r\n)?\Z")


class Bad(Exception):
    pass


class P:
    pass


def read_pcap(path):
    d = open(path, "rb").read() if isinstance(path, str) else path
    o = 24
    while o < len(d):
        s, u, n, _ = struct.unpack_from("<IIII", d, o)
        yield s + u / 1e6, d[o + 16:o + 16 + n]
        o += 16 + n


def csum(d):
    if len(d) % 2:
        d += b"\0"
    s = sum(struct.unpack(">%dH" % (len(d) // 2), d))
    while s >> 16:
        s = (s & 0xFFFF) + (s >> 16)
    return s


def streams(path):
    """(sessions, pings): sessions are lists of (time, from client, bytes of one packet)."""
    conns, pings, order = {}, [], []
    for t, f in read_pcap(path):
        ip = f[14:]
        if csum(ip[:20]) != 0xFFFF:
            raise Bad("IP checksum")
        src, dst = ip[12:16], ip[16:20]
        p = ip[20:]
        if csum(src + dst + struct.pack(">BBH", 0, ip[9], len(p)) + p) != 0xFFFF:
            raise Bad("TCP or UDP checksum")
        sp, dp = struct.unpack(">HH", p[:4])
        if ip[9] == 17:
            pings.append((t, src, sp, dst, dp, p[8:]))
            continue
        seq, = struct.unpack(">I", p[4:8])
        k = (src, sp, dst, dp)
        if p[13] & 2 and not p[13] & 16:
            c = P()
            c.client, c.server, c.port = (src, sp), (dst, dp), dp
            c.next, c.buf, c.out, c.t0 = {}, {True: b"", False: b""}, [], t
            conns[k] = conns[(dst, dp, src, sp)] = c
            order.append(c)
        c = conns[k]
        fc = (src, sp) == c.client
        if p[13] & 2:
            c.next[fc] = seq + 1
            continue
        data = p[20:]
        skip = (c.next[fc] - seq) & 0xFFFFFFFF
        if data and skip < len(data):
            c.next[fc] += len(data) - skip
            c.buf[fc] += data[skip:]
            c.out.append((t, fc, len(data) - skip))
    for c in order:
        c.packets = []
        buf = {True: b"", False: b""}
        pos = {True: 0, False: 0}
        c.left = {}
        for t, fc, n in c.out:
            buf[fc] += c.buf[fc][pos[fc]:pos[fc] + n]
            pos[fc] += n
            while len(buf[fc]) >= 20:
                b = buf[fc]
                size = struct.unpack_from("<I", b, 8)[0]
                fl = struct.unpack_from("<H", b, 2)[0]
                if fl & 16 and not (fl & 8 and size == 36):
                    size += 16
                if size < 16 or size > 0x400010 or len(b) < size:
                    break
                c.packets.append((t, fc, b[:size]))
                buf[fc] = b[size:]
        c.left = {k: len(v) for k, v in buf.items()}
    return order, pings


def direct_name(d, o):
    n, = struct.unpack_from("<H", d, o)
    raw = d[o + 2:o + 2 + n]
    if len(raw) != n or n % 2 or raw[-2:] != b"\0\0":
        raise Bad("direct name")
    t = raw[:-2].decode("utf-16-le")
    if "\0" in t:
        raise Bad("NUL inside a direct name")
    return t, o + 2 + n + (-(o + 2 + n) % 4)


def queue(kind, d, o, what, out):
    if kind == 0 or kind == 1:
        return None, o
    if kind in (2, 3, 4):
        return struct.unpack_from("<I", d, o)[0], o + 4
    if kind == 5:
        return d[o:o + 16], o + 16
    if kind == 6:
        return (d[o:o + 16], struct.unpack_from("<I", d, o + 16)[0]), o + 20
    t, o = direct_name(d, o)
    ip = re.match(r"TCP:([\d.]+)\\", t)
    if not DIRECT.match(t) or ip and any(int(x) > 255 for x in ip.group(1).split(".")) or re.search(r"\\system\$;(?!(journal|deadletter|deadxact)\Z)", t, re.I):
        out.append("%s: bad direct name" % what)
    return t, o


def elements(d, o, end, count, out):
    r = []
    for _ in range(count):
        ft, = struct.unpack_from("<H", d, o)
        o += 2
        if ft == 1:
            r.append((1, d[o:o + 16]))
            o += 16
        elif ft == 2:
            o += -o % 4
            r.append((2, d[o:o + 20]))
            o += 20
        elif ft == 6:
            o += -o % 4
            r.append((6, d[o:o + 16]))
            o += 16
        elif ft == 3:
            e = o
            while d[e:e + 2] != b"\0\0":
                e += 2
                if e >= end:
                    raise Bad("direct element")
            t = d[o:e].decode("utf-16-le")
            if not DIRECT.match(t):
                out.append("element: bad direct name")
            r.append((3, t))
            o = e + 2
        else:
            raise Bad("FormatType %d" % ft)
        if o > end:
            raise Bad("elements too long")
    return r, o


def session(d, p, out):
    p.ack, p.rack, p.rfl, p.um, p.rm, p.win, _ = struct.unpack_from("<HHIHHHH", d)
    p.sess = True
    if p.win == 0:
        out.append("WindowSize 0")
    if (p.rack == 0) != (p.rfl == 0):
        out.append("recoverable acknowledgment fields")
    if p.rfl and not p.rfl & 1:
        out.append("bit 0 of RecoverableMsgAckFlags")


def decode(d, out):
    p = P()
    p.sess = False
    ver, _, fl, sig, size, ttrq = struct.unpack_from("<BBHIII", d)
    p.fl, p.size, p.ttrq = fl, size, ttrq
    if ver != 16 or sig != 0x524F494C:
        out.append("version or signature")
    if fl & 0xFEC0:
        out.append("reserved BaseHeader flags")
    if fl & 0x100 and not fl & 0x20:
        out.append("TR without DH")
    if fl & 8:
        p.kind = "int"
        res, f = struct.unpack_from("<HH", d, 16)
        p.pt, p.cs = f & 15, f >> 4 & 1
        if res or f >> 5:
            out.append("InternalHeader reserved")
        if ttrq != 0xFFFFFFFF or fl & 0x120:
            out.append("internal TTRQ or DH")
        if p.pt == 1:
            if not fl & 16 or len(d) != 36:
                raise Bad("SessionAck size")
            session(d[20:], p, out)
            if size != 20:
                out.append("SessionAck PacketSize")
        elif p.pt == 2:
            if len(d) != 572 or fl & 16:
                raise Bad("EstablishConnection size")
            p.client, p.server = d[20:36], d[36:52]
            p.ts, p.os, r = struct.unpack_from("<IHH", d, 52)
            p.pad = d[60:]
            if r or p.os & 0xFF != 0x10 or p.os >> 11:
                out.append("EstablishConnection reserved")
        elif p.pt == 3:
            if len(d) != 32 or fl & 16:
                raise Bad("ConnectionParameters size")
            p.rat, p.at, r, p.win = struct.unpack_from("<IIHH", d, 20)
            if r or not 500 <= p.rat <= 120000 or not 20000 <= p.at <= 120000:
                out.append("ConnectionParameters values")
        else:
            out.append("packet type")
        if p.pt == 1 and p.cs:
            out.append("CS in SessionAck")
        return p
    p.kind = "um"
    end = size
    if size % 4:
        out.append("PacketSize not a multiple of 4")
    o = 16
    p.src, p.addr = d[16:32], d[32:48]
    p.ttbr, p.sent, p.mid, u = struct.unpack_from("<IIII", d, 48)
    p.u = u
    p.RC, p.DM, p.JN, p.JP = u & 31, u >> 5 & 3, u >> 8 & 1, u >> 9 & 1
    p.DQ, p.AQ, p.RQ = u >> 10 & 7, u >> 13 & 7, u >> 16 & 7
    if u & 0xED000080:
        out.append("reserved UserHeader flags")
    if u >> 25 & 1:
        out.append("AH")
    if p.RC > 0x1D or p.DM > 1 or p.DQ not in (0, 3, 5, 7) or p.AQ in (1, 4) or not u >> 21 & 1:
        out.append("UserHeader values")
    o = 64
    h = d[16:end]

    def q(k, o, what):
        v, e = queue(k, h, o - 16, what, out)
        return v, e + 16
    p.dq, e = q(p.DQ, o, "DestinationQueue")
    p.dqb, o = d[o:e], e
    p.aq, e = q(p.AQ, o, "AdminQueue")
    p.aqb, o = d[o:e], e
    p.rq, e = q(p.RQ, o, "ResponseQueue")
    p.rqb, o = d[o:e], e
    if p.DQ == 7 and p.addr != NULL or p.DQ in (3, 5) and p.addr == NULL:
        out.append("QueueManagerAddress")
    if p.src == NULL:
        out.append("SourceQueueManager")
    if p.AQ == 6 and p.aq[0] in (p.src, p.addr) or p.RQ == 6 and p.rq[0] in (p.src, p.addr):
        out.append("host of a queue of type 6")
    p.conn = NULL
    if u >> 22 & 1:
        p.conn = d[o:o + 16]
        o += 16
    p.tx = None
    if u >> 20 & 1:
        t = p.tx = P()
        f, a, b, t.num, t.prev = struct.unpack_from("<IIIII", d, o)
        t.seq = (a, b)
        t.CG, t.FA, t.FM, t.LM, t.id = f & 1, f >> 1 & 1, f >> 2 & 1, f >> 3 & 1, f >> 4 & 0xFFFFF
        o += 20
        if f >> 24:
            out.append("TransactionHeader unused")
        if t.CG:
            o += 16
        if t.num == 0 or t.prev >= t.num or p.DM != 1 or fl & 7:
            out.append("transactional values")
    p.sec = None
    if u >> 19 & 1:
        s = p.sec = P()
        f, *sizes = struct.unpack_from("<HHHHII", d, o)
        s.f = f
        s.EB = f >> 5 & 1
        o += 16
        s.items = []
        if f >> 12 or f & 15 > 2 or f & 0xF10:
            out.append("SecurityHeader flags")
        if bool(f & 0x80) != any(sizes) or not any(sizes):
            out.append("AI")
        for n in sizes:
            if o + n > end:
                raise Bad("security data")
            s.items.append(d[o:o + n])
            o += n + (-n % 4)
        if f & 15 == 0 and sizes[0] or f & 15 == 2 and sizes[0] != 16 or sizes[3] > 0xFFFF:
            out.append("SenderIdSize")
        if f & 15 == 1:
            x = s.items[0]
            if len(x) < 8 or x[0] != 1 or len(x) != 8 + 4 * x[1]:
                out.append("SID")
        if sizes[4]:
            if f & 0x40 or s.items[4][-2:] != b"\0\0":
                out.append("ProviderInfo")
        elif sizes[2] and not f & 0x40:
            out.append("provider missing")
        if s.EB:
            k = s.items[1]
            if len(k) != 268 or k[:4] != b"\1\2\0\0" or k[8:12] != b"\0\xa4\0\0":
                out.append("SIMPLEBLOB")
        if sizes[3]:
            from cryptography import x509
            try:
                s.cert = x509.load_der_x509_certificate(s.items[3])
            except Exception:
                out.append("certificate")
    p.mp, ll, p.cls = struct.unpack_from("<BBH", d, o)
    p.corr = d[o + 4:o + 24]
    p.bt, p.tag, ms, al, p.priv, p.hash, p.enc, ex = struct.unpack_from("<IIIIIIII", d, o + 24)
    o0 = o
    o += 56
    lab = d[o:o + 2 * ll]
    p.rawlabel = lab
    p.ext = d[o + 2 * ll:o + 2 * ll + ex]
    p.body = d[o + 2 * ll + ex:o + 2 * ll + ex + ms]
    o += 2 * ll + ex + ms
    o += -o % 4
    if o > end:
        raise Bad("MessagePropertiesHeader too long")
    p.label = lab[:-2].decode("utf-16-le", "replace")
    if ll > 0xFA or ll and (lab[-2:] != b"\0\0" or "\0" in p.label):
        out.append("label")
    if p.cls not in CLASSES or (p.bt & ~0x1000) not in VT or p.mp >> 4 or al < ms or al > size:
        out.append("MessagePropertiesHeader values")
    if p.priv not in (0, 1, 3, 5) or p.hash not in (0x8001, 0x8002, 0x8003, 0x8004, 0x800C, 0x800E) or p.enc not in (0x6602, 0x6610, 0x660E, 0x660F, 0x6801):
        out.append("algorithms")
    if p.priv and (p.enc in (0x6602, 0x6801)) != (p.priv in (1, 3)):
        out.append("EncryptionAlgorithm and PrivacyLevel")
    if (p.priv != 0) != bool(p.sec and p.sec.EB):
        out.append("privacy and EB")
    if p.sec and p.sec.EB and struct.unpack_from("<I", p.sec.items[1], 4)[0] != p.enc:
        out.append("algorithm of the key")
    if p.sec and p.sec.EB and p.enc in (0x6610, 0x660E, 0x660F) and ms % 16:
        out.append("AES body")
    if (p.mp & 15 != 0) != (p.AQ != 0):
        out.append("AdminQueue and acknowledgment flags")
    p.dbg = None
    if fl & 0x20:
        f, r = struct.unpack_from("<HH", d, o)
        if r or f >> 2 or f & 3 > 1:
            out.append("DebugHeader")
        o += 4
        p.dbg = b""
        if f & 3 == 1:
            p.dbg = d[o:o + 16]
            o += 16
    if u >> 28 & 1:
        for n in (0x320, 0x384):
            i, r, ln = struct.unpack_from("<HHI", d, o)
            if i != n or r:
                out.append("SoapHeader")
            x = d[o + 8:o + 8 + 2 * ln]
            if ln == 0 or x[-2:] != b"\0\0" or any(x[k:k + 2] == b"\0\0" for k in range(0, len(x) - 2, 2)):
                out.append("SoapHeader text")
            o += 8 + 2 * ln
    p.mq = None
    if u >> 23 & 1:
        p.mq = []
        for i in (0x64, 0xC8, 0x12C):
            n, k, r, c = struct.unpack_from("<IHHI", d, o)
            if k != i or r or n < 12 or o + n > end:
                raise Bad("MQFAddressHeader")
            e, x = elements(d, o + 12, o + n, c, out)
            p.mq.append((e, d[o + 12:x]))
            if i == 0x64 and not e:
                out.append("no destination")
            if i == 0x64 and p.DQ == 3 and all(y[0] != 6 for y in e) and (2, p.addr + p.dqb) not in e:
                out.append("destination not listed")
            if x + (-x % 4) != o + n:
                out.append("MQFAddressHeader size")
            o += n
        i, r, n = struct.unpack_from("<HHI", d, o)
        if i != 0x15E or r or o + 8 + n > end:
            raise Bad("MQFSignatureHeader")
        p.mqsig = d[o + 8:o + 8 + n]
        o += 8 + n
        o += -o % 4
    if o != end:
        raise Bad("headers end at %d, PacketSize %d" % (o, end))
    if fl & 16:
        session(d[o:], p, out)
    signature(p, out)
    return p


def signature(p, out):
    if not p.sec or not hasattr(p.sec, "cert") or p.sec.EB:
        return
    sig, kinds = (p.sec.items[2], (2, 1)) if p.sec.items[2] else (getattr(p, "mqsig", b""), (3,))
    if not sig:
        return
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding
    h = {0x8004: hashes.SHA1, 0x800C: hashes.SHA256, 0x800E: hashes.SHA512}.get(p.hash)
    if not h:
        return
    for k in kinds:
        x = p.corr + struct.pack("<I", p.tag) + p.body + p.rawlabel + p.rqb + p.aqb
        if k == 3:
            x += p.ext + b"".join(m[1] for m in p.mq)
        if k > 1:
            x += p.src + bytes([p.DM, p.fl & 7, p.JP << 1 | p.JN, p.mp & 15]) + struct.pack("<HI", p.cls, p.bt) + p.conn
        if k == 2:
            x += p.dqb
        try:
            p.sec.cert.public_key().verify(sig, x, padding.PKCS1v15(), h())
            return
        except Exception:
            pass
    out.append("signature does not verify")


def check(path):
    out = []
    try:
        conns, pings = streams(path)
    except Bad as e:
        return [str(e)]
    world = P()
    world.mids, world.msgs, world.acked = {}, {}, defaultdict(list)
    world.stream, world.tids = {}, {}
    world.guid_ip = {}
    req = {}
    cookies = {}
    pinged = defaultdict(list)
    for t, src, sp, dst, dp, d in pings:
        o = []
        if len(d) != 24:
            out.append("ping size")
            continue
        f, sig, ck = struct.unpack_from("<HHI", d)
        if sig != 0x5548:
            out.append("ping signature")
        if dp == 3527:
            if f & 2:
                out.append("RF in request")
            if src in cookies and ck != cookies[src] + 1:
                out.append("cookie order")
            cookies[src] = ck
            req[(src, sp, ck)] = (t, f, dst)
            pinged[(src, dst)].append([t, d[8:24], f, None, None])
        else:
            r = req.get((dst, dp, ck))
            if not r or r[2] != src:
                out.append("ping response without request")
            else:
                if (f ^ r[1]) & 1:
                    out.append("RC of response")
                pinged[(dst, src)][-1][3:] = [t, f]
                pinged[(dst, src)][-1].append(d[8:24])
    events = []
    for i, c in enumerate(conns):
        if any(c.left.values()):
            out.append("bytes left over")
        if c.port != 1801:
            out.append("port")
        for t, fc, d in c.packets:
            events.append((t, len(events), c, fc, d))
        c.state = 0
        c.n = {x: dict(sent=0, rsent=0, acked=0, racked=0, owed=None, rowed=None) for x in (True, False)}
    events.sort(key=lambda e: (e[0], e[1]))
    for t, _, c, fc, d in events:
        o = []
        try:
            p = decode(d, o)
        except (Bad, struct.error, IndexError) as e:
            out.append("malformed: %s" % e)
            continue
        out += o
        one(world, c, t, fc, p, d, out, pinged)
    return out


def one(W, c, t, fc, p, d, out, pinged):
    A, B = c.n[fc], c.n[not fc]
    if p.kind == "int" and p.pt in (2, 3):
        want = {0: (2, True), 1: (2, False), 2: (3, True), 3: (3, False)}.get(c.state)
        if want != (p.pt, fc):
            out.append("initialization out of order")
            return
        c.state += 1
        if p.pt == 2 and fc:
            c.q = p
            c.tq = t
            if p.cs:
                out.append("CS in request")
            old = W.__dict__.setdefault("ts", {}).get(p.client)
            if old and (p.ts - old[0]) & 0xFFFFFFFF < 1 << 31 and p.ts - old[0] > (t - old[1]) * 1000 + 1000:
                out.append("TimeStamp")
            W.ts[p.client] = (p.ts, t)
            pg = [x for x in pinged[(c.client[0], c.server[0])] if 0 <= t - x[0] < 3]
            if (not pg) != bool(p.os & 0x100):
                out.append("SE")
            if pg:
                x = pg[-1]
                if x[1] != p.client or (x[2] & 1) == (p.os >> 9 & 1):
                    out.append("ping and EstablishConnection differ")
                if x[3] is None or x[4] & 2 or x[3] - x[0] > 1:
                    out.append("ping not answered")
        elif p.pt == 2:
            q = c.q
            c.srv = p.server
            if p.client != q.client or p.ts != q.ts or (p.os ^ q.os) & 0x100 or p.pad != b"\x5A" * 512:
                out.append("EstablishConnection response differs")
            if not p.cs and (p.server == NULL or q.server not in (NULL, p.server)):
                out.append("ServerGuid of response")
            if bool(p.cs) != (q.server not in (NULL, p.server)):
                out.append("refused")
            c.cs = p.cs
            c.g = {True: q.client, False: p.server}
            c.direct = q.server == NULL
        elif fc:
            if c.cs:
                out.append("goes on though refused")
            c.rat = p.rat
            c.cpq = p
            want = max(500, min(120000, 8 * (t - c.tq) * 1000))
            if p.cs or abs(p.rat - want) > 40:
                out.append("RecoverableAckTimeout %d, %d" % (p.rat, want))
        else:
            if p.cs or (p.rat, p.at) != (c.cpq.rat, c.cpq.at):
                out.append("ConnectionParameters response")
        return
    if c.state != 4:
        out.append("packet before the session is open")
        return
    if p.kind == "um":
        A["sent"] += 1
        A["rsent"] += p.DM == 1
    if p.sess:
        if p.win > c.cpq.win:
            out.append("WindowSize")
        if p.um != A["sent"] or p.rm != A["rsent"]:
            out.append("counts sent")
        if p.ack > B["sent"] or p.ack < B["acked"]:
            out.append("AckSequenceNumber")
        if p.kind == "int" and p.ack == B["acked"] and p.win != 1:
            out.append("nothing to acknowledge")
        if p.rack:
            if p.rack != B["racked"] + 1:
                out.append("recoverable acknowledgment")
            hi = p.rack + p.rfl.bit_length() - 1
            if hi > B["rsent"]:
                out.append("recoverable not sent")
            B["racked"] = hi
        B["acked"] = p.ack
        due = [x for x in (B["owed"], B["rowed"]) if x]
        if due and t > min(due) + 0.15:
            out.append("acknowledged late")
        B["owed"] = B["rowed"] = None
    if p.kind != "um":
        return
    if A["owed"] is None:
        A["owed"] = t + c.cpq.at / 2000
    if p.DM == 1 and A["rowed"] is None:
        A["rowed"] = t + c.rat / 1000
    if A["sent"] - A["acked"] > c.cpq.win:
        out.append("window")
    if p.RC == 0 and p.src != c.g[fc]:
        out.append("source and hop count")
    if fc and (p.DQ == 7) != c.direct and p.cls == 0:
        out.append("direct names and ServerGuid")
    if (p.label == "QM Ordering Ack") != (p.cls == 0xFF) and p.cls in (0, 1, 2, 0xFF):
        out.append("label of an OrderAck")
    if p.DM == 1:
        A["rn"] = A.get("rn", 0) + 1
        if A["rn"] - A["racked"] > 33:
            out.append("more than 32 recoverable messages wait")
    lm = W.__dict__.setdefault("lm", {})
    if (p.src, p.mid) not in W.mids:
        if p.mid < lm.get((p.src, p.dqb), 0):
            out.append("identifiers fall")
        lm[(p.src, p.dqb)] = p.mid
    now = int(t)
    if p.ttrq != 0xFFFFFFFF and now - p.sent > p.ttrq or p.sent > now + 1 or p.sent < 10 ** 8:
        out.append("SentTime")
    key = (p.src, p.mid)
    kk = (p.dqb, p.body)
    ack = p.label == "QM Ordering Ack" and p.cls != 0
    if p.RC == 0:
        if W.mids.setdefault(key, kk) != kk:
            out.append("MessageID twice")
    if ack:
        me, you = c.g[fc], c.g[not fc]
        if p.DQ == 3 and p.addr != you:
            out.append("address of an acknowledgment")
        if p.fl or p.ttrq != 0xFFFFFFFF or len(p.body) != 36 or p.bt or p.mp or p.u & ~0x1C00 != (0x200000 | (0 if p.cls == 0xFF else 0x20)):
            out.append("OrderAck or FinalAck fields")
        if p.DQ == 3 and p.dq != 4 or p.DQ == 7 and not ORDERQ.match(p.dq) or p.DQ not in (3, 7) or (p.DQ == 7) != c.direct:
            out.append("order queue")
        if len(p.body) != 36:
            return
        a, b, num, prev = struct.unpack_from("<IIII", p.body)
        st = W.stream.get((you, me))
        if not st or (a, b) not in st.seen:
            out.append("acknowledged sequence unknown")
            return
        if p.cls == 0xFF:
            s = st.seen[(a, b)]
            if prev != num - 1 or p.body[16:] != bytes(20):
                out.append("OrderAck body")
            if num > s.got or num < s.acked:
                out.append("OrderAck number")
            elif num in s.t and t - s.t[num] < 0.5:
                out.append("OrderAck early")
            s.acked = max(num, s.acked)
        else:
            src, mid = p.body[16:32], struct.unpack_from("<I", p.body, 32)[0]
            m = W.msgs.get((src, mid))
            if not m or not m.tx or (m.tx.seq, m.tx.num, m.tx.prev) != ((a, b), num, prev):
                out.append("FinalAck body")
            elif p.cls == 0x4000 and not (m.JP or m.JN or m.tx.FA):
                out.append("FinalAck not wanted")
            if p.cls not in FINAL:
                out.append("FinalAck class")
        return
    if p.tx:
        me, you = c.g[fc], c.g[not fc]
        st = W.stream.setdefault((me, you), P())
        if not hasattr(st, "seen"):
            st.seen, st.cur, st.open = {}, None, None
        x = p.tx
        s = st.seen.get(x.seq)
        if s is None:
            if st.cur and (x.seq != (st.cur[0] + 1, st.cur[1]) or st.seen[st.cur].acked < st.seen[st.cur].hi):
                out.append("next sequence")
            s = st.seen[x.seq] = P()
            s.hi = s.got = s.acked = 0
            s.t, s.mid, s.conn, s.flags = {}, {}, {}, {}
            st.cur = x.seq
        elif x.seq != st.cur:
            out.append("older sequence")
        if s.acked and s.acked == s.hi and x.num > s.hi:
            out.append("sequence continued after all was acknowledged")
        if x.num in s.mid:
            if s.flags[x.num] != (x.FM, x.LM, x.id):
                out.append("flags of a message sent again")
            if s.mid[x.num] != key:
                out.append("transactional number twice")
            if t - s.t[x.num] < 30 and c is s.conn[x.num]:
                out.append("sent again too early")
        else:
            if x.num != s.hi + 1 or x.prev != x.num - 1:
                out.append("transactional number")
            if x.FM != (st.open is None) or st.open not in (None, x.id):
                out.append("FM or ID")
            if x.FM and W.tids.setdefault((p.src, x.id), x.seq + (x.num,)) != x.seq + (x.num,):
                out.append("transaction identifier twice")
            st.open = None if x.LM else x.id
        if x.num > s.got and x.prev <= s.got:
            s.got = x.num
        s.hi = max(s.hi, x.num)
        s.mid[x.num] = key
        s.t[x.num] = t
        s.flags.setdefault(x.num, (x.FM, x.LM, x.id))
        s.conn[x.num] = c
    if p.cls == 1:
        b = p.body.decode("utf-16-le")
        m = BODY.match(b)
        if not LABEL.match(p.label) or not m or p.DM or p.DQ != 5:
            out.append("report")
        elif p.label[5:13] != m.group(1) or m.group(3) and m.group(3) != p.label[14:16]:
            out.append("report texts differ")
        elif not FORMAT.match(b[b.index("<TARGET QUEUE>") + 14:b.index("</TARGET")]) and "DIRECT=" not in b:
            out.append("report target queue")
        else:
            o = [x for x in W.msgs.values() if "%08X" % x.mid == m.group(1)]
            if not o or not o[0].fl & 0x100 or o[0].dbg != p.dq or str(uuid.UUID(bytes_le=o[0].src)).upper() not in p.label:
                out.append("report of what")
    elif p.cls not in (0, 0xFF):
        m = W.msgs.get((p.corr[:16], struct.unpack_from("<I", p.corr, 16)[0]))
        if not m:
            out.append("correlation")
        else:
            need = {2: 1, 0x4000: 2}.get(p.cls, 4 if p.cls < 0xC000 else 8)
            if not m.mp & need:
                out.append("acknowledgment not asked for")
            if p.DM != m.DM or p.ttrq != 0xFFFFFFFF or p.ttbr != 0xFFFFFFFF or p.mp or p.JN or p.JP or p.priv or p.sec:
                out.append("acknowledgment fields")
            if p.cls >= 0x8000 and p.body != (b"" if m.sec and m.sec.EB else m.body):
                out.append("acknowledgment body")
            if {2: 3, 5: 5, 6: 3, 7: 7}.get(m.AQ) != p.DQ or p.dqb != (m.aqb[-4:] if m.AQ == 6 else m.aqb):
                out.append("acknowledgment destination")
            if m.AQ == 2 and p.addr != m.src:
                out.append("acknowledgment address")
            if {3: 2, 5: 5, 7: 7}.get(m.DQ) != p.RQ or p.rqb != m.dqb:
                out.append("acknowledgment response queue")
            if p.cls == 0x8009 and not m.tx or p.cls == 0x800A and m.tx:
                out.append("acknowledgment of the other kind")
    W.msgs[key] = p


def main():
    bad = 0
    for f in sys.argv[1:]:
        r = check(f)
        if r:
            bad += 1
            print(os.path.basename(f), len(r), "; ".join(sorted(set(r)))[:300])
    print(len(sys.argv) - 1, "captures,", bad, "with findings")


if __name__ == "__main__":
    main()
