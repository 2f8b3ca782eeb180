-- SPDX-License-Identifier: MIT
-- The fork must be compatible with Lua 5.4: Debian's C modules, and programs that are linked to
-- liblua5.4.so.0, must run on it unchanged. They must also run if every 512 bytes are sampled.

local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

local interpreter = process.interpreter

local function output(command)
  local status, text = shell.run(command .. " 2>&1")
  return text, status
end

describe("programs built for Lua 5.4", function()
  local dir

  before_each(function() dir = shell.folder() end)

  local function save(name, text)
    shell.write(dir .. "/" .. name, text)
  end

  it("C modules", function()
    assert.equal("done\n", (output(("%s spec/support/modules.lua %s"):format(interpreter(), dir))))
  end)

  it("C modules, sampled", function()
    local text = output(("LUA_PROFILER=alloc=512,quiet,out=%s/p.vmprof %s -l profiler %s %s")
      :format(dir, interpreter(), "spec/support/modules.lua", dir))
    assert.equal("done\n", text)
    local profile = assert(reader.read(dir .. "/p.vmprof"))
    assert.is_true(profile.complete)
    local files = {}
    for _, f in ipairs(profile.functions) do
      if f.native then files[#files + 1] = f.file end
    end
    files = table.concat(files, "\n")
    for _, module in ipairs{"cjson", "lpeg", "luv"} do
      assert.truthy(files:find(module, 1, true), module)
    end
  end)

  for _, clock in ipairs{"", ",wall", require "spec.support.times".exact and ",exact" or nil} do
    it("C modules, with their time sampled" .. clock, function()
      local text = output(("LUA_PROFILER=alloc=64K,time=20000,quiet,out=%s/p.vmprof%s %s -l profiler %s %s")
        :format(dir, clock, interpreter(), "spec/support/modules.lua", dir))
      assert.equal("done\n", text)
      assert.is_true(assert(reader.read(dir .. "/p.vmprof")).complete)
    end)
  end

  -- These specs have the tag #plain: a program that uses the shared library of the sanitizer build would
  -- have to be built with the sanitizer, too.
  describe("#plain linked to liblua5.4.so.0", function()
    local function run(command)
      return output("LD_LIBRARY_PATH=build/lib LD_BIND_NOW=1 " .. command)
    end

    it("clingo", function()
      save("q.lp", [[
#script (lua)
function main(prg)
  local t = {}
  for i = 1, 20000 do t[i] = {i, tostring(i)} end
  prg:ground({{"base", {}}})
  prg:solve()
end
#end.
{a; b; c}. :- a, b.
]])
      local text = run("clingo --verbose=0 " .. dir .. "/q.lp 0")
      -- six lines: the models that clingo found, and the line SATISFIABLE
      assert.equal(6, select(2, text:gsub("[^\n]*\n", "")) - 1, text)
    end)

    it("gnuplot", function()
      save("p.gp", ("set terminal lua tikz\nset output '%s/p.tex'\nplot sin(x)\n"):format(dir))
      local text, status = run("gnuplot " .. dir .. "/p.gp")
      assert.equal("", text)
      assert.equal(0, status)
      local f = assert(io.open(dir .. "/p.tex"))
      assert.truthy(f:read "a":find "\\begin{tikzpicture}")
      f:close()
    end)
  end)
end)
