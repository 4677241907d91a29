"""MQDMPR-3.1.1.12.first-in-transaction is broken.

FirstInTransaction is true for the first message of a set and no other.

1. send a message with body 'Ym9keQ=='
2. receive

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_746ba388a6838de5.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "properties",
 "test": "properties/test_mqdmpr_3_1_1_12_attributes.py::test_first_and_last_in_a_transaction",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.1.12.first-in-transaction",
  "outcome": "fail",
  "subject": "first_in_transaction of 1 messages",
  "expected": {
   "marked": "message 1 of 1 alone"
  },
  "actual": [
   false
  ]
 },
 "story": [
  "send a message with body 'Ym9keQ=='",
  "receive"
 ],
 "repro": {
  "kind": "story",
  "story": "first-and-last"
 }
}''')


def test_mqdmpr_3_1_1_12_first_in_transaction():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
