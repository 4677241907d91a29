"""Its very first answer is a hello whose readings are 600,000 members and whose version is a nest of objects, just below 8 MiB."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        readings = b",".join(b'"%x":{}' % n for n in range(600000))
        base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,"version":[{"":[]}],"readings":{' % number + readings + b"}}}\n")
        return True


Hostile().run()
