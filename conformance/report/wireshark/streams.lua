-- Cut a stream into packets by PacketSize, and resynchronise after damage.

local MARK = "LIOR"
local TELLING = 8   -- bytes needed to recognise a header

local function is_head(data, at)
  if at >= #data then return true end
  local mark = data:sub(at + 5, at + 8)
  return data:byte(at + 1) == C.version and mark == MARK:sub(1, #mark)
end

-- Return whether a whole BaseHeader with a possible PacketSize begins here; if not, "no-header" or "packet-size".
local function head_at(data, at)
  if data:byte(at + 1) ~= C.version or data:sub(at + 5, at + 8) ~= MARK then return nil, "no-header" end
  local size = number_at(data, at + 8, 4)
  if size < C.base_size or size > C.maximum_size then return nil, "packet-size" end
  return size
end

local function next_head(data, from)
  local at = data:find(MARK, from + 5, true)
  while at do
    local start = at - 5
    if data:byte(start + 1) == C.version and (start + C.base_size > #data or head_at(data, start)) then return start end
    at = data:find(MARK, at + 1, true)
  end
  return nil
end

-- Return the length of the packet at `at`, or nil and how many more bytes are needed (0: at least one segment).
-- Only a packet with a SessionHeader has two possible lengths, without and with it. The bytes behind the shorter one
-- decide or, if there are none, the packet's own headers.
local function length_at(data, at, size)
  local flags, left = number_at(data, at + 2, 2), #data - at
  local internal, session = math.floor(flags / 8) % 2 == 1, math.floor(flags / 16) % 2 == 1
  if not session or (internal and size ~= C.base_size + 4) then
    if left >= size then return size end
    return nil, size - left
  end
  if left < size then return nil, size - left end
  local long = size + C.session_header_size
  if left == size then
    local reader = decode_packet(data:sub(at + 1, at + size), true)
    if reader.fields["Packet.SessionHeaderPlacement"] == "inside" then return size end
    return nil, C.session_header_size
  end
  if left < size + TELLING then return nil, 0 end
  if is_head(data:sub(1, at + size + TELLING), at + size) then return size end
  if left >= long then return long end
  return nil, long - left
end

-- The position at which the next packet of a direction must begin: if no packet is there, the fault is the sender's,
-- not the capture's. The first pass over the frames stores it for later passes.
local seq_of, len_of, stream_of = Field.new("tcp.seq_raw"), Field.new("tcp.len"), Field.new("tcp.stream")
local relative_of, completeness_of = Field.new("tcp.seq"), Field.new("tcp.completeness")
local EXPECTED, CONTIGUOUS = {}, {}

-- Another file begins, or the same one again.
function msmq.init() EXPECTED, CONTIGUOUS = {}, {} end

local function place_of(tvb, pinfo)
  local seq, length, stream = last_value(seq_of), last_value(len_of), last_value(stream_of)
  if not (seq and length and stream) then return nil end
  local key = string.format("%s/%s", tostring(stream), tostring(pinfo.src_port))
  return key, (tonumber(tostring(seq)) + tonumber(tostring(length)) - tvb:len()) % 4294967296, stream
end

local function contiguous(tvb, pinfo)
  local key, start, stream = place_of(tvb, pinfo)
  if not key then return false end
  local asked = string.format("%d/%s/%.0f", pinfo.number, key, start)
  if not pinfo.visited then
    local relative, completeness = last_value(relative_of), last_value(completeness_of)
    local first = EXPECTED[key] == nil and relative == 1 and completeness and completeness % 2 == 1
      and last_value(len_of) == tvb:len()
    CONTIGUOUS[asked] = EXPECTED[key] == start or first == true
    if first and completeness % 4 == 3 then begin(stream, key, start) end
  end
  return CONTIGUOUS[asked] == true, key, start, stream
end

local KEPT_OF_JUNK = 4096   -- unintelligible bytes that are still read as a packet

-- Show the bytes that are no packet, and return the offset of the next packet or of the end.
local function dissect_junk(data, at, why, tvb, pinfo, tree, known)
  local stop = next_head(data, at + 1) or #data
  local piece = tvb:range(at, stop - at)
  local item = tree:add(F.junk, piece)
  item:add_proto_expert_info(E.trouble, why == "packet-size" and "PacketSize is impossible" or "No packet header here")
  if known or why == "packet-size" then
    local reader = decode_packet(data:sub(at + 1, math.min(stop, at + KEPT_OF_JUNK)), false)
    dissect_one(reader, tvb:range(at, #reader.data):tvb(), pinfo, tree, why == "packet-size" and "all" or "marks")
  end
  return stop
end

local function more(pinfo, at, needed)
  pinfo.desegment_offset = at
  pinfo.desegment_len = needed > 0 and needed or DESEGMENT_ONE_MORE_SEGMENT
end

-- Dissect a stream's bytes. Return false if a packet is incomplete and the rest of it was requested.
local function dissect_stream(tvb, pinfo, tree)
  local data, at = tvb:raw(0, tvb:len()), 0
  local known, key, start, stream = contiguous(tvb, pinfo)
  INFO = {}
  while at < #data do
    local left = #data - at
    local needed, size, why
    if left < C.base_size and is_head(data, at) then
      needed = 0
    elseif left < C.base_size then
      why = "no-header"
    else
      size, why = head_at(data, at)
    end
    if size then
      local length
      length, needed = length_at(data, at, size)
      if length then
        local reader = decode_packet(data:sub(at + 1, at + length), true)
        local place, ends = key and (start + at) % 4294967296, is_head(data, at + length)
        local found = place and judge_session(stream, key, place, reader, pinfo, ends) or nil
        dissect_one(reader, tvb:range(at, length):tvb(), pinfo, tree, "whole", found)
        at, known = at + length, true
      end
    elseif why then
      if key then lose(stream) end
      at = dissect_junk(data, at, why, tvb, pinfo, tree, known)
      known = false
    end
    if needed then
      if pinfo.can_desegment > 0 then
        if key and not pinfo.visited then EXPECTED[key] = (start + at) % 4294967296 end
        more(pinfo, at, needed)
        return
      end
      if key then lose(stream) end
      local reader = decode_packet(data:sub(at + 1), false)
      dissect_one(reader, tvb:range(at, left):tvb(), pinfo, tree, "all")
      at = #data
    end
  end
  if key and not pinfo.visited then EXPECTED[key] = known and (start + at) % 4294967296 or -1 end
end

function msmq.dissector(tvb, pinfo, tree)
  dissect_stream(tvb, pinfo, tree)
  return tvb:len()
end

-- One packet a record, as a user DLT or by name: it is whole, and nothing follows it.
function msmq_packet.dissector(tvb, pinfo, tree)
  INFO = {}
  local whole = tvb:len() == tvb:reported_len()
  local reader = decode_packet(tvb:raw(0, tvb:len()), whole)
  dissect_one(reader, tvb, pinfo, tree, whole and "whole" or "all")
  return tvb:len()
end

local ping = Proto("msmq_ping", "Microsoft Message Queuing ping")

function ping.dissector(tvb, pinfo, tree)
  if tvb:len() < 4 or number_at(tvb:raw(0, 4), 2, 2) ~= C.ping_signature then return 0 end
  INFO = {}
  local whole = tvb:len() == tvb:reported_len()
  dissect_one(decode_ping(tvb:raw(0, tvb:len())), tvb, pinfo, tree, whole and "alone" or nil)
  return tvb:len()
end

-- Streams on other ports are recognised by a BaseHeader at their beginning.
local function looks_like(tvb, pinfo, tree)
  if tvb:len() < C.base_size then return false end
  if not head_at(tvb:raw(0, C.base_size), 0) then return false end
  msmq.dissector(tvb, pinfo, tree)
  pinfo.conversation = msmq
  return true
end

DissectorTable.get("tcp.port"):add(TCP_PORT, msmq)
DissectorTable.get("udp.port"):add(PING_PORT, ping)
msmq:register_heuristic("tcp", looks_like)
