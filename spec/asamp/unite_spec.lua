-- SPDX-License-Identifier: MIT
-- Merged profiles. A merged file must have the same sums that `report --sum` computes from the single
-- files. The environment variable ASAMP_ROUNDS is the number of random sets of profiles (default 4, on the
-- asan build 2).

local cjson = require "cjson"
local convert = require "profiler.convert"
local copies = require "asamp.sums.copies"
local fewer = require "spec.support.fewer"
local gen = require "profilegen"
local labelled = require "asamp.sums.labelled"
local lifetimes = require "asamp.sums.lifetimes"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local runs = require "spec.support.runs"
local shell = require "spec.support.shell"
local states = require "asamp.sums.states"
local report = require "spec.support.commands".of((require "asamp.commands.report"))
local totals = require "asamp.sums.totals"
local united = require "asamp.sums.united"

local ROUNDS = tonumber(os.getenv "ASAMP_ROUNDS") or fewer(4, 2)

-- Returns a table of the values of 'field' in these rows, by the row's name, file, line and line of
-- definition.
local function byname(rows, field)
  local all = {}
  for _, row in ipairs(rows) do
    local key = ("%s %s %s %s"):format(row.name, row.file, row.line, row.defined)
    assert.is_nil(all[key])
    all[key] = row[field]
  end
  return all
end

-- Checks that both lists have the same rows, and in these the same sums, except for the rounding of
-- non-integers.
local function samerows(a, b, field)
  local x, y = byname(a, field), byname(b, field)
  assert.equal(#a, #b)
  for name, sums in pairs(x) do
    for key, n in pairs(sums) do
      local m = y[name] and y[name][key]
      assert.is_true(m ~= nil and math.abs(n - m) <= 1e-9 * math.max(1, math.abs(n)),
                     ("%s %s: %s, not %s"):format(name, key, m, n))
    end
  end
end

local HEAD = {"samples", "timesamples", "survived", "survivedbytes", "later", "laterbytes", "bytes",
              "undecided", "undecidedbytes", "minors", "majors", "allocated", "followed",
              "unfollowed", "random", "lines", "wall", "cpu", "command", "undetailed", "fates"}

-- Returns the rows of a label as texts, by the label's value.
local function labelrows(p, name)
  local all = {}
  for _, row in ipairs(labelled.rows(p, name)) do
    local list = {}
    for key, n in pairs(row) do
      list[#list + 1] = key .. " " .. (type(n) == "number" and ("%.9g"):format(n) or n)
    end
    table.sort(list)
    assert.is_nil(all[row.value])
    all[row.value] = table.concat(list, ", ")
  end
  return all
end

local function same(paths, merged)
  local profiles = {}
  for i, path in ipairs(paths) do profiles[i] = assert(reader.read(path)) end
  local sum, all = united.of(profiles), assert(reader.read(merged))
  assert.is_true(all.complete, all.message)
  for _, key in ipairs(HEAD) do assert.equal(sum[key], all[key], key) end
  assert.equal(#paths, all.profiles)
  assert.is_true(math.abs(sum.duration - all.duration) < 1e-5 * #paths)
  local a, b = totals.of(sum), totals.of(all)
  for _, what in ipairs{"functions", "lines", "types"} do
    samerows(a[what], b[what], "self")
  end
  for _, what in ipairs{"functions", "lines"} do
    samerows(a[what], b[what], "total")
  end
  assert.same(labelled.names(all), labelled.names(sum))
  for _, name in ipairs(labelled.names(all)) do
    assert.same(labelrows(all, name), labelrows(sum, name))
  end
  local lives = {}
  for i, p in ipairs{sum, all} do
    lives[i] = {}
    for j, row in ipairs(lifetimes.of(p) or {}) do lives[i][j] = row.bytes end
  end
  assert.same(lives[1], lives[2])
  return all
end

local function merge(paths, out)
  return convert.merge(paths, out, {packing = "fast"})
end

describe("profiles that are merged", function()
  local paths, out
  before_each(function()
    paths, out = {}, os.tmpname()
    for i = 1, 4 do paths[i] = os.tmpname() end
  end)
  after_each(function()
    for _, path in ipairs(paths) do os.remove(path) end
    os.remove(out)
  end)

  -- Writes the profile of a process with many states, of which some run one after the other and some at the
  -- same time.
  local function many(path, seed)
    math.randomseed(seed)
    local p = assert(gen.open{path = path, states = true, period = 4096, followed = 1000,
                              timeperiod = 1000000, command = 'lua "x" <y>'})
    local open, next_ = {}, 0
    for _ = 1, 150 do
      local what = math.random(12)
      if #open == 0 or what == 1 then
        p:start(next_)
        for f = 1, 4 do p:name(8 * f, "f" .. (f + next_) % 6, f, "@x.lua") end
        p:class(1, "C" .. next_ % 2)
        p:called("script" .. next_ % 3)
        open[#open + 1] = {id = next_, n = 0}
        next_ = next_ + 1
      end
      local i = math.random(#open)
      local s = open[i]
      p:of(s.id)
      if what == 2 then
        p:leave(1000 + s.id)
        table.remove(open, i)
      elseif what < 5 then
        local fates, classes = {}, {}
        for k = 1, s.n do fates[k], classes[k] = tostring(math.random(0, 1)), math.random(0, 1) end
        p:collection{fates = table.concat(fates), classes = classes, inuse = math.random(1 << 20),
                     held = 1 << 20}
        p:collection{deaths = {0, 1}, major = true, inuse = math.random(1 << 20), held = 1 << 20}
        s.n = 0
      elseif what == 5 then
        p:time{8 * math.random(4), math.random(3)}
      else
        p:sample{8 * math.random(4), math.random(3), 0x7f0001 + 16 * math.random(3), 0,
                 kind = math.random(0, 3), size = 32, count = math.random(2)}
        s.n = s.n + 1
      end
    end
    for _, s in ipairs(open) do
      p:of(s.id)
      if math.random(2) == 1 then p:leave(77) else p:allocated(99) end
    end
    assert(p:close())
  end

  it("have the sums of all, whatever is in them", function()
    local seed = tonumber(os.getenv "ASAMP_SEED") or 17
    for round = 1, ROUNDS do
      local n = 10 * (seed + round)
      runs.write(paths[1], {seed = n, actions = 200})
      runs.write(paths[2], {seed = n + 1, format = 7, actions = 200, undecided = round % 2 == 0})
      many(paths[3], n + 2)
      many(paths[4], n + 3)
      local result = assert(merge(paths, out))
      local all = same(paths, out)
      assert.equal(result.states, all.begun)
      local each = 2 + #reader.read(paths[3]).states + #reader.read(paths[4]).states
      assert.equal(each, #all.states)
      -- merged files can be merged again
      local twice = os.tmpname()
      assert(merge({out, paths[1]}, twice))
      local again = reader.read(twice)
      assert.same({5, all.samples + reader.read(paths[1]).samples}, {again.profiles, again.samples})
      os.remove(twice)
    end
  end)

  it("of flight recorders have the start of their period, and all earlier samples", function()
    for i = 1, 2 do
      local status, _, err = process.run{"-l", "profiler", "-e",
        "local t = {} for i = 1, 100000 do t[i % 5000] = {i} end", env = {LUA_PROFILER =
        ("alloc=128,native=0,ring=64K,quiet,overwrite,seed=%d,out=%s"):format(i, paths[i])}}
      assert.equal(0, status, err)
    end
    assert(merge({paths[1], paths[2]}, out))
    local a, b = reader.read(paths[1]).ring, reader.read(paths[2]).ring
    local all = reader.read(out).ring
    assert.is_true(a.samples > 0)
    assert.same({a.samples + b.samples, a.bytes + b.bytes}, {all.samples, all.bytes})
    assert.is_true(math.abs(a.seconds + b.seconds - all.seconds) < 1e-5)
  end)

  -- A former bug: in a merged profile, each state had its own copy of the paths of holders, so that `asamp
  -- diff` of two merged profiles reported the same holder as gone and as new.
  it("have one path for the holders of all that has the same steps", function()
    for i = 1, 2 do
      local status, _, err = process.run{"-l", "profiler", "-e",
        "seen = {} for i = 1, 30000 do seen[i] = {i} end", env = {LUA_PROFILER =
        ("alloc=16K,native=0,quiet,overwrite,seed=%d,out=%s"):format(i, paths[i])}}
      assert.equal(0, status, err)
    end
    assert(merge({paths[1], paths[2]}, out))
    local held, seen, of = reader.read(out).holders, {}, 0
    for path, step in ipairs(held.step) do
      local key = held.parent[path] .. " " .. step
      assert.is_nil(seen[key], key)
      seen[key] = path
    end
    for i, path in ipairs(held.path) do of = of + (path > 0 and held.samples[i] or 0) end
    local single = 0
    for i = 1, 2 do
      local h = reader.read(paths[i]).holders
      for k, path in ipairs(h.path) do single = single + (path > 0 and h.samples[k] or 0) end
    end
    assert.is_true(of > 100)
    assert.equal(single, of)
  end)

  -- A former bug: merging crashed, because the label set of a copy sample was searched in the merged
  -- profile by the number that it has in its own profile.
  it("keep copies, each with its state's period and its labels", function()
    local script = process.file [[
      local profiler = require "profiler"
      for i = 1, 3 do
        profiler.label{route = "r" .. i % 2, ["label " .. i] = "x"}
        local s = ""
        for _ = 1, 300 * i do s = s .. "0123456789" end
      end]]
    local want = {bytes = 0, again = 0, r0 = 0, r1 = 0}
    for i, period in ipairs{"1K", "4K"} do
      local status, _, err = process.run{"-l", "profiler", script, env = {LUA_PROFILER =
        ("alloc=%s,copies,quiet,overwrite,seed=%d,out=%s"):format(period, i, paths[i])}}
      assert.equal(0, status, err)
      local sums = copies.of(assert(reader.read(paths[i])))
      want.bytes, want.again = want.bytes + sums.bytes, want.again + sums.again
      for _, route in ipairs{"r0", "r1"} do
        local of = copies.of(assert(reader.read(paths[i], {label = {name = "route", value = route}})))
        assert.is_true(of.bytes > 0 and of.bytes < sums.bytes)
        want[route] = want[route] + of.bytes
      end
    end
    assert(merge({paths[1], paths[2]}, out))
    local sums = copies.of(assert(reader.read(out)))
    local got = {bytes = sums.bytes, again = sums.again}
    for _, route in ipairs{"r0", "r1"} do
      got[route] = copies.of(assert(reader.read(out, {label = {name = "route", value = route}}))).bytes
    end
    assert.same(want, got)
  end)

  -- A former bug: the merge wrote a copy sample (a sample of copied bytes) for the state of the event before
  -- it.
  it("keep the state of each copy", function()
    local p = assert(gen.open{path = paths[1], states = true, period = 1024, copies = true})
    for id = 0, 1 do
      p:start(id)
      p:name(8, "f", 1, "@x.lua")
    end
    for i = 1, 3 do
      p:of(0)
      for kind = 25, 27 do p:sample{8, 1, kind = kind, count = i} end
      p:of(1)
      p:sample{8, 1}
    end
    assert(p:close())
    assert(merge({paths[1]}, out))
    for _, path in ipairs{paths[1], out} do
      local all = assert(reader.read(path))
      for i, samples in ipairs{18, 0} do
        local of = copies.of(assert(reader.read(path, {states = {all.states[i].id}})))
        assert.same({samples, samples // 3 * 1024}, {of.samples, of.grown})
      end
    end
  end)

  -- Profiles a program with these options, and with the label 'route' if that argument is given.
  local function run(path, options, route)
    local script = process.file(([[
      local profiler, kept = require "profiler", {}
      profiler.label{route = %s or nil}
      for i = 1, 20000 do kept[i %% 3000] = {i, tostring(i)} end
      collectgarbage()]]):format(route and ("%q"):format(route) or "nil"))
    local status, _, err = process.run{"-l", "profiler", script, env = {LUA_PROFILER =
      ("native=0,quiet,overwrite,seed=3,%s,out=%s"):format(options, path)}}
    assert.equal(0, status, err)
    os.remove(script)
  end

  -- A former bug: samples without a label were missing from the rows of labels, and --by-label refused a
  -- file without labels.
  it("have rows for samples without a label, also of profiles without labels: --sum has the same", function()
    run(paths[1], "alloc=2K", "/a")
    run(paths[2], "alloc=1K,time=1000")
    run(paths[3], "alloc=0,time=1000")
    local list = {paths[1], paths[2], paths[3]}
    assert(merge(list, out))
    local all = same(list, out)
    local sum = united.of{reader.read(paths[1]), reader.read(paths[2]), reader.read(paths[3])}
    local rows, bytes = labelrows(sum, "route"), 0
    assert.is_truthy(rows["/a"] and rows["(none)"])
    for _, row in ipairs(labelled.rows(sum, "route")) do bytes = bytes + row.bytes end
    assert.equal(all.bytes, bytes)
    for _, options in ipairs{{"--by-label", "route"}, {"--label", "route=/a"}, {"--label", "route=(none)"},
                             {"--label", "route=(none)", "--by-label", "route"}} do
      local docs = {}
      for i, files in ipairs{{"--sum", table.unpack(list)}, {out}} do
        table.move(options, 1, #options, #files + 1, files)
        local code, text, err = report("--json", table.unpack(files))
        assert.same({0, ""}, {code, err})
        docs[i] = cjson.decode(text)
      end
      local a, b = docs[1], docs[2]
      for _, key in ipairs{"samples", "bytes", "survivedbytes", "laterbytes", "timesamples", "minors"} do
        assert.equal(b[key], a[key], key)
      end
      local function plain(doc)
        local values = {}
        for i, row in ipairs(doc.labels.route) do
          values[i] = ("%s %d %d %.9g %d"):format(row.value, row.bytes, row.alive, row.time, row.collections)
        end
        return values
      end
      assert.same(plain(b), plain(a))
    end
    local code, _, err = report("--sum", "--label", "route=/x", list[1], list[2])
    assert.equal(1, code)
    assert.is_truthy(err:find("no code ran with the label route=/x; --by-label NAME lists its values",
                                1, true), err)
  end)

  -- A former bug: if one of several profiles had only time samples, or was empty, the sum had no survival
  -- data.
  it("have the survival of those that have allocation samples: --sum has the same", function()
    run(paths[1], "alloc=2K")
    run(paths[2], "alloc=0,time=1000")
    local p = assert(gen.open{path = paths[3], period = 1 << 20, followed = 100, random = true})
    assert(p:close())
    local one = reader.read(paths[1])
    for _, list in ipairs{{paths[1], paths[2], paths[3]}, {paths[3], paths[2], paths[1]}} do
      assert(merge(list, out))
      same(list, out)
      local profiles = {}
      for i, path in ipairs(list) do profiles[i] = assert(reader.read(path)) end
      local sum = united.of(profiles)
      local whole = totals.of(sum).whole
      assert.is_true(sum.fates)
      assert.same({one.period, 0}, {sum.period, sum.periods})
      assert.is_true(whole.alivebytes > 0)
      assert.equal(one.survivedbytes - one.laterbytes, whole.alivebytes)
      assert.equal(reader.read(out).allocated, sum.allocated)
    end
  end)

  it("keep states, with their names, ends and allocated bytes", function()
    many(paths[1], 3)
    runs.write(paths[2], {seed = 4, actions = 50})
    assert(merge({paths[1], paths[2]}, out))
    local one, all = reader.read(paths[1]), reader.read(out)
    local function rows(p)
      local list = {}
      for i, t in ipairs(p.states) do
        list[i] = table.concat({tostring(t.name), tostring(t.ended), t.allocated, t.samples, t.bytes,
          t.survivedbytes, t.laterbytes, t.minors, t.majors, t.timesamples}, " ")
      end
      table.sort(list)
      return list
    end
    local name = paths[2]:match "[^/]*$"
    local id = states.find(all, name)
    assert.equal(1, #id)
    for i, s in ipairs(all.states) do
      if s.id == id[1] then assert.equal(123456789, table.remove(all.states, i).allocated) end
    end
    assert.same(rows(one), rows(all))
  end)

  it("may be cut: the readable part is merged", function()
    runs.write(paths[1], {seed = 5, actions = 200, plain = true})
    runs.write(paths[2], {seed = 6, actions = 200})
    local text = process.read(paths[1])
    for i = 1, 12 do
      shell.write(paths[1], text:sub(1, 1500 + i * #text // 14))
      local result = assert(merge({paths[1], paths[2]}, out))
      assert.is_truthy(result.files[1].message)
      local cut, whole, all = reader.read(paths[1]), reader.read(paths[2]), reader.read(out)
      assert.is_true(all.complete)
      -- the sum is unknown, because the first profile is cut and lacks this number
      assert.is_nil(all.allocated)
      assert.equal(cut.samples + whole.samples + cut.timesamples + whole.timesamples,
                   all.samples + all.timesamples + all.lost)
    end
  end)

  it("may be cut in their heads, and then take nothing from the others: deaths, say", function()
    runs.write(paths[1], {seed = 5, actions = 200, plain = true})
    runs.write(paths[2], {seed = 6, actions = 200})
    local text, whole, refused = process.read(paths[1]), reader.read(paths[2]), 0
    assert.is_true(whole.followed > 0 and whole.later > 0)
    for n = 100, 700, fewer(7, 28) do
      shell.write(paths[1], text:sub(1, n))
      local result = assert(merge({paths[2], paths[1]}, out))
      local all = reader.read(out)
      assert.equal(whole.followed, all.followed)
      assert.is_true(all.later >= whole.later)
      refused = refused + (result.files[2].error and 1 or 0)
    end
    assert.is_true(refused > fewer(10, 2))
  end)

  -- A former bug: the start of each state took time in proportion to the number of open states. With 8
  -- times as many states, the merge took 75 times as long.
  -- The pages of freed memory may stay in the process; the first run with few states maps them anew, as the
  -- runs with many states do. So the longest of the runs with few states is compared.
  it("take twice as long with twice as many states that are open at the same time #plain", function()
    local function clock(n)
      local p = assert(gen.open{path = paths[1], states = true})
      for id = 1, 2 * n do
        p:start(id)
        if id > n then
          p:of(id - n)
          p:leave(1)
        end
      end
      assert(p:close())
      local before = os.clock()
      assert(reader.read(paths[1]).complete)
      assert(merge({paths[1]}, out))
      os.remove(out)
      return os.clock() - before
    end
    local few = math.max(clock(4000), clock(4000), clock(4000))
    local more = math.min(clock(16000), clock(16000), clock(16000))
    assert.is_true(more < 10 * few, ("%.3f s, %.3f s"):format(few, more))
  end)

  it("that are no profiles are reported, and the others are merged", function()
    runs.write(paths[1], {seed = 7, actions = 60})
    shell.write(paths[2], "no profile\n")
    os.remove(paths[3])
    local list = {paths[2], paths[1], paths[3], paths[1]}
    local result = assert(merge(list, out))
    assert.match("not a VMProf log", result.files[1].error)
    assert.match("No such file", result.files[3].error)
    assert.equal(2 * reader.read(paths[1]).samples, reader.read(out).samples)
    os.remove(out)
    local nothing, message, files = merge({paths[2]}, out)
    assert.is_nil(nothing)
    assert.match("not a VMProf log", message)
    assert.match("not a VMProf log", files[1].error)
    assert.is_nil(io.open(out))
  end)

  it("of other writers are refused with the way that is left", function()
    local vmprof = require "spec.support.vmprof"
    assert.is_truthy(vmprof)
    local f = assert(io.open(paths[1], "wb"))
    f:write(string.pack("<i8i8i8i8i8", 0, 3, 0, 1000, 0), "\5", string.pack(">I2", 6), "\0",
            "\6python", "\2", string.pack("<i8s8", 8, "py:f:1:x.py"),
            "\1", string.pack("<i8i8i8i8", 1, 1, 8, 0), "\3")
    f:close()
    local _, message = merge({paths[1]}, out)
    assert.match("another profiler wrote the file.*%-%-sum", message)
  end)
end)
