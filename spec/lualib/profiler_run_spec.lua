-- SPDX-License-Identifier: MIT
-- `lua -l profiler`: which code is profiled, the options in the variable LUA_PROFILER, and the output.

local peers = require "peers"
local process = require "spec.support.process"
local samples = require "spec.support.samples"
local shell = require "spec.support.shell"

local SCRIPT = [[
local kept = {}
for i = 1, 1000 do kept[i] = {i} end
print(#arg, ...)
]]

-- Runs the interpreter on the script. Returns its exit status, stdout, stderr, and the samples of the
-- profile, if there is one.
local function run(t)
  local path = os.tmpname()
  os.remove(path)
  t.env = {LUA_PROFILER = (t.env and t.env .. "," or "") .. "out=" .. path}
  local status, out, err = process.run(t)
  local list = process.read(path) and samples.read(path)
  os.remove(path)
  return status, out, err, list, path
end

describe("lua -l profiler", function()
  local script
  setup(function() script = process.file(SCRIPT) end)

  it("profiles the script and reports the cost and the path", function()
    local status, out, err, list, path = run{"-l", "profiler", script, "a", "b", env = "alloc=64,fixed"}
    assert.equal(0, status)
    assert.equal("2\ta\tb\n", out)
    local n, period, amount, file = err:match(
      "^profiler: (%d+) samples, one every (%d+ bytes), of ([%d.]+ KiB) allocated; profile: ([^\n]+)\n$")
    assert.equal(path, file)
    assert.equal("64 bytes", period)
    assert.equal(list.points, tonumber(n))
    assert.near(list.points / 16, tonumber(amount:match "[%d.]+"), 0.12)
    assert.near(list.points * 64, tonumber(list.log.metas["asamp.allocated"]), 64)
    local line = 0
    for _, s in ipairs(list) do
      for _, f in ipairs(s.stack) do
        if f.file == script and f.line == 2 then line = line + s.count break end
      end
    end
    -- each table has 40 bytes, and 16 for its element; the list has an array of 1,024 slots
    assert.is_true(math.abs(line * 64 - 1000 * 56 - 16384) < 1000, line)
  end)

  it("reports one sample as one", function()
    local one = process.file "local s = ('x'):rep(1100000)"
    local status, _, err = run{"-l", "profiler", one, env = "alloc=1M,fixed,seed=1"}
    assert.equal(0, status)
    assert.truthy(err:find("^profiler: 1 sample, one every 1 MiB, of 1%.%d MiB allocated; profile: "), err)
  end)

  it("may be written in all of lua's ways", function()
    for _, way in ipairs{{"-lprofiler"}, {"-l", "p=profiler"}, {"-lp=profiler"},
                         {"-e", "x = 1", "-l", "profiler"}, {"-W", "-lprofiler"},
                         {"-i", "-l", "profiler"}} do
      if way[1] ~= "-i" then
        way[#way + 1] = script
        local status, _, err, list = run(way)
        assert.equal(0, status, err)
        assert.truthy(list, table.concat(way, " "))
      end
    end
  end)

  it("is not meant where only the script has such an argument", function()
    for _, way in ipairs{{script, "-l", "profiler"}, {script, "-lprofiler"},
                         {"-e", "x = '-lprofiler'", script}, {"-l", "profiler.core", script},
                         {"-e", "require 'profiler'", script}} do
      local status, _, err, list = run(way)
      assert.same({0, ""}, {status, err})
      assert.is_falsy(list)
    end
  end)

  it("profiles a script from standard input", function()
    local status, out, _, list = run{"-l", "profiler", "-", "x", env = "alloc=64", input = SCRIPT}
    assert.equal(0, status)
    assert.equal("1\tx\n", out)
    assert.is_true(list.points > 1000)
  end)

  -- A former bug: one sample of the session's own start had other outermost frames than all other samples.
  -- So readers could not remove the frames that precede the script, and chance changed the names of all
  -- stacks.
  it("starts with the script: nothing of the profiler is sampled", function()
    local path = os.tmpname()
    local status, _, err = process.run{"-l", "profiler", script,
      env = {LUA_PROFILER = "alloc=64,fixed,seed=1,quiet,overwrite,out=" .. path}}
    assert.equal(0, status, err)
    local n = 0
    for _, s in ipairs(samples.read(path)) do
      n = n + 1
      for _, f in ipairs(s.stack) do assert.is_nil(f.file:find "profiler%.lua$") end
    end
    assert.is_true(n > 100, n)
  end)

  it("profiles code without a script file: -e, and standard input without a dash", function()
    local status, out, _, list = run{"-l", "profiler", "-e", SCRIPT, env = "alloc=64"}
    assert.equal(0, status)
    assert.truthy(out)
    assert.truthy(list)
    _, _, _, list = run{"-lprofiler", env = "alloc=64", input = SCRIPT}
    assert.truthy(list)
  end)

  it("writes SCRIPT.PID.vmprof into the current folder", function()
    local folder = shell.folder()
    local status, _, err = process.run{"-l", "profiler", script, directory = folder}
    assert.equal(0, status, err)
    local name = script:match "[^/]+$"
    local file = err:match "profile: (.-)\n"
    assert.truthy(file:match("^" .. name:gsub("%p", "%%%0") .. "%.%d+%.vmprof$"), file)
    assert.truthy(samples.read(folder .. "/" .. file).log.ended)
    assert.equal("lua", samples.read(folder .. "/" .. file).log.interpreter)
    os.remove(folder .. "/" .. file)
  end)

  it("of a script with a long name has its first 200 bytes, in whole characters", function()
    -- the file system accepts the names of these scripts, but not with .PID.vmprof appended
    for name, expected in pairs{[("n"):rep(251) .. ".lua"] = ("n"):rep(200),
                                [("n"):rep(200)] = ("n"):rep(200),
                                ["n" .. ("\u{8A9E}"):rep(80)] = "n" .. ("\u{8A9E}"):rep(66)} do
      local folder = shell.folder()
      assert(os.execute(("cp %s %s/%s"):format(script, folder, name)))
      local status, _, err = process.run{"-l", "profiler", name, directory = folder}
      assert.equal(0, status, err)
      local file = err:match "profile: (.-)\n"
      assert.equal(expected, file:match "^(.*)%.%d+%.vmprof$")
      assert.truthy(samples.read(folder .. "/" .. file).log.ended)
      shell.remove(folder)
    end
  end)

  -- A former bug: a profile without a sample remained, and the profiler reported it.
  it("writes no profile if the script does not exist", function()
    local folder = shell.folder()
    local status, out, err = process.run{directory = folder, "-l", "profiler", "nosuch.lua"}
    assert.same({1, ""}, {status, out})
    assert.matches("^[^\n]*: cannot open nosuch.lua[^\n]*\n$", err)
    assert.equal("", shell.output("ls " .. folder))
    shell.remove(folder)
  end)

  it("leaves exit status and traceback of a failing script alone", function()
    local broken = process.file "local t = {} error 'this is broken'"
    local status, _, err, list = run{"-l", "profiler", broken, env = "alloc=64,quiet"}
    assert.equal(1, status)
    assert.truthy(list.log.ended)
    local _, _, plain = process.run{broken}
    assert.equal(plain, err)
  end)

  it("goes on when os.exit is refused, with the message of the original", function()
    local code = process.file[[
      for _, v in ipairs{{}, "x", 1.5, "1.5"} do
        print(select(2, pcall(function() os.exit(v) end)))
        if package.loaded.profiler then assert(package.loaded.profiler.stats().on) end
      end
      os.exit "3"]]
    local _, expected = process.run{code}
    local status, out, _, list = run{"-l", "profiler", code}
    assert.same({3, expected}, {status, out})
    assert.truthy(list.log.ended)
  end)

  it("starts once, also if the script loads it again", function()
    local code = process.file[[
      for name in pairs(package.loaded) do package.loaded[name] = nil end
      local t = {}
      for i = 1, 1000 do t[i] = {} end
      assert(require "profiler".disable())]]
    local status, _, err, list = run{"-l", "profiler", code, env = "alloc=64,quiet"}
    os.remove(code)
    assert.same({0, ""}, {status, err})
    assert.truthy(list.log.ended)
  end)

  it("says nothing of allocations when only time was sampled", function()
    local status, _, err, _, path = run{"-l", "profiler", script, env = "alloc=0,time=100"}
    assert.equal(0, status)
    assert.equal(path, err:match "^profiler: %d+ time samples?; profile: ([^\n]+)\n$", err)
  end)

  it("does not speak of time where nothing was allocated, and no time sampled", function()
    local status, _, err, _, path = run{"-l", "profiler", "-v", env = "alloc=64"}
    assert.same({0, "profiler: 0 samples; profile: " .. path .. "\n"}, {status, err})
    status, _, err = run{"-l", "profiler", "-v", env = "alloc=64,quiet=empty"}
    assert.same({0, ""}, {status, err})
    _, _, err = run{"-l", "profiler", script, env = "alloc=64,quiet=empty"}
    assert.matches("^profiler: %d+ samples, ", err)
  end)

  it("ends the profile, with the fates, at os.exit too", function()
    for call, expected in pairs{["os.exit(3)"] = 3, ["os.exit(true, true)"] = 0,
                                ["os.exit(false)"] = 1, ["os.exit()"] = 0,
                                ["coroutine.wrap(function() os.exit(4) end)()"] = 4} do
      local file = process.file(SCRIPT .. call)
      local status, out, err, list = run{"-l", "profiler", file, env = "alloc=64"}
      os.remove(file)
      assert.equal(expected, status)
      assert.equal("0\n", out)
      assert.truthy(err:find "^profiler: %d+ samples?[^\n]+\n$")
      assert.truthy(list.log.ended)
      assert.equal(0, list.undecided)
    end
  end)

  it("can be turned off and on by the script", function()
    local file = process.file [[
      local profiler = require "profiler"
      assert(profiler.stats().on and profiler.period() == 128)
      assert(profiler.alloc_stop())
      assert(not pcall(profiler.enable))
      assert(profiler.disable() and not profiler.disable())
    ]]
    local status, _, err, list = run{"-l", "profiler", file, env = "alloc=128"}
    assert.equal(0, status, err)
    assert.truthy(list.log.ended)
    assert.equal(1, select(2, err:gsub("\n", "")))
  end)

  it("does not concern further states", function()
    local file = process.file [[
      local peers = require "peers"
      local s = peers.new{}
      print(s:run "return require 'profiler'.stats().on")
      s:close()
    ]]
    local _, out = run{"-l", "profiler", file}
    assert.equal("true\tfalse\n", out)
  end)
end)

describe("LUA_PROFILER", function()
  local script
  setup(function() script = process.file(SCRIPT) end)

  local function with(text)
    local status, out, err = process.run{"-l", "profiler", script, env = {LUA_PROFILER = text}}
    return status, out, err
  end

  it("that is wrong gives one line, status 1, and the script does not start", function()
    local period = "must be a period of 64 to 2^62 bytes, or 0 for none, got "
    local known = " (known: alloc, compress, copies, exact, fixed, format, holders, malloc, native, out, "
      .. "overwrite, quiet, rate, ring, seed, snapshot, time, wall)"
    for text, message in pairs{
      ["alloc=3"] = "option 'alloc' " .. period .. '"3"',
      ["alloc=64X"] = "option 'alloc' " .. period .. '"64X"',
      ["alloc="] = "option 'alloc' " .. period .. '""',
      -- former bugs: a key without a value wrote the profile to a file "1", or took one sample a second
      ["alloc"] = "option 'alloc' needs a value; give one, such as alloc=32K",
      ["quiet,out"] = "option 'out' needs a value; give one, such as out=app.vmprof",
      ["time"] = "option 'time' needs a value; give one, such as time=100",
      ["rate"] = "option 'rate' needs a value; give one, such as rate=1000",
      ["native=2"] = "option 'native' must be true or false, 1 or 0, got \"2\"",
      ["fixed=yes"] = "option 'fixed' must be true or false, 1 or 0, got \"yes\"",
      ["seed=x"] = "option 'seed' must be an integer, got \"x\"",
      ["format=perf"] = "option 'format' must be \"stock\" or \"extended\", got \"perf\"",
      ["out="] = "option 'out' must be a path, got \"\"",
      ["time=30001"] = "option 'time' must be 1 to 30000 samples a second, or 0 for none, got \"30001\"",
      ["speed=1"] = 'unknown option "speed"' .. known,
      ["=1"] = 'unknown option "=1"' .. known,
      ["alloc=64,alloc=128"] = "option 'alloc' is given twice",
      ["quiet,alloc=64K,bogus"] = 'unknown option "bogus"' .. known,
    } do
      local status, out, err = with(text)
      assert.equal("profiler: LUA_PROFILER: " .. message .. "\n", err)
      assert.equal(1, status)
      assert.equal("", out)
    end
  end)

  it("takes spaces, empty items and units", function()
    local status, _, err, list = run{"-l", "profiler", script, env = " alloc = 1k ,, , quiet , native=0"}
    assert.same({0, ""}, {status, err})
    assert.equal("1024", list.log.metas.sample_allocated_bytes)
    assert.equal(2, list.log.mode)
  end)

  it("sets format, compression, seed and gaps", function()
    for fixed = 0, 1 do
      local env = "alloc=64,format=extended,compress=0,seed=5,quiet=1,fixed=" .. fixed
      local _, _, _, list = run{"-l", "profiler", script, env = env}
      assert.equal(7, list.log.version)
      assert.equal(tostring(1 - fixed), list.log.metas["asamp.random"])
      local _, _, _, again = run{"-l", "profiler", script, env = env}
      assert.is_true(math.abs(again.points - list.points) < list.points / 4)
    end
  end)

  it("alloc=0 profiles nothing", function()
    local status, out, err, list = run{"-l", "profiler", script, env = "alloc=0"}
    assert.equal(0, status)
    assert.equal("0\n", out)
    assert.equal("", err)
    assert.is_falsy(list)
  end)

  it("empty means the defaults: every 512 KiB, at random gaps", function()
    local status, _, err = run{"-l", "profiler", script}
    assert.equal(0, status)
    assert.truthy(err:find "one every 512 KiB on average, of ")
  end)

  it("names the process in out by %p", function()
    local base = os.tmpname()
    local status = with("quiet,out=" .. base .. ".%p")
    assert.equal(0, status)
    local file = shell.output("ls " .. base .. ".*"):match "[^\n]+"
    assert.truthy(file:find "%.%d+$")
    assert.truthy(samples.read(file).log.ended)
  end)

  it("with a path that cannot be written costs a warning, not the script", function()
    local status, out, err = with "out=/nowhere/x.vmprof"
    assert.equal("profiler: cannot write profile '/nowhere/x.vmprof': No such file or directory\n", err)
    assert.equal(0, status)
    assert.equal("0\n", out)
  end)

  it("with a pipe that nobody reads does not wait for ever", function()
    local pipe = os.tmpname()
    os.remove(pipe)
    assert(os.execute("mkfifo " .. pipe))
    local pid = process.start{"-c",
      ("timeout 300 %s -l profiler %s >%s.out 2>%s.err; echo $? >%s.status"):format(
        process.interpreter(), script, pipe, pipe, pipe),
      program = "sh", env = {LUA_PROFILER = "out=" .. pipe}}
    while peers.kill(pid, 0) do peers.sleep(0.01) end
    local status, out, err = process.read(pipe .. ".status"), process.read(pipe .. ".out"),
                             process.read(pipe .. ".err")
    for _, suffix in ipairs{"", ".status", ".out", ".err"} do os.remove(pipe .. suffix) end
    assert.equal("0\n", status)
    assert.equal("0\n", out)
    assert.equal(("profiler: cannot write profile '%s': no process reads this pipe; start the reader " ..
      "first\n"):format(pipe), err)
  end)
end)

-- A former bug: the message stated that this Lua was not Asamp's.
describe("without a library that profiler/core.so needs #plain", function()
  it("require gives one line that names the library", function()
    local script = process.file [[
      package.preload["profiler.core"] = function()
        error("error loading module 'profiler.core' from file 'core.so':\n\tlibunwind.so.8: " ..
              "cannot open shared object file: No such file or directory", 0)
      end
      print(pcall(require, "profiler"))]]
    local status, out = process.run{script}
    assert.same({0, "false\tprofiler: a library that profiler/core.so needs cannot be loaded; install " ..
                    "that library: error loading module 'profiler.core' from file 'core.so': " ..
                    "libunwind.so.8: cannot open shared object file: No such file or " ..
                    "directory\n"}, {status, out})
  end)
end)

describe("on a Lua without a sampled nursery #plain", function()
  it("require gives one line that says so", function()
    local script = process.file "print(pcall(require, 'profiler'))"
    local status, out = process.run{script, program = "build/plain/bin/lua",
      env = {LUA_PATH = "./lualib/?.lua", LUA_CPATH = "./none/?.so"}}
    assert.equal(0, status)
    local what = "^false\tprofiler: this Lua is not Asamp's, or its module "
      .. "profiler/core%.so is not in package%.cpath; use asamp run, or add ;; to LUA_CPATH %([^\n]*"
    assert.truthy(out:find(what .. "module 'profiler%.core' not found[^\n]*%)\n$"), out)
    -- upstream's Lua, with the fork's module in its path, must reject the module
    status, out = process.run{script, program = "build/plain/bin/lua",
      env = {LUA_PATH = "./lualib/?.lua", LUA_CPATH = "build/lib/asamp/?.so"}}
    assert.equal(0, status)
    assert.truthy(out:find(what .. "undefined symbol: luaN_[^\n]*%)\n$"), out)
  end)
end)
