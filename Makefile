# SPDX-License-Identifier: MIT
# The project's makefile; `make help` lists its targets. It calls lua/build.mk for each variant of the
# interpreter.
PREFIX ?= /usr/local
DESTDIR ?=
# Options of gcc for warnings. `make test` sets this variable to -Werror.
STRICT ?=
EDIT := build/edit
# Users may have set these variables for their own programs; they must not change the tools of the build.
unexport LUA_INIT LUA_INIT_5_4 LUA_PATH LUA_PATH_5_4 LUA_CPATH LUA_CPATH_5_4 LUA_PROFILER ASAMP LUA_GC
ifeq ($(origin BUILD),command line)
$(error BUILD has no effect: everything is built in build/. To build elsewhere, clone the sources there; \
  to install elsewhere, make install PREFIX=/path)
endif
VARIANT = $(MAKE) -f lua/build.mk V=$@
# The following lists are expanded when they are used (=), so that their order does not matter.
PACKAGES = $(BUILDING) $(TESTING)
# Without the last four packages, the build lacks only the page of asamp view, asamp serve and the faster
# compressor.
BUILDING = gcc make patch binutils ca-certificates curl libc6-dev libreadline-dev libunwind-dev libdw-dev \
  zlib1g-dev libisal-dev libmicrohttpd-dev $(PAGETOOLS)
PAGETOOLS = esbuild node-d3
TESTING = g++ git pkg-config valgrind lua-busted lua-check lua5.4 lua-cjson lua-lpeg lua-socket lua-sec lua-luv \
  lua-filesystem lua-yaml openssl gringo gnuplot-nox mle shellcheck $(DISTTOOLS) $(PORTTOOLS)
DISTTOOLS = mmdebstrap patchelf xz-utils
# Packages for spec/ports_spec.lua and for the tarball for arm64; they are needed on x86-64 only.
PORTTOOLS = $(if $(filter x86_64,$(shell uname -m)),gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static musl-tools)
# The packages of a browser, which spec/support/browser.lua starts; none if one is installed.
BROWSER = $(if $(wildcard /usr/bin/chromium /usr/bin/google-chrome),,chromium-headless-shell fonts-dejavu-core)
SPECLIBS := $(patsubst spec/support/%.c,build/spec/%.so,$(wildcard spec/support/*.c)) build/spec/old/core.so
SPECFLAGS := -std=gnu99 -Wall -Wextra $(STRICT) -O1 -g -fPIC -shared -Ibuild/include/lua5.4 \
  $(patsubst %,-iquote %,$(wildcard asamp/*/))

fork:  ## the Lua with the sampled nursery: build/bin/lua (default)
	@lua/needs $(BUILDING)
	+@$(VARIANT)
	@cp asamp/module/asamp.sh build/bin/asamp
plain: ## Lua without the patches, with the same compiler and flags: build/plain
arm64: ## the interpreter alone for arm64, for spec/ports_spec.lua: build/arm64
	+@$(MAKE) --no-print-directory -s -f lua/build.mk V=install B=build/arm64 P=build/arm64 ROOT=/nonexistent READLINE= \
	  MULTIARCH=aarch64-linux-gnu CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar OBJCOPY=aarch64-linux-gnu-objcopy \
	  build/arm64/bin/lua
	aarch64-linux-gnu-gcc $(SPECFLAGS) -o build/arm64/states.so spec/support/states.c spec/support/states/*.c
musl: ## the interpreter alone with musl (Debian package musl-tools): build/musl
	+@$(MAKE) --no-print-directory -s -f lua/build.mk V=install B=build/musl P=build/musl READLINE= \
	  MULTIARCH=x86_64-linux-musl CC=musl-gcc \
	  $(addprefix build/musl/,bin/lua bin/luac lib/liblua.a lib/liblua5.4.so.0 lib/pkgconfig/lua5.4.pc)
	@mkdir -p build/musl/share/asamp
	@echo 'error("this Lua was built with musl, without the profiler, which needs libunwind and libdw", 0)' \
	  >build/musl/share/asamp/profiler.lua
debug: ## assertions, heap verifier, poisoned free memory: build/debug
asan:  ## AddressSanitizer and UBSan: build/asan
tsan:  ## ThreadSanitizer: build/tsan
plain debug asan tsan:
	@lua/needs $(BUILDING)
	+@$(VARIANT)

deps:  ## installs the Debian packages (as root or by sudo, else prints the command); DEPS=build: without those for tests
	@lua/deps $(if $(filter build,$(value DEPS)),$(BUILDING),$(PACKAGES))

view:  ## the page of asamp view; every build makes it if esbuild and node-d3 are installed
	@lua/deps $(PAGETOOLS)
	@$(MAKE) --no-print-directory -s fork

browser: ## a browser for the specs of the page
	@lua/deps $(BROWSER)

demo: deps ## profile luacheck over the installed Lua libraries, print the report
	@$(MAKE) --no-print-directory -s fork
	@bench/demo

# In the checks a warning is an error, but not in a user's build.
test: export STRICT := -Werror
test: deps browser ## lint and specs, on the fork, the debug and the ASan build
	@$(MAKE) --no-print-directory fork
	@$(MAKE) --no-print-directory -j2 plain debug asan speclibs
	@$(MAKE) --no-print-directory lint
	@SPEC_AGAIN=10 spec/run asan debug fork

fresh: ## make demo in a pristine Debian: DIST=trixie for another; FULL=1, DEB=1, ROCK=1, TAR=1, SERVERS=1, ARCH=arm64: see spec/fresh
	@lua/deps mmdebstrap
	@spec/fresh

speclibs: $(SPECLIBS) ## the modules that specs load: build/spec

# The modules that specs load are linked with the objects of the release build, except the files listed
# here, which are compiled in another way.
ASAMP := build/fork/asamp.a
$(ASAMP): always
	@$(MAKE) --no-print-directory -s -f lua/build.mk V=fork $@
ISAL := $(if $(wildcard /usr/include/isa-l/igzip_lib.h),-lisal)
build/spec/profilegen.so: SPECFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
build/spec/starved.so: SPECFLAGS += -Wl,--wrap=malloc,--wrap=realloc
build/spec/tables.so: $(addprefix asamp/base/,hash.c idmap.c strtab.c) asamp/read/tree.c
build/spec/tables.so: SPECFLAGS += -include spec/support/tables.h
build/spec/states.so: $(wildcard spec/support/states/*.[ch])
build/spec/hashes.so: lua/vm/text.h
build/spec/loading.so: asamp/unwind/loaded.c
build/spec/loading.so: SPECFLAGS += -DLOADED_OLD
build/spec/names.so: asamp/unwind/symbols.c
build/spec/names.so: SPECFLAGS += -Wl,-z,nodelete '-DSYMBOLS_DEBUGFILES="build/spec/debug/.build-id"'
build/spec/starving.so: SPECFLAGS += -Wl,-z,nodelete,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup
SPECLIB :=
build/spec/names.so build/spec/starving.so: SPECLIB := -lunwind-generic -lunwind -ldw -lelf
build/spec/%.so: spec/support/%.c $(ASAMP) $(wildcard asamp/*/*.h spec/support/*.h) lua/seam.h
	@mkdir -p $(@D)
	$(CC) $(SPECFLAGS) -o $@ $(filter %.c,$^) $(ASAMP) $(SPECLIB) -lz $(ISAL) -lpthread -lm

# The module profiler.core as it is with a glibc older than 2.35.
build/spec/old/core.so: $(ASAMP)
	@$(MAKE) --no-print-directory -s -f lua/build.mk V=fork $@

testes: ## the official Lua tests: LUA_TESTES=dir, else they are downloaded (lua/testes)
	@lua/testes

bench: fork plain ## compare plain, fork, sampling idle and on: bench/README.md
	@bench/run

lint:  ## luacheck over the Lua sources, and the language of comments, documents and messages
	@luacheck -q lualib spec bench
	@spec/language

edit:  ## the patches as commits in build/edit, to work on
	@lua/edit import $(EDIT)
export: ## the commits of build/edit back into lua/patches
	@lua/edit export $(EDIT)

# These variables pass the values of PREFIX and DESTDIR unchanged: neither make nor the shell expands them.
install: export INSTALL_PREFIX = $(value PREFIX)
install: export INSTALL_DESTDIR = $(value DESTDIR)
install: ## into $(PREFIX), below $(DESTDIR): interpreter, library, headers, profiler, asamp
	@lua/install "$$INSTALL_PREFIX" "$$INSTALL_DESTDIR"

# The packages that the build of the Debian package needs, from pack/debian/control.
DEBTOOLS = build-essential patch $(shell sed -n '/^Build-Depends/,/^[^ B]/s/^ \([^ ,]*\).*/\1/p' pack/debian/control | \
  sed s/-compat//)
deb: ## a Debian package that can be installed next to Debian's Lua: build/deb
	@lua/deps $(DEBTOOLS)
	@pack/deb

dist: ## a tarball that runs from any folder, with glibc 2.28 or newer: build/dist; ARCH=arm64 for another processor
	@lua/deps $(DISTTOOLS) $(PAGETOOLS) $(if $(filter arm64,$(value ARCH)),gcc-aarch64-linux-gnu)
	@pack/dist $(value ARCH)

image: ## a container image from the tarball (root): build/dist
	@lua/deps buildah mmdebstrap
	@pack/image

clean: ## removes build/, keeps the download
	@[ ! -d build ] || said=$$(find build -mindepth 1 -maxdepth 1 ! -name dl ! -name edit \
	  -exec rm -rf {} + 2>&1) || { echo "make clean: cannot remove all of build/, run it as the user who has" \
	  "built it: $$(echo "$$said" | head -n 1)" >&2; exit 1; }

help:  ## this list
	@sed -n 's/^\([a-z0-9]*\):[^#]*## /\1\t/p' Makefile | expand -t 10

.PHONY: always fork arm64 musl plain debug asan tsan deps view browser demo test fresh speclibs testes bench lint edit export install deb dist image clean help
.DEFAULT_GOAL := fork
