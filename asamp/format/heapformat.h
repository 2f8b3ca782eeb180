/* SPDX-License-Identifier: MIT */
/*
** The bytes of an unpacked heap snapshot (doc/heap-format.md): the magic, then records, each of
** which is a tag and its fields. Numbers are LEB128, zigzag-encoded if they may be negative. An
** address is written as its distance from another address, in units of 8 bytes, unless it is called
** absolute below.
*/
#ifndef asamp_heapformat_h
#define asamp_heapformat_h

#include <stddef.h>

#define HEAPFORMAT_MAGIC	"ASAMPHEAP 3\n"
#define HEAPFORMAT_MAGICSIZE	12
#define HEAPFORMAT_VERSION	10  /* index of the version's digit in the magic. Files of version
				       1 have no sites and no samples; files of version 2 have no
				       names of C functions and no slots */

/* Tags of records. */
#define HEAP_META	0x01  /* key and value: texts, each preceded by its length */
#define HEAP_FROM	0x02  /* absolute address / 8 of the object whose edges follow; 0: the
			         edges of the roots follow */
#define HEAP_END	0x03  /* number of objects, number of edges, bytes of all objects */
#define HEAP_SITE	0x04  /* name and source of a function (texts), line of its
			         definition, line where samples were allocated. Sites are
			         numbered 1, 2, ... */
/* address of the sampled object, as the distance from that of the previous sample; number of the
   site, or 0; age in milliseconds; bytes that the sample represents */
#define HEAP_SAMPLE	0x05
#define HEAP_CODE	0x06  /* absolute address of a C function on the running stack, its name (a
				 text). These records precede the objects */
/* plus a kind of object: address, as the distance from that of the previous object; bytes; fields
   of the kind. The object's edges follow */
#define HEAP_OBJECT	0x10
#define HEAP_EDGE	0x40  /* plus a kind of edge (a reference): address of the target, as the
				 distance from that of the object that has the edge; fields of the
				 kind */

/* Kinds of objects, with their fields. Addresses are distances from the object's own address. */
enum {
  HEAP_TABLE, HEAP_STRING /* fields: length, number of bytes stored, these bytes */,
  HEAP_FUNCTION /* field: its prototype */, HEAP_CFUNCTION /* field: absolute code address */,
  HEAP_UPVALUE, HEAP_USERDATA, HEAP_THREAD /* field: 1 for the main thread, else 0 */,
  HEAP_PROTO /* fields: line of the definition, name, source */, HEAP_KINDS
};

/*
** Kinds of edges: those of luaN_EdgeKind (seam.h) in the same order, and HEAP_ECODE. The comment of
** a kind lists the fields that follow the target in the file:
**   - 'index', 'key' and 'in' are those of luaN_Edge; 'key' and 'in' as distances from the address
**     of the holder
**   - 'slot' is 1 for the function that the call runs, 2 and more for the other slots of the call,
**     0 if unknown
*/
enum {
  HEAP_EROOT /* index */, HEAP_EMETATABLE,
  HEAP_EINDEX /* difference from the holder's previous index, at first from 0 */,
  HEAP_EFIELD /* key */, HEAP_EENTRY /* key */, HEAP_EKEY, HEAP_EWEAKKEY /* in */,
  HEAP_EUPVALUE /* index, key */, HEAP_EVALUE, HEAP_EUSERVALUE /* index */,
  HEAP_ELOCAL /* key, in */, HEAP_ESTACK /* slot, in */, HEAP_EOPEN, HEAP_EPROTO,
  HEAP_ECONSTANT /* index */, HEAP_ENAME,
  HEAP_ECODE /* slot, absolute address of the C function */, HEAP_EDGES
};

/* Largest number of bytes that a snapshot stores of a string, name, key or value. */
#define HEAP_TEXT	128

/* Value of an address field that means "no object". A field that can have this value stores an
   address as the encoded address + 1. */
#define HEAP_NONE	0

/* Index of the first root that is a metatable of a type: LUAN_RTYPE of luaN_Root (seam.h). */
#define HEAP_RTYPE	16

/* Writes the name of a root (luaN_Root) into 'to', a buffer of 'size' bytes. */
void heapformat_root (long long which, char *to, size_t size);

#endif
