-- SPDX-License-Identifier: MIT
-- The workloads of bench/malloc. `lua malloc.lua NAME ROUNDS` runs one of them. It prints the result, a
-- tab, and the nanoseconds of CPU time per unit of the workload, such as one pair of malloc and free. Exit
-- status 77: a library that the workload needs is not installed.

local name, rounds = arg[1], tonumber(arg[2])

local function need(module)
  local ok, m = pcall(require, module)
  if not ok then os.exit(77) end
  return m
end

local function cmemory()
  package.cpath = "build/spec/?.so;" .. package.cpath
  return require "cmemory"
end

-- The workloads by name. Each is a function of 'rounds' that returns a result and the number of its units,
-- to divide the time by.
local W = {}

-- Pairs of malloc and free with a short loop after each pair: about one pair every 100 ns.
function W.paced(n)
  cmemory().churn(n * 100000, 64, 200)
  return "done", n * 100000
end

-- Pairs of malloc and free, without pauses.
function W.pairs(n)
  cmemory().churn(n * 400000, 64, 0)
  return "done", n * 400000
end

-- Allocates many blocks, and then frees them in the same order.
function W.held(n)
  local c = cmemory()
  for _ = 1, n do c.hold(100000, 48) end
  return "done", n * 100000
end

function W.cjson(n)
  local cjson = need "cjson"
  local t = {list = {}}
  for i = 1, 300 do t.list[i] = {id = i, name = "name " .. i, tags = {"a", "b", i}} end
  local length = 0
  for _ = 1, n do
    local text = cjson.encode(cjson.decode(cjson.encode(t)))
    length = length + #text
  end
  return length, n
end

function W.lpeg(n)
  local lpeg = need "lpeg"
  local found = 0
  for i = 1, n do
    local word = lpeg.C(lpeg.R "az" ^ 1)
    local list = lpeg.Ct((word * lpeg.S " ," ^ 0) ^ 0)
    for _ = 1, 10 do found = found + #list:match(("alpha beta, gamma "):rep(20 + i % 10)) end
  end
  return found, n
end

function W.zlib(n)
  local zlib = need "zlib"
  local text, sum = ("the quick brown fox "):rep(500), 0
  for _ = 1, n do
    local packed = zlib.deflate()(text, "finish")
    sum = sum + #packed + #zlib.inflate()(packed)
  end
  return sum, n
end

function W.luv(n)
  local uv = need "luv"
  local fired = 0
  for _ = 1, n do
    for i = 1, 20 do
      local timer = uv.new_timer()
      timer:start(0, 0, function() fired = fired + i timer:close() end)
    end
    uv.run()
  end
  return fired, n
end

-- Draws rectangles and text on a surface of the library cairo, by the Lua binding lgi.
function W.cairo(n)
  local cairo = need "lgi".cairo
  local sum = 0
  for i = 1, n do
    local surface = cairo.ImageSurface.create("ARGB32", 64, 64)
    local context = cairo.Context.create(surface)
    context:set_source_rgb(1, i % 2, 0)
    for k = 1, 20 do
      context:rectangle(k, k, 10, 10)
      context:fill()
    end
    context:move_to(10, 30)
    context:show_text("round " .. i)
    surface:flush()
    sum = sum + surface:get_width() + context:get_current_point()
  end
  return ("%.6f"):format(sum), n
end

local started = os.clock()
local result, units = W[name](rounds)
print(("%s\t%.3f"):format(result, (os.clock() - started) * 1e9 / units))
