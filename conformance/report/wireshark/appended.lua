-- Find the headers behind an ExtensionHeader (MS-MQRR 2.2.5), also where one field about them is wrong: where what the
-- flags announce does not take exactly the bytes, one mistake is looked for that explains them.

local PATH = "DeadLetterHeader.DeadLetterPathName"
local APPENDED = { SECTION.SubqueueHeader, SECTION.DeadLetterHeader, SECTION.ExtendedAddressHeader }

local function place_of(one)
  for i, section in ipairs(APPENDED) do
    if section == one then return i end
  end
end

local function in_order(sections)
  for i = 2, #sections do
    if place_of(sections[i]) < place_of(sections[i - 1]) then return false end
  end
  return true
end

local function is_path(data, at, stop)
  local ended, behind, zeros = filled_facts(data:sub(at + 5, stop))
  return ended and zeros and behind < 4
end

-- Return whether these headers take exactly the bytes, and each states its size. path: the bytes of the path of a
-- DeadLetterHeader, if its size field does not tell them. paths: whether a path must be one.
local function fits(data, at, stop, sections, path, paths)
  for _, one in ipairs(sections) do
    if at + 4 > stop then return false end
    local stated = number_at(data, at, 4)
    local size = APPENDED_SIZES[one.name]
    if size then
      if stated ~= size then return false end
    else
      size = path and 4 + path or stated + (-stated) % 4
      if size <= 4 then return false end
      if (path or paths) and not is_path(data, at, at + (path and size or stated)) then return false end
    end
    at = at + size
  end
  return at == stop
end

-- Return whether the bytes begin with an ExtensionHeader: its size is right, or that of the headers behind it.
local function begins_extension(data, at, stop, announced)
  local left = stop - at - C.extension_size
  if number_at(data, at, 4) == C.extension_size then return true end
  return left > 0 and number_at(data, at + 4, 4) == left
    and fits(data, at + C.extension_size, stop, announced)
end

-- All choices of headers in all orders: none first, in the order of the table.
local function choices()
  local out = {}
  local function grow(some, count)
    if #some == count then
      local copy = {}
      for i, one in ipairs(some) do copy[i] = one end
      out[#out + 1] = copy
      return
    end
    for _, one in ipairs(APPENDED) do
      local new = true
      for _, other in ipairs(some) do new = new and other ~= one end
      if new then
        some[#some + 1] = one
        grow(some, count)
        some[#some] = nil
      end
    end
  end
  for count = 0, #APPENDED do grow({}, count) end
  return out
end

-- Return how many headers are in one of two choices and not in the other.
local function apart(some, others)
  local found = 0
  for _, one in ipairs(APPENDED) do
    local mine, theirs = false, false
    for _, each in ipairs(some) do mine = mine or each == one end
    for _, each in ipairs(others) do theirs = theirs or each == one end
    if mine ~= theirs then found = found + 1 end
  end
  return found
end

-- Return the headers that are there; the bytes of a path that its header miscounts; whether it lacks its padding.
local function appended_headers(data, at, stop, announced)
  if fits(data, at, stop, announced) then return announced end
  local rest, place, stated = stop - at, at, nil
  for _, one in ipairs(announced) do
    rest = rest - (APPENDED_SIZES[one.name] or 4)
    if one == SECTION.DeadLetterHeader then
      stated = place + 4 <= #data and number_at(data, place, 4)
    end
    place = place + (APPENDED_SIZES[one.name] or 0)
  end
  if stated and rest > 0 and fits(data, at, stop, announced, rest) then
    return announced, rest + 4 ~= stated and rest or nil, rest % 4 ~= 0
  end
  local every = choices()
  for far = 0, #APPENDED do
    for _, ordered in ipairs({ true, false }) do
      for _, some in ipairs(every) do
        if apart(some, announced) == far and in_order(some) == ordered and fits(data, at, stop, some, nil, true) then
          return some
        end
      end
    end
  end
  return announced
end
