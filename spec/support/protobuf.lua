-- SPDX-License-Identifier: MIT
-- Decodes a pprof profile (profile.proto) for specs, without using the C code that writes it.
-- Raises an error if the message is malformed.

local M = {}

local function varint(bytes, at)
  local n, shift = 0, 0
  while true do
    local b = assert(bytes:byte(at), "varint beyond the end")
    n = n | (b & 127) << shift
    at, shift = at + 1, shift + 7
    if b < 128 then
      return n, at
    end
    assert(shift < 70, "varint too long")
  end
end

-- Calls f(field, value) for each field of a message. The value is a string if the field has a length,
-- otherwise a number.
local function fields(bytes, f)
  local at = 1
  while at <= #bytes do
    local key, value, length
    key, at = varint(bytes, at)
    if key & 7 == 0 then
      value, at = varint(bytes, at)
    else
      assert(key & 7 == 2, "wire type " .. (key & 7))
      length, at = varint(bytes, at)
      assert(at + length - 1 <= #bytes, "field beyond the end")
      value = bytes:sub(at, at + length - 1)
      at = at + length
    end
    f(key >> 3, value)
  end
end

-- Returns the list of numbers in a packed repeated field.
local function numbers(bytes)
  local list, at = {}, 1
  while at <= #bytes do
    list[#list + 1], at = varint(bytes, at)
  end
  return list
end

local function message(bytes)
  local t = {}
  fields(bytes, function(field, value)
    assert(t[field] == nil, "field twice: " .. field)
    t[field] = value
  end)
  return t
end

-- Decodes a profile and checks every index and id. Returns a table:
--   types        {"alloc_objects/count", ...}
--   samples      {{locations, values, labels = {type =, class =}} ...}
--   locations    {[id] = {function id, line}}
--   functions    {[id] = {name, system, file, line}}
--   period, periodtype, default (sample type), nanos (start time), duration (ns), comments
function M.profile(bytes)
  local p = {types = {}, samples = {}, locations = {}, functions = {}}
  local raw, strings = {}, {}
  fields(bytes, function(field, value)
    raw[field] = raw[field] or {}
    table.insert(raw[field], value)
  end)
  for i, s in ipairs(raw[6]) do
    assert(utf8.len(s), "string that is no UTF-8")
    strings[i - 1] = s
  end
  assert(strings[0] == "", "string 0 is not empty")
  local function string(i)
    return assert(strings[i or 0], "no string " .. tostring(i))
  end
  local function valuetype(m)
    m = message(m)
    return string(m[1]) .. "/" .. string(m[2])
  end
  for i, m in ipairs(raw[1]) do
    p.types[i] = valuetype(m)
  end
  for _, m in ipairs(raw[5] or {}) do
    m = message(m)
    assert(m[1] > 0 and not p.functions[m[1]], "bad function id")
    p.functions[m[1]] = {name = string(m[2]), system = string(m[3]), file = string(m[4]),
                         line = m[5] or 0}
  end
  for _, m in ipairs(raw[4] or {}) do
    m = message(m)
    assert(m[1] > 0 and m[2] == 1 and not p.locations[m[1]])
    local line = message(m[4])
    assert(p.functions[line[1]], "no function " .. line[1])
    p.locations[m[1]] = {line[1], line[2] or 0}
  end
  for i, m in ipairs(raw[2] or {}) do
    local s = {labels = {}}
    fields(m, function(field, value)
      if field == 1 then
        s.locations = numbers(value)
      elseif field == 2 then
        s.values = numbers(value)
      else
        assert(field == 3)
        local label = message(value)
        s.labels[string(label[1])] = string(label[2])
      end
    end)
    assert(#s.values == #p.types, "another number of values")
    for _, id in ipairs(s.locations) do
      assert(p.locations[id], "no location " .. id)
    end
    p.samples[i] = s
  end
  p.period, p.periodtype = raw[12][1], valuetype(raw[11][1])
  p.default = string(raw[14][1])
  p.comments = {}
  for i, n in ipairs(raw[13] or {}) do
    p.comments[i] = string(n)
  end
  p.nanos, p.duration = raw[9] and raw[9][1], raw[10][1]
  return p
end

return M
