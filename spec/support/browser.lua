-- SPDX-License-Identifier: MIT
-- A browser for specs: controls headless Chromium by the DevTools protocol, through two pipes. The object
-- owns the browser's process and its folder. The process ends when close() is called, or after LIMIT
-- seconds. The object records all network requests and all errors of pages.

local cjson = require "cjson"
local shell = require "spec.support.shell"

local M = {}
M.__index = M

local LIMIT = 300
local NAMES = {"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

-- Returns the command that starts a browser. Raises an error if none is installed, so that no spec passes
-- without one.
local function command()
  for _, name in ipairs(NAMES) do
    if os.execute("command -v " .. name .. " >/dev/null") then
      return name
    end
  end
  error("no browser: the specs of asamp view need one of " .. table.concat(NAMES, ", ") ..
        "; run: make deps browser", 0)
end

-- Returns the object of a browser that is not started yet.
function M.new()
  return setmetatable({id = 0, requests = {}, errors = {}}, M)
end

--- Starts the browser with one empty page.
function M:open()
  self.folder = shell.folder()
  shell.output("cd %s && mkfifo in out", self.folder)
  self.process = io.popen(([[
    exec timeout %d %s --headless --no-sandbox --disable-gpu --remote-debugging-pipe \
      --no-first-run --disable-dev-shm-usage --hide-scrollbars --force-prefers-reduced-motion \
      --user-data-dir=%s/profile about:blank 3<%s/in 4>%s/out >%s/log 2>&1
  ]]):format(LIMIT, command(), self.folder, self.folder, self.folder, self.folder), "r")
  self.to = assert(io.open(self.folder .. "/in", "wb"))
  self.from = assert(io.open(self.folder .. "/out", "rb"))
  local target = self:call("Target.createTarget", {url = "about:blank"}).targetId
  self.session = self:call("Target.attachToTarget", {targetId = target, flatten = true}).sessionId
  for _, domain in ipairs{"Page", "Runtime", "Log", "Network"} do
    self:call(domain .. ".enable")
  end
end

function M:message()
  local bytes = {}
  while true do
    local c = self.from:read(1)
    if not c then
      local log = io.open(self.folder .. "/log")
      error("the browser ended: " .. (log and log:read "a" or ""), 0)
    elseif c == "\0" then
      return cjson.decode(table.concat(bytes))
    end
    bytes[#bytes + 1] = c
  end
end

function M:note(event)
  local p = event.params
  if event.method == "Network.requestWillBeSent" then
    table.insert(self.requests, p.request.url)
  elseif event.method == "Runtime.exceptionThrown" then
    local d = p.exceptionDetails
    table.insert(self.errors, d.exception and d.exception.description or d.text)
  elseif event.method == "Log.entryAdded" then
    table.insert(self.errors, p.entry.text)
  elseif event.method == "Runtime.consoleAPICalled" then
    table.insert(self.errors, p.type .. ": " .. cjson.encode(p.args))
  end
  self.last = event.method
end

-- Calls a method of the DevTools protocol and returns its result.
function M:call(method, params)
  self.id = self.id + 1
  local id = self.id
  self.to:write(cjson.encode{id = id, method = method, sessionId = self.session,
                             params = params or setmetatable({}, {__jsontype = "object"})}, "\0")
  self.to:flush()
  while true do
    local m = self:message()
    if m.id == id then
      if m.error then
        error(method .. ": " .. m.error.message, 0)
      end
      return m.result
    elseif m.method then
      self:note(m)
    end
  end
end

-- Opens a file and waits until it is loaded. If the open page has the same path up to the fragment, the
-- browser does not load it again.
function M:visit(path)
  self.requests, self.errors = {}, {}
  self.last = nil
  local loaded = self:call("Page.navigate", {url = "file://" .. path}).loaderId
  while loaded and self.last ~= "Page.loadEventFired" do
    local m = self:message()
    self:note(m)
  end
end

-- Returns the value of a JavaScript expression in the page. Waits first until the page was drawn once more.
function M:eval(expression)
  local result = self:call("Runtime.evaluate", {
    expression = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))" ..
                 ".then(() => (" .. expression .. "))",
    awaitPromise = true, returnByValue = true})
  if result.exceptionDetails then
    local d = result.exceptionDetails
    error(d.exception and d.exception.description or d.text, 2)
  end
  return result.result.value
end

--- Returns the text of the first element that matches the selector.
function M:text(selector)
  return self:eval(("document.querySelector(%s).innerText"):format(cjson.encode(selector)))
end

-- Virtual key codes of keys without a character.
local CODES = {Enter = 13, Escape = 27, ArrowLeft = 37, ArrowUp = 38, ArrowRight = 39, ArrowDown = 40,
               Tab = 9, Home = 36, End = 35, PageDown = 34, PageUp = 33}

--- Presses keys one after the other. Keys have names such as "ArrowDown" or "/".
function M:press(...)
  for _, key in ipairs{...} do
    local shift = key:match "^Shift%+(.+)$"
    local e = {key = shift or key, modifiers = shift and 8 or 0,
               windowsVirtualKeyCode = CODES[shift or key] or 0,
               text = #key == 1 and key or key == "Enter" and "\r" or nil}
    e.type = e.text and "keyDown" or "rawKeyDown"
    self:call("Input.dispatchKeyEvent", e)
    e.type, e.text = "keyUp", nil
    self:call("Input.dispatchKeyEvent", e)
  end
end

-- Types text into the focused element. Waits 100 ms, because the page reacts to input with a delay of up to
-- 100 ms.
function M:type(text)
  self:call("Input.insertText", {text = text})
  self:eval "new Promise(done => setTimeout(done, 100))"
end

-- Returns the colors "r,g,b,a" of n pixels in a row of a canvas, starting at x, y.
function M:pixels(selector, x, y, n)
  return self:eval(([[(() => {
    const from = document.querySelector(%s), to = new OffscreenCanvas(from.width, from.height);
    const g = to.getContext("2d", {willReadFrequently: true});
    g.drawImage(from, 0, 0);
    const bytes = g.getImageData(%d, %d, %d, 1).data;
    return Array.from({length: bytes.length / 4}, (_, i) => bytes.slice(4 * i, 4 * i + 4).join());
  })()]]):format(cjson.encode(selector), x, y, n))
end

local function mouse(self, kind, x, y, button)
  self:call("Input.dispatchMouseEvent", {type = kind, x = x, y = y, button = button or "none",
                                         clickCount = button and 1 or 0})
end

-- Drags the mouse from one position to another. If both are equal, this is a click.
function M:drag(x1, y1, x2, y2)
  mouse(self, "mouseMoved", x1, y1)
  mouse(self, "mousePressed", x1, y1, "left")
  if x1 ~= x2 or y1 ~= y2 then
    mouse(self, "mouseMoved", (x1 + x2) / 2, (y1 + y2) / 2, "left")
    mouse(self, "mouseMoved", x2, y2, "left")
  end
  mouse(self, "mouseReleased", x2, y2, "left")
end

--- Returns the box {x, y, width, height} of the first element that matches the selector.
function M:box(selector)
  return self:eval(("(({x, y, width, height}) => ({x, y, width, height}))" ..
                    "(document.querySelector(%s).getBoundingClientRect())"):format(cjson.encode(selector)))
end

--- Clicks at the centre of an element.
function M:click(selector)
  self:eval(("document.querySelector(%s).scrollIntoView({block: 'nearest'})"):format(cjson.encode(selector)))
  local b = self:box(selector)
  self:drag(b.x + b.width / 2, b.y + b.height / 2, b.x + b.width / 2, b.y + b.height / 2)
end

--- Sets the size of the window and the colour scheme, "light" or "dark".
function M:look(width, height, scheme)
  self:call("Emulation.setDeviceMetricsOverride",
            {width = width, height = height, deviceScaleFactor = 1, mobile = false})
  self:call("Emulation.setEmulatedMedia",
            {features = {{name = "prefers-color-scheme", value = scheme or "light"}}})
end

--- Returns the rows of the table whose aria-label is 'label'. A row is a list of its cells' texts,
-- with the commas in numbers removed.
function M:rows(label)
  return self:eval(([[[...document.querySelectorAll("[aria-label='%s'] .spacer .row")].map(
    row => [...row.children].map(cell =>
      cell.innerText.replace(/\s*\n\s*/g, "  ").replace(/(\d),(?=\d{3})/g, "$1")))]]):format(label))
end

--- Stops the browser if it was started.
function M:close()
  if not self.session then return end
  pcall(self.call, self, "Browser.close")
  self.to:close()
  self.from:close()
  self.process:close()
  shell.remove(self.folder)
end

return M
