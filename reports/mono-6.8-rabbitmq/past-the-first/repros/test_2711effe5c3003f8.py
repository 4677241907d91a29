"""MQMQ-2.3.1.5.propid-q-quota is broken.

PROPID_Q_QUOTA is property 105 with variant type VT_UI4.

1. create q1: succeeds
2. read all properties of q1: succeeds

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_2711effe5c3003f8.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "properties",
 "test": "properties/test_mqmq_2_3_1_queue_properties.py::test_queues_that_are_not_there_and_that_are",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQMQ-2.3.1.5.propid-q-quota",
  "outcome": "fail",
  "subject": "PROPID_Q_QUOTA of q1",
  "expected": {
   "type": "UI4"
  },
  "actual": -1
 },
 "story": [
  "create q1: succeeds",
  "read all properties of q1: succeeds"
 ],
 "repro": {
  "kind": "properties",
  "format": 1,
  "calls": [
   {
    "method": "queues.create",
    "queue": "q1"
   }
  ]
 }
}''')


def test_mqmq_2_3_1_5_propid_q_quota():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
