-- SPDX-License-Identifier: MIT
-- Callbacks of asamp.h that report the outcome of a sample: one call for its survival, at most one for its
-- death, and 'left' at the end of the session. Each call must pass the value that the client returned when
-- the sample was taken. The function wrong() of the module 'embedding' checks the other guarantees of the
-- interface.

local embedding = require "embedding"
local natives = require "natives"
local peers = require "peers"
local story = require "spec.support.story"

-- Returns the number of a client's samples with each survival outcome. Each sample must have exactly one
-- outcome.
local function fates(list)
  local n = {young = 0, unfollowed = 0, died = 0, left = 0, undecided = 0}
  for i, s in ipairs(list) do
    local fate = s.survived == nil and "undecided" or not s.survived and "young"
      or not s.followed and "unfollowed" or s.died and "died" or "left"
    assert.equal(fate == "died", s.died, i)
    assert.equal(fate == "left" or fate == "undecided", s.left, i)
    n[fate] = n[fate] + 1
  end
  return n
end

-- Returns a userdata whose block has 'size' bytes, a multiple of 16.
local function userdata(size) return natives.userdata(size - 32) end

-- Returns the outcome of each sampled userdata of at least 'least' bytes, by the size of its block.
local function bysize(list, least)
  local of = {}
  for _, s in ipairs(list) do
    if s.kind == "userdata" and s.size >= least then
      assert.is_nil(of[s.size], s.size)
      of[s.size] = not s.survived and "young" or s.died and "died" or "left"
    end
  end
  return of
end

describe("a client of asamp.h", function()
  after_each(function() embedding.stop() end)

  it("receives, with its own value, the deaths of survivors and the samples left", function()
    collectgarbage "stop"
    assert.is_true(embedding.start(64, true))
    local kept = {}
    for i = 1, 30 do kept[i] = userdata(4096 + 16 * i) end
    assert.equal(30, #kept)
    local _ = userdata(8192)
    _ = nil
    collectgarbage()
    for i = 1, 30, 3 do kept[i] = nil end
    collectgarbage()
    -- no collection runs after these userdata have died, so that their deaths are not reported
    for i = 2, 30, 3 do kept[i] = nil end
    embedding.stop()
    collectgarbage "restart"
    assert.is_nil(embedding.wrong())
    local list = embedding.samples()
    local of = bysize(list, 4096 + 16)
    assert.equal("young", of[8192])
    for i = 1, 30 do assert.equal(i % 3 == 1 and "died" or "left", of[4096 + 16 * i], i) end
    assert.is_nil(_)
    local n = fates(list)
    assert.equal(0, n.unfollowed + n.undecided)
    assert.is_true(n.young > 0 and n.died >= 10 and n.left >= 20)
  end)

  it("receives, at its stop, deaths of blocks freed explicitly since the last major collection", function()
    collectgarbage "stop"
    assert.is_true(embedding.start(64, true))
    local t = {}
    for i = 1, 1024 do t[-i] = i end
    -- this collection decides that the hash part of 24 KiB has survived
    collectgarbage()
    -- the new keys need a larger hash part; Lua frees the one of 24 KiB
    for i = 1025, 4096 do t[-i] = i end
    embedding.stop()
    collectgarbage "restart"
    assert.is_nil(embedding.wrong())
    local found
    for _, s in ipairs(embedding.samples()) do
      if s.kind == "table hash part" and s.size == 24 * 1024 then found = s end
    end
    assert.is_true(found.survived and found.died)
    assert.equal(4096, t[-4096])
  end)

  it("without 'died' receives 0 in 'followed' for each sample", function()
    assert.is_true(embedding.start(64, true, false, 1, true))
    local kept = {}
    for i = 1, 100 do kept[i] = userdata(4096) end
    collectgarbage()
    assert.equal(100, #kept)
    kept = nil
    collectgarbage()
    embedding.stop()
    assert.is_nil(embedding.wrong())
    local n = fates(embedding.samples())
    assert.is_true(n.unfollowed >= 100 and n.young > 0, n.unfollowed)
    assert.equal(0, n.died + n.left + n.undecided)
    assert.is_nil(kept)
  end)

  it("receives 0 in 'followed' for each sample beyond the limit", function()
    local most = require "points".MOST
    local kept = {}
    for i = 1, most + 5000 do kept[i] = false end
    assert.is_true(embedding.start(64, true))
    for i = 1, #kept do kept[i] = userdata(80) end
    collectgarbage()
    for i = 1, #kept do kept[i] = false end
    collectgarbage()
    -- the deaths have freed space in the list of followed samples
    for i = 1, 100 do kept[i] = userdata(4096) end
    embedding.stop()
    assert.is_nil(embedding.wrong())
    local n = {}
    for _, s in ipairs(embedding.samples()) do
      if s.kind == "userdata" and (s.size == 80 or s.size == 4096) then
        local fate = s.size .. (s.followed and " followed" or " unfollowed")
          .. (s.died and " died" or s.left and " left" or "")
        n[fate] = (n[fate] or 0) + 1
      end
    end
    assert.same({["80 followed died"] = n["80 followed died"],
                 ["80 unfollowed"] = most + 5000 - n["80 followed died"],
                 ["4096 followed left"] = 100}, n)
    assert.is_true(n["80 unfollowed"] >= 5000 and n["80 unfollowed"] < 6000)
    embedding.start(64)  -- a new session releases the samples above
    embedding.stop()
  end)

  it("that stops in a finalizer receives each undecided sample once", function()
    assert.is_true(embedding.start(64, true))
    local stopped
    local kept = {}
    setmetatable({}, {__gc = function()
      for i = 1, 50 do kept[i] = userdata(4096) end
      stopped = embedding.stop()
      for i = 51, 100 do kept[i] = userdata(4096) end
    end})
    collectgarbage()
    assert.is_true(stopped)
    collectgarbage()
    assert.is_nil(embedding.wrong())
    local n = fates(embedding.samples())
    assert.is_true(n.undecided >= 50 and n.undecided < 60, n.undecided)
    assert.is_true(n.left >= 1)
    assert.equal(100, #kept)
  end)

  -- The model is the set of live userdata, all of different sizes. The collector also runs automatically.
  -- Before a client ends, a full collection finds all deaths.
  it("receives the outcomes and deaths of the model over random programs", function()
    for seed = 1, 6 do
      math.randomseed(seed)
      local random, same = math.random, story(seed)
      local held, size, clients = {}, 1024, 0
      -- the set of sizes of userdata that the current client has sampled
      local sampled
      local function ends()
        collectgarbage()
        same("stop", true, embedding.stop())
        same("promises", nil, embedding.wrong())
        local list, n = embedding.samples(), 0
        local of, sums = bysize(list, 1040), fates(list)
        same("followed", 0, sums.unfollowed + sums.undecided)
        for s in pairs(sampled) do
          n = n + 1
          if held[s] then same("alive " .. s, "left", of[s])
          else same("dead " .. s, true, of[s] == "young" or of[s] == "died") end
        end
        for s in pairs(of) do same("a sample of " .. s, true, sampled[s]) end
        sampled = nil
        clients = clients + (n > 10 and 1 or 0)
      end
      for _ = 1, 600 do
        local what = random(100)
        if what <= 55 then
          size = size + 16
          held[size] = userdata(size)
          if sampled then sampled[size] = true end
          if random(3) == 1 then held[size] = nil end
        elseif what <= 80 then
          local s = next(held)
          for _ = 1, random(5) do s = next(held, s) end
          if s then held[s] = nil end
        elseif what <= 84 then collectgarbage()
        elseif what <= 90 then collectgarbage("step", random(200))
        elseif what <= 95 and sampled then embedding.period(({64, 100, 512})[random(3)])
        elseif what <= 97 and sampled then ends()
        elseif not sampled then
          -- with a fixed period of at most 512 bytes, every userdata is sampled, because all are larger
          same("start", true, embedding.start(({64, 128, 512})[random(3)], true, false, seed))
          sampled = {}
        end
      end
      if sampled then ends() end
      assert.is_true(clients >= 3, "seed " .. seed .. ": " .. clients)
    end
  end)

  it("of one of several states receives its own samples only", function()
    local LIFE = [[
      package.path, package.cpath = ]] .. ("%q, %q"):format(package.path, package.cpath) .. [[
      local embedding, natives = require "embedding", require "natives"
      local record, size = ...
      embedding.use(record)
      assert(embedding.start(64, true))
      local kept = {}
      for i = 1, 400 do
        kept[i % 50] = natives.userdata(size - 32)
        if i % 100 == 0 then collectgarbage() end
      end
      collectgarbage()
      assert(embedding.stop() and not embedding.stop())
      local died = 0
      for _, s in ipairs(embedding.samples()) do
        if s.kind == "userdata" and s.size == size and s.left then died = died + 1 end
      end
      return died, embedding.wrong() or "well"]]
    local threads = {}
    for i = 1, 4 do threads[i] = peers.thread(LIFE, i + 1, 4096 + 64 * i) end
    for i = 1, 4 do assert.same({true, 50, "well"}, {threads[i]:join()}) end
    for i = 1, 4 do
      embedding.use(i + 1)
      local n = 0
      for _, s in ipairs(embedding.samples()) do
        if s.kind == "userdata" and s.size > 4096 and s.size <= 4096 + 256 then
          assert.equal(4096 + 64 * i, s.size)
          n = n + 1
        end
      end
      assert.equal(400, n)
    end
    embedding.use(1)
  end)

  it("of one of two states that alternate on one OS thread receives its own samples only", function()
    local s = peers.new{}
    assert(s:run([[
      package.path, package.cpath = ]] .. ("%q, %q"):format(package.path, package.cpath) .. [[
      embedding, natives, kept = require "embedding", require "natives", {}
      embedding.use(2)
      assert(embedding.start(64, true))]]))
    assert.is_true(embedding.start(64, true))
    local kept = {}
    for i = 1, 200 do
      kept[i % 20] = userdata(5120)
      assert(s:run("kept[... % 20] = natives.userdata(6144 - 32)", i))
      if i % 50 == 0 then collectgarbage() assert(s:run "collectgarbage()") end
    end
    local ok, wrong = s:run "embedding.stop() return embedding.wrong() or 'well'"
    assert.same({true, "well"}, {ok, wrong})
    embedding.stop()
    assert.is_nil(embedding.wrong())
    for record, sizes in pairs{[1] = {5120, 6144}, [2] = {6144, 5120}} do
      embedding.use(record)
      local own, others, left = 0, 0, 0
      for _, t in ipairs(embedding.samples()) do
        if t.kind == "userdata" then
          own = own + (t.size == sizes[1] and 1 or 0)
          left = left + (t.size == sizes[1] and t.left and 1 or 0)
          others = others + (t.size == sizes[2] and 1 or 0)
        end
      end
      assert.same({200, 20, 0}, {own, left, others})
    end
    embedding.use(1)
    s:close()
    assert.equal(20 - 1, #kept)
  end)
end)
