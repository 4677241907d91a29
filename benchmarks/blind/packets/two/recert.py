import hashlib, base64, re
exec(open('rsakey.py').read())
DI = bytes.fromhex('3031300d060960864801650304020105000420')
for f in ('cert.der', 'cert2.der'):
    b = bytearray(open(f, 'rb').read()); m = re.search(rb'\x17\x0d26\d{10}Z', bytes(b)); i = m.start()
    b[i + 2:i + 15] = b'200101000000Z'
    l = int.from_bytes(b[6:8], 'big') if b[5] == 0x82 else b[6]; hl = 4 if b[5] == 0x82 else 3; tbs = bytes(b[4:4 + hl + l])
    e = b'\0\1' + b'\xff' * (128 - 3 - len(DI) - 32) + b'\0' + DI + hashlib.sha256(tbs).digest()
    b[-128:] = pow(int.from_bytes(e, 'big'), D, N).to_bytes(128, 'big'); open(f, 'wb').write(b)
x = base64.b64encode(open('cert.der', 'rb').read()).decode()
open('cert.pem', 'w').write('-----BEGIN CERTIFICATE-----\n' + '\n'.join(x[i:i + 64] for i in range(0, len(x), 64)) + '\n-----END CERTIFICATE-----\n')
