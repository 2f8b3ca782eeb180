-- SPDX-License-Identifier: MIT
-- The bytes that classes retain in a heap snapshot: those that would be freed if all objects of the class
-- were removed. A former bug: the number was the sum of the bytes that the single objects retain, which
-- lacks the bytes that only several of them together keep alive.

local heap = require "profiler.heap"
local process = require "spec.support.process"

describe("a snapshot", function()
  local path
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  -- Returns a snapshot of a state that has run the code.
  local function of(code)
    os.remove(path)
    local status, _, err = process.run{path, code = code .. [[

      collectgarbage()
      assert(require "profiler".snapshot(..., {fork = false}))]]}
    assert.same({0, ""}, {status, err})
    return assert(heap.open(path))
  end

  local function class(h, name)
    for _, row in ipairs(h:classes()) do
      if row.name == name then return row end
    end
  end

  local MEG = 1 << 20
  local function about(n, row)
    assert.is_true(row.retained >= n and row.retained < n + (64 << 10), row.name .. ": " .. row.retained)
    assert.is_nil(row.least)
  end

  it("counts for a class the memory that its objects hold together", function()
    local h = of [[
      local Pair, Way, Wide = {__name = "Pair"}, {__name = "Way"}, {__name = "Wide"}
      do
        local text = ("x"):rep(1 << 20)
        first, second = setmetatable({text}, Pair), setmetatable({text}, Pair)
      end
      do  -- each object has its own table, and these tables hold the string
        local text = ("y"):rep(1 << 20)
        third, fourth = setmetatable({{text}}, Way), setmetatable({{text}}, Way)
      end
      do  -- a table of another class holds the string, too
        local text = ("z"):rep(1 << 20)
        fifth, sixth, seventh = setmetatable({text}, Wide), setmetatable({text}, Wide), {text}
      end]]
    about(MEG, class(h, "Pair"))
    about(MEG, class(h, "Way"))
    assert.is_true(class(h, "Wide").retained < 1024)
  end)

  it("counts memory that upvalues and coroutines hold together", function()
    local h = of [[
      do
        local text = ("x"):rep(1 << 20)
        first, second = function() return text end, function() return text, 1 end
      end
      do
        local text = ("y"):rep(1 << 20)
        local function f(t) coroutine.yield() return t end
        third, fourth = coroutine.create(f), coroutine.create(f)
        coroutine.resume(third, text)
        coroutine.resume(fourth, text)
      end]]
    assert.is_true(class(h, "function").retained >= MEG)
    assert.is_true(class(h, "coroutine").retained >= MEG)
  end)

  it("counts objects under a weak key for the table, which the path names", function()
    local h = of [=[
      local Cache = {__name = "Cache", __mode = "k"}
      key = {}
      cache = setmetatable({}, Cache)
      cache[key] = {("x"):rep(2 << 20)}
      chain = setmetatable({}, Cache)
      chain[key] = {}
      chain[chain[key]] = {("y"):rep(1 << 20)}]=]
    about(3 * MEG, class(h, "Cache"))
    local list = h:objects{class = "Cache", n = 2}
    assert.is_true(list[1].retained >= 2 * MEG and list[2].retained >= MEG)
    local text = {}
    for _, step in ipairs(h:objects{class = "string", n = 1}[1].path) do text[#text + 1] = step.text end
    assert.matches('_G %["cache"%] %[table 0x%x+%] %(weak key%) %[1%]$', table.concat(text, " "))
  end)
end)
