-- Find the two headers of a message that was sent over HTTP (MS-MQRR 2.2.5.1.2), where one mistake about them explains
-- what no layout does: a wrong size, the other order, one or both missing, both there without their flag.

local ENVELOPE, COMPOUND = SECTION.SRMPEnvelopeHeader, SECTION.CompoundMessageHeader
local ENVELOPE_DATA, COMPOUND_DATA = "SRMPEnvelopeHeader.Data", "CompoundMessageHeader.Data"
local ENVELOPE_SIZE, COMPOUND_SIZE = 8, 16
local FOLLOWING = {
  { "UserHeader.Flags.HH", 0, C.header_section_id }, { "UserHeader.Flags.MQ", 4, C.destination_id },
}
local ANNOUNCED = {
  { ENVELOPE, COMPOUND, by_text = true }, { ENVELOPE, COMPOUND, by_rest = true }, { COMPOUND, ENVELOPE },
  { ENVELOPE }, { COMPOUND }, {},
}
local UNANNOUNCED = { { ENVELOPE, COMPOUND, xml = true } }

-- Return the bytes before the first NUL WCHAR, nil if there is none.
local function nul_after(data, at, stop)
  local found = data:find("\0\0", at + 1, true)
  while found and (found - 1 - at) % 2 == 1 do found = data:find("\0\0", found + 1, true) end
  if found and found + 1 <= stop then return found - 1 - at end
end

local function envelope_bytes(data, at, stop, mistake, under)
  local first = at + ENVELOPE_SIZE
  if first > stop then return nil end
  local size = number_at(data, at + 4, 4) * (under[C.srmp_bytes] and 1 or 2)
  if not mistake.by_text and (size < 2 or first + size > stop) then return nil end
  local nul = nul_after(data, first, stop)
  if not nul or (not mistake.by_text and nul ~= size - 2) then return nil end
  if mistake.xml and data:sub(first + 1, first + 2) ~= "<\0" then return nil end
  return ENVELOPE_SIZE + nul + 2
end

local function compound_bytes(data, at, stop, mistake)
  if at + COMPOUND_SIZE > stop then return nil end
  local size, body = number_at(data, at + 4, 4), number_at(data, at + 8, 4) + number_at(data, at + 12, 4)
  local rest = stop - at - COMPOUND_SIZE
  if mistake.by_rest then return size < body and body <= rest and COMPOUND_SIZE + rest or nil end
  return body <= size and size <= rest and COMPOUND_SIZE + size or nil
end

-- Return the offset behind the headers of a mistake, nil if one does not fit.
local function srmp_end(data, at, stop, mistake, under, lengths)
  for _, one in ipairs(mistake) do
    local size
    if one == ENVELOPE then
      size = envelope_bytes(data, at, stop, mistake, under)
      if size and mistake.by_text then lengths[ENVELOPE_DATA] = size - ENVELOPE_SIZE end
    else
      size = compound_bytes(data, at, stop, mistake)
      if size and mistake.by_rest then lengths[COMPOUND_DATA] = size - COMPOUND_SIZE end
    end
    if not size then return nil end
    at = at + size + (under[C.srmp_packed] and 0 or (-size) % 4)
    if at > stop then return nil end
  end
  return at
end

-- Return whether what must follow begins here: a header by its mark, an ExtensionHeader, or nothing.
local function goes_on(reader, at, stop)
  for _, mark in ipairs(FOLLOWING) do
    if (reader.fields[mark[1]] or 0) ~= 0 then
      return at + mark[2] + 2 <= #reader.data and number_at(reader.data, at + mark[2], 2) == mark[3]
    end
  end
  return at == stop or (at + C.extension_size <= stop and number_at(reader.data, at, 4) == C.extension_size)
end

-- Return the headers that are there, the lengths of their data where a size is wrong, and the alternative layouts.
local function srmp_headers(reader, at, stop, announced)
  for _, mistake in ipairs(announced and ANNOUNCED or UNANNOUNCED) do
    for _, some in ipairs({ {}, { C.srmp_bytes }, { C.srmp_packed }, { C.srmp_bytes, C.srmp_packed } }) do
      local under, lengths = {}, {}
      for _, one in ipairs(some) do under[one] = true end
      local last = srmp_end(reader.data, at, stop, mistake, under, lengths)
      if last and goes_on(reader, last, stop) then return mistake, lengths, under end
    end
  end
end

-- Return the sections of a user message, with these in place of those of HTTP messages.
local function sections_with(found)
  local out = {}
  for _, one in ipairs(USER_MESSAGE_SECTIONS) do
    if one[1] ~= ENVELOPE and one[1] ~= COMPOUND then
      out[#out + 1] = one
    elseif one[1] == ENVELOPE then
      for _, each in ipairs(found) do out[#out + 1] = { each } end
    end
  end
  return out
end
