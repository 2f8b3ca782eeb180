-- Only the last 5,000 messages are kept, in a ring.
local ring, size = {}, 5000
for i = 1, 120000 do
  ring[i % size + 1] = {id = i, text = "message " .. i, tags = {i % 3}}
end
print(#ring)
