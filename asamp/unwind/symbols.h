/* SPDX-License-Identifier: MIT */
/*
** Reads data of an object file that are not in its loaded symbols: the symbols of its separate
** debug file, if one is installed (found by build id); and, for code without any name, the
** starts of functions, from the unwind table, which stripped files keep. Addresses are those of
** the file, as objdump and addr2line use them, equal in every run.
**
**   SY1  damaged files give no data or wrong data, but nothing outside them is read;
**   SY2  no descriptor stays open.
*/
#ifndef asamp_symbols_h
#define asamp_symbols_h

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

/* A mapped file. data NULL: no file is mapped. */
typedef struct SymbolFile {
  void *data;
  size_t size;
} SymbolFile;

/*
** Maps a file. Returns 0 if it does not exist or cannot be mapped; with errno ENOMEM, a later call
** may succeed.
*/
int symbols_map (SymbolFile *f, const char *path);
void symbols_unmap (SymbolFile *f);

/* Folder of the system's debug files, by build id. */
#if !defined(SYMBOLS_DEBUGFILES)
#define SYMBOLS_DEBUGFILES	"/usr/lib/debug/.build-id"
#endif

/* Maps the debug file of a build id of n bytes. Returns 0 as symbols_map, or if n is not 2..64. */
int symbols_debugfile (SymbolFile *f, const unsigned char *id, size_t n);

/* Returns 1 if the address is in an executable segment of the object. */
int symbols_iscode (Elf *elf, uint64_t address);

/* Returns the name of the function that contains 'address', or NULL. The name is valid as long as
   'elf'. */
const char *symbols_name (Elf *elf, uint64_t address);

/* Returns the last start of a function up to 'address', from the unwind table; 'address' itself if
   there is none. */
uint64_t symbols_start (Elf *elf, uint64_t address);

#endif
