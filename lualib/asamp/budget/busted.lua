-- SPDX-License-Identifier: MIT
-- Helper for busted: measures each `it`, and fails tests that exceed the baseline.
--   busted --helper=asamp.budget.busted [-Xhelper update] [-Xhelper file=PATH]
-- Also registers the assertions of asamp.budget.

local budget = require "asamp.budget"
local busted = require "busted"

local path, update = "asamp-budget.lua", false
for _, word in ipairs(arg or {}) do
  local file = word:match "^file=(.+)$"
  if file then
    path = file
  elseif word == "update" then
    update = true
  else
    error(("asamp.budget.busted: unknown option '%s' (known: update, file=PATH)"):format(word), 0)
  end
end

budget.register(require "luassert")
local baseline, wrong = budget.open(path, {update = update})
if not baseline then error(wrong, 0) end

local function fullname(element)
  local names, parent = {}, element
  while parent and parent.descriptor ~= "file" and (parent.name or parent.descriptor) do
    table.insert(names, 1, parent.name or parent.descriptor)
    parent = busted.parent(parent)
  end
  return table.concat(names, " ")
end

-- Returns the position of 'element', a test of busted, as "file:line: ", the start of an error message.
local function place(element)
  local trace = element.trace
  return trace and ("%s:%d: "):format(trace.short_src, trace.currentline) or ""
end

-- Wraps each test so that it runs inside the measurement. Errors of the test propagate.
busted.subscribe({"test", "start"}, function(element)
  local run, name = element.run, fullname(element)
  if not run then return end
  element.run = function(...)
    local ok, message = baseline:run(name, run, ...)
    if not ok then busted.fail(place(element) .. message, 0) end
  end
end)

busted.subscribe({"suite", "end"}, function()
  local ok, message = baseline:close()
  if not ok then
    -- Some output handlers of busted do not show the error of a suite.
    io.stderr:write(message, "\n")
    error(message, 0)
  end
  if baseline.new > 0 then
    io.stderr:write(("asamp.budget: tests without a budget in '%s': %d; -Xhelper update adds their budgets\n")
      :format(path, baseline.new))
  end
end)

return true
