-- SPDX-License-Identifier: MIT
-- A program may set a locale whose decimal point is not "." (LC_NUMERIC). The profiler must still write and
-- read numbers with a "." in files.

local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

local folder

describe("in a locale with a decimal comma", function()
  setup(function()
    folder = shell.folder()
    if shell.run(("localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8"):format(folder)) > 1 then
      shell.remove(folder)
      folder = nil
    end
  end)
  teardown(function() if folder then shell.remove(folder) end end)

  -- Runs code in a locale with a decimal comma. 'path', for the code's profile, is its argument. Returns
  -- its output.
  local function run(code, path)
    local status, out, err = process.run{path, code = "assert(os.setlocale('de_DE.UTF-8'))\n" .. code,
      env = {LOCPATH = folder, LUA_PROFILER = "", ASAMP = ""}}
    assert.equal(0, status, err)
    return out, err
  end

  it("labels, values of marks and messages have a point", function()
    if not folder then return pending "localedef cannot make the locale" end
    local path = os.tmpname()
    finally(function() os.remove(path) end)
    local out, err = run([[
      local profiler = require "profiler"
      assert(profiler.enable{alloc = 1536, out = ..., overwrite = true})
      profiler.label{x = 1.5, y = "1,5"}
      profiler.mark("m", 2.25)
      profiler.mark("spaces", "  ")
      local kept = {}
      for i = 1, 2000 do kept[i] = {} end
      profiler.disable()
      print(1.5)
      local marks = require "profiler.reader".read(...).marknames
      print(marks[1].most == 2.25, marks[1].numbers, marks[2].most)]], path)
    assert.equal("1,5\ntrue\tnil\tnil\n", out)
    assert.falsy(err:find("%d,%d [KMG]iB"), err)
    local profile = assert(reader.read(path))
    assert.equal("2.25", profile.marknames[1].value)
    local labels
    for _, set in ipairs(profile.labels) do labels = set.labels.x and set.labels or labels end
    assert.same({x = "1.5", y = "1,5"}, labels)
  end)

  -- A former bug: a tolerance of 2.5% was written as "2,5" and read as 2%.
  it("a budget is written so that it can be read", function()
    if not folder then return pending "localedef cannot make the locale" end
    local path = os.tmpname()
    finally(function() os.remove(path) end)
    shell.write(path, "return {tolerance = 2.5, tests = {a = {bytes = 8, tolerance = 0.25}}}")
    run([[assert(assert(require "asamp.budget".open(..., {update = true})):close())]], path)
    local written = shell.read(path)
    assert.matches("\n  tolerance = 2.5,\n.*%[\"a\"%] = {bytes = 8, tolerance = 0.25},\n", written)
  end)

  -- A former bug: in a locale with a decimal comma, a number such as 2.5 was written to a page as 2,5, which
  -- is two numbers there.
  it("JSON, pages and metrics have a point", function()
    if not folder then return pending "localedef cannot make the locale" end
    local out = run [[
      local json, page = require "asamp.show.json", {}
      json.embed(page, {list = {1, 2.5}})
      print(table.concat(page), json.encode{1, 2.5})
      local stats = {pauses = 5e8, pausebins = "1" .. (" 0"):rep(17)}
      print(require "asamp.show.metrics".text{{name = "a", stats = stats}})]]
    assert.matches('^{"list":%[1,2%.5%]}\t%[\n  1,\n  2%.5\n%]\n', out)
    assert.matches('le="0%.000016"', out)
    assert.matches("seconds_sum{[^}]*} 0%.500000000\n", out)
    assert.falsy(out:find "%d,%d%d")
  end)

  it("a profile is converted as in any other", function()
    if not folder then return pending "localedef cannot make the locale" end
    local path, one, two = os.tmpname(), os.tmpname(), os.tmpname()
    finally(function() for _, p in ipairs{path, one, two} do os.remove(p) end end)
    local status, _, err = process.run{code = [[
      local profiler = require "profiler"
      assert(profiler.enable{alloc = 1024, time = 700, out = ..., overwrite = true, native = false})
      local kept = {}
      for i = 1, 60000 do kept[i % 5000] = {i} end
      profiler.disable()]], path}
    assert.same({0, ""}, {status, err})
    for _, format in ipairs{"firefox", "speedscope", "collapsed"} do
      local function convert(to, locale)
        status, _, err = process.run{env = {LOCPATH = folder}, path, to, locale, format, code = [[
          local from, to, locale, format = ...
          assert(os.setlocale(locale))
          assert(require "asamp".main({"convert", "--to", format, "--out", to, from}) == 0)]]}
        assert.equal(0, status, err)
      end
      convert(one, "C")
      convert(two, "de_DE.UTF-8")
      assert.is_true(shell.read(one) == shell.read(two), format)
    end
  end)
end)
