"""MQDMPR-3.1.7.1.3.invalid-path-name is broken.

Creating a queue under a path name that breaks the path-name grammar fails.

1. create 'vm\\\\private$\\\\a"b'
2. open 'DIRECT=OS:vm\\\\private$\\\\a"b'
3. open 'DIRECT=OS:vm\\\\private$\\\\a'
4. open 'DIRECT=OS:vm\\\\private$\\\\ab'

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_dd7ba2ea2b1b2efc.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "names",
 "test": "names/test_mqdmpr_3_1_7_1_3_create_queue.py::test_malformed_path_name[queue-name-quote-reject]",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.3.invalid-path-name",
  "outcome": "fail",
  "subject": "create vm\\private$\\a\"b",
  "expected": {
   "accepted": false
  },
  "actual": {
   "accepted": true
  }
 },
 "story": [
  "create 'vm\\\\private$\\\\a\"b'",
  "open 'DIRECT=OS:vm\\\\private$\\\\a\"b'",
  "open 'DIRECT=OS:vm\\\\private$\\\\a'",
  "open 'DIRECT=OS:vm\\\\private$\\\\ab'"
 ],
 "repro": {
  "kind": "create-name",
  "path_name": "vm\\private$\\a\"b"
 }
}''')


def test_mqdmpr_3_1_7_1_3_invalid_path_name():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
