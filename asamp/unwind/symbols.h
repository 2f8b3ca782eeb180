/* SPDX-License-Identifier: MIT */
/*
** What an object file tells of its code beside the symbols that it has loaded: those
** of its separate debug file, where one is installed (found by the build id), and,
** when nobody knows a name, where functions begin, from the table of their unwind
** information, which stripped files keep. Addresses are those of the file: what
** objdump and addr2line take, the same in every run.
**   SY1  damaged files tell nothing, or something else; nothing outside of them is
**        read;
**   SY2  no descriptor stays open.
*/
#ifndef asamp_symbols_h
#define asamp_symbols_h

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

/* A file in memory; data NULL: none. */
typedef struct SymbolFile {
  void *data;
  size_t size;
} SymbolFile;

/* 0: there is no such file, or none to be mapped (errno ENOMEM: for now). */
int symbols_map (SymbolFile *f, const char *path);
void symbols_unmap (SymbolFile *f);

/* Where the debug files of a system are, by build id. */
#if !defined(SYMBOLS_DEBUGFILES)
#define SYMBOLS_DEBUGFILES	"/usr/lib/debug/.build-id"
#endif

/* The debug file of a build id of n bytes. 0: there is none. */
int symbols_debugfile (SymbolFile *f, const unsigned char *id, size_t n);

/* Is that in code of the object? */
int symbols_iscode (Elf *elf, uint64_t address);

/* The function around 'address'; NULL: no symbol tells. Lives as long as 'elf'. */
const char *symbols_name (Elf *elf, uint64_t address);

/* Where the function around 'address' begins; 'address', if that is not known. */
uint64_t symbols_start (Elf *elf, uint64_t address);

#endif
