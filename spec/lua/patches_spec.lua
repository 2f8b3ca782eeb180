-- SPDX-License-Identifier: MIT
--
-- The patch series. It must apply to upstream's sources without changes, and survive the conversion to git
-- and back. Each patch must document its effect and the spec that tests it. The spec runs lua/edit in a
-- copy of the checkout.

local shell = require "spec.support.shell"

local function patches(folder)
  return shell.lines(shell.output("ls " .. (folder or ".") .. "/lua/patches/*.patch"))
end

-- Returns the fields of a patch's message: subject, Change, Why here, Relies on, Upstream and Spec.
local function message(text)
  local head = text:match("^(.-)\ndiff %-%-git ")
  local fields, name = {subject = head:match("\nSubject: %[PATCH%] ([^\n]+)")}, nil
  for line in head:match("\nSubject: [^\n]*\n(.*)$"):gmatch("[^\n]+") do
    local new, rest = line:match("^(%u[%w ]-): (.*)$")
    if new then
      name = new
      fields[name] = rest
    elseif name then
      fields[name] = fields[name] .. " " .. line
    end
  end
  return fields
end

-- Returns the numbers of lines of a patch by kind: context, removed, added. Also returns the length of the
-- longest run of context lines.
local function lines(text)
  local n, run, inside = {quoted = 0, removed = 0, added = 0, run = 0}, 0, false
  for line in text:gmatch("[^\n]*") do
    if line:find "^diff %-%-git " then inside = false
    elseif line:find "^@@ " then inside, run = true, 0
    elseif inside then
      local kind = ({[" "] = "quoted", ["-"] = "removed", ["+"] = "added"})[line:sub(1, 1)]
      if kind then n[kind] = n[kind] + 1 end
      run = kind == "quoted" and run + 1 or 0
      n.run = math.max(n.run, run)
    end
  end
  return n
end

describe("the patches #plain", function()
  it("are numbered from 1 without a gap, and named after their subjects", function()
    for i, path in ipairs(patches()) do
      local number, name = path:match("/(%d%d%d%d)%-([^/]+)%.patch$")
      assert.equal(i, tonumber(number), path)
      local subject = message(shell.read(path)).subject
      assert.is_truthy(subject:find("^%l+: "), subject)
      local plain = subject:gsub("[^%w._]+", "-")
      assert.equal(name, plain:sub(1, #name), path)
    end
  end)

  it("apply to the pristine sources, none with fuzz or an offset", function()
    local folder = shell.folder()
    local status, _, err = shell.run(("lua/prepare build/dl/lua.tar.gz %s/src %s")
                                     :format(folder, table.concat(patches(), " ")))
    assert.same({0, ""}, {status, err})
    -- lua/prepare finds these words in the output of patch, so that the spec checks them, too
    shell.output("cd %s && rm -rf src && mkdir src", folder)
    shell.output("tar -xzf build/dl/lua.tar.gz --strip-components=1 -C " .. folder .. "/src")
    for _, path in ipairs(patches()) do
      local out = shell.output("LC_ALL=C patch -p1 -F0 -d %s/src <%s", folder, path)
      assert.is_falsy(out:find("offset", 1, true) or out:find("fuzz", 1, true), out)
    end
    shell.remove(folder)
  end)

  it("come back unchanged from make edit and make export", function()
    local folder = shell.folder()
    shell.output("mkdir -p %s/build && cp -r build/dl %s/build/ && cp -r lua %s/",
                 folder, folder, folder)
    local out = shell.output("cd %s && lua/edit import build/edit", folder)
    assert.is_truthy(out:find(("build/edit: %d patches"):format(#patches()), 1, true), out)
    shell.output("cd %s && lua/edit export build/edit", folder)
    local same, differences = shell.run(("diff -r lua/patches %s/lua/patches"):format(folder))
    assert.equal(0, same, differences)

    -- Import must not overwrite commits that were not exported, and export must not ignore uncommitted
    -- changes.
    local status, _, err = shell.run(("cd %s && lua/edit import build/edit"):format(folder))
    assert.same({1, "lua/edit: build/edit exists already; export its commits with make export, or remove " ..
                    "the folder to start again\n"}, {status, err})
    shell.output("echo '/* x */' >>%s/build/edit/src/lgc.c", folder)
    status, _, err = shell.run(("cd %s && lua/edit export build/edit"):format(folder))
    assert.same({1, "lua/edit: build/edit has changes that are not committed\n"}, {status, err})
    assert.equal(#patches(), #patches(folder))

    -- after one more commit in build/edit, the export writes one more patch
    shell.output("cd %s && git -C build/edit commit -qam 'gc: one more' && lua/edit export build/edit",
                 folder)
    assert.equal(#patches() + 1, #patches(folder))
    assert.equal(0, (shell.run(("ls %s/lua/patches/%04d-gc-one-more.patch"):format(folder, #patches() + 1))))

    -- removes two commits in build/edit, so that the export writes one patch less than at first
    shell.output("cd %s && git -C build/edit reset -q --hard HEAD~2 && lua/edit export build/edit",
                 folder)
    assert.equal(#patches() - 1, #patches(folder))
    shell.remove(folder)
  end)

  it("cannot be exported from a folder that is no edit folder, nor handled by another verb", function()
    local folder = shell.folder()
    shell.output("mkdir -p %s/build %s/none && cp -r lua %s/", folder, folder, folder)
    for words, said in pairs {
      ["export none"] = "none is not an edit folder; run make edit first",
      ["merge none"] = "unknown verb 'merge'; use import, export or rebase",
      [""] = "unknown verb ''; use import, export or rebase",
      import = "import needs the folder: lua/edit import build/edit",
      rebase = "rebase needs the tarball: lua/edit rebase lua-5.4.N.tar.gz",
      ["rebase absent x"] = "absent cannot be read; give the path of a release, lua-5.4.N.tar.gz",
    } do
      local status, out, err = shell.run(("cd %s && lua/edit %s"):format(folder, words))
      assert.same({1, "", "lua/edit: " .. said .. "\n"}, {status, out, err})
    end
    assert.equal(#patches(), #patches(folder))
    shell.remove(folder)
  end)

  describe("move to another release", function()
    local folder

    before_each(function()
      folder = shell.folder()
      shell.output("mkdir -p %s/build/release && cp -r build/dl %s/build/ && cp -r lua %s/"
        .. " && tar -xzf build/dl/lua.tar.gz -C %s/build/release", folder, folder, folder, folder)
      -- changes the sources to a release Lua 5.4.99, with additional lines that move every hunk of three
      -- files
      shell.output([[cd %s/build/release/*/ && sed -i 's/\(VERSION_RELEASE\t"\)[0-9]*"/\199"/' src/lua.h
        sed -i '1i/* one line more */' src/lvm.c src/lstate.c src/ldo.c]], folder)
    end)
    after_each(function() shell.remove(folder) end)

    local function inside(command)
      return shell.run(("cd %s && %s"):format(folder, command))
    end

    local function pack()
      shell.output("cd %s/build/release && tar -czf ../new.tar.gz *", folder)
      return shell.output("sha256sum %s/build/new.tar.gz", folder):match "%x+"
    end

    -- Exports, and checks that the series applies to the new sources, and that lua/upstream and the tarball
    -- are those of the new release.
    local function moved(hash)
      local status, out, err = inside "lua/edit export build/edit"
      assert.same({0, "lua/upstream says Lua 5.4.99 now; doc/tour.md lists the next steps\n", ""},
                  {status, out, err})
      assert.equal(#patches(), #patches(folder))
      local upstream = shell.read(folder .. "/lua/upstream")
      assert.equal(hash, upstream:match "\nsha256=(%x+)\n")
      assert.equal("5.4.99", upstream:match "\nversion=([%d.]+)\n")
      assert.is_truthy(upstream:match "\nurl=%S+/lua%-5%.4%.99%.tar%.gz\n")
      assert.is_truthy(upstream:match "\ntestes_url=%S+/lua%-5%.4%.99%-tests%.tar%.gz\n")
      -- the patches apply without fuzz or offsets, and 5.4.99 is the current release
      assert.same({0, "", ""}, {inside "lua/prepare build/dl/lua.tar.gz build/src lua/patches/*.patch"})
      status, out, err = inside "LUA_FETCH_NO_SITE=1 LUA_FETCH_NO_APT=1 lua/edit rebase build/new.tar.gz x"
      assert.same({1, "", "lua/edit: build/new.tar.gz is the release that lua/upstream names already\n"},
                  {status, out, err})
    end

    it("by themselves where upstream has changed other places", function()
      local hash = pack()
      local status, out, err = inside "lua/edit rebase build/new.tar.gz build/edit"
      assert.same({0, ""}, {status, err})
      assert.is_truthy(out:find(("build/edit: %d patches on Lua 5.4.99; next: make export\n")
                                :format(#patches()), 1, true), out)
      assert.equal(shell.read "lua/upstream", shell.read(folder .. "/lua/upstream"))
      local changed = select(2, inside(out:match "upstream changed: (git [^\n]+)"
                                       .. " | grep -c '^+/. one line'"))
      assert.equal("3\n", changed)
      moved(hash)
    end)

    it("by hand where it has changed the same ones, and nothing is exported before", function()
      shell.output([[cd %s/build/release/*/ &&
        sed -i 's/^  ci = \(luaM_reallocvector(L, NULL, 0, 1, CallInfo);\)/  ci = \/* new *\/ \1/' \
          src/lstate.c &&
        grep -q '/. new ./' src/lstate.c]], folder)
      local hash = pack()
      local status, _, err = inside "lua/edit rebase build/new.tar.gz build/edit"
      assert.equal(1, status)
      local said = '^lua/edit: the patch "seam: requests of vectors and stacks pass their owner" '
        .. "does not fit Lua 5.4.99 in: src/lstate.c\n"
      assert.is_truthy(err:find(said), err)
      local out
      status, out, err = inside "lua/edit export build/edit"
      assert.same({1, "", "lua/edit: a rebase of build/edit is not finished; resolve the conflict, "
                          .. "then git -C build/edit rebase --continue\n"}, {status, out, err})
      assert.equal(shell.read "lua/upstream", shell.read(folder .. "/lua/upstream"))

      -- resolves the conflict as the message of lua/edit describes
      assert.is_truthy(shell.read(folder .. "/build/edit/src/lstate.c"):find "\n|||||||")
      shell.output([[cd %s/build/edit && sed -i -e '/^<<<<<<</,/^=======/d' -e '/^>>>>>>>/d' \
        -e 's/^  ci = luaM_realloc/  ci = \/* new *\/ luaM_realloc/' src/lstate.c]], folder)
      status, _, err = inside("GIT_EDITOR=true;export GIT_EDITOR;"
        .. "git -C build/edit add -A && git -C build/edit rebase --continue")
      assert.equal(0, status, err)
      moved(hash)
    end)

    it("of Lua 5.4 only", function()
      shell.output([[cd %s/build/release/*/ && sed -i 's/VERSION_MINOR\t"4"/VERSION_MINOR\t"5"/' src/lua.h]],
                   folder)
      pack()
      local status, out, err = inside "lua/edit rebase build/new.tar.gz build/edit"
      assert.same({1, "", "lua/edit: build/new.tar.gz is not a release of Lua 5.4, but of 5.5.99\n"},
                  {status, out, err})
      assert.is_true(inside "test -e build/edit" ~= 0)
      assert.equal("", select(2, inside "ls build | grep release[.] || true"))
    end)
  end)

  it("document their effect, their reason, upstream's state, and the spec that guards them", function()
    for _, path in ipairs(patches()) do
      local m = message(shell.read(path))
      for _, field in ipairs {"Change", "Why here", "Upstream", "Spec"} do
        assert.is_truthy(m[field] and #m[field] > 2, path .. ": " .. field)
      end
      local n = 0
      for spec in m.Spec:gmatch("[%w_/.]+") do
        n = n + 1
        assert.is_truthy(spec:find("^spec/.*_spec%.lua$"), path .. ": " .. spec)
        assert.is_truthy(shell.read(spec), path .. " names a spec that is not there: " .. spec)
      end
      assert.is_true(n > 0, path)
    end
  end)

  it("quote no more of upstream than patch needs to find the place", function()
    local all = 0
    for _, path in ipairs(patches()) do
      local n = lines(shell.read(path))
      assert.is_true(n.added > 0, path)
      assert.is_true(n.run <= 6, ("%s quotes %d lines at a stretch"):format(path, n.run))
      assert.is_true(n.removed <= 20, ("%s removes %d lines"):format(path, n.removed))
      assert.is_true(n.added <= 40, ("%s adds %d lines; put logic in our own files"):format(path, n.added))
      all = all + n.quoted + n.removed
    end
    assert.is_true(all <= 640, all)
  end)

  it("touch the sources only", function()
    for _, path in ipairs(patches()) do
      local text = shell.read(path)
      for file in text:gmatch("\n%+%+%+ (%S+)") do
        assert.is_truthy(file:find("^b/src/l%l+%.[ch]$"), path .. ": " .. file)
      end
      assert.is_falsy(text:find("\nGIT binary", 1, true) or text:find("\nrename ", 1, true), path)
    end
  end)
end)
