-- SPDX-License-Identifier: MIT
--
-- The makefiles. `make deps` must install everything that the build needs on this machine, no variable may
-- be used before it has a value, and a compiler must get only options that it supports.

local recipes = require "spec.support.recipes"
local sets = require "spec.support.sets"
local shell = require "spec.support.shell"

local FILES = {"Makefile", "lua/build.mk", "lualib/build.mk", "asamp/build.mk"}

-- Returns the set of words in the commands of a target's recipe.
local function words(target)
  local set = {}
  for word in shell.output("make -n --no-print-directory " .. target):gmatch "%S+" do set[word] = true end
  return set
end

-- Returns a table of the Debian packages that contain these existing files, by file.
local function packages(paths)
  local by = {}
  for i, path in ipairs(paths) do paths[i] = shell.output("readlink -f " .. path):gsub("\n", "") end
  for name, path in select(2, shell.run("dpkg-query -S " .. table.concat(paths, " ")))
                    :gmatch "([^:\n]+)[^\n]*: ([^\n]+)" do
    by[path] = name
  end
  return by
end

-- Returns the set of packages that are installed with the packages in 'set': these, and all on which they
-- depend.
local function closure(set)
  local needs, todo, all = {}, sets.sorted(set), {}
  local installed = shell.output "dpkg-query -W -f '${Package}\t${Depends}\n'"
  for name, list in installed:gmatch "([^\t\n]+)\t([^\n]*)" do
    needs[name] = list
  end
  while #todo > 0 do
    local name = table.remove(todo)
    if needs[name] and not all[name] then
      all[name] = true
      for word in needs[name]:gsub("%b()", ""):gmatch "[%w+.-]+" do todo[#todo + 1] = word end
    end
  end
  return all
end

describe("make deps #plain", function()
  it("installs whatever the makefiles look for on this machine", function()
    -- A former bug: PACKAGES used the variable PAGETOOLS before the line that sets it. A new machine
    -- therefore had neither esbuild nor d3 and built no page. Machines where they had been installed before
    -- showed no failure.
    local paths = {}
    for _, file in ipairs(FILES) do
      for list in shell.read(file):gmatch "%$%(wildcard (/[^)]*)%)" do
        for path in list:gmatch "/%S+" do
          if not path:find "chrom" then paths[#paths + 1] = path end  -- make browser
        end
      end
    end
    assert.is_true(#paths >= 3, "no wildcards found")
    for _, tool in ipairs{"esbuild", "luacheck", "busted"} do
      paths[#paths + 1] = shell.output("command -v " .. tool):gsub("\n", "")
    end
    local names, installed = packages(paths), closure(words "deps")
    for _, path in ipairs(paths) do
      assert.is_true(names[path] ~= nil, path .. " is not of an installed package")
      assert.is_true(installed[names[path]], ("the build looks for %s, but make deps does not install %s")
                     :format(path, names[path]))
    end
  end)
end)

describe("make #plain", function()
  -- Runs make in this tree with a PATH that has only the commands in 'tools'. Returns its exit status and
  -- stderr.
  local function with(tools, target)
    local folder = shell.folder()
    for tool in tools:gmatch "%S+" do
      shell.output("ln -s $(command -v %s) %s", tool, folder)
    end
    local status, out, err = shell.run(("PATH=%s make -s --no-print-directory CC=%s/cc %s"):format(
      folder, folder, target))
    shell.remove(folder)
    assert.equal("", out)
    return status, err
  end

  it("says which packages a build needs before it builds", function()
    for _, target in ipairs{"fork", "debug"} do
      local status, err = with("make sh", target)
      assert.equal(2, status)
      local lacks, wanted = err:match("^make: cannot build here without ([^\n]*)\n"
        .. "make: run make deps %(as root%), or install: ([^\n]*)\n")
      assert.is_truthy(lacks and lacks:find(", the command patch", 1, true), err)
      assert.is_truthy(wanted:find("^gcc make patch .*libdw%-dev"), err)
      assert.is_falsy(err:find("busted", 1, true), err)
    end
  end)

  it("names the headers that are missing", function()
    local status, _, err = shell.run "CC='gcc -nostdinc' lua/needs some"
    assert.equal(1, status)
    assert.equal("make: cannot build here without the header stdlib.h, the header readline/readline.h, "
      .. "the header elfutils/libdwfl.h, the header libunwind.h, the header zlib.h\n"
      .. "make: run make deps (as root), or install: some\n", err)
  end)

  it("refuses another folder to build in", function()
    local status, _, err = shell.run "make -s BUILD=/nowhere"
    assert.equal(2, status)
    assert.is_truthy(err:find("BUILD has no effect: everything is built in build/", 1, true), err)
  end)
end)

describe("the makefiles #plain", function()
  -- Returns make's warnings about undefined variables for a target.
  local function warned(line)
    local _, _, err = shell.run("make -n --warn-undefined-variables " .. line)
    local list = {}
    for _, text in ipairs(shell.lines(err)) do
      if text:find "undefined variable" then list[#list + 1] = text end
    end
    return list
  end

  it("use no variable that has no value yet", function()
    for target in shell.read "Makefile":gmatch "\n(%l+):[^\n]*## " do
      assert.same({}, warned(target), target)
    end
    for _, variant in ipairs{"plain", "fork", "debug", "asan", "tsan", "install"} do
      assert.same({}, warned("-f lua/build.mk V=" .. variant), variant)
    end
  end)

  it("notice one that is used too early", function()
    local path = os.tmpname()
    shell.write(path, "A := $(B)\nB := b\nall:\n\t@echo $(A)\n")
    assert.equal(1, #warned("-f " .. path))
    os.remove(path)
  end)

  it("give a compiler only the options that it knows", function()
    -- A former bug: `make CC=clang` failed, because three options of the bytecode loop exist only in gcc.
    local folder = shell.folder()
    local picky = folder .. "/picky"
    shell.write(picky, [[#!/bin/sh
      for word; do
        case $word in -freorder-blocks-algorithm=*|-Wa,*) echo "picky: what is '$word'?" >&2; exit 1 ;; esac
      done
      exec gcc "$@"
    ]])
    shell.output("chmod +x " .. picky)
    local function loop(cc)
      local text = shell.output("make -n -f lua/build.mk V=fork B=%s/b P=%s/p CC=%s",
                                folder, folder, cc)
      return text:match "\n([^\n]*/obj/lvm%.o [^\n]*)"
    end
    local all, some = loop "gcc", loop(picky)
    assert.is_truthy(all:find(" -freorder-blocks-algorithm=simple ", 1, true), all)
    assert.is_nil(some:find("reorder-blocks", 1, true))
    assert.is_nil(some:find("-Wa,", 1, true))
    -- an option that the compiler supports must be passed to it
    assert.is_truthy(some:find(" -fno-crossjumping ", 1, true))
    shell.remove(folder)
  end)

  -- A former bug: the makefile did not check the name of the folder. A quote in it ended a word of the shell
  -- in the middle of the build, and a semicolon ended a module path.
  it("refuse folders whose names no module path can have, and take spaces", function()
    local folder = shell.folder()
    for _, name in ipairs{"a'b", 'a"b', "a;b", "a?b", "a\\b", "a$b", "a#b", "a`b"} do
      local quoted = "'" .. folder .. "/" .. name:gsub("'", "'\\''") .. "'"
      shell.output("mkdir " .. quoted .. " && cp -r Makefile VERSION lua lualib asamp view " .. quoted)
      local status, _, err = shell.run("make -s --no-print-directory -C " .. quoted .. " fork")
      assert.equal(2, status)
      local what, is = err:match(
        "^lua/build%.mk:%d+: %*%*%* '([^\n]*)/build' has a (.), which a module path cannot have: ")
      assert.same({folder .. "/" .. name, name:sub(2, 2)}, {what, is}, err)
      status, _, err = shell.run(("make -s install DESTDIR=%s PREFIX=%s"):format(folder, quoted))
      assert.equal(2, status)
      what = err:match "^lua/install: PREFIX '([^\n]*)' has a character that a module path cannot have %("
      assert.equal(folder .. "/" .. name, what, err)
    end
    shell.output("mkdir '%s/a b' && cp -r Makefile VERSION lua lualib asamp view '%s/a b'", folder, folder)
    assert.equal(0, (shell.run("make -n -C '" .. folder .. "/a b' -f lua/build.mk")))
    shell.remove(folder)
  end)

  -- A former bug: a `make clean` that failed printed no message and returned exit status 0.
  it("say when they cannot clean", function()
    local folder = shell.folder()
    shell.output("mkdir -p %s/build/fork %s/build/dl %s/bin", folder, folder, folder)
    shell.output("cp Makefile %s", folder)
    shell.write(folder .. "/bin/rm", "#!/bin/sh\necho 'rm: cannot remove it' >&2; exit 1\n")
    shell.output("chmod +x %s/bin/rm", folder)
    local status, out, err = shell.run(("PATH=%s/bin:$PATH make -s -C %s clean"):format(folder, folder))
    assert.same({2, ""}, {status, out})
    assert.is_truthy(err:find("^make clean: cannot remove all of build/, run it as the user who has built " ..
                              "it: rm: cannot remove it\n"), err)
    status, out, err = shell.run("make -s -C " .. folder .. " clean")
    assert.same({0, "", ""}, {status, out, err})
    assert.equal("dl\n", shell.output("ls %s/build", folder))
    shell.output("rm -r %s/build", folder)
    status, out, err = shell.run("make -s -C " .. folder .. " clean")
    assert.same({0, "", ""}, {status, out, err})
    shell.remove(folder)
  end)

  -- Former bugs: CFLAGS replaced all options of the core, so that its headers were not found; objcopy
  -- rejected the object files that -flto produces for link-time optimization.
  it("take CFLAGS and LDFLAGS besides their own options, and nothing of -flto", function()
    local lines = recipes.ofbuild("fork", "CFLAGS='-O3 -flto=auto' LDFLAGS=-s")
    for _, line in ipairs(lines.compiled) do
      assert.is_truthy(line:find " %-O2 .*%-O3 ", line)
      assert.is_truthy(line:find("-iquote", 1, true), line)
      assert.is_nil(line:find("-flto", 1, true), line)
    end
    for _, line in ipairs(lines.linked) do
      assert.is_truthy(line:find(" -s ", 1, true), line)
      assert.is_nil(line:find("-flto", 1, true), line)
    end
  end)

  it("build anew for another compiler", function()
    local folder = shell.folder()
    local function stamp(cc)
      shell.output("make -s -f lua/build.mk B=%s P=%s CC=%s %s/extra", folder, folder, cc, folder)
      return shell.read(folder .. "/extra")
    end
    assert.is_true(stamp "gcc" ~= stamp "cc")
    shell.remove(folder)
  end)

  -- A former bug: if the machine stopped in the middle of a build, an object file was empty. The linker
  -- accepted it, and functions were missing when the library was linked or loaded.
  it("make empty files again", function()
    local folder = shell.folder()
    shell.output("mkdir -p %s/obj/gc/mark %s/lib", folder, folder)
    for _, name in ipairs{"obj/gc/mark/scan.o", "lib/liblua.a", "extra"} do
      shell.write(folder .. "/" .. name, "")
    end
    shell.write(folder .. "/obj/whole.o", "whole")
    shell.output("make -s -f lua/build.mk B=%s P=%s %s/extra", folder, folder, folder)
    local left = shell.lines(shell.output("cd %s && find . -name '*.o' -o -name '*.a'", folder))
    assert.same({"./obj/whole.o"}, left)
    assert.is_true(#shell.read(folder .. "/extra") > 0)
    shell.remove(folder)
  end)
end)
