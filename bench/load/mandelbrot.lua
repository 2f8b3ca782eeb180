-- SPDX-License-Identifier: MIT
-- The Mandelbrot set on a square grid, with at most fifty steps for each point. Uses only floats in local
-- variables. 'size' is the side of the grid. The result is the number of points inside the set, and the
-- number of steps.

local STEPS = 50

local function run(side)
  local inside, total = 0, 0
  for row = 0, side - 1 do
    local ci = 2.0 * row / side - 1.0
    for column = 0, side - 1 do
      local cr = 2.0 * column / side - 1.5
      local re, im, steps = 0.0, 0.0, 0
      while steps < STEPS do
        local re2, im2 = re * re, im * im
        if re2 + im2 > 4.0 then break end
        re, im = re2 - im2 + cr, 2.0 * re * im + ci
        steps = steps + 1
      end
      if steps == STEPS then inside = inside + 1 end
      total = total + steps
    end
  end
  return ("%d inside, %d steps"):format(inside, total)
end

return {
  about = "Mandelbrot set: floats in registers",
  size = 1000, small = 200, tiny = 8,
  run = run,
}
