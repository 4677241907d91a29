"use strict";
// MSMQQueueInfo, MC-MQAC 3.10: a queue by its path name or its format name, and its properties.

const { E, Refused, refuse } = require("./errors.js");
const { defaults } = require("./manager.js");
const names = require("./names.js");
const V = require("./variants.js");

const notImplemented = () => refuse(E.E_NOTIMPL);
const LABEL_LENGTH = 124; // MQ_MAX_Q_LABEL_LEN

function make() {
  return { queue: { ...defaults(), path: null }, put: new Set(), formatName: null, isRefreshed: false, isApplicationQueue: false, isCreated: false };
}

// 3.10.6.1: the format name, from the path name where there is none yet.
function formatNameOf(self, { manager }) {
  if (self.formatName) return self.formatName;
  if (!self.queue.path) refuse(E.ILLEGAL_FORMATNAME);
  const parsed = names.path(self.queue.path);
  if (!parsed) refuse(E.ILLEGAL_QUEUE_PATHNAME);
  if (!parsed.isPrivate) refuse(E.NO_DS);
  const computer = parsed.computer === "." ? manager.computer : parsed.computer;
  const name = `DIRECT=OS:${computer}\\private$\\${parsed.name}`;
  if (manager.isLocal(computer) && !manager.find(names.format(name)[0])) refuse(E.QUEUE_NOT_FOUND);
  self.formatName = parsed.subqueue ? `${name};${parsed.subqueue}` : name;
  return self.formatName;
}

// Copy the properties of the queue; keep those that were put, if so told.
function refresh(self, call, keepPut) {
  const { element, queue } = call.manager.single(formatNameOf(self, call));
  self.isApplicationQueue = queue.kind === "private" && !element.special && !element.suffix;
  for (const field of ["path", ...Object.keys(defaults()), "created", "modified", "guid"]) {
    if (!(keepPut && self.put.has(field))) self.queue[field] = queue[field];
  }
  if (!keepPut) self.put.clear();
  self.isRefreshed = true;
}

function look(self, call) {
  if (!self.isRefreshed) refresh(self, call, true);
}

// A property that is read from the queue, or as it was put: then the queue need not be there. get: (queue, self) -> VARIANT.
function getter(field, get) {
  return (self, args, call) => {
    try {
      look(self, call);
    } catch (error) {
      if (!(error instanceof Refused && self.put.has(field))) throw error;
    }
    return get(self.queue, self);
  };
}

function putter(field, value = ([variant]) => variant.value) {
  return (self, args) => {
    self.queue[field] = value(args);
    self.put.add(field);
  };
}

// Property -> [field, the VARIANT of its value, the value of a put (none: read only)]. What a queue that is no application
// queue answers is in its place in the text: the defaults of refQueue are the same values.
const PROPERTIES = {
  Label: ["label", (queue) => V.text(queue.label), ([given]) => given.value || ""],
  ServiceTypeGuid: ["type", (queue) => V.text(queue.type), ([given]) => given.value],
  PrivLevel: ["privacy", (queue) => V.i4(queue.privacy), ([given]) => given.value],
  Journal: ["journaling", (queue) => V.i4(queue.journaling ? 1 : 0), ([given]) => given.value !== 0],
  Quota: ["quota", (queue) => V.i4(queue.quota), ([given]) => given.value >>> 0],
  JournalQuota: ["journalQuota", (queue) => V.i4(queue.journalQuota), ([given]) => given.value >>> 0],
  Authenticate: ["authentication", (queue) => V.i4(queue.authentication ? 1 : 0), ([given]) => given.value !== 0],
  MulticastAddress: ["multicast", (queue) => V.text(queue.multicast), ([given]) => given.value],
  QueueGuid: ["guid", (queue, self) => V.text(self.isApplicationQueue ? `{${queue.guid}}` : null)],
  PathName: ["path", (queue) => V.text(queue.path)],
  IsTransactional: ["transactional", (queue) => V.i2(queue.transactional ? 1 : 0)],
  IsTransactional2: ["transactional", (queue) => V.bool(queue.transactional)],
  CreateTime: ["created", (queue) => V.date(queue.created)],
  ModifyTime: ["modified", (queue, self) => V.date(self.isApplicationQueue ? queue.modified : 0)],
};

const members = {
  "get FormatName": (self) => V.text(self.formatName),
  "put FormatName": (self, [given]) => {
    Object.assign(self, { formatName: given.value || null, isRefreshed: false, isApplicationQueue: false, isCreated: false });
    self.queue.path = null;
    self.put.delete("path");
  },
  "put PathName": (self, [given]) => {
    Object.assign(self, { formatName: null, isRefreshed: false, isApplicationQueue: false, isCreated: false });
    self.queue.path = given.value || null;
    self.put.add("path");
  },
  "get BasePriority": (self, args, call) => {
    look(self, call);
    return V.i4(/^PUBLIC=/i.test(self.formatName) ? self.queue.basePriority : 0);
  },
  "put BasePriority": (self, [given]) => {
    if (given.value < -32768 || given.value > 32767 || !/^PUBLIC=/i.test(self.formatName || "")) refuse(E.ILLEGAL_PROPERTY_VALUE);
    self.queue.basePriority = given.value;
  },
  "get IsWorldReadable": (self) => V.i2(self.queue.worldReadable ? 1 : 0),
  "get IsWorldReadable2": (self) => V.bool(self.queue.worldReadable),
  "get Properties": notImplemented,
  "get Security": notImplemented,
  "put Security": notImplemented,

  "method Create": (self, [transactional, world], { manager }) => {
    if (!self.queue.path) refuse(E.ILLEGAL_QUEUE_PATHNAME);
    checkLabel(self);
    const properties = { ...self.queue, transactional: V.flag(transactional, false), worldReadable: V.flag(world, false) };
    ["guid", "created", "modified"].forEach((field) => delete properties[field]);
    const queue = manager.create(self.queue.path, properties);
    Object.assign(self.queue, { transactional: queue.transactional, worldReadable: queue.worldReadable });
    Object.assign(self, { isCreated: true, isApplicationQueue: true, isRefreshed: false, formatName: `DIRECT=OS:${queue.path}` });
    self.put.clear();
  },

  "method Delete": (self, args, call) => {
    const { queue } = call.manager.single(formatNameOf(self, call));
    if (queue.kind !== "private") refuse(E.UNSUPPORTED_FORMATNAME_OPERATION);
    call.manager.delete(queue);
    Object.assign(self, make());
  },

  "method Open": (self, [access, share], call) => {
    const descriptor = call.manager.open(formatNameOf(self, call), access.value, share.value);
    return V.object(call.make("MSMQQueue", { info: self, descriptor }));
  },

  "method Refresh": (self, args, call) => refresh(self, call, false),

  "method Update": (self, args, call) => {
    const { queue } = call.manager.single(formatNameOf(self, call));
    if (queue.kind !== "private") refuse(E.UNSUPPORTED_FORMATNAME_OPERATION);
    checkLabel(self);
    for (const field of self.put) queue[field] = self.queue[field];
    queue.modified = call.manager.clock.seconds();
    self.put.clear();
  },

  // Of a private queue neither is there.
  "get PathNameDNS": (self, args, call) => {
    look(self, call);
    refuse(E.Q_DNS_PROPERTY_NOT_SUPPORTED);
  },
  "get ADsPath": (self, args, call) => {
    look(self, call);
    refuse(E.Q_ADS_PROPERTY_NOT_SUPPORTED);
  },
};

function checkLabel(self) {
  if (self.queue.label.length > LABEL_LENGTH) refuse(E.ILLEGAL_PROPERTY_VALUE);
}

for (const [name, [field, get, put]] of Object.entries(PROPERTIES)) {
  members[`get ${name}`] = getter(field, get);
  if (put) members[`put ${name}`] = putter(field, put);
}

// An object for a format name, refreshed where that is possible; no object where there is no name.
function infoFor(formatName, call) {
  if (!formatName) return V.object(null);
  const info = call.make("MSMQQueueInfo", { formatName });
  try {
    refresh(info, call, false);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
  return V.object(info);
}

module.exports = { MSMQQueueInfo: { make, members }, infoFor, formatNameOf };
