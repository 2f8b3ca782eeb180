-- SPDX-License-Identifier: MIT
--
-- All kinds of containers that can refer to an object, for specs of barriers. The chunk runs inside a
-- tested state (spec/support/states.c), whose functions it receives. It returns a list of kinds. Each kind
-- has the fields 'name', make(), which returns a new container, set(container, k, value), which replaces
-- the contents of place number k (1 to 3), and get(container, k), which returns them.

return function(state)
  local kinds = {}

  local function kind(name, make, set, get)
    kinds[#kinds + 1] = {name = name, make = make, set = set, get = get}
  end

  local function index(t, k) return t[k] end
  local function newindex(t, k, v) t[k] = v end
  local function far(k) return k * 700 end
  local function key(k) return "key " .. k * 31 end

  kind("a small table", function() return {} end, newindex, index)

  kind("a small table, set raw", function() return {false, false, false} end, rawset, rawget)

  kind("the array of a big table", function()
    local t = state.table(3000, 0)
    for i = 1, 3000 do t[i] = i end
    return t
  end, function(t, k, v) t[far(k)] = v end, function(t, k) return t[far(k)] end)

  kind("the nodes of a big table", function()
    local t = state.table(0, 200)
    for i = 1, 200 do t["key " .. i] = i end
    return t
  end, function(t, k, v) t[key(k)] = v end, function(t, k) return t[key(k)] end)

  kind("a node that other keys push away", function()
    return {keys = {0, 0, 0}, n = 0}
  end, function(t, k, v)
    t[t.keys[k]] = nil
    t.n = t.n + 1
    t.keys[k] = "of " .. t.n
    t[t.keys[k]] = v
    -- stores under keys that collide with others, and removes them again
    for i = 1, 5 do t[t.n + i / 8] = i end
    for i = 1, 5 do t[t.n + i / 8] = nil end
  end, function(t, k) return t[t.keys[k]] end)

  kind("a node of a big table that other keys push away", function()
    local t = {keys = {0, 0, 0}, n = 0, all = state.table(0, 256)}
    for i = 1, 180 do t.all[i / 3] = i end
    return t
  end, function(t, k, v)
    t.all[t.keys[k]] = nil
    t.n = t.n + 1
    t.keys[k] = t.n + 0.5
    t.all[t.keys[k]] = v
    for i = 1, 20 do t.all[-t.n - i] = i end
    for i = 1, 20 do t.all[-t.n - i] = nil end
  end, function(t, k) return t.all[t.keys[k]] end)

  kind("keys that are objects", function() return {} end, function(t, k, v)
    for o, place in pairs(t) do
      if place == k then t[o] = nil end
    end
    t[v] = k
  end, function(t, k)
    for o, place in pairs(t) do
      if place == k then return o end
    end
  end)

  kind("a table that is resized", function() return {n = 0} end, function(t, k, v)
    t.n = t.n + 1
    t[k] = v
    if t.n % 4 == 0 then
      for i = 4, 4 + t.n * 37 % 500 do t[i] = i end
    elseif t.n % 4 == 2 then
      for i = #t, 4, -1 do t[i] = nil end
      t["x" .. t.n] = 1
      t["x" .. t.n] = nil
    end
  end, index)

  kind("a metatable", function() return {{}, {}, {}} end, function(t, k, v)
    setmetatable(t[k], v)
  end, function(t, k) return getmetatable(t[k]) end)

  kind("the metatable of a userdata", function()
    return {state.userdata(8), state.userdata(8), state.userdata(8)}
  end, function(t, k, v) debug.setmetatable(t[k], v) end,
  function(t, k) return debug.getmetatable(t[k]) end)

  kind("user values", function() return state.userdata(20, 3) end,
    function(u, k, v) debug.setuservalue(u, v, k) end,
    function(u, k) return (debug.getuservalue(u, k)) end)

  kind("upvalues that are closed", function()
    local a, b, c
    return function(store, k, v)
      if not store then return k == 1 and a or k == 2 and b or k == 3 and c
      elseif k == 1 then a = v
      elseif k == 2 then b = v
      else c = v end
    end
  end, function(f, k, v) f(true, k, v) end, function(f, k) return f(false, k) end)

  kind("upvalues that are open in another coroutine", function()
    local set, get
    local co = coroutine.create(function()
      local a, b, c
      set = function(k, v)
        if k == 1 then a = v elseif k == 2 then b = v else c = v end
      end
      get = function(k) return k == 1 and a or k == 2 and b or c end
      coroutine.yield()
    end)
    assert(coroutine.resume(co))
    return {co, set, get}
  end, function(t, k, v) t[2](k, v) end, function(t, k) return t[3](k) end)

  kind("upvalues that are joined", function()
    local a, b, c  -- luacheck: ignore 221
    return function() return a, b, c end
  end, function(f, k, v)
    debug.upvaluejoin(f, k, function() return v end, 1)
  end, function(f, k) return (select(k, f())) end)

  kind("upvalues that the debug library sets", function()
    local a, b, c  -- luacheck: ignore 221
    return function() return a, b, c end
  end, function(f, k, v) debug.setupvalue(f, k, v) end,
  function(f, k) return (select(k, f())) end)

  kind("upvalues of a C closure", function() return state.closure(3) end,
    function(f, k, v) debug.setupvalue(f, k, v) end,
    function(f, k) return (select(2, debug.getupvalue(f, k))) end)

  kind("the stack of a coroutine that is resumed", function()
    local f = coroutine.wrap(function()
      local a, b, c, result
      while true do
        local store, k, v = coroutine.yield(result)
        result = nil
        if not store then result = k == 1 and a or k == 2 and b or c
        elseif k == 1 then a = v
        elseif k == 2 then b = v
        else c = v end
      end
    end)
    f()
    return f
  end, function(f, k, v) f(true, k, v) end, function(f, k) return f(false, k) end)

  kind("the arguments that a coroutine waits for", function()
    return {}
  end, function(t, k, v)
    t[k] = coroutine.create(function(x) coroutine.yield() return x end)
    coroutine.resume(t[k], v)
    t[-k] = t[-k] or 0
    -- this minor collection scans the thread, and marks it as clean (not changed since then)
    collectgarbage("step")
  end, function(t, k)
    local _, x = coroutine.resume(t[k])
    t[k] = coroutine.create(function(y) coroutine.yield() return y end)
    coroutine.resume(t[k], x)
    return x
  end)

  kind("a local variable of a deeper frame, set from outside", function()
    local co = coroutine.create(function()
      local a, b, c  -- luacheck: ignore 221
      local function down(n)
        if n == 0 then coroutine.yield() else down(n - 1) end
        return n
      end
      down(20)
      return a, b, c
    end)
    assert(coroutine.resume(co))
    return co
  end, function(co, k, v) debug.setlocal(co, 22, k, v) end,
  function(co, k) return (select(2, debug.getlocal(co, 22, k))) end)

  kind("the registry", function() return debug.getregistry() end,
    function(r, k, v) r["spec " .. k] = v end,
    function(r, k) return r["spec " .. k] end)

  kind("the metatable of all booleans", function() return {} end,
    function(_, _, v) debug.setmetatable(true, v) end,
    function() return debug.getmetatable(true) end)
  kinds[#kinds].places = 1

  return kinds
end
