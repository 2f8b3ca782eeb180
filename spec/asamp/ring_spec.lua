-- SPDX-License-Identifier: MIT
--
-- The flight recorder (option ring=), which keeps samples in memory and writes them on request and when the
-- process ends. Its file must be a profile with all samples of the most recent time and, of older samples,
-- those that are alive.

local host = require "asamp.host"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local samples = require "spec.support.samples"
local shell = require "spec.support.shell"

-- The command is that of the release build; the process that it profiles runs the build under test.
local prefix = process.interpreter():match "^(.*)/bin/[^/]+$":gsub("/build/%l+$", "/build")

local here = host.realpath "."

describe("a flight recorder", function()
  local folder

  before_each(function()
    folder = shell.folder()
  end)

  local function run(text, t)
    shell.write(folder .. "/x.lua", text)
    t.directory, t[#t + 1] = folder, "x.lua"
    t.env.LUA_PATH = package.path:gsub("%f[^;\0]%./", here .. "/")
    t.env.LUA_CPATH = package.cpath:gsub("%f[^;\0]%./", here .. "/")
    return process.run(t)
  end

  -- A program with deep and shallow stacks and objects of several classes, of which many die, early or
  -- late.
  local PROGRAM = [[
    local A, B = {__name = "Alpha"}, {__name = "Beta"}
    local keep, n = {}, 0
    local function make(i) return setmetatable({i, {i}}, i % 3 == 0 and A or B) end
    local function down(d, i) if d > 0 then local t = down(d - 1, i) return t end return make(i) end
    for i = 1, 30000 do
      local t = down(i * 7919 % 30, i)
      if i % 11 == 0 then n = n + 1; keep[n] = t end
      if i % 4000 == 0 then
        for k = 1, n, 2 do keep[k] = false end
        collectgarbage(i % 8000 == 0 and "collect" or "step")
      end
    end
    collectgarbage()]]

  -- Returns the number of live samples by stack, type, class and size, and their total.
  local function alive(path)
    local list, count = samples.read(path), {}
    for _, s in ipairs(list) do
      if s.kind and s.survived and not s.death then
        local key = {s.kind, s.class or "", s.size}
        for _, f in ipairs(s.stack) do key[#key + 1] = f.name .. ":" .. f.line end
        key = table.concat(key, " ")
        count[key] = (count[key] or 0) + s.count
      end
    end
    return count, #list
  end

  it("keeps all live samples in a small capacity, each with its stack and class", function()
    local wish = "alloc=256,fixed,seed=1,native=0,quiet,holders=0,out="
    assert.equal(0, (run(PROGRAM, {"-l", "profiler", env = {LUA_PROFILER = wish .. "whole"}})))
    assert.equal(0, (run(PROGRAM, {"-l", "profiler", env = {LUA_PROFILER = wish .. "part,ring=64K"}})))
    local whole, n = alive(folder .. "/whole")
    local part, m = alive(folder .. "/part")
    assert.same(whole, part)
    assert.is_true(m < n / 2 and m > 500, m .. " of " .. n)
    local p = assert(reader.read(folder .. "/part"))
    assert.is_true(p.complete, p.message)
    assert.is_true(p.ring.samples > 100 and p.ring.samples <= p.samples and p.ring.seconds > 0)
    assert.equal(p.ring.samples * 256, p.ring.bytes)
    -- p.allocated is nil: the exact number of bytes is known only for the whole run, not for the recorded
    -- part
    assert.is_nil(p.allocated)
    assert.same({}, p.left)
  end)

  it("writes on every request, and at the end, of many states", function()
    local code, out, err = run([[
      local profiler, states = require "profiler", require "states"
      local keep = {}
      local function work(n) for i = 1, n do keep[i % 100] = {i, tostring(i)} end end
      work(20000)
      print(profiler.dump())
      print(profiler.dump "own.vmprof")
      print(profiler.dump "/nowhere/own.vmprof")
      print(pcall(profiler.dump, 5))
      work(20000)
      print(profiler.mark("end", 2))]],
      {env = {ASAMP = "alloc=1K,time=500,ring=1m,out=p.%n.vmprof,quiet,native=0"}})
    assert.same({0, ""}, {code, err})
    assert.equal(folder .. "/p.1.vmprof\nown.vmprof\nnil\tcannot write profile '/nowhere/own.vmprof': " ..
      "No such file or directory\nfalse\tbad argument #1 to 'dump' (path expected, got 5)\ntrue\n", out)
    local first = assert(reader.read(folder .. "/p.1.vmprof"))
    local own = assert(reader.read(folder .. "/own.vmprof"))
    local last = assert(reader.read(folder .. "/p.1.2.vmprof"))
    for _, p in ipairs{first, own, last} do
      assert.is_true(p.complete, p.message)
      assert.equal(60, p.ring.wanted)
    end
    assert.is_true(first.samples > 500 and own.samples >= first.samples)
    assert.is_true(last.samples > first.samples * 1.5)
    assert.same({"end", "2"}, {last.marks[1].name, last.marks[1].value})
  end)

  -- Runs the program 'text' with the options 'wish'; it must end with this exit status. Returns its
  -- profiles, each of which must be complete and have samples, and stderr.
  local function ends(wish, text, status)
    local code, _, err = run(text, {env = {ASAMP = wish .. ",alloc=1K,native=0,out=p.vmprof",
      ASAN_OPTIONS = "handle_abort=0:detect_leaks=0:allocator_may_return_null=1"}})
    assert.equal(status, code, err)
    local list = {}
    for i, name in ipairs{"p.vmprof", "p.2.vmprof"} do
      list[i] = host.samefile(folder .. "/" .. name, folder .. "/" .. name) and
        assert(reader.read(folder .. "/" .. name)) or nil
      assert.is_true(not list[i] or list[i].complete and list[i].samples > 100, name .. err)
    end
    return list, err
  end

  local WORK = "local keep = {} for i = 1, 20000 do keep[i % 100] = {i, tostring(i)} end "
  local KILL = [[io.popen "kill -%s $PPID":close() require "peers".sleep(20)]]

  for _, wish in ipairs{"ring=10m", "quiet"} do
    it("and a file (" .. wish .. ") are whole however the process ends", function()
      for signal, number in pairs{TERM = 15, ABRT = 6, HUP = 1, QUIT = 3, PIPE = 13} do
        assert.equal(1, #ends(wish, WORK .. KILL:format(signal), 128 + number))
        os.remove(folder .. "/p.vmprof")
      end
      assert.equal(1, #ends(wish, WORK .. "error 'x'", 1))
      os.remove(folder .. "/p.vmprof")
      assert.equal(1, #ends(wish, WORK .. "os.exit(3)", 3))
      os.remove(folder .. "/p.vmprof")
      local list, err = ends(wish, WORK .. [[
        for i = 1, 3 do assert(not pcall(require "natives".userdata, 1 << 46)) end ]] .. WORK, 0)
      local name, value = list[1].marks[1].name, list[1].marks[1].value
      assert.same({"memory ran out", "1, "}, {name, value:match "^(1, )%d+$"})
      if wish == "quiet" then return end
      assert.equal(2, #list)
      assert.is_true(list[2].samples > list[1].samples * 1.5)
      assert.is_truthy(err:find("profiler: memory ran out; the flight recorder was written to " ..
                                "'[^\n]+/p.vmprof'\n"))
    end)
  end

  it("leaves the program's signal actions unchanged", function()
    for _, signal in ipairs{"TERM", "PIPE", "QUIT"} do
      local code, out, err = run(WORK .. [[io.popen("kill -" .. arg[1] .. " $PPID"):close() print "there"]],
        {"-c", "trap '' $1; exec \"$0\" \"$2\" $1", process.interpreter(), signal, program = "sh",
         env = {ASAMP = "ring=1m,quiet,out=p.vmprof"}})
      assert.same({0, "there\n", ""}, {code, out, err})
      assert.is_true(assert(reader.read(folder .. "/p.vmprof")).complete)
      os.remove(folder .. "/p.vmprof")
    end
  end)

  it("obeys requests of other processes; rotate and keep bound the files", function()
    local code, _, err = run([[
      local host = require "asamp.host"
      local keep = {}
      local function work() for i = 1, 5000 do keep[i % 100] = {i, tostring(i)} end end
      work()
      require "peers".thread("local t = {} for i = 1, 50000 do t[i % 100] = {i} end"):join()
      local command = os.getenv "COMMAND" .. " record --ring %s x.sock"
      for i = 1, 12000 do
        if host.samefile("x.sock", "x.sock") then break end
        host.pause(10)
      end
      assert(os.execute(command:format "-o q.vmprof"))
      assert(os.execute(command:format ""))
      assert(not os.execute(command:format "--for 5s" .. " 2>/dev/null"))
      assert(host.query("x.sock", "rotate\n"):find "/p.2.vmprof\nok\n$")
      assert(host.query("x.sock", "dump x\n"):find "^error the path of the profile must start with a /")
      assert(host.query("x.sock", "record 1 4096 0 " .. os.getenv "HERE" .. "/r.vmprof\n"):find "ok\n$")
      assert(host.query("x.sock", "dump\n"):find "^error the process has no flight recorder")
      work()
      assert(host.query("x.sock", "stop\n"):find "ok\n$")
      work()]],
      {env = {ASAMP = "alloc=1K,ring=1m,listen=x.sock,out=p.vmprof,quiet,native=0",
              COMMAND = "unset ASAMP ASAN_OPTIONS; " .. prefix .. "/bin/asamp", HERE = folder}})
    assert.equal(0, code, err)
    for _, name in ipairs{"q", "p", "p.2", "p.3", "r", "p.4"} do
      local p = assert(reader.read(("%s/%s.vmprof"):format(folder, name)))
      assert.is_true(p.complete, name)
      assert.equal(name ~= "r", p.ring ~= nil)
      -- A former bug: the profile of a dump stated a total of allocated bytes as exact, but the bytes of
      -- states that were still open were missing.
      if name == "q" or name == "p" then assert.is_nil(p.allocated, name) end
      if name == "p.4" then assert.is_true(p.allocated > 0) end
    end
  end)

  -- If the file of a profile fails before the process ends, all samples that are lost with it must be
  -- counted. Former bugs: none was counted; later, samples after the state's last collection or reported
  -- sample were not counted (16,120 of 18,081 were).
  for kind, wish in pairs{["recorder's dump"] = "ring=1m,", file = ""} do
    it("reports and counts the samples lost with a " .. kind .. " that ends before the process", function()
      local code, out, err = run([[
        local host, gen = require "asamp.host", require "profilegen"
        local keep = {}
        local function down(d, i) if d > 0 then local t = down(d - 1, i) return t end return {i} end
        local function work() for i = 1, 20000 do keep[i % 100] = down(i * 7919 % 40, i) end end
        for _ = 1, 12000 do
          if host.samefile("x.sock", "x.sock") then break end
          host.pause(10)
        end
        gen.filelimit(4096)
        work()
        assert(host.query("x.sock", "record 60 4096 0 " .. os.getenv "HERE" .. "/r.vmprof\n"):find "ok\n$")
        print(host.query("x.sock", "stats\n"):match "\nlost (%d+)")
        gen.filelimit(1 << 30)]],
        {env = {ASAMP = wish .. "alloc=64,fixed,listen=x.sock,out=p.vmprof,quiet,native=0", HERE = folder}})
      assert.equal(0, code, err)
      local lost = tonumber(out)
      assert.is_true(lost > 1000, out)
      local reported = tonumber(err:match "/p%.vmprof: File too large; (%d+) samples are lost\n")
      assert.is_true(reported and reported <= lost and lost - reported < 100, err .. out)
    end)
  end

  -- Former bugs: the message about a failed dump named the recorder's first file, which was complete.
  -- Without compression, a failed dump left an empty file.
  for _, compress in ipairs{1, 0} do
    it("leaves no file of a failed dump, and names it, with compress=" .. compress, function()
      local code, _, err = run([[
        local host, gen = require "asamp.host", require "profilegen"
        local keep = {}
        local function down(d, i) if d > 0 then local t = down(d - 1, i) return t end return {i} end
        for i = 1, 20000 do keep[i % 100] = down(i * 7919 % 40, i) end
        for _ = 1, 12000 do
          if host.samefile("x.sock", "x.sock") then break end
          host.pause(10)
        end
        local function list() return require "spec.support.shell".output "ls *.vmprof 2>/dev/null; :" end
        local function send(what) return host.query("x.sock", what .. "\n") end
        gen.filelimit(1000)
        for _, what in ipairs{"dump", "rotate", "dump " .. os.getenv "HERE" .. "/q.vmprof"} do
          assert(send(what):find "^error cannot write profile '[^']+': File too large\n$")
        end
        assert(list() == "", list())
        gen.filelimit(1 << 30)
        assert(send "dump":find "/p.vmprof\nok\n$")
        assert(send "dump":find "/p.2.vmprof\nok\n$")
        gen.filelimit(1000)
        -- the third file fails, and q.vmprof exists
        assert(send "dump":find "^error cannot write profile '[^']+/p%.3%.vmprof': File too large\n$")
        assert(os.rename("p.2.vmprof", "q.vmprof"))
        assert(send("dump " .. os.getenv "HERE" .. "/q.vmprof"):find "/q%.2%.vmprof': File too large\n$")
        assert(os.rename("q.vmprof", "p.2.vmprof"))]],
        {env = {ASAMP = "ring=1m,alloc=64,listen=x.sock,out=p.vmprof,quiet,native=0,compress=" .. compress,
             HERE = folder}})
      assert.equal(0, code, err)
      for _, name in ipairs{"p", "p.2"} do
        assert.is_true(assert(reader.read(("%s/%s.vmprof"):format(folder, name))).complete)
      end
      -- the file written at the exit is incomplete. It is kept, because no other file has its samples
      assert.is_false(assert(reader.read(folder .. "/p.3.vmprof")).complete)
    end)
  end

  -- the number of seconds must not overflow to a valid number
  it("wants a time or a size", function()
    local code, _, err = run("", {env = {ASAMP = "ring=10"}})
    assert.equal(0, code)
    assert.is_truthy(err:find([[ASAMP: option 'ring' must be a time up to 31d, such as "90s", "10m" or ]] ..
      [["1h", or a size from "64K" to "1G", got "10"; nothing is profiled]], 1, true), err)
    code, _, err = run("", {env = {ASAMP = "rotate=5124095576030432h"}})
    assert.equal(0, code)
    assert.is_truthy(err:find([[ASAMP: option 'rotate' must be a time from 1s to 366d, such as 90s, 5m ]] ..
      [[or 1h, got "5124095576030432h"; nothing is profiled]], 1, true), err)
  end)
end)
