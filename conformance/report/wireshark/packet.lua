-- Decode a packet of any kind: its sections, its kind, and the bytes that no header explains.

local MPH = "MessagePropertiesHeader."

local function leftover(reader, headers_end)
  local fields = reader.fields
  local size, last = fields["BaseHeader.PacketSize"], headers_end
  if fields["Packet.SessionHeaderPlacement"] == "inside" and reader.at == size then
    if has_section(reader, "UserHeader") then
      last = math.max(headers_end, size - C.session_header_size)
      fields["Packet.Unexplained"] = last - headers_end
    else
      fields["Packet.Unexplained"] = 0
    end
  else
    fields["Packet.Unexplained"] = math.max(0, math.min(size, #reader.data) - headers_end)
  end
  local behind = #reader.data - math.max(size, reader.at)
  if behind > 0 then
    note(reader, "extra", "BaseHeader.PacketSize", math.max(size, reader.at),
      string.format("%d bytes follow the packet", behind))
  end
end

-- Return the type of the internal packet that is meant: one of another size has a wrong type.
local function meant_type(fields, total)
  local given = fields["InternalHeader.Flags.PT"]
  local known = INTERNAL_SIZES[given]
  if fields["BaseHeader.PacketSize"] ~= total or known == nil or known == total then return given end
  for other, length in pairs(INTERNAL_SIZES) do
    if length == total and (fields["BaseHeader.Flags.SH"] ~= 0) == (other == C.session_ack) then return other end
  end
  return given
end

-- Return whether the bytes are an internal packet by everything but the flag that says so.
local function looks_internal(data, size)
  if size < 20 or size > #data then return false end
  local flags = number_at(data, 18, 2)
  if size ~= INTERNAL_SIZES[flags % 16] or number_at(data, 16, 2) ~= 0 or flags > C.used_flags then return false end
  return flags % 16 ~= C.establish_connection or number_at(data, C.system_at, 1) == C.system_mark
end

-- Return whether the bytes have a UserHeader where an internal packet has its InternalHeader.
local function looks_like_message(data, size)
  size = math.min(size, #data)
  if size < C.flags_at + 4 then return false end
  for _, length in pairs(INTERNAL_SIZES) do
    if size == length then return false end
  end
  if number_at(data, 16, 2) == 0 or number_at(data, 18, 2) <= C.used_flags then return false end
  local flags = number_at(data, C.flags_at, 4)
  for bit = 0, 31 do
    local told = math.floor(C.message_bits / 2 ^ bit) % 2 == 1
    if told and math.floor(flags / 2 ^ bit) % 2 ~= math.floor(C.message_flags / 2 ^ bit) % 2 then return false end
  end
  local kind = math.floor(flags / 2 ^ C.destination_bit) % 8
  return kind == 3 or kind == 5 or kind == 7
end

local function decode_internal(reader)
  local fields = reader.fields
  if not read_section(reader, SECTION.InternalHeader) then return C.malformed end
  local found = INTERNAL_PACKETS[meant_type(fields, #reader.data)]
  if found == nil then
    note(reader, "packet-type", "InternalHeader.Flags.PT", 18, "InternalHeader.Flags.PT is none of 1, 2 and 3")
    return C.malformed
  end
  if found[2] == SECTION.SessionHeader then
    -- One document leaves the SessionHeader out of PacketSize, another counts it: read it either way.
    local inside = reader.at + C.session_header_size <= reader.limit
    fields["Packet.SessionHeaderPlacement"] = inside and "inside" or "after"
    if not inside then reader.limit = #reader.data end
  end
  if read_section(reader, found[2]) then leftover(reader, reader.at) end
  return found[1]
end

-- Destination, label, size and class identify OrderAck and FinalAck (MS-MQQB 3.1.5.1.1); one of them may be wrong.
local function classify(reader)
  local fields = reader.fields
  local class = fields[MPH .. "MessageClass"]
  if class == nil then return C.user_message end
  local marks, order = 0, class == C.order_ack_class
  local function mark(there) if there then marks = marks + 1 end end
  mark(order or class == C.ack_receive_class or class >= C.nack_classes)
  mark(fields[MPH .. "Label"] == C.order_label)
  mark(fields[MPH .. "MessageSize"] == C.ack_body_size)
  local name = (fields["UserHeader.DestinationQueue.DirectFormatName"] or ""):lower()
  mark(fields["UserHeader.DestinationQueue.PrivateQueueIdentifier"] == C.order_queue_id
    or name:sub(-#C.order_queue_name) == C.order_queue_name)
  if marks < C.ack_marks then return C.user_message end
  if order then return C.order_ack end
  if (fields["UserHeader.Flags.DM"] or 0) ~= 0 then return C.final_ack end
  for _, one in ipairs(reader.shown) do
    if one.key == C.body then
      for at = one.at + C.ack_tail, one.at + one.length - 1 do
        if number_at(reader.data, at, 1) ~= 0 then return C.final_ack end
      end
    end
  end
  return C.order_ack
end

-- Copy the results of another reader of the same bytes.
local function adopt(reader, inner)
  for key, value in pairs(inner.fields) do reader.fields[key] = value end
  local before = #reader.shown
  for _, one in ipairs(inner.shown) do reader.shown[#reader.shown + 1] = one end
  for _, place in ipairs(inner.sections) do
    place.first, place.last = place.first + before, place.last + before
    reader.sections[#reader.sections + 1] = place
  end
end

local function ack_body(reader, kind)
  local at, length = reader.at, 0
  for _, one in ipairs(reader.shown) do
    if one.key == C.body then at, length = one.at, one.length end
  end
  local body = new_reader(reader.data, at, at + length)
  read_section(body, ACK_BODIES[kind])
  if #body.trouble > 0 or body.at ~= body.limit then
    note(reader, "ack-body", C.body, at, string.format("the body of an %s has 36 bytes, this one %d", kind, length))
  end
  adopt(reader, body)
end

-- The SessionHeader lies behind PacketSize or, when only that fits, is the last 16 bytes inside it.
local function session_header(reader, headers_end, size)
  local total, placement = #reader.data, "after"
  if total >= size + C.session_header_size then
    reader.at, reader.limit = size, size + C.session_header_size
  elseif headers_end + C.session_header_size <= size and size <= total then
    placement, reader.at, reader.limit = "inside", size - C.session_header_size, size
  else
    reader.at, reader.limit = math.min(size, total), total
  end
  reader.fields["Packet.SessionHeaderPlacement"] = placement
  return read_section(reader, SECTION.SessionHeader)
end

-- Read the headers that a remote read appends (MS-MQRR 2.2.5), as far as one mistake in them allows.
local function extension(reader, headers_end)
  local limit = headers_end + reader.fields["Packet.Unexplained"]
  local inner = new_reader(reader.data, headers_end, limit)
  read_section(inner, SECTION.ExtensionHeader)
  local announced = {}
  for _, one in ipairs(EXTENSION_SECTIONS) do
    if one[2] and met(inner, one[2]) then announced[#announced + 1] = one[1] end
  end
  if not begins_extension(inner.data, headers_end, limit, announced) then return end
  local sections, path, packed = appended_headers(inner.data, inner.at, limit, announced)
  if packed then inner.under = { [C.dead_letter_packed] = true } end
  if path then inner.lengths[PATH] = path end
  for _, one in ipairs(sections) do
    if not read_section(inner, one) then break end
  end
  adopt(reader, inner)
  for _, one in ipairs(inner.trouble) do reader.trouble[#reader.trouble + 1] = one end
  reader.fields["Packet.ExtensionEnd"] = inner.at - headers_end
  reader.fields["Packet.ExtensionOrder"] = in_order(sections) and "told" or "moved"
  if sections ~= announced or path or packed then
    note(reader, "appended", "ExtensionHeader.Flags", headers_end + 8,
      "what follows is not what ExtensionHeader.Flags tells")
  end
  local dead = has_section(inner, "DeadLetterHeader")
  if dead then reader.fields["DeadLetterHeader.Counted"] = dead.length end
end

local function decode_user_message(reader, size)
  local fields = reader.fields
  for _, one in ipairs(reader.srmp and sections_with(reader.srmp) or USER_MESSAGE_SECTIONS) do
    if one[2] == nil or met(reader, one[2]) then
      if not read_section(reader, one[1]) then return C.user_message end
    end
  end
  local headers_end = reader.at
  fields["Packet.HeadersEnd"] = headers_end
  -- A packet without MessagePropertiesHeader has no label to identify it.
  local kind = classify(reader)
  if ACK_BODIES[kind] then ack_body(reader, kind) end
  if fields["BaseHeader.Flags.SH"] ~= 0 and not session_header(reader, headers_end, size) then
    return C.user_message
  end
  leftover(reader, headers_end)
  if fields["Packet.Unexplained"] >= C.extension_size and #reader.trouble == 0 then extension(reader, headers_end) end
  return kind
end

local function decode_all(reader)
  local fields = reader.fields
  if not read_section(reader, SECTION.BaseHeader) then return C.malformed end
  if fields["BaseHeader.Signature"] ~= C.signature then
    note(reader, "signature", "BaseHeader.Signature", 4, "BaseHeader.Signature is not 0x524F494C")
    return C.malformed
  end
  if fields["BaseHeader.VersionNumber"] ~= C.version then
    note(reader, "version", "BaseHeader.VersionNumber", 0, "BaseHeader.VersionNumber is not 0x10")
  end
  local size, total = fields["BaseHeader.PacketSize"], #reader.data
  if size < C.base_size or size > C.maximum_size then
    note(reader, "packet-size", "BaseHeader.PacketSize", 8,
      string.format("PacketSize %.0f is outside %d to %d", size, C.base_size, C.maximum_size))
    return C.malformed
  end
  if size > total then
    note(reader, "truncated", "BaseHeader.PacketSize", 8,
      string.format("PacketSize is %d, there are %d bytes", size, total))
  end
  reader.limit = math.min(size, total)
  local internal = fields["BaseHeader.Flags.IN"] ~= 0 and not looks_like_message(reader.data, size)
  if internal or looks_internal(reader.data, size) then return decode_internal(reader) end
  return decode_user_message(reader, size)
end

local PADDINGS = { "SoapHeader.HeaderPadding", "SoapHeader.BodyPadding", "SRMPEnvelopeHeader.Padding",
  "CompoundMessageHeader.Padding" }
local SRMP_DATA = "SRMPEnvelopeHeader.Data"

-- Return whether this reading explains everything: no trouble, no unexplained bytes, the marks in their places.
local function explained(reader)
  local fields = reader.fields
  local mark = fields["SoapHeader.BodySectionID"]
  if #reader.trouble > 0 or (mark ~= nil and mark ~= C.body_section_id) then return false end
  for _, padding in ipairs(PADDINGS) do
    if fields[padding .. ".Complete"] == false then return false end
  end
  if fields[SRMP_DATA] ~= nil and (not fields[SRMP_DATA .. ".Terminated"] or fields[SRMP_DATA .. ".Inner"]) then
    return false
  end
  return fields["Packet.Unexplained"] == 0 or fields["Packet.Unexplained"] == fields["Packet.ExtensionEnd"]
end

-- Return the alternative layouts that could explain this packet instead, single ones before pairs.
local function doubts(reader)
  local fields, found = reader.fields, {}
  local larger = (fields[C.extent] or 0) > (fields[MPH .. "MessageSize"] or 0)
  if larger and fields[MPH .. "PrivacyLevel"] ~= 0 then found[#found + 1] = C.body_allocated end
  if (fields["UserHeader.Flags.HH"] or 0) ~= 0 then found[#found + 1] = C.soap_packed end
  if (fields["UserHeader.Flags.AH"] or 0) ~= 0 then
    found[#found + 1] = C.srmp_bytes
    found[#found + 1] = C.srmp_packed
  end
  local out = {}
  local function choose(from, left, some)
    if left == 0 then
      local set = {}
      for _, one in ipairs(some) do set[one] = true end
      if set[C.soap_packed] then
        local unpadded = { [C.soap_unpadded] = true }
        for one in pairs(set) do unpadded[one] = true end
        out[#out + 1] = unpadded
      end
      out[#out + 1] = set
      return
    end
    for i = from, #found - left + 1 do
      some[#some + 1] = found[i]
      choose(i + 1, left - 1, some)
      some[#some] = nil
    end
  end
  for size = 1, #found do choose(1, size, {}) end
  return out
end

-- Return the layout of the headers of HTTP messages: "either" if they cannot be told apart.
local function alternatives(reader)
  local fields, lengths = reader.fields, {}
  for _, one in ipairs(reader.shown) do lengths[one.key] = one.length end
  local function layout(name, packed, first, second)
    if not has_section(reader, name) then return end
    local told = (lengths[first] or 0) % 4 ~= 0 or (lengths[second] or 0) % 4 ~= 0
    fields[name .. ".Layout"] = reader.under[packed] and "packed" or told and "aligned" or "either"
  end
  layout("SoapHeader", C.soap_packed, "SoapHeader.Header", "SoapHeader.Body")
  layout("SRMPEnvelopeHeader", C.srmp_packed, SRMP_DATA, "CompoundMessageHeader.Data")
  if fields[SRMP_DATA] ~= nil and not reader.lengths[SRMP_DATA] then
    fields["SRMPEnvelopeHeader.Unit"] = reader.under[C.srmp_bytes] and "bytes" or "wchars"
  end
  if has_section(reader, "SRMPEnvelopeHeader") and has_section(reader, "CompoundMessageHeader") then
    fields["Packet.SrmpOrder"] = reader.srmp and reader.srmp[1] == COMPOUND and "moved" or "told"
  end
  for _, name in ipairs({ "SRMPEnvelopeHeader", "CompoundMessageHeader" }) do
    if fields[name .. ".Padding.Complete"] ~= nil then fields[name .. ".Counted"] = lengths[name .. ".Data"] or 0 end
  end
end

-- Read the packet with one mistake in the headers of HTTP messages, if one explains what they are.
local function with_srmp(reader)
  local fields = reader.fields
  local size, announced = fields["BaseHeader.PacketSize"], (fields["UserHeader.Flags.AH"] or 0) ~= 0
  if size > #reader.data or (not announced and (fields["Packet.Unexplained"] or 0) < C.srmp_least) then return reader end
  local begun = has_section(reader, "SRMPEnvelopeHeader")
  local before = has_section(reader, "DebugHeader") or has_section(reader, "MessagePropertiesHeader")
  if (announced and not begun) or not before then return reader end
  local at = announced and begun.at or before.at + before.length
  local found, lengths, under = srmp_headers(reader, at, size, announced)
  if not found then return reader end
  local again = new_reader(reader.data, 0, #reader.data, under)
  again.srmp, again.lengths = found, lengths
  decode_all(again)
  note(again, "srmp", "SRMPEnvelopeHeader.HeaderId", at, "the headers of HTTP messages are not what the packet tells")
  local data = 0
  for _, one in ipairs(again.shown) do
    if one.key == SRMP_DATA then data = one.at end
  end
  if lengths[SRMP_DATA] and data + again.fields["SRMPEnvelopeHeader.DataLength"] > size then
    note(again, "overrun", SRMP_DATA, data, "SRMPEnvelopeHeader.DataLength counts more than PacketSize leaves")
  end
  return again
end

local STOPPED = { ["queue-type"] = true, size = true, signature = true, ["packet-size"] = true,
  ["packet-type"] = true }

-- Add the facts about how the bytes arrived. complete: they are the whole packet; the recorder did not cut them.
local function add_facts(reader, complete)
  local fields, cut, stopped, overrun = reader.fields, false, false, ""
  for _, one in ipairs(reader.trouble) do
    cut = cut or one.code == "truncated"
    stopped = stopped or STOPPED[one.code] == true
    if overrun == "" and (one.code == "overrun" or one.code == "truncated")
      and one.key ~= "BaseHeader.PacketSize" then
      overrun = one.key
    end
  end
  fields["Packet.Decided"] = not stopped and (complete or not cut)
  if complete or not cut then
    local place = fields["Packet.SessionHeaderPlacement"] == "after" and fields["SessionHeader.Reserved"] ~= nil
      and has_section(reader, "SessionHeader")
    fields["Packet.Counted"] = #reader.data - (place and place.length or 0)
    fields["Packet.Overrun"] = overrun
  end
end

-- Decode the bytes of one packet that begins with a BaseHeader.
local function decode_packet(data, complete)
  local reader = new_reader(data, 0, #data)
  local kind = decode_all(reader)
  if kind == C.user_message and not explained(reader) then
    local other
    for _, under in ipairs(doubts(reader)) do
      local again = new_reader(data, 0, #data, under)
      decode_all(again)
      if explained(again) then
        other = again
        break
      end
    end
    reader = other or with_srmp(reader)
  end
  alternatives(reader)
  reader.fields["Packet.Kind"] = kind
  reader.fields["Packet.Length"] = #data
  add_facts(reader, complete)
  return reader
end

local function decode_ping(data)
  local reader = new_reader(data, 0, #data)
  local whole = read_section(reader, SECTION.Ping)
  local ping = whole and reader.fields["Ping.Signature"] == C.ping_signature
  if whole and not ping then note(reader, "signature", "Ping.Signature", 2, "Ping.Signature is not 0x5548") end
  if ping and #data > C.ping_size then
    note(reader, "extra", "Ping.QMGuid", C.ping_size, string.format("%d bytes follow the Ping", #data - C.ping_size))
  end
  reader.fields["Packet.Kind"] = ping and C.ping or C.malformed
  reader.fields["Packet.Length"] = #data
  return reader
end
