-- SPDX-License-Identifier: MIT
-- bench/fuzz, which compares plain Lua and the fork on random programs. The programs must depend only on
-- the seed, and each must run. The command must list the programs that exceed its limits. Times are not
-- checked.

local points = require "runner.fuzzpoints"
local shell = require "spec.support.shell"

local KINDS = { "array-4", "hash-3", "grown-9", "short-8", "long-48", "userdata-64", "closure-0",
  "closure-4", "coroutine-4", "method-4", "finalizer-1", "weaktable-1", "weakk-2", "weakv-2", "weakkv-2" }

local function names(list)
  local out = {}
  for i, point in ipairs(list) do out[i] = points.name(point) end
  return out
end

describe("the points of bench/fuzz", function()
  it("depend on the seed only, occur once and have names", function()
    local drawn = names(points.draw(5, 300))
    assert.same(drawn, names(points.draw(5, 300)))
    assert.not_same(drawn, names(points.draw(6, 300)))
    local seen = {}
    for _, name in ipairs(drawn) do
      assert.is_nil(seen[name])
      seen[name] = true
      assert.equal(name, points.name(assert(points.parse(name))))
    end
  end)

  it("have programs that run", function()
    shell.output "bench/fuzz --list"  -- compiles fuzzdata.so
    local printed
    local arguments = { "60", "-", "build/bench/fuzzdata.so" }
    local function keep(...) printed = { ... } end
    local env = setmetatable({ arg = arguments, print = keep }, { __index = _G })
    for _, kind in ipairs(KINDS) do
      for _, key in ipairs { "integer", "string", "float", "object" } do
        for _, death in ipairs { "none", "all", "fifo", "random", "lifo" } do
          for _, order in ipairs { "sequential", "random" } do
            local name = table.concat({ kind, 7, key, death, order }, "-")
            local program = points.program(assert(points.parse(name)))
            printed = nil
            assert(load(program, "=" .. name, "t", env))()
            assert.equal(60, printed[1])
            assert.is_true(printed[2] > 0, name)
          end
        end
      end
    end
  end)
end)

describe("bench/fuzz", function()
  it("measures a tiny point", function()
    local point = "hash-3-10-string-fifo-random"
    local status, out, err = shell.run("bench/fuzz --seconds 0.01 --rounds 1 --only " .. point)
    assert.is_true(status == 0 or status == 1, err)
    local row = "\n| %s | [^|]* | [%%d.]+ | %%d+%%.%%.%%d+ | %%d+%%.%%.%%d+ | [%%d.]+ | [%%d.]+ |\n"
    assert.truthy(out:find(row:format((point:gsub("%-", "%%-")))), out)
    assert.truthy(out:find("\n1 points, %d listed, 0 failed.\n"), out)
  end)

  it("prints a help text, and refuses unknown arguments", function()
    local status, out = shell.run "bench/fuzz --help"
    assert.equal(0, status)
    assert.truthy(out:find("bench/fuzz [--seed S]", 1, true), out)
    for given, message in pairs {
      ["--only hash-5-10-string-fifo-random"] = '--only has no point "hash-5-10-string-fifo-random"',
      ["--only x"] = '--only has no point "x"; see --list for names',
      ["--seconds 0"] = '--seconds must be a number above 0 and up to 10, got "0"',
      ["--seed x"] = '--seed must be an integer, got "x"',
      ["--points x"] = '--points must be a positive integer, got "x"',
    } do
      local code, _, err = shell.run("bench/fuzz " .. given)
      assert.equal(2, code)
      assert.truthy(err:find(message, 1, true), err)
    end
  end)
end)
