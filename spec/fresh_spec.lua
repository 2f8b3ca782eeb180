-- SPDX-License-Identifier: MIT
--
-- spec/fresh and the sums of spec/tally.sh. A trial that cannot run must print one line with the reason,
-- and the last line must count every failure. (`make fresh` itself runs the README's commands on a new
-- system.)

local shell = require "spec.support.shell"

describe("spec/tally.sh #plain", function()
  -- Runs each shell command by the function 'tally' of spec/tally.sh, under the name part1, part2, and so
  -- on. Returns the exit status, the lines of the output, and stderr.
  local function tallied(...)
    local line = ". spec/tally.sh; "
    for i, command in ipairs{...} do line = line .. ("tally part%d sh -c %q; "):format(i, command) end
    local status, out, err = shell.run(line .. "closing")
    return status, shell.lines(out), err
  end

  it("sums closing lines, and leaves one alone on its line", function()
    local status, out, err = tallied("echo hello; echo 3 passed, 0 failed",
                                     "echo 1 passed, 9 failed; echo 39 passed, 0 failed")
    assert.same({0, ""}, {status, err})
    assert.same({"hello", "part1: 3 passed, 0 failed", "part2: 1 passed, 9 failed",
                 "part2: 39 passed, 0 failed", "42 passed, 0 failed"}, out)
  end)

  it("fails when anything failed, and counts a command without a closing line as one", function()
    local status, out = tallied("echo 3 passed, 2 failed; exit 1", "true", "exit 7")
    assert.equal(1, status)
    assert.equal("4 passed, 3 failed", out[#out])
  end)

  it("counts a bad exit status without a reported failure", function()
    local status, out, err = tallied("echo 5 passed, 0 failed; exit 2")
    assert.equal(1, status)
    assert.equal("5 passed, 1 failed", out[#out])
    assert.equal("part1: ended with status 2\n", err)
  end)
end)

describe("spec/fresh #plain", function()
  local folder
  before_each(function() folder = shell.folder() end)

  -- Creates a command in a folder that precedes the system's folders in PATH.
  local function tool(name, text)
    shell.write(folder .. "/" .. name, "#!/bin/sh\n" .. text .. "\n")
    shell.output("chmod +x %s/%s", folder, name)
  end

  -- Runs spec/fresh with these settings and this PATH; it must fail. Returns the only line of its stderr.
  local function refused(settings, path)
    local status, out, err = shell.run(("PATH=%s %s spec/fresh")
                                       :format(path or folder .. ":$PATH", settings or ""))
    assert.same({2, ""}, {status, out}, err)
    assert.is_truthy(err:find "^spec/fresh: [^\n]+\n$", err)
    return err
  end

  it("says that it needs root, and how to get there", function()
    tool("id", "echo 1000")
    tool("sudo", "exit 1")
    assert.is_truthy(refused():find("run: sudo make fresh", 1, true))
  end)

  it("says which tool is missing, and of which package it is", function()
    tool("id", "echo 0")
    for _, name in ipairs{"dirname", "sh"} do
      shell.output("ln -s $(command -v %s) %s/%s", name, folder, name)
    end
    local err = refused(nil, folder)
    assert.is_truthy(err:find("no mmdebstrap here; install it: apt-get install -y mmdebstrap", 1, true), err)
  end)

  it("says where root may not mount", function()
    tool("id", "echo 0")
    tool("mmdebstrap", "exit 1")
    tool("unshare", "exit 1")
    assert.is_truthy(refused():find("the capability SYS_ADMIN", 1, true))
  end)

  it("says where no other processor can be emulated", function()
    tool("id", "echo 0")
    for _, name in ipairs{"mmdebstrap", "git", "unshare"} do tool(name, "exit 0") end
    for _, name in ipairs{"dirname", "sh", "mktemp", "rm"} do
      shell.output("ln -s $(command -v %s) %s/%s", name, folder, name)
    end
    local err = refused("ARCH=arm64", folder)
    local remedy = "no qemu here; install it: apt-get install -y qemu-user-static arch-test"
    assert.is_truthy(err:find(remedy, 1, true), err)
  end)

  it("refuses settings that it does not know", function()
    for setting, message in pairs{
      ["DIST='a b'"] = "DIST must be a release of Debian such as bookworm or trixie, got 'a b'",
      ["FULL=yes"] = "FULL must be 1 or nothing, got 'yes'",
      ["LUA_TARBALL=/nowhere"] = "LUA_TARBALL=/nowhere cannot be read",
      ["LUA_TESTES=/nowhere"] = "LUA_TESTES=/nowhere has no all.lua",
      ["ROCK=yes"] = "ROCK must be 1 or nothing, got 'yes'",
      ["ARCH=riscv64"] = "ARCH must be arm64 or nothing, got 'riscv64'",
      ["DEB=1 ARCH=arm64"] = "one of FULL, DEB, ROCK, TAR, SERVERS and ARCH at a time",
      ["DIST=trixie SERVERS=1 ROCK=1"] = "one of FULL, DEB, ROCK, TAR, SERVERS and ARCH at a time",
      ["SERVERS=1"] = "SERVERS=1 needs DIST=trixie",
    } do
      assert.is_truthy(refused(setting):find(message, 1, true), setting)
    end
  end)

  it("fails with a reason, and leaves no files, if no Debian can be made", function()
    -- replaces unshare by a stub, because not every machine allows namespaces
    tool("id", "echo 0")
    tool("unshare", [[while [ "${1#--}" != "$1" ]; do shift; done; exec "$@"]])
    tool("apt-get", "echo 'http://mirror.invalid/debian bookworm main'")
    tool("mmdebstrap", "echo 'E: no such suite' >&2; exit 1")
    local status, out, err = shell.run(("PATH=%s:$PATH TMPDIR=%s DIST=trixie spec/fresh")
                                       :format(folder, folder))
    assert.equal(1, status, err)
    assert.is_truthy(out:find("E: no such suite\nspec/fresh: mmdebstrap could not make trixie", 1, true), out)
    assert.is_truthy(out:find("\n0 passed, 1 failed\n$"), out)
    assert.equal("", shell.output("find %s -mindepth 1 -type d", folder))
  end)
end)
