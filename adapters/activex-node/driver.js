"use strict";
// A driver for mqconform: a second object model of MC-MQAC over a queue manager of its own. One JSON object a line on stdin
// and stdout; see docs/adapter-protocol.md.

const { E, Refused, refuse } = require("./errors.js");
const { advise, unadvise } = require("./event.js");
const { Manager } = require("./manager.js");
const objects = require("./objects.js");
const library = require("./type_library.js");

const FORMAT_NAMES = ["journal", "dead_letter", "remote", "private", "machine", "multiple_element", "multicast", "http"]; // no subqueue
const ABOUT = {
  name: "activex-node",
  version: "1",
  profile: "msmq-4.0",
  computer: "STRANGER",
  clock: "virtual",
  accepts: { format_names: FORMAT_NAMES },
};
const manager = new Manager(ABOUT.computer);
const methods = Object.create(null); // "objects.create" -> its function
const facets = {};

// Register a function under a name, so that hello declares only methods that exist.
function method(name, does) {
  const [facet, short] = name.includes(".") ? name.split(".") : ["manager", name];
  (facets[facet] = facets[facet] || []).push(short);
  methods[name] = does;
}

const write = (line, then) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...line })}\n`, then);

let handles = new Map(); // handle -> object
let names = new Map(); // object -> handle
let last = 0;

function handleOf(object) {
  if (!names.has(object)) {
    names.set(object, `o${++last}`);
    handles.set(names.get(object), object);
  }
  return names.get(object);
}

const known = (handle) => handles.get(handle) || refuse(E.CO_E_OBJNOTREG);

// A VARIANT on its way out: objects become handles.
function shown(variant) {
  if (variant.vt === "DISPATCH" || variant.vt === "UNKNOWN") return { ...variant, value: variant.value && handleOf(variant.value) };
  if (variant.vt === "ARRAY" && Array.isArray(variant.value)) return { ...variant, value: variant.value.map(shown) };
  return variant;
}

// A VARIANT on its way in: handles become objects.
function meant(variant) {
  if (variant.vt === "DISPATCH" || variant.vt === "UNKNOWN") return { ...variant, value: variant.value === null ? null : known(variant.value) };
  if (variant.vt === "ARRAY" && Array.isArray(variant.value)) return { ...variant, value: variant.value.map(meant) };
  return variant;
}

// What a member may use. reply(status, value) answers it; fire() sends an event to each sink.
function calling(reply) {
  let answered = false;
  const call = {
    manager,
    make: objects.make,
    fire: (event, name, values) => {
      const line = { object: handleOf(event), name, arguments: values.map(shown) };
      event.cookies.forEach(() => write({ method: "event", params: line }));
    },
    reply: (status, value) => {
      answered = true;
      reply({ status, ...(value && status < 0x80000000 ? { value: shown(value) } : {}) });
    },
  };
  return { call, waits: () => !answered };
}

method("hello", ({ versions }, reply) => {
  if (!versions.includes("1.2")) throw new Error("this driver speaks version 1.2 of the protocol");
  reply({ status: 0, protocol: "1.2", queue_manager: manager.guid, facets, readings: {}, ...ABOUT });
});

method("stop", (params, reply) => reply({ status: 0 }, () => process.exit()));

method("reset", (params, reply) => {
  for (const queue of [...manager.queues.values(), ...manager.outgoing.values()]) {
    for (const descriptor of [...queue.descriptors]) manager.close(descriptor);
  }
  manager.reset();
  handles = new Map();
  names = new Map();
  reply({ status: 0 });
});

method("clock.now", (params, reply) => reply({ status: 0, time_ms: manager.clock.now }));

method("clock.advance", ({ by_ms: byMs }, reply) => {
  manager.clock.advance(byMs);
  reply({ status: 0, time_ms: manager.clock.now });
});

method("objects.create", (params, reply) => reply({ status: 0, object: handleOf(objects.create(params.class)) }));

method("objects.invoke", (params, reply, pending) => {
  const object = known(params.object);
  const { call, waits } = calling(reply);
  objects.invoke(object, { ...params, arguments: params.arguments.map(meant) }, call);
  if (waits()) pending();
});

method("objects.get", (params, reply) => {
  const object = known(params.object);
  const values = [];
  for (const member of params.members) {
    objects.invoke(object, { member, kind: "get", arguments: [] }, calling((result) => values.push(result)).call);
  }
  reply({ status: 0, values });
});

method("objects.query", (params, reply) => {
  objects.query(known(params.object), params.iid.toLowerCase());
  reply({ status: 0, object: params.object });
});

method("objects.release", (params, reply) => {
  const list = params.objects.map(known);
  for (const object of list) {
    handles.delete(names.get(object));
    names.delete(object);
    objects.release(object, { manager });
  }
  reply({ status: 0 });
});

const eventOf = (handle) => {
  const object = known(handle);
  return object.className === "MSMQEvent" ? object : refuse(E.E_NOINTERFACE);
};

method("objects.advise", ({ object, sink, iid }, reply) => {
  reply({ status: 0, cookie: advise(eventOf(object), sink, iid.toLowerCase()) });
});

method("objects.unadvise", ({ object, cookie, iid }, reply) => {
  unadvise(eventOf(object), cookie, iid.toLowerCase());
  reply({ status: 0 });
});

method("objects.describe", (params, reply) => {
  const className = params.class === undefined ? known(params.object).className : params.class;
  if (!(className in library.classes)) refuse(E.REGDB_E_CLASSNOTREG);
  reply({ status: 0, ...library.describe(className) });
});

function handle(line) {
  const { id, method: name, params } = JSON.parse(line);
  if (!(name in methods)) return write({ id, error: { code: -32601, message: `no method ${name}` } });
  try {
    return methods[name](params, (result, then) => write({ id, result }, then), () => write({ method: "pending", params: { id } }));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return write({ id, result: { status: error.code } });
  }
}

function serve() {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    lines.forEach(handle);
  });
  process.stdin.on("end", () => process.exit());
}

serve();
