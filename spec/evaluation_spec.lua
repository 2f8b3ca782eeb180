-- SPDX-License-Identifier: MIT
-- The commands bench/evaluate, bench/sites and bench/plots. Their functions without side effects are tested
-- with invented values; each command runs once at a tiny size. Samples must agree with the exact trace. The
-- cost of sampling is not checked.

local data = require "runner.data"
local evaluation = require "runner.evaluation"
local settings = require "runner.settings"
local shell = require "spec.support.shell"
local siteerror = require "runner.siteerror"

local PATHS = { fork = "bin/lua", profile = "p.vmprof", exact = true }

-- Returns the configurations of a part of the evaluation in their order, without the baselines.
local function of(part, paths, points)
  local list = {}
  for _, batch in ipairs(settings.batches({ part }, paths or PATHS, points)) do
    assert.equal("fork", batch[1].name)
    assert.same({}, batch[1].options)
    for i = 2, #batch do list[#list + 1] = batch[i] end
  end
  return list
end

describe("the settings of bench/evaluate", function()
  it("are each period with C stacks and without, next to the same baseline", function()
    local list = of "period"
    assert.equal(2 + 2 * 9, #list)
    local seen = {}
    for i, each in ipairs(list) do
      seen[each.name] = each
      if each.series == "c" then assert.equal("lua=" .. each.x, list[i + 1].name) end
    end
    assert.same({ "LUA_PROFILER=alloc=32768,out=p.vmprof" }, seen["c=32768"].env)
    assert.same({ "LUA_PROFILER=alloc=32768,native=0,out=p.vmprof" }, seen["lua=32768"].env)
    assert.same({ "-l", "profiler" }, seen["c=16777216"].options)
    assert.same({ {}, {} }, { seen.off.options, seen.off.env })
  end)

  it("have no exact timers where there are none, nor rates that stop a machine", function()
    local exact = 0
    for _, each in ipairs(of "rate") do
      if each.series == "exact" then
        exact = exact + 1
        assert.is_true(each.x <= 10000)
        assert.matches("exact,time=", each.env[1])
      end
    end
    assert.equal(4, exact)
    for _, each in ipairs(of("rate", { fork = "f", profile = "p" })) do
      assert.equal("time", each.series)
    end
  end)

  it("have a long run off, at 512K and at 32K", function()
    local names = {}
    for i, each in ipairs(of "long") do names[i] = each.name end
    assert.same({ "longoff", "long=524288", "long=32768" }, names)
  end)

  it("are few when it must be quick, and a baseline never waits for more than six", function()
    assert.is_true(#of("period", PATHS, settings.QUICK) < #of "period")
    for _, batch in ipairs(settings.batches(settings.PARTS, PATHS)) do assert.is_true(#batch <= 7) end
  end)

  it("are named by their size", function()
    assert.same({ "16K", "4M", "64" }, { settings.size(16384), settings.size(1 << 22), settings.size(64) })
  end)

  it("take other periods", function()
    assert.same({ 32768, 4 << 20, 100 }, settings.sizes { "32K", "4M", "100" })
    assert.equal('--periods has no size "1T"; use 64 or more, K or M',
      select(2, settings.sizes { "1T" }))
  end)

  it("find the sampled bytes in the closing line", function()
    assert.same({ samples = 869, allocated = 455.5 * 1024 ^ 2, timesamples = 0 }, settings.closing(
      "profiler: 869 samples, one every 512 KiB on average, of 455.5 MiB allocated; profile: x"))
    assert.equal(674, settings.closing("profiler: 0 samples, one every 513.5 KiB, of 56 bytes "
      .. "allocated; 674 time samples; profile: x").timesamples)
    assert.same({ samples = 0, allocated = 0, timesamples = 12 },
      settings.closing "profiler: 12 time samples; profile: p")
    assert.is_nil(settings.closing "lua: no such file")
  end)
end)

describe("the report of bench/evaluate", function()
  local function point(series, x, ratios, samples)
    return { series = series, x = x, cpu = ratios, wall = { 2 }, fastest = 1.125, seconds = 2,
      samples = samples,
      timesamples = 0, allocated = 3e9, disk = 10 * samples }
  end
  local results = {
    { program = "loop", base = { cpu = { 1, 3, 2 }, wall = { 1 } }, points = {
      point("off", nil, { 1.001 }, 0), point("idle", nil, { 1.002 }, 0),
      point("c", 32768, { 1.5, 1.1, 1.2 }, 40000), point("c", 1 << 22, { 1.01 }, 300),
      point("fullc", 64, { 9 }, 1000000),
    } },
    { program = "json", base = { cpu = { 1 }, wall = { 1 } }, points = {
      point("c", 32768, { 1.3 }, 20000), point("c", 1 << 22, { 1.004 }, 100),
    } },
  }
  local text = evaluation.report(results)

  it("takes the median of the rounds, and the worst program", function()
    assert.truthy(text:find("| program | 32K | 4M | off | idle |", 1, true))
    assert.truthy(text:find("| loop | 1.200 | 1.010 | 1.001 | 1.002 |", 1, true))
    assert.truthy(text:find("| json | 1.300 | 1.004 | - | - |", 1, true))
    assert.truthy(text:find("| the worst | 1.300 | 1.010 | 1.001 | 1.002 |", 1, true))
    assert.truthy(text:find("by the fastest run of each, which other processes disturb least\n", 1, true))
    assert.truthy(text:find("| json | 1.125 | 1.125 | - | - |", 1, true))
  end)

  it("has the paper's values below, where its text has any", function()
    assert.truthy(text:find("| the worst | 1.300 | 1.010 | 1.001 | 1.002 |\n"
      .. "| the paper's microbenchmark | 3.51 | - | - | - |\n"
      .. "| the paper's worst | 3.88 | 1.25 | - | - |\n", 1, true), text)
    -- the table of the fastest runs does not repeat the worst value
    assert.equal(1, select(2, text:gsub("the paper's worst", "")))
    local rates = evaluation.report {
      { program = "linter", base = { cpu = { 1 }, wall = { 1 } }, points = {
        point("time", 100, { 1.5 }, 10), point("time", 1000, { 1.25 }, 10),
        point("exact", 3000, { 1.5 }, 10),
      } },
    }
    assert.truthy(rates:find("| the worst | 1.500 | 1.250 |\n"
      .. "| the paper's pypy_translate_step | - | > 1.11 |\n\n", 1, true), rates)
    assert.truthy(rates:find("| the worst | 1.500 |\n$"), rates)
    local other = evaluation.report { results[2] }
    assert.is_nil(other:find "the paper's worst")
  end)

  it("has the bytes of a sample as the mean of the programs, and of all samples together", function()
    assert.truthy(text:find("| loop | - | - | 10.0 | - | - | - |\n"
      .. "| json | - | - | 10.0 | - | - | - |\n"
      .. "| mean | - | - | 10.0 | - | - | - |\n| all together | - | - | 10.0 | - | - | - |\n", 1, true), text)
    local few, many = point("c", 32768, { 1 }, 100), point("c", 32768, { 1 }, 900)
    few.disk, many.disk = 4000, 9000
    local files = evaluation.report {
      { program = "json", base = { cpu = { 1 }, wall = { 1 } }, points = {
        few, point("lua", 524288, { 1 }, 5) } },
      { program = "x", base = { cpu = { 1 }, wall = { 1 } }, points = { many } },
      { program = "none", base = { cpu = { 1 }, wall = { 1 } }, points = {
        point("c", 32768, { 1 }, 0) } },
    }
    assert.truthy(files:find("| json | - | - | 40.0 | - | - | 10.0 |\n"
      .. "| x | - | - | 10.0 | - | - | - |\n| mean | - | - | 25.0 | - | - | 10.0 |\n"
      .. "| all together | - | - | 13.0 | - | - | 10.0 |\n", 1, true), files)
  end)

  it("has a section of the long run, whose time is not among those of the short ones", function()
    local long = evaluation.report {
      { program = "linter", base = { cpu = {}, wall = {} }, long = 21.5, points = {
        point("longoff", nil, { 1.002 }, 0), point("long", 524288, { 1.004, 1.006 }, 5000),
        point("long", 32768, { 1.03 }, 80000),
      } },
    }
    assert.equal("## A long run, C and Lua stacks\n\n"
      .. "| program | period | CPU s | overhead | of wall time | fastest | samples | samples/s "
      .. "| bytes a sample |\n"
      .. "| --- |" .. (" ---: |"):rep(8) .. "\n"
      .. "| linter | the baseline | 21.5 | - | - | - | - | - | - |\n"
      .. "| linter | off | 2.0 | 1.002 | 2.000 | 1.125 | - | - | - |\n"
      .. "| linter | 512K | 2.0 | 1.005 | 2.000 | 1.125 | 5000 | 2500 | 10.0 |\n"
      .. "| linter | 32K | 2.0 | 1.030 | 2.000 | 1.125 | 80000 | 40000 | 10.0 |\n", long)
  end)

  it("normalises to a thousand samples a second, as the paper does", function()
    local rate, normalised = evaluation.normalised(results[1].points[3])
    assert.equal(20000, rate)
    assert.near(1.01, normalised, 1e-12)
    assert.truthy(text:find(
      "| loop | 32K, C stacks | 20000 | 1.200 | 2.000 | 1.0100 | 52658 | 3.51 | 1.05 |", 1, true))
    assert.is_nil(select(2, evaluation.normalised(results[1].points[1])))
  end)

  it("has run time and bytes next to the paper's, and leaves out missing measurements", function()
    assert.truthy(text:find(
      "| loop | 2.00 | 3.000 | 1.500 | microbenchmark | 4.44 | 26.937 | 6.063 |", 1, true))
    assert.truthy(text:find("| json | 1.00 | 3.000 | 3.000 | - | - | - | - |", 1, true))
    assert.truthy(text:find("| loop | C and Lua | 9.0 | 2.0 | 1000000 | 10.0 | 10.0 |", 1, true))
    assert.is_nil(text:find("Lua stacks only", 1, true))
    assert.is_nil(text:find("rate of time samples", 1, true))
  end)

  it("has a column a program in its data files", function()
    assert.equal("c\tloop\tjson\n32768\t1.2000\t1.3000\n4194304\t1.0100\t1.0040\n",
      data.text(evaluation.matrix(results, "c")))
    assert.equal("fullc\tloop\tjson\n64\t9.0000\t?\n", data.text(evaluation.matrix(results, "fullc")))
    assert.matches("\nloop\t0.01000\t%?\t%?\t0.05\n", data.text(evaluation.figure10(results)))
    assert.matches("\nloop\tc\t32768\t1.2000\t1.1000\t1.5000\t1.1250\t2.0000\t2.000\t40000\t0\t400000\n",
      data.text(evaluation.all(results)))
  end)
end)

describe("the error of a site", function()
  local TRACE = "1000\n600\t6\ttable\t3\ta.lua\n300\t3\tstring\t3\ta.lua\n60\t2\ttable\t9\tb.lua\n"
    .. "40\t1\ttable\t0\t-\n"
  local exact = siteerror.exact(TRACE)

  -- A profile with one stack: line 3 of function 2 calls the C function 1, and line 8 of function 3 calls
  -- function 2.
  local profile = {
    samples = 100, undecided = 2,
    functions = {
      { name = "insert", file = "-", native = true }, { name = "f", file = "a.lua", native = false },
      { name = "g", file = "b.lua", native = false }, { name = "[no function]", file = "-", native = true },
    },
    nodes = { parent = { 0, 1, 2, 0 }, fn = { 3, 2, 1, 4 }, line = { 8, 3, 0, 0 } },
    kinds = { { name = "table" }, { name = "table", class = "Point" }, { name = "x", time = true } },
    sites = { node = { 2, 3, 4, 2 }, kind = { 1, 2, 1, 3 }, samples = { 50, 44, 6, 1000 } },
  }

  it("refers to the innermost Lua line and the type, whatever the class", function()
    local found = siteerror.sampled(profile)
    assert.same({ ["table\t3\ta.lua"] = 94, ["table\t0\t-"] = 6 }, found.sites)
    assert.same({ 100, 2 }, { found.samples, found.undecided })
  end)

  it("is counted in standard errors of its share", function()
    local list = siteerror.compare(exact, { samples = 100, sites = { ["table\t3\ta.lua"] = 70 } }, 30)
    assert.equal(2, #list)
    assert.same({ "table\t3\ta.lua", "string\t3\ta.lua" }, { list[1].key, list[2].key })
    assert.near(10 / math.sqrt(100 * 0.6 * 0.4), list[1].z, 1e-9)
    assert.near(-30 / math.sqrt(100 * 0.3 * 0.7), list[2].z, 1e-9)
  end)

  it("does not exist where there is only one site", function()
    local one = siteerror.exact "8\n8\t1\ttable\t1\ta.lua\n"
    assert.equal(0, siteerror.compare(one, { samples = 5, sites = {} }, 1)[1].z)
  end)

  it("has a tally and a distribution", function()
    assert.same({ n = 4, within = 3, worst = 5, rms = math.sqrt(35 / 4) }, siteerror.tally { 1, -3, 0, -5 })
    assert.same({ n = 0, within = 0, worst = 0, rms = 0 }, siteerror.tally {})
    assert.equal(0.5, siteerror.below({ 1, -3, 0, -5 }, 2))
  end)

  it("is not computed for an inconsistent trace", function()
    local found, message = siteerror.exact((TRACE:gsub("^1000", "1001")))
    assert.is_nil(found)
    assert.equal("the exact trace has 1000 bytes, the core has counted 1001", message)
    assert.matches("no exact trace", select(2, siteerror.exact ""))
    assert.equal(4, siteerror.unknown(exact, { sites = { ["proto\t1\tx"] = 4, ["table\t0\t-"] = 2 } }))
  end)

  it("is measured at a period that gives samples enough", function()
    assert.equal(64, siteerror.period(1000, 50000))
    assert.equal(1024, siteerror.period(100 * 1024, 100))
    assert.equal(512, siteerror.period(100 * 1024 - 1, 100))
  end)
end)

describe("the commands #plain", function()
  local folder = shell.folder()

  local run = shell.run

  it("evaluate, find the sites and draw the figures", function()
    local status, out, err = run("bench/evaluate --quick --rounds 1 --mode tiny --data " .. folder
      .. " loop gcbench")
    assert.equal(0, status, err)
    assert.matches("\n| loop | %d+%.%d+ | %d+%.%d+ | %d+%.%d+ | microbenchmark | 4.44 ", out)
    assert.matches("\n| program | 16K | 4M | off | idle |\n", out)
    assert.truthy(out:find("\n| the paper's worst | - | 1.25 | - | - |\n", 1, true), out)
    assert.matches("\n| mean | [%d.-]+ | [%d.-]+ | %- | %- | %- | %- |\n| all together | ", out)
    -- the table "A long run" is missing, because neither program has the size 'long'
    assert.is_nil(out:find "A long run")
    assert.matches("\n| gcbench | C and Lua | %d+%.%d | %d+%.%d | %d+ | %d+%.%d | %d+%.%d |\n", out)

    status, out, err = run("bench/sites --seeds 2 --samples 5000 --mode small --data " .. folder
      .. " closures pattern")
    assert.equal(0, status, err)
    -- Each iteration of the program 'pattern' allocates 256 bytes in all, at 4 sites. With fixed intervals,
    -- all samples are at one of these sites. With random intervals, the errors of the sites are below 5
    -- standard errors: chance exceeds this in one of 200,000 runs, and the seeds are fixed.
    local random, fixed = out:match("\n| pattern | [%d.]+ | %d+ | 4 | [%d.]+%% | [%d.]+ | ([%d.]+)"
      .. " | [%d.]+%% | [%d.]+ | ([%d.]+) |")
    assert.is_true(tonumber(random) < 5 and tonumber(fixed) > 20, out)
    assert.matches("\n| pattern | table, pattern.lua:%d+ | ", out)
    assert.matches("without a fate: 0; at sites that the exact trace has not: 0%.", out)

    status, out, err = run("bench/plots " .. folder)
    assert.equal(0, status, err)
    for _, name in ipairs { "c", "figure10", "sites" } do
      assert.truthy(out:find(folder .. "/" .. name .. ".svg", 1, true), out)
      local svg = shell.read(folder .. "/" .. name .. ".svg")
      assert.matches("</svg>%s*$", svg)
      if name == "c" then assert.matches(">gcbench<", svg) end
    end
  end)

  it("compare equal runs", function()
    local status, out, err = run("bench/diffs --mode tiny json")
    assert.equal(0, status, err)
    assert.matches("\n| json | bytes | [+-][%d.]+%% | %d+ | %d+ | [%d.]+%% | [%d.]+ |\n", out)
    assert.matches("\n| all | bytes |  | %d+ | ", out)
  end)

  it("report an error in one line", function()
    local wrong = {
      ["bench/diffs --mode big"] = 'bench/diffs: --mode must be size, small or tiny, got "big"\n',
      ["bench/diffs --pairs 0"] = 'bench/diffs: --pairs must be a positive integer, got "0"\n',
      ["bench/diffs --fork /nowhere"] =
        "diffs: no interpreter at /nowhere; run make fork, or give --fork PATH\n",
      ["bench/evaluate --parts all"] =
        'bench/evaluate: --parts has no part "all"; use period, rate, long, full\n',
      ["bench/evaluate --mode big"] = 'bench/evaluate: --mode must be size, small or tiny, got "big"\n',
      ["bench/evaluate --fork /nowhere"] =
        'bench/evaluate: no interpreter at "/nowhere"; run make fork, or give --fork PATH\n',
      ["bench/sites --seeds none"] = 'bench/sites: --seeds must be a positive integer, got "none"\n',
      ["bench/sites --fork /nowhere/bin/lua"] =
        "sites: no interpreter at /nowhere/bin/lua; build it, or give --fork PATH\n",
      ["bench/plots /nowhere"] = "plots: no folder '/nowhere'; run bench/evaluate --data '/nowhere'\n",
    }
    for line, message in pairs(wrong) do
      local status, out, err = run(line)
      assert.same({ 2, "", message }, { status, out, err }, line)
    end
  end)
end)
