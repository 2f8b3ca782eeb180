-- SPDX-License-Identifier: MIT
-- profiler.limit, which runs a function with a limit on the bytes that it allocates or has in use. It is
-- meant for untrusted code.

-- luacheck: ignore 211 241
local fewer = require "spec.support.fewer"
local process = require "spec.support.process"
local profiler = require "profiler"
local states = require "states"

local limit = profiler.limit

-- Functions that allocate without end. Functions that catch errors return after the 50th error.
local HOSTILE = {
  function() return ("x"):rep(1 << 30) end,
  function() local s = "x" while true do s = s .. s end end,
  function() local s = "" while true do s = s .. "x" end end,
  function() local t = {} while true do t[#t + 1] = {} end end,
  function() local t, i = {}, 0 while true do i = i + 1 t[i] = i end end,
  function() local t, i = {}, 0 while true do i = i + 1 t["k" .. i] = i end end,
  function() local t, i = {}, 0.5 while true do i = i + 1 t[i] = true end end,
  function() while true do local _ = {1, 2, 3, a = 4} end end,
  function() local all while true do all = function() return all end end end,
  function() while true do coroutine.wrap(function() coroutine.yield({}) end)() end end,
  function() local all = {} while true do all[#all + 1] = coroutine.create(print) end end,
  function() local function f(n) return coroutine.wrap(function() return f(n + 1) end)() end return f(0) end,
  function() local function f(n) return 1 + f(n + 1) end return f(0) + f(0) end,
  function() local function f(...) return f(1, 2, 3, ...) end return f() end,
  function() while true do local _ = ("%99d"):format(1) .. ("%q"):format(("\n"):rep(100)) end end,
  function() while true do local _ = ("abc"):gsub(".", function(c) return c .. c:rep(100) end) end end,
  function() while true do local _ = ("a,b,c"):rep(10):gsub(",", {[","] = ("y"):rep(100)}) end end,
  function()
    local t = {}
    for i = 1, 30 do t[i] = -i end
    while true do table.sort(t, function(a, b) return ({a})[1] < ({b})[1] end) end
  end,
  function()
    local t = setmetatable({}, {__index = function(_, k) return {k} end, __concat = function() return {} end,
                                __newindex = function(t, k) rawset(t, k, {k}) end})
    local i = 0
    while true do i = i + 1 t[i] = t[i] .. t end
  end,
  function() while true do setmetatable({}, {__gc = function() local _ = {("z"):rep(100)} end}) end end,
  function()
    while true do
      local _ <close> = setmetatable({}, {__close = function() for i = 1, 20 do local _ = {i} end end})
    end
  end,
  function() while true do assert(load("return {" .. ("1,"):rep(200) .. "}"))() end end,
  function() while true do load("local x = " .. ("("):rep(50) .. "1") end end,
  function() local t = {} while true do t[#t + 1] = "abcdef" local _ = table.concat(t, "-") end end,
  function() while true do local _ = {table.unpack({}, 1, 10)} end end,
  function() while true do local _ = string.pack("z", ("p"):rep(200)) end end,
  function() while true do local _ = ("x"):rep(200):upper():byte(1, 5) end end,
  function() local t = setmetatable({}, {__mode = "k"}) while true do t[{}] = {} end end,
  function() while true do local _ = utf8.char(0x20AC, 0x20AC):rep(50):reverse() end end,
  function() while true do pcall(error, {}) end end,
  function() local e repeat local ok, m = pcall(error, {e}) e = m until ok end,
  function()
    for n = 1, 50 do
      repeat until not pcall(function() local t = {} for i = 1, 1e9 do t[i] = {n} end end)
    end
  end,
  function()
    local n = 0
    while n < 50 do
      if not xpcall(function() local s = "" while true do s = s .. "swallow" end end,
                    function(m) return {debug.traceback(m)} end) then
        n = n + 1
      end
    end
    local _ = {}
    error "nothing was refused in the end"
  end,
  function()
    local n = 0
    while n < 50 do
      local co = coroutine.create(function() local t = {} while true do t = {t} end end)
      local ok, m = coroutine.resume(co)
      if not ok or m then n = n + 1 end
    end
    local _ = {}
    error "nothing was refused in the end"
  end,
  function()
    for _ = 1, 50 do
      pcall(function()
        local _ <close> = setmetatable({}, {__close = function() local t = {} while true do t = {t} end end})
        local s = "" while true do s = s .. "close" end
      end)
    end
    local _ = {}
    error "nothing was refused in the end"
  end,
  function()
    local function allocate() return {{}} end
    while true do setmetatable({}, {__gc = function() coroutine.wrap(allocate)() end}) end
  end,
  function()
    local t = setmetatable({}, {__add = function() return {} end, __call = function() return {} end,
                                __len = function() return {} end, __lt = function() return {} end,
                                __unm = function() return {} end, __close = function() return {} end})
    while true do
      local u <close> = t
      local _ = {u + u, u(), #u, u < t, -u}
    end
  end,
  function() local s = "" while true do s = ("x"):rep(#s + 100, s) end end,
  function()
    local s = ("x"):rep(500)
    local mt = {__index = function() return s end, __len = function() return 1 << 30 end}
    return table.concat(setmetatable({}, mt))
  end,
  function()
    local t = setmetatable({}, {__tostring = function() return ("t"):rep(300) end})
    while true do local _ = ("%s%99s"):format(t, "x") end
  end,
  function() local s = "ab" while true do s = s:gsub(".", "%0%0") end end,
  function() while true do load(function() return "local x = 1 " end) end end,
  function()
    local code = string.dump(function() local a = {1} return function() return a end end)
    while true do load(code, "d", "b")() end
  end,
  function() while true do string.dump(load("return " .. ("{1}, "):rep(20) .. "1")) end end,
  function()
    while true do
      pcall(error, setmetatable({}, {__tostring = function() return ("e"):rep(500) end}))
    end
  end,
  function()
    while true do
      xpcall(error, function(m) local t = {} for i = 1, 100 do t[i] = {m} end return error(t) end, "x")
    end
  end,
  function()
    -- the hook is set in a coroutine of its own; a hook of the main coroutine would run after the limit has
    -- ended
    coroutine.wrap(function()
      debug.sethook(function() local _ = {} end, "crl")
      while true do string.len "x" end
    end)()
  end,
  function()
    local co = coroutine.create(function() while true do coroutine.yield() end end)
    debug.sethook(co, function() local _ = {{}} end, "l")
    while true do assert(coroutine.resume(co)) end
  end,
  function()
    package.preload.hostile = function() return {{}, {}} end
    while true do package.loaded.hostile = nil require "hostile" end
  end,
  function() while true do local _ = {pcall(require, "no.such.module")} end end,
  function() local t = {1, 2, 3} while true do table.move(t, 1, #t, #t + 1) end end,
  function()
    local t = setmetatable({}, {__index = function(_, k) return {k} end})
    while true do table.move(t, 1, 100, 1, {}) end
  end,
  function()
    while true do
      for _, c in utf8.codes(("\u{20AC}"):rep(20)) do local _ = utf8.char(c, c, c, c, c, c, c, c) end
    end
  end,
  function() while true do local _ = string.pack("!16 s4 Xi16 c500", ("p"):rep(200), "x") end end,
  function()
    while true do local _ = {pcall(table.sort, {3, 2, 1, 5, 4}, function(a) return {a} end)} end
  end,
  function()
    while true do
      local f <close> = assert(io.open("/proc/self/exe", "rb"))
      local _ = {f:read(1 << 20), f:read "a"}
    end
  end,
  function() while true do local _ = {debug.traceback "x", debug.getinfo(1), os.date "*t"} end end,
  function()
    while true do
      local co = coroutine.create(function()
        local _ <close> = setmetatable({}, {__close = function() return {{}, {}, {}} end})
        coroutine.yield()
      end)
      coroutine.resume(co)
      coroutine.close(co)
    end
  end,
  function()
    while true do pcall(limit, 1 << 40, function() local t = {} while true do t = {t} end end) end
  end,
  function()
    collectgarbage "stop"
    local _, m = pcall(function() while true do local _ = {} end end)
    collectgarbage "restart"
    error(m)
  end,
}


local function allocated() return collectgarbage "statistics".allocated end

describe("a limit", function()
  it("lets a call return all its results", function()
    assert.same({1, nil, 3, n = 3}, table.pack(limit(10000, function(...) return ... end, 1, nil, 3)))
    assert.same({n = 0}, table.pack(limit(0, function() end)))
  end)

  it("ends 1,000 hostile programs at its bytes, and leaves the state whole", function()
    local own = allocated()
    own = allocated() - own
    local programs = 0
    for round = 1, fewer(17, 3) do
      for i, program in ipairs(HOSTILE) do
        local bytes = 100 * round * round + 1000 + 37 * i
        local before = allocated()
        local ok, message = pcall(limit, bytes, program)
        -- prevents finalizers from running after the call, where their allocations would count in 'used'
        collectgarbage "stop"
        local used = allocated() - before - own
        collectgarbage "restart"
        -- the pattern ends with $ only, because assert and coroutine.wrap add a position before the
        -- message
        if ok or not tostring(message):find(("allocation limit of %d bytes exceeded$"):format(bytes)) then
          error(("program %d with %d bytes: %s, %s"):format(i, bytes, ok, message))
        end
        -- 400 bytes are allocated by pcall and profiler.limit: two messages and a record
        if used > bytes + 400 then
          error(("program %d with %d bytes allocated %d"):format(i, bytes, used))
        end
        programs = programs + 1
      end
      collectgarbage()
    end
    assert.is_true(programs >= fewer(1000, 150), programs)
  end)

  -- Each level of nested gsub calls has its own buffer. A former bug: the limit applied only to the size of
  -- a single buffer.
  it("is also one of all buffers of C functions together", function()
    local text, depth, most = ("x"):rep(100000), 0, 0
    local function nest(inner)
      depth = depth + 1
      most = math.max(most, depth)
      local _ = ("ab"):gsub(".", function(c) if c == "a" then return text end inner() end)
      depth = depth - 1
    end
    local function deep() nest(deep) end
    -- three times, because buffers of a call that ended by an error must not count for the next call
    for _ = 1, 3 do
      depth, most = 0, 0
      assert.same({false, "allocation limit of 1000000 bytes exceeded"}, {pcall(limit, 1000000, deep)})
      assert.is_true(most >= 4 and most <= 11, most)
    end
    local alive = math.floor(collectgarbage "count" * 1024) + 1000000
    depth, most = 0, 0
    assert.same({false, ("limit of %d live bytes exceeded"):format(alive)},
                {pcall(limit, {alive = alive}, deep)})
    assert.is_true(most >= 4 and most <= alive // 100000 + 1, most)
    -- Buffers that exist before the call do not count for its limit. The bytes of a call with its own limit
    -- inside this one are counted once.
    depth, most = 0, 0
    nest(function() limit(400000, nest, function() end) end)
    local function within() nest(function() limit(800000, within) end) end
    depth, most = 0, 0
    assert.is_false((pcall(limit, 1000000, within)))
    assert.is_true(most >= 4 and most <= 11, most)
  end)

  it("is the smaller one where limits nest", function()
    local function fill() local t = {} for i = 1, 1e6 do t[i] = {} end end
    local function inner(bytes) return pcall(limit, bytes, fill) end
    assert.same({true, false, "allocation limit of 10000 bytes exceeded"},
                {pcall(limit, 100000, inner, 10000)})
    assert.same({true, false, "allocation limit of 20000 bytes exceeded"},
                {pcall(limit, 20000, inner, 100000)})
    assert.same({false, "allocation limit of 20000 bytes exceeded"},
                {pcall(limit, 20000, limit, 100000, fill)})
    -- bytes that count for the limit of an inner call count for the outer limit, too
    assert.same({false, "allocation limit of 50000 bytes exceeded"}, {pcall(limit, 50000, function()
      for _ = 1, 10 do inner(20000) end
      fill()
    end)})
  end)

  it("counts the bytes of coroutines that the call resumes", function()
    local co = coroutine.wrap(function() while true do local _ = {} coroutine.yield() end end)
    local ok, message = pcall(limit, 10000, function() while true do co() end end)
    assert.same({false, "allocation limit of 10000 bytes exceeded"}, {ok, message})
    co = coroutine.create(function() coroutine.yield() end)
    ok, message = limit(10000, coroutine.resume, co)
    assert.is_true(ok, message)
    assert.equal("suspended", coroutine.status(co))
    -- a call with a limit cannot yield, because other coroutines would allocate under its limit
    local wrapped = coroutine.wrap(function() return pcall(limit, 10000, coroutine.yield) end)
    assert.same({false, "attempt to yield across a C-call boundary"}, {wrapped()})
  end)

  it("passes errors of the call through", function()
    local value = {}
    local ok, e = pcall(limit, 10000, error, value)
    assert.is_false(ok)
    assert.equal(value, e)
    local _ = ("x"):rep(100000)  -- the limit of the ended call must not apply to this allocation
  end)

  -- A former bug: an error in a dead coroutine, which has no error handler, jumped to a handler of the main
  -- thread, past the call with the limit. The limit stayed in force, although its memory was freed.
  it("is removed when an error jumps past the call", function()
    local status, out, err = process.run{code = [[
      local profiler = require "profiler"
      for bytes = 1500, 4000, 16 do
        pcall(coroutine.wrap(function()
          profiler.limit(bytes, function()
            local dead = coroutine.create(function() end)
            coroutine.resume(dead)
            pcall(function() while true do local _ = {} end end)
            coroutine.resume(dead)
          end)
        end))
        collectgarbage()
        for i = 1, 2000 do local _ = {i} end
      end
      print "fine"]]}
    assert.same({0, "fine\n", ""}, {status, out, err})
  end)

  it("has its message after __close handlers that allocate", function()
    local ok, message = pcall(limit, 20000, function()
      local _ <close> = setmetatable({}, {__close = function() local _ = ("y"):rep(9000) end})
      return ("x"):rep(1 << 30)
    end)
    assert.same({false, "allocation limit of 20000 bytes exceeded"}, {ok, message})
  end)

  it("of bytes alive lets garbage go", function()
    collectgarbage()
    local bytes = math.floor(collectgarbage "count" * 1024) + 300000
    local function garbage() for i = 1, 100000 do local _ = {i} end return "fine" end
    assert.equal("fine", limit({alive = bytes}, garbage))
    local ok, message = pcall(limit, {alive = bytes}, function()
      local t = {}
      for i = 1, 100000 do t[i] = {i} end
    end)
    assert.same({false, ("limit of %d live bytes exceeded"):format(bytes)}, {ok, message})
    -- when a stack grows, the collector runs, too
    local function deep(n) return n > 0 and 1 + deep(n - 1) or 0 end
    assert.equal(1000, limit({alive = bytes + 300000}, function()
      for i = 1, 4000 do local _ = {i, i, i} end
      return deep(1000)
    end))
    ok, message = pcall(limit, {alive = bytes, allocated = 50000}, garbage)
    assert.same({false, "allocation limit of 50000 bytes exceeded"}, {ok, message})
  end)

  it("refuses bad arguments", function()
    local function says(pattern, ...)
      local ok, message = pcall(limit, ...)
      assert.is_false(ok)
      assert.matches(pattern, message)
    end
    says("a limit must be at least 0 bytes, got %-1", -1, print)
    says("a limit must be a whole number of bytes, or a table {.*}, got 64K", "64K", print)
    says("a limit must be a whole number of bytes, or a table {.*}, got 1.5", 1.5, print)
    says("a limit must be a whole number of bytes, or a table {.*}, got nil", nil, print)
    says("a limit must be a whole number of bytes, or a table {.*}, got x", {alive = "x"}, print)
    says("a table of limits must have the field 'allocated' or 'alive'", {alive = nil}, print)
    says('unknown limit "1" %(known: alive, allocated%)', {1}, print)
    says('unknown limit "alife" %(known: alive, allocated%)', {alife = 1}, print)
    says("function expected, got no value", 1000)
  end)

  -- While emergency collections are stopped, a refused request is not repeated after a collection. If
  -- lua_Alloc then refuses to enlarge a stack, the error message must not name the limit of profiler.limit.
  it("is not named where lua_Alloc has refused a later allocation that is not repeated", function()
    local s <close> = states.open()
    local status, before, after = s:run(function(state, path, cpath)
      package.path, package.cpath = path, cpath
      local within = require "profiler".limit
      local function deep(n) return 1 + deep(n + 1) end
      return within({alive = 400000}, function()
        local _, before = pcall(function() local t = {} while true do t = {t} end end)
        -- removes garbage, which would make the limit refuse a larger stack
        collectgarbage()
        state.failall(0)
        local _, after = pcall(deep, 1)
        state.failall()
        return before, after
      end)
    end, package.path, package.cpath)
    assert.same({"ok", "limit of 400000 live bytes exceeded", "not enough memory"}, {status, before, after})
    assert.is_nil(s:check())
  end)

  it("is gone when its state is closed within the call", function()
    local s, opened = states.open()
    assert.equal("ok", opened)
    s:close()
    local status = os.execute(("'%s' -e '%s'"):format(arg[-1] or "lua", [[
      local p = require "profiler"
      setmetatable({}, {__gc = function() for i = 1, 1e4 do local _ = {i} end print "closed" end})
      p.limit(5000, function() os.exit(true, true) end)]]))
    assert.is_true(status)
  end)
end)
