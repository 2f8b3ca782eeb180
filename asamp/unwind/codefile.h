/* SPDX-License-Identifier: MIT */
/*
** Numbers the object files whose code was sampled, because a library may be loaded at the addresses
** of an unloaded one. The id of a native address contains the number of its object file, so a
** function of the second library has another id than a function of the first one.
**
**   CF1  no two files have the same number. A file that is loaded again at other addresses counts
**        as another file; at the same addresses it keeps its number;
**   CF2  two files at the same addresses have different numbers only if their length, the address
**        of their unwind table or their path differs. With glibc before 2.35 (loaded.h), the path
**        is not compared;
**   CF3  a stored file is never removed, and its addresses and name never change, so codefile_id
**        takes no lock.
*/
#ifndef asamp_codefile_h
#define asamp_codefile_h

#include <stdint.h>
#include <sys/types.h>

#include "loaded.h"

#define CODEFILE_MOST	4096	/* largest number of object files that are stored; a power of 2 */

/* Mask of the bits of an id that are the address. The higher bits are the number of the object
   file; 0: the file is not stored. */
#define CODEFILE_ADDRESS	UINT64_C(0xffffffffffff)

/* A stored object file. It may have been unloaded. */
typedef struct CodeFile {
  Loaded at;			/* addresses of the file while it was loaded; its field 'map' is
                                   unused */
  /* The fields from 'noted' to 'inode' are set by native.c, with its lock held. */
  int noted;			/* 1: 'path', 'device' and 'inode' are set; atomic */
  char *path;			/* path from which the names of the file's functions can be
                                   read; NULL: unknown */
  dev_t device;			/* device and inode of the file, if 'path' is not NULL */
  ino_t inode;
  char name[];			/* path of the file in the loader's list, to distinguish files
                                   (CF2); "": unknown */
} CodeFile;

/* Returns the id of a native address. At the first address in a file, stores the file and
   allocates. If the file cannot be stored, or if two threads store it at once, the id may lack the
   number of the file. Thread-safe. */
uint64_t codefile_id (const void *address);

/* Returns the object file of an id, or NULL if the file is not stored. Thread-safe. */
CodeFile *codefile_of (uint64_t id);

#endif
