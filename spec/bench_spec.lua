-- SPDX-License-Identifier: MIT
-- The benchmark runner: its pure parts, every workload at a tiny size against the
-- result that pristine Lua gives, and the whole command on stand-in interpreters.
-- Times are never asserted, only that they are there.

local root = debug.getinfo(1, "S").source:match("^@(.-)spec/[^/]*$")
if root == "" then root = "./" end
package.path = root .. "bench/?.lua;" .. package.path

local command = require "runner.command"
local configs = require "runner.configs"
local options = require "runner.options"
local programs = require "runner.programs"
local report = require "runner.report"
local rounds = require "runner.rounds"
local stats = require "runner.stats"

local function interpreter()
  local at = 0
  while arg[at - 1] do at = at - 1 end
  return arg[at]
end

-- Exit status, standard output and standard error of a shell line.
local function shell(line)
  local out, err = os.tmpname(), os.tmpname()
  local _, _, status = os.execute(("%s >%s 2>%s"):format(line, out, err))
  local texts = {}
  for i, path in ipairs { out, err } do
    local file = assert(io.open(path))
    texts[i] = file:read("a")
    file:close()
    os.remove(path)
  end
  return status, texts[1], texts[2]
end

describe("stats", function()
  it("takes the middle value whatever the order, and leaves the list alone", function()
    local list = { 3, 1, 2 }
    assert.equal(2, stats.median(list))
    assert.same({ 3, 1, 2 }, list)
    assert.equal(2.5, stats.median { 4, 1, 2, 3 })
    assert.equal(7, stats.median { 7 })
  end)

  it("gives the geometric mean, in which a ratio and its inverse cancel out", function()
    assert.near(1, stats.geomean { 2, 0.5 }, 1e-12)
    assert.near(4, stats.geomean { 2, 8 }, 1e-12)
  end)

  it("refuses what has no mean", function()
    assert.has_error(function() stats.median {} end, "median of an empty list")
    assert.has_error(function() stats.geomean {} end, "geometric mean of an empty list")
    assert.has_error(function() stats.geomean { 1, 0 } end,
      "geometric mean of a value that is not positive")
  end)

  it("divides place by place and finds the range", function()
    assert.same({ 2, 0.5 }, stats.ratios({ 4, 1 }, { 2, 2 }))
    assert.has_error(function() stats.ratios({ 1 }, {}) end, "lists of different lengths")
    assert.same({ 1, 9 }, { stats.range { 3, 9, 1 } })
  end)
end)

describe("options", function()
  it("fills in what is not given", function()
    local found = options.parse {}
    assert.equal(5, found.rounds)
    assert.equal("size", found.mode)
    assert.same({ "plain", "fork", "idle", "sample" }, found.configs)
    assert.same({}, found.words)
  end)

  it("counts instructions once, at the smaller sizes", function()
    local found = options.parse { "--callgrind", "--rounds", "9" }
    assert.equal(1, found.rounds)
    assert.equal("small", found.mode)
    assert.same({ "plain", "fork" }, found.configs)
  end)

  it("takes values after a blank or an equals sign, and words in between", function()
    local found = options.parse { "json", "--rounds=3", "--configs", "plain,sample=32K", "traps" }
    assert.equal(3, found.rounds)
    assert.same({ "plain", "sample=32K" }, found.configs)
    assert.same({ "json", "traps" }, found.words)
  end)

  it("adds the preloaded library as a configuration", function()
    assert.equal("preload", options.parse({ "--preload", "libx.so" }).configs[5])
    assert.same({ "plain", "preload" }, options.parse({ "--configs=plain", "--preload=x" }).configs)
    assert.same({ "preload", "plain" },
      options.parse({ "--configs=preload,plain", "--preload=x" }).configs)
  end)

  local BAD = {
    [{ "--rounds", "0" }] = '--rounds must be a positive integer, got "0"',
    [{ "--rounds", "x" }] = '--rounds must be a positive integer, got "x"',
    [{ "--rounds" }] = "option --rounds needs a value; see --help",
    [{ "--mode", "huge" }] = '--mode must be size, small or tiny, got "huge"',
    [{ "--period", "4T" }] = '--period must be bytes with an optional K, M or G, got "4T"',
    [{ "--configs", "," }] = '--configs names nothing in ","; see --help',
    [{ "--fast" }] = 'unknown option "--fast"; see --help',
    [{ "--list=yes" }] = 'unknown option "--list=yes"; see --help',
    [{ "-x" }] = 'unknown option "-x"; see --help',
  }
  for args, expected in pairs(BAD) do
    it("refuses " .. table.concat(args, " "), function()
      local found, message = options.parse(args)
      assert.is_nil(found)
      assert.equal(expected, message)
    end)
  end
end)

describe("configs", function()
  local paths = { plain = "/p", fork = "/f", period = "64K", profile = "/tmp/x", preload = "/m.so" }

  it("says how each interpreter is started", function()
    local list = configs.make({ "plain", "fork", "idle", "sample", "sample=1M", "preload" }, paths)
    assert.same({ "/p", "/f", "/f", "/f", "/f", "/p" }, { list[1].lua, list[2].lua, list[3].lua,
      list[4].lua, list[5].lua, list[6].lua })
    assert.same({}, list[2].options)
    assert.same({ "-l", "profiler" }, list[3].options)
    assert.same({ "LUA_PROFILER=alloc=64K,out=/tmp/x,quiet" }, list[4].env)
    assert.same({ "LUA_PROFILER=alloc=1M,out=/tmp/x,quiet" }, list[5].env)
    assert.same({ "LD_PRELOAD=/m.so" }, list[6].env)
  end)

  it("compares with plain for speed and with the fork for the cost of sampling", function()
    local list = configs.make({ "plain", "fork", "idle", "sample=1M", "preload" }, paths)
    local titles = {}
    for i, comparison in ipairs(configs.comparisons(list)) do titles[i] = comparison.title end
    assert.same({ "plain/fork", "idle/fork", "sample=1M/fork", "plain/preload", "preload/fork" }, titles)
  end)

  it("names what is wrong", function()
    local function message(names, given) return select(2, configs.make(names, given or paths)) end
    assert.matches('no configuration named "fast"', message { "fast" })
    assert.matches('no configuration named "plain=3"', message { "plain=3" })
    assert.matches('configuration "plain" is given twice', message { "plain", "plain" })
    assert.matches("add %-%-preload LIB", message({ "preload" }, { plain = "/p" }))
  end)
end)

describe("programs", function()
  it("are chosen by name and by group, in the order of the list", function()
    local names = {}
    for i, program in ipairs(programs.choose(programs.all("b"), { "nbody", "mixed" })) do
      names[i] = program.name
    end
    assert.same({ "json", "strings", "linter", "hash_build", "template", "nbody" }, names)
  end)

  it("include all fourteen of are-we-fast-yet when its folder is given", function()
    local all = programs.all("b", "/awfy")
    assert.equal(14, #programs.choose(all, { "awfy" }))
    assert.equal(5, #programs.choose(all, { "awfy-allocating" }))
    local json = programs.choose(all, { "awfy/Json" })[1]
    assert.equal("/awfy", json.dir)
    assert.equal("Json: runtime: us", json.clean("Json: runtime: 1234us"))
  end)

  it("say how to get are-we-fast-yet when it is not there", function()
    local found, message = programs.choose(programs.all("b"), { "awfy" })
    assert.is_nil(found)
    assert.matches("set AWFY=dir", message)
  end)

  it("have unique names, and a file each", function()
    local seen = {}
    for _, program in ipairs(programs.all("b")) do
      assert.is_nil(seen[program.name])
      seen[program.name] = true
      assert.is_truthy(io.open(root .. "bench/load/" .. program.name .. ".lua")):close()
    end
  end)
end)

describe("command", function()
  it("reads what runstat writes", function()
    assert.same({ wall = 1.5, cpu = 1.25, rss = 2048, status = 3 },
      command.parse_usage("1.500000 1.000000 0.250000 2 3\n"))
    assert.is_nil(command.parse_usage(""))
    assert.is_nil(command.parse_usage("1 2 3"))
  end)

  it("reads the count from a callgrind log", function()
    assert.equal(1234, command.parse_instructions("==1== Events    : Ir\n==1== Collected : 1234\n"))
    assert.is_nil(command.parse_instructions("==1== nothing"))
  end)
end)

describe("rounds", function()
  it("rotate the order, so that everyone comes first", function()
    assert.same({ "a", "b", "c" }, rounds.order({ "a", "b", "c" }, 1))
    assert.same({ "b", "c", "a" }, rounds.order({ "a", "b", "c" }, 2))
    assert.same({ "c", "a", "b" }, rounds.order({ "a", "b", "c" }, 3))
    assert.same({ "a", "b", "c" }, rounds.order({ "a", "b", "c" }, 4))
  end)
end)

describe("report", function()
  local plain, fork = { name = "plain", kind = "plain" }, { name = "fork", kind = "fork" }
  local function row(name, slow, fast, small, large)
    return {
      program = { name = name, groups = { mixed = true } },
      figures = {
        [plain] = { cpu = slow, wall = slow, rss = small },
        [fork] = { cpu = fast, wall = fast, rss = large },
      },
    }
  end
  local rows = {
    row("one", { 2, 4, 6 }, { 1, 1, 2 }, { 2e7, 2e7, 2e7 }, { 1e7, 1e7, 1e7 }),
    row("two", { 1, 1, 1 }, { 2, 2, 2 }, { 1e6, 1e6, 1e6 }, { 3e6, 3e6, 3e6 }),
  }
  local text = report.timed(rows, { plain, fork }, configs.comparisons { plain, fork }, { "mixed" })

  it("shows the median of the rounds' ratios, with the spread", function()
    assert.truthy(text:find("| one | 4.00 | 3.000 (2.000..4.000) | 3.000 |", 1, true))
  end)

  it("gives the mean, the lowest and the highest of a group", function()
    assert.truthy(text:find("| mixed | plain/fork | 2 | 1.225 | 0.500 two | 3.000 one |", 1, true))
  end)

  it("turns memory round, and counts only big programs in its summary", function()
    assert.truthy(text:find("| two | 1.0 | 3.0 | 3.000 (3.000..3.000) |", 1, true))
    assert.truthy(text:find("| mixed | fork/plain | 1 | 0.500 | 0.500 one | 0.500 one |", 1, true))
  end)
end)

describe("a workload", function()
  -- What pristine Lua 5.4.7 gives at the tiny size. The linter's result depends on
  -- the sources it finds, so it is only compared with itself.
  local RESULTS = {
    append = "100 kept, sum 10100",
    binary_trees = "496 nodes, 31 kept",
    closures = "102888",
    coroutines = "5475",
    deep_stack = "11250",
    dictionary = "100 entries, sum 2500",
    ephemerons = "100 entries, sum 5050",
    fannkuch = "4 most, -4",
    finalizers = "100 calls, sum 5050, 0 saved",
    gcbench = "112 weight, 87 kept, 0.062500000",
    hash_build = "569 found, sum 244245",
    json = "86169 bytes, last entry entry 500",
    live_heap = "26 live, ids 2614, hits 85, letters 250",
    lru_cache = "2 hits, 498 held, sum 124693",
    mandelbrot = "27 inside, 1625 steps",
    nbody = "-0.176585377 -0.176585337",
    random_writes = "100 used, sum 5050",
    spectral_norm = "1.261217616",
    strings = "226 distinct, 0, 171905225",
    suspended = "20 suspended, sum 8274",
    template = "7717 bytes, 3340",
    vectors = "35.210870918 3.105292125 -17.605435459, energy 183.762687",
  }

  local function result(name)
    local load = assert(loadfile(root .. "bench/load/" .. name .. ".lua"))()
    assert.truthy(math.type(load.size) == "integer" and load.tiny <= load.small
      and load.small <= load.size)
    math.randomseed(42)
    return tostring(load.run(load.tiny))
  end

  for _, program in ipairs(programs.all("b")) do
    local name = program.name
    it(name .. " gives the same result every time", function()
      local first = result(name)
      if name == "linter" then
        assert.matches("^1 files, [1-9]%d* bytes, ", first)
      else
        assert.equal(RESULTS[name], first)
      end
      assert.equal(first, result(name))
    end)
  end

  it("is refused by one line when its name or size is wrong", function()
    local function complaint(args)
      local status, out, err = shell(interpreter() .. " " .. root .. "bench/load.lua " .. args)
      assert.equal(2, status)
      assert.equal("", out)
      assert.equal(1, select(2, err:gsub("\n", "")))
      return err
    end
    assert.matches("no workload named \"nil\"", complaint "")
    assert.matches("no workload named \"%.%./x\"", complaint "../x")
    assert.matches("cannot load workload \"nothing\"", complaint "nothing")
    assert.matches("size \"0\" is not a positive integer", complaint "nbody 0")
    assert.matches("size \"1%.5\" is not a positive integer", complaint "nbody 1.5")
  end)
end)

describe("bench/run", function()
  local function run(args) return shell(root .. "bench/run --rounds 2 --mode tiny " .. args) end

  -- An interpreter that is a shell script with this body.
  local function stand_in(body)
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write("#!/bin/sh\n", body, "\n")
    file:close()
    assert(os.execute("chmod +x " .. path))
    return path
  end

  local lua = stand_in("exec " .. interpreter() .. ' "$@"')
  local broken = stand_in("echo something else")
  local failing = stand_in("echo no room >&2; exit 3")
  teardown(function()
    for _, path in ipairs { lua, broken, failing } do os.remove(path) end
  end)

  it("prints a row for every program asked for", function()
    local status, out, err = run(("--configs plain,fork --plain %s --fork %s json nbody"):format(lua, lua))
    assert.equal(0, status, err)
    assert.matches("\n| json | %d+%.%d%d | %d+%.%d+ %(", out)
    assert.matches("\n| nbody | %d+%.%d%d | %d+%.%d+ %(", out)
    assert.matches("\n| compute | plain/fork | 1 | ", out)
  end)

  it("fails when an output differs, and says which", function()
    local status, _, err = run(("--configs plain,fork --plain %s --fork %s json"):format(lua, broken))
    assert.not_equal(0, status)
    assert.matches("json: output under fork differs from plain: \"something else", err)
  end)

  it("fails when a program does, and quotes its last words", function()
    local status, _, err = run(("--configs plain,fork --plain %s --fork %s json"):format(lua, failing))
    assert.not_equal(0, status)
    assert.matches("json under fork: exit status 3: no room", err)
  end)

  it("says what is missing", function()
    local status, _, err = run("--plain /nowhere/lua json")
    assert.equal(2, status)
    assert.equal('bench/run: no interpreter at "/nowhere/lua"; build it, or give --plain PATH\n', err)
    status, _, err = run("--configs plain --plain " .. lua .. " nothing")
    assert.equal(2, status)
    assert.matches('no program or group named "nothing"', err)
  end)
end)
