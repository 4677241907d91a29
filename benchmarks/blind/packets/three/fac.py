"""Messages with random features, and capture builders."""
from mq import *
import time as _time
WORDS = ['orders', 'invoice', 'stock', 'audit', 'alerts', 'hr', 'ship_to', 'in', 'out', 'retry', 'q', 'Main-Queue', 'price.feed', 'a{b}', 'x#y', 'log$', 'batch(7)', 'Zahlung', 'kunden', 'T1']
def qname(r): return r.choice(WORDS) + r.choice(['', str(r.randint(0, 99))])
def direct(r, host, admin=False):
    a = r.random(); q = qname(r)
    if a < .3: return 'OS:%s\\%s' % (host.name, q)
    if a < .55: return 'OS:%s\\PRIVATE$\\%s' % (host.name, q)
    if a < .7: return 'OS:%s\\private$\\%s' % (host.name.upper(), q)
    if a < .85: return 'TCP:%s\\%s' % (host.ip, q)
    return 'TCP:%s\\PRIVATE$\\%s' % (host.ip, q)
def other_direct(r):
    return r.choice(['OS:thirdhost\\PRIVATE$\\%s' % qname(r), 'TCP:10.%d.2.3\\%s' % (r.randint(0, 255), qname(r)), 'HTTP://www.example%d.com/MSMQ\\%s' % (r.randint(0, 9), qname(r)),
                     'HTTPS://10.1.1.%d:8443/MSMQ\\PRIVATE$\\%s' % (r.randint(1, 9), qname(r)), 'IPX:00000012:00a0234f7500\\%s' % qname(r), 'OS:db.corp.example.com\\%s' % qname(r)])
def label(r):
    n = r.choice([0, 0, 1, 2, 3, 5, 9, 14, 15, 30, 60, 120, 248, 249])
    return ''.join(r.choice('abc DEF,.;-_ÄöÜß€日本語123') for _ in range(n)) if n else ''
def body(r, sz=None):
    if sz is not None: return rbytes(r, sz), r.choice([0, 0x1011])
    k = r.random()
    if k < .08: return b'', r.choice([0, 1])
    if k < .3: return r.choice([(rbytes(r, 2), 2), (rbytes(r, 4), 3), (r.choice([b'\0\0', b'\xff\xff']), 11), (rbytes(r, 1), 16), (rbytes(r, 1), 17), (rbytes(r, 2), 18), (rbytes(r, 4), 19), (rbytes(r, 8), 20), (rbytes(r, 8), 21), (guid(r), 72)])
    if k < .45: return u16z('text ' * r.randint(0, 40) + 'é'), 31
    if k < .5:
        b = rbytes(r, r.randint(0, 90)); return struct.pack('<I', len(b)) + b, 65
    return rbytes(r, r.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 50, 99, 100, 255, 256, 400, 777, 1500, 3000])), r.choice([0, 0x1011])
def destq(r, conn, i):
    """destination of a message from side i"""
    peer = conn.h[1 - i]
    if conn.direct: return dict(dq=(7, direct(r, peer)), qma=NULLG)
    if r.random() < .5: return dict(dq=(3, r.randint(5, 5000)), qma=peer.qm)
    k = 'pub%d' % r.randint(0, 2)
    if k not in peer.privq: peer.privq[k] = guid(r)
    return dict(dq=(5, peer.privq[k]), qma=peer.qm)
def mqf_list(r, elems):
    """order the elements so that a public name begins where every reading agrees"""
    out = []; pos = 12
    for ft, v in elems:
        if ft == 1 and pos % 4 != 2:
            pad = 'OS:pad%s\\q' % ('x' * r.randint(0, 3))
            n = 2 + len(u16z(pad))
            if (pos + n) % 4 != 2: pad = pad.replace('pad', 'padd'); n += 2
            out.append((3, pad)); pos += n
            assert pos % 4 == 2
        b = enc_elem(pos, ft, v, r); pos += len(b); out.append((ft, v))
    return out
def mqf_for(r, conn, i, u):
    me, peer = conn.h[i], conn.h[1 - i]
    def of(code, v, qm):
        return {7: (3, v), 5: (1, v)}.get(code) or (2, (qm, v) if code != 6 else v)
    d = [of(u['dq'][0], u['dq'][1], u['qma'])]
    for _ in range(r.randint(1, 4)):
        d.append(r.choice([(1, guid(r)), (2, (guid(r), r.randint(5, 900))), (3, other_direct(r)), (6, guid(r)), (3, direct(r, peer))]))
    r.shuffle(d); a = []; p = []
    if u['aq'][0]:
        a = [of(u['aq'][0], u['aq'][1], {2: me.qm, 3: peer.qm}.get(u['aq'][0]))]
        if r.random() < .5: a.append((2, (guid(r), 77)))
    if u['rq'][0] in (2, 3, 5, 6, 7):
        p = [of(u['rq'][0], u['rq'][1], {2: me.qm, 3: peer.qm}.get(u['rq'][0]))]
        if r.random() < .5: p.append((3, other_direct(r)))
    return dict(d=mqf_list(r, d), a=mqf_list(r, a), r=mqf_list(r, p), sig=b'')
def ext_family(r, dl=None, v6=None):
    dl = r.random() < .6 if dl is None else dl
    sub = r.choice(['', '', 'late', 'Poison', 'x' * 31]); aname = sub.encode('utf-16-le')
    moved = bool(sub)
    s = struct.pack('<IIIII', 148, 0, r.randint(0, 4), r.randint(1, 9) if moved else 0, r.randint(1, 2**32 - 1) if moved else 0)
    s += (aname + bytes(64 - len(aname))) + bytes(64)
    d = b''
    if dl:
        n = u16z('srv%d\\private$\\%s' % (r.randint(0, 99), qname(r))); n += bytes(-len(n) % 4); d = struct.pack('<I', 4 + len(n)) + n
    k = r.choice([0, 1, 6]) if v6 is None else v6
    a = {0: bytes(16), 1: bytes([10, 1, 2, r.randint(1, 9)]) + bytes(12), 6: b'\xfe\x80' + bytes(6) + rbytes(r, 8)}[k]
    e = struct.pack('<IHHI', 28, {0: 0, 1: 4, 6: 16}[k], k, 3 if k == 6 else 0) + a
    x = struct.pack('<IIB', 12, len(s) + len(d) + len(e), 2 | 16 | (1 if dl else 0)) + bytes(3)
    return x, s, d, e
FEATURES = ['plain', 'sid', 'signed', 'signedprov', 'enc', 'qmsig', 'mqf', 'mqfsig', 'cq', 'debug', 'soap', 'ext', 'admin', 'resp', 'trace0']
def message(r, conn, i, feats=(), dm=None, sz=None, acks=True):
    me, peer = conn.h[i], conn.h[1 - i]; f = set(feats)
    b, bt = body(r, sz)
    u = new_um(src=me.qm, body=b, btype=bt, pr=r.choice([3, 3, 3, 0, 1, 2, 4, 5, 6, 7]), res=r.choice([0, 0, r.randint(0, 255)]), ttrq=r.choice([345600, INF, 60, 3600, 5 * 86400]),
               ttbr=r.choice([INF, INF, 600, 86400]), tag=r.choice([0, 0, r.getrandbits(32)]), label=label(r), dm=r.choice([0, 0, 1]) if dm is None else dm, jn=int(r.random() < .15), jp=int(r.random() < .15),
               hash=r.choice([0x8001, 0x8002, 0x8003, 0x8004, 0x8004, 0x800C, 0x800E]), enc=r.choice([0x6602, 0x6610, 0x660E, 0x660F, 0x6801, 0x6801]),
               corr=r.choice([bytes(20), bytes(20), rbytes(r, 20)]), **destq(r, conn, i))
    if 'extd' in f or r.random() < .08: u['extd'] = rbytes(r, r.randint(1, 60))
    if 'want' in f: u['want_sess'] = True
    if 'admin' in f:
        fl = r.choice([1, 2, 3, 4, 5, 8, 12, 10, 15])
        if conn.direct:
            fl = r.choice([2, 8, 10, 14, 4])
            a = (7, direct(r, me)); ackable = True
            if r.random() < .3: a = r.choice([(2, r.randint(5, 99)), (3, r.randint(5, 99)), (5, guid(r)), (6, (guid(r), 9)), (7, other_direct(r))]); ackable = False
        else:
            a = r.choice([(2, r.randint(5, 99)), (2, r.randint(5, 99)), (5, me.privq.setdefault('adm', guid(r))), (3, r.randint(5, 99)), (6, (guid(r), r.randint(5, 99))), (7, other_direct(r))])
            ackable = a[0] in (2, 5)
        u['flags'] = fl; u['aq'] = a
        if ackable and acks:
            l = []
            if fl & 1: l.append((2, r.randint(3000, 80000)))
            elif fl & 4 and r.random() < .5 and not conn.direct: l.append((r.choice([0x8003] + ([0x800A])), r.randint(3000, 80000)))
            if not any(c >= 0x8000 for c, _ in l):
                if fl & 2 and r.random() < .7: l.append((0x4000, r.randint(90000, 3000000)))
                elif fl & 8 and r.random() < .6: l.append((r.choice([0xC001, 0xC000]), r.randint(90000, 3000000)))
            u['meta']['acks'] = l
    if 'resp' in f:
        c = r.choice([1, 2, 3, 4, 5, 6, 7, 7])
        if c in (1, 4) and not u['aq'][0]: c = 2
        if c == 4 and u['aq'][0] not in (2, 3, 6): c = 5
        if c == 6 and conn.direct and False: c = 7
        u['rq'] = (c, {1: 0, 2: r.randint(5, 999), 3: r.randint(5, 999), 4: r.randint(5, 999), 5: guid(r), 6: (guid(r), r.randint(5, 999)), 7: r.choice([direct(r, me), other_direct(r)])}[c])
    if 'cq' in f: u['cq'] = guid(r)
    if 'debug' in f: u['debug'] = dict(qt=1, guid=guid(r)); u['tr'] = 1
    if 'trace0' in f: u['debug'] = dict(qt=0); u['tr'] = 1
    if 'soap' in f:
        h = '<h>%s</h>' % ('y' * r.randint(0, 50)); bb = '<b>%s</b>' % ('z' * r.randint(0, 90)); u['soap'] = (h + ' ' * (1 - len(h) % 2), bb + ' ' * (1 - len(bb) % 2))
    if 'mqf' in f or 'mqfsig' in f: u['mqf'] = mqf_for(r, conn, i, u)
    if 'sid' in f: u['sec'] = dict(st=1, sid=sid(r, r.choice([1, 2, 5, 5])), de=r.choice([0, 1]))
    if 'signed' in f or 'mqfsig' in f or 'signedprov' in f or 'qmsig' in f:
        u['hash'] = 0x800E; key = r.choice(KEYS)
        if 'qmsig' in f: u['sec'] = dict(st=2, sid=me.qm, de=1, cert=key[3])
        elif 'signedprov' in f: u['sec'] = dict(st=1, sid=sid(r), de=0, cert=key[3], prov=prov(r.choice([1, 24]), r.choice(['Microsoft Strong Cryptographic Provider', 'Acme Token CSP', 'Prov 1', 'Microsoft Enhanced RSA and AES Cryptographic Provider'])))
        else: u['sec'] = dict(st=r.choice([1, 1, 0]), de=1, cert=key[3])
        if u['sec']['st'] == 1: u['sec']['sid'] = sid(r)
        u['meta']['key'] = key
    if 'enc' in f and not conn.direct:
        lv = r.choice([1, 3, 5]); alg = r.choice({1: [0x6602, 0x6801], 3: [0x6602, 0x6801], 5: [0x660E, 0x660F, 0x6610]}[lv]); n = len(u['body']) or 5
        bs = {0x6602: 8, 0x6801: 1}.get(alg, 16); n = n if bs == 1 else (n // bs + 1) * bs
        u['body'] = rbytes(r, n); u['priv'] = lv; u['enc'] = alg
        u['sec'] = dict(st=r.choice([0, 1]), eb=1, de=0, key=b'\x01\x02\0\0' + struct.pack('<I', alg) + b'\0\xa4\0\0' + rbytes(r, 256), prov=prov(24 if lv == 5 else 1, {1: 'Microsoft Base Cryptographic Provider v1.0', 3: 'Microsoft Enhanced Cryptographic Provider v1.0', 5: 'Microsoft Enhanced RSA and AES Cryptographic Provider'}[lv]))
        if u['sec']['st']: u['sec']['sid'] = sid(r)
    return u
def finish_sign(u):
    k = u['meta'].get('key')
    if k:
        s = sign(u, k)
        if u['mqf']: u['mqf']['sig'] = s
        else: u['sec']['sig'] = s
def send(conn, i, u, **k):
    finish_sign(u); return conn.send(i, u, **k)
MON = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
def report_label(m, t_us, r):
    g = _time.gmtime(t_us // 1000000); tm = '%02d:%02d' % (g.tm_hour % 12 or 12, g.tm_min) + (':%02d' % g.tm_sec if r.random() < .7 else '')
    return '%s:%08X:%02X received by %s at %s %s %s,%s %02d %02d' % (gtext(m['src'])[:4], m['mid'], m['rc'], gtext(m['src']), tm, 'AM' if g.tm_hour < 12 else 'PM',
        ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'][g.tm_wday], MON[g.tm_mon - 1], g.tm_mday, g.tm_year % 100)
def fmtname(dq, qm):
    if dq[0] == 7: return 'DIRECT=' + dq[1]
    if dq[0] == 5: return 'PUBLIC=' + gtext(dq[1])
    return 'PRIVATE=%s\\%X' % (gtext(qm), dq[1])
def report_um(conn, i, m, qhost, sender_side):
    """report about message m sent by side i of the connection, to the report queue at qhost"""
    r = conn.r; b = '<MESSAGE ID>%08X</MESSAGE ID>\r\n<TARGET QUEUE>%s</TARGET QUEUE>\r\n' % (m['mid'], fmtname(m['dq'], m['qma']))
    if sender_side: b += '<NEXT HOP>%s</NEXT HOP>\r\n<HOP COUNT>%02X </HOP COUNT>\r\n' % (conn.h[1 - i].ip, m['rc'])
    return new_um(kind='RP', src=conn.h[i].qm, dq=(5, m['debug']['guid']), qma=qhost.qm, cls=1, dm=0, label=report_label(m, conn.t, r), body=b.encode('utf-16-le'))
def trace(conn, i, u, dt=None):
    """a traced message to a non-direct queue; its receiver sends a report back, the sender's own report queue is at the sender"""
    u['debug'] = dict(qt=1, guid=conn.h[i].privq.setdefault('rep', guid(conn.r))); u['tr'] = 1
    u['meta']['after'] = [(lambda: conn.send(1 - i, report_um(conn, 1 - i, u, conn.h[i], False), dt=0), 6000)]
    return send(conn, i, u, dt=dt)
def trace_sender(conn, i, u, dt=None):
    """a traced message whose report queue is at the peer: the sender reports there"""
    u['debug'] = dict(qt=1, guid=conn.h[1 - i].privq.setdefault('rep', guid(conn.r))); u['tr'] = 1
    rc = send(conn, i, u, dt=dt); conn.send(i, report_um(conn, i, u, conn.h[1 - i], True), dt=800); return rc
def transaction(conn, i, n, dt=None, feats=(), fa=0, cg=False, jn=None, jp=None, sz=None, meta=None, **mk):
    H = conn.h[i]; tid = H.next_tr(); out = []; d = None
    for k in range(n):
        u = message(conn.r, conn, i, feats=feats, dm=1, sz=sz, **mk)
        if d is None: d = (u['dq'], u['qma'])
        if not u['mqf']: u['dq'], u['qma'] = d
        u['jn'] = jn if jn is not None else u['jn']; u['jp'] = jp if jp is not None else u['jp']
        if meta: u['meta'].update(meta)
        u['pr'] = 0; u['dm'] = 1; finish_sign(u)
        out.append(conn.tx(i, u, int(k == 0), int(k == n - 1), tid, fa=fa, cg=guid(conn.r) if cg else None, dt=(dt if dt is not None and k == 0 else conn.r.randint(150, 3000))))
    return out
def mk(seed, direct=None, **k):
    cap = Cap(seed); r = cap.r
    A, B = Host(r), Host(r)
    c = Conn(cap, A, B, cap.t0, direct if direct is not None else r.random() < .5, ping=k.pop('ping', r.random() < .3), **k)
    return cap, c
