-- SPDX-License-Identifier: MIT
-- Programs with little memory: their address space, or the memory of their state, has a limit just above
-- the program's need. Such a program must give its result or fail with "not enough memory". Its profile
-- must be complete, or be refused with the reason. Former bugs: when memory had run out, the lookup of a
-- name ended the program with status 127, because the dynamic loader allocates thread-local variables when
-- they are first used. All samples were lost, because the writer had no memory.

local peers = require "peers"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

local PROGRAM = [[
  local keep, sum = {}, 0
  local function build(n)
    local t = {}
    for i = 1, n do t[i] = {i, tostring(i)} end
    return t
  end
  for r = 1, 6 do
    keep[r] = build(1000 * r)
    for i = 1, #keep[r] do sum = sum + keep[r][i][1] + #keep[r][i][2] end
  end
  print(sum)]]

-- Patterns of the messages that the profiler may print in such a program.
local SAID = {
  "^profiler: %d+ samples?[^\n]*; profile: ",
  "^profiler: cannot write profile '[^']+': not enough memory; raise the limit %(ulimit %-v, now %d+ KiB%)$",
  "^profiler: cannot write profile '[^']+': cannot start the thread that writes the profile: too little " ..
    "memory %(ulimit %-v, in KiB, now %d+%)",
  "^profiler: cannot write profile '[^']+': Cannot allocate memory$",
  "^profiler: cannot sample time: ",
  "^profiler: memory ran out; the flight recorder was written to '",
  "^profiler: [^ ]+: %d+ samples? [ia][sr]e? lost$",
  "^profiler: [^ ]+: not enough memory; raise the limit %(ulimit %-v, now %d+ KiB%); "
    .. "%d+ samples? [ia][sr]e? lost$",
  "^profiler: cannot sample native memory: ",
  "^profiler: cannot listen [ao][tr] ",
}

local function issaid(line)
  for _, pattern in ipairs(SAID) do
    if line:find(pattern) then return true end
  end
  return line:find("not enough memory", 1, true)
end

-- Checks that all profiles in 'folder' are complete, and removes them. Returns their number.
local function profiles(folder, note)
  local names = shell.lines(shell.output("ls " .. folder))
  for _, name in ipairs(names) do
    local p, why = reader.read(folder .. "/" .. name)
    assert(p and p.complete, note .. name .. ": " .. tostring(why or p and p.message))
    os.remove(folder .. "/" .. name)
  end
  return #names
end

local folder
before_each(function()
  folder = shell.folder()
end)

describe("a program near its limit", function()
  -- ASan needs terabytes of address space, and the debug build's verifier ends a process without memory
  local variant = os.getenv "ASAMP_VARIANT"
  if variant ~= "asan" and variant ~= "debug" then
    it("of address space has its result, or no memory, and its profile is whole", function()
      local script, expected = process.file(PROGRAM), "45587858\n"
      local malloc = package.searchpath("profiler.malloc", package.cpath)
      local out = "out=" .. folder .. "/%p.vmprof,"
      local ways = {
        {LUA_PROFILER = out .. "alloc=4K"},
        {LUA_PROFILER = out .. "alloc=512K,holders=1s,time=1000"},
        {LUA_PROFILER = out .. "alloc=4K,malloc=4K", LD_PRELOAD = malloc, ASAMP_MALLOC = "4096"},
        {ASAMP = out .. "alloc=4K,ring=1M", LUA_PROFILER = ""},
        {ASAMP = out .. "alloc=64K,rotate=1s,listen=" .. folder .. "/%p.sock", LUA_PROFILER = ""}}
      local step = tonumber(os.getenv "ASAMP_LIMITS") or 8000
      local ran, starved, whole = 0, 0, 0
      for kib = 14000, 30000, step do
        for i, env in ipairs(ways) do
          local status, text, err = process.run{"-c", 'ulimit -v $0; exec "$@"', kib,
            process.interpreter(), env.ASAMP and "--" or "-lprofiler", script,
            program = "sh", env = env, limit = 300}
          local note = ("%d KiB, way %d: %d, %s%s"):format(kib, i, status, text, err)
          if status == 0 then
            ran = ran + 1
            assert.equal(expected, text:match "%d+\n", note)
          else
            starved = starved + 1
            assert.equal(1, status, note)
            assert.equal("", text, note)
            assert.truthy(err:find "not enough memory", note)
          end
          for line in err:gmatch "profiler: [^\n]+" do assert.truthy(issaid(line), note) end
          os.execute("rm -f " .. folder .. "/*.sock")
          whole = whole + profiles(folder, note)
        end
      end
      assert.is_true(ran > 0 and starved > 0 and whole > #ways, ran .. " " .. starved .. " " .. whole)
    end)
  end

  it("of its state's bytes has its result, or no memory, and its profile is whole", function()
    local code = PROGRAM:gsub("print%(sum%)", "return sum")
    local work = [[
      local program, path, seconds, ring = ...
      local ok, profiler = pcall(require, "profiler")
      if not ok then return "none" end
      local called, on = pcall(profiler.enable, {alloc = "4K", out = path, overwrite = true,
        holders = seconds, time = 1000, ring = ring})
      local ran, sum = pcall(load, program)
      if ran then ran, sum = pcall(sum) end
      program = nil
      collectgarbage()
      if not (called and on) then return sum end
      return sum, profiler.disable()]]
    local results, starved = 0, 0
    for bytes = 20000, 3200000, 318000 do
      for _, ring in ipairs{false, "64K"} do
        local s, path = peers.new(), folder .. "/x.vmprof"
        s:limit(s:used() + bytes)
        local r = {s:run(work, code, path, "1s", ring or nil)}
        local note = ("%d bytes: %s, %s, %s"):format(bytes, r[1], r[2], r[3])
        if r[1] and r[2] == 45587858 then results = results + 1
        else
          starved = starved + 1
          assert.truthy(r[2] == "none" or tostring(r[2]):find "not enough memory", note)
        end
        if r[3] ~= nil then assert.is_true(r[3], note .. tostring(r[4])) end
        s:close()
        profiles(folder, note)
      end
    end
    assert.is_true(results > 0 and starved > 0, results .. " " .. starved)
  end)
end)
