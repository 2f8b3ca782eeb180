-- SPDX-License-Identifier: MIT
-- Fates are truthful: which samples the next collection found alive.

local natives = require "natives"
local samples = require "spec.support.samples"

describe("the fates of samples", function()
  local function byline(list, from)
    local found = {}
    for _, s in ipairs(list) do
      for _, f in ipairs(s.stack) do
        if f.file:find "sampler_fates_spec.lua$" then
          local line = f.line - from
          local key = s.kind .. " " .. tostring(s.survived)
          found[line] = found[line] or {}
          found[line][key] = (found[line][key] or 0) + s.count
          break
        end
      end
    end
    return found
  end
  local function line() return debug.getinfo(2, "l").currentline end

  it("tell what lives on from what died", function()
    local kept, from = {}, nil
    local list = samples.of(function()
      collectgarbage "stop"
      for i = 1, 100 do kept[i], kept[-i] = false, false end
      collectgarbage()
      from = line()
      for i = 1, 100 do kept[i] = {i, x = i} end
      for _ = 1, 100 do local _ = {1, x = 2} end
      for i = 1, 100 do kept[-i] = natives.string(100) end
      for _ = 1, 100 do natives.string(100) end
      for i = 1, 100 do kept[i] = {} end
      collectgarbage "restart"
    end, {random = true})  -- 96 bytes again and again hide from fixed gaps of 64
    local found = byline(list, from)
    assert.equal(200, #kept + 100)
    assert.same({["table false"] = true, ["table array part false"] = true,
                 ["table hash part false"] = true},
                (function(t) for k in pairs(t) do t[k] = true end return t end)(found[2]))
    -- of line 1 all died too: line 5 took their places
    for key in pairs(found[1]) do assert.truthy(key:find "false$") end
    for key in pairs(found[3]) do assert.equal("string true", key) end
    for key in pairs(found[4]) do assert.equal("string false", key) end
    for key in pairs(found[5]) do assert.equal("table true", key) end
  end)

  it("of vectors are those of their table, or of the vector that replaced them", function()
    local kept, from
    local list = samples.of(function()
      collectgarbage "stop"
      from = line()
      kept = {}
      for i = 1, 4096 do kept[i] = i end
      local dropped = {}
      for i = 1, 4096 do dropped[i] = i end
      dropped = #dropped
      collectgarbage "restart"
      return dropped
    end)
    assert.equal(4096, #kept)
    local found = byline(list, from)
    -- sizes 16 to 65536: only the last lives, half of the bytes that count
    local alive, dead = found[2]["table array part true"], found[2]["table array part false"]
    assert.equal(512, alive)
    assert.is_true(dead >= 511 and dead <= 513)
    assert.is_nil(found[4]["table array part true"])
  end)

  it("of buffers freed by hand, and of those that stay", function()
    local source = ("x"):rep(3000) .. " = 1"
    local list = samples.of(function()
      collectgarbage "stop"
      assert(load(source))  -- the scanner's buffer is freed when load returns
      collectgarbage "restart"
    end)
    local buffers = 0
    for _, s in ipairs(list) do
      if s.kind == "buffer" and s.size >= 1024 and s.size <= 8192 then
        buffers = buffers + 1
        assert.is_false(s.survived)
      end
    end
    assert.is_true(buffers > 0)
  end)

  it("of stacks: outgrown, in use, and of a coroutine that died", function()
    local function down(n)
      if n == 0 then return coroutine.yield() end
      return (down(n - 1))
    end
    local alive
    local function grow()
      local co = coroutine.create(down)
      coroutine.resume(co, 1000)
      return co
    end
    local function stacks(list)
      local largest, others = nil, true
      for _, s in ipairs(list) do
        if s.kind == "stack" and s.size >= 700 then
          if largest then others = others and largest.survived == false end
          largest = s
        end
      end
      return largest.survived, others
    end
    local survived, others = stacks(samples.of(function()
      collectgarbage "stop"
      alive = grow()
      collectgarbage "restart"
    end))
    assert.is_true(survived)
    assert.is_true(others)
    assert.equal("suspended", coroutine.status(alive))
    survived, others = stacks(samples.of(function()
      collectgarbage "stop"
      grow()
      collectgarbage "restart"
    end))
    assert.is_true(others)
    assert.is_false(survived)
  end)

  it("come from incremental collections too", function()
    local mode = collectgarbage "incremental"
    local kept, from = {}, nil
    local list = samples.of(function()
      from = line()
      for i = 1, 500 do kept[i] = {} end
      for _ = 1, 500 do local _ = {} end
    end)
    collectgarbage(mode)
    assert.equal(500, #kept)
    local found = byline(list, from)
    assert.is_nil(found[1]["table false"])
    assert.is_nil(found[2]["table true"])
    assert.equal(0, list.undecided)
  end)
end)
