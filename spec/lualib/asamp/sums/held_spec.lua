-- SPDX-License-Identifier: MIT
-- The holders of the bytes alive at the end, as the verdict lists them (the field 'held').

local gen = require "profilegen"
local reader = require "profiler.reader"
local show = require "asamp.show.holders"
local totals = require "asamp.sums.totals"
local verdict = require "asamp.sums.verdict"

-- Returns the rows {text, MiB} of the verdict's holders. Each element of 'paths' is a list: a number of
-- samples of 1 MiB each, and the steps of the path that holds their objects. 'limit' is the largest number
-- of rows.
local function held(paths, limit)
  local path = os.tmpname()
  local p = assert(gen.open{path = path, period = 1 << 20, followed = 1000, random = true})
  p:name(8, "main chunk", 0, "@app.lua")
  local ids, numbers, n, fates = {}, {}, 0, 0
  for _, one in ipairs(paths) do
    local id, text = 0, ""
    for i = 2, #one do
      text = text .. "\0" .. one[i]
      if not numbers[text] then
        n = n + 1
        numbers[text] = n
        p:holderpath(n, id, one[i])
      end
      id = numbers[text]
    end
    for _ = 1, one[1] do
      p:sample{8, 1, kind = 0, size = 64}
      fates = fates + 1
      ids[fates] = id
    end
  end
  p:collection{fates = ("1"):rep(fates), major = true}
  p:holders(ids)
  assert(p:close())
  local rows = {}
  for i, row in ipairs(verdict.held(assert(reader.read(path)), limit)) do
    rows[i] = {row.text, row.bytes >> 20}
  end
  os.remove(path)
  return rows
end

describe("the holders of live bytes", function()
  -- A former bug: a table with few sampled elements had a row with 31% of the bytes. Its other bytes were
  -- in the rows of its elements.
  it("have the small paths below them", function()
    assert.same({{'_G → ["syms"]', 10}, {'_G → ["syms"] → ["big"]', 5}},
                held{{8, "_G", '["syms"]'}, {1, "_G", '["syms"]', '["s1"]'},
                     {1, "_G", '["syms"]', '["s2"]', '["uses"]'}, {5, "_G", '["syms"]', '["big"]'}})
  end)

  it("are not above paths that hold much more", function()
    assert.same({{'_G → ["cache"]', 9}, {"_G", 1}, {'local "t" of main', 1}},
                held{{1, "_G"}, {9, "_G", '["cache"]'}, {1, 'local "t" of main'}})
  end)

  -- A former bug: a cache whose entries are also in a list had nine rows, each with the name of one entry.
  it("are the innermost table with several small entries, if the rows are limited", function()
    local paths = {{5, "_G", '["cache"]', '["map"]', '["hot"]'}}
    for i = 1, 4 do
      paths[#paths + 1] = {2, "_G", '["cache"]', '["map"]', ('["k%d"]'):format(i), '["value"]'}
    end
    assert.same({{'_G → ["cache"] → ["map"]', 8}, {'_G → ["cache"] → ["map"] → ["hot"]', 5}}, held(paths, 5))
    assert.equal(5, #held(paths))
    paths[#paths] = nil
    assert.equal(4, #held(paths, 5))
  end)

  -- A former bug: each of thousands of new global variables had a row of its own.
  it("are _G or package.loaded for many small entries, if the rows are limited", function()
    local paths = {{30, "_G", '["large"]'}}
    for i = 1, 13 do
      paths[#paths + 1] = {1, "_G", ('["v%d"]'):format(i)}
      paths[#paths + 1] = {2, ('package.loaded["m%d"]'):format(i), '["rows"]'}
    end
    assert.same({{'_G → ["large"]', 30}, {"package.loaded", 26}, {"_G", 13}}, held(paths, 5))
    assert.equal(27, #held(paths))
    paths[#paths], paths[#paths - 1] = nil, nil
    assert.same({{'_G → ["large"]', 30}, {'package.loaded["m1"] → ["rows"]', 2}}, held(paths, 2))
  end)

  -- A former bug: the verdict stated that objects were alive at the end, held by a local variable of a
  -- function that had returned. An earlier search had found this holder; the objects were garbage.
  it("are gone if the last search found none of their objects", function()
    local path = os.tmpname()
    local p = assert(gen.open{path = path, period = 1 << 20, followed = 1000, random = true})
    p:name(8, "main chunk", 0, "@app.lua")
    p:holderpath(1, 0, 'local "tokens" of parse')
    p:holderpath(2, 0, 'local "tree" of main')
    for _ = 1, 5 do
      p:sample{8, 1, kind = 0, size = 64}
    end
    p:collection{fates = "11111", major = true}
    p:holders{1, 1, 1, 2, 2}
    p:holders{0, 0, 0, 2, 2}
    assert(p:close())
    local profile = assert(reader.read(path, {bins = 16}))
    os.remove(path)
    local rows, list = {}, verdict.of(profile, totals.of(profile)).held
    for i, row in ipairs(list) do
      rows[i] = {row.text, row.gone}
    end
    assert.same({{'local "tokens" of parse', true}, {'local "tree" of main'}}, rows)
    local lines = show.lines({width = 80, paint = function(_, text) return text end}, list)
    assert.matches('60.0%%  local "tokens" of parse %(garbage at the end%)$', lines[4])
    assert.matches('40.0%%  local "tree" of main$', lines[5])
  end)
end)
