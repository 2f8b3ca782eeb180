-- SPDX-License-Identifier: MIT
-- The page of `asamp view`: resident and native memory, compared with the results of the reader for the
-- same profile. Also the contrast and size of text in all views, in light and dark mode, in narrow and wide
-- windows.

local native = require "asamp.sums.native"
local pages = require "spec.support.pages"
local reader = require "profiler.reader"
local resident = require "asamp.sums.resident"
local shell = require "spec.support.shell"
local shown = require "asamp.show.resident"
local units = require "asamp.show.units"

local PROGRAM = [[
package.cpath = "build/spec/?.so;" .. package.cpath
local c, keep = require "cmemory", {}
for i = 1, 400 do
  keep[i] = {c.leak(20000, true)}
  for k = 1, 300 do local garbage = {k} end
end
-- a profile has pictures of resident memory after its first 20 ms (asamp/session/resident.h RQ3)
while os.clock() < 0.2 do local garbage = {} end
]]

-- JavaScript code that returns the visible texts of the current panel whose contrast is below level AA of
-- WCAG, each with its class, colors and contrast ratio.
local PALE = [[(() => {
  const part = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const over = (colors) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const pale = [];
  let seen = 0;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (walk.currentNode.data.trim() === "" || /^(SCRIPT|STYLE|NOSCRIPT)$/.test(e.tagName)) continue;
    if (!e.checkVisibility() || e.closest("[disabled]")) continue;
    if (e.closest("label")?.querySelector("[disabled]")) continue;
    const under = [];
    for (let up = e; up; up = up.parentElement) under.unshift(getComputedStyle(up).backgroundColor);
    const back = over(["white", ...under]), front = over(["white", ...under, getComputedStyle(e).color]);
    const [a, b] = [light(back), light(front)].sort((x, y) => y - x);
    seen++;
    if ((a + 0.05) / (b + 0.05) < 4.5) {
      pale.push(`${e.tagName}.${e.className} ${front} on ${back}: ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
    }
  }
  return [seen, ...new Set(pale)];
})()]]

describe("the page of asamp view #plain", function()
  local b, path = pages.browse(function(path, folder)
    local script = folder .. "/app.lua"
    shell.write(script, PROGRAM)
    shell.output("build/bin/asamp run --quiet --overwrite --alloc 16K --malloc=16K --out %s %s",
                 path, script)
  end, 1400, 1600)

  local function rows(label) return b:rows(label) end

  it("says where resident memory is, as asamp memory does", function()
    b:press "0"
    local found = resident.ofprofile(assert(reader.read(path)))
    local wanted = {}
    for i, row in ipairs(shown.rows(found.last, 8)) do
      local size = row.bytes and (row.bytes < 0 and "-" or "") .. units.bytes(math.abs(row.bytes))
      wanted[i] = {row.part and "" or size, row.part and "" or units.percent(row.bytes, found.last.rss),
                   row.part and size or "", row.more and ("and %d more"):format(row.more) or row.label}
    end
    local seen = rows "Where resident memory is"
    assert.is_true(#seen > 12)
    for i, row in ipairs(seen) do assert.same(wanted[i], row) end
    assert.truthy(b:text "#panel-memory":find(shown.summary(found), 1, true))
    assert.equal(#found.course > 1 and #found.course or 0, #rows "Resident memory over time")
  end)

  it("has rows that Enter and a click do nothing to", function()
    -- A former bug: the Enter key and a click in this table raised an error in the page.
    b:press "0"
    b:eval "document.querySelector(\"[aria-label='Where resident memory is']\").focus()"
    b:press("Enter", "ArrowDown", "Enter")
    b:click "[aria-label='Where resident memory is'] .spacer .row"
    assert.same({}, b.errors)
  end)

  it("shows the library that requested native memory; Enter shows the line", function()
    b:press "0"
    local found = native.of(assert(reader.read(path)))
    local seen = rows "Native memory by library"
    assert.equal(#found.libraries, #seen)
    assert.same({units.bytes(found.libraries[1].bytes), "cmemory.so"}, {seen[1][1], seen[1][5]})
    b:eval "document.querySelector(\"[aria-label='Native memory by library']\").focus()"
    b:press "Enter"
    assert.matches(":4$", (rows "Lines"[1][7]:gsub("%s.*", "")))
  end)

  it("has no pale text, and nothing outside a window of 500 or 1400 pixels", function()
    for _, look in ipairs{{500, 1200, "dark"}, {1400, 1200, "light"}} do
      b:look(table.unpack(look))
      for view = 0, 9 do
        b:press(tostring(view))
        local pale = b:eval(PALE)
        assert.is_true(table.remove(pale, 1) > 20)
        assert.equal("", table.concat(pale, "\n"), ("view %d, %s"):format(view, look[3]))
        assert.equal(0, b:eval "document.documentElement.scrollWidth - document.documentElement.clientWidth")
      end
    end
  end)
end)
