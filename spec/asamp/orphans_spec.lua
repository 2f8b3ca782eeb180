-- SPDX-License-Identifier: MIT
-- Native memory that outlives the Lua state in which it was requested ("orphans"). A former bug: in a
-- server with a state for each request, leaks of C modules counted as dead when the state was closed, so
-- that no report showed them. The environment variable ASAMP_ROUNDS is the number of random files (default
-- 20).

local convert = require "profiler.convert"
local gen = require "profilegen"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local resident = require "asamp.sums.resident"
local shell = require "spec.support.shell"
local totals = require "asamp.sums.totals"

local ROUNDS = tonumber(os.getenv "ASAMP_ROUNDS") or 20
local NATIVE = "native"

local function ofnative(path)
  local profile = assert(reader.read(path))
  assert.is_true(profile.complete, profile.message)
  for _, row in ipairs(totals.of(profile).types) do
    if row.name == NATIVE then return row.self, profile end
  end
  return {bytes = 0, alivebytes = 0, survivedbytes = 0}, profile
end

-- {== files =================================================================

describe("orphans in a file", function()
  local paths
  before_each(function() paths = {os.tmpname(), os.tmpname(), os.tmpname(), os.tmpname()} end)
  after_each(function()
    for _, path in ipairs(paths) do os.remove(path) end
  end)

  local kind
  for i, name in ipairs(gen.kinds) do if name == NATIVE then kind = i - 1 end end

  -- The model of a process: the outcome of each sample, and the numbers of later deaths and of live
  -- samples, separately for native memory and Lua objects.
  local Model = {}
  Model.__index = Model

  function Model.new(path)
    return setmetatable({p = assert(gen.open{path = path, states = true, period = 100,
                                             followed = 1000}),
                         open = {}, closed = {}, orphaned = {}, next = 0, later = 0}, Model)
  end

  function Model:start()
    self.p:start(self.next)
    self.p:name(8, "f", 1, "@a.lua")
    -- Lua objects of a closed state die when it is closed
    for _, s in ipairs(self.closed) do
      self.later = self.later + s.others
      s.others = 0
    end
    self.closed = {}
    self.open[#self.open + 1] = {id = self.next, list = {}}
    self.next = self.next + 1
  end

  -- Adds a collection of state s with outcomes of samples and deaths of followed samples, to the file and
  -- to the model.
  function Model:collect(s)
    local fates, list, runs, dead = {}, {}, {}, false
    for _ = 1, math.random(6) do
      local native = math.random(2) == 1
      self.p:sample{8, 1, kind = native and kind or 0}
      local lives = math.random(3) > 1
      fates[#fates + 1] = lives and "1" or "0"
      if lives then s.list[#s.list + 1] = native and "native" or "lua" end
    end
    for i = 1, #s.list do
      local dies = math.random(4) == 1
      if dies ~= dead or i == 1 then
        if i == 1 and dies then runs[1] = 0 end
        runs[#runs + 1], dead = 0, dies
      end
      runs[#runs] = runs[#runs] + 1
      if dies then self.later = self.later + 1 else list[#list + 1] = s.list[i] end
    end
    if #runs % 2 == 1 then runs[#runs] = nil end
    s.list = list
    self.p:collection{fates = table.concat(fates), deaths = runs, major = true}
  end

  function Model:close(i)
    local s = table.remove(self.open, i)
    s.natives, s.others = 0, 0
    for _, what in ipairs(s.list) do
      if what == "native" then s.natives = s.natives + 1 else s.others = s.others + 1 end
    end
    self.p:leave(100, 0, s.natives)
    self.closed[#self.closed + 1] = s
    self.orphaned[#self.orphaned + 1] = s
  end

  function Model:orphans()
    local s = self.orphaned[math.random(#self.orphaned)]
    if not s or s.natives == 0 then return end
    local alive = math.random(0, s.natives - 1)
    local dead = math.random(s.natives - alive)
    self.p:of(s.id)
    self.p:orphans(gen.now(), {alive, dead})
    s.natives, self.later = s.natives - dead, self.later + dead
  end

  function Model:natives()
    local n = 0
    for _, s in ipairs(self.orphaned) do n = n + s.natives end
    for _, s in ipairs(self.open) do
      for _, what in ipairs(s.list) do n = n + (what == "native" and 1 or 0) end
    end
    return n
  end

  local function random(path, seed)
    math.randomseed(seed)
    local m = Model.new(path)
    for _ = 1, 60 do
      local what = math.random(8)
      if what == 1 or #m.open == 0 then m:start() end
      local i = math.random(#m.open)
      m.p:of(m.open[i].id)
      if what < 5 then m:collect(m.open[i])
      elseif what < 7 then m:close(i)
      elseif #m.orphaned > 0 then m:orphans() end
    end
    m.p:close()
    return m
  end

  it("are alive until their deaths are reported, although the rest of the state has died", function()
    for seed = 1, ROUNDS do
      local m = random(paths[1], seed)
      local native, profile = ofnative(paths[1])
      assert.same({m.later, m:natives() * 100}, {profile.later, native.alivebytes}, seed)
      assert.same({}, profile.left)
    end
  end)

  it("are the same in a merge, and in a merge of merges", function()
    for seed = 1, ROUNDS, 2 do
      local a, b = random(paths[1], seed), random(paths[2], seed + 1)
      for _, from in ipairs{{paths[1], paths[2], to = paths[3]}, {paths[3], paths[2], to = paths[4]}} do
        assert(convert.merge(from, from.to, {packing = "fast"}))
      end
      local native, profile = ofnative(paths[3])
      assert.same({a.later + b.later, (a:natives() + b:natives()) * 100},
                  {profile.later, native.alivebytes}, seed)
      native, profile = ofnative(paths[4])
      assert.same({a.later + 2 * b.later, (a:natives() + 2 * b:natives()) * 100},
                  {profile.later, native.alivebytes}, seed)
    end
  end)

  it("belong to the requested state", function()
    local m = random(paths[1], 3)
    local alive = 0
    for id = 0, m.next - 1 do
      for _, row in ipairs(totals.of(assert(reader.read(paths[1], {states = {id}}))).types) do
        if row.name == NATIVE then alive = alive + row.self.alivebytes end
      end
    end
    assert.equal(m:natives() * 100, alive)
  end)

  -- This file has more states than the limit of the reader, 16,384. The reader only counts native memory that
  -- outlives one of the further states.
  it("are as many as there is room for, and the others counted", function()
    local p = assert(gen.open{path = paths[1], states = true, period = 100, followed = 10})
    local n = 16384 + 100
    for id = 0, n do
      p:start(id)
      p:name(8, "f", 1, "@a.lua")
      p:sample{8, 1, kind = kind}
      p:collection{fates = "1", major = true}
      p:leave(100, 0, 1)
    end
    for id = 0, n do
      p:of(id)
      p:orphans(gen.now(), {0, 1})
    end
    p:close()
    local native, profile = ofnative(paths[1])
    local count = {}
    for _, row in ipairs(profile.left) do count[row.what] = row.count end
    assert.same({100 * 100, 100}, {native.alivebytes, count.streams})
  end)

  -- Lines that contradict the rest of the file and that no writer makes: other numbers, other states, runs
  -- longer than the list of samples.
  it("are not believed where the file contradicts itself", function()
    local p = assert(gen.open{path = paths[1], states = true, period = 100, followed = 10})
    for id = 0, 2 do
      p:start(id)
      p:name(8, "f", 1, "@a.lua")
      p:sample{8, 1, kind = kind}
      p:sample{8, 2}
      p:collection{fates = "11", major = true}
      -- state number 'id' leaves 'id' live native blocks, so that state 0 leaves none
      p:leave(100, 0, id)
    end
    for _, one in ipairs{{0, 0, 1}, {1, 5, 5}, {1, 4294967295, 4294967295, 1, 1}, {7, 0, 1}, {2, 0, 9}} do
      p:of(table.remove(one, 1))
      p:orphans(0, one)
    end
    p:start(9)
    p:close()
    local native, profile = ofnative(paths[1])
    assert.same({100, 5}, {native.alivebytes, profile.later})
  end)
end)

-- ==}

-- {== a host ================================================================

-- ASan's malloc must be the first one in the process, so that the profiler's library cannot be used
if os.getenv "ASAMP_VARIANT" == "asan" then return end

describe("a host whose states leave native memory", function()
  local LIBRARY = package.searchpath("profiler.malloc", package.cpath)
  local prefix = process.interpreter():match "^(.*)/bin/[^/]+$"
  local folder, host

  setup(function()
    folder = shell.folder()
    host = folder .. "/host"
    shell.output("gcc -g -I%s/include/lua5.4 spec/support/hosts/orphans.c -o %s -L%s/lib " ..
        "-l:liblua5.4.so.0 -Wl,-rpath,%s/lib", prefix, host, prefix, prefix)
    shell.write(folder .. "/s.lua", [[
for i = 1, 20 do
  leak(1000)
  local t = {}
  for k = 1, 20 do t[k] = {} end
end
collectgarbage()
]])
  end)

  local function run(wish, more, n, script)
    os.execute("rm -f " .. folder .. "/p*")
    local code, out, err = process.run{program = host, n or 400, script or "s.lua", more, directory = folder,
      env = {ASAMP = "native=0,quiet,seed=7," .. wish, LUA_PATH = "", LUA_CPATH = "",
             LD_PRELOAD = LIBRARY, ASAMP_MALLOC = "512,5"}}
    assert.same({0, ""}, {code, err})
    return tonumber(out)
  end

  -- Checks an estimated sum: its error may be 4 standard errors of 'exact', plus 100,000 bytes that the C
  -- library requests.
  local function near(exact, sum)
    local error = 4 * math.sqrt(exact * 512) + 100000
    assert.is_true(math.abs(sum - exact) <= error, ("%d, not %d"):format(sum, exact))
  end

  it("has in its profile the memory that is not freed, by allocating line, and nothing else", function()
    local kept = run "alloc=16K,malloc=512,out=p"
    assert.is_true(kept >= 4000000 and kept < 4100000, kept)
    local native, profile = ofnative(folder .. "/p")
    near(kept, native.alivebytes)
    assert.equal(0, profile.lost)
    for _, row in ipairs(totals.of(profile).lines) do
      if row.line == 2 then
        near(kept, row.self.alivebytes)
        near(8000000, row.self.survivedbytes)
      end
    end
  end)

  it("has it in its pictures of resident memory, by allocating line, until it is freed", function()
    run "alloc=16K,malloc=512,out=p"
    for _, row in ipairs(resident.ofprofile(assert(reader.read(folder .. "/p"))).last.rows) do
      if row.what == "native" then
        local part = row.parts[1]
        assert.matches("s%.lua:2$", part.where)
        assert.is_true(part.bytes > 0.7 * row.bytes and part.bytes < 1.2 * row.bytes,
                       part.bytes .. " of " .. row.bytes)
        return
      end
    end
    error "no row of native memory"
  end)

  -- A former bug: in a measurement of resident memory (a "picture"), each line after the 256th had its own
  -- row, without the line's name.
  it("has one row in a picture for the memory of all lines beyond 256", function()
    shell.write(folder .. "/many.lua", ("leak(3000)\n"):rep(700), "collectgarbage()")
    run("alloc=16K,malloc=512,out=p", nil, 4, "many.lua")
    local most, others = 0, 0
    for _, picture in ipairs(assert(reader.read(folder .. "/p")).pictures) do
      local n, unnamed = 0, 0
      for _, row in ipairs(picture.rows) do
        n = n + (row.what == "alloc" and 1 or 0)
        unnamed = unnamed + (row.what == "alloc" and row.text == "" and 1 or 0)
      end
      most, others = math.max(most, n), math.max(others, unnamed)
    end
    assert.same({true, 1}, {most >= 256, others})
  end)

  it("has the same from a flight recorder", function()
    local kept = run("alloc=16K,malloc=512,ring=128K,out=p", nil, 1500)
    local native, profile = ofnative(folder .. "/p")
    near(kept, native.alivebytes)
    assert.is_true(profile.ring.samples > 0, profile.ring.samples)
  end)

  it("has in a child of a fork the memory that the child leaves", function()
    run("alloc=16K,malloc=512,out=p%p", "fork")
    local sums = {}
    for path in shell.output("ls %s/p*", folder):gmatch "[^\n]+" do
      sums[#sums + 1] = ofnative(path).alivebytes
    end
    table.sort(sums)
    assert.equal(2, #sums)
    near(2000000, sums[1])
    -- the parent process has freed a fourth of its 4 MB
    near(3000000, sums[2])
  end)
end)

-- ==}
