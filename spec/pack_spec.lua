-- SPDX-License-Identifier: MIT
--
-- The contents of packages, as far as they can be checked without building one: the manual page, the lists
-- of the Debian package, the rock for luarocks, the examples for servers. `make fresh` with DEB=1 or ROCK=1
-- builds and uses the packages.

local options = require "profiler.options"
local sets = require "spec.support.sets"
local recipes = require "spec.support.recipes"
local shell = require "spec.support.shell"

local RELEASE = shell.read("VERSION"):match "^(%d+%.%d+%.%d+)\n$"
local BUILT = {"asamp", "lua", "luac"}  -- programs of the folder bin/

describe("asamp.1 #plain", function()
  local asamp, page = require "asamp", nil
  setup(function() page = shell.output "build/bin/lua pack/manpage" end)

  it("has the help text of every command", function()
    local text = page:gsub("\\%-", "-"):gsub("\\&", ""):gsub("\\e", "\\")
    for _, name in ipairs(asamp.COMMANDS) do
      local usage = require("asamp.commands." .. name).usage()
      assert.is_true(#usage > 100, name)
      assert.is_truthy(text:find(usage, 1, true), name)
    end
  end)

  it("has no line that roff would take for a request of its own", function()
    local known = {TH = 1, SH = 1, SS = 1, PP = 1, TP = 1, EX = 1, EE = 1, B = 1, I = 1, BR = 1}
    for line in page:gmatch "[^\n]+" do
      assert.is_falsy(line:find "^'", line)
      assert.is_truthy(line:sub(1, 1) ~= "." or known[line:match "^%.(%u+)"], line)
    end
  end)
end)

describe("the Debian package #plain", function()
  local control = shell.read "pack/debian/control"
  local links = shell.read "pack/debian/asamp.links"

  it("is built with the libraries and tools that make deps installs", function()
    -- Build-Depends must list each library that the build uses. If one is missing, the package lacks the
    -- module that uses it.
    local built = sets.captured(control:match "Build%-Depends:(.-)\n%u", "\n ([%w.+-]+)")
    local makefile = shell.read("Makefile"):match "\nBUILDING = (.-)\nTESTING"
    local wanted, n = sets.captured(makefile, "%f[%w]lib[%w.+-]+%-dev"), 0
    wanted["libc6-dev"] = nil
    wanted.esbuild, wanted["node-d3"] = true, true
    for name in pairs(wanted) do
      n = n + 1
      assert.is_true(built[name], name .. " is not among Build-Depends of pack/debian/control")
    end
    assert.is_true(n > 5)
  end)

  it("offers its programs as alternatives, after Debian's own", function()
    local text, n = shell.read "pack/debian/asamp.alternatives", 0
    for command in text:gmatch "Alternative: /(%S+)" do
      assert.is_truthy(links:find(" " .. command .. "\n", 1, true), command)
      n = n + 1
    end
    assert.equal(2, n)
    for priority in text:gmatch "Priority: (%d+)" do assert.is_true(tonumber(priority) < 20) end
    local rules = shell.read "pack/debian/rules"
    for page in text:gmatch "lu[%w.-]*%-manual /usr/share/man/man1/(%S+)%.gz" do
      assert.is_truthy(rules:find("/" .. page .. "\n", 1, true), page)
    end
    for from in links:gmatch "usr/lib/asamp/bin/(%S+) " do
      assert.equal(1, #shell.lines(shell.output("ls build/bin/" .. from)))
    end
    for _, name in ipairs(BUILT) do assert.is_truthy(links:find("/bin/" .. name .. " ", 1, true)) end
  end)

  -- A former bug: lua/build.mk had lost the variable with Debian's linker options, so that the package was
  -- linked without them.
  it("is compiled and linked with the options of Debian", function()
    local exported = {}
    for name in shell.read "pack/debian/rules":gmatch "\nexport (%u+) := %$%(shell" do
      exported[#exported + 1] = name .. "=-Dof_" .. name
    end
    local lines = recipes.ofbuild("install", table.concat(exported, " "))
    for _, line in ipairs(lines.compiled) do assert.is_truthy(line:find("-Dof_EXTRA", 1, true), line) end
    for _, line in ipairs(lines.linked) do assert.is_truthy(line:find("-Dof_LDEXTRA", 1, true), line) end
  end)

  -- A former bug: if the name of the folder contained a space, the package was installed next to that
  -- folder.
  it("is laid out below the folder that it is built in, whatever that is called", function()
    local to = shell.read("pack/debian/rules"):match "%$%(MAKE%) install PREFIX=%S+ DESTDIR=(%S+)\n"
    assert.equal("$(STAGE)", to)
  end)

  it("reports missing programs if none can be built", function()
    local folder = shell.folder()
    shell.output("ln -s $(command -v dirname) $(command -v sh) %s", folder)
    local status, out, err = shell.run(("PATH=%s pack/deb"):format(folder))
    assert.same({1, "", "pack/deb: no dpkg-buildpackage here; run: make deb\n"}, {status, out, err})
  end)
end)

describe("the rock #plain", function()
  -- Returns make's error message for an include folder that lacks the right headers.
  local function refused(incdir)
    local status, _, err = shell.run(("make -s -f pack/rock.mk LUA_INCDIR=%s"):format(incdir))
    assert.equal(2, status)
    return err
  end

  it("is a rockspec", function()
    local rock = {}
    assert(load(shell.read "pack/asamp-1.0.0-1.rockspec", "=rockspec", "t", rock))()
    assert.equal("asamp-1.0.0-1", rock.package .. "-" .. rock.version)
    assert.equal(RELEASE .. "-1", rock.version)
    assert.is_truthy(shell.read(rock.build.makefile))
    for _, name in ipairs{"LUA_INCDIR", "LUADIR", "LIBDIR"} do
      assert.equal("$(" .. name .. ")", rock.build.install_variables[name])
    end
  end)

  it("is for no other Lua, and for no other commit's fork", function()
    local folder = shell.folder()
    assert.is_truthy(refused(folder):find("Asamp's Lua is not installed in '" .. folder .. "'", 1, true))
    shell.write(folder .. "/seam.h", "/* another */\n")
    assert.is_truthy(refused(folder):find("is of another commit", 1, true))
  end)
end)

describe("the release #plain", function()
  it("is that of VERSION, wherever it is printed", function()
    assert.is_truthy(RELEASE)
    assert.equal("asamp " .. RELEASE, require("profiler")._VERSION)
    assert.equal(RELEASE, require("asamp.host").release)
    assert.is_truthy(shell.read("build/include/lua5.4/asamp.h"):find(
      '\n#define ASAMP_RELEASE\t"' .. RELEASE .. '"', 1, true))
    assert.is_truthy(shell.output("build/bin/lua pack/manpage"):find(
      '.TH ASAMP 1 "" "asamp ' .. RELEASE .. '"', 1, true))
    local upstream = shell.read("lua/upstream"):match "\nversion=(%S+)"
    assert.equal(("asamp %s (Lua %s)\n"):format(RELEASE, upstream), shell.output "build/bin/asamp --version")
  end)

  it("is the first in the change log, with its day", function()
    local log = shell.read "CHANGELOG.md"
    assert.equal(RELEASE, log:match "\n## %[(%d+%.%d+%.%d+)%] %- %d%d%d%d%-%d%d%-%d%d\n")
  end)
end)

describe("the examples for servers #plain", function()
  local links = shell.read "pack/debian/asamp.links"

  -- Returns the options that the profiler parses from a value of the variable ASAMP.
  local function taken(text)
    local t, wrong = options.read(text)
    assert(t, wrong)
    return assert(options.check(t))
  end

  it("has a drop-in for systemd", function()
    local text = shell.read "doc/examples/asamp.conf"
    for line in text:gmatch "[^\n]+" do
      assert.is_truthy(line:find "^#" or line:find "^%[Service%]$" or line:find "^%u%a+=", line)
    end
    local command = text:match "ExecStart=\n#   ExecStart=/(%S+) "
    assert.is_truthy(links:find(" " .. command .. "\n", 1, true), command)
    -- replaces %n and %% in the value as systemd does
    local value = text:match "\nEnvironment=ASAMP=([^\n]*)"
    value = value:gsub("%%(.)", {n = "app.service", ["%"] = "%"})
    assert.equal("/var/log/asamp/app.service.%p-%t.vmprof", taken(value).out)
    assert.is_truthy(text:find "\nLogsDirectory=asamp\n")
    -- By default root owns the folder, so that a daemon that changes its user cannot write to it.
    assert.is_truthy(text:find "\n#   LogsDirectoryMode=1777\n")
  end)

  it("has an image for containers", function()
    local text = shell.read "doc/examples/Containerfile"
    assert.is_truthy(text:find("COPY build/deb/asamp_*.deb ", 1, true))
    assert.is_truthy(shell.read("pack/deb"):find("work=build/deb\n", 1, true))
    assert.equal("/profiles/app.%p-%t.vmprof", taken(text:match "\nENV ASAMP=([^\n]*)").out)
    -- A former bug: the container image replaced the value of LD_LIBRARY_PATH that its base image had set.
    assert.is_truthy(text:find("lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n", 1, true))
    local command = text:match '\nENTRYPOINT %["([^"]+)"%]'
    assert.is_truthy(links:find("usr/bin/" .. command .. "\n", 1, true), command)
  end)

  it("have the library where it is installed", function()
    local root = shell.read("pack/debian/rules"):match "\nROOT := (%S+)"
    for _, path in ipairs{"doc/examples/asamp.conf", "doc/examples/Containerfile"} do
      assert.equal(root .. "/lib", shell.read(path):match "LD_LIBRARY_PATH=([^%s$]+)")
    end
  end)
end)
