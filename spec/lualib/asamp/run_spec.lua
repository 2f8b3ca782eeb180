-- SPDX-License-Identifier: MIT
-- `asamp run`: the script runs as without it, and leaves a profile.

local child = require "spec.support.child"
local process = require "spec.support.process"

local folder, script, profile

local function write(text)
  local f = assert(io.open(script, "w"))
  f:write(text)
  f:close()
end

-- Runs `asamp run` in a process of its own; exit status, stdout, stderr.
local function run(words, env)
  local main = process.file [[os.exit(require "asamp".main(arg), true)]]
  local t = {main, "run", env = env, directory = folder}
  table.move(words, 1, #words, 3, t)
  local status, out, err = process.run(t)
  os.remove(main)
  return status, out, err
end

local function exists(path)
  return process.read(path) ~= nil
end

describe("asamp run", function()
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder))
    script, profile = folder .. "/app.lua", folder .. "/p.vmprof"
    write [[
      local t = {}
      for i = 1, 20000 do t[i % 100] = {i, tostring(i)} end
      io.write("words: ", table.concat(arg, "|"), "\n")
      os.exit(3, true)]]
  end)
  after_each(function() os.execute("rm -rf " .. folder) end)

  it("leaves stdout and exit code to the script, reports on stderr", function()
    local status, out, err = run{"--alloc", "4K", "--out", profile, "app.lua",
                                 "--json", "a b", "--", ""}
    assert.equal(3, status)
    assert.equal("words: --json|a b|--|\n", out)
    assert.truthy(err:find("^profiler: %d+ samples, one every 4096 bytes"), err)
    assert.truthy(err:find("By function", 1, true))
    assert.truthy(err:find("app.lua:2", 1, true))
    assert.truthy(err:find("asamp report " .. profile .. " tells more", 1, true))
    assert.is_nil(err:find("\27", 1, true))
  end)

  it("is quiet on request", function()
    local status, _, err = run{"--quiet", "--alloc=4K", "--out=p.vmprof", "--",
                               "app.lua"}
    assert.equal(3, status)
    assert.equal("", err)
    assert.is_true(exists(profile))
  end)

  it("finds the profile in its default place", function()
    local _, _, err = run{"--alloc", "4K", "app.lua"}
    local path = err:match "asamp report (app%.lua%.%d+%.vmprof) tells more"
    assert.is_true(path and exists(folder .. "/" .. path), err)
  end)

  it("takes LUA_PROFILER for what is not given", function()
    local _, _, err = run({"--alloc", "4K", "app.lua"},
                          {LUA_PROFILER = "alloc=64, random ,out=" .. profile})
    assert.truthy(err:find("samples, one every 4096 bytes on average", 1, true)
                  or err:find("one every 4096 bytes", 1, true), err)
    assert.truthy(err:find("asamp report " .. profile .. " tells more", 1, true))
  end)

  it("ends by the signal that ended the script, with what was saved", function()
    write [[
      local t = {}
      for i = 1, 20000 do t[i % 100] = {i} end
      require "profiler".alloc_stop()
      require "profiler".disable()
      os.execute("kill -TERM $PPID")
      while true do end]]
    local status, _, err = run{"--alloc", "4K", "--out", profile, "app.lua"}
    assert.equal(128 + 15, status)
    assert.truthy(err:find("By function", 1, true), err)
  end)

  it("passes the script's error through", function()
    write [[error "no such luck"]]
    local status, _, err = run{"--alloc", "4K", "--out", profile, "app.lua"}
    assert.equal(1, status)
    assert.truthy(err:find("no such luck", 1, true))
  end)

  it("reports no profile that is older than the run", function()
    local _, _, first = run{"--alloc", "4K", "--out", profile, "app.lua"}
    assert.truthy(first:find("By function", 1, true))
    local bytes = process.read(profile)
    os.execute(("rm %s; mkdir %s"):format(profile, profile))
    local status, _, err = run{"--alloc", "4K", "--out", profile, "app.lua"}
    assert.equal(3, status)
    assert.truthy(err:find("profiler: cannot write profile", 1, true))
    assert.truthy(err:find("asamp run: no profile: ", 1, true), err)
    assert.is_nil(err:find("By function", 1, true))
    assert.is_true(#bytes > 0)
  end)

  it("tells wrong arguments on one line, exit code 2", function()
    for what, words in pairs{
      ["no script given"] = {"--alloc", "4K"},
      ["--alloc wants bytes such as 65536 or 64K, got '4Q'"] =
        {"--alloc", "4Q", "app.lua"},
      ["--time wants a whole number of samples a second, got 'x'"] =
        {"--time=x", "app.lua"},
      ["--out wants a path without commas, got 'a,b'"] =
        {"--out", "a,b", "app.lua"},
      ["--format wants stock or extended, got 'x'"] = {"--format=x", "app.lua"},
      ["unknown option '--aloc', did you mean --alloc?"] =
        {"--aloc", "4K", "app.lua"},
      ["nothing to sample: --alloc is 0 and there is no --time"] =
        {"--alloc", "0K", "app.lua"},
    } do
      local status, out, err = run(words)
      assert.equal(2, status)
      assert.equal("", out)
      assert.equal("asamp run: " .. what .. "; see asamp run --help\n", err)
    end
  end)

  it("says when the interpreter is not there", function()
    local status, text = child.run([[
      local code = require "asamp.run".run({"x.lua"}, {interpreter = "/nowhere/lua",
        err = function(s) io.stderr:write(s) end})
      os.exit(code)]])
    assert.equal(1, status)
    assert.equal("asamp run: cannot run '/nowhere/lua': No such file or directory\n",
                 text)
  end)
end)
