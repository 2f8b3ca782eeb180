-- SPDX-License-Identifier: MIT
--
-- Holders of the samples alive at the end of a session. A holder is the object or variable that keeps the
-- sampled object alive. For five typical leaks, the first row in the report's section of leaks must name
-- the holder that a programmer would name.

local fewer = require "spec.support.fewer"
local holders = require "asamp.sums.holders"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

-- Profiles a program that runs the code 'leak', which keeps objects, and creates garbage, so that
-- collections run. The program repeats this until no pause of the machine was longer than a quarter of its
-- time; after a longer pause, a leak would look like start-up. Returns three values: the report's section
-- of leaks as one line, the profile, and the whole report as one line.
local function report(leak)
  local path = os.tmpname()
  local status, _, err = process.run{code = ([[
    local profiler = require "profiler"
    assert(profiler.alloc_start(1024, {out = ..., overwrite = true, fixed = true}))
    %s
    local function now()
      local file = assert(io.open "/proc/uptime")
      local seconds = file:read "n"
      file:close()
      return seconds
    end
    -- The kept objects of a line are judged by the time of their allocation: even if other work on this
    -- machine stalls the loop, about half of them must come from the later half of its time.
    local times, longest, i = {now()}, 0, 0
    local function steady()
      local last, late = times[#times], 0
      for n = #times, 1, -1 do
        if times[n] - times[1] <= (last - times[1]) / 2 then break end
        late = late + 1
      end
      return longest <= (last - times[1]) / 4 and late >= #times * 0.45
    end
    repeat
      for _ = 1, 1000 do
        i = i + 1
        keep(i)
        local garbage = {i, {i}, tostring(i) .. "x"}
      end
      if i %% 4000 == 0 then collectgarbage() end
      times[#times + 1] = now()
      longest = math.max(longest, times[#times] - times[#times - 1])
    until i >= 12000 and (steady() or i >= 400000)
    collectgarbage()
    assert(profiler.disable())
  ]]):format(leak), path}
  assert.same({0, ""}, {status, err})
  local _, out = process.run{program = "build/bin/asamp", "report", "--width", "400", path}
  local profile = assert(reader.read(path))
  local leaks = assert(out:match "\n(Likely leaks.-)\n\n", out)
  return (leaks:gsub("%s+", " ")), profile, (out:gsub("%s+", " "))
end

-- Returns the holder in the first row of the report's section of leaks, and its share of the samples in
-- percent.
local function first(leaks)
  local share, text = leaks:match "holder of (%d+)%% of [%d,]+ samples: (.-) +[%d.]+[KMB] "
  if not share then
    share, text = leaks:match "holder of (%d+)%% of [%d,]+ samples: (.*)$"
  end
  return assert(text, leaks), tonumber(share)
end

describe("the first row of likely leaks names the holder:", function()
  it("a table of listeners", function()
    local text, share = first(report [[
      local listeners = {close = {}}
      function on(name, f) table.insert(listeners[name], f) end
      function keep(i)
        local s = {data = ("x"):rep(200) .. i}
        on("close", function() return s end)
      end
    ]])
    assert.is_truthy(text:find(
      '^_G → upvalue "listeners" of on %(%S+:%d+%) → %["close"%]'), text)
    assert.is_true(share >= 40, text .. " " .. share)
  end)

  it("an upvalue of a closure", function()
    local text, share = first(report [[
      local function counter()
        local seen = {}
        return function(x) seen[x] = true end
      end
      count = counter()
      function keep(i) count(("x"):rep(200) .. i) end
    ]])
    assert.is_truthy(text:find('^_G → %["count"%] → upvalue "seen" of %S+:%d+'), text)
    assert.is_true(share >= 40, text .. " " .. share)
  end)

  it("a reference in the registry that C has made and not given back", function()
    local section, _, out = report [[
      package.cpath = "build/spec/?.so;" .. package.cpath
      local ref = require "natives".ref
      function keep(i) ref{("x"):rep(200) .. i} end
    ]]
    local text, share = first(section)
    assert.matches("Likely leak: reference of luaL_ref: C code keeps more and more values with luaL_ref", out,
                   1, true)
    assert.is_truthy(text:find "^reference of luaL_ref", text)
    assert.is_true(share >= 40, text .. " " .. share)
  end)

  it("a coroutine that is never resumed", function()
    local text, share = first(report [[
      sessions = {}
      function keep(i)
        if i % 4 > 0 then return end
        local co = coroutine.create(function(n)
          local request = {data = ("x"):rep(2000) .. n}
          coroutine.yield()
          return request
        end)
        coroutine.resume(co, i)
        sessions[#sessions + 1] = co
      end
    ]])
    assert.is_truthy(text:find('^_G → %["sessions"%] → %[1%.%.n%] → local "request" of %S+:%d+, coroutine'),
                     text)
    assert.is_true(share >= 40, text .. " " .. share)
  end)

  it("a cache whose values refer to their keys", function()
    local text, share = first(report [[
      cache = {}
      function keep(i)
        local key = {("x"):rep(200) .. i}
        cache[key] = {owner = key}
      end
    ]])
    assert.is_truthy(text:find '^_G → %["cache"%]', text)
    assert.is_true(share >= 40, text .. " " .. share)
  end)
end)

describe("holders in a profile", function()
  local function run(code)
    local path = os.tmpname()
    local status, out, err = process.run{code = code, path}
    assert.same({0, ""}, {status, err})
    local profile = assert(reader.read(path))
    return profile, out
  end

  it("are of all samples that are alive, and of no other", function()
    local profile = run [[
      local profiler = require "profiler"
      assert(profiler.alloc_start(512, {out = ..., overwrite = true}))
      kept = {}
      for i = 1, 5000 do kept[i] = {{}} end
      collectgarbage()
    ]]
    local samples = 0
    for _, n in ipairs(profile.holders.samples) do samples = samples + n end
    assert.equal(profile.survived - profile.later, samples)
    for i, path in ipairs(profile.holders.parent) do assert.is_true(path < i) end
  end)

  it("are not there when they are not wanted, and on request", function()
    local START = [[
      local profiler = require "profiler"
      assert(profiler.alloc_start(512, {out = ..., overwrite = true, holders = false}))
      for i = 1, 1000 do _G["kept" .. i] = {i} end
      collectgarbage()
    ]]
    assert.is_nil(run(START).holders)
    local profile, out = run(START .. "print(profiler.holders() > 10)")
    assert.equal("true\n", out)
    local _G_ = false
    for _, step in ipairs(profile.holders.step) do _G_ = _G_ or step == "_G" end
    assert.is_true(_G_)
    assert.equal(0, require "profiler".holders())
  end)

  it("are recorded repeatedly, after collections, with the duration of the search", function()
    local profile = run [[
      local core = require "profiler.core"
      assert(core.open{out = ..., number = 1, replace = 2, period = 256, holdersevery = 1, native = false})
      core.on(256, false)
      local kept = {}
      for i = 1, 20000 do kept[i % 700] = {i, {}} end
      collectgarbage()
      assert(core.close())
    ]]
    assert.is_true(profile.walks > 1, profile.walks)
    assert.is_true(profile.walked >= profile.longestwalk)
    local seen = {}
    local h = profile.holders
    -- the table of holders has each pair of parent and step only once
    for i, step in ipairs(h.step) do
      local key = h.parent[i] .. step
      assert.is_nil(seen[key], key)
      seen[key] = true
    end
    assert.truthy(table.concat(h.step, "\n"):find 'local "kept" of main chunk')
    assert.is_true(#h.step < 50)
  end)

  it("are marked in the timelines, and so is a snapshot", function()
    local path = os.tmpname()
    local status, _, err = process.run{code = [[
      local profiler = require "profiler"
      assert(profiler.alloc_start(256, {out = ..., overwrite = true, fixed = true}))
      kept = {}
      for i = 1, 300 do kept[i] = {i} end
      collectgarbage()
      assert(profiler.holders() > 10)
      local s = assert(profiler.snapshot(... .. ".heap", {overwrite = true, wait = true}))
      os.remove(s.path)
      assert(profiler.disable())
    ]], path}
    assert.same({0, ""}, {status, err})
    local profile = assert(reader.read(path))
    local times, sum = profile.walktimes, 0
    -- holders were searched three times: at the first full collection, at the explicit call, and at the end
    assert.equal(3, #times)
    for _, walk in ipairs(times) do sum = sum + walk.duration end
    assert.equal(profile.walked, sum)
    assert.equal("heap snapshot", profile.marks[1].name)
    assert.equal(path .. ".heap", profile.marks[1].value)
    for _, format in ipairs{"view", "convert"} do
      local out = path .. ".out"
      local to = format == "convert" and {"--to", "firefox", "--plain"} or {}
      status, _, err = process.run{program = "build/bin/asamp", format, "--out", out, path, table.unpack(to)}
      assert.equal(0, status, err)
      local text = shell.read(out)
      os.remove(out)
      assert.truthy(text:find("search for holders", 1, true), format)
      assert.truthy(text:find("heap snapshot", 1, true), format)
    end
  end)

  it("of a large heap are looked for by a child, which the program does not notice", function()
    local profile, out = run [[
      local core = require "profiler.core"
      local kept, pad = {}, {}
      for i = 1, 90000 do pad[i] = {i} end
      assert(core.open{out = ..., number = 1, replace = 2, period = 4096, holdersevery = 1, native = false})
      core.on(4096, false)
      local function children()
        local file = assert(io.open "/proc/thread-self/children")
        local text = file:read "a"
        file:close()
        return text
      end
      local before, answers, seen, rounds = "", 0, 0, 0
      repeat  -- until three child processes have ended
        for i = 1, 2000 do kept[i + 2000 * (rounds % 10)] = {i, {}} end
        collectgarbage()
        local now = children()
        if now ~= before and before ~= "" then answers = answers + 1 end
        if now ~= "" and now ~= before then seen = seen + 1 end
        before, rounds = now, rounds + 1
      until answers == 3 or rounds == 3000
      print(answers, seen >= 3, (io.popen "exit 3":close()))
      assert(core.close())
      print(children() == "")
    ]]
    assert.equal("3\ttrue\tnil\ntrue\n", out)
    assert.is_true(profile.walks >= 3, profile.walks)
    local h, held = profile.holders, 0
    for i, path in ipairs(h.path) do
      local text = holders.pathtext(h, path)
      held = held + (text:find('local "kept" of main chunk', 1, true) and h.samples[i] or 0)
    end
    assert.is_true(held > 100, held)
  end)

  it("stay those recorded last, for objects without a holder at the end", function()
    local profile = run [[
      local profiler = require "profiler"
      assert(profiler.alloc_start(256, {out = ..., overwrite = true}))
      before = {}
      for i = 1, 500 do before[i] = {i} end
      collectgarbage()
      assert(profiler.holders() > 10)
      after, before = before, nil
      assert(profiler.holders() > 10)
      after = nil
      assert(profiler.disable())
    ]]
    local steps = table.concat(profile.holders.step, "\n")
    local samples, gone = 0, nil
    for i, step in ipairs(profile.holders.step) do gone = step == '["before"]' and i or gone end
    for i, n in ipairs(profile.holders.samples) do
      local path = profile.holders.path[i]
      assert.is_false(path == gone, steps)
      samples = samples + (path > 0 and n or 0)
    end
    assert.is_true(samples > 10 and steps:find '["after"]' ~= nil, steps)
    -- one of the four searches was at the first full collection
    assert.equal(4, profile.walks)
  end)

  -- The profiler searches holders in lua_close, after the script has ended. A former bug: objects that only
  -- local variables of the main chunk referred to had no holder.
  describe("of a script that has ended under -l profiler", function()
    local SCRIPT = [[
      local log, other = {}, {1}
      for i = 1, 3000 do
        local inner = {i}
        log[i] = {inner}
      end
      do local hidden = {} for i = 1, 100 do hidden[i] = {} end end
      local function last() return #other end
      last(...)
    ]]
    local function ended(finish, ...)
      local path = os.tmpname()
      process.run{load = "profiler", code = SCRIPT .. finish, ...,
                  env = {LUA_PROFILER = "alloc=512,fixed,overwrite,quiet,out=" .. path}}
      local profile = assert(reader.read(path))
      local own, list = {}, holders.tree(profile.holders, 0)
      for _, row in ipairs(list) do own[row.depth .. row.text:gsub(" %b()$", "")] = row.samples end
      return own, profile
    end

    it("are the local variables of its main chunk, whatever its arguments and its end", function()
      for _, finish in ipairs{"", "return", "return 1", "error 'on purpose'", "error({})",
                              "coroutine.wrap(function() last() end)()",
                              -- ends the script by an error in a hook, as Ctrl-C does
                              "debug.sethook(error, '', 1) while true do end"} do
        for _, args in ipairs{{"a", "b", "c"}, fewer{}} do
          local own = ended(finish, table.unpack(args))
          assert.is_true((own['0local "log" of main chunk'] or 0) > 300, finish)
          assert.is_nil(own['0local "hidden" of main chunk'], finish)
        end
      end
    end)

    it("are missing if a collection or another chunk ran after it", function()
      local own = ended "setmetatable({}, {__gc = function() end}) collectgarbage() os.exit(true, true)"
      -- the search has found the frame of the main chunk and its local variable
      assert.is_true(own['0local "log" of main chunk'] > 300)
      local path = os.tmpname()
      local script = process.file(SCRIPT)
      process.run{"-l", "profiler", "-e", "dofile(arg[0]) collectgarbage()", script,
                  env = {LUA_PROFILER = "alloc=512,fixed,overwrite,quiet,out=" .. path}}
      assert(reader.read(path))
    end)
  end)

  it("are not confused by weak tables, deep lists and circles", function()
    local profile = run [[
      local profiler = require "profiler"
      assert(profiler.alloc_start(256, {out = ..., overwrite = true, fixed = true}))
      weak = setmetatable({}, {__mode = "k"})
      list = nil
      ring = {}
      local last = ring
      for i = 1, 3000 do
        list = {next = list, pad = {1, 2, 3, 4}}
        last.onward = {back = last, {5, 6, 7, 8}}
        last = last.onward
        weak[list] = {("v"):rep(50) .. i}
      end
      collectgarbage()
    ]]
    local h, found = profile.holders, {}
    assert.is_true(#h.step < 200, #h.step)
    for _, step in ipairs(h.step) do found[step] = true end
    assert.is_true(found['["next"]'] and found['["onward"]'] and found["[*] (weak key)"])
  end)

  -- A former bug: each element took 85 bytes and 0.5 us more in the search, 2 s for 3 million elements.
  it("are found for elements of a long list beyond the limit, which are counted", function()
    local profile = run [[
      local profiler = require "profiler"
      assert(profiler.alloc_start(4096, {out = ..., overwrite = true, fixed = true}))
      list = nil
      for i = 1, 100000 do list = {next = list} end
      assert(profiler.disable())
    ]]
    local h, alive = profile.holders, {}
    for i, at in ipairs(h.path) do
      local text = at > 0 and holders.pathtext(h, at) or ""
      alive[text] = (alive[text] or 0) + h.samples[i]
    end
    assert.is_true(alive['_G → ["list"] → ["next"]'] > 300, next(alive))
    assert.is_true(profile.left[1].count > 100, profile.left[1].count)
  end)
end)

describe("holders that are gone at the end", function()
  -- A former bug: holders were searched only at the end of the session. A program that had released its
  -- objects by then had no holder in any row.
  it("are known from a search while the heap grew", function()
    local path = os.tmpname()
    local status, _, err = process.run{code = [[
      local profiler = require "profiler"
      assert(profiler.alloc_start(4096, {out = ..., overwrite = true, fixed = true}))
      local function main()
        local requests = {}
        for i = 1, 12000 do
          requests[#requests + 1] = {i, {i}}
          for _ = 1, 800 do local garbage = {i} end
          if i % 1000 == 0 then collectgarbage() end
        end
      end
      main()
      assert(profiler.disable())
    ]], path}
    assert.same({0, ""}, {status, err})
    local profile = assert(reader.read(path, {bins = 16}))
    local found = {}
    for _, p in ipairs(profile.holders.path) do
      found[p > 0 and holders.pathtext(profile.holders, p):match '^local "requests" of main ' or ""] = true
    end
    assert.is_true(found['local "requests" of main '])
    -- The heap walk at the end must find no path to an object of a request. It may find paths to other
    -- sampled objects that are alive, such as the function main.
    for _, p in ipairs(profile.alive.path) do
      assert.is_nil(p > 0 and holders.pathtext(profile.holders, p):match "requests" or nil)
    end
  end)
end)
