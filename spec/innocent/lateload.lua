-- No leak: computes without allocation for most of the run, then fills a table and counts in it.
local x = 1
for _ = 1, 8000000 do x = (x * 16807) % 2147483647 end
local hist = {}
for i = 1, 60000 do
  x = (x * 16807) % 2147483647
  hist[i] = {value = x, bucket = x % 10}
end
local c = 0
for _, h in ipairs(hist) do if h.bucket == 3 then c = c + 1 end end
print(c)
