/* SPDX-License-Identifier: MIT */
/*
** Reads symbols and starts of functions from an object file. Symbols are in the file itself or in
** its separate debug file, which is found by build id. Starts of functions are in the unwind table,
** which stripped files have, too. Addresses are those in the file, not those in memory.
**
**   SY1  a damaged file may yield wrong data or none, but nothing outside the file is read;
**   SY2  no descriptor stays open.
*/
#ifndef asamp_symbols_h
#define asamp_symbols_h

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A file mapped into memory. 'data' NULL: no file. */
typedef struct SymbolFile {
  void *data;
  size_t size;
  dev_t device;		/* device and inode of the file */
  ino_t inode;
} SymbolFile;

/* Maps a file. Returns 0 on failure. If errno is then ENOMEM, a later call may succeed. */
int symbols_map (SymbolFile *f, const char *path);
void symbols_unmap (SymbolFile *f);

/* Folder of the debug files, whose names are build ids. */
#if !defined(SYMBOLS_DEBUGFILES)
#define SYMBOLS_DEBUGFILES	"/usr/lib/debug/.build-id"
#endif

/* Maps the debug file that belongs to a build id of n bytes (2 to 64). Returns 0 on failure. */
int symbols_debugfile (SymbolFile *f, const unsigned char *id, size_t n);

/* Returns 1 if an executable segment has the address. */
int symbols_iscode (Elf *elf, uint64_t address);

/* Returns the name of the function at 'address', or NULL. The name is valid until elf_end(elf).
   Scans the symbol tables directly, without a decoded copy of each symbol: 30 times as fast as
   dwfl_module_addrname. */
const char *symbols_name (Elf *elf, uint64_t address);

/* To be called if symbols_name found no name for 'address'. Returns 1 if the slower function
   dwfl_module_addrname may find a name: the file is a 32-bit file, or it has compressed symbols
   (.gnu_debugdata), a symbol without a size at or below the address, or a symbol that contains the
   address and is not a function. */
int symbols_hasmore (Elf *elf, uint64_t address);

/* Returns the highest start of a function that is not above 'address', or 'address' if there is
   none. */
uint64_t symbols_start (Elf *elf, uint64_t address);

#endif
