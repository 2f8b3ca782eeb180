-- SPDX-License-Identifier: MIT
-- Walks of the C stack through frames of every kind that compilers generate. In the debug build every walk
-- is compared, frame by frame, with a walk by libunwind.

local natives = require "natives"
local samples = require "spec.support.samples"
local shapes = require "shapes"

-- size in bytes of the sampled userdata; no other userdata has this size
local SIZE = 1000

-- The frames that each function of the module shapes has on the C stack, innermost first.
local SEEN = {
  fixed = "shape_fixed", variable = "shape_variable", pointed = "shape_pointed",
  aligned = "shape_aligned", sorted = "shape_compare shape_sorted",
  signalled = "shape_handler shape_signalled", context = "shape_entry",
}

-- Calls the functions of the module shapes in the list 'path' inside each other, outermost first, with a
-- Lua function between two of them. Allocates the userdata in the innermost one, and again after each has
-- returned.
local function nest(path, i)
  local shape = path[i]
  if not shape then
    natives.userdata(SIZE)
    return
  end
  local function inner() nest(path, i + 1) end
  if shape.name == "variable" then shapes.variable(inner, shape.room)
  else shapes[shape.name](inner) end
  natives.userdata(SIZE)
end

-- Returns the frames of the module shapes in a sample's stack as text, and the number of frames of the Lua
-- function 'nest'.
local function text(s)
  local list, depth = {}, 0
  for _, f in ipairs(s.stack) do
    if f.native and f.name:find "^shape_" then list[#list + 1] = f.name end
    if f.name == "nest" then depth = depth + 1 end
  end
  return table.concat(list, " "), depth
end

-- Samples calls of all these paths. Returns, for each path, the list of the texts of its samples.
local function seen(paths)
  local list = {}
  local all = samples.of(function()
    for _, path in ipairs(paths) do nest(path, 1) end
  end, {native = true})
  for _, s in ipairs(all) do
    if s.kind == "userdata" and s.size == SIZE + 32 then
      list[#list + 1] = {text(s)}
    end
  end
  return list
end

-- Returns the expected frames of the n outermost functions of a path. The function 'context' runs on
-- another C stack, so that frames outside of the last one are not visible.
local function expected(path, n)
  local list, outermost = {}, 1
  for i = 1, n do
    if path[i].name == "context" then outermost = i end
  end
  for i = n, outermost, -1 do list[#list + 1] = SEEN[path[i].name] end
  return table.concat(list, " ")
end

local function check(paths)
  local list, at = seen(paths), 0
  for _, path in ipairs(paths) do
    for n = #path, 0, -1 do
      at = at + 1
      assert.equal(expected(path, n), list[at][1])
      assert.equal(n + 1, list[at][2])
    end
  end
  assert.equal(at, #list)
end

describe("a walk of the C stack", function()
  for name in pairs(SEEN) do
    it("passes a frame that is " .. name, function()
      local shape = {name = name, room = 100}
      check{{shape}, {shape}, {shape, shape}, {{name = "fixed"}, shape, {name = "pointed"}}}
    end)
  end

  it("finds frames that were elsewhere the last time", function()
    local paths = {}
    for i = 1, 40 do
      paths[i] = {{name = "variable", room = i * 24 % 7 * 8}, {name = "fixed"},
                  {name = "variable", room = i * 40 % 11 * 8}, {name = "pointed"}}
    end
    check(paths)
  end)

  it("passes any of them in any order", function()
    local seed = os.time()
    math.randomseed(seed)
    local names, paths = {}, {}
    for name in pairs(SEEN) do names[#names + 1] = name end
    table.sort(names)
    for i = 1, 30 do
      paths[i] = {}
      for k = 1, math.random(8) do
        paths[i][k] = {name = names[math.random(#names)], room = math.random(0, 3000)}
      end
    end
    local ok, message = pcall(check, paths)
    assert(ok, ("seed %d: %s"):format(seed, tostring(message)))
  end)
end)
