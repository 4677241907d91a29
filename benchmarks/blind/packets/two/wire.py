"""Encoder of MSMQ binary packets and a pcap writer, written from MS-MQMQ 2.2.18-2.2.20, MS-MQQB 2 and MS-MQRR 2.2.5."""
import struct, random, hashlib, os
from types import SimpleNamespace as NS
HERE = os.path.dirname(os.path.abspath(__file__))
NULLG = b'\0' * 16
INF = 0xFFFFFFFF
CERT = open(HERE + '/cert.der', 'rb').read()
exec(open(HERE + '/rsakey.py').read())
P = struct.pack
def w(s): return s.encode('utf-16-le')
def wz(s): return w(s) + b'\0\0'
class Rng(random.Random):
    def guid(self):
        b = bytearray(self.randbytes(16)); b[7] = (b[7] & 0x0f) | 0x40; b[8] = (b[8] & 0x3f) | 0x80; return bytes(b)
    def pad(self, n): return self.randbytes(n)
def up4(b, rng=None):
    n = -len(b) % 4
    return b + (rng.randbytes(n) if rng else b'\0' * n)
# ---- headers
def base(flags, size, ttrq=INF, ver=0x10, res=0, sig=0x524F494C):
    return P('<BBHIII', ver, res, flags & 0xffff, sig, size & 0xffffffff, ttrq)
def internal(pt, cs=0, res=0, x=0): return P('<HH', res, (pt & 15) | cs << 4 | x)
def sesshdr(ack=0, rack=0, rflags=0, useq=0, rseq=0, win=64, res=0):
    return P('<HHIHHHH', ack & 0xffff, rack & 0xffff, rflags & 0xffffffff, useq & 0xffff, rseq & 0xffff, win, res)
def qname(q, off, rng=None):
    """q: None, ('id',n), ('pub',guid), ('full',guid,n), ('direct',text[,opts]); off: offset in UserHeader"""
    if q is None: return b''
    k = q[0]
    if k == 'id': return P('<I', q[1])
    if k == 'pub': return q[1]
    if k == 'full': return q[1] + P('<I', q[2])
    if k == 'raw': return q[1]
    if k == 'direct':
        o = q[2] if len(q) > 2 else {}
        t = w(q[1]) + (b'' if o.get('nonul') else b'\0\0')
        c = o.get('count', len(t) + o.get('dcount', 0))
        b = P('<H', c) + t
        n = 0 if o.get('nopad') else -(off + len(b)) % 4
        n += o.get('extrapad', 0)
        return b + (rng.randbytes(n) if rng else b'\0' * n)
DQK = {None: 0, 'id': 3, 'pub': 5, 'direct': 7}
def userheader(m):
    dq = m.dq if m.dq is not None else DQK[m.dest[0] if m.dest else None]
    fl = (m.rc & 31) | m.dm << 5 | m.jn << 8 | m.jp << 9 | dq << 10 | m.aq << 13 | m.rq << 16
    fl |= m.f_sh << 19 | m.f_th << 20 | m.f_mp << 21 | m.f_cq << 22 | m.f_mq << 23 | m.ah << 25 | m.f_hh << 28 | m.ux
    b = m.src + m.qma + P('<IIII', m.ttbr, m.sent, m.mid, fl & 0xffffffff)
    for q in (m.dest, m.admin, m.resp): b += qname(q, len(b), m.prng)
    if m.connector is not None: b += m.connector
    return b
def txhdr(t):
    fl = t.get('cg', 1 if t.get('conn') else 0) | t.get('fa', 0) << 1 | t.get('fm', 1) << 2 | t.get('lm', 1) << 3 | (t.get('id', 1) & 0xfffff) << 4 | t.get('x', 0)
    return P('<IIIII', fl & 0xffffffff, t['ord'], t['ts'], t['num'], t['prev']) + (t.get('conn') or b'')
def sid(rng): return b'\x01\x05\0\0\0\0\0\x05' + P('<IIIII', 21, rng.getrandbits(32), rng.getrandbits(32), rng.getrandbits(32), rng.randint(1000, 9999))
def simpleblob(alg, rng): return b'\x01\x02\0\0' + P('<I', alg) + b'\0\xa4\0\0' + rng.randbytes(256)
def provinfo(t, name): return P('<I', t) + wz(name)
CSP = {1: 'Microsoft Base Cryptographic Provider v1.0', 3: 'Microsoft Enhanced Cryptographic Provider v1.0', 5: 'Microsoft Enhanced RSA and AES Cryptographic Provider'}
CSPT = {1: 1, 3: 1, 5: 24}
def sechdr(s, rng=None):
    items = [s.get('sid', b''), s.get('key', b''), s.get('sig', b''), s.get('cert', b''), s.get('prov', b'')]
    sz = s.get('sizes', {}); n = [sz.get(i, len(x)) for i, x in enumerate(items)]
    fl = s.get('st', 0) | s.get('au', 0) << 4 | s.get('eb', 0) << 5 | s.get('de', 1) << 6 | s.get('ai', 1) << 7 | s.get('as_', 0) << 8 | s.get('x', 0)
    order = s.get('order', range(5)); b = b''
    for i in order: b += items[i] if s.get('noalign') else up4(items[i], rng)
    return P('<HHHHII', fl, n[0] & 0xffff, n[1] & 0xffff, n[2] & 0xffff, n[3] & 0xffffffff, n[4] & 0xffffffff) + b
HASH = {0x8003: 'md5', 0x8004: 'sha1', 0x800C: 'sha256', 0x800E: 'sha512'}
DI = {0x8003: bytes.fromhex('3020300c06082a864886f70d020505000410'), 0x8004: bytes.fromhex('3021300906052b0e03021a05000414'),
      0x800C: bytes.fromhex('3031300d060960864801650304020105000420'), 0x800E: bytes.fromhex('3051300d060960864801650304020305000440')}
def rsasign(alg, data):
    h = DI[alg] + hashlib.new(HASH[alg], data).digest(); k = 128
    e = b'\0\1' + b'\xff' * (k - 3 - len(h)) + b'\0' + h
    return pow(int.from_bytes(e, 'big'), D, N).to_bytes(k, 'little')
def mph(m):
    lab = m.label_raw if m.label_raw is not None else (wz(m.label) if m.label else b'')
    n = m.label_len if m.label_len is not None else len(lab) // 2
    msz = m.msize if m.msize is not None else len(m.body)
    alloc = m.alloc if m.alloc is not None else len(m.body)
    xsz = m.xsize if m.xsize is not None else len(m.ext)
    b = P('<BBH', m.pflags, n, m.cls) + m.corr + P('<IIIIIIII', m.btype, m.tag, msz & INF, alloc & INF, m.privacy, m.hash, m.enc, xsz & INF)
    b += lab + m.ext + m.body
    return b if m.mph_nopad else up4(b, m.prng)
def dbg(d):
    return P('<HH', d.get('qt', 1) | d.get('x', 0), d.get('res', 0)) + (d['q'] if d.get('q') else b'')
def soap(s):
    h = s.get('h', ''); bd = s.get('b', '')
    hr = s.get('hraw', wz(h)); br = s.get('braw', wz(bd))
    return P('<HHI', s.get('hid', 0x320), s.get('r', 0), s.get('hlen', len(hr) // 2) & INF) + hr + P('<HHI', s.get('bid', 0x384), s.get('r1', 0), s.get('blen', len(br) // 2) & INF) + br
def mqelems(els, rng=None, start=12):
    b = b''
    for e in els:
        ty = {'pub': 1, 'full': 2, 'direct': 3, 'dl': 6}.get(e[0], e[1] if e[0] == 'raw' else 0)
        b += P('<H', ty)
        def al(k):
            n = -(start + len(b)) % k; return rng.randbytes(n) if rng else b'\0' * n
        if e[0] == 'pub': b += e[1]        # used only where FormatType ends on a multiple of 4
        elif e[0] == 'full': b += al(4) + e[1] + P('<I', e[2])
        elif e[0] == 'direct': b += wz(e[1])
        elif e[0] == 'dl': b += al(4) + e[1]
        elif e[0] == 'raw': b += e[2]
    return b
def mqaddr(hid, els, o=None, rng=None):
    o = o or {}; l = mqelems(els, rng)
    if 'raw' in o: l = o['raw']
    tot = 12 + len(l)
    return P('<IHHI', (o.get('size', tot + o.get('dsize', 0))) & INF, o.get('id', hid), o.get('res', 0), o.get('count', len(els)) & INF) + up4(l, rng)
def mqf(q, rng=None):
    b = b''
    for i, (hid, k) in enumerate(((0x64, 'd'), (0xC8, 'a'), (0x12C, 'r'))):
        if k in q.get('drop', ''): continue
        b += mqaddr(hid, q.get(k, []), q.get(k + 'o'), rng)
    if 's' in q.get('drop', ''): return b
    s = q.get('sig', b'')
    return b + P('<HHI', q.get('sid', 0x15E), q.get('sres', 0), q.get('ssize', len(s)) & INF) + s
ORDER = ['user', 'tx', 'sec', 'mph', 'dbg', 'soap', 'mqf']
def new(**k):
    m = NS(ver=0x10, bres=0, pr=3, in_=0, tr=0, bx=0, bsig=0x524F494C, size=None, dsize=0, ttrq=INF, f_bsh=None, f_dh=None,
        src=NULLG, qma=NULLG, ttbr=INF, sent=0, mid=0, rc=0, dm=0, jn=0, jp=0, dq=None, dest=None, aq=0, admin=None, rq=0, resp=None,
        f_sh=None, f_th=None, f_mp=1, f_cq=None, f_mq=None, f_hh=None, ah=0, ux=0, connector=None, tx=None, sec=None, debug=None, soap=None, mq=None, sess=None,
        pflags=0, label='', label_raw=None, label_len=None, cls=0, corr=b'\0' * 20, btype=0, tag=0, body=b'', msize=None, alloc=None, privacy=0, hash=0x8004, enc=0x6801,
        ext=b'', xsize=None, mph_nopad=False, prng=None, part={}, order=ORDER, post=None, nomph=False, size_with_sess=False, tail=b'')
    for a, b in k.items():
        assert hasattr(m, a), a
        setattr(m, a, b)
    return m
def build(m):
    for f, v in (('f_sh', m.sec), ('f_th', m.tx), ('f_cq', m.connector), ('f_mq', m.mq), ('f_hh', m.soap), ('f_dh', m.debug), ('f_bsh', m.sess)):
        if getattr(m, f) is None: setattr(m, f, 0 if v is None else 1)
    parts = {'user': userheader(m)}
    if m.tx is not None: parts['tx'] = txhdr(m.tx)
    if m.sec is not None: parts['sec'] = sechdr(m.sec, m.prng)
    if not m.nomph: parts['mph'] = mph(m)
    if m.debug is not None: parts['dbg'] = dbg(m.debug)
    if m.soap is not None: parts['soap'] = soap(m.soap)
    if m.mq is not None: parts['mqf'] = mqf(m.mq, m.prng)
    for k, f in m.part.items(): parts[k] = f(parts.get(k, b''))
    body = b''.join(parts[k] for k in m.order if k in parts) + m.tail
    sh = sesshdr(**m.sess) if isinstance(m.sess, dict) else (m.sess or b'')
    size = (m.size if m.size is not None else 16 + len(body) + (len(sh) if m.size_with_sess else 0) + m.dsize)
    fl = (m.pr & 7) | m.in_ << 3 | m.f_bsh << 4 | m.f_dh << 5 | m.tr << 8 | m.bx
    b = base(fl, size, m.ttrq, m.ver, m.bres, m.bsig) + body + sh
    return m.post(b) if m.post else b
# ---- internal packets
def ec(o): 
    g = o.get
    b = internal(g('pt', 2), g('cs', 0), g('ires', 0), g('ix', 0)) + g('client', NULLG) + g('server', NULLG) + P('<IHH', g('ts', 0) & INF, g('re', 0x10) | g('se', 1) << 8 | g('os', 1) << 9 | g('qs', 0) << 10 | g('ox', 0), g('res', 0)) + g('pad', b'\x5a' * 512)
    return base(g('bflags', 0x0b), g('size', 16 + len(b)), g('ttrq', INF), g('ver', 0x10), g('bres', 0), g('bsig', 0x524F494C)) + b
def cp(o):
    g = o.get
    b = internal(g('pt', 3), g('cs', 0), g('ires', 0), g('ix', 0)) + P('<IIHH', g('rat', 500), g('at', 20000), g('res', 0), g('win', 64)) + g('tail', b'')
    return base(g('bflags', 0x0b), g('size', 16 + len(b)), g('ttrq', INF), g('ver', 0x10), g('bres', 0), g('bsig', 0x524F494C)) + b
def sack(o, sh):
    g = o.get
    b = internal(g('pt', 1), g('cs', 0), g('ires', 0), g('ix', 0)) + g('raw', sesshdr(**sh))
    # the size of a SessionAck in MS-MQQB 4.1.8 is 36: it counts its SessionHeader
    return base(g('bflags', 0x1b), g('size', 16 + len(b)), g('ttrq', INF), g('ver', 0x10), g('bres', 0), g('bsig', 0x524F494C)) + b
def ping(flags, cookie, qm, sig=0x5548): return P('<HHI', flags, sig, cookie & INF) + qm
# ---- network
def csum(b):
    if len(b) & 1: b += b'\0'
    s = sum(struct.unpack('!%dH' % (len(b) // 2), b))
    while s >> 16: s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff
def ipb(s): return bytes(int(x) for x in s.split('.'))
class Cap:
    def __init__(self): self.p = []; self.ipid = 100; self.n = 0
    def frame(self, t, src, dst, proto, seg):
        self.ipid = (self.ipid + 1) & 0xffff
        h = P('!BBHHHBBH', 0x45, 0, 20 + len(seg), self.ipid, 0x4000, 128, proto, 0) + ipb(src.ip) + ipb(dst.ip)
        h = h[:10] + P('!H', csum(h)) + h[12:]
        self.p.append((t, self.n, dst.mac + src.mac + b'\x08\0' + h + seg)); self.n += 1
    def udp(self, t, src, dst, sp, dp, data):
        seg = P('!HHHH', sp, dp, 8 + len(data), 0) + data
        c = csum(ipb(src.ip) + ipb(dst.ip) + P('!BBH', 0, 17, len(seg)) + seg) or 0xffff
        self.frame(t, src, dst, 17, seg[:6] + P('!H', c) + seg[8:])
    def write(self, path):
        with open(path, 'wb') as f:
            f.write(P('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
            for t, n, b in sorted(self.p, key=lambda x: (x[0], x[1])):
                f.write(P('<IIII', t // 1000000, t % 1000000, len(b), len(b)) + b)
class Tcp:
    """t in microseconds"""
    def __init__(self, cap, c, s, cport, t, rng, rtt=2000, port=1801):
        self.cap = cap; self.h = [c, s]; self.po = [cport, port]; self.seq = [rng.getrandbits(31), rng.getrandbits(31)]; self.rtt = rtt; self.half = rtt // 2
        self.seg(t, 0, 2); self.seq[0] += 1
        self.seg(t + self.half, 1, 0x12); self.seq[1] += 1
        self.seg(t + rtt, 0, 0x10); self.open = t + rtt
    def seg(self, t, d, fl, data=b''):
        a, b = self.h[d], self.h[1 - d]
        ack = self.seq[1 - d] if fl & 0x10 else 0
        opt = b'\x02\x04\x05\xb4' if fl & 2 else b''
        g = P('!HHIIBBHHH', self.po[d], self.po[1 - d], self.seq[d] & INF, ack & INF, (5 + len(opt) // 4) << 4, fl, 64240, 0, 0) + opt + data
        c = csum(ipb(a.ip) + ipb(b.ip) + P('!BBH', 0, 6, len(g)) + g)
        self.cap.frame(t, a, b, 6, g[:16] + P('!H', c) + g[18:])
    def send(self, t, d, data, mss=1460, gap=40):
        i = 0; tt = t
        while i < len(data):
            c = data[i:i + mss]; last = i + mss >= len(data)
            self.seg(tt, d, 0x18 if last else 0x10, c); self.seq[d] += len(c); i += mss
            tt += gap
        self.seg(tt + 30, 1 - d, 0x10)
        return tt + 30
    def fin(self, t, d):
        self.seg(t, d, 0x11); self.seq[d] += 1
        self.seg(t + 100, 1 - d, 0x11); self.seq[1 - d] += 1
        self.seg(t + 200, d, 0x10)
class QM:
    def __init__(self, rng, ip, name):
        self.guid = rng.guid(); self.ip = ip; self.name = name; self.mac = b'\0\x15\x5d' + rng.randbytes(3)
        self.mid = rng.randint(100, 100000); self.boot = rng.randint(1000000, 400000000); self.cookie = rng.randint(0, 50)
        self.txts = 0; self.txord = 1; self.txid = rng.randint(1, 1000)
class Sess:
    """one protocol session; side 0 initiator, 1 acceptor; self.t microseconds"""
    def __init__(self, cap, a, b, rng, t, direct=False, cport=None, rtt=4000):
        self.cap = cap; self.q = [a, b]; self.rng = rng; self.t = t; self.direct = direct; self.rtt = rtt
        self.cport = cport or rng.randint(49152, 65000); self.tcp = None
        self.sent = [0, 0]; self.rsent = [0, 0]; self.lastack = [0, 0]; self.unack = [0, 0]; self.win = [64, 64]; self.rat = 500; self.at = 20000; self.os = 1; self.pinged = False; self.log = []
    def connect(self): self.tcp = Tcp(self.cap, self.q[0], self.q[1], self.cport, self.t, self.rng, self.rtt if self.rtt < 50000 else 4000); self.t = self.tcp.open + 300
    def raw(self, d, b, dt=2000, **k):
        self.log.append((self.t, d, len(b)))
        if getattr(self, 'coal', 0): self.hold = getattr(self, 'hold', b'') + b; self.coal = 0; return
        b = getattr(self, 'hold', b'') + b; self.hold = b''
        e = self.tcp.send(self.t, d, b, **k); self.t = max(self.t + dt, e + 200)
    def ping(self, req={}, resp={}, dt=1500, noresp=False, sport=None):
        a, b = self.q; a.cookie += 1; sp = sport or self.rng.randint(3000, 60000)
        x = self.rng.getrandbits(14) << 2; rc = 0 if self.os else 1
        fl = req.get('flags', x | rc | req.get('rf', 0) << 1)
        self.cap.udp(self.t, a, b, sp, 3527, req.get('data', ping(fl, req.get('cookie', a.cookie), req.get('qm', a.guid), req.get('sig', 0x5548))))
        self.t += dt; x = self.rng.getrandbits(14) << 2; rc2 = resp.get('rc', fl & 1)
        if not noresp:
            self.cap.udp(self.t, resp.get('frm', b), resp.get('to', a), 3527, resp.get('port', sp), resp.get('data', ping(x | rc2 | resp.get('rf', 0) << 1, resp.get('cookie', req.get('cookie', a.cookie)), resp.get('qm', b.guid), resp.get('sig', 0x5548))))
        self.pinged = True; self.t += 1500
    def ecreq(self, **o):
        a, b = self.q
        d = dict(client=a.guid, server=NULLG if self.direct else b.guid, ts=a.boot + self.t // 1000 % 100000000, se=0 if self.pinged else 1, os=self.os, pad=self.rng.randbytes(512) if self.rng.random() < .3 else b'\x5a' * 512, bres=self.rng.getrandbits(8)); d.update(o); self._ec = d
        return ec(d)
    def ecres(self, **o):
        d = {k: self._ec[k] for k in ('client', 'ts', 'se', 'os', 'qs') if k in self._ec}; d.update(server=self.q[1].guid, pad=b'\x5a' * 512, bres=0x5a); d.update(o); return ec(d)
    def cpreq(self, **o):
        d = dict(rat=self.rat, at=self.at, win=self.win[0], bres=0xc0); d.update(o); self._cp = d; return cp(d)
    def cpres(self, **o):
        d = {k: self._cp[k] for k in ('rat', 'at')}; d.update(win=self.win[1], bres=0xc0); d.update(o); return cp(d)
    def hello(self, ecq={}, ecr={}, cpq={}, cpr={}, upto=4):
        if not self.tcp: self.connect()
        fs = [(0, self.ecreq, ecq), (1, self.ecres, ecr), (0, self.cpreq, cpq), (1, self.cpres, cpr)]
        for i, (d, f, o) in enumerate(fs[:upto]): self.raw(d, f(**o), dt=self.rtt)
        return self
    def sh(self, d, extra=0, **o):
        r = self.rsent[1 - d]; n = r - self.lastack[d]
        h = dict(ack=self.sent[1 - d], rack=self.lastack[d] + 1 if n else 0, rflags=(1 << min(n, 32)) - 1, useq=self.sent[d], rseq=self.rsent[d], win=self.win[d], res=self.rng.getrandbits(16) if self.rng.random() < .3 else 0)
        h.update(o); return h
    def ack(self, d, over={}, dt=2000, **o):
        h = self.sh(d, **o); self.lastack[d] = self.rsent[1 - d]; self.unack[1 - d] = 0
        self.raw(d, sack(dict({'bres': self.rng.getrandbits(8)}, **over), h), dt)
    def msg(self, d=0, **k):
        a, b = self.q[d], self.q[1 - d]; a.mid += 1
        dft = dict(src=a.guid, sent=self.t // 1000000, mid=a.mid, bres=self.rng.getrandbits(8), prng=self.rng)
        if self.direct: dft.update(qma=NULLG, dest=('direct', 'OS:%s\\private$\\orders' % b.name))
        else: dft.update(qma=b.guid, dest=('id', 11))
        dft.update(k)
        if dft.get('tx') is not None: dft['pr'] = k.get('pr', 0); dft['dm'] = k.get('dm', 1)
        return new(**dft)
    def send(self, m, d=0, sess=None, dt=2000, **k):
        self.sent[d] += 1
        if m.dm == 1: self.rsent[d] += 1
        self.unack[d] += 1
        if sess is not None:
            m.sess = self.sh(d, **sess); self.lastack[d] = self.rsent[1 - d]; self.unack[1 - d] = 0
        m._t = self.t
        self.raw(d, build(m), dt, **k); return m
    def um(self, d=0, sess=None, dt=2000, mss=1460, **k): return self.send(self.msg(d, **k), d, sess, dt, mss=mss)
    def close(self, d=1, dt=15000):
        self.t += dt; self.tcp.fin(self.t, d); self.t += 1000
    def wait(self, s): self.t += int(s * 1e6)
    # transactional
    def tx(self, d=0, num=1, prev=None, fm=1, lm=1, id=None, **k):
        a = self.q[d]
        if not a.txts: a.txts = self.t // 1000000 - self.rng.randint(100000, 9000000)
        return dict(ord=a.txord, ts=a.txts, num=num, prev=num - 1 if prev is None else prev, fm=fm, lm=lm, id=a.txid if id is None else id, **k)
    def oq(self, d):
        "destination fields of an order or final ack sent by side d"
        o = self.q[1 - d]
        if self.direct: return dict(qma=NULLG, dest=('direct', 'TCP:%s\\PRIVATE$\\order_queue$' % o.ip))
        return dict(qma=o.guid, dest=('id', 4))
    def oack(self, d, num, ord=None, ts=None, prev=None, res=b'\0' * 20, body=None, dt=2000, **k):
        o = self.q[1 - d]
        bd = P('<IIII', o.txord if ord is None else ord, o.txts if ts is None else ts, num & INF, (num - 1 if prev is None else prev) & INF) + res
        f = dict(pr=0, label='QM Ordering Ack', cls=0xff, btype=0, body=bd if body is None else body); f.update(self.oq(d)); f.update(k)
        return self.send(self.msg(d, **f), d, dt=dt)
    def fack(self, d, m, cls=0x4000, dt=2000, b={}, body=None, **k):
        t = m.tx
        bd = P('<IIII', b.get('ord', t['ord']), b.get('ts', t['ts']), b.get('num', t['num']) & INF, b.get('prev', t['prev']) & INF) + b.get('src', m.src) + P('<I', b.get('mid', m.mid))
        f = dict(pr=0, dm=1, label='QM Ordering Ack', cls=cls, btype=0, body=bd if body is None else body); f.update(self.oq(d)); f.update(k)
        return self.send(self.msg(d, **f), d, dt=dt)
    def aack(self, d, m, cls=2, dt=2000, **k):
        "administration acknowledgment by side d for message m"
        f = dict(cls=cls, corr=m.src + P('<I', m.mid), dm=m.dm)
        f['qma'] = self.q[1 - d].guid
        if m.admin[0] == 'id': f['dest'] = ('id', m.admin[1])
        else: f['dest'] = m.admin
        if m.dest[0] == 'id': f.update(rq=2, resp=m.dest)
        elif m.dest[0] == 'pub': f.update(rq=5, resp=m.dest)
        if cls not in (2, 0x4000) and not m.privacy: f['body'] = m.body; f['btype'] = m.btype
        f.update(k)
        return self.send(self.msg(d, **f), d, dt=dt)
