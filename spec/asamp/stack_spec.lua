-- SPDX-License-Identifier: MIT
-- The frames of an allocation sample: Lua and native frames in their order, across coroutines, C functions,
-- hooks and finalizers; deep stacks; names and sources of functions.

local natives = require "natives"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local samples = require "spec.support.samples"

-- Size in bytes of the userdata that each case allocates, which identifies its sample; no other userdata
-- has this size.
local SIZE = 1000
local HEAD = "local natives, N = ... local function mark() natives.userdata(1000) end "

local function ismark(s)
  return s.kind == "userdata" and s.size == SIZE + 32
end

-- Returns the frames of the tested chunk and of the module natives as text, leaf first, such as "mark:1 f:2
-- native_call main chunk:3". Other frames are left out.
local function text(s, entries)
  local list = {}
  for _, f in ipairs(s.stack) do
    if f.native then
      if f.name:find "^native_" and f.name ~= "native_userdata" or f.name == "(tail call)" then
        list[#list + 1] = f.name
      end
    elseif f.file == "stack" then
      list[#list + 1] = f.name .. ":" .. f.line
      if f.name == "main chunk" then break end
    elseif not entries then
      list[#list + 1] = f.file
    end
  end
  return table.concat(list, " ")
end

-- Runs the chunk and returns the stacks of all userdata that its function 'mark' allocates, as text, in
-- order.
local function stacks(source, native)
  local chunk = assert(load(HEAD .. source, "@stack"))
  local list = {}
  for _, s in ipairs(samples.of(function() chunk(natives, SIZE) end, {native = native})) do
    if ismark(s) then list[#list + 1] = text(s) end
  end
  return list
end

-- Compares the stacks of the chunk with the expected ones, with and without walks of the C stack. Without
-- them, the functions in INNER, which Lua does not call directly, have no frame.
local INNER = {"native_call", "native_resumed", "native_deep", "native_hook"}

local function check(source, ...)
  local expected = {...}
  assert.same(expected, stacks(source, true))
  for i, t in ipairs(expected) do
    for _, name in ipairs(INNER) do
      t = t:gsub("%f[%w_]" .. name .. "%f[^%w_] ?", "")
    end
    expected[i] = t
  end
  assert.same(expected, stacks(source, false))
end

describe("a sample's stack", function()
  it("has C functions between Lua functions, static ones too", function()
    check([[

local function f() mark() end
local function g()
  natives.through(f)
end
natives.through(g)]],
      "mark:1 f:2 native_call native_through g:4 native_call native_through main chunk:6")
  end)

  -- A former bug: a walk of the C stack stops at a limit of frames. Its incomplete stack was used as the
  -- unchanged outer part of the next stack.
  it("shows the inner part of a C stack that is deeper than the limit of a walk", function()
    local list = stacks([[
local function f()
  for _ = 1, 20 do mark() mark() end
end
natives.deep(6000, f)
natives.deep(5, f)
natives.deep(6000, f)]], true)
    assert.equal(3 * 40, #list)
    for i, t in ipairs(list) do
      local n = select(2, t:gsub("native_deep", ""))
      if 40 < i and i <= 80 then
        assert.equal(5, n)
        assert.is_truthy(t:find(" main chunk:5$"), t)
      else assert.is_true(n > 500, n) end
      assert.is_truthy(t:find("^mark:1 f:2"), t:sub(1, 80))
    end
  end)

  it("goes on through a deep C stack", function()
    check([[

local function f() mark() end
natives.deep(5, f)]],
      "mark:1 f:2 native_deep native_deep native_deep native_deep native_deep main chunk:3")
  end)

  it("continues from a coroutine to its resumer, and to the resumer of that", function()
    check([[

local function inner()
  mark()
  coroutine.yield()
  mark()
end
local function outer()
  local co = coroutine.wrap(inner)
  co()
  mark()
  coroutine.yield()
  co()
end
local co = coroutine.create(outer)
coroutine.resume(co)
mark()
coroutine.resume(co)]],
      "mark:1 inner:3 outer:9 main chunk:15",
      "mark:1 outer:10 main chunk:15",
      "mark:1 main chunk:16",
      "mark:1 inner:5 outer:12 main chunk:17")
  end)

  it("follows a coroutine that is resumed from elsewhere", function()
    check([[

local co = coroutine.wrap(function()
  while true do
    mark()
    coroutine.yield()
  end
end)
local function first() co() end
local function second()
  coroutine.wrap(function()
    co()
  end)()
end
first()
second()]],
      "mark:1 anonymous:4 first:8 main chunk:14",
      "mark:1 anonymous:4 anonymous:11 second:12 main chunk:15")
  end)

  it("is right when C resumes", function()
    check([[

local co = coroutine.create(function()
  mark()
  coroutine.yield()
  natives.through(mark)
end)
natives.resume(co)
natives.through(natives.resume, co)]],
      "mark:1 anonymous:3 native_resume main chunk:7",
      "mark:1 native_call native_through anonymous:5 native_resume native_call native_through main chunk:8")
  end)

  -- A former bug: the body of a coroutine was a C function that resumes another coroutine. The frames of
  -- the first coroutine were attributed to the second, so that the frames outside of it were at the wrong
  -- position.
  it("is right in a coroutine of C functions that resumes another", function()
    local function inner()
      local t = {}
      for i = 1, 5 do t[i] = {i} end
      coroutine.yield(t)
    end
    local function outer()
      local co = coroutine.wrap(pcall)
      local ok, t = co(coroutine.wrap(inner))
      return ok and t
    end
    local list = samples.of(function() return (outer()) end, {native = true})
    local here, seen = debug.getinfo(inner, "S").linedefined, 0
    for _, s in ipairs(list) do
      if s.stack[1].line == here + 2 then
        seen = seen + 1
        local line = samples.text(s.stack)
        assert.truthy(line:find(("^inner:%d auxresume luaB_auxwrap luaB_pcall auxresume luaB_auxwrap "
          .. "outer:%d anonymous:"):format(here + 2, here + 7)), line)
      end
    end
    assert.is_true(seen >= 5)
  end)

  it("is right in a resume that fails, which runs nobody", function()
    local chunk = assert(load([[
local function f(co) return coroutine.resume(co) end
local co = coroutine.create(f)
coroutine.resume(co, co)]], "@stack"))
    local list = samples.of(function()
      for _ = 1, 20 do
        chunk()
        -- frees the error message, so that the next call of chunk() allocates it again
        collectgarbage()
      end
    end, {native = true, random = true})
    local found = 0
    for _, s in ipairs(list) do
      local story = samples.text(s.stack):match "^(.-main chunk:3)"
      if s.kind == "string" and story then
        local whole = "^[%w_ ]*luaB_coresume f:1 [%w_ ]*luaB_coresume main chunk:3$"
        assert.truthy(story:find(whole), story)
        found = found + 1
      end
    end
    assert.is_true(found > 0)
  end)

  it("shows a C function that was yielded across, which the C stack forgot", function()
    check([[

local function f()
  mark()
  coroutine.yield()
  mark()
end
local co = coroutine.wrap(function()
  natives.through_callk(f)
  natives.through_pcallk(f)
  mark()
end)
for i = 1, 3 do co() end]],
      "mark:1 f:3 native_callk anonymous:8 main chunk:12",
      "mark:1 f:5 native_callk anonymous:8 main chunk:12",
      "mark:1 f:3 native_pcallk anonymous:9 main chunk:12",
      "mark:1 f:5 native_pcallk anonymous:9 main chunk:12",
      "mark:1 anonymous:10 main chunk:12")
  end)

  it("shows the continuation of a C function that yielded itself", function()
    check([[

local co = coroutine.wrap(function()
  natives.yieldk(mark)
  mark()
end)
co()
co()]],
      "mark:1 native_call native_resumed native_yieldk anonymous:3 main chunk:7",
      "mark:1 anonymous:4 main chunk:7")
  end)

  it("is whole after an error was caught, and in the message handler", function()
    check([[

local function f()
  natives.through(error, {})
end
pcall(f)
mark()
xpcall(f, function()
  mark()
end)
pcall(coroutine.wrap(f))
mark()]],
      "mark:1 main chunk:6",
      "mark:1 anonymous:8 native_call native_through f:3 main chunk:7",
      "mark:1 main chunk:11")
  end)

  it("is right in a hook", function()
    check([[

local function f()
  local x = 1
  return x
end
debug.sethook(function()
  debug.sethook()
  mark()
end, "", 1)
f()
mark()]], "mark:1 anonymous:8 main chunk:10", "mark:1 main chunk:11")
  end)

  it("has a hook's C code, also where the function that it interrupts is as before", function()
    check([[

local function f()
  mark()
  natives.hook()
  return 1
end
f()]], "mark:1 f:3 main chunk:7", "native_hook f:5 main chunk:7")
  end)

  it("is right in finalizers", function()
    check([[

do
  local x = setmetatable({}, {__gc = function() mark() end})
end
collectgarbage()
mark()]], "mark:1 __gc:3 main chunk:5", "mark:1 main chunk:6")
  end)

  it("has a mark for frames that a tail call replaced", function()
    check([[

local function f() mark() end
local function g() return f() end
local function h() natives.through(g) end
h()]], "mark:1 f:2 (tail call) native_call native_through h:4 main chunk:5")
  end)

  it("has one mark for a chain of tail calls, none where nothing was replaced", function()
    check([[

local function f() mark() mark() end
local function g() return f() end
local function h() return g() end
h()
local function k() h() return f() end
k()
f()]], "mark:1 f:2 (tail call) main chunk:5", "mark:1 f:2 (tail call) main chunk:5",
      "mark:1 f:2 (tail call) k:6 main chunk:7", "mark:1 f:2 (tail call) k:6 main chunk:7",
      "mark:1 f:2 (tail call) main chunk:7", "mark:1 f:2 (tail call) main chunk:7",
      "mark:1 f:2 main chunk:8", "mark:1 f:2 main chunk:8")
  end)

  it("has marks in coroutines, between C functions and in recursions of tail calls", function()
    check([[

local function loop(n) if n == 0 then mark() return end return loop(n - 1) end
local co = coroutine.wrap(function() return loop(5) end)
co()
natives.through(function() return natives.through(loop, 3) end)
local function a(n) mark() if n > 0 then return a(n - 1) end end
a(2)]], "mark:1 loop:2 (tail call) main chunk:4",
      "mark:1 loop:2 (tail call) native_call native_through anonymous:5 native_call " ..
      "native_through main chunk:5",
      "mark:1 a:6 main chunk:7", "mark:1 a:6 (tail call) main chunk:7",
      "mark:1 a:6 (tail call) main chunk:7")
  end)

  it("shows functions called by the core: metamethods, iterators, comparisons of sort", function()
    check([[

local t = setmetatable({}, {__index = function(t, k) mark() return k end})
local _ = t.x
for _ in function(_, i) if not i then mark() return 1 end end do
end
table.sort({2, 1}, function(a, b)
  mark()
  return a < b
end)]], "mark:1 __index:2 main chunk:3", "mark:1 anonymous:4 main chunk:4",
      "mark:1 anonymous:7 main chunk:6")
  end)
end)

describe("a stack that is being moved", function()
  -- While the stack is reallocated, all pointers into it are converted to offsets. A sample that is due
  -- then must be postponed until the stack can be walked, and taken before any other allocation.
  it("is sampled whole, at the call that made it grow", function()
    local seen = 0
    local list = samples.of(function()
      local function deep(n)
        if n == 0 then return 0 end
        return 1 + deep(n - 1)
      end
      coroutine.wrap(function() local n = deep(2000) return n end)()
    end)
    for _, s in ipairs(list) do
      if s.kind == "stack" and s.size > 1000 and s.stack[1].name == "deep" then
        seen = seen + 1
        local i = 1
        while s.stack[i].name == "deep" do i = i + 1 end
        if s.stack[i].name == "[frames cut]" then i = i + 1 end
        while s.stack[i].name == "deep" do i = i + 1 end
        assert.equal("anonymous", s.stack[i].name)
      end
    end
    -- the stack doubles at least five times, from 45 slots until 2,000 frames fit
    assert.is_true(seen >= 5)
  end)

  it("and belongs to a coroutine that does not run yet shows nobody dead", function()
    -- coroutine.resume moves its arguments to the coroutine, whose stack may grow then. At that time the
    -- coroutine that resumed it before may be dead.
    local co = coroutine.create(function()
      while true do coroutine.yield() end
    end)
    do
      local gone = coroutine.create(function()
        local function dead(n)
          if n == 0 then coroutine.resume(co) return 0 end
          return 1 + dead(n - 1)
        end
        dead(3000)
      end)
      coroutine.resume(gone)
    end
    collectgarbage()
    collectgarbage()
    local many = {}
    for i = 1, 5000 do many[i] = i end
    local list = samples.of(function() coroutine.resume(co, table.unpack(many)) end)
    local found = 0
    for _, s in ipairs(list) do
      for _, f in ipairs(s.stack) do assert.not_equal("dead", f.name) end
      if s.kind == "stack" and s.size >= 16 * 5000 then found = found + 1 end
    end
    assert.is_true(found >= 1)
  end)
end)

describe("a deep stack", function()
  -- Returns the stack of a sample in a coroutine that runs n frames of 'deep' and a C function. The C
  -- function allocates a block of many periods, so that it is always sampled.
  local function frames(n, native)
    local size = 1 << 22
    local chunk = assert(load([[
      local natives, depth, size = ...
      local function deep(n)
        if n == 1 then natives.userdata(size) return 0 end
        local m = deep(n - 1)
        return m
      end
      coroutine.wrap(deep)(depth)]], "@stack"))
    for _, s in ipairs(samples.of(function() chunk(natives, n, size) end,
                                  {native = native, period = size // 4})) do
      if s.kind == "userdata" and s.size > size then return s.stack end
    end
  end

  -- Returns the number of frames, the number of frames of 'deep', and the positions of the frames "[frames
  -- cut]".
  local function count(stack)
    local deep, cut = 0, {}
    for i, f in ipairs(stack) do
      if f.name == "[frames cut]" then cut[#cut + 1] = i end
      if f.file == "stack" and f.name ~= "main chunk" then deep = deep + 1 end
    end
    return #stack, deep, table.concat(cut, " ")
  end

  local DEPTH = 1024  -- largest number of frames in a sample

  it("of a thousand frames is whole", function()
    local others = count(frames(10, false)) - 10
    for _, n in ipairs{100, DEPTH - others - 1, DEPTH - others} do
      local all, deep, cut = count(frames(n, false))
      assert.equal(n, deep)
      assert.equal(others, all - deep)
      assert.equal("", cut)
    end
    local all, _, cut = count(frames(DEPTH - others + 1, false))
    assert.equal(DEPTH, all)
    assert.equal(tostring(DEPTH // 2 + 1), cut)
  end)

  it("of more says that frames are cut in the middle; both ends are there", function()
    for _, native in ipairs{false, true} do
      local whole = frames(10, native)
      for _, n in ipairs{2000, 5000, 150000} do
        local stack = frames(n, native)
        local all, _, cut = count(stack)
        assert.equal(DEPTH, all)
        assert.equal(tostring(DEPTH // 2 + 1), cut)
        -- checks that the frames outside of the deep function are the same as in a complete stack
        local line = 3
        for i = 1, #whole do
          local f = whole[#whole + 1 - i]
          if f.line == line and f.file == "stack" then break end
          assert.equal(f.name, stack[#stack + 1 - i].name)
          if f.file == "stack" then assert.equal(f.line, stack[#stack + 1 - i].line) end
          if f.name == "main chunk" and f.file == "stack" then line = 4 end
        end
        assert.equal("native_userdata", stack[1].name)
        assert.equal(3, stack[2].line)
        assert.equal(4, stack[3].line)
      end
    end
  end)
end)

-- A chunk with five functions. Its argument plan(d) decides which of them is called at depth d. The i-th
-- function is in line FIRST + i - 1.
local FIRST, FUNCTIONS = 4, 5
local PLANNED = "local natives, plan = ...\nlocal f = {}\n" ..
  "local function mark() natives.userdata(1000) end\n" ..
  ("f[#f + 1] = function(d) while true do local a = plan(d) if a == 0 then mark() " ..
   "elseif a < 0 then return d else f[a](d + 1) end end end\n"):rep(FUNCTIONS) .. "f[1](1)"

-- Returns a function plan(d). It lets the program reach the stack depths in the list 'points' one after the
-- other, with a sample at each and at some steps between. plan(d) returns the action at depth d: 0 takes a
-- sample, -1 returns, i calls the i-th function.
local function plan(seed, points)
  math.randomseed(seed)
  local at, target = 0, nil
  return function(d)
    if d == (target or d) then
      at = at + 1
      target = points[at] or 0
      return 0
    end
    if math.random(60) == 1 then return 0 end
    return d < target and math.random(FUNCTIONS) or -1
  end
end

-- Simulates a plan. Returns the list of functions that run at each sample, outermost first.
local function follow(step)
  local running, list = {1}, {}
  while #running > 0 do
    local a = step(#running)
    if a == 0 then list[#list + 1] = table.move(running, 1, #running, 1, {})
    elseif a < 0 then running[#running] = nil
    else running[#running + 1] = a end
  end
  return list
end

describe("a stack that is sampled again and again", function()
  local POINTS = {1500, 1300, 1700, 900, 1100, 1030, 400, 2600, 2100, 3300, 3100, 3290, 1200, 20,
                  1040, 10}
  local SEED = 7

  for _, native in ipairs{false, true} do
    local how = ("native %s, seed %d"):format(native, SEED)
    it("is right at any depth, however its top has moved, " .. how, function()
      local expected, marks, cuts = follow(plan(SEED, POINTS)), {}, 0
      for _, s in ipairs(samples.of(function()
        assert(load(PLANNED, "@stack"))(natives, plan(SEED, POINTS))
      end, {native = native, period = 1000})) do
        if ismark(s) then marks[#marks + 1] = s end
      end
      assert.equal(#expected, #marks)
      for i, s in ipairs(marks) do
        local running, inner, at = expected[i], 0, 1
        while s.stack[at].name ~= "mark" do at = at + 1 end
        while inner < #running and s.stack[at + inner + 1].name ~= "[frames cut]" do
          inner = inner + 1
          local line = FIRST - 1 + running[#running + 1 - inner]
          -- the comparison avoids most calls of assert.equal, which took most of the time
          if s.stack[at + inner].line ~= line then assert.equal(line, s.stack[at + inner].line) end
        end
        if inner < #running then
          cuts = cuts + 1
          assert.equal(1024, #s.stack)
          assert.equal(512, inner + at)
        end
      end
      assert(cuts > 50 and #marks - cuts > 50, cuts)
    end)
  end
end)

describe("functions", function()
  local function names(source, name)
    local chunk = assert(load(source, name or "@stack"))
    local found = {}
    for _, s in ipairs(samples.of(function() chunk(natives, SIZE) end)) do
      if ismark(s) then
        for i = 2, #s.stack do
          local f = s.stack[i]
          if not f.native then
            found[#found + 1] = ("%s:%d:%s"):format(f.name, f.line, f.file)
            break
          end
        end
      end
    end
    return found
  end
  local CALL = " natives.userdata(N) "

  it("are named as they are called", function()
    assert.same({"loc:2:stack", "up:3:stack", "field:5:stack", "method:6:stack",
                 "gl:7:stack", "anonymous:14:stack", "main chunk:15:stack"}, names([[
local natives, N = ...
local function loc() natives.userdata(N) end
local function up() natives.userdata(N) end
local t, _ENV = {}, {natives = natives, N = N, pcall = pcall}
function t.field() natives.userdata(N) end
function t:method() natives.userdata(N) end
function gl() natives.userdata(N) end
loc()
local function f() up() return 1 end
f()
t.field()
t:method()
gl()
pcall(function() natives.userdata(N) end)
natives.userdata(N)]]))
  end)

  it("keep the lines and names of their definition", function()
    local list = samples.of(assert(load([[
local kept = {}
local function f()
  kept[1] = {}
end
for i = 1, 100 do f() end]], "@stack")))
    for _, s in ipairs(list) do
      local f = s.stack[1]
      if f.file == "stack" and f.name == "f" then
        assert.equal(2, f.defined)
        assert.equal(3, f.line)
        return
      end
    end
    error "f was not sampled"
  end)

  it("that are stripped have line 0 and no source", function()
    local chunk = "local natives, N = ... local function f()" .. CALL .. "end f()"
    local f = load(string.dump(load(chunk, "@stack"), true))
    local seen
    for _, s in ipairs(samples.of(function() f(natives, SIZE) end)) do
      if ismark(s) then seen = s.stack end
    end
    assert.equal("anonymous:0 main chunk:0", ("%s:%d %s:%d"):format(
      seen[2].name, seen[2].line, seen[3].name, seen[3].line))
    assert.equal("[stripped]", seen[2].file)
  end)

  it("of a source that is text, or has odd bytes, have names that readers can read", function()
    local chunk = "local natives, N = ..." .. CALL
    assert.same({"main chunk:1:" .. '[string "local natives, N = ... natives.userdata(N) "]'},
                names(chunk, chunk))
    assert.same({"main chunk:1:given"}, names(chunk, "=given"))
    assert.same({"main chunk:1:dir/a;b.lua"}, names(chunk, "@dir/a:b.lua"))
    assert.same({"main chunk:1:a;b\u{FFFD}"}, names(chunk, "@a\nb\xff"))
    -- A former bug: functions of the chunk names "@" and "=" both had the source "?".
    assert.same({"main chunk:1:@"}, names(chunk, "@"))
    assert.same({"main chunk:1:="}, names(chunk, "="))
  end)
end)

describe("functions beyond a limit", function()
  -- A former bug: functions beyond a limit were counted as left out only in the first session that sampled
  -- them.
  it("are counted in each session", function()
    local path = os.tmpname()
    local status, _, err = process.run{path, code = [[
      local profiler, path = require "profiler", ...
      local chunks, n = {}, 4096 + 500
      for i = 1, n do chunks[i] = load("return {1, 2, 3, 4}", "=chunk" .. i) end
      for session, from in ipairs{1, n} do
        assert(profiler.alloc_start(64, {out = path .. session, fixed = true, native = false}))
        for i = 1, n do chunks[math.abs(from - i) + 1]() end
        assert(profiler.disable())
      end]]}
    assert.same({0, ""}, {status, err})
    for session = 1, 2 do
      local left = assert(reader.read(path .. session)).left
      os.remove(path .. session)
      assert.same({session, 1, "chunks", 500}, {session, #left, left[1].what, left[1].count})
    end
    os.remove(path)
  end)
end)

describe("native frames", function()
  it("stand below and above all Lua frames, to the start of the process", function()
    local path = os.tmpname()
    local status, _, err = process.run{load = "profiler", code = [[
local natives = require "natives"
local function f() natives.userdata(1000) end
for i = 1, 100 do natives.through(f) end
]], env = {LUA_PROFILER = "alloc=64,fixed,seed=1,quiet,out=" .. path}}
    assert.equal(0, status, err)
    local list = samples.read(path)
    local seen = 0
    for _, s in ipairs(list) do
      if ismark(s) then
        seen = seen + 1
        local at = {}
        for i, f in ipairs(s.stack) do at[f.name] = i end
        assert.equal("native_userdata", s.stack[1].name)
        assert.equal("f", s.stack[2].name)
        assert.equal(2, s.stack[2].line)
        assert.equal("native_call", s.stack[3].name)
        assert.equal("native_through", s.stack[4].name)
        assert.equal("main chunk", s.stack[5].name)
        assert.equal(3, s.stack[5].line)
        assert.is_true(at.pmain > 5 and at.main > at.pmain)
        assert.equal("_start", s.stack[#s.stack].name)
        assert.truthy(s.stack[3].file:find "natives.so$")
        for i = 6, #s.stack do assert.is_true(s.stack[i].native) end
      end
    end
    assert.is_true(seen > 90)
  end)

  -- While a script is loaded, no Lua function runs. A former bug: the C function that runs the loader was
  -- listed twice, the second time as the caller of its caller.
  it("stand once in the loading of the script", function()
    local script = process.file("local t\n" .. ("t = {'one', 'two', 'three'}\n"):rep(30000))
    for _, options in ipairs{"alloc=4K,fixed", "alloc=0,time=2000"} do
      local path, seen = os.tmpname(), 0
      local status, _, err = process.run{"-l", "profiler", script,
        env = {LUA_PROFILER = "seed=1,quiet,overwrite,out=" .. path .. "," .. options}}
      assert.equal(0, status, err)
      local list = samples.read(path)
      for _, s in ipairs(options:find "time" and list.times or list) do
        local pmains, loads = 0, false
        for i, f in ipairs(s.stack) do
          if f.name == "pmain" then pmains = pmains + 1 end
          loads = loads or f.name == "luaL_loadfilex"
          -- counts the complete stacks, because a few time samples are not walked to their end
          if f.name == "_start" and loads then
            seen = seen + 1
            assert.equal(#s.stack, i)
            assert.equal(1, pmains)
          end
        end
      end
      os.remove(path)
      assert.is_true(seen > 0, options)
    end
  end)

  it("are not walked with native = false", function()
    local list = samples.of(function() natives.through(function() natives.userdata(SIZE) end) end)
    for _, s in ipairs(list) do
      for _, f in ipairs(s.stack) do assert.not_equal("native_call", f.name) end
    end
  end)
end)
