-- SPDX-License-Identifier: MIT
-- The call stacks of time samples. The signal may arrive at any instruction of calls, returns, resumes,
-- yields, errors and their unwinding. A program with known callers is sampled at the highest rate: every
-- frame of every sample must be at a line of its own function, and its caller's frame at a line that calls
-- that function.

local times = require "spec.support.times"

-- The sampled program. "--@ name" means that a function of this name starts in the line. "--> names" means
-- that the line calls these functions. Finalizers and the error handler may be called from any line.
local SOURCE = [==[local function leaf(n)                                            --@ leaf
  local x = 0
  for i = 1, n do x = x + i end
  return x
end
local function two(n)                                             --@ two
  local a = leaf(n)                                               --> leaf
  local b = leaf(n) + a                                           --> leaf
  return b
end
local function tail(n)                                            --@ tail
  return leaf(n)                                                  --> leaf
end
local function fails(n)                                           --@ fails
  two(n)                                                          --> two
  error({n})
end
local function handler(e)                                         --@ handler
  leaf(5)                                                         --> leaf
  return e
end
local function yields(n)                                          --@ yields
  for i = 1, 3 do
    coroutine.yield(two(n))                                       --> two
    leaf(i)                                                       --> leaf
  end
end
local function body(n)                                            --@ body
  local t <close> = setmetatable({}, {__close = function()        --@ closer
    leaf(3)                                                       --> leaf
  end})
  yields(n)                                                       --> yields
  if n % 3 == 0 then
    fails(n)                                                      --> fails
  end
  leaf(2)                                                         --> leaf
end                                                               --> closer
local mt = {}
mt.__add = function(a, b)                                         --@ add
  leaf(4)                                                         --> leaf
  return a
end
mt.__index = function(t, k)                                       --@ index
  if k == 0 then return (leaf(3)) end                             --> leaf
  return t[k - 1]                                                 --> index
end
mt.__lt = function(a, b)                                          --@ lt
  local r = leaf(2)                                               --> leaf
  return r > 0
end
mt.__concat = function(a, b)                                      --@ concat
  coroutine.isyieldable()
  return (leaf(3))                                                --> leaf
end
local obj = setmetatable({}, mt)
local function meta()                                             --@ meta
  local x = obj + obj                                             --> add
  local y = obj[5]                                                --> index
  local z = obj < obj                                             --> lt
  local w = "a" .. obj                                            --> concat
  return x, y, z, w
end
local function callback(c)                                        --@ callback
  leaf(4)                                                         --> leaf
  return c
end
local function less(a, b)                                         --@ less
  leaf(1)                                                         --> leaf
  return a < b
end
local function lib()                                              --@ lib
  local s = ("abcdef"):gsub(".", callback)                        --> callback
  local t = {5, 3, 8, 1, 9, 2}
  table.sort(t, less)                                             --> less
  return s, t
end
local function iter(s, i)                                         --@ iter
  leaf(2)                                                         --> leaf
  if i < 4 then return i + 1 end
end
local function loops()                                            --@ loops
  for i in iter, nil, 0 do                                        --> iter
    leaf(i)                                                       --> leaf
  end
end
local function deep(n)                                            --@ deep
  return n == 0 and 0 or 1 + deep(n - 1)                          --> deep
end
local function vararg(...)                                        --@ vararg
  local a, b = ...
  leaf(a + b)                                                     --> leaf
  return select("#", ...)
end
local function coroutines(n)                                      --@ coroutines
  local co = coroutine.create(body)
  while coroutine.status(co) ~= "dead" do
    coroutine.resume(co, n)                                       --> body, closer
    leaf(1)                                                       --> leaf
  end
  local wrap = coroutine.wrap(yields)
  wrap(n)                                                         --> yields
  wrap()                                                          --> yields
  local c2 = coroutine.create(body)
  coroutine.resume(c2, n)                                         --> body
  coroutine.close(c2)                                             --> closer
end
local function errors(n)                                          --@ errors
  pcall(fails, n)                                                 --> fails
  xpcall(fails, handler, n)                                       --> fails
  local ok = pcall(function()                                     --@ anon --> anon, closer2
    local t <close> = setmetatable({}, {__close = function()      --@ closer2
      leaf(2)                                                     --> leaf
    end})
    fails(n)                                                      --> fails, closer2
  end)                                                            --> closer2
  return ok
end
local function collect()                                          --@ collect
  for i = 1, 20 do
    setmetatable({}, {__gc = function()                           --@ gc
      leaf(3)                                                     --> leaf
    end})
  end
  collectgarbage("step")
end
local function main(n)                                            --@ main
  two(n)                                                          --> two
  tail(n)                                                         --> tail, leaf
  meta()                                                          --> meta
  lib()                                                           --> lib
  loops()                                                         --> loops
  vararg(n, 1, 2)                                                 --> vararg
  coroutines(n)                                                   --> coroutines
  errors(n)                                                       --> errors
  collect()                                                       --> collect
  deep(n)                                                         --> deep
end
return main
]==]

local ANYWHERE = {gc = true, handler = true}

-- functions: a table by the line where a function is defined, of {name, last line}; callers: a table by
-- function name, of the set of lines that call it
local functions, callers = {}, {}
do
  local line, open = 0, {}
  for text in SOURCE:gmatch "([^\n]*)\n" do
    line = line + 1
    local indent, name = #text:match "^ *", text:match "%-%-@ (%w+)"
    local f = open[#open]
    if f and indent == f.indent and text:find "^ *end" then
      f.last = line
      open[#open] = nil
    end
    if name then
      functions[line] = {name = name, indent = indent}
      open[#open + 1] = functions[line]
    end
    for called in (text:match "%-%-> (.*)$" or ""):gmatch "%w+" do
      callers[called] = callers[called] or {}
      callers[called][line] = true
    end
  end
end

-- Returns a description of the first frame of a stack that is impossible, or nil.
local function wrong(stack)
  local inner
  for _, f in ipairs(stack) do
    if not f.native then
      if f.file ~= "shadow" then
        return inner and inner ~= "main" and not ANYWHERE[inner]
          and ("%s called by %s"):format(inner, f.name) or nil
      end
      local known = assert(functions[f.defined], f.defined)
      if f.line < f.defined or f.line > known.last then
        return ("%s at line %d"):format(known.name, f.line)
      elseif inner and not ANYWHERE[inner] and not callers[inner][f.line] then
        return ("%s called by %s, line %d"):format(inner, known.name, f.line)
      end
      inner = known.name
    end
  end
  return inner and inner .. " is the outermost function"
end

describe("every sample of a program whose callers are known", function()
  local CASES = {
    {name = "time", rate = 30000},
    {name = "time, without C stacks", rate = 30000, native = false},
    {name = "wall time", rate = 30000, wall = true},
    {name = "time and allocations", rate = 10000, alloc = 512},
  }
  for _, case in ipairs(CASES) do
    it("is a stack that there can be: " .. case.name, function()
      local main = assert(load(SOURCE, "@shadow"))()
      local n, names, sampled = 0, {}, 0
      -- repeats until each function was sampled, which depends on chance
      for _ = 1, 20 do
        local list = times.of(function()
          times.busy(0.2, function()
            n = n + 1
            main(n % 50)
          end)
        end, case)
        for _, kind in ipairs{list.times, list} do
          for _, s in ipairs(kind) do
            assert.is_nil(wrong(s.stack))
            for _, f in ipairs(s.stack) do if f.file == "shadow" then names[f.name] = true end end
          end
        end
        sampled = sampled + #list.times
        if sampled > 20 and names.leaf and names.main then break end
      end
      assert.is_true(sampled > 20, sampled)
      assert.is_true(names.leaf and names.main)
    end)
  end
end)
