-- SPDX-License-Identifier: MIT

local states = require "states"

-- within(f, ...): calls f in a separate state (spec/support/states.c) and returns its results. The first
-- argument of f is a table with the test functions of the state; the others are those of 'within'. The only
-- upvalue of f is _ENV. Fails if the state cannot be opened, f raises an error, an invariant of the heap
-- does not hold, lua_Alloc received a wrong size, or lua_close leaves memory allocated.
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
