-- SPDX-License-Identifier: MIT
--
-- Texts, which are strings of more than 8 KiB, live through two more minor collections before
-- they are old (lua/gc/ageing.h). By counts, never by time.

local texts = require "spec.lua.gc.texts"
local within = require "spec.lua.gc.within"

describe("a text that is edited", function()
  for name in pairs(texts) do
    -- Each minor collection tenured it, and a look at all that is old found it dead: 0.46 of plain.
    it("dies young where it is held by " .. name, function()
      local minors, majors = within(function(state, holder)
        local others = {}
        for i = 1, 20000 do others[i] = {i} end
        local function edit(text, i)
          local at = i * 7919 % (#text - 1)
          return text:sub(1, at) .. i % 10 .. text:sub(at + 2)
        end
        local go = require "spec.lua.gc.texts"[holder](edit, ("some text here\n"):rep(7000))
        go(20)
        collectgarbage()
        local _, _, minors, majors = state.memory()
        local text = go(600)
        local _, _, minors2, majors2 = state.memory()
        assert(#others == 20000 and #text == 105000)
        return minors2 - minors, majors2 - majors
      end, name)
      assert.is_true(minors > 100, minors)
      -- an old table that is dead holds each until it is tenured
      local most = (name == "a field of what is new each time") and 20 or 6
      assert.is_true(majors <= most, ("%d in %d"):format(majors, minors))
    end)

    it("is the same while major collections run, held by " .. name, function()
      within(function(_, holder)
        local function edit(text, i)
          local at = i * 7919 % (#text - 1)
          return text:sub(1, at) .. i % 10 .. text:sub(at + 2)
        end
        local text, live = ("0123456789"):rep(2000), {}
        local go = require "spec.lua.gc.texts"[holder](edit, text)
        for i = 1, 60 do text = edit(text, i) end
        for i = 1, 60 do live[i] = {text .. i, {}} end
        assert(go(60) == text)
        for r = 1, 30 do
          for i = 1, 60 do
            assert(live[i][1] == text .. i)
            if i % 7 == r % 7 then live[i] = {text .. i, {}} end
          end
          if r % 10 == 0 then collectgarbage() end
        end
        assert(go(0) == nil or go(0) == text)
      end, name)
    end)
  end

  it("is old when it stays, and dead when it is dropped", function()
    within(function(state)
      local kept = {}
      for i = 1, 20 do kept[i] = ("x"):rep(20000 + i) end
      for i = 1, 100000 do local _ = {i} end
      local full = state.memory()
      assert(full > 20 * 20000, full)
      for i = 1, 20 do assert(#kept[i] == 20000 + i) end
      kept = nil  -- luacheck: ignore 311
      collectgarbage()
      assert(state.memory() < full - 20 * 20000)
    end)
  end)

  -- A bug that was: a coroutine was remembered for a text that had been tenured after all, by a weak
  -- table that refers to it; the major collection that began then freed the coroutine, which
  -- was dead, and the next minor one looked into it.
  it("leaves nobody remembered who held it, where it is tenured after all", function()
    within(function(state)
      collectgarbage "generational"
      local weak, keep = setmetatable({}, {__mode = "v"}), {}
      for i = 1, 200 do weak[i] = {} end
      for r = 1, 1000 do
        local co = coroutine.create(function(n)
          for _ = 1, 2 do
            local text = ("x"):rep(9000 + n)
            weak[n] = text
            coroutine.yield()
            assert(#text == 9000 + n)
          end
        end)
        coroutine.resume(co, r % 150 + 1)
        if r % 3 == 0 and r > 9 then coroutine.resume(keep[(r + 3) % 7]) end
        keep[r % 7] = co
        for i = 1, 50 do keep[7 + (r * 31 + i) % 2000] = {r, {}} end
      end
      local _, _, _, majors = state.memory()
      assert(majors > 3, majors)
    end)
  end)
end)
