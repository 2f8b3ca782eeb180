-- SPDX-License-Identifier: MIT
-- Totals of the Lua states and OS threads of a process. Each function returns a list of rows, the row with
-- most bytes first. A row is for one state, for all states with the same name, for the states that the file
-- lists only as a sum, or for a thread. Fields of a row:
--
--   - id: number of the state or thread; nil: the row is for several states
--   - name: name of the state or states (their script); nil: a thread
--   - count: number of states; of a thread: 0
--   - bytes, alive: estimated bytes, allocated and alive
--   - allocated: exact number of allocated bytes; 0: unknown
--   - time: sampled time, seconds
--   - collections: number of collections

local M = {}

local NAMELESS = "(unknown script)"

local function before(a, b)
  if a.bytes ~= b.bytes then
    return a.bytes > b.bytes
  elseif a.time ~= b.time then
    return a.time > b.time
  end
  return (a.id or 0) < (b.id or 0) or (a.id == b.id and (a.name or "") < (b.name or ""))
end

local function rowof(s)
  return {
    id = not s.others and s.id or nil, count = s.others or 1,
    name = s.others and ("(%d others)"):format(s.others) or s.name or NAMELESS,
    bytes = s.bytes, alive = s.survivedbytes - s.laterbytes, allocated = s.allocated,
    time = s.ns / 1e9, collections = s.minors + s.majors,
    thread = s.thread, begin = s.begin, ended = s.ended,
  }
end

--- Returns a list with the totals of each Lua state. It is empty if the file has no states.
function M.states(profile)
  local rows = {}
  for i, s in ipairs(profile.states or {}) do
    rows[i] = rowof(s)
  end
  table.sort(rows, before)
  return rows
end

--- Returns a row for each name of Lua states, with the sums of all states with this name. 'allocated' is 0 if
-- it is unknown for one of them.
function M.names(profile)
  local rows, byname, unknown = {}, {}, {}
  for _, s in ipairs(profile.states or {}) do
    local one = rowof(s)
    unknown[one.name] = unknown[one.name] or (s.samples > 0 and s.allocated == 0)
    local row = byname[one.name]
    if not row then
      one.id, one.thread, one.begin, one.ended = nil, nil, nil, nil
      byname[one.name] = one
      rows[#rows + 1] = one
    else
      for _, field in ipairs{"count", "bytes", "alive", "allocated", "time", "collections"} do
        row[field] = row[field] + one[field]
      end
    end
  end
  for _, row in ipairs(rows) do
    row.allocated = unknown[row.name] and 0 or row.allocated
  end
  table.sort(rows, before)
  return rows
end

function M.threads(profile)
  local rows = {}
  for i, t in ipairs(profile.threads or {}) do
    rows[i] = {id = t.id, count = 0, bytes = t.bytes, alive = 0, allocated = 0,
               time = t.ns / 1e9, collections = 0}
  end
  table.sort(rows, before)
  return rows
end

--- Finds the Lua states that a user means. Returns the sorted list of their ids, or nil and a message if
-- there are none. 'text': the number of a state, or a part of names.
function M.find(profile, text)
  if not profile.states then
    return nil, "the profile does not record Lua states; " ..
      "profile with asamp run -- PROGRAM, or with ASAMP in the environment"
  end
  local ids = {}
  for _, s in ipairs(profile.states) do
    if not s.others and (tostring(s.id) == text or
                         (s.name or NAMELESS):find(text, 1, true)) then
      ids[#ids + 1] = s.id
    end
  end
  table.sort(ids)
  if #ids == 0 then
    return nil, ("no Lua state has '%s' in its name or as its number; --by state lists the states"):format(
      text)
  end
  return ids
end

return M
