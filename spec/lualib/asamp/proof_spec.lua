-- SPDX-License-Identifier: MIT
--
-- Proofs of leaks from heap snapshots: the bytes that a snapshot would lack without a reference must be the
-- bytes that the program frees when it removes the reference.

local heap = require "profiler.heap"
local process = require "spec.support.process"
local proof = require "asamp.sums.proof"
local shell = require "spec.support.shell"
local shown = require "asamp.show.proof"

local ARROW = " → "

local SETUPVALUE = [[
  for i = 1, 9 do
    if debug.getupvalue(note, i) == "log" then debug.setupvalue(note, i, nil) end
  end]]
local SETLOCAL = [[
  for i = 1, 9 do
    if debug.getlocal(worker, 1, i) == "seen" then debug.setlocal(worker, 1, i, nil) end
  end]]

-- Programs with one leak each: {description, program, path of the leaking reference in the words of a
-- profile, code that removes the reference, number of bytes by which the results may differ (default 0)}.
local CASES = {
  {"a field of a local table", [=[
    local bus = {listeners = {}}
    for i = 1, 3000 do bus.listeners[i] = {id = i, f = function() return i end} end]=],
    'local "bus" of main chunk (a.lua) → ["listeners"]', "bus.listeners = nil"},
  {"a local variable that functions refer to", [=[
    local queue = {}
    local function push(i) queue[#queue + 1] = {i} end
    for i = 1, 3000 do push(i) end]=],
    'local "queue" of main chunk (a.lua)', "queue = nil"},
  {"an upvalue of a global function", [=[
    do
      local log = {}
      function note(i) log[i] = {at = i, ("text %09d"):format(i):rep(5)} end
    end
    for i = 1, 3000 do note(i) end]=],
    '_G → upvalue "log" of note (a.lua:3)',
    SETUPVALUE},
  {"an upvalue of several functions", [=[
    do
      local log = {}
      function note(i) log[i] = {at = i} end
      other = {{last = function() return log[#log] end}}
    end
    for i = 1, 3000 do note(i) end]=],
    '_G → upvalue "log" of note (a.lua:3)',
    SETUPVALUE},
  {"a local variable of a suspended coroutine", [=[
    worker = coroutine.create(function()
      local seen = {}
      while true do
        local request = coroutine.yield()
        seen[#seen + 1] = {request}
      end
    end)
    coroutine.resume(worker)
    for i = 1, 3000 do coroutine.resume(worker, i) end]=],
    '_G → ["worker"] → local "seen" of a.lua:1, coroutine',
    SETLOCAL},
  {"a local variable of a suspended coroutine, and its closure", [=[
    worker = coroutine.create(function()
      local seen = {}
      getter = function() return #seen end
      for i = 1, 3000 do seen[i] = {i} end
      coroutine.yield()
    end)
    coroutine.resume(worker)]=],
    '_G → upvalue "seen" of getter (a.lua:3)',
    'debug.setupvalue(getter, 1, nil)'},
  {"a field of the registry", [=[
    debug.getregistry().kept = {}
    for i = 1, 3000 do debug.getregistry().kept[i] = {i} end]=],
    'registry → ["kept"]', "debug.getregistry().kept = nil"},
  {"a reference of luaL_ref", [=[
    local r = debug.getregistry()
    local list = {}
    for i = 1, 3000 do list[i] = {i} end
    r[#r + 1] = list
    list = nil]=],
    "reference of luaL_ref", "r[#r] = nil"},
  {"a field of a module", [=[
    package.loaded.tracker = {spans = {}}
    for i = 1, 3000 do package.loaded.tracker.spans[i] = {i} end]=],
    'package.loaded["tracker"] → ["spans"]', 'package.loaded.tracker.spans = nil'},
  {"a metatable", [=[
    local object = setmetatable({}, {cache = {}})
    for i = 1, 3000 do getmetatable(object).cache[i] = {i} end]=],
    'local "object" of main chunk (a.lua) → metatable', "setmetatable(object, nil)"},
  {"values under weak keys", [=[
    local facts, objects = setmetatable({}, {__mode = "k"}), {}
    for i = 1, 3000 do
      objects[i] = {i}
      facts[objects[i]] = {next = objects[i - 1], i}
    end]=],
    'local "objects" of main chunk (a.lua)', "objects = nil"},
  {"the weak table itself", [=[
    local facts, objects = setmetatable({}, {__mode = "k"}), {}
    for i = 1, 3000 do
      objects[i] = {i}
      facts[objects[i]] = {i}
    end]=],
    'local "facts" of main chunk (a.lua)', "facts = nil"},
  {"fields of several tables", [=[
    local sessions = {}
    for i = 1, 5 do sessions[i] = {id = i, log = {}} end
    for i = 1, 3000 do table.insert(sessions[i % 5 + 1].log, {i}) end]=],
    'local "sessions" of main chunk (a.lua) → [1..n] → ["log"]',
    "for _, s in ipairs(sessions) do s.log = nil end"},
  {"a list of objects with finalizers", [=[
    finalized = 0
    local list = {}
    local meta = {__gc = function() finalized = finalized + 1 end}
    for i = 1, 3000 do list[i] = setmetatable({i}, meta) end]=],
    -- 1,000 bytes of tolerance, because finalizers are called meanwhile
    'local "list" of main chunk (a.lua)', "list = nil", 1000},
  {"a key that is a table, with its field", [=[
    local index = {sub = {}}
    for i = 1, 3000 do index.sub[{i}] = {i} end]=],
    'local "index" of main chunk (a.lua) → ["sub"]', "index.sub = nil"},
}

-- Code that is appended to a program. It writes a snapshot, removes the reference (%s), and prints the
-- number of freed bytes.
local TRUTH = [[

local core = require "profiler.core"
collectgarbage() collectgarbage()
assert(core.snapshot{path = "x.heap", replace = 2, wait = true, inprocess = false, command = "x"})
collectgarbage() collectgarbage()
local function inuse() return math.tointeger(collectgarbage "count" * 1024) end
local before = inuse()
%s
collectgarbage() collectgarbage()
print(before - inuse())
]]

describe("the proof of a leak", function()
  local folder

  before_each(function()
    folder = shell.folder()
  end)

  -- Runs a program. Returns its snapshot and its output.
  local function run(code)
    shell.write(folder .. "/a.lua", code)
    local status, out, err = process.run{directory = folder, "a.lua"}
    assert.same({0, ""}, {status, err})
    return assert(heap.open(folder .. "/x.heap")), out
  end

  for _, case in ipairs(CASES) do
    it("measures the bytes that a removal frees: " .. case[1], function()
      local h, out = run(case[2] .. TRUTH:format(case[4]))
      local cut = assert(h:cut{steps = proof.steps(case[3]), sites = {}})
      local off = math.abs(tonumber(out) - cut.freed)
      assert.is_true(off <= (case[5] or 0), ("%s freed, %d measured"):format(out, cut.freed))
      assert.is_true(cut.freed > 3000 * 16)
    end)
  end

  it("empties a table that other references hold", function()
    local h, out = run([=[
      local list = {}
      other = {list = list}
      for i = 1, 3000 do list[i] = {i} end]=] .. TRUTH:format "for i = 1, #list do list[i] = nil end")
    local steps = {"_G", '["other"]', '["list"]'}
    assert.equal(0, h:cut{steps = steps, sites = {}}.freed)
    assert.equal(tonumber(out), h:cut{steps = steps, sites = {}, elements = true}.freed)
  end)

  it("names the holder of the rest", function()
    local h = run[=[
      local profiler = require "profiler"
      assert(profiler.alloc_start(64, {out = "/dev/null", fixed = true}))
      local list = {}
      other = {list = list}
      for i = 1, 300 do list[i] = {i} end
      collectgarbage()
      assert(profiler.snapshot("x.heap", {wait = true}))]=]
    local group = {holder = '_G → ["other"] → ["list"]', rows = {{file = "a.lua", line = 5, type = "table"}}}
    local p = proof.of(h, group)
    assert.same({true, true}, {p.proved, p.emptied})
    -- not all bytes are freed, because the list itself stays
    assert.is_true(p.share > 0.5 and p.share < 1)
    assert.is_truthy(p.also:find('local "list" of main chunk (a.lua)', 1, true), p.also)
    local text = shown.sentence(p, "this line's")
    assert.is_truthy(text:find('^Proved: emptying %["other"%]%["list"%] of _G frees .* %(measured%), ' ..
      '%d+%% of this line\'s live bytes%. ' ..
      'Removing only this reference is not enough: the emptied object is ' ..
      'also held by local "list" of main chunk %(a.lua%)%.$'),
      text)
  end)

  it("gives the reason why a path cannot be cut", function()
    local h = run([=[
      local u = debug.setuservalue(io.stdout, 1) and io.stdout
      local f = string.gmatch("a b", ("%a"):rep(200))
      keep = f
      table.sort({1, 2}, function(a, b)
        if not done then
          done = true
          require "profiler".snapshot("x.heap", {wait = true})
        end
        return a < b
      end)]=])
    local function reason(path)
      local cut, why = h:cut{steps = proof.steps(path), sites = {}}
      assert.is_nil(cut)
      return why
    end
    assert.equal("the Lua state itself holds this object, and no Lua code can remove that " ..
      "reference", reason "names of metamethods")
    assert.equal("the Lua state itself holds this object, and no Lua code can remove that " ..
      "reference", reason "metatable of strings")
    assert.equal("the object is the table of globals or the main thread, which no Lua code can remove",
                 reason "_G")
    assert.equal("the object is package.loaded, which cannot be removed", reason "package.loaded")
    assert.equal("a stack slot without a local variable holds this object, and no Lua code can clear that " ..
      "slot",
                 reason "stack of C function sort, slot 1")
    local absent = "the snapshot has no object at the end of this path of references"
    assert.equal(absent, reason '_G → ["nothing"]')
    assert.equal("the path of references is empty",
                 select(2, h:cut{steps = {}, sites = {}}))
    assert.same({reason = "no holder is known"}, proof.of(h, {rows = {{type = "table"}}}))
    assert.same({reason = "the bytes are native memory, which no reference of Lua holds"},
                proof.of(h, {holder = "_G", rows = {{type = "native"}}}))
    assert.equal("Not provable: " .. absent .. ".", shown.sentence({reason = absent}, "this line's"))
  end)

  it("gives the reason for C's user values and upvalues", function()
    local h = run[=[
      keep = string.gmatch("a b", ("%a"):rep(200))
      assert(require "profiler".snapshot("x.heap", {wait = true}))]=]
    local paths = {}
    for _, row in ipairs((h:heldby{class = "userdata"})) do paths[#paths + 1] = row.text end
    local cut, why = h:cut{steps = {"_G", '["keep"]', "upvalue 3 of a C function"}, sites = {}}
    assert.same({nil, "an upvalue of a C function holds this object, and only C code can remove that " ..
      "reference"}, {cut, why},
                table.concat(paths, ARROW))
  end)

  it("ends a child that takes too long", function()
    shell.write(folder .. "/b.lua", [=[
      local core = require "profiler.core"
      local list = {}
      for i = 1, 60000 do list[i] = {math.random()} end
      os.execute "mkfifo pipe; sleep 30 <pipe & echo $! >pid; sleep 0.5"
      print(core.snapshot{path = "pipe", replace = 2, wait = 1, inprocess = false, command = "x"})
      os.execute "kill $(cat pid)"]=])
    local _, out = process.run{directory = folder, limit = 300, "b.lua"}
    assert.is_truthy(out:find("took more than 1 s, the limit", 1, true), out)
  end)
end)
