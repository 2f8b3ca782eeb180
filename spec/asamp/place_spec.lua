-- SPDX-License-Identifier: MIT
-- The path and the permissions of a profile's file. Former bugs: a profile replaced any file at its path,
-- such as a script or the profile of another run, even through links created by other users, and every user
-- could read it.

local gen = require "profilegen"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

local NONE, PROFILES, ALL = 0, 1, 2

describe("the place of a profile", function()
  local folder, path
  before_each(function()
    folder = shell.folder()
    path = folder .. "/app.vmprof"
  end)

  -- Writes a profile of n samples to 'path'. Returns the path of its file, or nil and a message.
  local function profile(n, options)
    local t = {path = path, replace = NONE}
    for k, v in pairs(options or {}) do t[k] = v end
    local p, message, errno = gen.open(t)
    if not p then return nil, message, errno end
    local at, why = p:path(), p:elsewhere()
    for i = 1, n do p:sample{8, i} end
    assert(p:close())
    return at, why
  end

  local function count(file)
    local p = assert(reader.read(file))
    return p.complete and p.samples
  end

  it("is its owner's alone", function()
    shell.output("umask 0")
    profile(1)
    assert.equal("600\n", shell.output("stat -c %%a %s", path))
  end)

  it("keeps the mode of an empty file that is there, and uses it", function()
    shell.output(": >%s; chmod 640 %s", path, path)
    assert.equal(path, profile(3))
    assert.equal("640\n", shell.output("stat -c %%a %s", path))
    assert.equal(3, count(path))
  end)

  it("is next to a profile that is whole, cut or repaired, by number", function()
    assert.same({path}, {profile(1)})
    assert.same({folder .. "/app.2.vmprof", "is an existing profile"}, {profile(2)})
    shell.output("head -c 200 %s >%s/cut; mv %s/cut %s", path, folder, folder, path)
    assert.equal(folder .. "/app.3.vmprof", profile(3))
    assert.equal(2, count(folder .. "/app.2.vmprof"))
    assert.equal(3, count(folder .. "/app.3.vmprof"))
    assert.equal(folder .. "/x", profile(1, {path = folder .. "/x"}))
    assert.equal(folder .. "/x.2", profile(1, {path = folder .. "/x"}))
    assert.equal(folder .. "/y.vmprof.gz", profile(1, {path = folder .. "/y.vmprof.gz"}))
    assert.equal(folder .. "/y.2.vmprof.gz", profile(1, {path = folder .. "/y.vmprof.gz"}))
  end)

  it("is that of a profile if profiles may be replaced", function()
    profile(1)
    assert.same({path}, {profile(2, {replace = PROFILES})})
    assert.equal(2, count(path))
    assert.same({path}, {profile(3, {replace = ALL})})
    assert.equal(3, count(path))
  end)

  it("is that of another file only if any file may be replaced", function()
    local files = {
      ["a text file"] = "print 'hello'\n", ["a script"] = "#!/usr/bin/lua\nprint 'hello'\n",
      ["a file of unknown kind"] = "\1\2\3", ["a JSON file"] = "{}",
      ["a VMProf log of another profiler"] = string.pack("<i8i8i8i8i8", 0, 3, 0, 1000, 0) ..
                                           "\5\0\6\2\7cpython",
      ["a page of asamp view"] = "<!doctype html>\n<title>Asamp</title>",
    }
    for what, text in pairs(files) do
      shell.write(path, text)
      for _, replace in ipairs{NONE, PROFILES} do
        assert.same({nil, ("cannot write profile '%s': %s exists at this path and would be replaced; give " ..
                           "another path, or the option overwrite"):format(path, what), 17},
          {profile(1, {replace = replace})})
        assert.equal(text, process.read(path))
      end
      assert.equal(path, profile(1, {replace = ALL}))
      assert.equal(1, count(path))
    end
  end)

  it("is next to a profile that is being written, also if it may be replaced", function()
    for _, replace in ipairs{NONE, PROFILES, ALL} do
      local p = assert(gen.open{path = path, replace = replace})
      local first = p:path()
      p:sample{8, 1}
      for _, other in ipairs{NONE, PROFILES, ALL} do
        local at, why = profile(2, {replace = other})
        assert.is_true(at ~= first)
        if first == path then assert.equal("is still being written", why) end
        os.remove(at)
      end
      assert(p:close())
      assert.equal(1, count(first))
      os.remove(path)
    end
  end)

  it("stays with the writer while others look whether the file is being written", function()
    local p = assert(gen.open{path = path})
    p:sample{8, 1}
    gen.sleep(0.1)
    shell.output("for i in 1 2 3 4 5 6 7 8 9; do flock -s -n %s true && exit 1; done; true", path)
    assert(p:close())
    for _ = 1, 20 do
      shell.write(folder .. "/empty", "")
      local looks = io.popen(("for i in 1 2 3 4 5; do flock -s %s/empty true; done"):format(folder))
      local q = assert(gen.open{path = folder .. "/empty", replace = NONE})
      assert.equal(folder .. "/empty", q:path())
      assert(q:close())
      looks:close()
      os.remove(folder .. "/empty")
    end
  end)

  it("is made under a name that nobody has used, when the name was made up", function()
    shell.write(folder .. "/target", "")
    shell.output("ln -s target %s; ln -s nowhere %s/app.2.vmprof; mkfifo %s/app.3.vmprof; : >%s/app.4.vmprof",
          path, folder, folder, folder)
    assert.equal(folder .. "/app.5.vmprof", profile(1, {made = true}))
    assert.equal("", process.read(folder .. "/target"))
    assert.equal("", process.read(folder .. "/app.4.vmprof"))
    assert.is_nil(process.read(folder .. "/nowhere"))
    -- a profile with a generated name may replace files, but not follow a symbolic link
    local at, message = profile(1, {made = true, replace = ALL})
    assert.is_nil(at)
    assert.truthy(message:find("symbolic links", 1, true), message)
    assert.equal(folder .. "/app.9.vmprof", profile(1, {made = true, number = 9}))
  end)

  it("is where a link of one's own leads, when the name was given", function()
    shell.output("ln -s real %s", path)
    assert.equal(path, profile(2))
    assert.equal(2, count(folder .. "/real"))
    assert.equal("600\n", shell.output("stat -c %%a %s/real", folder))
    assert.equal("real\n", shell.output("readlink %s", path))
  end)

  local root = shell.output "id -u" == "0\n"
  if root then
    it("is nothing that another user has put into a folder that all may write", function()
      shell.output("chown 65534 %s; chmod 1777 %s", folder, folder)
      shell.output("chown 0 %s", folder)
      shell.write(folder .. "/mine", "")
      shell.output("ln -s mine %s; chown -h 65534 %s", path, path)
      for _, replace in ipairs{NONE, PROFILES, ALL} do
        assert.same({nil, ("cannot write profile '%s': the path is another user's symbolic link; "
          .. "give another path"):format(path), 40}, {profile(1, {replace = replace})})
      end
      -- A former bug: in a folder without the sticky bit, a link created by another user was followed.
      shell.output("chmod 777 %s", folder)
      assert.matches("the path is another user's symbolic link", select(2, profile(1)))
      shell.output("chmod 1777 %s", folder)
      shell.output("rm %s; : >%s; chown 65534 %s", path, path, path)
      for _, replace in ipairs{NONE, PROFILES, ALL} do
        assert.same({nil, ("cannot write profile '%s': another user owns the existing file; "
          .. "give another path"):format(path), 13}, {profile(1, {replace = replace})})
      end
      assert.equal("", process.read(folder .. "/mine"))
      -- in a folder with the sticky bit, a link of the same user is followed
      shell.output("rm %s; ln -s mine %s", path, path)
      assert.equal(path, profile(1))
      assert.equal(1, count(folder .. "/mine"))
    end)
  else
    pending "files of another user need root"
  end

  it("ends, with a message, where too many have the name", function()
    profile(1, {number = 2})
    shell.output("cd %s && mv app.2.vmprof app.vmprof && seq 2 9999 | sed 's/.*/app.&.vmprof/' | "
          .. "xargs -n 500 touch", folder)
    for i = 2, 9 do shell.output("cat %s >%s/app.%d.vmprof", path, folder, i) end
    local at, message, errno = profile(1, {made = true})
    assert.is_nil(at)
    assert.equal(("cannot write profile '%s': 9,999 profiles with this name exist, the limit; remove " ..
                  "some, or give another path"):format(path), message)
    assert.equal(17, errno)
  end)
end)

describe("a session", function()
  local folder
  before_each(function()
    folder = shell.folder()
    shell.write(folder .. "/app.lua", [[
      local t = {}
      for i = 1, 20000 do t[i % 100] = {i} end
      print(require "profiler".stats().file)]])
  end)

  local function run(options)
    return select(2, process.run{"-l", "profiler", "app.lua", directory = folder,
                                 env = {LUA_PROFILER = "alloc=4K," .. options}})
  end
  local function ran(options)
    return select(3, process.run{"-l", "profiler", "app.lua", directory = folder,
                                 env = {LUA_PROFILER = "alloc=4K," .. options}})
  end

  it("of a variable in the environment never replaces one that another run left", function()
    assert.equal("x.vmprof\n", run "out=x.vmprof")
    local first = process.read(folder .. "/x.vmprof")
    assert.equal("x.2.vmprof\n", run "out=x.vmprof")
    assert.equal(first, process.read(folder .. "/x.vmprof"))
    assert.truthy(ran "out=x.vmprof":find("profiler: 'x.vmprof' is an existing profile; this profile is " ..
                                          "written to 'x.3.vmprof'\n", 1, true))
    assert.equal("x.vmprof\n", run "out=x.vmprof,overwrite=profile")
    assert.is_true(first ~= process.read(folder .. "/x.vmprof"))
  end)

  it("never takes the script for its profile", function()
    local text = process.read(folder .. "/app.lua")
    for _, more in ipairs{"", ",overwrite=profile", ",overwrite=0"} do
      assert.truthy(ran("out=app.lua" .. more):find("profiler: cannot write profile 'app.lua': a text " ..
        "file exists at this path and would be replaced; give another path, or the option overwrite\n",
        1, true))
      assert.equal(text, process.read(folder .. "/app.lua"))
    end
    assert.truthy(ran "overwrite=maybe":find('option \'overwrite\' must be true, false or "profile", 1 or 0, '
      .. 'got "maybe"', 1, true))
  end)

  it("with the process id of another, as in a new container, gets a name of its own", function()
    shell.write(folder .. "/same.lua", [[
      local core = require "profiler.core"
      core.getpid = function() return 7 end
      local profiler = require "profiler"
      for _, out in ipairs{false, "own.%p.vmprof"} do
        for _ = 1, 2 do
          assert(profiler.enable{alloc = 64, out = out or nil})
          local t = {}
          for i = 1, 1000 do t[i] = {} end
          profiler.disable()
          print(profiler.stats().file)
        end
      end]])
    local function again()
      return select(2, process.run{"same.lua", directory = folder})
    end
    assert.equal("same.lua.7.vmprof\nsame.lua.7.2.vmprof\nown.7.vmprof\nown.7.2.vmprof\n", again())
    assert.equal("same.lua.7.3.vmprof\nsame.lua.7.4.vmprof\nown.7.3.vmprof\nown.7.4.vmprof\n", again())
    for _, name in ipairs{"same.lua.7", "same.lua.7.2", "own.7", "own.7.2", "same.lua.7.4"} do
      assert.is_true(reader.read(folder .. "/" .. name .. ".vmprof").complete)
    end
  end)
end)
