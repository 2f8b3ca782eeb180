-- SPDX-License-Identifier: MIT
--
-- The way from the tarball to an installed tree: lua/fetch, lua/prepare, lua/install. Every error in the
-- download, a patch or a path must print one line on stderr that names it, set a failure status, and leave
-- no incomplete file.

local shell = require "spec.support.shell"

local TARBALL = "build/dl/lua.tar.gz"
local NOWHERE = "LUA_FETCH_NO_SITE=1 LUA_FETCH_NO_APT=1 "

describe("lua/fetch #plain", function()
  local folder, out

  before_each(function()
    folder = shell.folder()
    out = folder .. "/dl/lua.tar.gz"
  end)
  after_each(function() shell.remove(folder) end)

  -- Runs lua/fetch, which must fail and leave no file at the tarball's path. Returns the one line that it
  -- prints on stderr.
  local function refused(environment)
    local status, said, err = shell.run(environment .. " lua/fetch " .. out)
    assert.is_true(status ~= 0, err)
    assert.equal("", said)
    assert.is_truthy(err:find("^lua/fetch: [^\n]+\n$"), err)
    assert.equal("", shell.output("mkdir -p %s/dl && ls -A %s/dl", folder, folder))
    return err
  end

  local function hash(path)
    return shell.output("sha256sum " .. path):match("%x+")
  end

  it("takes a good tarball that it is handed", function()
    local status, said, err = shell.run(("LUA_TARBALL=%s %s lua/fetch %s"):format(TARBALL, NOWHERE, out))
    assert.same({0, ""}, {status, err})
    assert.is_truthy(said:find("verified", 1, true), said)
    assert.equal(hash(TARBALL), hash(out))
    assert.equal(shell.read("lua/upstream"):match("\nsha256=(%x+)"), hash(out))
    assert.equal("lua.tar.gz\n", shell.output("ls -A %s/dl", folder))
  end)

  -- A former bug: with `make -j2 fork debug` in a fresh tree, each of the two processes removed the
  -- incomplete copy of the other.
  it("may be run for two variants at once", function()
    local one = ("LUA_TARBALL=%s %s lua/fetch %s >%s/said.$i 2>&1 || echo failed $i"):format(
      TARBALL, NOWHERE, out, folder)
    local status, said = shell.run("for i in 1 2 3 4 5 6; do { " .. one .. "; } & done; wait")
    assert.same({0, ""}, {status, said})
    assert.equal(hash(TARBALL), hash(out))
    assert.equal("lua.tar.gz\n", shell.output("ls -A %s/dl", folder))
  end)

  it("needs no origin when the tarball is there already", function()
    shell.output("mkdir %s/dl && cp %s %s", folder, TARBALL, out)
    local status, _, err = shell.run(NOWHERE .. "lua/fetch " .. out)
    assert.same({0, ""}, {status, err})
  end)

  -- A pin file for another release, such as that of bench/lua55, which has no download site.
  it("takes the version of another pin, by the variable that it names", function()
    shell.output("mkdir %s/dl && printf 'version=5.5.9\\nsha256=%s\\ndebian_package=none\\n' >%s/pin && "
      .. "echo variable=OTHER_TARBALL >>%s/pin", folder, hash("Makefile"), folder, folder)
    local command = ("LUA_FETCH_NO_APT=1 LUA_TARBALL=/absent %s lua/fetch " .. out .. " %s/pin")
    local status, said, err = shell.run(command:format("OTHER_TARBALL=Makefile", folder))
    assert.same({0, "lua-5.5.9.tar.gz: verified (OTHER_TARBALL=Makefile)\n", ""}, {status, said, err})
    os.remove(out)
    status, said, err = shell.run(command:format("", folder))
    assert.same({1, ""}, {status, said})
    assert.is_truthy(err:find("make OTHER_TARBALL=/path/to/lua-5.5.9.tar.gz", 1, true), err)
    assert.is_nil(err:find("http", 1, true), err)
  end)

  it("refuses a tarball that cannot be read, and names it", function()
    local err = refused(NOWHERE .. "LUA_TARBALL=" .. folder .. "/absent.tar.gz")
    assert.is_truthy(err:find("LUA_TARBALL=" .. folder .. "/absent.tar.gz cannot be read", 1, true), err)
  end)

  it("refuses a tarball with another hash, and prints both", function()
    local bad = folder .. "/bad.tar.gz"
    shell.output("cp %s %s && printf x >>%s", TARBALL, bad, bad)
    local err = refused(NOWHERE .. "LUA_TARBALL=" .. bad)
    assert.is_truthy(err:find("got " .. hash(bad), 1, true), err)
    assert.is_truthy(err:find("want " .. hash(TARBALL), 1, true), err)
  end)

  -- A former bug: after a pull that changed lua/upstream to another release, make stopped with an error at
  -- the tarball of the previous release, until the user removed it.
  it("replaces a spoiled copy, or another release's, when it can get the right one", function()
    local here = shell.output("pwd"):gsub("\n", "")
    shell.output("mkdir %s/dl %s/lua && head -c 1000 %s >%s && cp lua/fetch %s/lua/ && "
                  .. "sed 's|^url=.*|url=file://%s/%s|' lua/upstream >%s/lua/upstream",
                 folder, folder, TARBALL, out, folder, here, TARBALL, folder)
    local spoiled = hash(out)
    local status, said, err = shell.run(NOWHERE .. "lua/fetch " .. out)
    assert.same({1, ""}, {status, said})
    assert.is_truthy(err:find(("tried: %s (sha256 %s there, want %s: another release's, or spoiled);")
                              :format(out, spoiled, hash(TARBALL)), 1, true), err)
    assert.equal(spoiled, hash(out))
    status, said, err = shell.run(("LUA_FETCH_NO_APT=1 %s/lua/fetch %s"):format(folder, out))
    assert.same({0, ""}, {status, err}, said)
    assert.equal(hash(TARBALL), hash(out))
  end)

  -- Caches may give the tarball of another release a newer time. A former bug: make then built it as `make
  -- plain`, so that the fork was compared with another release of Lua.
  it("requests the right tarball if a newer file of that name is another", function()
    local here = shell.output("pwd"):gsub("\n", "")
    shell.output("mkdir %s/dl %s/lua-1 && echo other >%s/lua-1/README && tar -czf %s -C %s lua-1",
                 folder, folder, folder, out, folder)
    local build = ("make -f lua/build.mk V=plain B=%s/b TARBALL=%s %s/b/prepared"):format(
      folder, out, folder)
    local status, _, err = shell.run(NOWHERE .. build)
    assert.is_true(status ~= 0)
    assert.is_truthy(err:find("another release's, or spoiled", 1, true), err)
    status, _, err = shell.run(("LUA_TARBALL=%s/%s %s %s"):format(here, TARBALL, NOWHERE, build))
    assert.equal(0, status, err)
    assert.equal(hash(TARBALL), hash(out))
    assert.equal(0, (shell.run(("test -f %s/b/src/src/lua.h"):format(folder))))
  end)

  -- A machine whose apt has one mirror, which is a folder here. A former bug: lua/fetch read the index of a
  -- suite, which the keys of a fresh machine may not verify, and which may name a revision that the pool
  -- does not have.
  it("finds the tarball in the pool of the machine's own mirror, in Debian and in Ubuntu", function()
    for _, component in ipairs {"main", "universe"} do
      local pool = ("%s/%s/pool/%s/l/lua5.4"):format(folder, component, component)
      local apt = ("%s/%s/apt"):format(folder, component)
      local version = shell.read("lua/upstream"):match("\nversion=([%d.]+)")
      shell.output("mkdir -p %s %s/lists %s/parts && cp %s %s/lua5.4_%s.orig.tar.gz",
                   pool, apt, apt, TARBALL, pool, version)
      shell.write(apt .. "/sources.list", ("deb [trusted=yes] file://%s/%s stable %s\n")
                  :format(folder, component, component))
      shell.write(apt .. "/conf", ('Dir::Etc::sourcelist "%s/sources.list"; '
                  .. 'Dir::Etc::sourceparts "%s/parts"; Dir::State::lists "%s/lists";')
                  :format(apt, apt, apt))
      local status, said, err = shell.run(("rm -f %s; APT_CONFIG=%s/conf LUA_FETCH_NO_SITE=1 lua/fetch %s")
                                          :format(out, apt, out))
      assert.same({0, ""}, {status, err})
      assert.is_truthy(said:find(pool, 1, true), said)
      assert.equal(hash(TARBALL), hash(out))

      -- replaces the file in the pool by another one
      shell.output("printf x >>%s/lua5.4_%s.orig.tar.gz && rm %s", pool, version, out)
      local wrong = refused(("APT_CONFIG=%s/conf LUA_FETCH_NO_SITE=1"):format(apt))
      assert.is_truthy(wrong:find(pool, 1, true) and wrong:find("another sha256 there", 1, true), wrong)
    end
  end)

  it("reports the tried addresses and how to supply a file if there is no origin", function()
    local err = refused(NOWHERE)
    assert.is_truthy(err:find("tried: nothing", 1, true), err)
    assert.is_truthy(err:find("make LUA_TARBALL=", 1, true), err)
  end)

  it("names an origin that cannot be reached", function()
    shell.output("mkdir %s/lua && cp lua/fetch %s/lua/ && sed 's|^url=.*|url=file://%s/absent|' "
                  .. "lua/upstream >%s/lua/upstream", folder, folder, folder, folder)
    local status, _, err = shell.run(("LUA_FETCH_NO_APT=1 %s/lua/fetch %s"):format(folder, out))
    assert.is_true(status ~= 0)
    assert.is_truthy(err:find("^lua/fetch: [^\n]*tried: file://" .. folder .. "/absent;[^\n]*\n$"), err)
  end)

  it("says of an origin with another file that its hash is wrong", function()
    shell.output("mkdir %s/lua && cp lua/fetch %s/lua/ && sed 's|^url=.*|url=file://%s/lua/fetch|' "
                  .. "lua/upstream >%s/lua/upstream", folder, folder, folder, folder)
    local status, _, err = shell.run(("LUA_FETCH_NO_APT=1 %s/lua/fetch %s"):format(folder, out))
    assert.is_true(status ~= 0)
    assert.is_truthy(err:find(hash("lua/fetch"), 1, true), err)
    assert.equal("", shell.output("ls -A %s/dl", folder))
  end)

  it("downloads from the first origin that has the right file", function()
    local here = shell.output("pwd"):gsub("\n", "")
    shell.output("mkdir %s/lua && cp lua/fetch %s/lua/ && sed 's|^url=.*|url=file://%s/%s|' "
                  .. "lua/upstream >%s/lua/upstream", folder, folder, here, TARBALL, folder)
    local status, _, err = shell.run(("LUA_FETCH_NO_APT=1 %s/lua/fetch %s"):format(folder, out))
    assert.same({0, ""}, {status, err})
    assert.equal(hash(TARBALL), hash(out))
  end)
end)

describe("lua/prepare #plain", function()
  local folder

  before_each(function() folder = shell.folder() end)
  after_each(function() shell.remove(folder) end)

  -- Runs lua/prepare, which must fail and leave no folder. Returns the one line that it prints on stderr.
  local function refused(tarball, ...)
    local status, _, err = shell.run(("lua/prepare %s %s/src %s")
                                     :format(tarball, folder, table.concat({...}, " ")))
    assert.is_true(status ~= 0, err)
    assert.is_truthy(err:find("lua/prepare: [^\n]+\n$"), err)
    assert.is_true(shell.run("test -e " .. folder .. "/src") ~= 0, "the folder is still there")
    return err
  end

  -- A former bug: when the disk was full, the message reported a damaged tarball, which was then deleted
  -- and downloaded again.
  it("says that there is no room for the sources, in tar's words", function()
    shell.output("mkdir " .. folder .. "/bin")
    local tar = assert(io.open(folder .. "/bin/tar", "w"))
    tar:write("#!/bin/sh\necho tar: lua.h: Cannot write: No space left on device >&2\nexit 2\n")
    tar:close()
    shell.output("chmod +x " .. folder .. "/bin/tar")
    local status, _, err = shell.run(("PATH=%s/bin:$PATH lua/prepare %s %s/src")
                                     :format(folder, TARBALL, folder))
    assert.is_true(status ~= 0)
    assert.is_truthy(err:find("no disk space for Lua's sources: tar: lua.h: Cannot write", 1, true), err)
  end)

  it("refuses a tarball that is none, and names it", function()
    local bad = folder .. "/bad.tar.gz"
    shell.output("head -c 5000 %s >%s", TARBALL, bad)
    local err = refused(bad)
    assert.is_truthy(err:find(bad .. " is not a Lua release", 1, true), err)
    local _, n = err:gsub("\n", "")
    assert.equal(1, n, err)
  end)

  -- Applies 'change' to the text of a patch of the series. Returns the path of the changed patch.
  local function spoiled(change)
    local path = shell.output("ls lua/patches/0003-*.patch"):gsub("\n", "")
    local text = change(shell.read(path))
    shell.write(folder .. "/spoiled.patch", text)
    return folder .. "/spoiled.patch"
  end

  it("refuses a patch that does not apply, and names it and the hunk", function()
    local path = spoiled(function(text)
      return (text:gsub("(\n@@[^\n]*\n) [^\n]*", "%1 a missing line", 1))
    end)
    local err = refused(TARBALL, path)
    assert.is_truthy(err:find("^lua/prepare: " .. path .. " does not apply: Hunk #1 FAILED"), err)
  end)

  it("refuses a patch that applies only elsewhere", function()
    local path = spoiled(function(text)
      return (text:gsub("@@ %-(%d+)(,%d+ %+)(%d+)", function(from, between, to)
        return ("@@ -%d%s%d"):format(from - 10, between, to - 10)
      end))
    end)
    local err = refused(TARBALL, path)
    assert.is_truthy(err:find(path .. " applies only with an offset", 1, true), err)
  end)

  it("refuses a file that is no patch", function()
    shell.write(folder .. "/none.patch", "diff --git a/src/lgc.c b/src/lgc.c\n@@ -1,3 nonsense\n")
    local err = refused(TARBALL, folder .. "/none.patch")
    assert.is_truthy(err:find(folder .. "/none.patch does not apply", 1, true), err)
  end)
end)

describe("lua/install #plain", function()
  it("refuses a PREFIX that is not absolute", function()
    for _, prefix in ipairs {"local", "./x", ""} do
      local status, out, err = shell.run(("lua/install '%s' ''"):format(prefix))
      assert.same({2, "", ("lua/install: PREFIX must be an absolute path, got '%s'\n"):format(prefix)},
                  {status, out, err})
    end
  end)

  it("leaves a whole tree below DESTDIR, and one that runs below PREFIX", function()
    local folder = shell.folder()
    local staged = folder .. "/stage" .. folder .. "/lua"
    shell.output("lua/install %s/lua %s/stage", folder, folder)
    for _, path in ipairs {"bin/lua", "bin/luac", "bin/asamp", "lib/liblua.a", "lib/liblua5.4.so",
                           "lib/liblua5.4.so.0", "lib/pkgconfig/lua5.4.pc", "include/lua5.4/lua.h",
                           "include/lua5.4/lauxlib.h", "include/lua5.4/lualib.h",
                           "include/lua5.4/luaconf.h", "include/lua5.4/lua.hpp",
                           "include/lua5.4/seam.h", "lib/asamp/profiler/core.so",
                           "lib/asamp/profiler/reader.so", "lib/asamp/profiler/convert.so",
                           "share/asamp/profiler.lua", "share/asamp/asamp/show/firefox.lua",
                           "share/asamp/asamp.lua", "share/asamp/asamp/commands/report.lua",
                           "share/man/man1/asamp.1", "share/man/man1/lua.1", "share/man/man1/luac.1"} do
      assert.equal(0, (shell.run("test -s " .. staged .. "/" .. path)), path)
    end
    assert.equal(0, (shell.run("test ! -e " .. folder .. "/lua")), "DESTDIR was not minded")
    local pc = shell.read(staged .. "/lib/pkgconfig/lua5.4.pc")
    assert.is_truthy(pc:find("prefix=" .. folder .. "/lua\n", 1, true), pc)

    -- installs again without DESTDIR; nothing is built
    shell.output("lua/install %s/lua ''", folder)
    shell.write(folder .. "/script.lua", "local t = {} for i = 1, 50000 do t[i % 10] = {i} end print(#t)\n")
    local status, out, err = shell.run(("cd %s && env -u LUA_PATH -u LUA_CPATH -u LUA_INIT "
      .. "LUA_PROFILER=alloc=4K,out=run.vmprof lua/bin/lua -l profiler script.lua"):format(folder))
    assert.same({0, "9\n"}, {status, out}, err)
    assert.is_truthy(err:find("run.vmprof", 1, true), err)
    status, out, err = shell.run(("cd %s && env -u LUA_PATH -u LUA_CPATH -u LUA_INIT "
      .. "lua/bin/asamp report run.vmprof"):format(folder))
    assert.same({0, ""}, {status, err})
    assert.is_truthy(out:find("script.lua", 1, true), out)
    local path = shell.output(folder .. "/lua/bin/lua -e 'print(package.path)'")
    assert.equal(1, (path:find(folder .. "/lua/share/lua/5.4/?.lua;", 1, true)))

    -- a destination that cannot be written
    shell.write(folder .. "/file", "")
    status, out, err = shell.run(("lua/install %s/lua %s/file"):format(folder, folder))
    assert.same({1, ("lua/install: cannot write %s/file%s/lua; use sudo, or another PREFIX or DESTDIR\n")
                    :format(folder, folder)}, {status, err}, out)
    shell.remove(folder)
  end)
end)
