-- SPDX-License-Identifier: MIT
-- Renders the checks of asamp.sums.gates as lines of text, GitHub annotations or a JUnit file.

local layout = require "asamp.show.layout"
local units = require "asamp.show.units"

local M = {}

local function amount(check, n)
  return check.unit == "bytes" and units.bytes(math.floor(n + 0.5)) or ("%d"):format(n)
end

local function plusminus(check)
  return check.error > 0 and " ±" .. units.bytes(math.floor(check.error + 0.5)) or ""
end

local function place(row)
  if row.file and row.line and row.line > 0 then
    return ("%s:%d (%s)"):format(layout.clean(row.file), row.line, layout.clean(row.name or "?"))
  end
  return layout.clean(row.name or "?")
end

-- Returns text about a check's difference from the baseline, with the limits (in percent and in standard
-- errors) above which it fails.
local function differs(check)
  local percent = check.percent < math.huge and ("%+.1f%%"):format(check.percent) or "new"
  local text = ("%s%s, baseline %s, %s (more than %g%% fails)"):format(amount(check, check.value),
    plusminus(check), amount(check, check.before), percent, check.tolerance)
  if check.error > 0 then
    text = text .. ("; only an increase above %.1f standard errors fails (this one: %.1f)"):format(
      check.needed, check.sigma)
  end
  return text .. (check.moved and "; other lines of the function allocated less: " ..
    "allocations may have moved between lines, for example if the order of pairs differs" or "")
end

-- Returns text about the check "no-leak": the likely leaks, or why one may have been missed.
local function leaks(check)
  if not check.ok then
    return units.plural(check.value, "likely leak") ..
           (check.blame.container and ", held by " .. layout.clean(check.blame.container) or "")
  elseif check.unjudged then
    return "no likely leak found, because the profile cannot show one: " .. check.unjudged
  elseif check.maybe then
    local grower = check.maybe.holder and layout.clean(check.maybe.holder) or place(check.maybe)
    return (check.maybe.stopped and "no likely leak: %s grew, but not until the end of the run" or
            "no likely leak, but %s grows; a longer run would show whether it is a leak"):format(grower)
  elseif check.few then
    return ("no likely leak; not judged: %s with live objects from early and late in the run, but fewer " ..
      "than %d live samples%s"):format(units.plural(check.few.lines, "line"), check.few.least,
      check.few.alloc and ("; a run with --alloc %s takes enough samples"):format(
        units.period(check.few.alloc)) or "")
  end
  return "no likely leak"
end

function M.text(check)
  local text
  if check.before then
    text = differs(check)
  elseif check.name == "no-leak" then
    text = leaks(check)
  else
    text = ("%s%s, limit %s"):format(amount(check, check.value), plusminus(check),
                                     amount(check, check.limit))
  end
  if check.found and check.found < math.huge then
    text = text .. ("; the check detects a value of %s or more in 9 of 10 runs"):format(
      amount(check, check.found))
  end
  if check.missing then
    text = text .. "; the profile has no sample of this line"
  end
  if not check.ok and check.blame then
    text = text .. "; largest part: " .. place(check.blame)
  end
  return text
end

-- Returns text for the smallest increase of an amount, in percent, that a comparison finds; math.huge: it
-- finds none. 'name': the amount's name.
local function increase(name, percent)
  return "detected in 9 of 10 runs: " .. (percent < math.huge and
    ("%s grows by %.0f%% or more"):format(name, math.max(percent, 1)) or "no increase of " .. name)
end

-- Returns lines of text about the smallest increases that a comparison detects in 9 of 10 runs. 'sight':
-- these increases (asamp.sums.gates.changes).
local function sighted(sight)
  local lines = {increase("the total", sight.all) .. "\n"}
  for _, row in ipairs(sight.lines) do
    local name = ("%s, with %.0f%% of the bytes,"):format(place(row.blame), 100 * row.share)
    lines[#lines + 1] = increase(name, row.least) .. (row.period and
      ("; --alloc %s detects smaller increases"):format(units.period(row.period)) or "") .. "\n"
  end
  return table.concat(lines)
end

--- Returns the checks as text, one line each. If there is a baseline, more lines state the smallest increases
-- over it that the checks detect.
--
--   - checks: list of checks of asamp.sums.gates
--   - sight: these increases (asamp.sums.gates.changes); nil: there is no baseline
function M.lines(checks, sight)
  local lines = {}
  for i, check in ipairs(checks) do
    lines[i] = ("%s  %s: %s\n"):format(check.ok and "ok  " or "OVER", layout.printable(check.name),
                                       M.text(check))
  end
  return table.concat(lines) .. (sight and sighted(sight) or "")
end

local function escaped(text, more)
  return layout.printable((text:gsub("[%%\r\n" .. (more or "") .. "]", function(c)
    return ("%%%02X"):format(c:byte())
  end)))
end

--- Returns workflow commands of GitHub Actions that annotate the lines of failed checks. 'message': the
-- reason why the command could not perform the checks; false: it did.
function M.github(checks, message)
  local lines = {message and ("::error title=asamp check::%s\n"):format(escaped(message)) or nil}
  for _, check in ipairs(checks) do
    if not check.ok then
      local row, where = check.blame, ""
      if row and row.file and row.line and row.line > 0 then
        where = ("file=%s,line=%d,"):format(escaped(row.file, ":,"), row.line)
      end
      lines[#lines + 1] = ("::error %stitle=asamp %s::%s\n"):format(where, escaped(check.name, ":,"),
                                                                   escaped(M.text(check)))
    end
  end
  return table.concat(lines)
end

local ENTITIES = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;"}

local function xml(text)
  text = layout.clean(text):gsub("\xEF\xBF[\xBE\xBF]", "?")  -- XML permits neither U+FFFE nor U+FFFF
  return (text:gsub('[&<>"]', ENTITIES))
end

--- Returns a JUnit file of the checks of a profile called 'name'. 'message': the reason why the command could
-- not perform the checks; false: it did.
function M.junit(checks, name, message)
  local failures, lines = 0, {}
  if message then
    lines[1] = ('  <testcase classname="asamp" name="run">\n    <error message="%s"/>\n  </testcase>'):format(
      xml(message))
  end
  for _, check in ipairs(checks) do
    local head = ('  <testcase classname="asamp" name="%s"'):format(xml(check.name))
    if check.ok then
      lines[#lines + 1] = head .. "/>"
    else
      failures = failures + 1
      lines[#lines + 1] = ('%s>\n    <failure message="%s"/>\n  </testcase>'):format(
        head, xml(M.text(check)))
    end
  end
  return ('<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="asamp check %s" tests="%d" ' ..
          'failures="%d"%s>\n%s\n</testsuite>\n'):format(xml(name), #lines, failures,
    message and ' errors="1"' or "", table.concat(lines, "\n"))
end

return M
