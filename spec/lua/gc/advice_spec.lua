-- SPDX-License-Identifier: MIT
-- System-call filters (seccomp) that forbid madvise, which upstream's Lua does not call. The heap must grow
-- and shrink without it.

local process = require "spec.support.process"

-- A program that allocates chunks of the heap, frees some objects in each, makes the collector release
-- pages, and checks the remaining objects.
local WORK = [[
  local how = ...
  if how and not require "filtered".filter(how) then
    io.write "no filters"
    os.exit(0)
  end
  for round = 1, 2 do
    local t = {}
    for i = 1, 300000 do t[i] = {i} end
    for i = 1, 300000 do
      if i % 50 ~= 0 then t[i] = false end
    end
    collectgarbage()
    collectgarbage()
    for i = 50, 300000, 50 do assert(t[i][1] == i) end
  end
  io.write "done"]]

describe("a process without madvise", function()
  it("runs where the call is refused", function()
    for _, tuning in ipairs{"", "huge-pages"} do
      local status, out, err = process.run{code = WORK, "errno", env = {LUA_GC = tuning}}
      if out == "no filters" then return pending(out) end
      assert.same({0, "done", ""}, {status, out, err})
    end
  end)

  it("runs where the call would end it, with LUA_GC=no-madvise #plain", function()
    for _, tuning in ipairs{"no-madvise", "huge-pages,no-madvise"} do
      local status, out, err = process.run{code = WORK, "kill", env = {LUA_GC = tuning}}
      if out == "no filters" then return pending(out) end
      assert.same({0, "done", ""}, {status, out, err})
    end
  end)
end)
