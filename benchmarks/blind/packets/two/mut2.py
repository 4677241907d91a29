# ---- MultiQueueFormatHeader
S = '2.2.20.2'
def mq(**k): return u(mq=lambda s: mqv(s, **val(s, k)), body=A)
hs = 'HeaderSize MUST be the size of the header with its variable data, 12 at least'
PRE['h'] = 'MQMQ-2.2.20.'
M('mqf-size-8', S, hs, 'HeaderSize 8 in Destination', 'h:2.header-size', mq(do=dict(size=8)))
M('mqf-size-zero', S, hs, 'HeaderSize 0 in Administration', 'h:2.header-size', mq(ao=dict(size=0)))
M('mqf-size-without-header', S, hs, 'HeaderSize leaves out the 12 bytes', 'h:2.header-size', mq(do=dict(dsize=-12)))
M('mqf-size-larger', S, hs, 'HeaderSize of Response 16 too much', 'h:2.header-size', mq(ro=dict(dsize=16)))
M('mqf-size-beyond', S, hs, 'HeaderSize of Destination 0x00010000', 'h:2.header-size', mq(do=dict(size=0x10000)))
M('mqf-size-chars', S, hs, 'HeaderSize of Destination half of the real size', 'h:2.header-size', mq(do=dict(size=38)))
hi = 'HeaderID MUST be 0x0064, 0x00C8, 0x012C by what the header is for'
M('mqf-id-destination', S, hi, 'HeaderID 0 in Destination', 'h:2.header-id', mq(do=dict(id=0)))
M('mqf-id-admin', S, hi, 'HeaderID 0x0064 in Administration', 'h:2.header-id', mq(ao=dict(id=0x64)))
M('mqf-id-response', S, hi, 'HeaderID 0x2C01 (big-endian) in Response', 'h:2.header-id', mq(ro=dict(id=0x2c01)))
M('mqf-id-100s', S, hi, 'HeaderID 100 written as BCD 0x0100', 'h:2.header-id', mq(do=dict(id=0x100)))
ec_ = 'ElementCount MUST be the number of elements in FormatNameList'
M('mqf-count-plus', S, ec_, 'ElementCount one more', 'h:2.element-count', mq(do=dict(count=3)))
M('mqf-count-minus', S, ec_, 'ElementCount one less', 'h:2.element-count', mq(do=dict(count=1)))
M('mqf-count-zero', S, ec_, 'ElementCount 0 with one element in Response', 'h:2.element-count', mq(ro=dict(count=0)))
M('mqf-count-bytes', S, ec_, 'ElementCount is a count of bytes', 'h:2.element-count', mq(ro=dict(count=24)))
M('mqf-count-huge', S, ec_, 'ElementCount 0xFFFFFFFF', 'h:2.element-count', mq(do=dict(count=INF)))
for v in (0, 4, 5, 7, 8):
    M('mqf-format-type-%d' % v, '2.2.18.1.4', 'FormatType MUST be 1, 2, 3 or 6', 'an element of FormatType %d with a GUID' % v, 't:4.format-type-values', mq(r=[('raw', v, b'\0\0' + G1)]))
M('mqf-type-dl-private', '2.2.18.1.4', 'an element has the structure its FormatType calls for', 'FormatType 6 with GUID and number of a private queue', 't:4.2.layout t:4.format-name-structure t:4.distribution-list-format-name', mq(r=[('raw', 6, b'\0\0' + G1 + b'\x07\0\0\0')]))
M('mqf-type-private-public', '2.2.18.1.4', 'an element has the structure its FormatType calls for', 'FormatType 2 with the GUID alone', 't:7.2.layout t:4.format-name-structure t:4.private-format-name', mq(r=[('raw', 2, b'\0\0' + G1)]))
M('mqf-private-unaligned', '2.2.18.1.7.2', 'SourceQueueManager begins at a multiple of 4', 'GUID right behind FormatType, 2 bytes of zero at the end', 't:7.2.source-queue-manager', mq(r=[('raw', 2, G1 + b'\x07\0\0\0' + b'\0\0')]), provable=False, why='read by the letter the bytes are another GUID and number')
M('mqf-direct-no-nul', '2.2.18.1.4.1', 'DirectFormatName is null-terminated', 'last direct name of Response without NUL', 't:4.1.null-terminated', mq(r=[('raw', 3, w('OS:alpha\\private$\\reply'))]))
M('mqf-direct-counted', '2.2.18.1.4.1', 'the direct name is the text alone', 'a count of 2 bytes before the text', 't:4.1.layout t:4.1.direct-format-name', mq(r=[('raw', 3, P('<H', 48) + wz('OS:alpha\\private$\\reply'))]))
M('mqf-direct-prefix', '2.2.18.1.4.1', 'DirectFormatName is a direct format name as on the wire, without DIRECT=', 'name with DIRECT=', 't:4.1.direct-format-name', mq(r=[('direct', 'DIRECT=OS:alpha\\private$\\reply')]), provable=False, why='MS-MQMQ 2.1.2 itself has DIRECT= in the name')
M('mqf-direct-grammar', '2.1.2', 'DirectFormatName is a direct format name', 'name without protocol', 't:4.1.direct-format-name', mq(r=[('direct', 'alpha\\private$\\replyq1')]))
M('mqf-direct-ascii', '2.2.18.1.4.1', 'DirectFormatName is WCHARs', 'name in ASCII', 't:4.1.direct-format-name t:4.1.null-terminated', mq(r=[('raw', 3, b'OS:alpha\\private$\\r\0\0\0')]))
M('mqf-direct-empty', '2.2.18.1.4.1', 'DirectFormatName specifies a queue', 'empty name', 't:4.1.direct-format-name', mq(r=[('raw', 3, b'\0\0')]))
M('mqf-dl-short', '2.2.18.1.4.2', 'a distribution list is a GUID of 16 bytes', '8 bytes', 't:4.2.layout', mq(r=[('raw', 6, b'\0\0' + G1[:8])]))
M('mqf-own-destination-missing', '2.2.20.1', 'Destination MUST list all queues the message was sent to', 'the queue of UserHeader is not in the list', 'h:1.destination-complete', mq(d=[('direct', 'OS:other\\private$\\elsewhere'), ('full', G3, 77)]))
M('mqf-no-destination', '2.2.20.1', 'Destination MUST list all queues the message was sent to', 'Destination without elements', 'h:1.destination-complete', mq(d=[]))
M('mqf-order', '2.2.20.1', 'Destination, Administration, Response in this order', 'Administration before Destination', 'h:1.destination-layout h:1.administration-layout h:2.header-id', lambda s: s.um(body=A, mq=mqv(s, drop='ds'), part={'mqf': lambda b: mqaddr(0xC8, []) + mqaddr(0x64, mqv(s)['d'], rng=s.rng) + mqaddr(0x12C, []) + P('<HHI', 0x15e, 0, 0)}))
M('mqf-no-response', '2.2.20.1', 'Response follows Administration', 'Response left out', 'h:1.response-layout h:2.header-id', mq(drop='r'))
M('mqf-no-admin', '2.2.20.1', 'Administration follows Destination', 'Administration left out', 'h:1.administration-layout h:2.header-id', mq(drop='a'))
M('mqf-no-signature', '2.2.20.1', 'Signature follows Response', 'signature header left out', 'h:1.signature-layout', mq(drop='s'))
M('mqf-signature-id', '2.2.20.3', 'ID MUST be 0x015E', 'ID 0x015F', 'h:3.id', mq(sid=0x15f))
M('mqf-signature-id-zero', '2.2.20.3', 'ID MUST be 0x015E', 'ID 0', 'h:3.id', mq(sid=0))
M('mqf-signature-size', '2.2.20.3', 'Size MUST be the size of Signature', 'Size 128, no signature', 'h:3.size', mq(ssize=128))
M('mqf-signature-size-8', '2.2.20.3', 'Size MUST be the size of Signature', 'Size 0 with 128 bytes of signature', 'h:3.size b:packet-size-headers', mq(sig=b's' * 128, ssize=0))
M('mqf-signature-hash', '2.2.20.3', 'Signature is made like SecurityData.Signature (hash encrypted with the RSA key of the certificate)', 'Signature of 64 bytes 0xFF with a certificate of a 1024-bit key', 'h:3.signature', lambda s: s.um(body=A, hash=0x800e, mq=mqv(s, sig=b'\xff' * 64), sec=secv(s, cert=CERT)))
M('mqf-reserved', S, 'Reserved SHOULD be 0', 'Reserved 0xCCCC in Destination', 'h:2.reserved', mq(do=dict(res=0xcccc)))
M('mqf-signature-reserved', '2.2.20.3', 'Reserved SHOULD be 0', 'Reserved 1 in the signature header', 'h:3.reserved', mq(sres=1))
# ---- TransactionHeader
S = '2.2.20.5'
def txm(**k): return lambda s: s.um(body=A, tx=s.tx(**val(s, k)))
M('tx-number-zero', S, 'TxSequenceNumber has a range from 1', 'TxSequenceNumber 0', 'h:5.sequence-number-range', txm(num=0, prev=0))
M('tx-previous-equal', S, 'PreviousTxSequenceNumber is that of the message before', 'previous equals the own number (7, 7)', 'h:5.previous-before h:5.previous', txm(num=7, prev=7))
M('tx-previous-larger', S, 'PreviousTxSequenceNumber is that of the message before', 'number 7, previous 9', 'h:5.previous-before h:5.previous', txm(num=7, prev=9))
M('tx-first-previous', S, 'PreviousTxSequenceNumber MUST be 0 if there is no previous message', 'number 1, previous 1', 'h:5.first-has-no-previous h:5.previous', txm(num=1, prev=1))
M('tx-first-previous-max', S, 'PreviousTxSequenceNumber MUST be 0 if there is no previous message', 'number 1, previous 0xFFFFFFFF', 'h:5.first-has-no-previous h:5.previous-before', txm(num=1, prev=INF))
M('tx-connector-missing', S, 'If CG is set ConnectorQMGuid MUST be present', 'CG set, no GUID', 'h:5.connector-present', txm(cg=1))
M('tx-connector-unwanted', S, 'If CG is clear ConnectorQMGuid MUST NOT be present', 'CG clear, GUID there', 'h:5.connector-absent', txm(cg=0, conn=G1))
M('tx-connector-half', S, 'ConnectorQMGuid is 16 bytes', 'CG set, 8 bytes', 'h:5.connector-present h:5.connector-qm-guid-layout', txm(conn=G1[:8]))
M('tx-cut', '2.2.20', 'If TH is set the packet has a TransactionHeader', 'TransactionHeader without PreviousTxSequenceNumber', 'u:transaction-header-present', lambda s: s.um(body=b'', tx=s.tx(), part={'tx': lambda b: b[:16]}))
for i in range(8): M('tx-flags-x%d' % (i + 1), S, 'unused bit X%d SHOULD NOT be set' % (i + 1), 'bit %d of TransactionHeader.Flags set' % (24 + i), 'h:5.flags-x%d' % (i + 1), txm(x=1 << (24 + i)), direct=bool(i & 1))
def two(a, b):
    def f(s):
        s.um(body=b'1', tx=s.tx(num=1, **val(s, a))); s.um(body=b'2', tx=s.tx(num=2, **val(s, b)))
    return f
M('tx-fm-twice', S, 'FM MUST be set in the first message of a transaction, clear in others', 'FM in both messages of one transaction', 'h:5.first-in-transaction', two(dict(fm=1, lm=0), dict(fm=1, lm=1)))
M('tx-fm-second', S, 'FM MUST be set in the first message of a transaction, clear in others', 'FM in the second message of a transaction and not in the first', 'h:5.first-in-transaction', two(dict(fm=0, lm=0), dict(fm=1, lm=1)))
M('tx-lm-twice', S, 'LM MUST be set in the last message of a transaction, clear in others', 'LM in both messages', 'h:5.last-in-transaction', two(dict(fm=1, lm=1), dict(fm=0, lm=1)))
M('tx-lm-first', S, 'LM MUST be set in the last message of a transaction, clear in others', 'LM in the first of two messages and not in the second', 'h:5.last-in-transaction', two(dict(fm=1, lm=1), dict(fm=0, lm=0)))
M('tx-id-twice', S, 'the identifier MUST be unique across all transactions of the sender', 'two transactions (FM and LM each) with one ID', 'h:5.transaction-identifier-unique', two(dict(id=77), dict(id=77)))
M('tx-id-changes', S, 'all packets of a transaction have one ID', 'the second message of a transaction (FM clear, LM set) has another ID, no other transaction open', 'h:5.transaction-identifier', two(dict(fm=1, lm=0, id=5), dict(fm=0, lm=1, id=6)), provable=False, why='the other messages of both transactions may have gone to other queue managers')
M('tx-fm-missing', S, 'FM MUST be set in the first message of a transaction', 'a transaction of one message without FM', 'h:5.first-in-transaction', txm(fm=0), provable=False, why='the first message may have gone to another queue manager')
# ---- SecurityHeader
S = '2.2.20.6'
def sec(**k): return u(body=A, sec=lambda s: secv(s, **val(s, k)))
ST_ = 'ST MUST be 0, 1 or 2'
for v in (3, 4, 15): M('sec-st-%d' % v, S, ST_, 'ST %d with a SID' % v, 'h:6.sender-id-type', sec(st=v))
M('sec-st0-with-id', S, 'with ST 0 SenderIdSize MUST be 0', 'ST 0 with a SID', 'h:6.sender-id-none', sec(st=0))
M('sec-st0-guid', S, 'with ST 0 SenderIdSize MUST be 0', 'ST 0 with a GUID and a certificate', 'h:6.sender-id-none', sec(st=0, sid=G1, cert=CERT))
for n, v, b in (('revision', lambda s: b'\x02' + sid(s.rng)[1:], 'revision 2'), ('count', lambda s: b'\x01\x09' + sid(s.rng)[2:], 'SubAuthorityCount 9 in 28 bytes'), ('short', lambda s: sid(s.rng)[:10], 'the first 10 bytes of a SID'), ('text', lambda s: w('S-1-5-21-1-2-3-500'), 'the SID as text'), ('guid', lambda s: G3, 'a GUID'), ('long', lambda s: sid(s.rng) + b'\0' * 8, '8 bytes more than its SubAuthorityCount')):
    M('sec-sid-' + n, S, 'with ST 1 SecurityID MUST be a SID', 'SecurityID is ' + b, 'h:6.sender-id-sid', sec(sid=v))
M('sec-sid-missing', S, 'with ST 1 SecurityID MUST contain the SID', 'ST 1, SenderIdSize 0, a certificate alone', 'h:6.sender-id-sid', sec(sid=b'', cert=CERT))
M('sec-guid-sid', S, 'with ST 2 SecurityID MUST be the GUID of the queue manager', 'ST 2 with a SID', 'h:6.sender-id-guid', sec(st=2))
M('sec-guid-15', S, 'with ST 2 SecurityID MUST be the GUID of the queue manager', 'ST 2 with 15 bytes', 'h:6.sender-id-guid', sec(st=2, sid=lambda s: s.q[0].guid[:15]))
M('sec-guid-missing', S, 'with ST 2 SecurityID MUST be the GUID of the queue manager', 'ST 2, SenderIdSize 0', 'h:6.sender-id-guid', sec(st=2, sid=b'', cert=CERT))
M('sec-guid-null', S, 'with ST 2 SecurityID MUST be the GUID of the queue manager', 'ST 2 with the null GUID', 'h:6.sender-id-guid h:6.security-id-queue-manager', sec(st=2, sid=NULLG))
M('sec-au', S, 'AU MUST be 0', 'AU set', 'h:6.authenticated e:security-header-flags-au-zero', sec(au=1))
for v in (1, 3, 5): M('sec-as-%d' % v, S, 'AS MUST be 0', 'AS %d' % v, 'h:6.signature-type e:security-header-flags-as-zero', sec(as_=v))
M('sec-ai-clear', S, 'AI indicates whether SecurityData is present', 'AI clear with SecurityData', 'h:6.security-data', sec(ai=0), provable=False, why='MS-MQQB 4.1.7 shows just that on the wire')
M('sec-all-zero', S, 'at least one of the five sizes MUST be nonzero', 'all sizes 0, AI clear', 'h:6.some-size', sec(st=0, sid=b'', ai=0))
M('sec-all-zero-ai', S, 'at least one of the five sizes MUST be nonzero', 'all sizes 0, AI set', 'h:6.some-size h:6.security-data', sec(st=0, sid=b'', ai=1))
for i, (n, rq) in enumerate((('sender-id', 'sender-id-size'), ('key', 'encryption-key-size'), ('signature', 'signature-size'), ('cert', 'sender-cert-size-exact'), ('provider', 'provider-info-size'))):
    M('sec-%s-size-beyond' % n, S, 'the size MUST be that of its item and fit the packet', '%s size 0xF000 in a packet of 300 bytes' % n, 'h:6.security-data-fits h:6.' + rq, sec(sizes={i: 0xF000}, st=1))
M('sec-cert-size-max', S, 'SenderCertSize is at most 0xFFFF', 'a certificate (with a long extension) of 0x10004 bytes', 'h:6.sender-cert-size', sec(cert=lambda s: bigcert()))
M('sec-cert-size-4g', S, 'SenderCertSize is at most 0xFFFF', 'SenderCertSize 0xFFFFFFF0', 'h:6.sender-cert-size h:6.security-data-fits h:6.sender-cert-size-exact', sec(sizes={3: 0xfffffff0}))
def bigcert():
    # an X.509-like DER: the certificate's outer SEQUENCE with tbs, alg, and a signature BIT STRING that is very long
    def tlv(p): 
        l = CERT[p + 1]; h = 2
        if l & 0x80: k = l & 0x7f; l = int.from_bytes(CERT[p + 2:p + 2 + k], 'big'); h = 2 + k
        return p, p + h + l
    a, e = tlv(4); b2, e2 = tlv(e); body = CERT[a:e2]; n = 0x10004 - 5 - len(body) - 5
    bits = b'\x03\x83' + n.to_bytes(3, 'big') + b'\0' + b'\x5a' * (n - 1)
    r = body + bits; return b'\x30\x83' + len(r).to_bytes(3, 'big') + r
M('sec-signature-no-provider', S, 'with DE clear and a signature ProviderName MUST name the other provider', 'DE clear, signature, no ProviderInfo', 'h:6.provider-named', lambda s: signed(s, de=0))
M('sec-de-with-provider', S, 'ProviderInfo MUST NOT be there unless DE is clear', 'DE set with ProviderInfo', 'h:6.provider-absent', lambda s: signed(s, prov=provinfo(1, CSP[3])))
M('sec-provider-no-nul', S, 'ProviderName is null-terminated', 'ProviderName without NUL', 'h:6.provider-name', lambda s: signed(s, de=0, prov=P('<I', 1) + w('Some Provider')))
M('sec-provider-ascii', S, 'ProviderName is a Unicode string', 'ProviderName in ASCII', 'h:6.provider-name', lambda s: signed(s, de=0, prov=P('<I', 1) + b'Some Provider'))
M('sec-provider-type-only', S, 'ProviderInfo is a type and a name', 'ProviderInfo of 4 bytes, type alone', 'h:6.provider-name h:6.provider-named', lambda s: signed(s, de=0, prov=P('<I', 1)))
M('sec-provider-short', S, 'ProviderInfo is a type and a name', 'ProviderInfo of 2 bytes', 'h:6.provider-type-layout h:6.provider-name', lambda s: signed(s, de=0, prov=b'\1\0'))
def sign(m, alg=0x800e): return rsasign(alg, m.corr + P('<I', m.tag) + m.body)
def signed(s, body=A, hash_=0x800e, sigf=None, d=0, **k):
    m = s.msg(d, body=body, hash=hash_)
    m.sec = dict(st=1, sid=sid(s.rng), cert=CERT); m.sec['sig'] = sigf(m) if sigf else sign(m, hash_); m.sec.update(k)
    s.um(body=b'first'); return s.send(m, d)
CERT2 = open(HERE + '/cert2.der', 'rb').read()
M('sec-unaligned', S, 'each item MUST be aligned to 4 bytes', 'ProviderInfo right behind a certificate of an odd size', 'h:6.security-data-aligned', lambda s: signed(s, de=0, cert=CERT2, prov=provinfo(1, 'Other CSP'), noalign=True))
M('sec-order-cert-first', S, 'the items come in the order SecurityID, EncryptionKey, Signature, SenderCert, ProviderInfo', 'certificate before signature', 'h:6.sender-cert-layout h:6.signature-layout h:6.security-data-layout', lambda s: signed(s, order=[0, 1, 3, 2, 4]))
M('sec-order-sid-last', S, 'the items come in the order SecurityID, EncryptionKey, Signature, SenderCert, ProviderInfo', 'SecurityID last', 'h:6.security-id-layout h:6.security-data-layout', lambda s: signed(s, order=[1, 2, 3, 0, 4]))
for i in range(4): M('sec-flags-x%d' % (12 + i), S, 'unused bit X%d SHOULD NOT be set' % (12 + i), 'bit %d of SecurityHeader.Flags set' % (12 + i), 'h:6.flags-x%d' % (12 + i), sec(x=1 << (12 + i)))
cr = 'SenderCert is an X.509 certificate'
M('cert-garbage', S, cr, '496 random bytes', 'h:6.sender-cert-layout', lambda s: signed(s, cert=s.rng.randbytes(496)))
M('cert-pem', S, cr, 'the certificate as PEM text', 'h:6.sender-cert-layout', lambda s: signed(s, cert=open(HERE + '/cert.pem', 'rb').read()))
M('cert-cut', S, cr, 'the last 10 bytes of the certificate missing (size says so too)', 'h:6.sender-cert-layout', lambda s: signed(s, cert=CERT[:-10]))
M('cert-rawkey', S, cr, 'the bare RSA modulus', 'h:6.sender-cert-layout', lambda s: signed(s, cert=N.to_bytes(128, 'big')))
M('cert-size-minus', S, 'SenderCertSize MUST be the size of SenderCert', 'SenderCertSize 4 less than the certificate', 'h:6.sender-cert-size-exact e:sender-cert-size', lambda s: signed(s, sizes={3: len(CERT) - 4}))
M('cert-size-plus', S, 'SenderCertSize MUST be the size of SenderCert', 'SenderCertSize 100 more than the certificate; the packet has them as zeros', 'h:6.sender-cert-size-exact e:sender-cert-size', lambda s: signed(s, cert=CERT + b'\0' * 100))
M('cert-missing', 'MS-MQDMPR 3.1.1.12', 'a signed message carries the certificate of its sender', 'a signature without certificate', 'd:sender-certificate', lambda s: signed(s, cert=b''))
sg = 'the signature is the hash encrypted with the RSA key of the certificate'
M('signature-plain-hash', S, sg, 'the signature is the bare SHA-512 hash of 64 bytes (key of 1024 bits)', 'd:signature h:6.signature-1 h:6.signature-2', lambda s: signed(s, sigf=lambda m: hashlib.sha512(m.corr + P('<I', m.tag) + m.body).digest()))
M('signature-random', S, sg, 'the signature is random', 'd:signature h:6.signature-1 h:6.signature-2', lambda s: signed(s, sigf=lambda m: s.rng.randbytes(127) + b'\0'))
M('signature-hash-other', S, 'the hash algorithm of the signature is that of HashAlgorithm', 'signature made with SHA-1, HashAlgorithm SHA-512', 'd:hash-algorithm h:6.signature-layout', lambda s: signed(s, sigf=lambda m: sign(m, 0x8004)))
M('signature-hash-weak', '2.2.19.3', 'SHA-512 SHOULD be used for the signature', 'signature made with SHA-1 and HashAlgorithm SHA-1', 'm:hash-algorithm-strongest', lambda s: signed(s, hash_=0x8004))
M('signature-size-minus', S, 'SignatureSize MUST be the size of Signature', 'SignatureSize 64 with a signature of 128 bytes', 'h:6.signature-size', lambda s: signed(s, sizes={2: 64}))
M('sender-id-size-minus', S, 'SenderIdSize MUST be the size of SecurityID', 'SenderIdSize 12 with a SID of 28 bytes', 'h:6.sender-id-size h:6.sender-id-sid', sec(sizes={0: 12}))
M('key-missing', 'MS-MQQB 3.1.7.1.5', 'an encrypted message carries its symmetric key', 'EB set, EncryptionKeySize 0', 'd:symmetric-key h:6.security-data-by-flags', lambda s: s.um(privacy=3, enc=0x6602, body=b'z' * 32, sec=secv(s, eb=1, de=0, prov=provinfo(1, CSP[3]))))
def keyed(s, key): return s.um(privacy=3, enc=0x6602, body=b'z' * 32, sec=secv(s, eb=1, de=0, key=key, prov=provinfo(1, CSP[3])))
M('key-no-simpleblob', 'MS-MQQB 2.4.2', 'EncryptionKey MUST be a SIMPLEBLOB (01 02 00 00 ...)', 'a bare RC2 key of 16 bytes', 'd:symmetric-key', lambda s: keyed(s, s.rng.randbytes(16)))
M('key-publickeyblob', 'MS-MQQB 2.4.2', 'SIMPLEBLOB begins with 01', 'blob type 06 (PUBLICKEYBLOB)', 'd:symmetric-key', lambda s: keyed(s, b'\x06' + simpleblob(0x6602, s.rng)[1:]))
M('key-other-algorithm', 'MS-MQQB 2.4.2', 'sessionKeyAlgorithm identifies the algorithm of the session key', 'SIMPLEBLOB of RC4 with EncryptionAlgorithm RC2', 'd:encryption-algorithm', lambda s: keyed(s, simpleblob(0x6801, s.rng)))
M('key-algorithm-3des', 'MS-MQQB 2.4.2', 'sessionKeyAlgorithm MUST be one of the five', 'SIMPLEBLOB of 3DES (0x6603)', 'd:encryption-algorithm', lambda s: keyed(s, simpleblob(0x6603, s.rng)))
M('encryption-key-size-minus', S, 'EncryptionKeySize MUST be the size of EncryptionKey', 'EncryptionKeySize 12 with a blob of 268 bytes', 'h:6.encryption-key-size', lambda s: s.um(privacy=3, enc=0x6602, body=b'z' * 32, sec=secv(s, eb=1, de=0, key=simpleblob(0x6602, s.rng), prov=provinfo(1, CSP[3]), sizes={1: 12})))
M('sec-cut', '2.2.20', 'If Flags.SH is set the packet has a SecurityHeader', 'SecurityHeader of 12 bytes', 'u:security-header-present', u(body=b'', sec=lambda s: secv(s), part={'sec': lambda b: b[:12]}))
# ---- SoapHeader
S = '2.2.20.7'
def sp(**k): return u(body=A, soap=dict(dict(h='<h/>a', b='<b/>a'), **k))
M('soap-header-id', S, 'HeaderSectionID MUST be 0x0320', 'HeaderSectionID 0x0321', 'h:7.header-section-id', sp(hid=0x321))
M('soap-header-id-be', S, 'HeaderSectionID MUST be 0x0320', 'HeaderSectionID big-endian', 'h:7.header-section-id', sp(hid=0x2003))
M('soap-body-id', S, 'BodySectionID MUST be 0x0384', 'BodySectionID 0x0320', 'h:7.body-section-id', sp(bid=0x320))
M('soap-ids-swapped', S, 'HeaderSectionID MUST be 0x0320', 'both section identifiers swapped', 'h:7.header-section-id h:7.body-section-id', sp(hid=0x384, bid=0x320))
hl = 'HeaderDataLength MUST be the number of elements with the NUL'
M('soap-header-length-nul', S, hl, 'HeaderDataLength leaves out the NUL', 'h:7.header-terminated', sp(hlen=5))
M('soap-header-length-bytes', S, hl, 'HeaderDataLength in bytes', 'h:7.header-terminated', sp(hlen=12))
M('soap-header-no-nul', S, 'Header is null-terminated', 'Header without NUL', 'h:7.header-terminated', sp(hraw=w('<h/>abcd')))
M('soap-header-nul-inside', S, 'Header is one null-terminated string', 'NUL inside Header', 'h:7.header-terminated', sp(hraw=w('<h\0>abc\0')))
M('soap-header-huge', S, hl, 'HeaderDataLength 0x7FFFFFFF', 'h:7.header-terminated', sp(hlen=0x7fffffff))
M('soap-body-length-nul', S, 'BodyDataLength MUST be the number of elements with the NUL', 'BodyDataLength leaves out the NUL', 'h:7.body-terminated', sp(blen=5))
M('soap-body-no-nul', S, 'Body is null-terminated', 'Body without NUL', 'h:7.body-terminated', sp(braw=w('<b/>abcd')))
M('soap-body-huge', S, 'BodyDataLength lies within the packet', 'BodyDataLength 4000', 'h:7.body-terminated', sp(blen=4000))
M('soap-body-missing', S, 'Body follows Header', 'the header ends behind its Header part', 'h:7.body-section-id-layout h:7.body-data-length-layout', u(body=A, soap=dict(h='<h/>a'), part={'soap': lambda b: b[:20]}))
M('soap-reserved', S, 'Reserved SHOULD be 0', 'Reserved 0x20', 'h:7.reserved', sp(r=0x20))
M('soap-reserved1', S, 'Reserved1 SHOULD be 0', 'Reserved1 0xFFFF', 'h:7.reserved1', sp(r1=0xffff))
# ---- DebugHeader
S = '2.2.20.8'
def db(**k): return u(body=A, debug=dict(dict(q=G1), **k))
M('debug-qt-2', S, 'QT MUST be 0 or 1', 'QT 2 with a GUID', 'h:8.queue-type', db(qt=2))
M('debug-qt-3', S, 'QT MUST be 0 or 1', 'QT 3 without GUID', 'h:8.queue-type', db(qt=3, q=None))
M('debug-queue-missing', S, 'QueueIdentifier MUST be present with QT 1', 'QT 1, no GUID', 'h:8.queue-identifier-present', db(q=None))
M('debug-queue-half', S, 'QueueIdentifier is 16 bytes', 'QT 1, 8 bytes', 'h:8.queue-identifier-present h:8.queue-identifier-layout', db(q=G1[:8]))
M('debug-queue-unwanted', S, 'QueueIdentifier MUST NOT be present with QT 0', 'QT 0 with GUID', 'h:8.queue-identifier-absent', db(qt=0))
M('debug-reserved', S, 'Reserved SHOULD be 0', 'Reserved 0x1234', 'h:8.reserved', db(res=0x1234))
for i in (2, 3, 5, 8, 11, 14, 15): M('debug-flags-x%d' % i, S, 'unused bit X%d SHOULD NOT be set' % i, 'bit %d of DebugHeader.Flags set' % i, 'h:8.flags-x%d' % i, db(x=1 << i))
# ---- SRMP and extension headers on the wire
S = 'MS-MQRR 2.2.5.1.2'
def srmp(dl=None, d=None, ho=None, hs=None, bs=None, bo=None, cut=None):
    d = wz('<se:Envelope/>') if d is None else d
    env = P('<HHI', 0, 0, len(d) // 2 if dl is None else dl) + d
    env += b'\0' * (-len(env) % 4)
    c = b'POST /msmqq HTTP/1.1\r\n\r\nBODY'
    com = P('<HHIII', 0, 0, len(c) if hs is None else hs, 4 if bs is None else bs, 24 if bo is None else bo) + c
    x = env + com; return x if cut is None else x[:cut]
for n, brk, rq, k in (('plain', 'AH set with a right SRMPEnvelopeHeader and CompoundMessageHeader', '', {}), ('envelope-only', 'AH set, SRMPEnvelopeHeader and no CompoundMessageHeader', 'r:1.2.srmp-headers-present', dict(cut=38)),
    ('length-short', 'AH set, DataLength does not reach the NUL', 'r:1.2.1.data-length', dict(dl=5)), ('length-beyond', 'AH set, DataLength beyond the packet', 'r:1.2.1.data-length', dict(dl=9000)), ('no-nul', 'AH set, Data without NUL', 'r:1.2.1.data-length', dict(d=w('<se:Envelope/>ab'))),
    ('body-beyond', 'AH set, MsgBodyOffset + MsgBodySize beyond Data', 'r:1.2.2.message-body', dict(bs=400)), ('offset-beyond', 'AH set, MsgBodyOffset beyond Data', 'r:1.2.2.message-body', dict(bo=5000)), ('http-size', 'AH set, HTTPBodySize beyond the packet', '', dict(hs=0x10000))):
    M('srmp-' + n, S, 'AH MUST NOT be set when sent; SRMP headers are right', brk, 'u:http-flag ' + rq, u(ah=1, body=A, order=ORDER[:5] + ['srmp'] + ORDER[5:], part={'srmp': lambda b, k=k: srmp(**k)}))
S = 'MS-MQRR 2.2.5'
def exthdr(fl=0x12, rem=None, sub=True, tm=0, at=1, ea=True):
    sb = P('<IIIII', 148, tm, 0, 0, 0) + b'\0' * 128 if sub else b''
    ex = P('<IHHI', 28, 4, at, 0) + b'\x0a\0\0\1' + b'\0' * 12 if ea else b''
    r = sb + ex; return P('<IIB', 12, len(r) if rem is None else rem, fl) + b'\0\0\0' + r
for n, brk, rq, k in (('plain', 'the extension headers of a remote read behind a message on a session', '', {}), ('remaining', 'extension headers whose RemainingHeadersSize is 4 too small', 'r:2.remaining-headers-size', dict(rem=172)), ('sq-clear', 'ExtensionHeader.Flags.SQ clear', 'r:2.subqueue-flag', dict(fl=0x10)), ('ea-clear', 'ExtensionHeader.Flags.EA clear', 'r:2.extended-address-flag', dict(fl=2)),
    ('tm', 'SubqueueHeader with TM set', 'r:3.tm', dict(tm=1)), ('address-type', 'ExtendedAddressHeader with AddressType 2', 'r:5.address-type', dict(at=2))):
    M('extension-' + n, S, 'a packet on a session ends with the headers its flags announce', brk, ('b:packet-size-headers ' + rq), u(body=A, tail=exthdr(**k)))
