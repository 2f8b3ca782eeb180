-- SPDX-License-Identifier: MIT
--
-- The tarball of `make dist`: the spec builds it, unpacks it in a folder whose name contains a space, and
-- uses it. `make fresh DIST=bullseye TAR=1` also uses it on a system with an older glibc.

local json = require "cjson"
local shell = require "spec.support.shell"

local RELEASE = shell.read("VERSION"):match "%S+"
local NAME = "asamp-" .. RELEASE .. "-linux-x86_64"
local GLIBC = {["libc.so.6"] = true, ["libm.so.6"] = true, ["libdl.so.2"] = true, ["libpthread.so.0"] = true,
               ["librt.so.1"] = true, ["ld-linux-x86-64.so.2"] = true}

describe("pack/dist #plain", function()
  local tree, home
  setup(function()
    shell.output "pack/dist"
    home = shell.folder() .. "/a b"
    shell.output("mkdir '%s' && tar -C '%s' -xf build/dist/%s.tar.xz", home, home, NAME)
    tree = home .. "/" .. NAME
  end)

  -- Runs a command in the folder that contains the unpacked tree. Returns its output.
  local function there(line)
    local status, out, err = shell.run(("cd '%s' && %s"):format(home, line))
    assert.equal(0, status, out .. err)
    return out .. err
  end

  -- Returns the paths of all ELF files of the tree, except archives.
  local function objects()
    local list = {}
    for _, path in ipairs(shell.lines(there("find " .. NAME .. "/bin " .. NAME .. "/lib -type f"))) do
      if shell.read(home .. "/" .. path):sub(1, 4) == "\127ELF" and not path:find "%.a$" then
        list[#list + 1] = path
      end
    end
    assert.is_true(#list > 12, #list)
    return list
  end

  it("writes the sums", function()
    local checked = shell.output "cd build/dist && sha256sum -c SHA256SUMS"
    assert.is_truthy(checked:find(NAME .. ".tar.xz: OK", 1, true), checked)
  end)

  it("needs no symbol of a glibc newer than 2.28", function()
    for _, path in ipairs(objects()) do
      for minor in there("objdump -T " .. path):gmatch "GLIBC_2%.(%d+)" do
        assert.is_true(tonumber(minor) <= 28, path .. " needs GLIBC_2." .. minor)
      end
    end
  end)

  it("needs no library but glibc and its own", function()
    for _, path in ipairs(objects()) do
      for library in there("readelf -d " .. path):gmatch "%(NEEDED%)[^%[]*%[([^%]]*)%]" do
        assert.is_true(GLIBC[library] or shell.read(tree .. "/lib/asamp/bundled/" .. library) ~= nil,
                       path .. " needs " .. library)
      end
    end
  end)

  it("runs from any folder", function()
    assert.equal("asamp " .. RELEASE, there(NAME .. "/bin/asamp --version"):match "^asamp %S+")
    shell.write(home .. "/app.lua", [[
      local t = {} for i = 1, 2e5 do t[i % 100] = ("x%d"):format(i):upper() end
      print(require "profiler"._VERSION)]])
    local out = there(NAME .. "/bin/asamp run --out app.vmprof app.lua")
    assert.is_truthy(out:find("asamp " .. RELEASE .. "\n", 1, true), out)
    assert.is_truthy(out:find("str_format", 1, true), out)
    assert.is_truthy(there("ASAMP=out=state.vmprof " .. NAME .. "/bin/lua app.lua"):find "state.vmprof")
    there(NAME .. "/bin/asamp view --out app.html app.vmprof")
    assert.is_true(shell.size(home .. "/app.html") > 50000)
  end)

  it("does not name the folder of the build", function()
    local status = shell.run(("grep -rlF \"$PWD\" '%s'"):format(tree))
    assert.equal(1, status)
  end)

  it("lists its parts", function()
    local parts, names = json.decode(shell.read(tree .. "/share/doc/asamp/parts.spdx.json")), {}
    for _, part in ipairs(parts.packages) do names[part.name] = part.versionInfo end
    assert.equal(RELEASE, names.asamp)
    for name in pairs{lua = 1, libunwind8 = 1, libdw1 = 1, zlib1g = 1, ["d3-brush"] = 1} do
      assert.is_truthy(names[name] and names[name]:find "%d", name)
    end
  end)

  -- Removes some of the object files, in all folders, and builds the tarball again. The removed files are
  -- compiled again; all are linked and packed again.
  it("gives the same bytes again", function()
    local sums = shell.read "build/dist/SHA256SUMS"
    shell.output("rm -rf build/dist/x86_64/asamp[.-]* && find build/dist/x86_64 -name '*.o' | sort | " ..
                 "sed -n '2~4p' | xargs rm && pack/dist")
    assert.equal(sums, shell.read "build/dist/SHA256SUMS")
  end)

  describe("pack/install.sh", function()
    local function install(tarball, folder)
      return shell.run(("sh pack/install.sh '%s' '%s'"):format(tarball, folder))
    end
    local tarball = "build/dist/" .. NAME .. ".tar.xz"

    it("installs, and replaces an earlier installation", function()
      local folder = home .. "/new/asamp"
      for _ = 1, 2 do
        local status, out, err = install(tarball, folder)
        assert.same({0, ""}, {status, err})
        assert.is_truthy(out:find(folder .. "/bin", 1, true), out)
        shell.output("'%s/bin/lua' -l profiler -e 'profiler.stats()'", folder)
        assert.equal(1, (shell.run(("ls -d '%s.new' >/dev/null 2>&1 && exit; exit 1"):format(folder))))
      end
    end)

    it("is used by the plugin of asdf and mise", function()
      local folder = home .. "/asdf"
      local env = ("ASAMP_RELEASES=\"$PWD\"/build/dist ASDF_INSTALL_VERSION=%s ASDF_INSTALL_PATH='%s' ")
        :format(RELEASE, folder)
      assert.equal(RELEASE .. "\n", shell.output(env .. "pack/asdf/bin/list-all"))
      shell.output("mkdir '%s' && %s pack/asdf/bin/install", folder, env)
      assert.is_truthy(shell.output("'%s/bin/asamp' --version", folder):find(RELEASE, 1, true))
      local status, _, err = shell.run "pack/asdf/bin/list-all"
      assert.is_true(status ~= 0)
      assert.is_truthy(err:find("ASAMP_RELEASES", 1, true), err)
    end)

    it("changes no folder that has other files", function()
      shell.output("mkdir '%s/mine' && touch '%s/mine/notes'", home, home)
      local status, _, err = install(tarball, home .. "/mine")
      assert.same({1, true}, {status, err:find("other files; name a new or empty folder", 1, true) ~= nil})
      assert.equal("notes\n", shell.output("ls '%s/mine'", home))
    end)

    it("refuses a file that was changed, and one for another processor", function()
      shell.output("mkdir '%s/changed' && cp build/dist/SHA256SUMS '%s' '%s/changed'", home, tarball, home)
      shell.output("echo x >>'%s/changed/%s.tar.xz'", home, NAME)
      local status, _, err = install(home .. "/changed/" .. NAME .. ".tar.xz", home .. "/none")
      assert.same({1, true}, {status, err:find("nothing was installed", 1, true) ~= nil})
      assert.equal(1, (shell.run(("test -e '%s/none'"):format(home))))
      for _, other in ipairs{"asamp-1.0.0-linux-riscv64.tar.xz",
                             "http://example.org/" .. NAME .. ".tar.xz"} do
        status, _, err = install(other, home .. "/none")
        assert.equal(1, status)
        assert.is_truthy(err:find(other, 1, true), err)
      end
    end)
  end)

  -- Runs the steps of action.yml as a runner of GitHub does.
  it("is set up and used by the action", function()
    local text = shell.read "action.yml"
    local steps, block = {}, nil
    for line in text:gmatch "[^\n]*" do
      if line == "      run: |" then
        block = {}
        steps[#steps + 1] = block
      elseif block and line:sub(1, 8) == "        " then block[#block + 1] = line:sub(9)
      else block = nil end
    end
    assert.equal(2, #steps)
    local runner = home .. "/runner"
    shell.output("mkdir '%s'", runner)
    for i, step in ipairs(steps) do
      shell.write(("%s/step%d.sh"):format(runner, i), table.concat(step, "\n") .. "\n")
    end
    local function step(i, check)
      return shell.run(("env GITHUB_ACTION_PATH=\"$PWD\" GITHUB_PATH='%s/path' RUNNER_TEMP='%s' " ..
        "TARBALL=build/dist/%s.tar.xz CHECK='%s' sh -e '%s/step%d.sh'")
        :format(runner, runner, NAME, check, runner, i))
    end
    assert.equal(0, (step(1, "")))
    assert.equal(runner .. "/asamp/bin\n", shell.read(runner .. "/path"))
    local program = "doc/examples/orders.lua"
    assert.equal(0, (step(2, program .. " --max-allocated 1G")))
    local status, out = step(2, program .. " --max-allocated 1M")
    assert.equal(1, status)
    assert.is_truthy(out:find("::error", 1, true), out)
  end)

  it("is built for arm64, and profiles there with C stacks", function()
    if shell.output "uname -m" ~= "x86_64\n" then return pending "this machine is not x86-64" end
    shell.output "pack/dist arm64"
    local lua = "build/dist/arm64/asamp-" .. RELEASE .. "-linux-arm64/bin/lua"
    local profile = shell.folder() .. "/arm64.vmprof"
    shell.write(home .. "/sorts.lua", [[
      local kept = {}
      local function fill() for i = 1, 5000 do kept[#kept + 1] = {i} end end
      table.sort({1, 2, 3}, function(a, b) fill() return a < b end)
    ]])
    local status, _, err = shell.run(("LUA_PROFILER=out='%s',alloc=4K,time=0 qemu-aarch64-static " ..
      "-L build/dist/debian11-arm64 %s -l profiler '%s/sorts.lua'"):format(profile, lua, home))
    assert.equal(0, status, err)
    local names = shell.output("zcat '%s' | strings", profile)
    for _, name in ipairs{"_start", "auxsort", "sort_comp", "sorts.lua"} do
      assert.is_truthy(names:find(name, 1, true), name .. "\n" .. names)
    end
    assert.is_nil(names:find("$x", 1, true), names)
  end)

  it("refuses another processor", function()
    assert.same({1, "", "pack/dist: ARCH must be x86_64 or arm64, got 'riscv64'\n"},
                {shell.run "pack/dist riscv64"})
  end)
end)
