-- SPDX-License-Identifier: MIT
-- The page of `asamp heap --page` in a browser: search, sorting, trees and objects that can be opened,
-- source lines. Hostile names must stay text, and only the page's own script may run.

local browser = require "spec.support.browser"
local commands = require "spec.support.commands"
local heap = require "asamp.commands.heap"
local process = require "spec.support.process"
local script = require "asamp.show.heapscript"
local shell = require "spec.support.shell"

local run = commands.of(heap)

local PROGRAM = [[
local profiler = require "profiler"
local folder = ...
profiler.enable{out = folder .. "/p.vmprof", alloc = 256, seed = 3}
local Session = {__name = "Session"}
bus = {listeners = {}, ["</code><img src=x onerror='window.hacked=1'><script>window.hacked=2</script>"] = {}}
hostile = setmetatable({("y"):rep(9000)}, {__name = "</td><img src=x onerror='window.hacked=3'>"})
local function on(i)
  bus.listeners[i] = setmetatable({id = i, data = ("x"):rep(300) .. i}, Session) -- </code><img src=x>
end
for i = 1, 400 do on(i) end
for _, t in pairs(bus) do
  for i = 1, 400 do t[i] = t[i] or {{i}, tostring(i)} end
end
collectgarbage()
assert(profiler.snapshot(folder .. "/app.heap", {wait = true, overwrite = true}))
profiler.disable()
]]

describe("the page of asamp heap #plain", function()
  local b, folder = browser.new(), shell.folder()
  local page = folder .. "/app.html"
  setup(function()
    shell.write(folder .. "/app.lua", PROGRAM)
    local status, _, err = process.run{folder .. "/app.lua", folder}
    assert.equal(0, status, err)
    b:open()
    assert.equal(0, (run("--page", page, "--source", folder, folder .. "/app.heap")))
  end)
  teardown(function()
    b:close()
    shell.remove(folder)
  end)
  before_each(function()
    b:look(1280, 1000)
    b:visit(page)
  end)
  after_each(function() assert.same({}, b.errors) end)

  local function search(words)
    b:eval(("(() => { const i = document.querySelector('#bar input'); i.value = '%s'; " ..
            "i.dispatchEvent(new Event('input')); })()"):format(words))
  end

  -- Returns the visible texts of a column of the table that follows this heading, in the order of the page.
  local function column(heading, at)
    return b:eval(([[(() => {
      let e = [...document.querySelectorAll("h2")].find(h => h.innerText.startsWith("%s"));
      while (!e.querySelector("table")) e = e.nextElementSibling;
      return [...e.querySelectorAll("tbody tr")].filter(r => !r.hidden).map(r => r.cells[%d].innerText);
    })()]]):format(heading, at))
  end

  it("starts with the tree of holders", function()
    assert.equal("By holder: bytes that would be freed with the row's object", b:text "h2")
    assert.is_true(b:eval "document.querySelector('.tree').innerText.includes('listeners')")
  end)

  it("finds rows of tables and trees, opens the way to them and counts them", function()
    b:eval "document.getElementById('close').click()"
    search "listeners"
    assert.is_true(b:eval [[[...document.querySelectorAll(".tree details, .tree .leaf")].filter(
      e => e.offsetParent).some(e => e.innerText.includes("listeners"))]])
    assert.is_false(b:eval "document.querySelector('.tree').innerText.includes('string table')")
    assert.same({}, column("By class", 6))
    assert.truthy(b:text "output":find "^%d+ rows?$")
    search "session"
    assert.same({"Session"}, column("By class", 6))
    b:press "Escape"
    assert.equal("", b:text "output")
    assert.is_true(#column("By class", 6) > 5)
    b:press "/"
    assert.equal("INPUT", b:eval "document.activeElement.tagName")
  end)

  it("sorts tables by any column, both ways, and says by which", function()
    local names = column("By class", 6)
    local function click()
      return b:eval [[(() => {
        const th = document.querySelector("table").tHead.rows[0].cells[6];
        th.firstElementChild.click();
        return th.getAttribute("aria-sort");
      })()]]
    end
    assert.equal("ascending", click())
    local sorted = column("By class", 6)
    assert.are_not.same(names, sorted)
    assert.equal(#names, #sorted)
    assert.equal("descending", click())
    assert.equal(sorted[1], column("By class", 6)[#sorted])
    b:eval "document.querySelector('table').tHead.rows[0].cells[2].firstElementChild.click()"
    assert.equal(names[1], column("By class", 6)[1])
    assert.equal(1, b:eval "document.querySelectorAll('[aria-sort]').length")
  end)

  it("opens and closes all, and an object shows its path step by step", function()
    b:eval "document.getElementById('close').click()"
    assert.equal(0, b:eval "document.querySelectorAll('details[open]').length")
    b:eval "document.getElementById('open').click()"
    assert.equal(0, b:eval "document.querySelectorAll('details:not([open])').length")
    assert.is_true(b:eval [[[...document.querySelectorAll("td ol")].some(list =>
      [...list.children].map(e => e.innerText).join() === '_G,["bus"],["listeners"]')]])
  end)

  it("shows the source lines of samples if folders are given, and none without", function()
    assert.truthy(b:text "body":find("bus.listeners[i] = setmetatable({id = i", 1, true))
    assert.equal(0, (run("--page", page .. "2", folder .. "/app.heap")))
    assert.is_nil(shell.read(page .. "2"):find("setmetatable({id = i", 1, true))
    local code, _, err = run("--source", folder, folder .. "/app.heap")
    assert.equal(2, code)
    assert.equal("asamp heap: --source needs --page FILE; see asamp heap --help\n", err)
  end)

  it("shows names and sources of snapshots as text, and runs its own script alone", function()
    assert.equal("undefined", b:eval "typeof window.hacked")
    assert.same({0, 1}, b:eval "[document.querySelectorAll('img').length, document.scripts.length]")
    assert.truthy(b:text "body":find("</td><img src=x onerror='window.hacked=3'>", 1, true))
    assert.equal("refused", b:eval [[new Promise(done => {
      const s = document.createElement("script");
      s.textContent = "window.hacked = 4";
      document.body.append(s);
      setTimeout(() => done(window.hacked ? "ran" : "refused"), 50);
    })]])
    assert.truthy(b.errors[1]:find("Content Security Policy", 1, true))
    b.errors = {}
    shell.write(folder .. "/script", script.TEXT)
    local hash = shell.output("openssl dgst -sha256 -binary %s | base64", folder .. "/script")
    assert.equal("sha256-" .. hash:gsub("\n", ""), script.HASH)
  end)

  it("names its controls, and takes 500 and 1400 pixels", function()
    for _, node in ipairs(b:call("Accessibility.getFullAXTree").nodes) do
      local kind = node.role.value
      if not node.ignored and (kind == "button" or kind == "searchbox" or kind == "toolbar") then
        assert.is_true(node.name and node.name.value ~= "", kind .. " without a name")
      end
    end
    b:eval "document.getElementById('open').click()"
    for _, width in ipairs{500, 1400} do
      b:look(width, 900)
      assert.is_true(b:eval "document.documentElement.scrollWidth" <= width)
    end
  end)
end)
