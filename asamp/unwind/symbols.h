/* SPDX-License-Identifier: MIT */
/*
** Reads data of an object file that are not in its loaded symbols:
**   - the symbols of its separate debug file, which is found by build id if one is installed
**   - the starts of functions, for code without any name, from the unwind table, which stripped
**     files keep
** Addresses are those in the file, as objdump and addr2line use them, so they are equal in every
** run.
**
**   SY1  a damaged file gives no data or wrong data, but nothing outside the file is read;
**   SY2  no descriptor stays open.
*/
#ifndef asamp_symbols_h
#define asamp_symbols_h

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

/* A file mapped to memory. 'data' is NULL if no file is mapped. */
typedef struct SymbolFile {
  void *data;
  size_t size;
} SymbolFile;

/*
** Maps a file. Returns 0 if it does not exist or cannot be mapped. If errno is then ENOMEM, a
** later call may succeed.
*/
int symbols_map (SymbolFile *f, const char *path);
void symbols_unmap (SymbolFile *f);

/* Folder of the system's separate debug files, whose names in it are made from build ids. */
#if !defined(SYMBOLS_DEBUGFILES)
#define SYMBOLS_DEBUGFILES	"/usr/lib/debug/.build-id"
#endif

/* Maps the debug file of a build id of n bytes. Returns 0 if symbols_map returns 0, or if n is less
   than 2 or more than 64. */
int symbols_debugfile (SymbolFile *f, const unsigned char *id, size_t n);

/* Returns 1 if the address is in an executable segment of the object. */
int symbols_iscode (Elf *elf, uint64_t address);

/* Returns the name of the function that contains 'address', or NULL. The name is valid as long as
   'elf'. */
const char *symbols_name (Elf *elf, uint64_t address);

/* Returns the highest start of a function that is not above 'address', from the unwind table.
   Returns 'address' itself if there is none. */
uint64_t symbols_start (Elf *elf, uint64_t address);

#endif
