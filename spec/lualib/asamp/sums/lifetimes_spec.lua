-- SPDX-License-Identifier: MIT
-- The lifetimes of sampled objects (asamp.sums.lifetimes). The spec compares the rows with a model that
-- processes each sample separately.

local lifetimes = require "asamp.sums.lifetimes"
local profiles = require "spec.support.profiles"

local TABLE, STRING, TIME = profiles.TABLE, profiles.STRING, profiles.TIME

-- The stacks of the samples, each with the line that the rows must name.
local STACKS = {
  {"main@1 f@2", 2}, {"main@1 f@3", 3}, {"main@1", 1}, {"main@4 [C]gsub", 4},
  {"main@1 f@2 [C]rep [C]alloc", 2}, {"[C]start", nil}, {"g@9 main@1 f@3", 3},
}

-- Returns a profile, with the reader's sums, of the samples in the list. Each is {stack, kind, count, fate
-- ("young", "undecided", "later" or "alive"), life (bytes, for "later")}.
local function profileof(list)
  local sites, order = {}, {}
  for _, s in ipairs(list) do
    local key = s.stack .. " " .. s.kind
    if not sites[key] then
      sites[key] = {STACKS[s.stack][1], s.kind, 0, 0, 0, later = 0}
      order[#order + 1] = sites[key]
    end
    local site = sites[key]
    site[3] = site[3] + s.count
    if s.fate == "later" or s.fate == "alive" then site[4] = site[4] + s.count end
    if s.fate == "undecided" then site[5] = site[5] + s.count end
    if s.fate == "later" then site.later = site.later + s.count end
  end
  local p = profiles.of(order, {followed = 1000})
  p.sites.later, p.sites.laterbytes, p.sites.undecidedbytes = {}, {}, {}
  local nodes = {}
  for i, site in ipairs(order) do
    p.sites.later[i], p.sites.laterbytes[i] = site.later, 100 * site.later
    p.sites.undecidedbytes[i] = 100 * p.sites.undecided[i]
    nodes[site[1]] = p.sites.node[i]
  end
  p.lifetimes = {node = {}, digits = {}, samples = {}, bytes = {}}
  for _, s in ipairs(list) do
    if s.fate == "later" then
      local digits = 0
      while s.life >> digits > 0 do digits = digits + 1 end
      local n = #p.lifetimes.node + 1
      p.lifetimes.node[n] = nodes[STACKS[s.stack][1]]
      p.lifetimes.digits[n] = digits
      p.lifetimes.samples[n], p.lifetimes.bytes[n] = s.count, 100 * s.count
    end
  end
  return p
end

-- Returns the expected rows, computed from each sample.
local function model(list)
  local rows = {}
  for _, s in ipairs(list) do
    if s.kind ~= TIME and s.fate ~= "undecided" then
      local below
      if s.fate == "later" then
        below = 1 << 20
        while s.life >= below do below = below * 4 end
      end
      -- the order of rows is: objects that died young, then the others by lifetime, live objects last
      local rank = s.fate == "young" and 0 or below or math.maxinteger
      local row = rows[rank] or {kind = s.fate, below = below, samples = 0, bytes = 0, lines = {}}
      rows[rank] = row
      row.samples, row.bytes = row.samples + s.count, row.bytes + 100 * s.count
      local line = STACKS[s.stack][2]
      if line then row.lines[line] = (row.lines[line] or 0) + s.count end
    end
  end
  local ranks, out = {}, {}
  for rank in pairs(rows) do ranks[#ranks + 1] = rank end
  table.sort(ranks)
  for i, rank in ipairs(ranks) do
    local row, best = rows[rank], nil
    for line = 1, 9 do
      local n = row.lines[line]
      if n and (not best or n > row.lines[best]) then best = line end
    end
    out[i] = {kind = row.kind, below = row.below, samples = row.samples, bytes = row.bytes}
    if best then
      out[i].file, out[i].line, out[i].share = "x.lua", best, row.lines[best] / row.samples
    end
  end
  return out
end

-- Removes the names of functions from rows, because the model has none.
local function nameless(rows)
  for _, row in ipairs(rows) do
    assert.equal(row.line ~= nil, row.name ~= nil)
    row.name = nil
  end
  return rows
end

describe("lifetimes", function()
  it("are those of the samples, whatever they are", function()
    local kinds, fates = {TABLE, STRING, TIME}, {"young", "undecided", "later", "alive"}
    for seed = 1, 200 do
      math.randomseed(seed)
      local list = {}
      for i = 1, math.random(60) do
        local kind = kinds[math.random(3)]
        list[i] = {
          stack = math.random(#STACKS), kind = kind, count = math.random(3),
          fate = kind == TIME and "young" or fates[math.random(4)],
          -- lifetimes of all magnitudes, often at the limit between two rows
          life = math.max(0, (1 << math.random(0, 45)) - math.random(0, 1)),
        }
      end
      assert.same(model(list), nameless(lifetimes.of(profileof(list))), "seed " .. seed)
    end
  end)

  it("are in rows a factor of four apart, of which empty ones are left out", function()
    local function later(life) return {stack = 1, kind = TABLE, count = 1, fate = "later", life = life} end
    local rows = lifetimes.of(profileof{later(0), later((1 << 20) - 1), later(1 << 20), later(1 << 30)})
    local edges = {}
    for i, row in ipairs(rows) do edges[i] = ("%d below %d"):format(row.samples, row.below) end
    assert.same({"2 below 1048576", "1 below 4194304", "1 below 4294967296"}, edges)
  end)

  it("name the line that has most of a row, the first of equals", function()
    local function young(stack, count)
      return {stack = stack, kind = TABLE, count = count, fate = "young"}
    end
    local row = lifetimes.of(profileof{young(2, 3), young(1, 1), young(5, 2), young(6, 4)})[1]
    assert.same({10, "x.lua", 2, "f", 0.3}, {row.samples, row.file, row.line, row.name, row.share})
    assert.is_nil(lifetimes.of(profileof{young(6, 4)})[1].line)
  end)

  it("are missing if the file does not have them", function()
    local p = profileof{{stack = 1, kind = TABLE, count = 1, fate = "alive"}}
    assert.equal(1, #lifetimes.of(p))
    p.fates = false
    assert.is_nil(lifetimes.of(p))
    p.fates, p.followed = true, 0
    assert.is_nil(lifetimes.of(p))
    p.followed = nil
    assert.is_nil(lifetimes.of(p))
  end)

  it("of nothing are no rows", function()
    assert.same({}, lifetimes.of(profileof{}))
  end)

  -- In this run of 10 s, objects of line 2 die after 0.1 s, and those of line 3 live from 2 s to the end.
  it("distinguish lines by their time, with the times of deaths", function()
    local p = profileof{{stack = 1, kind = TABLE, count = 30, fate = "young"},
                        {stack = 5, kind = STRING, count = 6, fate = "later", life = 3000},
                        {stack = 5, kind = STRING, count = 4, fate = "later", life = 70000},
                        {stack = 2, kind = TABLE, count = 20, fate = "alive"},
                        {stack = 2, kind = TIME, count = 9, fate = "alive"}}
    p.duration = 10
    for _, name in ipairs{"objects", "kept", "life", "births"} do p.sites[name] = {} end
    for i, n in ipairs(p.sites.samples) do
      local kept = p.sites.survived[i] - p.sites.later[i]
      p.sites.objects[i], p.sites.kept[i] = n, kept
      p.sites.life[i], p.sites.births[i] = (n - kept) * 0.1e6, kept * 2e6
    end
    local rows = lifetimes.lines(p)
    assert.equal(2, #rows)
    assert.same({2, 40, 30, 0, "short"}, {rows[1].line, rows[1].samples, rows[1].young, rows[1].alive,
                                         rows[1].sort})
    assert.is_near(0.1e6, rows[1].mean, 1e-3)
    assert.same({{below = 2.0 ^ 12, samples = 6}, {below = 2.0 ^ 17, samples = 4}}, rows[1].later)
    assert.same({3, 20, 0, 20, "long"}, {rows[2].line, rows[2].samples, rows[2].young, rows[2].alive,
                                        rows[2].sort})
    assert.is_near(0.8, rows[2].share, 1e-9)
    assert.is_nil(lifetimes.lines{duration = 1, sites = {}})
  end)

  -- In this run of 1,000 s, objects of one class die after 1 or 10 s, and those of the other class stay
  -- alive.
  it("distinguish classes by their time, short-lived and long-lived", function()
    local p = {duration = 1000, kinds = {{name = "table", class = "Point"}, {name = "string"},
                                         {name = "time", time = true}},
      sites = {kind = {1, 2, 2, 3}, samples = {20, 30, 10, 5}, bytes = {2000, 3000, 1000, 0},
        objects = {40, 30, 10, 0}, kept = {0, 30, 10, 0}, life = {40 * 5.5e6, 0, 0, 0},
        births = {0, 30 * 100e6, 10 * 500e6, 0}},
      lifeclasses = {node = {0, 0}, digits = {20, 24}, objects = {20, 20}}}
    local rows = lifetimes.classes(p)
    assert.equal("string", rows[1].name)
    assert.is_near((30 * 900 + 10 * 500) / 40 * 1e6, rows[1].mean, 1)
    assert.equal("long", rows[1].sort)
    assert.is_nil(rows[1].median)
    assert.equal("Point", rows[2].name)
    assert.is_near(0.0055, rows[2].share, 1e-9)
    assert.equal("short", rows[2].sort)
    assert.equal(1.5 * 2 ^ 19, rows[2].median)
    assert.is_nil(lifetimes.classes{duration = 1, sites = {}})
  end)
end)
