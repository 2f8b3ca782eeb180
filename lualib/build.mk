# SPDX-License-Identifier: MIT
# What a variant of lua/build.mk has beside Lua: the C modules of asamp/, the Lua modules of
# this folder, and the page of asamp view, where its tools are installed (make view).
include asamp/build.mk
LUALIB = $(patsubst lualib/%,$(P)/share/lua/5.4/%,$(shell find lualib -name '*.lua'))
PAGE = $(if $(and $(wildcard /usr/bin/esbuild),$(wildcard /usr/share/nodejs/d3-brush)),\
  $(P)/share/lua/5.4/asamp/page.html)

all: $(MODULES) $(LUALIB) $(PAGE)

$(P)/share/lua/5.4/%.lua: lualib/%.lua
	@mkdir -p $(@D)
	cp $< $@

$(P)/share/lua/5.4/asamp/page.html: $(wildcard view/*)
	@mkdir -p $(@D)
	view/build $@
