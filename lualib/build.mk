# SPDX-License-Identifier: MIT
# The parts of a variant of lua/build.mk other than Lua: the C modules of asamp/, the Lua modules of
# this folder, and the page of asamp view, where its tools are installed (make view).
include asamp/build.mk
LUALIB = $(patsubst lualib/%,$(P)/share/asamp/%,$(shell find lualib -name '*.lua'))
# start.lua and the command load compiled modules: parsing the sources would execute most of the
# instructions of `asamp run` with a short script.
COMPILED = $(LUALIB:.lua=.luac)
LUAC ?= $(abspath $(P)/bin/luac)
PAGE = $(if $(and $(wildcard /usr/bin/esbuild),$(wildcard /usr/share/nodejs/d3-brush)),\
  $(P)/share/asamp/asamp/page.html)

# Removes modules of an older build from folders that are on the module paths.
$(shell rm -rf '$(P)'/lib/lua/5.4/profiler '$(P)'/lib/lua/5.4/asamp '$(P)'/share/lua/5.4/profiler* \
  '$(P)'/share/lua/5.4/asamp*)

all: $(MODULES) $(LUALIB) $(COMPILED) $(PAGE)

$(P)/share/asamp/%.lua: lualib/%.lua
	@mkdir -p $(@D)
	cp $< $@

$(COMPILED): $(P)/share/asamp/%.luac: $(P)/share/asamp/%.lua $(P)/bin/luac
	cd $(P)/share/asamp && $(LUAC) -o $*.luac $*.lua

$(P)/share/asamp/asamp/page.html: $(wildcard view/*)
	@mkdir -p $(@D)
	view/build $@
