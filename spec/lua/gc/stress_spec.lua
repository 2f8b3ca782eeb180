-- SPDX-License-Identifier: MIT
--
-- Programs under the stress switches of the debug build (LUAN_STRESS of lua/gc/alloc/stress.h): collections
-- at every safepoint, nurseries of a few lines, major collections that never end, full collections at every
-- allocation, verification of the heap. The output of a program must not depend on them. Other builds lack
-- these switches.

local process = require "spec.support.process"
local shell = require "spec.support.shell"

if os.getenv "ASAMP_VARIANT" ~= "debug" then return end

local SWITCHES = {"nursery=1", "nursery=256", "nursery=64,major", "major",
  "emergency=1,verify=20", "nursery=64,major,emergency=3,verify=20",
  "nursery=2048,remember=4,verify=20"}

-- Each program prints lines that are the same in every run. The last line is "end".
local PROGRAMS = {
  {"tables, strings and closures", [==[
    local t, n = {}, 0
    for i = 1, 150 do
      t[i] = {key = "k" .. i, f = function() n = n + i; return n end, [i] = {i}}
      t["name" .. i % 40] = t[i]
      if i % 3 == 0 then t[i - 1] = nil end
    end
    local sum = 0
    for k, v in pairs(t) do sum = sum + #tostring(k) + v.f() % 7 end
    print(n)
    for i = 1, 150 do if t[i] then assert(t[i].key == "k" .. i and t[i][i][1] == i) end end
    print(table.concat({("x"):rep(30), ("%d,%s"):format(5, "six"), ("abc"):gsub("%w", "%0%0")}, " "))]==]},

  {"coroutines", [==[
    local function gen(n)
      return coroutine.wrap(function()
        local held = {}
        for i = 1, n do held[i] = {i}; coroutine.yield(held[i]) end
        for i = 1, n do assert(held[i][1] == i) end
      end)
    end
    local sum, all = 0, {}
    for i = 1, 20 do all[i] = gen(i) end
    for _ = 1, 5 do
      for i = 5, 20 do sum = sum + all[i]()[1] end
    end
    print(sum)
    local co = coroutine.create(function() local x <close> = setmetatable({}, {__close = function()
      print "closed" end}); coroutine.yield() end)
    coroutine.resume(co)
    print(coroutine.close(co))]==]},

  {"errors and deep calls", [==[
    local function down(n) local t = {n}; if n > 0 then down(n - 1) end; return t[1] end
    print(down(60))
    for i = 1, 10 do
      local ok, e = pcall(function() local t = {}; error({i, t}) end)
      assert(not ok and e[1] == i)
    end
    print(select(2, pcall(error, "text")))
    local function forever() return 1 + forever() end
    if not os.getenv("LUAN_STRESS") or os.getenv("LUAN_STRESS") == "major" then
      assert(not pcall(forever))
    end
    print(select("#", table.unpack({}, 1, 100)))]==]},

  {"finalizers and weak tables", [==[
    local done = 0
    local cache = setmetatable({}, {__mode = "v"})
    local info = setmetatable({}, {__mode = "k"})
    local kept = {}
    for i = 1, 60 do
      local o = setmetatable({i}, {__gc = function() done = done + 1 end})
      cache[i], info[o] = o, {o, i}
      if i % 4 == 0 then kept[#kept + 1] = o end
    end
    for _, o in ipairs(kept) do assert(cache[o[1]] == o and info[o][2] == o[1]) end
    kept = nil
    collectgarbage() collectgarbage()
    print(done, next(cache), next(info))]==]},

  {"source that is compiled and dumped", [==[
    local lines = {}
    for i = 1, 25 do
      lines[i] = ("local function f%d(a) return function() return a + %d end end"):format(i, i)
    end
    lines[26] = "return f25(1)()"
    local f = assert(load(table.concat(lines, "\n")))
    print(f(), load(string.dump(f))(), load("x = = 1"))]==]},

  {"sorting and patterns", [==[
    local t = {}
    for i = 1, 80 do t[i] = {(i * 37) % 101} end
    table.sort(t, function(a, b) return a[1] < b[1] end)
    for i = 2, 80 do assert(t[i - 1][1] <= t[i][1]) end
    local words = {}
    for w in ("the quick brown fox jumps over the lazy dog"):gmatch "%a+" do words[#words + 1] = w end
    print(#words, table.concat(words, "-"), ("hello world"):gsub("o", {o = "0"}))]==]},

  {"upvalues, metatables and big tables", [==[
    local big = {}
    for i = 1, 600 do big[i] = i % 50 == 0 and {i} or i end
    for i = 50, 600, 50 do big[i] = {big[i]}; assert(big[i][1][1] == i) end
    local a, b = {}, {}
    local function get() return a, b end
    for i = 1, 50 do a, b = {i, b[1]}, {i}; assert(get()[1] == i) end
    local class = {__index = function(_, k) return {k} end, __add = function(x, y) return {x, y} end}
    local o = setmetatable({}, class)
    for i = 1, 20 do assert(o[i][1] == i and (o + i)[2] == i) end
    print(#big, a[1], b[1])]==]},
}

local function run(text, stress)
  local status, out, errors = process.run {code = text .. "\nprint 'end'\n", env = {LUAN_STRESS = stress}}
  return status, out, errors
end

describe("a program under stress", function()
  for _, p in ipairs(PROGRAMS) do
    it("prints the same as without: " .. p[1], function()
      local status, want, errors = run(p[2], "")
      assert.equal(0, status, errors)
      assert.equal("end\n", want:sub(-4))
      for _, switches in ipairs(SWITCHES) do
        local code, out, err = run(p[2], switches)
        assert.same({0, want, ""}, {code, out, err}, switches)
      end
    end)
  end

  it("is really collected as often as the switch says", function()
    local COUNT = [[
      local s = collectgarbage("statistics")
      for i = 1, 500 do local t = {i} end
      local t = collectgarbage("statistics")
      io.write(t.minors - s.minors, " ", t.majors - s.majors, " ")]]
    local function counts(stress)
      local _, out = run(COUNT, stress)
      local minors, majors = out:match "(%d+) (%d+)"
      return tonumber(minors), tonumber(majors)
    end
    local none, nomajor = counts ""
    assert.is_true(none <= 2 and nomajor == 0)
    assert.is_true(counts "nursery=1" >= 500)
    assert.is_true(counts "nursery=256" >= 50)
    assert.is_true(select(2, counts "nursery=64,major") > 5)
    assert.is_true(select(2, counts "emergency=1,verify=100") >= 500)
    local majors = select(2, counts "emergency=5,verify=100")
    assert.is_true(100 <= majors and majors <= 120, majors)
  end)

  -- lua_getinfo removes the function from the stack, and then creates the table of its lines, when the
  -- function may have no other reference. Upstream has this bug, too.
  it("returns the lines of a function that nothing else holds", function()
    local text = [[
      local s = require "states".open()
      print(s:run(function(state)
        local n, sum = 0, 0
        for line in pairs(state.lines(("x = {}\n"):rep(200) .. "y = 1")) do n = n + 1; sum = sum + line end
        return n, sum
      end))
      print(s:close())]]
    local want = {0, "ok\t201\t20301\n0\nend\n", ""}
    assert.same(want, {run(text, "")})
    assert.same(want, {run(text, "emergency=1,verify=50")})
  end)

  -- A former bug: if ASAMP made the library run Lua while the library was loaded, a collection called the
  -- verifier before it was set.
  it("collects in a process that the environment profiles", function()
    local status, out = process.run{env = {ASAMP = "alloc=0,listen=x.sock"}, directory = shell.folder(),
      code = "for _ = 1, 1e4 do local _ = {} end print 'fine'"}
    assert.same({0, "fine\n"}, {status, out})
  end)

  -- A former bug: an overdue collection ran in the middle of a table's growth.
  it("resizes weak tables of every kind, by raw stores, too", function()
    local text = [[
      for _, mode in ipairs {"k", "v", "kv"} do
        local w, kept = setmetatable({}, {__mode = mode}), {}
        for i = 1, 40 do w[i] = kept; w[kept] = i end
        for i = 9, 40 do rawset(w, i, nil) end
        for i = 20, 30 do local v = {}; v[1] = i; rawset(w, i, v) end
        for i = 1, 20 do rawset(w, "key" .. i, i) end
        for i = 20, 30 do
          local v = rawget(w, i)
          if v ~= nil or mode == "k" then assert(v[1] == i) end
        end
        for i = 1, 8 do assert(w[i] == kept) end
        for i = 1, 20 do assert(w["key" .. i] == i) end
        assert(w[kept] == 40)
      end]]
    assert.same({0, "end\n", ""}, {run(text, "emergency=1,verify=1")})
  end)
end)
