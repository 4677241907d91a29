-- The words of the rules. A tree becomes a function of the fields; it returns true, false, a value, or nil for unknown.

local RULES = {}

-- Return the truth of a known value, as the rules define it.
local function truth(value)
  return value ~= false and value ~= 0 and value ~= ""
end

local function field(key) return function(f) return f[key] end end

local function const(value) return function() return value end end

local function has(key)
  return function(f)
    if f[key] ~= nil then return true end
    if f["Packet.Decided"] then return false end
    return nil
  end
end

local OPERATIONS = {
  eq = function(a, b) return a == b end,
  ne = function(a, b) return a ~= b end,
  lt = function(a, b) return a < b end,
  le = function(a, b) return a <= b end,
  gt = function(a, b) return a > b end,
  ge = function(a, b) return a >= b end,
}

local function two(operation, left, right)
  return function(f)
    local a = left(f)
    if a == nil then return nil end
    local b = right(f)
    if b == nil then return nil end
    return operation(a, b)
  end
end

local function compare(name, left, right) return two(OPERATIONS[name], left, right) end

local function plus(left, right) return two(function(a, b) return a + b end, left, right) end

local function of_number(value, act)
  return function(f)
    local a = value(f)
    if type(a) ~= "number" then return nil end
    return act(a)
  end
end

local function one_of(value, values)
  local set = {}
  for _, one in ipairs(values) do set[one] = true end
  return of_number(value, function(a) return set[a] == true end)
end

local function bits_of(a, mask)
  local out, bit, left = 0, 1, mask
  while left > 0 do
    if left % 2 == 1 then out = out + math.floor(a / bit) % 2 * bit end
    left, bit = math.floor(left / 2), bit * 2
  end
  return out
end

-- The bits that two numbers have in common, and those that either has. One of them may be negative.
local function both(a, b)
  if b < 0 then return bits_of(b, a) end
  return bits_of(a, b)
end

local function either(a, b) return a + b - both(a, b) end

local function masked(value, mask) return of_number(value, function(a) return bits_of(a, mask) end) end

local function times(value, factor) return of_number(value, function(a) return a * factor end) end

local function rest(value, by) return of_number(value, function(a) return a % by end) end

local function byte_at(key, index)
  return function(f)
    local value = f[key]
    return type(value) == "string" and value:byte(index + 1) or nil
  end
end

-- The Kelvin sign is the one letter beyond ASCII with an ASCII letter as its lower case.
local function begins(key, text)
  return function(f)
    local value = f[key]
    if type(value) ~= "string" then return nil end
    return value:gsub("\226\132\170", "k"):lower():sub(1, #text) == text
  end
end

local function junction(decisive, ...)
  local parts = { ... }
  return function(f)
    local unknown = false
    for i = 1, #parts do
      local value = parts[i](f)
      if value == nil then
        unknown = true
      elseif truth(value) == decisive then
        return decisive
      end
    end
    if unknown then return nil end
    return not decisive
  end
end

local function all_of(...) return junction(false, ...) end

local function any_of(...) return junction(true, ...) end

local function opposite(part)
  return function(f)
    local value = part(f)
    if value == nil then return nil end
    return not truth(value)
  end
end

local function rule(one) RULES[#RULES + 1] = one end

-- Return pass, fail, warn, reading or inconclusive; nil if the rule does not apply.
local function outcome(one, f)
  local applies = one.applies(f)
  if applies == nil or not truth(applies) then return nil end
  if not one.reading then
    local holds = one.holds(f)
    if holds == nil then return "inconclusive" end
    return truth(holds) and "pass" or one.broken
  end
  local results, everywhere = {}, true
  for name, tree in pairs(one.alternatives) do
    local holds = tree(f)
    if holds == nil then return "inconclusive" end
    results[name] = truth(holds)
    everywhere = everywhere and results[name]
  end
  if everywhere then return "pass" end
  for at, name in ipairs(one.accepted) do
    if results[name] then return at == 1 and "pass" or "reading" end
  end
  return one.broken
end

-- Rules on one field of a whole packet, by kind: the bits of `mask` lie between `low` and `high`, and are in `among`.
-- announced: the field must exist when this flag is set.
local ALONE = {}

local function alone(kind, one)
  ALONE[kind] = ALONE[kind] or {}
  table.insert(ALONE[kind], one)
end

-- Return pass, fail or warn; nil if the field was not decoded.
local function outcome_alone(one, f)
  local value = f[one.fields[1]]
  if one.announced then
    local flag = f[one.announced]
    return value == nil and flag ~= nil and flag ~= 0 and one.broken or nil
  end
  if type(value) ~= "number" then return nil end
  local bits = bits_of(value, one.mask)
  local holds = one.low <= bits and bits <= one.high and (one.among == nil or one.among[bits] == true)
  return holds and "pass" or one.broken
end
