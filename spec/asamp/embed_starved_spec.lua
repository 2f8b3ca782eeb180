-- SPDX-License-Identifier: MIT
-- Callbacks of asamp.h in a process in which memory requests fail.

local process = require "spec.support.process"
local starved = require "starved"
local story = require "spec.support.story"

describe("a client in a process without memory", function()
  local function list(from, to)
    local t = {}
    for i = from, to, 8 do t[#t + 1] = i end
    return t
  end

  after_each(function()
    starved.starve()
    starved.stop()
  end)

  -- The client's list of samples has a capacity of 256. For more samples the list requests 16 KiB, which
  -- this program's allocator refuses.
  if not process.interpreter():find "/asan/" then
    it("receives the number of lost samples, and all samples taken when there is memory again", function()
      local refusing = package.searchpath("refusing", package.cpath)
      local status, out, err = process.run{code = [[
        local embedding, natives = require "embedding", require "natives"
        local refusing, core = require "refusing", require "profiler.core"
        local kept = {}
        for i = 1, 1100 do kept[i] = false end
        assert(embedding.start(64, true))
        local before = core.allocated()
        refusing.refuse(16384)
        for i = 1, 1000 do kept[i] = natives.userdata(4096 - 32) end
        collectgarbage()
        local refused = refusing.refused()
        refusing.refuse(0)
        for i = 1001, 1100 do kept[i] = natives.userdata(8192 - 32) end
        kept[1100] = false
        collectgarbage()
        embedding.stop()
        local bytes = core.allocated() - before
        local list, points, first, second = embedding.samples(), 0, 0, 0
        for _, s in ipairs(list) do
          points = points + s.count
          if s.kind == "userdata" and s.left then
            first = first + (s.size == 4096 and 1 or 0)
            second = second + (s.size == 8192 and 1 or 0)
          end
        end
        local collections = embedding.collections()
        local lost = collections[#collections].lost
        print(embedding.wrong(), refused > 700, first > 100 and first <= 256, second,
              lost > 700 * 64, math.abs((points + lost) * 64 - bytes) < 256)
      ]], env = {LD_PRELOAD = refusing}}
      assert.same({0, ""}, {status, err})
      assert.equal("nil\ttrue\ttrue\t99\ttrue\ttrue\n", out)
    end)
  end

  -- The model is the list of samples in their order, each with its outcome. Samples for which the profiler
  -- had no memory must never be reported.
  it("receives outcomes, deaths and 'left' of the samples that it had capacity for", function()
    for seed = 1, 30 do
      math.randomseed(seed)
      local random, same = math.random, story(seed)
      local follows = seed % 5 > 0
      local n, followed, waiting, starving = 0, {}, {}, false
      starved.start(follows)
      for _ = 1, 400 do
        local what = random(100)
        if what <= 70 then
          for _ = 1, random(1, 40) do
            local room = starved.room()
            if not starving then same("room", true, room) end
            if room then
              n = n + 1
              waiting[#waiting + 1] = n
              starved.sample(0, {})
            end
          end
        elseif what <= 80 then
          starving = not starving
          starved.starve(starving and "all" or nil)
        else
          local fates, runs, words = {}, {}, {}
          for i, number in ipairs(waiting) do
            fates[i] = random(0, 2)
            words[#words + 1] = ("decided %d %s"):format(number, fates[i] == 0 and "young"
              or fates[i] == 1 and follows and "followed" or "survived")
            if fates[i] == 1 and follows then followed[#followed + 1] = number end
          end
          waiting = {}
          if follows and random(2) == 1 then
            local stay, alive, dead, odds = {}, 0, 0, random(1, 4)
            for _, number in ipairs(followed) do
              if random(odds) == 1 then
                words[#words + 1] = "died " .. number
                dead = dead + 1
              else
                if dead > 0 then
                  runs[#runs + 1], runs[#runs + 2] = alive, dead
                  alive, dead = 0, 0
                end
                alive, stay[#stay + 1] = alive + 1, number
              end
            end
            if dead > 0 then runs[#runs + 1], runs[#runs + 2] = alive, dead end
            followed = stay
          end
          words[#words + 1] = "collected"
          same("collection", " " .. table.concat(words, " "), starved.collection(fates, runs))
        end
      end
      local words = {}
      for _, l in ipairs{followed, waiting} do
        for _, number in ipairs(l) do words[#words + 1] = " left " .. number end
      end
      same("stop", table.concat(words), starved.stop())
      starved.starve()
      assert.is_true(n > 1000, n)
    end
  end)

  -- If there is memory for only a part of a stack, the client receives this part. A former bug: the next
  -- sample shared outer frames with that stack, including frames that were not in the received part. These
  -- were read, although they did not exist.
  it("receives the part of a stack that there was memory for, and no unreported frame as shared", function()
    starved.start()
    assert.is_true(starved.room())
    starved.starve "stacks"
    assert.same({0, {}}, {starved.sample(0, list(8, 4000))})
    starved.starve()
    assert.same({0, {8, 16}}, {starved.sample(500, {8, 16})})
    local all = list(8, 4000)
    assert.same({0, all}, {starved.sample(0, all)})
    starved.starve "stacks"
    assert.same({400, list(808, 4000)}, {starved.sample(400, list(8000, 80000))})
    assert.same({400, list(808, 4000)}, {starved.sample(9000, {})})
    starved.starve()
    table.insert(all, 101, 24)
    assert.same({400, table.move(all, 101, 501, 1, {})}, {starved.sample(5000, {24})})
  end)
end)
