# SPDX-License-Identifier: MIT
# What a variant of lua/build.mk has beside Lua: the C modules of asamp/, the Lua modules of
# this folder, and the page of asamp view, where its tools are installed (make view).
include asamp/build.mk
LUALIB = $(patsubst lualib/%,$(P)/share/asamp/%,$(shell find lualib -name '*.lua'))
# Read by start.lua: to parse these would take a third of the instructions of a short session.
COMPILED = $(P)/share/asamp/profiler.luac $(P)/share/asamp/profiler/options.luac
PAGE = $(if $(and $(wildcard /usr/bin/esbuild),$(wildcard /usr/share/nodejs/d3-brush)),\
  $(P)/share/asamp/asamp/page.html)

# An older build left its modules in folders that module paths name.
$(shell rm -rf '$(P)'/lib/lua/5.4/profiler '$(P)'/lib/lua/5.4/asamp '$(P)'/share/lua/5.4/profiler* \
  '$(P)'/share/lua/5.4/asamp*)

all: $(MODULES) $(LUALIB) $(COMPILED) $(PAGE)

$(P)/share/asamp/%.lua: lualib/%.lua
	@mkdir -p $(@D)
	cp $< $@

$(COMPILED): $(P)/share/asamp/%.luac: $(P)/share/asamp/%.lua $(P)/bin/luac
	cd $(P)/share/asamp && $(abspath $(P)/bin/luac) -o $*.luac $*.lua

$(P)/share/asamp/asamp/page.html: $(wildcard view/*)
	@mkdir -p $(@D)
	view/build $@
