std = "lua54+busted"
max_line_length = 110
exclude_files = {"build"}
