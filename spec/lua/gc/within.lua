-- SPDX-License-Identifier: MIT
--
-- Runs a function in a state of its own (spec/support/states.c) for a spec:
-- fails when the state cannot be opened, the function raises, an invariant of
-- the heap does not hold, lua_Alloc was told a wrong size, or lua_close leaves
-- memory behind. The function has no upvalue but _ENV and is given the
-- functions of the state before its arguments.

local states = require "states"

-- within(f, ...) -> results of f
return function(f, ...)
  local s, opened = states.open()
  assert(opened == "ok", opened)
  local results = table.pack(s:run(f, ...))
  if results[1] ~= "ok" then
    error(results[1] .. ": " .. tostring(results[2]), 2)
  end
  local broken = s:check()
  local left, wrong = s:close(), s:stats().wrong
  if broken or wrong or left ~= 0 then
    error(broken or wrong or left .. " bytes left after lua_close", 2)
  end
  return table.unpack(results, 2, results.n)
end
