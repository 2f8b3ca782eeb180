-- SPDX-License-Identifier: MIT
--
-- Full collections of small heaps. Their cost relative to upstream's Lua is counted by callgrind, as the
-- difference between two numbers of collections. A collection visits the string table only until all dead
-- strings are found (lua/gc/sweep/interned.c).

local process = require "spec.support.process"
local shell = require "spec.support.shell"
local within = require "spec.lua.gc.within"

describe("a full collection of a small heap #plain", function()
  if not os.execute "command -v valgrind >/dev/null" then
    pending "counts by valgrind, which is not there: apt-get install valgrind"
    return
  end

  local PROGRAM = [[
    collectgarbage "incremental"
    local live, n = {}, tonumber(arg[1])
    %s
    collectgarbage()
    collectgarbage()
    for i = 1, n do
      %s
      collectgarbage()
    end]]

  local function count(lua, program, n)
    local out = shell.folder() .. "/callgrind"
    local code, _, err = process.run{program = "valgrind", "--tool=callgrind", "--callgrind-out-file=" .. out,
                                     lua, program, tostring(n)}
    assert.equal(0, code, err)
    local text = shell.read(out)
    return tonumber(text:match "\nsummary: (%d+)" or text:match "\ntotals: (%d+)")
  end

  -- Returns the number of instructions of one full collection, divided by that of upstream's Lua.
  local function ratio(before, each)
    local program = process.file(PROGRAM:format(before, each))
    local function slope(lua) return count(lua, program, 40) - count(lua, program, 20) end
    local r = slope "build/bin/lua" / slope "build/plain/bin/lua"
    os.remove(program)
    return r
  end

  -- Each case has a limit of the ratio, its last element. The limit is between the ratios before and after an
  -- optimization: 3.18 and 1.87; 2.76 and 1.48; 2.71 and 1.47.
  for _, case in ipairs{
    {"of the libraries alone", "", "", 2.4},
    {"of 20,000 short strings", "for i = 1, 20000 do live[i] = 's' .. i end", "", 2},
    {"of 20,000 short strings, ten others have died", "for i = 1, 20000 do live[i] = 's' .. i end",
     "for j = 1, 10 do local _ = i .. ':' .. j end", 2},
  } do
    it("costs little more than pristine Lua's: " .. case[1], function()
      local r = ratio(case[2], case[3])
      assert.is_true(r < case[4], ("%.2f, limit %.2f"):format(r, case[4]))
    end)
  end
end)

describe("the string table", function()
  it("loses the dead in a full collection, be they young or old, and no others", function()
    within(function(state)
      local live, wanted, text = {}, {}, 0
      local function new(i)
        text = text + 1
        live[i], wanted[i] = "s" .. text, text
      end
      for i = 1, 4000 do new(i) end
      collectgarbage()
      for _, mode in ipairs{"generational", "incremental"} do
        collectgarbage(mode)
        for round, young in ipairs{0, 1, 10, 900, 5000, 10, 0, 20} do
          for i = 1, young do local _ = "young" .. round .. ":" .. i end
          -- all old strings are still alive
          collectgarbage()
          assert(not state.check())
          for i = round, 4000, 997 do new(i) end
          collectgarbage()  -- finds five old strings dead
          assert(not state.check())
          collectgarbage "step"
          for i = round, 4000, 3 do new(i) end
          for i = 1, young do local _ = "young" .. round .. ":" .. i end
          collectgarbage()  -- finds a third of the old strings dead
          assert(not state.check())
        end
      end
      for i = 1, 4000 do assert(live[i] == "s" .. wanted[i]) end
    end)
  end)

  it("is swept in slices while strings come, die, and are made again", function()
    within(function(state)
      local live, seen = {}, 0
      for i = 1, 6000 do live[i] = "s" .. i end
      collectgarbage()
      for round = 1, 4 do
        collectgarbage("incremental", 100, 1, 10)
        for i = round, 6000, 2 do live[i] = false end
        local ended = false
        for i = round, 6000, 2 do
          if not ended then ended = collectgarbage("step", 1) end
          -- creates the same string again; if the dead one still exists, it is resurrected
          if i % 4 < 2 then live[i] = "s" .. i end
          local _ = "young" .. round .. ":" .. i
          if i % 50 < 2 then
            assert(not state.check())
            seen = seen + 1
          end
        end
        if round % 2 == 0 then collectgarbage() end
        assert(not state.check())
        for i = 1, 6000 do
          assert(not live[i] or live[i] == "s" .. i)
          live[i] = "s" .. i
        end
      end
      assert(seen > 100)
    end)
  end)
end)
