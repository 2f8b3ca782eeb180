-- SPDX-License-Identifier: MIT
-- A progress bar on the terminal. It appears only if the work takes longer than PATIENCE, and is
-- erased when the work is done.

local layout = require "asamp.show.layout"

local M = {}

local PATIENCE = 0.3  -- seconds of work after which the bar appears
local CELLS = 24

--- Creates a progress bar. Returns show(fraction), which draws it (fraction: 0 to 1), and finish().
--
--   - label: text before the bar
--   - write: writes a text to the terminal
--   - columns: width of the terminal
--   - clock: returns seconds; default os.clock
function M.bar(label, write, columns, clock)
  clock, label = clock or os.clock, layout.printable(label)
  local started, shown = clock(), nil
  local function show(fraction)
    local percent = math.floor(100 * math.max(0, math.min(1, fraction)))
    if percent ~= shown and (shown or clock() - started >= PATIENCE) then
      shown = percent
      local full = CELLS * percent // 100
      local text = ("%s [%s%s] %3d%%"):format(
        label, ("#"):rep(full), (" "):rep(CELLS - full), percent)
      if layout.width(text) < columns then
        write("\r" .. text)
      end
    end
  end
  local function finish()
    if shown then
      write "\r\27[K"
    end
  end
  return show, finish
end

return M
