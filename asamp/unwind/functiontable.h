/* SPDX-License-Identifier: MIT */
/*
** The functions of an object file. The first names are searched among the symbols of the
** file. Then a table of the functions in the order of their addresses is made from the symbols
** that libdwfl has of the file, so that a name is found by halving. A short session needs
** a few names, and the table would be half of its cost; libdwfl reads every symbol for every name.
** Invariant:
**   FT1  what functiontable_name tells is what dwfl_module_addrname tells: of symbols that
**        cover an address a global one before a local one, then the one that begins last,
**        then the stronger binding, then the first of the file. Symbols without a size
**        are libdwfl's: it is asked where one may be meant.
*/
#ifndef asamp_functiontable_h
#define asamp_functiontable_h

#include <elfutils/libdwfl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

typedef struct FunctionSpan {
  uint64_t begin, end;
  uint64_t reach;	/* the furthest end of this one and all before it */
  int number;		/* of the symbol, in libdwfl */
  int rank;		/* of its binding: 0 a local one */
} FunctionSpan;

/* All zero: not made yet. */
typedef struct FunctionTable {
  FunctionSpan *spans;
  size_t n;
  int made;
  int sizeless;		/* there are symbols without a size */
  int searched;		/* 'symbols' is set */
  int names;		/* that were searched among 'symbols' */
  const ElfW(Sym) *symbols;	/* of the file, in memory; NULL: they have to be libdwfl's */
  size_t nsymbols;
  size_t strings;	/* section of their names */
} FunctionTable;

/* The name of the code of 'mod' at 'address'; NULL: no symbol tells. 't' is the module's own,
   made by the first call; where there is no memory for it, libdwfl looks. Lives as long as
   the module. */
const char *functiontable_name (FunctionTable *t, Dwfl_Module *mod, uint64_t address);

void functiontable_free (FunctionTable *t);

#endif
