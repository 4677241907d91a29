"""MQDMPR-3.1.4.4.success is broken.

Committing an open transaction succeeds.

1. begin transaction t1 -> ok
2. commit transaction t1 -> fails (NullReferenceException: Object reference not set to an instance of an object)

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_57ed1feeeff3b5eb.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "transactions",
 "test": "transactions/test_mqdmpr_3_1_4_transactions.py::test_a_walk_with_transactions_over_several_queues",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.4.4.success",
  "outcome": "fail",
  "subject": "transactions.commit",
  "expected": "success",
  "actual": {
   "status": null,
   "failure": "NullReferenceException: Object reference not set to an instance of an object"
  }
 },
 "story": [
  "begin transaction t1 -> ok",
  "commit transaction t1 -> fails (NullReferenceException: Object reference not set to an instance of an object)"
 ],
 "repro": {
  "kind": "calls",
  "format": 1,
  "calls": [
   {
    "method": "transactions.begin",
    "name": "t1"
   },
   {
    "method": "transactions.commit",
    "transaction": "t1"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_4_4_success():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
