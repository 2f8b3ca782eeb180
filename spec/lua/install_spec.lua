-- SPDX-License-Identifier: MIT
--
-- Effects of `make install` on existing folders and on files in use. They are tested with a small tree
-- instead of a real build.

local shell = require "spec.support.shell"

describe("lua/install #plain", function()
  local folder

  -- Runs the shell command 'before', then installs into the folder "prefix" of 'folder'.
  local function install(before)
    shell.output("%s; cd %s/sources && lua/install %s/prefix ''", before, folder, folder)
  end

  -- Returns the mode and the owner of a path in the prefix.
  local function stat(path)
    return (shell.output("stat -c '%%a %%u:%%g' %s/prefix/%s", folder, path):gsub("\n", ""))
  end

  setup(function()
    folder = shell.folder()
    local sources = folder .. "/sources"
    shell.output("mkdir -p %s/lua %s/asamp/module %s/pack && cp lua/install %s/lua/",
                 sources, sources, sources, sources)
    shell.write(sources .. "/asamp/module/asamp.sh", "#!/bin/sh\n")
    shell.write(sources .. "/pack/manpage", "")
    shell.write(sources .. "/lua/build.mk", [[
all:
	@mkdir -p $(P)/bin $(P)/lib $(P)/share build/install/src/doc
	@echo '#!/bin/sh' >$(P)/bin/lua && chmod u+x $(P)/bin/lua
	@echo new >$(P)/lib/liblua5.4.so.0 && ln -sf liblua5.4.so.0 $(P)/lib/liblua5.4.so
	@touch build/install/src/doc/lua.1 build/install/src/doc/luac.1
]])
    shell.output("chmod +x %s/asamp/module/asamp.sh", sources)
  end)

  teardown(function() shell.remove(folder) end)

  -- Former bugs: if a user had run `make install` before, `sudo make install` made this user the owner of
  -- /usr/local. With a umask of 077, no other user could enter it any more.
  it("leaves folders that are there as they are, and whose they are", function()
    shell.output("mkdir -p %s/prefix/bin && chmod 2775 %s/prefix/bin", folder, folder)
    if shell.output "id -u" == "0\n" then shell.output("chown 7:7 %s/prefix/bin", folder) end
    local before = stat "bin"
    install "umask 077"
    assert.equal(before, stat "bin")
  end)

  it("lets all users read and no other user write, with any builder and umask", function()
    install "umask 077"
    local owner = shell.output("echo $(id -u):$(id -g)"):gsub("\n", "")
    if shell.output "id -u" == "0\n" then
      shell.output("chown -R 7:7 %s/sources/build", folder)
      shell.remove(folder .. "/prefix")
      install "umask 077"
    end
    for path, mode in pairs{share = 755, ["share/man/man1/asamp.1"] = 644, ["bin/lua"] = 755,
                            ["lib/liblua5.4.so.0"] = 644} do
      assert.equal(mode .. " " .. owner, stat(path), path)
    end
  end)

  -- A former bug: the installation overwrote the library's file in place, so that a running program that
  -- used it ended by SIGBUS.
  it("writes into no file that is there", function()
    install "true"
    local path = folder .. "/prefix/lib/liblua5.4.so.0"
    shell.write(path, "old\n")
    local mapped <close> = assert(io.open(path))
    install "true"
    assert.equal("old\n", mapped:read "a")
    assert.equal("new\n", shell.read(path))
  end)

  it("goes through a link to a folder that is there", function()
    shell.remove(folder .. "/prefix")
    shell.output("mkdir -p %s/prefix/other && ln -s other %s/prefix/lib", folder, folder)
    install "true"
    assert.equal("other\n", shell.output("readlink %s/prefix/lib", folder))
    assert.equal("liblua5.4.so.0\n", shell.output("readlink %s/prefix/other/liblua5.4.so", folder))
  end)
end)
