-- SPDX-License-Identifier: MIT
-- Totals of profiles made by hand, small enough to add up in the head, and of
-- random ones against the definition.

local totals = require "asamp.totals"

--- A profile from stacks: {"root@1 f@2 [C]g", kind, samples, survived}; a
-- name in brackets is native. Every sample is 100 bytes.
local function profileof(stacks, options)
  local p = {nodes = {parent = {}, fn = {}, line = {}}, functions = {},
             kinds = {{name = "table", blocks = 0, objects = 0, outside = 0},
                      {name = "string", blocks = 0, objects = 0, outside = 0},
                      {name = "[time sample]", time = true, blocks = 0,
                       objects = 0, outside = 0}},
             sites = {node = {}, kind = {}, samples = {}, bytes = {},
                      survived = {}, survivedbytes = {}, undecided = {}},
             lines = true, samples = 0, timesamples = 0}
  local fns, nodes = {}, {}
  for i, stack in ipairs(stacks) do
    local node = 0
    for frame in stack[1]:gmatch "%S+" do
      local name, line = frame:match "^([^@]+)@?(%d*)$"
      if not fns[name] then
        p.functions[#p.functions + 1] = {
          name = name, file = "x.lua", line = 1,
          native = name:find "^%[C%]" ~= nil}
        fns[name] = #p.functions
      end
      local key = node .. frame
      if not nodes[key] then
        nodes[key] = #p.nodes.fn + 1
        p.nodes.parent[nodes[key]] = node
        p.nodes.fn[nodes[key]] = fns[name]
        p.nodes.line[nodes[key]] = tonumber(line) or 0
      end
      node = nodes[key]
    end
    local s = p.sites
    local time = p.kinds[stack[2]].time
    s.node[i], s.kind[i], s.samples[i] = node, stack[2], stack[3]
    s.bytes[i] = time and 0 or 100 * stack[3]
    s.survived[i] = stack[4] or 0
    s.survivedbytes[i] = 100 * s.survived[i]
    s.undecided[i] = 0
    local sum = time and "timesamples" or "samples"
    p[sum] = p[sum] + stack[3]
  end
  for k, v in pairs(options or {}) do
    p[k] = v
  end
  return p
end

-- "name own/total" of the rows, by samples
local function short(rows, key)
  local list = {}
  for i, row in ipairs(rows) do
    list[i] = ("%s %d/%d"):format(key(row), row.own.samples,
                                  row.total.samples)
  end
  return table.concat(list, ", ")
end

local function name(row) return row.name end
local function line(row) return row.file .. ":" .. row.line end

describe("totals", function()
  it("of nothing are nothing", function()
    local t = totals.of(profileof{})
    assert.equal(0, t.whole.samples)
    assert.same({}, t.functions)
    assert.same({}, t.lines)
    assert.same({}, t.types)
  end)

  it("give own to the innermost frame, total to all", function()
    local t = totals.of(profileof{
      {"main@1 f@2", 1, 3, 1}, {"main@1 f@3", 1, 2}, {"main@5", 2, 4}})
    assert.equal("f 5/5, main 4/9", short(t.functions, name))
    assert.equal("x.lua:5 4/4, x.lua:2 3/3, x.lua:3 2/2, x.lua:1 0/5",
                 short(t.lines, line))
    assert.equal("bytes", t.unit)
    assert.same({samples = 9, bytes = 900, survived = 1, survivedbytes = 100,
                 undecided = 0}, t.whole)
    assert.equal(100, t.functions[1].own.survivedbytes)
  end)

  it("count recursion once", function()
    local t = totals.of(profileof{
      {"main@1 f@2 f@2 g@3 f@2", 1, 7}, {"main@1 f@2", 1, 1},
      {"main@1 g@3 f@2 f@4", 1, 2}})
    assert.equal("f 10/10, main 0/10, g 0/9", short(t.functions, name))
    assert.equal("x.lua:2 8/10, x.lua:4 2/2, x.lua:1 0/10, x.lua:3 0/9",
                 short(t.lines, line))
  end)

  it("give a C function's own to the line that called it", function()
    local t = totals.of(profileof{
      {"main@1 [C]gsub [C]alloc", 2, 4}, {"main@1 [C]gsub f@2", 2, 1},
      {"[C]start", 1, 1}})
    assert.equal("[C]alloc 4/4, [C]start 1/1, f 1/1, [C]gsub 0/5, main 0/5",
                 short(t.functions, name))
    assert.equal("x.lua:1 4/5, x.lua:2 1/1", short(t.lines, line))
  end)

  it("add up the types", function()
    local t = totals.of(profileof{
      {"main@1", 2, 4}, {"main@1", 1, 1}, {"main@2", 2, 3, 2}})
    assert.equal("string", t.types[1].name)
    assert.equal(7, t.types[1].own.samples)
    assert.equal(2, t.types[1].own.survived)
    assert.equal(1, t.types[2].own.samples)
  end)

  it("have no row for what has no sample", function()
    local p = profileof{{"main@1", 1, 2}, {"main@1 f@2", 3, 5}}
    assert.equal("main 2/2", short(totals.of(p).functions, name))
    assert.equal("x.lua:1 2/2", short(totals.of(p).lines, line))
  end)

  it("leave time samples out beside allocations, count them alone", function()
    local mixed = {{"main@1", 1, 2}, {"main@2", 3, 50}}
    assert.equal("main 2/2", short(totals.of(profileof(mixed)).functions, name))
    local t = totals.of(profileof{{"main@1 f@2", 3, 5}, {"main@2", 3, 9}})
    assert.equal("samples", t.unit)
    assert.equal("main 9/14, f 5/5", short(t.functions, name))
  end)

  it("have no lines where the file has none", function()
    assert.same({}, totals.of(profileof({{"main@1", 1, 2}},
                                        {lines = false})).lines)
  end)

  it("count samples without a stack in the whole only", function()
    local p = profileof{{"main@1", 1, 2}}
    p.sites.node[1] = 0
    local t = totals.of(p)
    assert.equal(2, t.whole.samples)
    assert.same({}, t.functions)
  end)

  it("agree with the definition on random profiles", function()
    local seed = os.time()
    math.randomseed(seed)
    for round = 1, 30 do
      local stacks, own, total, ownline, totalline = {}, {}, {}, {}, {}
      for i = 1, 60 do
        local frames, seen, nearest = {}, {}, nil
        for k = 1, math.random(8) do
          local f = math.random(6)
          local native = f > 4
          local at = math.random(3)
          local fname = (native and "[C]" or "f") .. f
          frames[k] = fname .. (native and "" or "@" .. at)
          seen["fn " .. fname] = true
          if not native then
            seen["line " .. at] = true
            nearest = at
          end
          if k == #frames then
            frames.last = fname
          end
        end
        local n = math.random(9)
        stacks[i] = {table.concat(frames, " "), math.random(2), n}
        own[frames.last] = (own[frames.last] or 0) + n
        if nearest then
          ownline[nearest] = (ownline[nearest] or 0) + n
        end
        for key in pairs(seen) do
          local kind, what = key:match "^(%w+) (.*)$"
          local sums = kind == "fn" and total or totalline
          what = kind == "fn" and what or tonumber(what)
          sums[what] = (sums[what] or 0) + n
        end
      end
      local t = totals.of(profileof(stacks))
      local note = ("seed %d, round %d"):format(seed, round)
      for _, row in ipairs(t.functions) do
        assert.equal(own[row.name] or 0, row.own.samples, note)
        assert.equal(total[row.name], row.total.samples, note)
      end
      for _, row in ipairs(t.lines) do
        assert.equal(ownline[row.line] or 0, row.own.samples, note)
        assert.equal(totalline[row.line], row.total.samples, note)
      end
    end
  end)

  it("manage a stack of a hundred thousand frames", function()
    local p = profileof{}
    for i = 1, 100000 do
      p.nodes.parent[i], p.nodes.fn[i], p.nodes.line[i] = i - 1, 1, i % 7
    end
    p.functions[1] = {name = "f", file = "x.lua", line = 1, native = false}
    p.samples = 3
    p.sites = {node = {100000}, kind = {1}, samples = {3}, bytes = {300},
               survived = {0}, survivedbytes = {0}, undecided = {0}}
    local t = totals.of(p)
    assert.equal("f 3/3", short(t.functions, name))
    assert.equal(7, #t.lines)
  end)
end)
