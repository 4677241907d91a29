"use strict";
// VARIANTs: {vt, value} with an optional `of`, as the adapter protocol has them. Inside, the value of DISPATCH and UNKNOWN
// is the object itself; the driver puts handles in its place.

const { E, refuse } = require("./errors.js");

const WHOLE = { I1: [-128, 127], I2: [-32768, 32767], I4: [-0x80000000, 0x7fffffff], INT: [-0x80000000, 0x7fffffff],
  UI1: [0, 255], UI2: [0, 65535], UI4: [0, 0xffffffff], UINT: [0, 0xffffffff], ERROR: [0, 0xffffffff] };
const LEFT_OUT = { vt: "ERROR", value: E.DISP_E_PARAMNOTFOUND };

const isLeftOut = (variant) => variant.vt === "ERROR" && variant.value === E.DISP_E_PARAMNOTFOUND;
const isObject = (variant) => variant.vt === "DISPATCH" || variant.vt === "UNKNOWN";
// Nothing was given: left out, NULL, EMPTY, a text or an object that is not there.
const isNull = (variant) =>
  isLeftOut(variant) || variant.vt === "NULL" || variant.vt === "EMPTY" || variant.value === null || variant.value === undefined;

const i2 = (value) => ({ vt: "I2", value });
const i4 = (value) => ({ vt: "I4", value: value | 0 });
const i8 = (value) => ({ vt: "I8", value: String(value) });
const ui4 = (value) => ({ vt: "UI4", value: value >>> 0 });
const ui8 = (value) => ({ vt: "UI8", value: String(value) });
const bool = (value) => ({ vt: "BOOL", value: Boolean(value) });
const text = (value) => ({ vt: "BSTR", value });
const object = (value) => ({ vt: "DISPATCH", value });
const bytes = (buffer) => ({ vt: "ARRAY", of: "UI1", value: (buffer || Buffer.alloc(0)).toString("base64") });
const texts = (list) => ({ vt: "ARRAY", of: "BSTR", value: list.map(text) });

// An OLE date: days since 30 December 1899, as a text. seconds: since 1970.
const date = (seconds) => ({ vt: "DATE", value: JSON.stringify(seconds / 86400 + 25569) });

// The number in a VARIANT, or undefined where none is.
function number(variant) {
  if (variant.vt === "BOOL") return variant.value === true ? -1 : Number(variant.value);
  if (variant.vt in WHOLE && !isLeftOut(variant)) return variant.value;
  if (["I8", "UI8", "R4", "R8", "CY", "DECIMAL", "DATE"].includes(variant.vt)) return Number(variant.value);
  return undefined;
}

function whole(variant, vt) {
  let value = number(variant);
  if (variant.vt === "EMPTY") value = 0;
  if (variant.vt === "BSTR" && /^\s*[-+]?\d+(\.\d*)?\s*$/.test(variant.value || "")) value = Number(variant.value);
  if (value === undefined || Number.isNaN(value)) refuse(E.DISP_E_TYPEMISMATCH);
  const near = Math.round(value);
  const [least, most] = WHOLE[vt];
  if (near < least || near > most) refuse(E.DISP_E_OVERFLOW);
  return { vt, value: near };
}

// What IDispatch::Invoke does to an argument that is declared as `vt`.
function coerced(variant, vt) {
  if (vt === "VARIANT" || variant.vt === vt) return variant;
  if (vt in WHOLE) return whole(variant, vt);
  if (vt === "BOOL") return bool(whole(variant, "I4").value);
  if (vt === "BSTR" && variant.vt === "EMPTY") return text("");
  if (vt === "BSTR" && number(variant) !== undefined) return text(String(number(variant)));
  if ((vt === "DISPATCH" || vt === "UNKNOWN") && isObject(variant)) return { vt, value: variant.value };
  return refuse(E.DISP_E_TYPEMISMATCH);
}

// A flag of a read: a truth value, or `otherwise` where it was left out.
function flag(variant, otherwise) {
  if (isLeftOut(variant)) return otherwise;
  const value = number(variant);
  if (value === undefined) refuse(E.DISP_E_TYPEMISMATCH);
  return value !== 0;
}

// The bytes of an array of bytes; null where none is.
function buffer(variant) {
  if (isNull(variant)) return null;
  if (variant.vt !== "ARRAY" || variant.of !== "UI1") refuse(E.ILLEGAL_PROPERTY_VALUE);
  return Buffer.from(variant.value, "base64");
}

const SIZES = { I1: 1, UI1: 1, I2: 2, UI2: 2, BOOL: 2, I4: 4, UI4: 4, R4: 4, R8: 8, CY: 8, DATE: 8 };
const isBody = ({ vt, of }) => (vt === "ARRAY" ? of : vt) in { ...SIZES, BSTR: 0, UNKNOWN: 0, DISPATCH: 0 };

// The length in bytes of a message body. A text is UTF-16 without its end.
function byteLength(variant) {
  const { vt, of, value } = variant;
  if (vt === "BSTR") return 2 * (value || "").length;
  if (vt === "ARRAY" && of === "UI1") return Buffer.from(value, "base64").length;
  if (vt === "ARRAY") return value.reduce((sum, each) => sum + byteLength(each), 0);
  return SIZES[vt] || 0;
}

module.exports = { LEFT_OUT, isLeftOut, isObject, isNull, i2, i4, i8, ui4, ui8, bool, text, object, bytes, texts, date, number,
  coerced, flag, buffer, isBody, byteLength };
