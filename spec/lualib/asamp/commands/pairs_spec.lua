-- SPDX-License-Identifier: MIT
-- All pairs of options of `asamp run`: for each pair either the run works, or the command rejects it with a
-- one-line message.

local commands = require "spec.support.commands"
local host = require "asamp.host"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local runner = require "asamp.commands.run"
local shell = require "spec.support.shell"

-- A value for each option. The value false means that the option takes no value.
local VALUES = {
  alloc = "64", malloc = "64K", copies = false, time = "100", wall = false, exact = false, rate = "100",
  ["no-native"] = false, fixed = false, seed = "7", holders = "0", out = "o.vmprof",
  overwrite = false, format = "extended", plain = false, quiet = false, ["prove-leaks"] = false,
}

-- Options that have another form in the variable LUA_PROFILER.
local KEYS = {["no-native"] = "native=0", plain = "compress=0"}

local SCRIPT = "local t = {} for i = 1, 50 do t[i] = {i} end"
local HERE = shell.lines(shell.output "pwd")[1]
local CODE = process.file [[os.exit(require "asamp".main(arg), true)]]

-- Returns a text as a quoted word for the shell. Relative paths in it become absolute.
local function quote(text)
  text = ("=" .. text):gsub("([=\"])%./", "%1" .. HERE .. "/"):sub(2)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- Returns the options with their values as words of a command line.
local function wordsof(names)
  local words = {}
  for _, name in ipairs(names) do
    words[#words + 1] = "--" .. name .. (VALUES[name] and "=" .. VALUES[name] or "")
  end
  return words
end

-- Returns the options with their values in the form of the variable LUA_PROFILER.
local function textof(names)
  local items = {}
  for _, name in ipairs(names) do
    items[#items + 1] = KEYS[name] or VALUES[name] and name .. "=" .. VALUES[name] or name
  end
  return table.concat(items, ",")
end

-- Calls `asamp run` with these options, but records the program that it would start instead of starting it.
-- Returns the words and the environment of this program, or nil, the exit code and stderr.
local function recorded(folder, names, inherited)
  local run, getenv = host.run, os.getenv
  local words, environment
  host.run = function(w, e)  -- luacheck: ignore
    words, environment = w, e
    return "exit", 0, 0
  end
  os.getenv = function(name)  -- luacheck: ignore
    if name == "LUA_PROFILER" then return inherited end
    return name ~= "LD_PRELOAD" and getenv(name) or nil
  end
  local list = wordsof(names)
  list[#list + 1] = folder .. "/s.lua"
  local command = commands.of(runner, {interpreter = process.interpreter()})
  local ok, code, _, err = pcall(command, table.unpack(list))
  host.run, os.getenv = run, getenv  -- luacheck: ignore
  assert(ok, table.concat(list, " ") .. ": " .. tostring(code))
  if words then return words, environment end
  return nil, code, err
end

-- Returns a shell command that creates a folder and runs the recorded program in it.
local function line(folder, words, environment)
  local parts = {("mkdir %s && cd %s &&"):format(folder, folder), "env"}
  for name, value in pairs(environment) do
    parts[#parts + 1] = quote(name .. "=" .. value)
  end
  for i = 1, #words do
    parts[#parts + 1] = quote(words[i])
  end
  return table.concat(parts, " ") .. " >out 2>err; echo $? >code\n"
end

-- Returns all pairs of options, sorted.
local function pairsof()
  local names, list = {}, {}
  for name in pairs(VALUES) do names[#names + 1] = name end
  table.sort(names)
  for i = 1, #names do
    for k = i + 1, #names do
      list[#list + 1] = {names[i], names[k]}
    end
  end
  return list
end

describe("pairs of options #plain", function()
  local folder

  setup(function()
    folder = shell.folder()
    shell.write(folder .. "/s.lua", SCRIPT)
  end)

  teardown(function()
    shell.remove(folder)
    os.remove(CODE)
  end)

  it("are of all options", function()
    for name in runner.usage():gmatch "\n  [-o, ]*%-%-([%l-]+)" do
      assert.is_true(name == "help" or VALUES[name] ~= nil, name)
    end
  end)

  it("run, or are refused on one line", function()
    local lines, runs = {}, {}
    for _, names in ipairs(pairsof()) do
      local words, environment, err = recorded(folder, names, "quiet")
      if not words then
        assert.equal(2, environment, err)
        assert.truthy(err:find "^asamp run: [^\n]+; see asamp run %-%-help\n$", err)
      else
        -- the second option must have the same effect if LUA_PROFILER contains it and the command line does
        -- not
        local _, inherited = recorded(folder, {names[1]}, "quiet," .. textof{names[2]})
        if type(inherited) == "table" then
          local wanted = names[2] == "out" and environment.LUA_PROFILER:gsub(",overwrite=profile", "")
          assert.equal(wanted or environment.LUA_PROFILER, inherited.LUA_PROFILER)
          assert.equal(environment.ASAMP_MALLOC, inherited.ASAMP_MALLOC)
        end
        local place = ("%s/%d"):format(folder, #runs + 1)
        runs[#runs + 1] = {names = names, place = place}
        lines[#lines + 1] = line(place, words, environment)
      end
    end
    assert.is_true(#runs > 70, #runs)
    for i, text in ipairs(lines) do
      shell.write(("%s/%d.sh"):format(folder, i), text)
    end
    local status, _, failed = shell.run(
      ("cd %s && ls *.sh | xargs -n 8 -P 4 sh -c 'for f; do sh ./$f; done' sh"):format(folder))
    assert.equal(0, status, failed)
    for _, one in ipairs(runs) do
      local what = table.concat(one.names, " ")
      local err = shell.read(one.place .. "/err")
      assert.equal("0\n", shell.read(one.place .. "/code"), what .. ": " .. err)
      local both = what:find "fixed" and what:find "malloc"
      assert.equal(both and "profiler: option 'fixed' has no effect on samples of native memory: their " ..
        "intervals are random\n" or "", err, what)
      local path = shell.lines(shell.output("ls -d %s/*.vmprof", one.place))[1]
      local profile = assert(reader.read(path), what)
      assert.is_true(profile.complete, what)
    end
  end)

  it("run with asamp run itself", function()
    local status, out, err = process.run{CODE, "run", "--quiet", "--malloc", "--seed", "7", "--fixed",
                                         "s.lua", directory = folder}
    assert.same({0, ""}, {status, out})
    assert.truthy(err:find("^profiler: option 'fixed' has no effect"), err)
  end)
end)
