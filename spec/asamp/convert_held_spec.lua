-- SPDX-License-Identifier: MIT
-- Holders of the objects alive at the end, in files for other viewers. There, each path of references is a
-- stack whose leaf is the function and line that allocated, and the weights add up to the bytes alive.

local asamp = require "asamp.commands.convert"
local cjson = require "cjson"
local gen = require "profilegen"
local held = require "spec.support.held"
local holders = require "asamp.sums.holders"
local protobuf = require "spec.support.protobuf"
local reader = require "profiler.reader"
local vmprof = require "spec.support.vmprof"

local MIB = 1 << 20

-- The expected bytes of each stack in the profile that held.write(path, 6, 3) writes. The formats have
-- different words for a missing holder.
local WANTED = {
  ['_G | upvalue "listeners" of on (app.lua:3) | ["close"] | [1..n] | keep'] = 6 * MIB,
  ['package.loaded["app"] | ["cache"] | fill'] = 3 * MIB,
  ["[no holder known] | keep"] = MIB,
}

describe("asamp convert, of a profile with holders,", function()
  local path, out
  before_each(function()
    path, out = os.tmpname(), os.tmpname()
    held.write(path, 6, 3)
  end)

  local function convert(...)
    local err = ""
    local code = asamp.run({"-o", out, ...}, {
      out = function() end, err = function(text) err = err .. text end,
      progress = function() return function() end, function() end end})
    return code == 0 and vmprof.load(out), err
  end

  -- Adds n to the sum of the stack that consists of these names, outermost first.
  local function add(stacks, names, n)
    local text = table.concat(names, " | ")
    stacks[text] = (stacks[text] or 0) + n
  end

  it("has them in pprof, as a sample type of their own", function()
    local p, stacks, lines = protobuf.profile(convert("--to", "pprof", path)), {}, {}
    assert.equal("held_space/bytes", p.types[#p.types])
    local inuse = 0
    for _, s in ipairs(p.samples) do
      local n = s.values[#p.types]
      inuse = inuse + s.values[4]
      if n > 0 then
        for i = 1, #p.types - 1 do assert.equal(0, s.values[i]) end
        local names = {}
        for i = #s.locations, 1, -1 do
          local at = p.locations[s.locations[i]]
          names[#names + 1] = p.functions[at[1]].system
          lines[names[#names]] = at[2]
        end
        add(stacks, names, n)
      end
    end
    assert.same(WANTED, stacks)
    assert.equal(10 * MIB, inuse)
    assert.same({12, 22}, {lines.keep, lines.fill})
  end)

  -- A former bug: in pprof files of profiles with time samples and holders, the sample type held_space was
  -- declared before the time types, but its values were written after theirs, so that all three types had
  -- wrong values.
  for _, what in ipairs{"allocations", "allocations time", "allocations held", "allocations time held",
                        "time"} do
    it("has each sum under its own name in pprof: " .. what, function()
      local p = assert(gen.open{path = path, period = 1 << 20, timeperiod = 1000000, followed = 10})
      p:name(8, "f", 1, "@a.lua")
      local has = {}
      for word in what:gmatch "%l+" do has[word] = true end
      for i = 1, has.allocations and 7 or 0 do p:sample{8, i, kind = 0, size = 1 << i} end
      if has.time then p:time{8, 9, count = 5} end
      if has.allocations then p:collection{fates = "1101100"} end
      if has.held then
        p:holderpath(1, 0, "_G")
        p:holders{1, 1, 1}
      end
      assert(p:close())
      local profile, sums, f = assert(reader.read(path)), {}, protobuf.profile(convert("--to", "pprof", path))
      for i, kind in ipairs(f.types) do
        sums[kind] = 0
        for _, s in ipairs(f.samples) do sums[kind] = sums[kind] + s.values[i] end
      end
      local heldbytes = 0
      for _, bytes in ipairs(profile.holders and profile.holders.bytes or {}) do
        heldbytes = heldbytes + bytes
      end
      local alive = profile.survivedbytes - profile.laterbytes + profile.undecidedbytes
      assert.same({
        ["alloc_objects/count"] = has.allocations and 1040384,
        ["alloc_space/bytes"] = has.allocations and profile.bytes,
        ["inuse_objects/count"] = has.allocations and 884736,
        ["inuse_space/bytes"] = has.allocations and alive,
        ["samples/count"] = has.time and 5,
        ["cpu/nanoseconds"] = has.time and 5000000,
        ["held_space/bytes"] = has.held and alive,
      }, sums)
      assert.equal(has.held and alive or 0, heldbytes)
      assert.same(has.allocations and {7 * MIB, 4 * MIB} or {0, 0}, {profile.bytes, alive})
    end)
  end

  it("has them in collapsed stacks, by --weight held", function()
    local stacks = {}
    for line in convert("--to", "collapsed", "--weight", "held", path):gmatch "[^\n]+" do
      local stack, n = line:match "^(.*) (%d+)$"
      local names = {}
      for name in stack:gmatch "[^;]+" do names[#names + 1] = name:gsub("^(%a+) %(app.lua:%d+%)$", "%1") end
      add(stacks, names, tonumber(n))
    end
    assert.same(WANTED, stacks)
  end)

  it("has them in speedscope's file, as a profile of their own", function()
    local s, stacks = cjson.decode((convert("--to", "speedscope", path))), {}
    local p = s.profiles[4]
    assert.equal("Alive at the end, by holder", p.name)
    assert.equal(10 * MIB, p.endValue)
    for i, stack in ipairs(p.samples) do
      local names = {}
      for k, frame in ipairs(stack) do names[k] = s.shared.frames[frame + 1].name end
      add(stacks, names, p.weights[i])
    end
    assert.same(WANTED, stacks)
  end)

  it("has them in Firefox's profile, as a second thread", function()
    local p, stacks = cjson.decode((convert("--to", "firefox", path))), {}
    assert.same({0, 1}, p.meta.initialVisibleThreads)
    local t, s = p.threads[2], p.shared
    assert.equal("Alive at the end, by holder", t.name)
    assert.equal(2, t.tid)
    assert.equal("bytes", t.samples.weightType)
    assert.equal(0, t.markers.length)
    assert.equal(3, #t.samples.stack)
    for i, stack in ipairs(t.samples.stack) do
      local names = {}
      while stack ~= cjson.null do
        local frame = s.stackTable.frame[stack + 1]
        local func = s.frameTable.func[frame + 1]
        local name = s.stringArray[s.funcTable.name[func + 1] + 1]
        local category = p.meta.categories[s.frameTable.category[frame + 1] + 1].name
        assert.equal((name == "keep" or name == "fill") and "Lua" or "Holder", category)
        table.insert(names, 1, name)
        stack = s.stackTable.prefix[stack + 1]
        assert(stack == cjson.null or stack < t.samples.stack[i])
      end
      add(stacks, names, t.samples.weight[i])
      assert.is_true(t.samples.time[i] <= p.meta.profilingEndTime)
    end
    assert.same(WANTED, stacks)
  end)

  it("keeps them, and the duration of the search, in the other format of VMProf", function()
    local function summary(name)
      local h, list = reader.read(name).holders, {}
      for i, at in ipairs(h.path) do
        list[i] = ("%s %d %d %d"):format(holders.pathtext(h, at), h.node[i], h.samples[i], h.bytes[i])
      end
      table.sort(list)
      return list
    end
    local before = summary(path)
    convert("--to", "vmprof", path)
    assert.same(before, summary(out))
    local p = assert(gen.open{path = path, period = 1 << 20, followed = 10})
    p:name(8, "f", 1, "@a.lua")
    for _ = 1, 3 do p:sample{8, 1, kind = 0} end
    p:collection{fates = "101", time = gen.now()}
    p:holderpath(1, 0, "_G")
    p:holders{0, 1}
    p:walk(gen.now(), 5000000)
    p:walk(gen.now(), 7000000)
    assert(p:close())
    convert("--to", "vmprof", path)
    for _, name in ipairs{path, out} do
      local profile = assert(reader.read(name))
      assert.same({2, 12000, 7000}, {profile.walks, profile.walked, profile.longestwalk})
    end
  end)

  it("reports that a profile has no holders", function()
    local p = assert(gen.open{path = path, period = 1 << 20})
    p:name(8, "f", 1, "@a.lua")
    p:sample{8, 1, kind = 0}
    assert(p:close())
    local _, err = convert("--to", "collapsed", "--weight", "held", path)
    assert.equal(("asamp convert: '%s' does not record the references to live objects (holders): the " ..
      "program was killed, ran with holders=0, or had no live sample at its end; use --weight alive " ..
      "for the lines that allocated the objects\n"):format(path), err)
    assert.equal(4, #protobuf.profile(convert("--to", "pprof", path)).types)
    local f = cjson.decode((convert("--to", "firefox", path)))
    assert.equal(1, #f.threads)
    assert.same({0}, f.meta.initialVisibleThreads)
    assert.equal(1, #cjson.decode((convert("--to", "speedscope", path))).profiles)
  end)

  -- A former bug: if the profile had no samples, the command wrote an empty file and returned exit code 0.
  it("says so of a profile without samples, too", function()
    local p = assert(gen.open{path = path, period = 1 << 20})
    assert(p:close())
    local text, err = convert("--to", "collapsed", "--weight", "held", path)
    assert.is_false(text)
    assert.is_truthy(err:find("does not record the references to live objects (holders): ", 1, true), err)
  end)

  -- A former bug: in `asamp report`, 65,536 paths of references with long steps became texts of gigabytes.
  it("ends paths when the texts of all have 64 MiB, and reports it", function()
    local p = assert(gen.open{path = path, period = 1 << 20, followed = 10})
    p:name(8, "f", 1, "@a.lua")
    p:sample{8, 1, kind = 0}
    p:collection{fates = "1"}
    for i = 1, 64 do p:holderpath(i, i - 1, ("x"):rep(40000) .. i) end
    p:holders{64}
    assert(p:close())
    local profile = assert(reader.read(path))
    assert.same({57, 7, "paths"}, {#profile.holders.step, profile.left[1].count, profile.left[1].what})
    assert.same({57}, profile.holders.path)
    assert.truthy(profile.left[1].text:find("or of 64 MiB of their texts, was reached, so 7 more", 1, true))
  end)

  -- A malformed profile may have a path of references without an end, which must not become an endless
  -- stack.
  it("ends paths after 64 steps, counts the paths cut by that, and reports it", function()
    local p = assert(gen.open{path = path, period = 1 << 20, followed = 10})
    p:name(8, "f", 1, "@a.lua")
    p:sample{8, 1, kind = 0}
    p:sample{8, 2, kind = 0}
    p:collection{fates = "11"}
    for i = 1, 1000 do p:holderpath(i, i - 1, "step " .. i % 7) end
    p:holders{1000, 10}
    assert(p:close())
    local profile = assert(reader.read(path))
    assert.equal(64, #profile.holders.step)
    assert.same({what = "steps", count = 936, limit = 64,
                 text = "paths of references with more than 64 steps, or 65,536 with repeated steps: 936 " ..
                        "were shortened to their first steps"},
                profile.left[1])
    local own = {}
    for i, at in ipairs(profile.holders.path) do own[at] = profile.holders.samples[i] end
    assert.same({[64] = 1, [10] = 1}, own)
    assert.equal("step 1", holders.pathtext(profile.holders, 1))
    for _, format in ipairs{"pprof", "speedscope", "firefox", "collapsed"} do
      local _, err = convert("--to", format, path)
      assert.truthy(err:find("936 were shortened", 1, true), err)
    end
  end)
end)
