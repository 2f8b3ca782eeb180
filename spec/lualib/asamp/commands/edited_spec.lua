-- SPDX-License-Identifier: MIT
-- Commands that show source lines must warn if a file was edited after the profile was recorded.

local commands = require "spec.support.commands"
local convert = require "asamp.commands.convert"
local heap = require "asamp.commands.heap"
local json = require "dkjson"
local merge = require "asamp.commands.merge"
local process = require "spec.support.process"
local report = require "asamp.commands.report"
local shell = require "spec.support.shell"
local view = require "asamp.commands.view"

local WARNING = "'[^']*app%.lua' has changed since the profile was made: " ..
  "numbers may be at wrong lines; profile again"

describe("a source that was edited after the profile", function()
  local folder, app, lib, profile

  -- Sets the modification time of a file to n seconds after now.
  local function modified(path, seconds)
    shell.output("touch -d @%d '%s'", os.time() + seconds, path)
  end

  setup(function()
    folder = shell.folder()
    app, lib, profile = folder .. "/app.lua", folder .. "/lib.lua", folder .. "/a.vmprof"
    shell.write(lib, "return function(i) return {i, i} end\n")
    shell.write(app, ("local f = dofile '%s'\nlocal t = {}\nfor i = 1, 300 do\n"):format(lib) ..
                     "  t[i] = {f(i)}\nend\n" ..
                     ("require 'profiler'.snapshot('%s/a.heap', {wait = true})\n"):format(folder))
    local status, _, err = process.run{app, load = "profiler",
                                       env = {LUA_PROFILER = "alloc=64,fixed,quiet,out=" .. profile}}
    assert.same({0, ""}, {status, err})
  end)

  teardown(function()
    shell.remove(folder)
  end)

  before_each(function()
    modified(app, -100)
    modified(lib, -100)
  end)

  -- Runs the commands that show source lines on this profile. Calls check(name, output) for each command.
  local function each(path, check)
    local code, out, err = commands.of(report)("--source", app, path)
    assert.equal(0, code, err)
    check("report", out:gsub("%s+", " "))
    code, out, err = commands.of(report)("--json", "--source", app, path)
    assert.equal(0, code, err)
    check("report --json", json.decode(out).source.changed or "")
    code, out, err = commands.of(view)("--source", folder, "-o", "-", path)
    assert.equal(0, code, err)
    check("view", err)
    check("view's page", out:match '"notes":%[.-%]' or "")
    local _, _, warning = commands.of(convert)("--to", "firefox", "--source", folder, "-o",
                                               folder .. "/f.json", path)
    check("firefox", warning)
  end

  it("is reported by all that show it", function()
    modified(app, 100)
    each(profile, function(what, text)
      assert.truthy(text:find(WARNING), what .. ": " .. text)
      assert.is_nil(text:find("lib.lua' has", 1, true), what)
    end)
  end)

  it("is not reported where nothing was edited", function()
    each(profile, function(what, text)
      assert.is_nil(text:find("changed since", 1, true), what .. ": " .. text)
    end)
  end)

  -- The source file has another text but an older time, as if it had been replaced by another version with
  -- cp -p, tar or rsync.
  it("is reported where its functions are at other lines, whatever its time", function()
    local before = shell.read(lib)
    for text, edited in pairs{
      ["-- new\n" .. before] = true, ["\n"] = true, ["return setmetatable({}, {__call = print})\n"] = true,
      [before .. "-- new\n"] = false, ["return function (...) return {..., 1} end\n"] = false,
    } do
      shell.write(lib, text)
      modified(lib, -200)
      local code, out, err = commands.of(report)("--source", lib, profile)
      assert.equal(0, code, err)
      assert.equal(edited, out:gsub("%s+", " "):find("lib.lua' has changed since", 1, true) ~= nil, text)
      code, out, err = commands.of(view)("--source", folder, "-o", "-", profile)
      assert.equal(0, code, #out)
      assert.equal(edited, err:find("lib.lua' has changed since", 1, true) ~= nil, text)
      assert.is_nil(err:find("app.lua' has", 1, true))
      err = select(3, commands.of(convert)("--to", "firefox", "--source", folder, "-o", folder .. "/f.json",
                                           profile))
      assert.equal(edited, err:find("lib.lua' has changed since", 1, true) ~= nil, text)
      err = select(3, commands.of(heap)("--page", folder .. "/p.html", "--source", folder,
                                        folder .. "/a.heap"))
      assert.equal(edited, err:find("lib.lua' has changed since", 1, true) ~= nil, text .. err)
    end
    shell.write(lib, before)
  end)

  it("is not reported where a function's name and parameters are on lines of their own", function()
    local path, odd = folder .. "/odd.lua", folder .. "/odd.vmprof"
    shell.write(path, "local function\nf\n(i) return {i} end\nlocal g = function --\n" ..
                      "(i) return {f(i)} end\nfor i = 1, 900 do g(i) end\n")
    local status, _, err = process.run{path, load = "profiler",
                                       env = {LUA_PROFILER = "alloc=64,fixed,quiet,out=" .. odd}}
    assert.same({0, ""}, {status, err})
    modified(path, -100)
    local _, out = commands.of(report)("--source", path, odd)
    assert.is_nil(out:gsub("%s+", " "):find("has changed since", 1, true), out)
  end)

  it("is reported with the others", function()
    modified(app, 100)
    modified(lib, 100)
    local _, _, err = commands.of(view)("--source", folder, "-o", "-", profile)
    assert.truthy(err:find("2 source files have changed since the profile was made, such as '", 1, true),
                  err)
  end)

  -- A copied or merged profile has a modification time later than its session, so that this time cannot be
  -- compared with that of a source file.
  it("is reported with copied and merged profiles, and those of standard input", function()
    modified(app, 100)
    local copy, merged = folder .. "/copy.vmprof", folder .. "/m.vmprof"
    shell.output("cp '%s' '%s'", profile, copy)
    modified(copy, 1000)
    assert.equal(0, (commands.of(merge)(copy, "-o", merged)))
    modified(merged, 1000)
    for _, path in ipairs{copy, merged} do
      local _, out = commands.of(report)("--source", app, path)
      assert.truthy(out:gsub("%s+", " "):find(WARNING), out)
    end
    local _, out, err = process.run{input = shell.read(copy), "report", "--source", app, "-",
      code = 'os.exit(require "asamp".main(arg), true)'}
    assert.truthy(out:gsub("%s+", " "):find(WARNING), out .. err)
  end)

  it("is reported in a sum, by its earliest start", function()
    modified(app, 100)
    local second = folder .. "/b.vmprof"
    shell.output("cp '%s' '%s'", profile, second)
    local _, out, err = commands.of(report)("--sum", "--source", app, profile, second)
    assert.truthy(out:gsub("%s+", " "):find(WARNING), out .. err)
  end)
end)
