-- SPDX-License-Identifier: MIT
-- Checks the verdicts of `asamp run`. Each program of spec/planted has one problem, which the verdict must
-- name; those of spec/innocent have none.
--   build/bin/lua spec/support/judge.lua RUNS [NAME...]
-- profiles each program RUNS times with default options, and prints how many verdicts are right. The file
-- is also a module of spec/lualib/verdict_spec.lua.
--
-- The first line of a program of spec/planted states the right verdict:
--   -- The verdict must name line LINES, reason REASON[, holder HOLDER]
-- LINES are line numbers; the verdict must name one of them. REASON is a reason of a leak or a kind of cost
-- in asamp.sums.verdict, or several of them. HOLDER is a part of the path of references that keeps the
-- leaked objects alive. Alternatives are separated by "|". The reason "maybe" is for a leak that the
-- verdict may also list under "Seen growing".

local script = arg and arg[0] and arg[0]:find "judge%.lua$"
if script then
  package.path = "lualib/?.lua;?.lua;" .. package.path
  package.cpath = "build/lib/?.so;" .. package.cpath
end

local copies = require "asamp.sums.copies"
local leaks = require "asamp.sums.leaks"
local reader = require "profiler.reader"
local totals = require "asamp.sums.totals"
local verdict = require "asamp.sums.verdict"

local M = {}

--- Returns the names of the programs in a folder of spec/, sorted.
function M.programs(folder)
  local list = {}
  local pipe = assert(io.popen(("ls spec/%s/*.lua"):format(folder)))
  for path in pipe:lines() do
    list[#list + 1] = path
  end
  pipe:close()
  return list
end

--- Returns the verdict on a profile, and the profile.
function M.verdict(path)
  local profile = assert(reader.read(path, {bins = leaks.BINS}))
  local t = totals.of(profile)
  return verdict.of(profile, t, leaks.of(profile), copies.of(profile)), profile
end

-- Runs a program with default options. Returns the verdict and the profile.
function M.run(program)
  local path = os.tmpname()
  assert(os.execute(("timeout 300 build/bin/asamp run --quiet -o %s --overwrite %s >/dev/null"):format(
    path, program)))
  local v, profile = M.verdict(path)
  os.remove(path)
  return v, profile
end

local function set(text)
  local all = {}
  for word in text:gmatch "[^|]+" do
    all[word] = true
  end
  return all
end

-- Parses the first line of a planted program, as described at the top of this file. Returns {lines (set of
-- strings), reasons (set), holder (nil: none)}.
function M.expected(program)
  local file = assert(io.open(program))
  local lines, reasons, holder =
    file:read "l":match "^%-%- The verdict must name line (%S+), reason ([%w|]+)(.*)$"
  file:close()
  return {lines = set(lines), reasons = set(reasons), holder = holder:match "^, holder (%S+)$"}
end

local function hasline(rows, lines)
  for _, row in ipairs(rows) do
    if lines[("%d"):format(row.line)] then
      return true
    end
  end
  return false
end

-- Returns true if the verdict names the planted problem.
function M.found(v, expected)
  local first = expected.reasons.maybe and v.growth == "maybe" and v.maybe[1]
  if first then
    return (first.holder or ""):find(expected.holder, 1, true) ~= nil and hasline({first}, expected.lines)
  elseif expected.holder then
    for _, group in ipairs(v.leaks) do
      if group.holder and group.holder:find(expected.holder, 1, true) and expected.reasons[group.kind] and
         hasline(group.rows, expected.lines) then
        return true
      end
    end
    return false
  elseif v.time and v.time.at and expected.reasons[v.time.sort] and
         hasline({v.time.at}, expected.lines) then
    return true
  end
  for _, line in ipairs(v.lines) do
    if expected.reasons[line.reason] and hasline({line}, expected.lines) then
      return true
    end
  end
  return false
end

-- Returns true if the verdict names a leak.
function M.accused(v)
  return v.growth == "grows" or #v.leaks > 0
end

-- Returns a verdict as one line.
local function brief(v)
  local words = {v.growth or "-"}
  for _, group in ipairs(v.leaks) do
    words[#words + 1] = ("leak %s [%s]:%d"):format(group.kind, group.holder or "-", group.rows[1].line)
  end
  for _, c in ipairs(v.maybe) do
    words[#words + 1] = ("maybe [%s]:%d"):format(c.holder or "-", c.line)
  end
  for _, line in ipairs(v.lines) do
    words[#words + 1] = ("%d %s %s %.0f%%"):format(line.line, line.type, line.reason or "-", 100 * line.share)
  end
  local time = v.time or {samples = 0}
  words[#words + 1] = ("time %.0f: %s %s %s gc %.2f"):format(time.samples, time.sort or "-",
    time.at and time.at.line or "", time.at and time.at.calls or "", time.gc or 0)
  return table.concat(words, "; ")
end

local function main(runs, ...)
  local wanted = {...}
  for _, folder in ipairs{"planted", "innocent"} do
    for _, program in ipairs(M.programs(folder)) do
      local chosen = #wanted == 0
      for _, name in ipairs(wanted) do
        chosen = chosen or program:find("/" .. name .. ".lua", 1, true)
      end
      local n, wrong = 0, nil
      for _ = 1, chosen and runs or 0 do
        local v = M.run(program)
        local ok
        if folder == "planted" then
          ok = M.found(v, M.expected(program))
        else
          ok = not M.accused(v)
        end
        n, wrong = n + (ok and 1 or 0), not ok and brief(v) or wrong or runs == 1 and brief(v)
      end
      if chosen then
        print(("%-34s %d of %d  %s"):format(program, n, runs, wrong or ""))
      end
    end
  end
end

if script then
  main(math.tointeger(tonumber(arg[1])) or 1, table.unpack(arg, 2))
end

return M
