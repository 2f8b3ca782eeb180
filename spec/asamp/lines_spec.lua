-- SPDX-License-Identifier: MIT
-- The source line of a sample: for every instruction that allocates, and every C function called from a
-- line, the frames of the sample must be exactly those that ran. Each case is a chunk with one allocating
-- expression on each line. The lines of its samples must be exactly the expected set.

local samples = require "spec.support.samples"

-- Returns the kind of a sample's block and its frames from the leaf to the main chunk, as "kind name:line
-- name:line ...". Returns nil if the chunk was not running.
local function place(s)
  for i, f in ipairs(s.stack) do
    if f.name == "main chunk" and f.file == "lines" then
      return s.kind .. " " .. samples.text(s.stack, i)
    end
  end
end

-- Runs the chunk 'runs' times. Returns the set of the kinds and frames of its samples (results of place).
-- Intervals are random, so that every allocation can be sampled. The collector is stopped, so that no
-- finalizer runs.
local function places(source, runs)
  local chunk = assert(load(source, "@lines"))
  local list = samples.of(function()
    collectgarbage "stop"
    for i = 1, runs or 60 do chunk(i) end
    collectgarbage "restart"
  end, {random = true})
  local set = {}
  for _, s in ipairs(list) do
    local p = place(s)
    if p then set[p] = true end
  end
  return set
end

-- The stack and the string table may grow on any line. Samples of these two kinds are compared only if a
-- case expects them.
local ANYWHERE = {stack = true, buffer = true}

local function check(source, expected, runs)
  local kinds, wanted = {}, {}
  for _, p in ipairs(expected) do
    wanted[p] = true
    for kind in pairs(ANYWHERE) do
      if p:sub(1, #kind + 1) == kind .. " " then kinds[kind] = true end
    end
  end
  local found = {}
  for p in pairs(places(source, runs)) do
    local kind = p:match "^(%S+) "
    if not ANYWHERE[kind] or kinds[kind] then found[p] = true end
  end
  local wrong = {}
  for p in pairs(wanted) do
    if not found[p] then wrong[#wrong + 1] = "missing: " .. p end
  end
  for p in pairs(found) do
    if not wanted[p] then wrong[#wrong + 1] = "unexpected: " .. p end
  end
  table.sort(wrong)
  assert.equal("", table.concat(wrong, "\n", 1, math.min(#wrong, 30)))
end

describe("a sample's line in", function()
  it("table constructors", function()
    check([[
local a = {}
local b = {1, 2, 3}
local c = {x = 1, y = 2}
local d = {
  {},
  {1},
  {x = {}},
  x = {
    {}
  },
}
return a, b, c, d]], {
      "table main chunk:1", "table main chunk:2", "table main chunk:3", "table main chunk:4",
      "table main chunk:5", "table main chunk:6", "table main chunk:7", "table main chunk:8",
      "table main chunk:9",
    })
  end)

  it("table constructors of more than 32 items or fields, whose vectors are apart", function()
    local function items(n, separator) return ("0" .. separator):rep(n) end
    local function fields(n, separator)
      local list = {}
      for i = 1, n do list[i] = ("x%d = 0"):format(i) end
      return table.concat(list, separator) .. separator
    end
    local source = table.concat({
      -- the table and its array part are one block
      "local a = {" .. items(32, ", ") .. "}",
      "local b = {" .. fields(32, ", ") .. "}",
      "local c = {" .. items(33, ", ") .. "}",
      "local d = {" .. fields(33, ", ") .. "}",
      "local e = {" .. items(33, ", ") .. "x = 0}",
      "local f = {0, " .. fields(33, ", ") .. "}",
      -- for a constructor of several lines, the line of the table is that of the opening brace
      "local g = {",
      items(40, ",\n") .. fields(40, ",\n") .. "}",
      "return a, b, c, d, e, f, g",
    }, "\n")
    check(source, {
      "table main chunk:1", "table main chunk:2",
      "table main chunk:3", "table array part main chunk:3",
      "table main chunk:4", "table hash part main chunk:4",
      "table main chunk:5", "table array part main chunk:5", "table hash part main chunk:5",
      "table main chunk:6", "table array part main chunk:6", "table hash part main chunk:6",
      "table main chunk:7", "table array part main chunk:7", "table hash part main chunk:7",
    }, 300)
  end)

  it("a constructor of a thousand lines", function()
    -- more items than the operand of OP_SETLIST can count; items are stored in groups of fifty
    local source, expected = {"local t = {"}, {"table main chunk:1", "table array part main chunk:1"}
    for i = 2, 1001 do
      source[i] = "  {},"
      expected[i + 1] = ("table main chunk:%d"):format(i)
    end
    source[1002] = "} return t"
    check(table.concat(source, "\n"), expected)
  end)

  it("constructors that take all values of a call or of ...", function()
    check([[
local function two() return 1, 2 end
local function f(...)
  local a = {...}
  local b = {two()}
  return a, b
end
f(1, 2, 3)]], {
      "Lua closure main chunk:1",
      "Lua closure main chunk:6", "upvalue main chunk:6",
      "table f:3 main chunk:7", "table array part f:3 main chunk:7",
      "table f:4 main chunk:7", "table array part f:4 main chunk:7",
    })
  end)

  it("stores that make a table grow", function()
    check([[
local a, b, c, d, k = {}, {}, {}, {}, {}
a.x = 1
b[k] = 1
c[1] = 1
d["x"] = nil
d.y, d.z = 1,
  2
rawset({}, 1, 1)
local _ENV = {}
local function f()
  global = 1
end
f()]], {
      "table main chunk:1",
      "table hash part main chunk:2",
      "table hash part main chunk:3",
      "table array part main chunk:4",
      "table hash part main chunk:7",
      "table main chunk:8", "table array part luaB_rawset main chunk:8",
      "table main chunk:9",
      "Lua closure main chunk:12", "upvalue main chunk:12",
      "table hash part f:11 main chunk:13",
    })
  end)

  it("closures and their upvalues", function()
    check([[
local x, y = 1, 2
local f = function() return x end
local g = function()
  return x, y
end
for i = 1, 2 do
  g = function() return i end
end
local function h()
  return f, g
end
local t = {}
function t.f() end
function t:m() end
return h]], {
      "Lua closure main chunk:2", "upvalue main chunk:2",
      "Lua closure main chunk:5", "upvalue main chunk:5",
      "Lua closure main chunk:7", "upvalue main chunk:7",
      "Lua closure main chunk:11", "upvalue main chunk:11",
      "table main chunk:12",
      "Lua closure main chunk:13", "table hash part main chunk:13",
      "Lua closure main chunk:14", "table hash part main chunk:14",
    })
  end)

  it("concatenations, of numbers too", function()
    check([[
local n = ...
local a = "a string that is longer than forty bytes, " .. n
local b = a ..
  a
local c = n .. 1.5 .. a
return b, c]], {
      "string main chunk:2", "string main chunk:3", "string main chunk:5",
    })
  end)

  it("loops", function()
    check([[
local i = 0
::again::
do
  local t = {}
end
i = i + 1
if i < 3 then goto again end
while i < 5 do
  local t = {i}
  i = i + #t
end
repeat
  local t = {}
  i = i + 1
until {} and i > 7
for j = 1, 3 do
  local t = {}
end
for k, v in next, {1} do
  local t = {}
end]], {
      "table main chunk:4",
      "table main chunk:9",
      "table main chunk:13", "table main chunk:15",
      "table main chunk:17",
      "table main chunk:19",
      "table main chunk:20",
    })
  end)

  it("iterators of a generic for", function()
    check([[
local function iterator(_, i)
  local t = {}
  if i < 3 then return i + 1 end
end
for i
  in iterator, nil, 0
do
  local t = {}
end]], {
      "Lua closure main chunk:4",
      "table iterator:2 main chunk:6",
      "table main chunk:8",
    })
  end)

  it("indexing that calls a function", function()
    check([[
local mt = {}
mt.__index = function()
  return {}
end
mt.__newindex = function()
  local t = {}
end
local a, k = setmetatable({}, mt), {}
local v = a.x
v = a[1]
v = a[k]
v = a["a string constant that is longer than forty characters"]
pcall(function()
  v = a:x()
end)
a.x = 1
a[1] = 1
a[k] = 1
local _ENV = a
v = global
local function f()
  v = global
  global = 1
end
f()]], (function()
      local list = {
        "table main chunk:1", "table hash part main chunk:4", "Lua closure main chunk:4",
        "table hash part main chunk:7", "Lua closure main chunk:7",
        "table main chunk:8",
        "Lua closure main chunk:15", "upvalue main chunk:15",
        "Lua closure main chunk:24", "upvalue main chunk:24",
      }
      for _, line in ipairs{9, 10, 11, 12, 20} do
        list[#list + 1] = ("table __index:3 main chunk:%d"):format(line)
      end
      for line = 16, 18 do
        list[#list + 1] = ("table __newindex:6 main chunk:%d"):format(line)
      end
      list[#list + 1] = "table __index:3 f:22 main chunk:25"
      list[#list + 1] = "table __newindex:6 f:23 main chunk:25"
      list[#list + 1] = "table __index:3 anonymous:14 luaB_pcall main chunk:13"
      list[#list + 1] = "string anonymous:14 luaB_pcall main chunk:13"
      return list
    end)())
  end)

  it("operators that call a metamethod", function()
    local operators = {
      {"add", "a + b"}, {"sub", "a - b"}, {"mul", "a * b"}, {"mod", "a % b"},
      {"pow", "a ^ b"}, {"div", "a / b"}, {"idiv", "a // b"}, {"band", "a & b"},
      {"bor", "a | b"}, {"bxor", "a ~ b"}, {"shl", "a << b"}, {"shr", "a >> b"},
      {"unm", "-a"}, {"bnot", "~a"}, {"len", "#a"}, {"concat", "a .. b"},
      {"eq", "a == b"}, {"lt", "a < b"}, {"le", "a <= b"}, {"lt", "a > b"},
      {"le", "a >= b"}, {"eq", "a ~= b"},
      -- these expressions have separate instructions, with constant and immediate operands
      {"add", "a + 1"}, {"add", "1 + a"}, {"sub", "a - 1"}, {"mul", "a * 2.5"},
      {"band", "a & 1"}, {"shl", "1 << a"}, {"shr", "a >> 1"}, {"pow", "a ^ 2"},
      {"lt", "a < 1"}, {"le", "a <= 1"}, {"lt", "a > 1"}, {"le", "a >= 1"},
      {"concat", "1 .. a"}, {"concat", "a .. 'x'"},
    }
    local source, expected, line = {"local mt, v = {}"}, {"table main chunk:1"}, {}
    local function add(text) source[#source + 1] = text end
    for _, o in ipairs(operators) do
      if not line[o[1]] then
        line[o[1]] = #source + 1
        add(("function mt.__%s() local t = {} return t end"):format(o[1]))
        expected[#expected + 1] = ("Lua closure main chunk:%d"):format(#source)
        -- number of fields that the constructor has so far; the hash part grows at powers of 2
        local n = #source - 1
        if (n - 1) & (n - 2) == 0 then
          expected[#expected + 1] = ("table hash part main chunk:%d"):format(#source)
        end
      end
    end
    add "local a, b = setmetatable({}, mt), setmetatable({}, mt)"
    expected[#expected + 1] = ("table main chunk:%d"):format(#source)
    for _, o in ipairs(operators) do
      add(("v = %s"):format(o[2]))
      expected[#expected + 1] =
        ("table __%s:%d main chunk:%d"):format(o[1], line[o[1]], #source)
    end
    -- the comparison is compiled as a conditional jump, not as a value
    add "v = a < b and {}"
    expected[#expected + 1] = ("table __lt:%d main chunk:%d"):format(line.lt, #source)
    expected[#expected + 1] = ("table main chunk:%d"):format(#source)
    check(table.concat(source, "\n"), expected)
  end)

  it("calls of a table", function()
    check([[
local f = setmetatable({}, {
  __call = function() return {} end})
f()]], {
      "table main chunk:1",
      "Lua closure main chunk:2",
      "table __call:2 main chunk:3",
    })
  end)

  it("calls of a chain of tables", function()
    check([[
local f = setmetatable({}, {
  __call = function() return {} end})
local g = setmetatable({}, {__call = f})
g(
  1)]], {
      "table main chunk:1",
      "Lua closure main chunk:2",
      "table main chunk:3",
      "table __call:2 main chunk:4",
    })
  end)

  it("variables that are closed", function()
    check([[
local mt = {__close = function()
  local t = {}
end}
do
  local x <close> = setmetatable({}, mt)
  local y = 1
end
local function f()
  local x <close> = setmetatable({}, mt)
  return 1
end
f()
for _ in next, {}, nil, setmetatable({}, mt) do
end
local function g()
  local x <close> = setmetatable({}, mt)
  error {}
end
pcall(g)]], {
      "table main chunk:1", "Lua closure main chunk:3",
      "table main chunk:5",
      "table __close:2 main chunk:6",
      "Lua closure main chunk:11", "upvalue main chunk:11",
      "table f:9 main chunk:12", "table __close:2 f:10 main chunk:12",
      "table main chunk:13", "table __close:2 main chunk:14",
      "Lua closure main chunk:18",
      "table g:16 luaB_pcall main chunk:19",
      "table g:17 luaB_pcall main chunk:19",
      "table __close:2 luaB_pcall main chunk:19",
    })
  end)

  it("C functions, at the line that calls them", function()
    check([[
local n = ...
local long = ("x"):rep(50 + n)
local s = ("%s %d"):format(long,
  n)
s = long:upper()
s = long:sub(1, 45)
s = long:gsub("x", function()
  return {} and "y"
end)
local t = table.pack(n)
table.insert(t, n)
s = table.concat({long, long})
s = tostring(n + 0.125) .. long
t = select("#", {})
s = utf8.char(n, n):rep(100)
t = setmetatable({}, nil)
return s, t]], {
      "string str_rep main chunk:2",
      "string str_format main chunk:3",
      "string str_upper main chunk:5",
      "string str_sub main chunk:6",
      "Lua closure main chunk:9",
      "string str_gsub main chunk:7",
      "table anonymous:8 str_gsub main chunk:7",
      "table tpack main chunk:10", "table array part tpack main chunk:10",
      "table hash part tpack main chunk:10",
      "table array part tinsert main chunk:11", "table hash part tinsert main chunk:11",
      "table main chunk:12",
      "string tconcat main chunk:12",
      "string luaB_tostring main chunk:13", "string main chunk:13",
      "table main chunk:14",
      "string str_rep main chunk:15", "string utfchar main chunk:15",
      "table main chunk:16",
    })
  end)

  it("coroutines and the functions that they run", function()
    check([[
local function body(...)
  local t = {...}
  coroutine.yield({})
  t = {}
end
local co = coroutine.create(body)
coroutine.resume(co, 1)
coroutine.resume(co)
local f = coroutine.wrap(body)
f(1)
f()]], {
      "Lua closure main chunk:5",
      "coroutine luaB_cocreate main chunk:6", "stack luaB_cocreate main chunk:6",
      "table body:2 luaB_coresume main chunk:7",
      "table array part body:2 luaB_coresume main chunk:7",
      "table body:3 luaB_coresume main chunk:7",
      "table body:4 luaB_coresume main chunk:8",
      -- the stacks grow because calls in the coroutine need CallInfo records
      "stack luaB_coresume main chunk:7", "stack body:3 luaB_coresume main chunk:7",
      "coroutine luaB_cowrap main chunk:9", "stack luaB_cowrap main chunk:9",
      "C closure luaB_cowrap main chunk:9",
      "table body:2 luaB_auxwrap main chunk:10",
      "table array part body:2 luaB_auxwrap main chunk:10",
      "table body:3 luaB_auxwrap main chunk:10",
      "table body:4 luaB_auxwrap main chunk:11",
      "stack luaB_auxwrap main chunk:10", "stack body:3 luaB_auxwrap main chunk:10",
    })
  end)

  it("calls that make the stack grow", function()
    -- the line is that of the caller, because the stack grows before the called function starts
    local deepest = {}
    local source = [[
local function deep(n)
  if n > 0 then
    return (deep(n - 1))
  end
end
local co = coroutine.wrap(function()
  deep(150)
end)
co()]]
    for p in pairs(places(source, 30)) do
      local leaf = p:match "^stack (.-:%d+)"
      if leaf then deepest[leaf] = true end
    end
    assert.same({["deep:3"] = true, ["anonymous:7"] = true,
                 ["luaB_auxwrap main chunk:9"] = true,
                 ["luaB_cowrap main chunk:6"] = true}, deepest)
  end)

  it("loading of code", function()
    local kinds = {}
    for p in pairs(places([[
local f = load("local function f(a, b) return a + b .. 'and a string' end return f")
local n = ...
f = string.dump(f)
f = load(f)]])) do
      local kind, rest = p:match "^(.-) (%S+ main chunk:%d+)$"
      kinds[kind or p] = kinds[kind or p] or {}
      kinds[kind or p][rest or ""] = true
    end
    local both = {["luaB_load main chunk:1"] = true, ["luaB_load main chunk:4"] = true}
    assert.same(both, kinds.proto)
    assert.same(both, kinds["Lua closure"])
    assert.same({["luaB_load main chunk:1"] = true}, kinds["table"])  -- the scanner's
    assert.is_true(kinds.string["str_dump main chunk:3"])
  end)

  it("errors that carry a position", function()
    check([[
local function f(x)
  return x.y.z
end
pcall(f, {})
local function g()
  error("message with a position in front of it, and long enough")
end
pcall(g)
local function h()
  return #nil + 1
end
xpcall(h, function(m)
  return {m}
end)
pcall(string.rep)]], {
      "Lua closure main chunk:3", "Lua closure main chunk:7", "Lua closure main chunk:11",
      "Lua closure main chunk:14",
      "table main chunk:4",
      "string f:2 luaB_pcall main chunk:4",
      "string luaB_error g:6 luaB_pcall main chunk:8",
      "string h:10 luaB_xpcall main chunk:12",
      "table anonymous:13 h:10 luaB_xpcall main chunk:12",
      "string str_rep luaB_pcall main chunk:15",
    })
  end)

  it("a function called by tail call", function()
    check([[
local function f()
  return {}
end
local function g()
  local t = {}
  return f()
end
g()]], {
      "Lua closure main chunk:3",
      "Lua closure main chunk:7", "upvalue main chunk:7",
      "table g:5 main chunk:8", "table f:2 (tail call) main chunk:8",
    })
  end)
end)
