"""Two queue managers and their sessions: keeps the counts and the timers of MS-MQQB 3."""
import heapq, random
from wire import *

class QM:
    def __init__(s, rnd, ip, name, server=True):
        g = bytearray(rnd.randbytes(16)); g[7] = (g[7] & 15) | 0x40; g[8] = (g[8] & 63) | 128
        s.guid = bytes(g); s.ip = ip; s.name = name; s.mid = rnd.randrange(1, 100000); s.server = server
        s.stamp = rnd.randrange(1500000000, 1560000000); s.boot = rnd.randrange(3600, 4000000); s.port = rnd.randrange(49200, 60000)
        s.cookie = rnd.randrange(0, 50); s.tx = {}
    def nextmid(s): s.mid += 1; return s.mid

class TxOut:
    """outgoing transactional sequence of one QM to another"""
    def __init__(s, stamp, ord_=1): s.ord = ord_; s.stamp = stamp; s.num = 1; s.unacked = []
    def take(s):
        n = s.num; s.num += 1; s.unacked.append(n); return dict(seq=(s.ord, s.stamp), num=n, prev=n-1)
    def acked(s, seq, n):
        if seq != (s.ord, s.stamp): return
        s.unacked = [x for x in s.unacked if x > n]
        if not s.unacked: s.ord += 1; s.num = 1

class World:
    def __init__(s, seed, t0=None):
        s.rnd = random.Random(seed); s.cap = Cap(); s.t0 = t0 or (1700000000 + s.rnd.randrange(0, 20000000) + s.rnd.random()); s.q = []; s.n = 0; s.now = s.t0
        s.count = 0
    def at(s, t, f): heapq.heappush(s.q, (t, s.n, f)); s.n += 1
    def run(s):
        while s.q:
            t, _, f = heapq.heappop(s.q); s.now = max(s.now, t); f(s.now)

def ordermsg(src, dst, direct, t, cls, body, mid):
    return dict(prio=0, ttrq=0xFFFFFFFF, ttbr=0xFFFFFFFF, src=src.guid, addr=NULLG if direct else dst.guid, sent=int(t), mid=mid,
                dm=0 if cls == 0xFF else 1, dq=(7, 'TCP:%s\\PRIVATE$\\order_queue$' % dst.ip) if direct else (3, 4), label='QM Ordering Ack',
                cls=cls, body=body, bodytype=0, mflags=0)

class Sess:
    """d: 0 initiator -> acceptor, 1 the other way. Every sender method takes override hooks."""
    def __init__(s, w, I, A, direct=False, rtt=0.02, ato=20000, auto=True, rto=None, seb=1, osx=0):
        s.w = w; s.qm = [I, A]; s.direct = direct; s.rtt = rtt; s.ato = ato; s.rto = rto or min(max(int(round(rtt*1000))*8, 500), 120000)
        s.auto = auto; s.seb = seb; s.osx = osx
        s.sent = [0, 0]; s.rsent = [0, 0]; s.lastr = [0, 0]   # lastr[d]: recoverable of direction d acked
        s.unack = [0, 0]; s.timer = [None, None]; s.tstart = [0, 0]; s.rpend = [False, False]; s.closed = False
        s.isdirect = [False, False]; s.tx = [None, None]; s.intx = [None, None]; s.otimer = [None, None]; s.ofirst = [None, None]
        I.port += w.rnd.randrange(1, 9)
        s.c = Conn(w.cap, I.ip, I.port, A.ip, 1801, w.rnd); s.breserved = lambda: 0
        s.log = []; s.hooks = []; s.tsv = 0
    # --- raw sending; hooks may change the encoded packet
    def out(s, t, d, kind, w):
        s.n = getattr(s, 'n', 0)
        for h in s.hooks: h(s, t, d, kind, w)
        if getattr(w, 'dropit', False): return
        s.c.send(t, d, bytes(w.b), noack=getattr(s, 'noack', False) and kind == 'msg'); s.w.count += 1; s.log.append((t, d, kind))
    def osbits(s): return 0x10 | (s.seb << 8) | ((1 if s.qm[0].server else 0) << 9) | (s.osx << 10)
    def ecreq(s, t):
        s.tsv = int((s.qm[0].boot + t - s.w.t0)*1000) & 0xFFFFFFFF
        s.out(t, 0, 'ecreq', establish(s.qm[0].guid, NULLG if s.direct else s.qm[1].guid, s.tsv, s.osbits(), padding=getattr(s, 'reqpad', b'\x5a'*512), breserved=s.breserved()))
    def ecresp(s, t): s.out(t, 1, 'ecresp', establish(s.qm[0].guid, s.qm[1].guid, s.tsv, s.osbits(), breserved=s.breserved()))
    def cpreq(s, t): s.out(t, 0, 'cpreq', connparams(s.rto, s.ato, breserved=s.breserved()))
    def cpresp(s, t): s.out(t, 1, 'cpresp', connparams(s.rto, s.ato, breserved=s.breserved()))
    def hand(s, t):
        """whole handshake, returns the time the session is open"""
        s.c.open(t, 0.001); t += 0.002
        s.ecreq(t); s.ecresp(t+s.rtt); s.cpreq(t+s.rtt+0.001); s.cpresp(t+s.rtt*2+0.002); return t+s.rtt*2+0.01
    def header(s, d):
        """session header sent by side d; marks everything as acknowledged"""
        o = 1-d; n = s.rsent[o]-s.lastr[o]
        h = dict(ack=s.sent[o] & 0xFFFF, rack=(s.lastr[o]+1) if n else 0, rflags=((1 << n)-1) & 0xFFFFFFFF, sent=s.sent[d], rsent=s.rsent[d], reserved=getattr(s, 'sereserved', lambda: 0)())
        s.lastr[o] = s.rsent[o]; s.unack[d] = 0; s.rpend[d] = False; s.timer[d] = None
        return h
    def ack(s, t, d):
        s.out(t, d, 'ack', sessionack(s.header(d), breserved=s.breserved()))
    def msg(s, t, d, m, kind='msg'):
        if s.closed: return
        s.sent[d] += 1
        if m.get('dm'): s.rsent[d] += 1
        if m.pop('piggy', 0): m['sess'] = s.header(d)
        else: m.pop('sess', None)
        if m['dq'][0] == 7: s.isdirect[1-d] = True
        w = usermsg(m); s.out(t, d, kind, w)
        r = 1-d; s.unack[r] += 1
        if s.auto:
            dur = None
            if m.get('dm') and not s.rpend[r]: s.rpend[r] = True; dur = s.rto/1000
            elif s.timer[r] is None: dur = s.ato/2000
            if dur:
                s.timer[r] = tok = t+dur+0.0006; s.tstart[r] = (t, dur)
                s.w.at(tok, lambda now: s.fire(now, r, tok))
        if m.get('th'):
            th = m['th']; cur = s.intx[r]
            if cur is None or th['seq'] > cur[0] and th['prev'] == 0 or th['seq'] == cur[0] and th['num'] > cur[1] and th['prev'] <= cur[1]:
                if cur is None: s.ofirst[r] = None
                s.intx[r] = (th['seq'], th['num'])
            if s.auto:
                s.otimer[r] = tk = t+0.5021; s.w.at(tk, lambda now: s.ofire(now, r, tk))
    def fire(s, now, r, tok):
        if s.timer[r] != tok or s.closed or not s.unack[r]: return
        s.ack(now, r)
    def ofire(s, now, r, tk):
        if s.otimer[r] != tk or s.closed: return
        s.oack(now, r)
    def oack(s, t, d, seq=None, num=None, prev=None, **kw):
        if s.closed: return
        q, n = s.intx[d]; seq = seq or q; num = n if num is None else num
        b = struct.pack('<IIII', seq[0], seq[1], num, (num-1) & 0xFFFFFFFF if prev is None else prev) + bytes(20)
        m = ordermsg(s.qm[d], s.qm[1-d], s.isdirect[d], t, 0xFF, b, s.qm[d].nextmid()); m.update(kw)
        s.msg(t, d, m, 'oack')
        if s.tx[1-d]: s.tx[1-d].acked(seq, num)
    def fack(s, t, d, om, cls=0x4000, **kw):
        if s.closed: return
        th = om['th']; b = struct.pack('<IIII', th['seq'][0], th['seq'][1], th['num'], th['prev']) + om['src'] + struct.pack('<I', om['mid'])
        m = ordermsg(s.qm[d], s.qm[1-d], s.isdirect[d], t, cls, b, s.qm[d].nextmid()); m.update(kw)
        s.msg(t, d, m, 'fack')
    def close(s, t, d=0): s.closed = True; s.c.close(t, d)
    # --- messages
    def plain(s, t, d, **kw):
        """an ordinary message of side d to the other"""
        src, dst = s.qm[d], s.qm[1-d]
        direct = kw.pop('direct', s.direct)
        m = dict(src=src.guid, addr=NULLG if direct else dst.guid, sent=int(t), mid=src.nextmid(),
                 dq=(7, 'OS:%s\\private$\\orders' % dst.name) if direct else (3, 17), label='hello', body=b'some body text..', bodytype=0x11)
        m.update(kw)
        if 'th' in m: m['prio'] = 0; m['dm'] = 1
        return m
    def txm(s, t, d, **kw):
        th = s.tx[d].take(); th.update(fm=1, lm=1, id=s.w.rnd.randrange(1, 1 << 20)); th.update(kw.pop('th', {}))
        return s.plain(t, d, th=th, **kw)
