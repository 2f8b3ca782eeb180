/* SPDX-License-Identifier: MIT */
/*
** Finds the name of a native function by its address in an object file. The first names of a file
** are searched among its symbols. Later names are found by binary search in a table of the
** functions, which is made from libdwfl's symbols and sorted by address. The table is not made at
** once because a short session needs few names, and the table would be half of its cost. libdwfl's
** own search is not used because it reads every symbol for every name. Invariant:
**
**   FT1  functiontable_name returns the same name as dwfl_module_addrname, except for mapping
**        symbols of arm ("$x"), which name no function. Of the symbols that cover an address, it
**        takes a global one before a local one. Of these it takes the one that starts last, then
**        the one with the stronger binding, then the first one in the file. If a symbol without a
**        size may cover the address, libdwfl's own search is called.
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
  uint64_t reach;	/* highest end of this span and of all spans before it */
  int number;		/* index of the symbol among libdwfl's symbols of the file */
  int rank;		/* binding: 0 local, 1 weak, 2 global */
} FunctionSpan;

/* The table of an object file. All zero: not made yet. */
typedef struct FunctionTable {
  FunctionSpan *spans;
  size_t n;
  int made;
  int sizeless;		/* 1: the file has symbols without a size, which only libdwfl's search
			   finds */
  int searched;		/* 1: the field 'symbols' was determined (it may be NULL) */
  int names;		/* number of names that were searched so far by reading all 'symbols' */
  const ElfW(Sym) *symbols;	/* the file's symbols in memory; NULL: the symbols are read with
				   libdwfl */
  size_t nsymbols;
  size_t strings;	/* index of the section with the names of 'symbols' */
} FunctionTable;

/* Returns the name of the code of 'mod' at 'address'; NULL: no symbol covers it. The name is valid
   as long as the module. 't' is the table of this module, made when it is first needed. If there is
   not enough memory for it, libdwfl searches instead. */
const char *functiontable_name (FunctionTable *t, Dwfl_Module *mod, uint64_t address);

void functiontable_free (FunctionTable *t);

#endif
