-- SPDX-License-Identifier: MIT
--
-- Every kind of step of a reference path from a root to an object: its text in a profile, and in a snapshot
-- taken at the same time. In the expected texts, %F matches the place where a function is defined.

local heap = require "profiler.heap"
local holders = require "asamp.sums.holders"
local process = require "spec.support.process"
local reader = require "profiler.reader"

-- A program with one object for each kind of reference that can hold it. new(name) creates an object that
-- is sampled.
local PROGRAM = [[
  package.cpath = "build/spec/?.so;" .. package.cpath
  local natives = require "natives"
  local core = require "profiler.core"
  local profile, snapshot = ...
  assert(core.open{out = profile, number = 1, replace = 2, period = 64, holders = false, native = false})
  core.on(64, false)
  local function new(name)
    return setmetatable({("x"):rep(300) .. name, 1, 2, 3, 4}, {__name = name})
  end
  debug.getregistry()["app.key"] = new "Registry"
  global = {new "Global"}
  _G["x" .. ("é"):rep(40)] = {new "Long"}
  package.loaded["app"] = {state = new "Module"}
  do
    local listeners = {close = {}}
    function on(name, f) listeners[name][1] = f end
    local s = new "Listener"
    on("close", function() return s end)
  end
  many = {}
  for i = 1, 40 do many["k" .. i] = {new "Entry"} end
  keyed = {[new "Key"] = true, [{}] = new "Value"}
  class = setmetatable({}, {__index = new "Meta"})
  box = natives.userdata(16, 3)
  debug.setuservalue(box, new "Uservalue", 2)
  local anchor = {}
  _G.anchor = anchor
  ephemeron = setmetatable({[anchor] = new "Ephemeron"}, {__mode = "k"})
  natives.ref(new "Reference")
  counter = natives.closure(1)
  debug.setupvalue(counter, 1, new "Cupvalue")
  local function serve()
    local queue = new "Queue"
    coroutine.yield()
    return queue
  end
  direct = coroutine.create(serve)
  coroutine.resume(direct)
  nested = coroutine.create(function(...)
    local result = serve()
    return result, ...
  end)
  coroutine.resume(nested, new "Vararg")
  waiting = coroutine.create(print)
  running = coroutine.create((function(s) return function() coroutine.yield() return s end end)(new "Runs"))
  coroutine.resume(running)
  new = nil
  local done
  table.sort(setmetatable({2, 1, ("x"):rep(300)}, {__name = "Slot"}), function(a, b)
    if not done then
      collectgarbage()
      core.holders()
      collectgarbage()
      assert(core.snapshot{path = snapshot, replace = 2, wait = true})
    end
    done = true
    return tostring(a) < tostring(b)
  end)
  assert(core.close())
]]

-- For each class of objects: the path's text in a profile, and its text in a snapshot if that is more
-- precise.
local STEPS = {
  Registry = {'registry → ["app.key"]'},
  Global = {'_G → ["global"] → [1..n]', '_G → ["global"] → [1]'},
  -- A former bug: the table key in the text was cut at 47 bytes, inside a UTF-8 character, and without "…".
  Long = {'_G → ["x' .. ("é"):rep(21) .. '…"] → [1..n]', '_G → ["x' .. ("é"):rep(40) .. '"] → [1]'},
  Module = {'package.loaded["app"] → ["state"]'},
  Listener = {'_G → upvalue "listeners" of on (%F) → ["close"] → [1..n] → upvalue "s" of %F',
              '_G → upvalue "listeners" of on (%F) → ["close"] → [1] → upvalue "s" of %F'},
  Entry = {'_G → ["many"] → [*] → [1..n]', '_G → ["many"] → ["k%d+"] → [1]'},
  Key = {'_G → ["keyed"] → key'},
  Value = {'_G → ["keyed"] → [*]', '_G → ["keyed"] → [table 0x%x+]'},
  Meta = {'_G → ["class"] → metatable → ["__index"]'},
  Uservalue = {'_G → ["box"] → user value 2'},
  Ephemeron = {'_G → ["ephemeron"] → [*] (weak key)',
               '_G → ["ephemeron"] → [table 0x%x+] (weak key)'},
  Reference = {'reference of luaL_ref'},
  Cupvalue = {'_G → ["counter"] → upvalue 1 of C function native_table',
              '_G → ["counter"] → upvalue 1 of a C function'},
  Queue = {'_G → ["direct"] → local "queue" of serve (%F), coroutine'},
  Nested = {'_G → ["nested"] → local "queue" of serve (%F), coroutine of %F', class = "Queue"},
  Vararg = {'_G → ["nested"] → stack of %F'},
  Runs = {'_G → ["running"] → running function → upvalue "s" of %F'},
  Slot = {'stack of C function sort, slot 1'},
}

-- Converts an expected text to a Lua pattern that matches a whole line.
local function pattern(text)
  return "^" .. text:gsub("%%d%+", "\1"):gsub("%%x%+", "\2"):gsub("%%F", "\3")
    :gsub("[%^%$%(%)%%%.%[%]%*%+%-%?]", "%%%0")
    :gsub("\1", "%%d+"):gsub("\2", "%%x+"):gsub("\3", "%%S+:%%d+") .. "$"
end

local function find(texts, text)
  for _, line in ipairs(texts) do
    if line:find(pattern(text)) then return true end
  end
  return false, text .. " is not among\n" .. table.concat(texts, "\n")
end

describe("the steps by which something is held", function()
  local profiled, snapped = {}, nil
  setup(function()
    local profile, snapshot, script = os.tmpname(), os.tmpname(), process.file(PROGRAM)
    local status, _, err = process.run{script, profile, snapshot}
    os.remove(script)
    assert.same({0, ""}, {status, err})
    local h, seen = assert(reader.read(profile)).holders, {}
    for _, path in ipairs(h.path) do
      local text = holders.pathtext(h, path)
      if not seen[text] then profiled[#profiled + 1] = text end
      seen[text] = true
    end
    table.sort(profiled)
    snapped = assert(heap.open(snapshot))
    os.remove(profile)
    os.remove(snapshot)
  end)
  teardown(function() snapped:close() end)

  for class, texts in pairs(STEPS) do
    it("of " .. class .. " are in a profile", function()
      assert(find(profiled, texts[1]))
    end)
    it("of " .. class .. " are in a snapshot", function()
      local list = assert(snapped:objects{class = texts.class or class, n = 50})
      for i, object in ipairs(list) do list[i] = holders.text(object.path) end
      assert(find(list, texts[2] or texts[1]))
    end)
  end
end)
