"""Separate small decoder: reads the captures back and tests what the encoder promised. usage: check.py DIR"""
import struct, sys, glob, collections
def pcap(p):
    b = open(p, 'rb').read(); o = 24
    while o < len(b):
        s, us, n, _ = struct.unpack_from('<IIII', b, o); yield s * 1000000 + us, b[o + 16:o + 16 + n]; o += 16 + n
def streams(p):
    conns = {}; pings = []
    for t, f in pcap(p):
        assert f[12:14] == b'\x08\0'; ip = f[14:]; assert struct.unpack('>H', ip[2:4])[0] == len(ip)
        s, d = ip[12:16], ip[16:20]; l = ip[20:]
        if ip[9] == 17: pings.append((t, s, d, struct.unpack('>HH', l[:4]), l[8:])); continue
        sp, dp, sq = struct.unpack('>HHI', l[:8]); off = (l[12] >> 4) * 4; fl = l[13]; data = l[off:]
        c = (s, sp, d) if dp == 1801 else (d, dp, s); side = 0 if dp == 1801 else 1
        x = conns.setdefault(c, dict(buf=[bytearray(), bytearray()], nxt=[None, None], pk=[]))
        if fl & 2: x['nxt'][side] = (sq + 1) & 0xFFFFFFFF
        if data:
            assert x['nxt'][side] == sq, 'seq'
            x['nxt'][side] = (sq + len(data)) & 0xFFFFFFFF; bu = x['buf'][side]; bu += data
            while len(bu) >= 16:
                v, rs, bf, sg, size, ttrq = struct.unpack('<BBHIII', bu[:16])
                assert v == 16 and sg == 0x524F494C, 'base'
                n = size + (16 if bf & 16 and not bf & 8 else 0)
                if len(bu) < n: break
                x['pk'].append((t, side, bytes(bu[:n]))); del bu[:n]
        elif fl & 1: x['nxt'][side] = (sq + 1) & 0xFFFFFFFF
    for c, x in conns.items(): assert not x['buf'][0] and not x['buf'][1], 'rest'
    return conns, pings
def nm(b, o, k):
    if k == 0 or k == 1: return None, o
    if k in (2, 3, 4): return struct.unpack_from('<I', b, o)[0], o + 4
    if k == 5: return b[o:o + 16], o + 16
    if k == 6: return (b[o:o + 16], struct.unpack_from('<I', b, o + 16)[0]), o + 20
    n = struct.unpack_from('<H', b, o)[0]; s = b[o + 2:o + 2 + n].decode('utf-16-le'); assert s[-1] == '\0' and '\0' not in s[:-1]
    assert not s.startswith('DIRECT')
    return s[:-1], o + 2 + n + (-(2 + n)) % 4
def user(b):
    u = {}; v, rs, bf, sg, size, u['ttrq'] = struct.unpack('<BBHIII', b[:16]); u['pr'] = bf & 7; assert not bf & 0xFE00 and not bf & 0xC8 and not bf & 8
    u['src'], u['qma'] = b[16:32], b[32:48]; u['ttbr'], u['sent'], u['mid'], f = struct.unpack_from('<IIII', b, 48)
    u['f'] = f; u['rc'] = f & 31; u['dm'] = f >> 5 & 3; u['jn'] = f >> 8 & 1; u['jp'] = f >> 9 & 1; dq, aq, rq = f >> 10 & 7, f >> 13 & 7, f >> 16 & 7
    assert u['rc'] <= 29 and u['dm'] < 2 and not f & 0x80 and not f >> 24 & 0xF and not f >> 29 and f >> 21 & 1
    assert dq in (3, 5, 7) and aq in (0, 2, 3, 5, 6, 7); o = 64
    u['dq'], o = nm(b, o, dq); u['aq'], o = nm(b, o, aq); u['rq'], o = nm(b, o, rq); u['t'] = (dq, aq, rq)
    assert (u['qma'] == bytes(16)) == (dq == 7)
    if f >> 22 & 1: o += 16
    u['tx'] = None
    if f >> 20 & 1:
        u['tx'] = struct.unpack_from('<IIIII', b, o); o += 20; assert u['dm'] == 1 and u['pr'] == 0 and u['tx'][0] < 1 << 24
        if u['tx'][0] & 1: o += 16
    u['eb'] = 0
    if f >> 19 & 1:
        sf, *sz = struct.unpack_from('<HHHHII', b, o); o += 16; assert any(sz) and sf & 0x80 and not sf & 0xFF10 and sz[3] < 65536; u['eb'] = sf >> 5 & 1
        st = sf & 15
        if st == 0: assert sz[0] == 0
        if st == 1: assert b[o] == 1 and sz[0] == 8 + 4 * b[o + 1]
        if st == 2: assert b[o:o + 16] == u['src']
        if sf & 64: assert sz[4] == 0
        elif sz[2]: assert sz[4]
        for n in sz: o += n + -n % 4
    m = o; u['fl'], ll, u['cls'] = struct.unpack_from('<BBH', b, o); u['corr'] = b[o + 4:o + 24]; u['bt'], tag, ms, al, u['pl'], h, e, es = struct.unpack_from('<8I', b, o + 24)
    assert h in (0x8001, 0x8002, 0x8003, 0x8004, 0x800c, 0x800e) and e in (0x6602, 0x6610, 0x660e, 0x660f, 0x6801) and al >= ms and ll <= 250
    assert u['pl'] in (0, 1, 3, 5) and bool(u['pl']) == bool(u['eb'])
    if u['pl']: assert (e >= 0x660e and e != 0x6801) == (u['pl'] == 5)
    assert u['bt'] & 0xFFF in (0, 1, 2, 3, 11, 16, 17, 18, 19, 20, 21, 31, 65, 72); o += 56
    u['label'] = b[o:o + 2 * ll].decode('utf-16-le'); assert not ll or (u['label'][-1] == '\0' and '\0' not in u['label'][:-1]); o += 2 * ll + es
    u['body'] = b[o:o + ms]; o += ms; o += (m - o) % 4
    assert bool(u['fl']) == bool(aq) and u['fl'] < 16
    if bf & 32:
        q = struct.unpack_from('<HH', b, o); assert q[0] < 2 and q[1] == 0; o += 4 + 16 * q[0]; assert bf & 256
    else: assert not bf & 256
    if f >> 28 & 1:
        for sid in (0x320, 0x384):
            i, r, n = struct.unpack_from('<HHI', b, o); assert i == sid and r == 0; s = b[o + 8:o + 8 + 2 * n].decode('utf-16-le'); assert s[-1] == '\0' and '\0' not in s[:-1]; o += 8 + 2 * n
    if f >> 23 & 1:
        for hid in (0x64, 0xC8, 0x12C):
            n, i, r, c = struct.unpack_from('<IHHI', b, o); assert i == hid and r == 0; p = 12; names = []
            for _ in range(c):
                ft = struct.unpack_from('<H', b, o + p)[0]; p += 2
                if ft == 1: assert p % 4 == 0; names.append(b[o + p:o + p + 16]); p += 16
                elif ft == 2: p += -p % 4; names.append(struct.unpack_from('<16sI', b, o + p)); p += 20
                elif ft == 6: p += -p % 4; p += 16
                elif ft == 3:
                    e0 = p
                    while b[o + p:o + p + 2] != b'\0\0': p += 2
                    names.append(b[o + e0:o + p].decode('utf-16-le')); p += 2
                else: raise AssertionError('ft')
            assert p + -p % 4 == n, ('size', p, n); o += n
            if hid == 0x64: assert (u['dq'] in names) or ((u['qma'], u['dq']) in names)
        i, r, n = struct.unpack_from('<HHI', b, o); assert i == 0x15E and r == 0 and n % 4 == 0; o += 8 + n
    u['sess'] = None
    if bf & 16: u['sess'] = struct.unpack_from('<HHIHHHH', b, o); o += 16
    u['ext'] = len(b) - o
    if u['ext']:
        hs, rem, xf = struct.unpack_from('<IIB', b, o); assert hs == 12 and rem == len(b) - o - 12 and xf & 0x12 == 0x12
    assert len(b) % 4 == 0; return u
def main(d):
    tot = collections.Counter(); ids = 0
    for p in sorted(glob.glob(d + '/*.pcap')):
        try:
            conns, pings = streams(p); seen = {}; trids = {}
            for t, s, dd, po, data in pings: assert len(data) == 24 and data[2:4] == b'HU'; tot['ping'] += 1
            for c, x in conns.items():
                pk = x['pk']; st = [dict(sent=0, rs=0, ack=0, racked=set(), recn=[]) for _ in (0, 1)]; pend = [[], []]
                for k, (t, side, b) in enumerate(pk):
                    bf = struct.unpack_from('<H', b, 2)[0]; S = st[side]; O = st[1 - side]
                    def sess(v):
                        a, rn, rf, us, rsn, w, _ = v
                        assert a <= O['sent'] and a >= O['ack'], 'ack'; O['ack'] = a; assert us == S['sent'] and rsn == S['rs'], 'counts'
                        assert (rn == 0) == (rf == 0); assert a == O['sent'], 'lag'
                        if rf: assert rf & 1
                        for q in range(32):
                            if rf >> q & 1: assert rn + q not in O['racked'] and rn + q <= O['rs']; O['racked'].add(rn + q)
                        assert w == 64 or 'pause' in p
                    if k < 4:
                        assert bf & 8 and (b[18] & 15) == (2 if k < 2 else 3) and side == k % 2; tot['init'] += 1
                        if k == 0: se = b[24 + 28 + 1] & 1; dnull = b[36:52] == bytes(16)
                        if k == 0: assert (b[56 + 1 - 0] if False else True)
                        continue
                    if bf & 8: assert b[18] == 1 and bf & 16 and len(b) == 36; sess(struct.unpack_from('<HHIHHHH', b, 20)); tot['sa'] += 1; continue
                    u = user(b); S['sent'] += 1; S['rs'] += u['dm']; tot['um'] += 1; tot['cls%04x' % u['cls']] += 1
                    if u['sess']: sess(u['sess']); tot['piggy'] += 1
                    assert S['sent'] - S['ack'] <= 64, 'window'
                    key = (u['src'], u['mid'])
                    if key in seen: assert seen[key] == (u['dq'], u['body']) ; tot['resent'] += 1
                    seen[key] = (u['dq'], u['body'])
                    assert t // 1000000 - u['sent'] <= u['ttrq'] and t // 1000000 >= u['sent']
                    if u['cls'] == 0xFF or (u['cls'] and u['label'] == 'QM Ordering Ack\0'): assert bf == 0 and len(u['body']) == 36 and u['ttrq'] == 0xFFFFFFFF
                if 'reconnect' not in p: assert st[0]['ack'] == st[0]['sent'] and st[1]['ack'] == st[1]['sent'], 'unacked'
        except AssertionError as e:
            import traceback; print('BAD', p, e, traceback.extract_tb(e.__traceback__)[-1].lineno)
    print(dict(tot))
if __name__ == "__main__": main(sys.argv[1])
