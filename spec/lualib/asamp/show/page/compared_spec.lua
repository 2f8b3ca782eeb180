-- SPDX-License-Identifier: MIT
-- The page that compares two profiles, in a browser: the differential flame graph and the table of changes.

local gen = require "profilegen"
local pages = require "spec.support.pages"
local shell = require "spec.support.shell"

-- Writes a profile with these numbers of samples of the function load, of the function work, of a function
-- with a hostile name (0: without it), and of time.
local function make(path, load, work, hostile, time)
  local p = assert(gen.open{path = path, period = 1 << 20, random = true, followed = 100,
                            timeperiod = 1000000, command = "lua app.lua"})
  p:name(8, "main chunk", 0, "@app.lua")
  p:name(16, "load", 10, "@app.lua")
  p:name(24, "work", 20, "@app.lua")
  p:name(40, pages.HOSTILE, 8, "@/nowhere/" .. pages.HOSTILE .. ".lua")
  local function add(n, fn)
    for _ = 1, n do p:sample{fn, 1, 8, 1, kind = 0, size = 64} end
  end
  add(load, 16)
  add(work, 24)
  add(hostile, 40)
  p:collection{fates = ("1"):rep(load + work + hostile)}
  for _ = 1, time do p:time{16, 1, 8, 1} end
  assert(p:close())
end

describe("the page of asamp view of two profiles #plain", function()
  local b, path, folder = pages.browse(nil)
  local old
  setup(function()
    old = folder .. "/" .. "old<img src=x onerror='window.hacked=3'>.vmprof"
    make(old, 400, 400, 200, 50)
    make(path, 400, 800, 0, 60)
    assert.equal(0, (pages.run(old, path)))
  end)
  before_each(function() b:visit(path .. ".diff.html") end)

  local function about()
    return (b:text "#frame-compared":gsub("%s+", " "))
  end

  -- Returns the value of a JavaScript expression in the page. In it, p is the panel of the comparison.
  local function eval(expression)
    return b:eval("(p => " .. expression .. ")(document.getElementById('panel-compared'))")
  end

  -- Returns true if the graph is not zoomed, so that the button which shows the whole graph is hidden.
  local function whole()
    return eval "[...p.querySelectorAll('button')].find(x => x.innerText === 'Show the whole graph').hidden"
  end

  it("starts with the comparison and names both profiles", function()
    assert.equal("app.lua", b:text "h1")
    assert.truthy(b:text "#subtitle":find("compared with " .. old, 1, true))
    assert.equal("compared", b:eval "document.querySelector('[role=tab][aria-selected=true]').id.slice(4)")
    local text = b:text "#panel-compared"
    assert.truthy(text:find('1 frame only in the old profile: "Widths: old" shows it.', 1, true))
    assert.truthy(b:text "#panel-compared .swatches":find("less than 3 standard errors", 1, true))
    assert.is_true(b:eval "document.getElementById('modes').hidden")
  end)

  it("walks the graph with the keys and says both shares, their difference and its error", function()
    eval "p.querySelector('.flame').focus()"
    b:press("ArrowDown", "ArrowDown")
    assert.truthy(about():find("^work app.lua:20 new 800 MiB, 66.7%% · old 400 MiB, 40.0%% · " ..
                               "%+26.7 points ± %d%.%d$"), about())
    assert.equal(about(), (eval "p.querySelector('canvas').title":gsub("%s+", " ")))
    b:press "ArrowRight"
    assert.truthy(about():find "^load .* %−6.7 points ± %d%.%d, may be chance$", about())
    b:press("ArrowLeft", "Enter")
    assert.is_false(whole())
    b:press "Escape"
    b:press "Escape"
    assert.is_true(whole())
  end)

  it("colours growth, decrease and chance differently, with widths by either profile", function()
    local function colors()
      local seen = {}
      local width = eval "p.querySelector('canvas').width"
      for _, pixel in ipairs(b:pixels("#panel-compared canvas", 0, 21 * 2 + 2, width)) do
        seen[pixel] = (seen[pixel] or 0) + 1
      end
      local out = {}
      for _, name in ipairs{"more4", "less4", "rest"} do
        eval(("p.style.color = 'var(--%s)'"):format(name))
        local rgb = eval "getComputedStyle(p).color.match(/\\d+/g).join()"
        out[name] = math.floor(10 * (seen[rgb .. ",255"] or 0) / width + 0.5)
      end
      return out
    end
    -- tenths of the graph's width, by the color of frames
    assert.same({more4 = 7, less4 = 0, rest = 3}, colors())
    b:click "[name=widths][value=old]"
    assert.same({more4 = 4, less4 = 2, rest = 4}, colors())
    eval "p.querySelector('.flame').focus()"
    b:press("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight")
    assert.truthy(about():find("only in the old profile", 1, true), about())
    assert.truthy(about():find(pages.HOSTILE, 1, true))
  end)

  it("lists the largest changes, by each measure, and restores a linked state", function()
    local rows = b:rows "Largest changes"
    assert.same({"+26.7", "40.0%", "66.7%"}, {rows[1][1], rows[1][3], rows[1][4]})
    assert.equal("−20.0", rows[2][1])
    assert.truthy(rows[2][#rows[2]]:find(pages.HOSTILE, 1, true))
    assert.equal("load", rows[3][#rows[3]]:match "^%S+")
    -- for each measure of the page, the change of the largest row in percent
    for key, change in pairs{blocks = "+26.7", alive = "+33.3"} do
      b:click(("[name=compare][value=%s]"):format(key))
      assert.equal(change, b:rows "Largest changes"[1][1])
    end
    b:click "[name=compare][value=time]"
    assert.equal("+0.0", b:rows "Largest changes"[1][1])
    b:visit(path .. ".diff.html#compare=alive&widths=old")
    assert.is_true(eval "p.querySelector('[name=compare][value=alive]').checked")
    assert.is_true(eval "p.querySelector('[name=widths][value=old]').checked")
    b:press "/"
    b:type "wor"
    assert.equal(1, #b:rows "Largest changes")
  end)

  -- A former bug: if the only change was a fixed leak, the graph was grey, because it showed no change in
  -- the shares of the live bytes.
  it("starts with live bytes if they changed most, with the widths of the larger profile", function()
    local paths = {folder .. "/leak.vmprof", folder .. "/mended.vmprof"}
    for i, file in ipairs(paths) do
      local p = assert(gen.open{path = file, period = 1 << 20, random = true, followed = 100})
      p:name(8, "main chunk", 0, "@app.lua")
      for _ = 1, 400 do p:sample{8, 1, kind = 0, size = 64} end
      p:collection{fates = (i == 1 and "1" or "0"):rep(400)}
      assert(p:close())
    end
    assert.equal(0, (pages.run(paths[1], paths[2])))
    b:visit(paths[2] .. ".diff.html")
    assert.is_true(eval "p.querySelector('[name=compare][value=alive]').checked")
    assert.is_true(eval "p.querySelector('[name=widths][value=old]').checked")
    local text = b:text "#panel-compared"
    assert.truthy(text:find("Totals: old 400 MiB, new 0 bytes; colours compare amounts", 1, true), text)
    assert.equal("−100.0", b:rows "Largest changes"[1][1])
  end)

  it("shows hostile names as text, gives every control a name, and fits narrow windows", function()
    assert.equal("undefined", b:eval "typeof window.hacked")
    assert.equal(0, b:eval "document.querySelectorAll('img').length")
    for _, node in ipairs(b:call("Accessibility.getFullAXTree").nodes) do
      local kind = node.role.value
      if not node.ignored and (kind == "button" or kind == "radio" or kind == "grid") then
        assert.is_true(node.name and node.name.value ~= "", kind .. " without a name")
      end
    end
    for _, width in ipairs{400, 500, 1400} do
      b:look(width, 800)
      assert.is_true(b:eval "document.documentElement.scrollWidth" <= width)
    end
  end)

  it("counts samples where a profile has no bytes", function()
    local paths = {folder .. "/a.vmprof", folder .. "/b.vmprof"}
    for i, file in ipairs(paths) do
      local p = assert(gen.open{path = file, period = 0, followed = 100})
      p:name(8, "main chunk", 0, "@app.lua")
      for _ = 1, 10 * i do p:sample{8, 1, kind = 0} end
      p:collection{fates = ("1"):rep(10 * i)}
      assert(p:close())
    end
    assert.equal(0, (pages.run(paths[1], paths[2])))
    b:visit(paths[2] .. ".diff.html")
    for _, key in ipairs{"samples", "alive"} do
      b:click(("[name=compare][value=%s]"):format(key))
      assert.truthy(b:text "#panel-compared":find("Totals: old 10, new 20;", 1, true))
    end
  end)

  it("is refused in one line where nothing can be compared, and of standard input twice", function()
    local timed = folder .. "/timed.vmprof"
    local p = assert(gen.open{path = timed, timeperiod = 1000000})
    p:name(8, "main chunk", 0, "@app.lua")
    p:time{8, 1}
    assert(p:close())
    local bytes = folder .. "/bytes.vmprof"
    make(bytes, 10, 10, 0, 0)
    local code, _, err = pages.run(timed, bytes)
    assert.equal(1, code)
    assert.equal(("asamp view: '%s' and '%s' have nothing in common to compare: one has only allocation " ..
      "samples, the other only time samples\n"):format(timed, bytes), err)
    code, _, err = pages.run("-", "-")
    assert.equal(2, code)
    assert.truthy(err:find("standard input ('-') is given twice", 1, true))
    code, _, err = pages.run(folder .. "/nothing", bytes)
    assert.equal(1, code)
    assert.truthy(err:find("nothing", 1, true))
    code = pages.run("-o", bytes, timed, bytes)
    assert.equal(2, code)
    assert.truthy(shell.read(bytes))
  end)
end)
