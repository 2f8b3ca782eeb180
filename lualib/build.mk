# SPDX-License-Identifier: MIT
# What a variant of lua/build.mk has beside Lua: the C modules of asamp/, the Lua modules of
# this folder, and the page of asamp view, where its tools are installed (make view).
include asamp/build.mk
LUALIB = $(patsubst lualib/%,$(P)/share/asamp/%,$(shell find lualib -name '*.lua'))
PAGE = $(if $(and $(wildcard /usr/bin/esbuild),$(wildcard /usr/share/nodejs/d3-brush)),\
  $(P)/share/asamp/asamp/page.html)

# An older build left its modules in folders that module paths name.
$(shell rm -rf '$(P)'/lib/lua/5.4/profiler '$(P)'/lib/lua/5.4/asamp '$(P)'/share/lua/5.4/profiler* \
  '$(P)'/share/lua/5.4/asamp*)

all: $(MODULES) $(LUALIB) $(PAGE)

$(P)/share/asamp/%.lua: lualib/%.lua
	@mkdir -p $(@D)
	cp $< $@

$(P)/share/asamp/asamp/page.html: $(wildcard view/*)
	@mkdir -p $(@D)
	view/build $@
