"use strict";
// MSMQDestination with its private interface: MC-MQAC 3.12.

const { E, Refused, refuse } = require("./errors.js");
const names = require("./names.js");
const V = require("./variants.js");

const notImplemented = () => refuse(E.E_NOTIMPL);

// 3.1.6.2, without a directory: private queues alone have a format name.
function formatNameOf(pathName, manager) {
  const parsed = names.path(pathName);
  if (!parsed) refuse(E.ILLEGAL_QUEUE_PATHNAME);
  if (!parsed.isPrivate) refuse(E.QUEUE_NOT_FOUND);
  const computer = parsed.computer === "." ? manager.computer : parsed.computer;
  return `DIRECT=OS:${computer}\\private$\\${parsed.name}${parsed.subqueue ? `;${parsed.subqueue}` : ""}`;
}

function open(self, { manager }) {
  if (self.descriptor) return { status: E.S_FALSE };
  self.descriptor = manager.open(self.formatName, 2, 0);
  return undefined;
}

function close(self, { manager }) {
  if (!self.descriptor) return { status: E.S_FALSE };
  manager.close(self.descriptor);
  self.descriptor = null;
  return undefined;
}

// A new name reopens what is open. The steps of 3.12.4 answer S_OK whatever comes of that.
function named(self, fields, call) {
  Object.assign(self, { pathName: null, adsPath: null, ...fields });
  if (!self.descriptor) return;
  close(self, call);
  try {
    open(self, call);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
}

const members = {
  "method Open": (self, args, call) => open(self, call),
  "method Close": (self, args, call) => close(self, call),
  "get IsOpen": (self) => V.bool(self.descriptor),
  "get IADs": notImplemented,
  "putref IADs": notImplemented,
  "get Destinations": notImplemented,
  "putref Destinations": notImplemented,
  "get Properties": notImplemented,
  "get ADsPath": (self) => V.text(self.adsPath),
  "put ADsPath": (self, [given]) => {
    self.adsPath = given.value;
    refuse(E.QUEUE_NOT_FOUND); // 3.12.6.1: the directory is not there
  },
  "get PathName": (self) => V.text(self.pathName || ""),
  "put PathName": (self, [given], call) => {
    self.pathName = given.value;
    named(self, { pathName: given.value, formatName: formatNameOf(given.value, call.manager) }, call);
  },
  "get FormatName": (self) => V.text(self.formatName),
  "put FormatName": (self, [given], call) => named(self, { formatName: given.value }, call),
  "get Handle": (self) => V.i8(self.descriptor ? self.descriptor.handle : -1),
  "put Handle": (self, [given], { manager }) => {
    Object.assign(self, { pathName: null, adsPath: null, descriptor: null });
    if (!V.isNull(given) && Number(given.value) !== -1) self.descriptor = manager.opened(Number(given.value));
  },
};

module.exports = { MSMQDestination: { make: () => ({ descriptor: null, formatName: null, adsPath: null, pathName: null }), members }, formatNameOf };
