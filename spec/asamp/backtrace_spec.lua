-- SPDX-License-Identifier: MIT
-- The walk of the C stack for a time sample. It runs in a signal handler, so that it must never wait. It
-- must find the caller of every kind of frame, from any instruction. The debug build compares every walk by
-- unwinding rules with a walk by libunwind.

local process = require "spec.support.process"
local reader = require "profiler.reader"
local samples = require "spec.support.samples"
local shapes = require "shapes"
local shell = require "spec.support.shell"
local signals = require "signals"
local times = require "spec.support.times"

-- Runs code under -l profiler with 10,000 time samples a second. Returns the samples.
local function sampled(code, options)
  local path = os.tmpname()
  local status, out, err = process.run{load = "profiler", code = code, limit = 300,
    env = {LUA_PROFILER = "time=10000," .. options .. ",quiet,out=" .. path}}
  err = err:gsub("^==%d+==WARNING: ASan doesn't fully support makecontext[^\n]*\n", "")
  assert.same({0, "", ""}, {status, out, err})
  local list = samples.read(path)
  return list
end

-- Returns the names of a sample's native frames that belong to the test modules loader, shapes and signals,
-- innermost first.
local function natives(s)
  local list = {}
  for _, f in ipairs(s.stack) do
    if f.native and f.name:find "^%l+_" and (f.name:find "^loader_" or f.name:find "^shape_" or
       f.name:find "^signals_") then list[#list + 1] = f.name end
  end
  return table.concat(list, " ")
end

describe("a signal", function()
  -- The program holds the dynamic loader's lock most of the time. A former bug: the signal handler called
  -- libunwind, which takes this lock. A thread may take it again if it owns it, but a thread that is just
  -- taking or releasing it is not registered as its owner; it then waited for itself. The lookup of
  -- unwinding rules for allocation samples takes the same lock. One run of some hundreds never ended.
  it("finds the loader's lock half taken by the program", function()
    for _, options in ipairs{"alloc=0", "alloc=0,wall"} do
      local list = sampled("require 'loader'.find(0.5)", options)
      assert.is_true(times.within(list, "loader_find") > 0.5)
    end
  end)

  it("finds the loader's lock half taken by the sampler", function()
    sampled([[
      local f = {}
      for i = 1, 200 do
        f[i] = load("return function(f) return (string.gsub('x', 'x', f)) end")()
        f[i](function() local _ = {} end)
      end]], "alloc=64,wall")
  end)

  it("comes while another thread has the loader's lock and waits for this one", function()
    local list = sampled("require 'loader'.wait(0.2)", "alloc=0,wall")
    local share = times.share(list, function(s)
      return natives(s) == "loader_burn loader_wait"
    end)
    assert.is_true(share > 0.3, share)
  end)

  -- A former bug: the walk accepted any address inside the thread's stack as the next frame. If wrong
  -- unwind tables led from another stack to such an address, the walk read unmapped memory.
  it("comes where the unwind tables are wrong", function()
    local list = sampled("for _ = 1, 20 do require 'shapes'.misled(40000000) end", "alloc=0,wall")
    assert.is_true(times.leaf(list, "shape_lie") > 0.5)
  end)

  -- A former bug: a page that an earlier walk had read counted as readable for ever. When the page was
  -- unmapped, a walk through it ended the process by a segmentation fault.
  it("comes where the frame pointer leads to a stack that is unmapped now", function()
    local list = sampled("require 'shapes'.unmapped(60000000)", "alloc=0")
    assert.is_true(times.leaf(list, "shape_bare") > 0.5)
  end)
end)

describe("an interrupted function", function()
  -- Compiles a library in which the function 'name' starts at byte 'start' and has a loop at byte 64. The
  -- bytes at lower addresses belong to the function 'before', which is never called.
  local function library(folder, name, start)
    local nop, loop = 1, "movl $600000000, %eax\n1: subl $1, %eax\njnz 1b\nret"
    if shell.output "uname -m":find "aarch64" then
      nop, loop = 4, "movz w1, #0x23c3, lsl #16\n1: subs w1, w1, #1\nb.ne 1b\nmov w0, #0\nret"
    end
    local text = {".text\n.p2align 6\n"}
    local function add(symbol, nops, code)
      local format = ".globl NAME\n.type NAME, %%function\nNAME: .cfi_startproc\n" ..
                     ".rept %d\nnop\n.endr\n%s\n.cfi_endproc\n.size NAME, . - NAME\n"
      text[#text + 1] = format:format(nops // nop, code):gsub("NAME", symbol)
    end
    if start > 0 then add("before", start, "") end
    add(name, 64 - start, loop)
    shell.write(("%s/%s.s"):format(folder, name), table.concat(text))
    shell.output("cd %s && gcc -shared -nostdlib -Wl,-z,separate-code -o %s.so %s.s", folder, name, name)
  end

  -- A former bug: after a library was unloaded and another one loaded at the same address, a cache returned
  -- the start of a function of the unloaded library.
  it("is that of the library which is loaded at its address now", function()
    local folder = shell.folder()
    library(folder, "first", 0)
    library(folder, "second", 32)
    local path = folder .. "/p.vmprof"
    local env = {ASAMP = "alloc=0,time=1000,quiet,out=" .. path}
    local status, out, err, first, second
    local attempts = 0
    repeat  -- another mapping may take the address of the unloaded library first
      os.remove(path)
      attempts = attempts + 1
      status, out, err = process.run{folder, env = env, code = [[
        local peers, folder = require "peers", ...
        for _, name in ipairs{"first", "second"} do
          local s = peers.new()
          local _, at = assert(s:run([=[
            local f = assert(package.loadlib(...))
            f()
            return ("%p"):format(f)]=], folder .. "/" .. name .. ".so", name))
          print(at + 0)
          if name == "first" then s:close() end  -- unloads the library
        end
        os.exit(0)]]}
      first, second = out:match "^(%d+)\n(%d+)\n$"
      assert.same({0, ""}, {status, err})
    until second - first == 32 or attempts == 10
    assert.equal(32, second - first)
    local profile, n = assert(reader.read(path)), 0
    for i, node in ipairs(profile.sites.node) do
      local inner = profile.functions[profile.nodes.fn[node]].name
      n = n + (inner == "second" and profile.sites.samples[i] or 0)
    end
    assert.is_true(n > 20, n)
  end)
end)

describe("a walk from where a signal came", function()
  -- The expected native frames by test case, innermost first, up to the function that uses the CPU time.
  local SEEN = {
    fixed = "shape_fixed", variable = "shape_variable", pointed = "shape_pointed",
    aligned = "shape_aligned", sorted = "shape_compare shape_sorted",
    signalled = "shape_handler shape_signalled", context = "shape_entry",
  }
  for name, outside in pairs(SEEN) do
    it("passes a frame that is " .. name, function()
      local n, runs = 0, 0
      local function inner() signals.burn(0.1) end
      -- repeats, because on a busy machine the only sample may be outside of the function that uses the CPU
      -- time
      repeat
        local list = times.of(function()
          if name == "variable" then shapes.variable(inner, 100) else shapes[name](inner) end
        end, {rate = 10000})
        for _, s in ipairs(list.times) do
          local found = natives(s)
          if s.stack[1].name ~= "timing_point" and found:find "burn" then  -- TI3
            n = n + 1
            assert.equal(outside, (found:gsub("^signals_spin ", ""):gsub("^signals_burn ", "")))
          end
        end
        runs = runs + 1
      until n > 0 or runs == 100
      assert.is_true(n > 0)
    end)
  end

  -- A former bug: libunwind detected the frame of a signal handler one frame too late. It treated the
  -- interrupted function as a caller, and its caller as interrupted. If the handler had interrupted the
  -- first instruction of a function, the sample named the function at the next lower address (shape_beat).
  -- The debug build ended, because rules and libunwind disagreed.
  it("passes another handler, wherever that has interrupted the program", function()
    local seen, n = {}, 0
    -- repeats, because on a busy machine few samples hit the signal handler of the module shapes
    for _ = 1, 8 do
      local list = times.of(function()
        for _ = 1, 60 do shapes.beaten(0.003) end
      end, {rate = 10000})
      for _, s in ipairs(list.times) do
        local found = natives(s)
        if found ~= "" then seen[found] = (seen[found] or 0) + 1 end
      end
      for _, outside in ipairs{"shape_saving shape_beating shape_beaten", "shape_beating shape_beaten",
                               "shape_beaten"} do
        n = n + (seen["shape_beat shape_again " .. outside] or 0)
        seen["shape_beat shape_again " .. outside] = nil
        seen["shape_again " .. outside], seen[outside] = nil, nil
      end
      if n > 0 then break end
    end
    assert.is_true(n > 0)
    assert.same({}, seen)
  end)

  -- The profile stores a native address without its lowest bit. A former bug: if a function was interrupted
  -- at its first instruction, its address was stored unchanged. If that address was odd, because functions
  -- were not aligned, the sample named the function at the next lower address.
  it("passes a handler that interrupted a function at its first, odd instruction", function()
    local seen, n = {}, 0
    local list = times.of(function() shapes.trapped(2000) end, {rate = 10000})
    for _, s in ipairs(list.times) do
      local found = natives(s)
      if found:find "shape_trap " then
        n = n + 1
        seen[found:gsub("^shape_beat ", "")] = true
      end
    end
    assert.is_true(n > 0)
    assert.same({["shape_trap shape_traps shape_trapped"] = true}, seen)
  end)

  it("is by rules where a signal has come before, and the same", function()
    local seen = {}
    local list = times.of(function()
      -- many short calls, because unwinding rules are looked up at the safepoints between them
      for _ = 1, 200 do signals.burn(0.001) end
    end, {rate = 10000})
    for _, s in ipairs(list.times) do
      local key = {}
      for i, f in ipairs(s.stack) do if i > 1 then key[#key + 1] = f.name end end
      if s.stack[1].name:find "^signals_" then seen[table.concat(key, " ")] = true end
    end
    -- there are one or two different stacks, because a tick interrupts either signals_spin or signals_burn
    local n = 0
    for _ in pairs(seen) do n = n + 1 end
    assert.is_true(n == 1 or n == 2, n)
  end)
end)
