-- SPDX-License-Identifier: MIT
--
-- The bytes alive at the end of a profile, compared with the collector's count. Each function keeps a known
-- number of bytes, and memory is allocated, grown and shrunk in all possible ways.

local cjson = require "cjson"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

local PERIOD = 4096

-- A program that calls the functions in KEEP, each of which allocates in another way. For each function the
-- program prints its line and the number of bytes that stay in use.
local PROGRAM = [[
local kept = {}
local KEEP = {
  function() local t = {} for i = 1, 50000 do t["k" .. i] = true end return t end,
  function() local t = {} for i = 1, 10000 do t[i] = {a = i, b = i, c = i, d = i} end return t end,
  function() local t = {} for i = 1, 20000 do t[i] = function() return i end end return t end,
  function() local t = {} for i = 1, 10000 do t[i] = ("x"):rep(100) .. i end return t end,
  function() local t = {} for i = 1, 2000 do
      t[i] = coroutine.wrap(function() coroutine.yield() end) t[i]() end return t end,
  function() local t = {} for i = 1, 10000 do t[i] = {} t[i].x = i t[i].y = i t[i].z = i end return t end,
  function() local t = {} for i = 1, 10000 do t[i] = table.pack(i, i, i) end return t end,
  function() local t = {} for i = 1, 5000 do t[i] = {}
      for k = 1, 20 do table.insert(t[i], k) end end return t end,
  function() local t = {} for i = 1, 300000 do t[#t + 1] = i end return t end,
  function() local t = {} for i = 1, 100 do t[i] = {} end
      for k = 1, 400 do for i = 1, 100 do t[i][k] = k end end return t end,
  function() local t = {} for i = 1, 500 do t[i] = {} for k = 1, 128 do t[i][k] = k end
      for k = 128, 17, -1 do t[i][k] = nil end t[i].n = 16 end return t end,
  function() local function deep(n) if n == 0 then coroutine.yield() end return n and deep(n - 1), n end
      local t = {} for i = 1, 20 do t[i] = coroutine.wrap(deep) t[i](500 * i) end return t end,
}
for i, keep in ipairs(KEEP) do
  kept[i] = 0
  collectgarbage() collectgarbage()
  local before = collectgarbage "count"
  kept[i] = keep()
  collectgarbage() collectgarbage()
  print(debug.getinfo(keep, "S").linedefined, math.floor((collectgarbage "count" - before) * 1024))
end
]]

describe("the bytes alive at the end", function()
  it("are those that the collector counts, however the memory has grown or shrunk", function()
    local path, script = os.tmpname(), os.tmpname()
    shell.write(script, PROGRAM)
    local status, out, err = process.run{"-l", "profiler", script,
      env = {LUA_PROFILER = ("out=%s,overwrite=1,quiet,seed=11,alloc=%d"):format(path, PERIOD)}}
    assert.same({0, ""}, {status, err})
    local report = cjson.decode(shell.output("build/bin/asamp report --json --top 1000 " .. path))
    local alive = {}
    for _, f in ipairs(report.functions) do
      if f.line then alive[f.line] = f.total.alivebytes end
    end
    local n = 0
    for line, bytes in out:gmatch "(%d+)\t(%d+)" do
      local found, exact = alive[tonumber(line)] or 0, tonumber(bytes)
      local error = math.sqrt(exact / PERIOD) * PERIOD
      assert.is_true(math.abs(found - exact) <= 4 * error,
                     ("line %s: %d, not %d (+- %d)"):format(line, found, exact, error // 1))
      n = n + 1
    end
    assert.equal(12, n)
    os.remove(path)
    os.remove(script)
  end)

  -- Minor collections leave a large string young a few times (lua/gc/mark/ageing.h). The first of them
  -- decides that the string's sample survived, and a later one may find the string dead.
  it("leave out objects that die young after the collection that decided their survival", function()
    local path, script = os.tmpname(), os.tmpname()
    shell.write(script, [[
      local text = ("some text here\n"):rep(7000)
      local others, kept, lately = {}, nil, {}
      for i = 1, 20000 do others[i] = {i} end
      for i = 1, 1000 do
        local at = i * 7919 % (#text - 1)
        text = text:sub(1, at) .. i % 10 .. text:sub(at + 2)
        lately[i % 4] = text
        if i == 500 then kept = text end
      end
      lately = nil
      collectgarbage()
      assert(#kept == #text and #others == 20000)
    ]])
    local status, _, err = process.run{"-l", "profiler", script,
      env = {LUA_PROFILER = ("out=%s,overwrite=1,quiet,seed=11,alloc=16384"):format(path)}}
    assert.same({0, ""}, {status, err})
    local report = cjson.decode(shell.output("build/bin/asamp report --json --top 1000 " .. path))
    for _, t in ipairs(report.types) do
      if t.name == "string" then
        assert.is_true(t.self.bytes > 150e6, t.self.bytes)
        assert.is_true(t.self.survivedbytes > t.self.bytes / 5, t.self.survivedbytes)
        local exact = 2 * 105000
        local error = math.sqrt(exact / 16384) * 16384
        assert.is_true(math.abs(t.self.alivebytes - exact) < 4 * error, t.self.alivebytes)
      end
    end
    os.remove(path)
    os.remove(script)
  end)
end)
