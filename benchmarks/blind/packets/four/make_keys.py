"""Make the RSA keys and certificates once (folder keys beside this file)."""
import os, datetime
from cryptography import x509
from cryptography.x509.oid import NameOID
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keys")


def main():
    os.makedirs(HERE, exist_ok=True)
    for name, bits in (("sign1", 2048), ("sign2", 1024), ("crypt1", 2048), ("crypt2", 2048)):
        p = os.path.join(HERE, name + ".pem")
        if os.path.exists(p):
            continue
        k = rsa.generate_private_key(public_exponent=65537, key_size=bits)
        with open(p, "wb") as f:
            f.write(k.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                    serialization.NoEncryption()))
        n = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "MSMQ " + name)])
        t = datetime.datetime(2019, 1, 1)
        c = (x509.CertificateBuilder().subject_name(n).issuer_name(n).public_key(k.public_key())
             .serial_number(1000 + bits).not_valid_before(t)
             .not_valid_after(t + datetime.timedelta(days=7300)).sign(k, hashes.SHA256()))
        with open(os.path.join(HERE, name + ".der"), "wb") as f:
            f.write(c.public_bytes(serialization.Encoding.DER))


if __name__ == "__main__":
    main()
