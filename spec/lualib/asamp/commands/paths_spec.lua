-- SPDX-License-Identifier: MIT
-- Paths of source files with colons, control characters and bytes that are not UTF-8. Options that name
-- such files must find their samples, and their source lines must be shown.

local commands = require "spec.support.commands"
local convert = require "asamp.commands.convert"
local focus = require "asamp.sums.focus"
local options = require "asamp.cli.options"
local paths = require "asamp.sums.paths"
local process = require "spec.support.process"
local report = require "asamp.commands.report"
local shell = require "spec.support.shell"
local view = require "asamp.commands.view"

local CODE = "local t = {}\nfor i = 1, 200 do\n  t[i] = {i} -- the line\nend\n"

describe("unusual paths", function()
  local folder, profile

  before_each(function()
    folder = shell.folder()
    profile = folder .. "/p.vmprof"
  end)

  after_each(function()
    shell.remove(folder)
  end)

  -- Creates a script with this name in the folder, and a profile of a run of it.
  local function profiled(name, inner)
    local path = folder .. "/" .. name
    local where = path:match "^(.*)/"
    if inner then
      os.execute("mkdir -p '" .. where .. "'")
    end
    shell.write(path, CODE)
    local status, _, err = process.run{path, load = "profiler",
                                       env = {LUA_PROFILER = "alloc=64,fixed,quiet,out=" .. profile}}
    assert.same({0, ""}, {status, err})
    return path, where
  end

  -- Checks that all options that take the path of a file or folder accept this path.
  local function works(path, where)
    local code, out, err = commands.of(report)("--source", path, profile)
    assert.equal(0, code, err)
    assert.truthy(out:find("3    t[i] = {i} -- the line", 1, true), out)
    code, out, err = commands.of(report)("--line", path .. ":3", profile)
    assert.equal(0, code, err)
    assert.truthy(out:find("By function", 1, true), out)
    code, out = commands.of(report)("--json", "--source", path, "--own", path, profile)
    assert.equal(0, code, out)
    assert.truthy(utf8.len(out), path)
    for _, own in ipairs{path, where} do
      code, out, err = commands.of(report)("--own", own, profile)
      assert.equal(0, code, err)
      assert.truthy(out:find("By function", 1, true), out)
    end
    code, out, err = commands.of(view)("--source", where, "-o", "-", profile)
    assert.equal(0, code, err)
    assert.truthy(out:find("t[i] = {i} -- the line", 1, true), path)
    assert.equal(0, (commands.of(convert)("--to", "firefox", "--plain", "--source", where, "-o",
                                          folder .. "/f.json", profile)))
    assert.truthy(shell.read(folder .. "/f.json"):find("-- the line", 1, true), path)
  end

  local NAMES = {
    ["a colon"] = "a:b.lua", ["a control character"] = "a\1b\n.lua", ["no UTF-8"] = "a\xFFb\xC3.lua",
    ["a folder with a colon"] = "c:d/e.lua", ["a folder without UTF-8"] = "c\xE9:/\x7f.lua",
  }
  for what, name in pairs(NAMES) do
    it("with " .. what .. " are found", function()
      works(profiled(name, name:find "/"))
    end)
  end

  it("are found by their written form, too", function()
    local path, where = profiled "a:b\xFF.lua"
    works(where .. "/" .. paths.written(path:match "[^/]*$"), where)
    assert.equal(0, (commands.of(report)("--line", "a:b\xFF.lua:3", profile)))
  end)

  it("are not taken for others of the same written form", function()
    local _, where = profiled "a:b.lua"
    shell.write(where .. "/a\1b.lua", "other\n")
    local _, out = commands.of(view)("--source", where, "-o", "-", profile)
    assert.is_nil(out:find("t[i] = {i} -- the line", 1, true))
  end)

  it("are not opened outside the folders that were named", function()
    profiled("c:d/e.lua", true)
    os.execute("mkdir '" .. folder .. "/other'")
    local _, out = commands.of(view)("--source", folder .. "/other", "-o", "-", profile)
    assert.is_nil(out:find("t[i] = {i} -- the line", 1, true))
  end)

  it("that are very long are found by the end that a profile has of them", function()
    local names = {}
    for i = 1, 6 do names[i] = ("%d"):format(i):rep(200) end
    local path = folder .. "/" .. table.concat(names, "/") .. "/a:b.lua"
    os.execute("mkdir -p '" .. path:match "^(.*)/" .. "'")
    local file = "..." .. paths.written(path):sub(-900)
    assert.is_true(paths.names(path, file))
    assert.is_false(paths.names(path .. "x", file))
    assert.truthy(focus.byline(path .. ":3")({file = file}, 3))
  end)

  it("are as the writer makes them", function()
    assert.equal("a;b;c", paths.written "a:b\nc")
    assert.equal("\u{FFFD}\u{FFFD}x", paths.written "\xE2\x82x")
    assert.equal("\u{FFFD}\u{FFFD}\u{FFFD}", paths.written "\xED\xA0\x80")
    assert.equal("é€;", paths.written "é€\127")
  end)

  -- A former bug: if a relative path started with a bracket, it was taken for the name of a chunk that is
  -- not a file.
  it("of --own may start with a bracket", function()
    local below = require "asamp.sums.owned".below({"[app]", "/x/[b].lua"}, "/x")
    assert.same({true, true, true}, {below "[app]/a.lua", below "[b].lua", below "/x/[app]/a.lua"})
    below = require "asamp.sums.owned".below({"."}, "/x")
    for _, name in ipairs{'[string "[b].lua"]', "[C]", "[stripped]", "-"} do assert.is_false(below(name)) end
  end)

  it("may be several, with colons between them", function()
    local check = options.OWN[4]
    os.execute(("mkdir '%s/a:b' '%s/c'"):format(folder, folder))
    assert.same({folder .. "/a:b", folder .. "/c"}, check(("%s/a:b:%s/c"):format(folder, folder)))
    assert.same({"x", "y", folder .. "/c"}, check(("x::y:%s/c:"):format(folder)))
    assert.is_nil((check ":"))
  end)
end)
