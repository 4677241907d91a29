"use strict";
// MSMQQuery, MSMQQueueInfos and MSMQCollection: MC-MQAC 3.13 to 3.15. The directory is empty.

const { E, refuse } = require("./errors.js");
const names = require("./names.js");
const V = require("./variants.js");

const notImplemented = () => refuse(E.E_NOTIMPL);

function checkGuid(variant) {
  if (!V.isLeftOut(variant) && !names.GUID_IN_BRACES.test(String(variant.value))) refuse(E.ILLEGAL_PROPERTY_VALUE);
}

function checkRelation(variant) {
  if (V.isLeftOut(variant)) return;
  const value = V.number(variant);
  if (value === undefined || value < 0 || value > 6) refuse(E.ILLEGAL_RELATION); // RELOPS
}

function lookup(self, args, call) {
  const [guid, service, , , , relService, relLabel, relCreated, relModified, , relMulticast = V.LEFT_OUT] = args;
  checkGuid(guid);
  checkGuid(service);
  [relService, relLabel, relCreated, relModified, relMulticast].forEach(checkRelation);
  return V.object(call.make("MSMQQueueInfos", { isInitialized: true }));
}

const initialized = (self) => self.isInitialized || refuse(E.UNINITIALIZED_OBJECT);

module.exports = {
  MSMQQuery: {
    make: () => ({}),
    members: { "method LookupQueue": lookup, "method LookupQueue_v2": lookup, "get Properties": notImplemented },
  },
  MSMQQueueInfos: {
    make: () => ({ isInitialized: false }),
    members: {
      "method Reset": (self) => void initialized(self),
      "method Next": (self) => initialized(self) && V.object(null),
      "get Properties": notImplemented,
    },
  },
  MSMQCollection: {
    make: () => ({ items: {} }),
    members: {
      "method Item": (self, [index]) => {
        const key = Object.keys(self.items).find((each) => each.toLowerCase() === String(index.value).toLowerCase());
        return key === undefined ? refuse(E.INVALID_PARAMETER) : self.items[key];
      },
      "get Count": (self) => V.i4(Object.keys(self.items).length),
      "method _NewEnum": (self, args, call) => ({ vt: "UNKNOWN", value: call.make("Enumerator", { items: Object.values(self.items) }) }),
    },
  },
  Enumerator: { make: () => ({ items: [] }), members: {}, unknownOnly: true },
};
