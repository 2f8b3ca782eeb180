-- SPDX-License-Identifier: MIT
--
-- Small programs for specs that refuse each memory request in turn. Each is {name, result, function}. The
-- function's only upvalue is _ENV. It allocates in its own way, and returns the same result whenever it
-- completes.

return {
  {"tables grow and shrink", "20100", function()
    local t, sum = {}, 0
    for i = 1, 3000 do t[i] = i end
    for i = 3000, 201, -1 do t[i] = nil end
    for i = 1, 9 do t["k" .. i] = {} end
    for _, v in ipairs(t) do sum = sum + v end
    return tostring(sum)
  end},

  {"strings are joined, formatted and replaced", "9000 8893 xyz", function()
    local parts = {}
    for i = 1, 2000 do parts[i] = ("%d,"):format(i) end
    local all = table.concat(parts)
    local long = ("xyz"):rep(3000)
    return ("%d %d %s"):format(#long, #all, long:sub(-3))
  end},

  {"closures share and keep upvalues", "1500", function()
    local all, n = {}, 0
    for i = 1, 500 do
      local x = i
      all[i] = {function() x = x + 1; n = n + 1 end, function() return x end}
    end
    for _ = 1, 3 do
      for i = 1, 500 do all[i][1]() end
    end
    assert(all[500][2]() == 503)
    return tostring(n)
  end},

  {"coroutines wait, nest and end", "600", function()
    local all, n = {}, 0
    local function inner(depth)
      if depth > 0 then inner(depth - 1) end
      coroutine.yield(1)
      return 1
    end
    for i = 1, 100 do all[i] = coroutine.wrap(inner) end
    for i = 1, 100 do
      n = n + all[i](5)
      for _ = 1, 5 do n = n + all[i]() end
    end
    return tostring(n)
  end},

  {"source is compiled, dumped and loaded", "11325", function()
    local lines = {"local s = ..."}
    for i = 1, 150 do
      lines[i + 1] = ("do local function f(a, b) local t = {a, b; n = %d} return function() "
                      .. "return t.n end end s = s + f(%d, 'text %d')() end"):format(i, i, i)
    end
    lines[#lines + 1] = "return s"
    local f = assert(load(table.concat(lines, "\n"), "=compiled"))
    f = assert(load(string.dump(f), "=loaded", "b"))
    return tostring(f(0))
  end},

  {"a deep recursion grows the stack and leaves it", "4000", function()
    local function down(n)
      if n == 0 then return 0 end
      return 1 + down(n - 1)
    end
    return tostring(down(4000))
  end},

  {"errors carry objects out of calls that hold some", "5050", function()
    local sum = 0
    for i = 1, 100 do
      local ok, e = pcall(function()
        local kept <close> = setmetatable({}, {__close = function() sum = sum + 0 end})
        local t = {}
        for j = 1, i do t[j] = {kept} end
        error({value = #t})
      end)
      if not ok and type(e) == "string" then error(e, 0) end
      sum = sum + e.value
    end
    return tostring(sum)
  end},

  {"finalizers and weak tables", "ok", function()
    local weak, last = setmetatable({}, {__mode = "k"}), nil
    for i = 1, 300 do
      local key = setmetatable({}, {__gc = function(o) o.dead = true end})
      weak[key] = {key, i}
      last = key
    end
    collectgarbage()
    assert(weak[last][2] == 300)
    return "ok"
  end},

  {"large blocks come and go", "500000", function()
    local t, sum = {}, 0
    for i = 1, 10 do t[i] = ("x"):rep(50000) end
    for i = 1, 10 do sum = sum + #t[i] end
    t = nil  -- luacheck: ignore 311
    for i = 1, 10 do assert(#("y"):rep(30000 + i) > 0) end
    return tostring(sum)
  end},
}
