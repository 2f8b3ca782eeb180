/* SPDX-License-Identifier: MIT */
/*
** Finds the name of a native function by its address in an object file. The first names are
** searched among the file's symbols; later ones by binary search in a table made from them, which
** would cost a short session more.
**
**   FT1  functiontable_name returns the name that dwfl_module_addrname returns, except mapping
**        symbols of arm ("$x"): of the symbols that cover the address a global one, then the one
**        that starts last, then the stronger binding, then the first in the file.
*/
#ifndef asamp_functiontable_h
#define asamp_functiontable_h

#include <elfutils/libdwfl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* A symbol with its address range. */
typedef struct FunctionSpan {
  uint64_t start, end;
  uint64_t reach;	/* highest end of this span and all before it */
  int number;		/* index among libdwfl's symbols */
  int rank;		/* binding: 0 local, 1 weak, 2 global */
} FunctionSpan;

/* The table of an object file. All zero: not made. */
typedef struct FunctionTable {
  FunctionSpan *spans;
  size_t n;
  int made;
  int sizeless;		/* 1: has symbols without a size, which only libdwfl finds */
  int searched;		/* 1: 'symbols' is determined */
  int names;		/* names searched so far in 'symbols' */
  const ElfW(Sym) *symbols;	/* the file's symbols in memory; NULL: read with libdwfl */
  size_t nsymbols;
  size_t strings;	/* section with their names */
} FunctionTable;

/* Returns the name of the code of 'mod' at 'address', valid as long as the module; NULL: none.
   't' is the module's table, made when needed. */
const char *functiontable_name (FunctionTable *t, Dwfl_Module *mod, uint64_t address);

void functiontable_free (FunctionTable *t);

#endif
