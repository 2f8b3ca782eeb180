-- SPDX-License-Identifier: MIT
-- Converts the statistics of a running process to numbers and rates.

local M = {}

--- Converts 'fields', the answer to the request "stats" (client.send), to a process's statistics: omits the
-- field 'peer', and converts 'now', the time of the process's clock, from us to seconds.
function M.stats(fields)
  local s = {}
  for key, value in pairs(fields) do
    s[key] = key ~= "peer" and value or nil
  end
  s.now = s.now / 1e6
  return s
end

local NAMED = {"states", "made", "inuse", "held", "allocated", "samples", "minors", "majors", "pauses"}

--- Parses the rows of an answer to the request "names". Returns a list with a row for each name of Lua
-- states. Fields of a row:
--
--   - name: the name; nil: the states without a sample, which have no name yet
--   - the fields NAMED: sums over the present and former states with this name; 'pauses' is in ns
function M.names(rows)
  local list = {}
  for i, row in ipairs(rows or {}) do
    local numbers, name = row:match("^(" .. ("%d+ "):rep(#NAMED) .. ")(.*)$")
    local one, k = {name = name ~= "" and name or nil}, 0
    for n in (numbers or ""):gmatch "%d+" do
      k = k + 1
      one[NAMED[k]] = math.tointeger(n)
    end
    list[i] = one
  end
  return list
end

--- Parses an answer to the request "labels". Returns a list of {bytes, labels}, the largest first; 'labels'
-- is a list of {name, value}, or nil in the last row, the sum of all other label sets.
function M.labels(fields)
  local list = {}
  for i, row in ipairs(fields.rows) do
    local bytes, set = row:match "^(%d+) (.*)$"
    list[i] = {bytes = math.tointeger(bytes), labels = {}}
    for name, value in set:gmatch "([^\t=]+)=([^\t]*)" do
      table.insert(list[i].labels, {name, value})
    end
  end
  list[#list + 1] = fields.others and {bytes = fields.others}
  return list
end

--- Returns the rates per second between the statistics 'before' and 'now' (results of M.stats), or nil if no
-- time has passed.
--
--   - allocated, inuse: bytes; 'inuse' is negative if the bytes in use have decreased
--   - collections, samples: numbers
--   - gc: time of collections, as a share of the time (0 to 1)
function M.rates(before, now)
  local seconds = now.now - before.now
  if seconds <= 0 then
    return nil
  end
  local function rate(key)
    return (now[key] - before[key]) / seconds
  end
  return {
    allocated = rate "allocated", inuse = rate "inuse", gc = rate "pauses" / 1e9,
    collections = rate "minors" + rate "majors", samples = rate "samples" + rate "timesamples",
  }
end

return M
