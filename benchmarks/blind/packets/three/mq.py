"""Own encoder, session simulation and pcap writer for MSMQ captures (stdlib only)."""
import struct, random, heapq, hashlib, subprocess, os, copy, time as _time
HERE = os.path.dirname(os.path.abspath(__file__))
NULLG = bytes(16)
INF = 0xFFFFFFFF
EPOCH0 = 1700000000

def guid(r):
    b = bytearray(r.getrandbits(8) for _ in range(16)); b[7] = (b[7] & 0x0F) | 0x40; b[8] = (b[8] & 0x3F) | 0x80
    return bytes(b)
def gtext(b):
    a, c, d = struct.unpack('<IHH', b[:8]); return '%08X-%04X-%04X-%s-%s' % (a, c, d, b[8:10].hex().upper(), b[10:].hex().upper())
def u16z(s): return (s + '\0').encode('utf-16-le')
def rbytes(r, n): return r.randbytes(n)

# ---- keys
def keys():
    out = []
    for i in range(3):
        k, c = f'{HERE}/keys/k{i}.pem', f'{HERE}/keys/c{i}.der'
        if not os.path.exists(c):
            subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:1024', '-nodes', '-keyout', k, '-out', c, '-outform', 'DER', '-days', '3650', '-subj', f'/CN=sender{"x"*i}', '-sha256'], check=True, capture_output=True)
        der = subprocess.run(['openssl', 'rsa', '-in', k, '-outform', 'DER', '-traditional'], check=True, capture_output=True).stdout
        nums = []; p = 0
        def tl(p):
            l = der[p + 1]; p += 2
            if l & 0x80: n = l & 0x7F; l = int.from_bytes(der[p:p + n], 'big'); p += n
            return p, l
        p, _ = tl(0)
        for _ in range(4):
            q, l = tl(p); nums.append(int.from_bytes(der[q:q + l], 'big')); p = q + l
        out.append((nums[1], nums[2], nums[3], open(c, 'rb').read()))
    return out
KEYS = keys()
DI = {0x8003: ('md5', '3020300c06082a864886f70d020505000410'), 0x8004: ('sha1', '3021300906052b0e03021a05000414'),
      0x800C: ('sha256', '3031300d060960864801650304020105000420'), 0x800E: ('sha512', '3051300d060960864801650304020305000440')}
def rsa_sign(key, alg, data):
    n, e, d, _ = key; h, pre = DI[alg]
    t = bytes.fromhex(pre) + hashlib.new(h, data).digest()
    em = b'\0\1' + b'\xff' * (128 - 3 - len(t)) + b'\0' + t
    return pow(int.from_bytes(em, 'big'), d, n).to_bytes(128, 'big')

# ---- names
def enc_name(code, v):
    if code in (0, 1): return b''
    if code in (2, 3, 4): return struct.pack('<I', v)
    if code == 5: return v
    if code == 6: return v[0] + struct.pack('<I', v[1])
    if code == 7:
        s = u16z(v); b = struct.pack('<H', len(s)) + s
        return b + b'\xaa' * (-len(b) % 4)
    raise ValueError(code)
def sig_name(code, v):
    if code == 7: return u16z(v)
    return enc_name(code, v)

def sid(r, n=5):
    return bytes([1, n, 0, 0, 0, 0, 0, 5]) + struct.pack('<I', 21) + b''.join(struct.pack('<I', r.getrandbits(31)) for _ in range(n - 1))

# ---- MQF
def enc_elem(pos, ft, v, r):
    """returns bytes of an element that begins at offset pos (relative to a 4-aligned base)"""
    b = struct.pack('<H', ft); p = pos + 2
    def al(n):
        return rbytes(r, -p % n)
    if ft == 1:
        assert p % 4 == 0, 'public element must lie where all readings agree'
        return b + v
    if ft == 2: return b + al(4) + v[0] + struct.pack('<I', v[1])
    if ft == 3: return b + al(2) + u16z(v)
    if ft == 6: return b + al(4) + v
    raise ValueError
def enc_addr(hid, elems, r, res=0, ov=None):
    ov = ov or {}
    b = b''
    for ft, v in elems:
        b += v if ft == 'raw' else enc_elem(12 + len(b), ft, v, r)
    b += rbytes(r, -len(b) % 4)
    return struct.pack('<IHHI', ov.get('size', 12 + len(b)), ov.get('id', hid), res, ov.get('count', len(elems))) + b

# ---- user message
ORDER = ['base', 'user', 'tx', 'sec', 'mp', 'debug', 'soap', 'mqf', 'sess', 'ext']
def new_um(**k):
    d = dict(kind='UM', res=0, pr=3, xbase=0, in_=0, ttrq=INF, tr=0, debug=None, src=NULLG, qma=NULLG, ttbr=INF, sent=0, mid=0, rc=0, dm=0,
             jn=0, jp=0, dq=(7, 'OS:x\\q'), aq=(0, 0), rq=(0, 0), cq=None, tx=None, sec=None, flags=0, label='', cls=0, corr=bytes(20), btype=0,
             tag=0, body=b'', alloc=None, priv=0, hash=0x8004, enc=0x6801, extd=b'', soap=None, mqf=None, sess=None, ext=None, patch=[], raw={},
             order=None, uflag_set=0, uflag_clr=0, bflag_set=0, bflag_clr=0, pseed=1, ps_delta=0, tail=b'', want_sess=False, meta={})
    d.update(k); d['patch'] = list(d['patch']); d['raw'] = dict(d['raw']); d['meta'] = dict(d['meta'])
    return d
def enc_tx(t):
    fl = (1 if t.get('cg') else 0) | (t.get('fa', 0) << 1) | (t['fm'] << 2) | (t['lm'] << 3) | (t['id'] << 4)
    b = struct.pack('<IIIII', fl, t['ord'], t['ts'], t['num'], t['prev'])
    return b + (t['cg'] or b'' if t.get('cg') else b'')
def enc_sec(s, r):
    items = [s.get('sid', b''), s.get('key', b''), s.get('sig', b''), s.get('cert', b''), s.get('prov', b'')]
    any_ = any(items)
    fl = s['st'] | (s.get('eb', 0) << 5) | (s.get('de', 0) << 6) | ((1 if any_ else 0) << 7)
    b = struct.pack('<HHHHII', fl, *[len(i) for i in items])
    for i in items: b += i + rbytes(r, -len(i) % 4)
    return b
def enc_sess(s): return struct.pack('<HHIHHHH', *s)
def prov(ptype, name): return struct.pack('<I', ptype) + u16z(name)
def encode(u):
    r = random.Random(u['pseed']); P = {}
    lab = u16z(u['label']) if u['label'] else b''
    uf = u['rc'] | u['dm'] << 5 | u['jn'] << 8 | u['jp'] << 9 | u['dq'][0] << 10 | u['aq'][0] << 13 | u['rq'][0] << 16
    uf |= (1 << 19 if u['sec'] else 0) | (1 << 20 if u['tx'] else 0) | 1 << 21 | (1 << 22 if u['cq'] else 0) | (1 << 23 if u['mqf'] else 0) | (1 << 28 if u['soap'] else 0)
    uf = (uf | u['uflag_set']) & ~u['uflag_clr']
    P['user'] = u['src'] + u['qma'] + struct.pack('<IIII', u['ttbr'], u['sent'], u['mid'], uf)
    P['user'] += u.get('dqraw') if u.get('dqraw') is not None else enc_name(*u['dq'])
    P['user'] += u.get('aqraw') if u.get('aqraw') is not None else enc_name(*u['aq'])
    P['user'] += u.get('rqraw') if u.get('rqraw') is not None else enc_name(*u['rq'])
    P['user'] += (u['cq'] or b'')
    if u['tx']: P['tx'] = enc_tx(u['tx'])
    if u['sec']: P['sec'] = enc_sec(u['sec'], r)
    mp = struct.pack('<BBH', u['flags'], len(lab) // 2, u['cls']) + u['corr'] + struct.pack('<IIIIIIII', u['btype'], u['tag'], len(u['body']),
         len(u['body']) if u['alloc'] is None else u['alloc'], u['priv'], u['hash'], u['enc'], len(u['extd'])) + lab + u['extd'] + u['body']
    P['mp'] = mp + rbytes(r, -len(mp) % 4)
    if u['debug'] is not None: P['debug'] = struct.pack('<HH', u['debug']['qt'], 0) + (u['debug']['guid'] if u['debug']['qt'] else b'')
    if u['soap']:
        h, b = u['soap']; h = u16z(h); b = u16z(b); assert len(h) % 4 == 0 and len(b) % 4 == 0
        P['soap'] = struct.pack('<HHI', 0x320, 0, len(h) // 2) + h + struct.pack('<HHI', 0x384, 0, len(b) // 2) + b
    if u['mqf']:
        m = u['mqf']; s = m.get('sig', b''); ov = m.get('ov', {})
        P['mqf'] = enc_addr(0x64, m['d'], r, ov=ov.get('d')) + enc_addr(0xC8, m['a'], r, ov=ov.get('a')) + enc_addr(0x12C, m['r'], r, ov=ov.get('r')) + struct.pack('<HHI', 0x15E, 0, len(s)) + s
    if u['sess']: P['sess'] = enc_sess(u['sess'])
    if u['ext']: P['ext'] = u['ext']
    P.update(u['raw'])
    bf = u['pr'] | u['in_'] << 3 | (1 << 4 if u['sess'] else 0) | (1 << 5 if u['debug'] is not None else 0) | u['tr'] << 8
    bf = (bf | u['bflag_set']) & ~u['bflag_clr']
    order = u['order'] or ORDER
    rest = b''; offs = {'base': 0}; n = 16
    for h in order:
        if h == 'base' or P.get(h) is None: continue
        if h == 'sess': rest += u['tail']; n += len(u['tail'])
        offs[h] = n; rest += P[h]; n += len(P[h])
    if 'sess' not in P: rest += u['tail']; n += len(u['tail'])
    size = n - (16 if 'sess' in P else 0) + u['ps_delta']
    data = bytearray(struct.pack('<BBHIII', 0x10, u['res'], bf, 0x524F494C, size, u['ttrq']) + rest)
    for h, o, f, v in u['patch']: struct.pack_into('<' + f, data, offs[h] + o, v)
    return bytes(data), offs

def sign(u, key):
    """MSMQ 2.0 signature (2.5.2), or 3.0 (2.5.3) in the MultiQueueFormatHeader"""
    d = u['corr'] + struct.pack('<I', u['tag']) + u['body'] + (u16z(u['label']) if u['label'] else b'') + sig_name(*u['rq']) + sig_name(*u['aq'])
    if u['mqf']:
        rr = random.Random(5); d += u['extd'] + b''.join(enc_addr(0, u['mqf'][x], rr)[12:] for x in 'dar')
    d += u['src'] + bytes([u['dm'], u['pr'], u['jp'] << 1 | u['jn'], u['flags'] & 15]) + struct.pack('<HI', u['cls'], u['btype']) + (u['cq'] or NULLG)
    if not u['mqf']: d += sig_name(*u['dq'])
    return rsa_sign(key, u['hash'], d)

# ---- internal packets
def base_i(flags, size, ttrq=INF, res=0): return struct.pack('<BBHIII', 0x10, res, flags, 0x524F494C, size, ttrq)
def enc_ec(cg, sg, ts, osf, pad, cs=0, res=0): return base_i(0x0B, 572, res=res) + struct.pack('<HH', 0, 2 | cs << 4) + cg + sg + struct.pack('<IHH', ts, osf, 0) + pad
def enc_cp(rat, at, win, cs=0, res=0): return base_i(0x0B, 32, res=res) + struct.pack('<HHIIHH', 0, 3 | cs << 4, rat, at, 0, win)
def enc_sa(s, res=0): return base_i(0x1B, 36, res=res) + struct.pack('<HH', 0, 1) + enc_sess(s)

# ---- hosts and captures
class Host:
    def __init__(self, r, ip=None):
        self.r = r; self.ip = ip or '%d.%d.%d.%d' % (r.choice([10, 172, 192]), r.randint(16, 30), r.randint(0, 250), r.randint(1, 250))
        if self.ip.startswith('192'): self.ip = '192.168.' + '.'.join(self.ip.split('.')[2:])
        self.mac = bytes([2]) + rbytes(r, 5); self.qm = guid(r)
        self.name = r.choice(['srv', 'node', 'mail', 'app', 'ws', 'erp', 'pos', 'bank', 'hub', 'edge']) + r.choice(['', '-', '0']) + str(r.randint(1, 999))
        self.server = r.random() < 0.5; self.mid = r.randint(1, 4000000); self.cookie = r.randint(0, 60000); self.port = r.randint(1025, 60000)
        self.boot_ms = EPOCH0 * 1000 - r.randint(3600_000, 2_000_000_000); self.trid = r.randint(1, 0x80000); self.txts = EPOCH0 - r.randint(100000, 90000000)
        self.ord = r.randint(1, 50); self.privq = {}
    def next_mid(self): self.mid += 1; return self.mid
    def next_port(self): self.port += 1; return self.port
    def next_tr(self): self.trid += 1; return self.trid

class Cap:
    def __init__(self, seed, start_us=None):
        self.r = random.Random(seed); self.recs = []; self.conns = []; self.pings = []; self.frag = self.r.random() < 0.25
        self.t0 = start_us or (EPOCH0 * 1000 + self.r.randint(0, 20_000_000_0)) * 1000
    def n_packets(self): return len(self.recs) + len(self.pings)

class Conn:
    def __init__(self, cap, ini, acc, t, direct, ping=False, rtt=None, ackt=None, qs=0, setup=True, pr_res=True):
        self.cap = cap; self.h = [ini, acc]; self.direct = direct; self.r = cap.r; self.t = (t // 1000) * 1000; self.ev = []; self.n = 0
        self.sport = ini.next_port(); self.id = len(cap.conns); cap.conns.append(self); self.closed = None; self.open_t = None
        r = self.r; self.ping = ping
        self.rtt = rtt if rtt is not None else r.choice([1, 2, 5, 12, 30, 50, 62])
        self.ackt = ackt or r.choice([20000, 20000, 30000, 60000, 120000])
        self.rat = min(max(8 * self.rtt, 500), 120000); self.res = r.randint(0, 255)
        z = lambda: dict(sent=0, rsent=0, recv=0, rrecv=0, lastack=0, flags=0, unacked=0, tmr=None, tstart=0, acked=0, otmr=None, lasto=0, inc=None, oid=None, num=1, txopen=[], ordpend=False)
        self.s = [z(), z()]
        self.qsf = qs
        if setup: self.setup()
    # records
    def rec(self, side, kind, data, offs=None, um=None, dt=0):
        self.t += dt
        rc = dict(t=self.t, conn=self.id, side=side, kind=kind, data=data, offs=offs or {}, um=um); self.cap.recs.append(rc)
        self.t += max(160, (len(data) // 1460 + 2) * 10)
        return rc
    def setup(self):
        r = self.r; I, A = self.h
        if self.ping: self.do_ping()
        self.open_t = self.t; self.t += 3000
        self.t = (self.t // 1000) * 1000
        ts = (self.t // 1000 - I.boot_ms) & INF
        osf = 0x10 | (0 if self.ping else 1) << 8 | (1 if I.server else 0) << 9 | self.qsf << 10
        self.ecq = self.rec(0, 'ECQ', enc_ec(I.qm, NULLG if self.direct else A.qm, ts, osf, rbytes(r, 512) if r.random() < .5 else b'\x5a' * 512, res=self.res))
        self.ecr = self.rec(1, 'ECR', enc_ec(I.qm, A.qm, ts, osf, b'\x5a' * 512, res=r.randint(0, 255)), dt=self.rtt * 1000 - 160)
        self.cpq = self.rec(0, 'CPQ', enc_cp(self.rat, self.ackt, 64), dt=200)
        self.cpr = self.rec(1, 'CPR', enc_cp(self.rat, self.ackt, 64), dt=self.rtt * 1000)
        self.s[0]['lasto'] = self.s[1]['lasto'] = self.open_t
        self.t += 1000
    def do_ping(self, rf=0, resp_ms=None):
        r = self.r; I, A = self.h; I.cookie = (I.cookie + 1) & INF; p = r.randint(1025, 65000)
        rc_ = 0 if I.server else 1
        f1 = rc_ | (r.getrandbits(14) << 2); f2 = rc_ | rf << 1 | (r.getrandbits(14) << 2)
        self.cap.pings.append(dict(t=self.t, src=I, dst=A, sport=p, dport=3527, data=struct.pack('<HHI', f1, 0x5548, I.cookie) + I.qm, kind='PQ', conn=self.id))
        self.t += (resp_ms or r.randint(1, 40)) * 1000
        self.cap.pings.append(dict(t=self.t, src=A, dst=I, sport=3527, dport=p, data=struct.pack('<HHI', f2, 0x5548, I.cookie) + A.qm, kind='PR', conn=self.id))
        self.t += r.randint(2, 20) * 1000
    # events
    def at(self, t, f): self.n += 1; heapq.heappush(self.ev, (t, self.n, f))
    def advance(self, to):
        while self.ev and self.ev[0][0] <= to:
            t, _, f = heapq.heappop(self.ev)
            self.t = max(self.t, t); f()
        self.t = max(self.t, to)
    def drain(self):
        while self.ev: self.advance(self.ev[0][0])
    def settimer(self, i, dur):
        st = self.s[i]; st['tmr'] = self.t + dur; st['tdur'] = dur; tok = st['tmr']
        def fire():
            if st['tmr'] != tok: return
            st['tmr'] = None
            if st['unacked']: self.sessack(i)
        self.at(tok, fire)
    def sessfields(self, i):
        st = self.s[i]
        v = [st['recv'] & 0xFFFF, (st['lastack'] + 1) & 0xFFFF if st['flags'] else 0, st['flags'], st['sent'] & 0xFFFF, st['rsent'] & 0xFFFF, 64, self.r.choice([0, 0, self.r.randint(0, 65535)])]
        self.s[1 - i]['acked'] = st['recv']
        st['flags'] = 0; st['unacked'] = 0; st['lastack'] = st['rrecv']
        return v
    def sessack(self, i):
        rc = self.rec(i, 'SA', enc_sa(self.sessfields(i), res=self.r.randint(0, 255)))
        rc['offs'] = {'base': 0, 'int': 16, 'sess': 20}
        self.settimer(i, self.ackt * 500)
        return rc
    def outstanding(self, i): return self.s[i]['sent'] - self.s[i]['acked']
    def send(self, i, u, dt=None, hold=False):
        r = self.r
        self.advance(self.t + (dt if dt is not None else r.randint(200, 4000)))
        while self.outstanding(i) >= 64 and not hold:
            if not self.ev: raise RuntimeError('stuck')
            self.advance(self.ev[0][0] + 300)
        st = self.s[i]; H = self.h[i]
        if u['mid'] == 0: u['mid'] = H.next_mid()
        if u['sent'] == 0: u['sent'] = self.t // 1000000
        if u['pseed'] == 1: u['pseed'] = r.getrandbits(32)
        st['sent'] += 1
        if u['dm'] == 1: st['rsent'] += 1
        if u['kind'] not in ('OA', 'FA') and not u['sess'] and st['unacked'] and st['tmr'] and (st['tmr'] - self.t) < st['tdur'] * 0.25:
            u['sess'] = self.sessfields(i); self.settimer(i, self.ackt * 500)
        data, offs = encode(u)
        rc = self.rec(i, u['kind'], data, offs, u)
        self.received(1 - i, u)
        return rc
    def received(self, i, u):
        st = self.s[i]; r = self.r
        st['recv'] += 1; st['unacked'] += 1
        if st['tmr'] is None: self.settimer(i, self.ackt * 500)
        if u['dm'] == 1:
            if st['rrecv'] - st['lastack'] >= 32:
                self.t += 150; self.sessack(i)
            st['rrecv'] += 1
            if st['flags'] == 0: self.settimer(i, self.rat * 1000)
            st['flags'] |= 1 << (st['rrecv'] - st['lastack'] - 1)
        if st['unacked'] >= 64: self.t += 200; self.sessack(i)
        if u['tx'] and not u['meta'].get('reject'): self.tx_received(i, u)
        if u['meta'].get('reject'):
            cls = u['meta']['reject']; self.at(self.t + 2000, lambda: self.finalack(i, u, cls))
        for cls, d in u['meta'].get('acks', []):
            self.at(self.t + d, lambda cls=cls: self.adminack(i, u, cls))
        for fn, d in u['meta'].get('after', []):
            self.at(self.t + d, fn)
    def tx_received(self, i, u):
        st = self.s[i]; t = u['tx']
        st['inc'] = (t['ord'], t['ts'], t['num']); st.setdefault('fin', []).append(u)
        if u['meta'].get('noorder'): return
        if st['otmr'] is None or self.t - st['lasto'] < 10_000_000:
            st['otmr'] = self.t + 500_000; tok = st['otmr']
            def fire():
                if st['otmr'] != tok: return
                if st['flags']:   # let the session acknowledgment go first
                    self.at(max(self.t, st['tmr']) + 1500, lambda: go()); return
                go()
            def go():
                if st['otmr'] != tok: return
                st['otmr'] = None; st['lasto'] = self.t; self.orderack(i)
            self.at(tok, fire)
    def oq(self, i):
        peer = self.h[1 - i]
        if self.direct: return dict(dq=(7, 'TCP:%s\\PRIVATE$\\order_queue$' % peer.ip), qma=NULLG)
        return dict(dq=(3, 4), qma=peer.qm)
    def orderack(self, i):
        o, ts, n = self.s[i]['inc']
        u = new_um(kind='OA', pr=0, src=self.h[i].qm, cls=0xFF, label='QM Ordering Ack', body=struct.pack('<IIII', o, ts, n, n - 1) + bytes(20), **self.oq(i))
        self.send(i, u, dt=0)
        p = self.s[1 - i]
        if p['num'] - 1 == n and p['oid'] == o: p['oid'] = None
        fin = self.s[i].get('fin', []); self.s[i]['fin'] = []
        for m in fin:
            if m['jn'] or m['jp'] or m['tx'].get('fa'):
                cls = m['meta'].get('final', 0x4000)
                if cls: self.at(self.t + self.r.randint(50_000, 2_500_000), lambda m=m, cls=cls: self.finalack(i, m, cls))
    def finalack(self, i, m, cls):
        t = m['tx']
        u = new_um(kind='FA', pr=0, dm=1, src=self.h[i].qm, cls=cls, label='QM Ordering Ack',
                   body=struct.pack('<IIII', t['ord'], t['ts'], t['num'], t['prev']) + m['src'] + struct.pack('<I', m['mid']), **self.oq(i))
        self.send(i, u, dt=0)
    def adminack(self, i, m, cls):
        src = self.h[i]; aq = m['aq']
        if aq[0] == 2: d = dict(dq=(3, aq[1]), qma=m['src'])
        elif aq[0] == 5: d = dict(dq=(5, aq[1]), qma=m['src'])
        elif aq[0] == 7: d = dict(dq=(7, aq[1]), qma=NULLG)
        else: raise ValueError
        rq = {3: (2, m['dq'][1]), 5: (5, m['dq'][1]), 7: (7, m['dq'][1])}[m['dq'][0]]
        u = new_um(kind='AA', src=src.qm, dm=m['dm'], cls=cls, corr=m['src'] + struct.pack('<I', m['mid']), rq=rq,
                   body=m['body'] if cls >= 0x8000 and not m['priv'] else b'', btype=m['btype'] if cls >= 0x8000 and not m['priv'] else 0, **d)
        self.send(i, u, dt=0)
    # transactional
    def tx(self, i, u, fm, lm, trid, fa=0, cg=None, **k):
        st = self.s[i]; H = self.h[i]
        if st['oid'] is None:
            if getattr(H, 'hadtx', False): H.ord += 1
            H.hadtx = True; st['oid'] = H.ord; st['num'] = 1
        u['pr'] = 0; u['dm'] = 1
        u['tx'] = dict(fm=fm, lm=lm, id=trid, fa=fa, cg=cg, ord=st['oid'], ts=H.txts, num=st['num'], prev=st['num'] - 1); st['num'] += 1
        return self.send(i, u, **k)
    def close(self, how=None, dt=None):
        self.drain(); self.t += dt if dt is not None else self.r.randint(1000, 900000)
        self.closed = (self.t, how or self.r.choice(['fin0', 'fin1']))

# ---- pcap
def csum(b):
    if len(b) & 1: b += b'\0'
    v = int.from_bytes(b, 'big') % 0xFFFF
    return (~v) & 0xFFFF if v else (0xFFFF if not any(b) else 0)
def ip4(s): return bytes(int(x) for x in s.split('.'))
_ipid = [1]
def eth_ip(src, dst, proto, payload):
    _ipid[0] = (_ipid[0] + 1) & 0xFFFF
    h = struct.pack('>BBHHHBBH', 0x45, 0, 20 + len(payload), _ipid[0], 0x4000, 64, proto, 0) + ip4(src.ip) + ip4(dst.ip)
    h = h[:10] + struct.pack('>H', csum(h)) + h[12:]
    return dst.mac + src.mac + b'\x08\0' + h + payload
def tcp(src, dst, sp, dp, seq, ack, fl, data=b'', opt=b''):
    h = struct.pack('>HHIIBBHHH', sp, dp, seq & INF, ack & INF, (20 + len(opt)) // 4 << 4, fl, 64240, 0, 0) + opt
    ps = ip4(src.ip) + ip4(dst.ip) + struct.pack('>BBH', 0, 6, len(h) + len(data))
    c = csum(ps + h + data)
    h = h[:16] + struct.pack('>H', c) + h[18:]
    return eth_ip(src, dst, 6, h + data)
def udp(src, dst, sp, dp, data):
    h = struct.pack('>HHHH', sp, dp, 8 + len(data), 0); ps = ip4(src.ip) + ip4(dst.ip) + struct.pack('>BBH', 0, 17, len(h) + len(data))
    c = csum(ps + h + data) or 0xFFFF
    return eth_ip(src, dst, 17, h[:6] + struct.pack('>H', c) + data)
def write(cap, path):
    frames = []; k = 0
    def add(t, f):
        nonlocal k; k += 1; frames.append((t, k, f))
    r = random.Random(99)
    for p in cap.pings: add(p['t'], udp(p['src'], p['dst'], p['sport'], p['dport'], p['data']))
    for c in cap.conns:
        if c.open_t is None: continue
        rs = sorted((x for x in cap.recs if x['conn'] == c.id), key=lambda x: x['t'])
        H = c.h; ports = [c.sport, 1801]; seq = [r.getrandbits(32), r.getrandbits(32)]; t = c.open_t
        mss = b'\x02\x04\x05\xb4'
        add(t, tcp(H[0], H[1], ports[0], 1801, seq[0], 0, 2, opt=mss)); seq[0] += 1
        add(t + 300, tcp(H[1], H[0], 1801, ports[0], seq[1], seq[0], 0x12, opt=mss)); seq[1] += 1
        add(t + 500, tcp(H[0], H[1], ports[0], 1801, seq[0], seq[1], 0x10))
        for x in rs:
            s = x['side']; o = 1 - s; d = x['data']; t = x['t']; p = 0; n = 0
            while p < len(d):
                m = r.choice([1460, 700, 333, 1000] if p else [1, 16, 15, 40, 1460]) if cap.frag and len(d) < 4000 else 1460
                seg = d[p:p + m]; p += len(seg); n += 1
                add(t, tcp(H[s], H[o], ports[s], ports[o], seq[s], seq[o], 0x18 if p >= len(d) else 0x10, seg)); seq[s] += len(seg); t += 10
                if n % 8 == 0: add(t - 5, tcp(H[o], H[s], ports[o], ports[s], seq[o], seq[s], 0x10))
            if r.random() < 0.6: add(t + 40, tcp(H[o], H[s], ports[o], ports[s], seq[o], seq[s], 0x10))
        if c.closed:
            ct, how = c.closed; s = int(how[-1]); o = 1 - s
            if how.startswith('rst'): add(ct, tcp(H[s], H[o], ports[s], ports[o], seq[s], seq[o], 0x14))
            else:
                add(ct, tcp(H[s], H[o], ports[s], ports[o], seq[s], seq[o], 0x11)); seq[s] += 1
                add(ct + 200, tcp(H[o], H[s], ports[o], ports[s], seq[o], seq[s], 0x11)); seq[o] += 1
                add(ct + 400, tcp(H[s], H[o], ports[s], ports[o], seq[s], seq[o], 0x10))
    frames.sort(key=lambda x: (x[0], x[1]))
    with open(path, 'wb') as f:
        f.write(struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        out = []
        for t, _, b in frames: out.append(struct.pack('<IIII', t // 1000000, t % 1000000, len(b), len(b)) + b)
        f.write(b''.join(out))
