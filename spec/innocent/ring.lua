-- No leak: a ring buffer keeps only the last 5,000 messages.
local ring, size = {}, 5000
for i = 1, 120000 do
  ring[i % size + 1] = {id = i, text = "message " .. i, tags = {i % 3}}
end
print(#ring)
