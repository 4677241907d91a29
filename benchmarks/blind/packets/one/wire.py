"""Encoder of MSMQ packets and pcap writer, from the documents alone."""
import struct, random, os

def pad4(n): return (-n) % 4
def wz(s): return s.encode('utf-16-le') + b'\0\0'
NULLG = bytes(16)

class W:
    def __init__(self): self.b = bytearray(); self.off = {}
    def put(self, name, fmt, v):
        self.off[name] = (len(self.b), fmt); self.b += struct.pack('<'+fmt, v)
    def raw(self, name, data):
        self.off[name] = (len(self.b), '%ds' % len(data)); self.b += data
    def mark(self, name): self.off[name] = (len(self.b), '0s')
    def patch(self, name, v):
        o, f = self.off[name]; struct.pack_into('<'+f, self.b, o, v)
    def get(self, name):
        o, f = self.off[name]; return struct.unpack_from('<'+f, self.b, o)[0]

def base(w, flags, size=0, ttrq=0xFFFFFFFF, ver=0x10, reserved=0, sig=0x524F494C):
    w.put('BH.ver', 'B', ver); w.put('BH.reserved', 'B', reserved); w.put('BH.flags', 'H', flags)
    w.put('BH.sig', 'I', sig); w.put('BH.size', 'I', size); w.put('BH.ttrq', 'I', ttrq)

def internal(w, pt, cs=0, reserved=0, extra=0):
    w.put('IH.reserved', 'H', reserved); w.put('IH.flags', 'H', (pt & 15) | (cs << 4) | extra)

def session_header(w, d):
    w.put('SE.ack', 'H', d['ack']); w.put('SE.rack', 'H', d['rack']); w.put('SE.rflags', 'I', d['rflags'])
    w.put('SE.sent', 'H', d['sent']); w.put('SE.rsent', 'H', d['rsent']); w.put('SE.window', 'H', d.get('window', 64))
    w.put('SE.reserved', 'H', d.get('reserved', 0))

def establish(cg, sg, ts, os_=0x0310, padding=b'\x5a'*512, cs=0, flags=0x0B, reserved=0, breserved=0):
    w = W(); base(w, flags, 572, reserved=breserved); internal(w, 2, cs)
    w.raw('EC.client', cg); w.raw('EC.server', sg); w.put('EC.ts', 'I', ts); w.put('EC.os', 'H', os_)
    w.put('EC.reserved', 'H', reserved); w.raw('EC.padding', padding); return w

def connparams(rto, ato, window=64, cs=0, flags=0x0B, reserved=0, breserved=0):
    w = W(); base(w, flags, 32, reserved=breserved); internal(w, 3, cs)
    w.put('CP.rto', 'I', rto); w.put('CP.ato', 'I', ato); w.put('CP.reserved', 'H', reserved); w.put('CP.window', 'H', window)
    return w

def sessionack(d, flags=0x1B, breserved=0):
    w = W(); base(w, flags, 36, reserved=breserved); internal(w, 1); session_header(w, d); return w

def ping(flags, cookie, guid, sig=0x5548): return struct.pack('<HHI', flags, sig, cookie) + guid

# ---- queue names of UserHeader: (type, value)
def qname(w, name, q, start, opt):
    t = q[0]
    if t in (0, 1) or q[1] is None: w.mark(name); return
    kind = q[2] if len(q) > 2 else {2: 'id', 3: 'id', 4: 'id', 5: 'guid', 6: 'priv', 7: 'direct'}[t]
    if kind == 'id': w.put(name, 'I', q[1])
    elif kind == 'guid': w.raw(name, q[1])
    elif kind == 'priv': w.raw(name+'.guid', q[1][0]); w.put(name+'.id', 'I', q[1][1])
    elif kind == 'direct':
        s = q[1] if isinstance(q[1], bytes) else wz(q[1])
        w.put(name+'.count', 'H', opt.get(name+'.count', len(s))); w.raw(name+'.name', s)
        n = pad4(len(w.b)-start)
        w.raw(name+'.pad', opt.get('padbytes', lambda n: bytes(n))(n))
    elif kind == 'raw': w.raw(name, q[1])

def sid(subs=(21, 3180022445, 1039849014, 3668353891, 1000), auth=5):
    return struct.pack('<BB', 1, len(subs)) + auth.to_bytes(6, 'big') + b''.join(struct.pack('<I', x) for x in subs)

def simpleblob(alg, rnd): return struct.pack('<BBHI', 1, 2, 0, alg) + b'\0\xa4\0\0' + rnd.randbytes(256)

def provider(ptype, name): return struct.pack('<I', ptype) + wz(name)

def address_header(w, p, hid, elems, opt):
    start = len(w.b)
    w.put(p+'.size', 'I', 0); w.put(p+'.id', 'H', hid); w.put(p+'.reserved', 'H', 0); w.put(p+'.count', 'I', len(elems))
    pb = opt.get('padbytes', lambda n: bytes(n))
    for i, (t, v) in enumerate(elems):
        w.put('%s.%d.type' % (p, i), 'H', t)
        if t in (1, 2, 6) or not isinstance(v, (str, bytes)):
            w.raw('%s.%d.pad' % (p, i), pb(pad4(len(w.b)-start)))
        if t == 2: w.raw('%s.%d.guid' % (p, i), v[0]); w.put('%s.%d.qid' % (p, i), 'I', v[1])
        elif isinstance(v, str): w.raw('%s.%d.name' % (p, i), wz(v))
        else: w.raw('%s.%d.name' % (p, i), v)
    w.raw(p+'.endpad', pb(pad4(len(w.b)-start)))
    w.patch(p+'.size', len(w.b)-start)

def usermsg(m):
    """m: dict of everything; returns W with offsets. Structural overrides: order, drop."""
    w = W(); o = m
    uf = m.get('rc', 0) | (m.get('dm', 0) << 5) | (m.get('jn', 0) << 8) | (m.get('jp', 0) << 9) | (m['dq'][0] << 10)
    aq = m.get('aq', (0, None)); rq = m.get('rq', (0, None))
    uf |= (aq[0] << 13) | (rq[0] << 16) | (1 << 21)
    if m.get('sec'): uf |= 1 << 19
    if m.get('th'): uf |= 1 << 20
    if m.get('cq'): uf |= 1 << 22
    if m.get('mqf'): uf |= 1 << 23
    if m.get('ah'): uf |= 1 << 25
    if m.get('soap'): uf |= 1 << 28
    bf = m.get('prio', 3) | (0x10 if m.get('sess') else 0) | (0x20 if m.get('dh') else 0) | (0x100 if m.get('tr') else 0)
    base(w, bf, 0, m.get('ttrq', 345600), reserved=m.get('breserved', 0))
    def user():
        st = len(w.b)
        w.raw('UH.src', m['src']); w.raw('UH.addr', m['addr']); w.put('UH.ttbr', 'I', m.get('ttbr', 0xFFFFFFFF))
        w.put('UH.sent', 'I', m['sent']); w.put('UH.mid', 'I', m['mid']); w.put('UH.flags', 'I', uf)
        qname(w, 'UH.dq', m['dq'], st, m); qname(w, 'UH.aq', aq, st, m); qname(w, 'UH.rq', rq, st, m)
        if m.get('cq'): w.raw('UH.cq', m['cq'])
    def trans():
        t = m.get('th')
        if not t: return
        f = (1 if t.get('cg') else 0) | (t.get('fa', 0) << 1) | (t.get('fm', 0) << 2) | (t.get('lm', 0) << 3) | (t.get('id', 1) << 4)
        w.put('TH.flags', 'I', f); w.put('TH.ord', 'I', t['seq'][0]); w.put('TH.stamp', 'I', t['seq'][1])
        w.put('TH.num', 'I', t['num']); w.put('TH.prev', 'I', t['prev'])
        if t.get('cg'): w.raw('TH.cg', t['cg'])
    def sec():
        s = m.get('sec')
        if not s: return
        items = [s.get('sid', b''), s.get('key', b''), s.get('sign', b''), s.get('cert', b''), s.get('prov', b'')]
        f = s.get('st', 1) | (s.get('eb', 0) << 5) | (s.get('de', 1) << 6) | (s.get('ai', 1) << 7)
        w.put('SH.flags', 'H', f); w.put('SH.sidsize', 'H', len(items[0])); w.put('SH.keysize', 'H', len(items[1]))
        w.put('SH.signsize', 'H', len(items[2])); w.put('SH.certsize', 'I', len(items[3])); w.put('SH.provsize', 'I', len(items[4]))
        order = s.get('order', range(5)); names = ['sid', 'key', 'sign', 'cert', 'prov']
        for i in order:
            w.raw('SH.'+names[i], items[i])
            if not s.get('nopad'): w.raw('SH.'+names[i]+'.pad', m.get('padbytes', lambda n: bytes(n))(pad4(len(items[i]))))
        if s.get('nopad'): w.raw('SH.endpad', bytes(pad4(sum(map(len, items)))))
    def mph():
        label = m.get('label', b'')
        if isinstance(label, str): label = wz(label) if label else b''
        body = m.get('body', b''); ext = m.get('ext', b'')
        w.put('MP.flags', 'B', m.get('mflags', 0)); w.put('MP.lablen', 'B', m.get('lablen', len(label)//2 & 255)); w.put('MP.class', 'H', m.get('cls', 0))
        w.raw('MP.corr', m.get('corr', bytes(20))); w.put('MP.bodytype', 'I', m.get('bodytype', 0)); w.put('MP.tag', 'I', m.get('tag', 0))
        w.put('MP.msize', 'I', len(body)); w.put('MP.asize', 'I', m.get('asize', len(body))); w.put('MP.priv', 'I', m.get('priv', 0))
        w.put('MP.hash', 'I', m.get('hash', 0x8004)); w.put('MP.enc', 'I', m.get('enc', 0x6801)); w.put('MP.extsize', 'I', len(ext))
        w.raw('MP.label', label); w.raw('MP.ext', ext); w.raw('MP.body', body)
        w.raw('MP.pad', m.get('padbytes', lambda n: bytes(n))(pad4(len(w.b)) if not m.get('nomphpad') else 0))
    def debug():
        d = m.get('dh')
        if not d: return
        w.put('DH.flags', 'H', d.get('qt', 1)); w.put('DH.reserved', 'H', 0)
        if d.get('q'): w.raw('DH.q', d['q'])
    def srmp():
        s = m.get('srmp')
        if s:
            e = wz(s['env']); w.put('SR.id', 'H', 0x0096); w.put('SR.reserved', 'H', 0); w.put('SR.len', 'I', s.get('len', len(e)//2)); w.raw('SR.data', e+bytes(pad4(len(e))))
            c = s['http']; w.put('CM.id', 'H', 0x01F4); w.put('CM.reserved', 'H', 0); w.put('CM.size', 'I', len(c)); w.put('CM.bsize', 'I', s['bsize']); w.put('CM.boff', 'I', s['boff'])
            w.raw('CM.data', c+bytes(pad4(len(c))))
    def soap():
        s = m.get('soap')
        if not s: return
        h, b = [x if isinstance(x, bytes) else wz(x) for x in s]
        w.put('SO.hid', 'H', 0x320); w.put('SO.reserved', 'H', 0); w.put('SO.hlen', 'I', len(h)//2); w.raw('SO.header', h)
        w.put('SO.bid', 'H', 0x384); w.put('SO.reserved1', 'H', 0); w.put('SO.blen', 'I', len(b)//2); w.raw('SO.body', b)
        w.raw('SO.pad', bytes(pad4(len(w.b))))
    def mqf():
        q = m.get('mqf')
        if not q: return
        parts = {'d': lambda: address_header(w, 'MD', 0x64, q['dest'], m), 'a': lambda: address_header(w, 'MA', 0xC8, q.get('adm', []), m),
                 'r': lambda: address_header(w, 'MR', 0x12C, q.get('resp', []), m)}
        def sg():
            s = q.get('sign', b''); w.put('MS.id', 'H', 0x15E); w.put('MS.reserved', 'H', 0); w.put('MS.size', 'I', len(s)); w.raw('MS.sign', s); w.raw('MS.pad', bytes(pad4(len(s))))
        parts['s'] = sg
        for c in q.get('order', 'dars'): parts[c]()
    def exth():
        x = m.get('extfam')
        if not x: return
        start = len(w.b)
        dl = x.get('dl')
        w.put('EX.size', 'I', 12); w.put('EX.rest', 'I', 0); w.put('EX.flags', 'B', (1 if dl else 0) | 2 | 16); w.raw('EX.reserved', bytes(3))
        if not x.get('nosq'):
            w.put('SQ.size', 'I', 148); w.put('SQ.tm', 'I', x.get('tm', 0)); w.put('SQ.abort', 'I', 0); w.put('SQ.move', 'I', 0); w.put('SQ.last', 'I', 0)
            w.raw('SQ.name', bytes(64)); w.raw('SQ.target', bytes(64))
        if dl:
            s = wz(dl); s += bytes(pad4(len(s))); w.put('DL.size', 'I', 4+len(s)); w.raw('DL.path', s)
        if not x.get('noea'):
            w.put('EA.size', 'I', 28+4); w.put('EA.alen', 'H', 4); w.put('EA.atype', 'H', x.get('atype', 1)); w.put('EA.scope', 'I', 0); w.raw('EA.addr', bytes([10, 0, 0, 1])+bytes(12))
            w.patch('EA.size', 28)
        w.patch('EX.rest', len(w.b)-start-12)
    fn = {'user': user, 'trans': trans, 'sec': sec, 'mph': mph, 'debug': debug, 'srmp': srmp, 'soap': soap, 'mqf': mqf, 'exth': exth}
    for k in m.get('order', ['user', 'trans', 'sec', 'mph', 'debug', 'srmp', 'soap', 'mqf', 'exth']):
        if k not in m.get('drop', ()): fn[k]()
    w.patch('BH.size', len(w.b))
    w.mark('END')
    if m.get('sess'): session_header(w, m['sess'])
    return w

# ---------------- pcap
def csum(d):
    if len(d) & 1: d += b'\0'
    s = sum(struct.unpack('>%dH' % (len(d)//2), d))
    while s >> 16: s = (s & 0xFFFF) + (s >> 16)
    return ~s & 0xFFFF

def ipb(s): return bytes(int(x) for x in s.split('.'))

class Cap:
    def __init__(self): self.fr = []; self.ident = 1; self.n = 0
    def ip(self, t, src, dst, proto, payload):
        h = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 20+len(payload), self.ident & 0xFFFF, 0x4000, 128, proto, 0, ipb(src), ipb(dst))
        self.ident += 1
        h = h[:10] + struct.pack('>H', csum(h)) + h[12:]
        mac = lambda a: b'\x02\x00' + ipb(a)
        self.fr.append((t, self.n, mac(dst)+mac(src)+b'\x08\0'+h+payload)); self.n += 1
    def tcp(self, t, src, sp, dst, dp, seq, ack, flags, data=b''):
        opts = b'\x02\x04\x05\xb4\x01\x01\x04\x02' if flags & 2 else b''
        h = struct.pack('>HHIIBBHHH', sp, dp, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, (5+len(opts)//4) << 4, flags, 64240, 0, 0) + opts
        ph = ipb(src)+ipb(dst)+struct.pack('>BBH', 0, 6, len(h)+len(data))
        c = csum(ph+h+data); h = h[:16]+struct.pack('>H', c)+h[18:]
        self.ip(t, src, dst, 6, h+data)
    def udp(self, t, src, sp, dst, dp, data):
        h = struct.pack('>HHHH', sp, dp, 8+len(data), 0)
        c = csum(ipb(src)+ipb(dst)+struct.pack('>BBH', 0, 17, len(h)+len(data))+h+data) or 0xFFFF
        self.ip(t, src, dst, 17, h[:6]+struct.pack('>H', c)+data)
    def write(self, path):
        with open(path, 'wb') as f:
            f.write(struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
            for t, n, d in sorted(self.fr, key=lambda x: (x[0], x[1])):
                us = int(round(t*1e6)); f.write(struct.pack('<IIII', us//1000000, us % 1000000, len(d), len(d))+d)

class Conn:
    def __init__(self, cap, a, ap, b, bp=1801, rnd=random):
        self.cap = cap; self.e = [(a, ap), (b, bp)]; self.seq = [rnd.getrandbits(31), rnd.getrandbits(31)]
        self.last = 0
    def _s(self, t, d, fl, data=b''):
        t = max(t, self.last+1e-5); self.last = t   # this connection's frames never go back in time
        (s, sp), (r, rp) = self.e[d], self.e[1-d]
        self.cap.tcp(t, s, sp, r, rp, self.seq[d], self.seq[1-d] if fl & 16 else 0, fl, data)
        self.seq[d] = (self.seq[d] + len(data) + (1 if fl & 3 else 0)) & 0xFFFFFFFF
        return t
    def open(self, t, rtt=0.001):
        self._s(t, 0, 2); self._s(t+rtt, 1, 18); return self._s(t+rtt+5e-5, 0, 16)
    def send(self, t, d, data, mss=1460, noack=False):
        for i in range(0, len(data), mss):
            c = data[i:i+mss]; self._s(t, d, 24 if i+mss >= len(data) else 16, c)
            if (i//mss) % 2 == 1 and not noack: self._s(t, 1-d, 16)
        if not noack: self._s(t+2e-4, 1-d, 16)
    def close(self, t, d=0, rst=False):
        if rst: self._s(t, d, 20); return
        self._s(t, d, 17); self._s(t+3e-4, 1-d, 17); self._s(t+6e-4, d, 16)
