/* SPDX-License-Identifier: MIT */
/*
** Finds the name of a native function by its address in an object file. The first names are
** searched among the symbols of the file. Later a table of the functions, sorted by address, is
** made from libdwfl's symbols, and names are found by binary search. A short session needs few
** names, and the table would be half of its cost; libdwfl reads every symbol for every name.
** Invariant:
**
**   FT1  functiontable_name returns the same as dwfl_module_addrname: of the symbols that cover an
**        address, a global one before a local one, then the one that starts last, then the
**        stronger binding, then the first one in the file. Symbols without a size are left to
**        libdwfl, which is called where one may apply.
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
  int number;		/* number of the symbol in libdwfl */
  int rank;		/* binding: 0 local, 1 weak, 2 global */
} FunctionSpan;

/* The table of an object file. All zero: not made yet. */
typedef struct FunctionTable {
  FunctionSpan *spans;
  size_t n;
  int made;
  int sizeless;		/* 1: there are symbols without a size */
  int searched;		/* 1: 'symbols' was set, NULL or not */
  int names;		/* number of names that were searched among 'symbols' */
  const ElfW(Sym) *symbols;	/* the file's symbols in memory; NULL: libdwfl's are used */
  size_t nsymbols;
  size_t strings;	/* index of the section with their names */
} FunctionTable;

/*
** Returns the name of the code of 'mod' at 'address'; NULL: no symbol covers it. 't' belongs to
** the module; its table is made when needed, and without memory for it libdwfl searches. The name
** is valid as long as the module.
*/
const char *functiontable_name (FunctionTable *t, Dwfl_Module *mod, uint64_t address);

void functiontable_free (FunctionTable *t);

#endif
