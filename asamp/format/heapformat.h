/* SPDX-License-Identifier: MIT */
/*
** The bytes of a heap snapshot, unpacked (doc/heap-format.md has all of it): the
** magic, then records, each a tag and its fields. Numbers are LEB128; an address is
** its distance from another one in units of 8 bytes, zigzag.
*/
#ifndef asamp_heapformat_h
#define asamp_heapformat_h

#include <stddef.h>

#define HEAPFORMAT_MAGIC	"ASAMPHEAP 3\n"
#define HEAPFORMAT_MAGICSIZE	12
#define HEAPFORMAT_VERSION	10  /* place of its digit; 1 has neither sites nor samples,
				    2 no names of C functions and no slots */

/* Tags. */
#define HEAP_META	0x01  /* key, value: text, its length before it */
#define HEAP_FROM	0x02  /* address / 8: the edges that follow are its; 0: roots */
#define HEAP_END	0x03  /* objects, edges, bytes of all objects */
#define HEAP_SITE	0x04  /* name and source of a function: texts; line of its definition;
				 line: where samples were allocated. Sites are 1, 2, ... */
#define HEAP_SAMPLE	0x05  /* address from that of the sample before, site or 0, age in
				 milliseconds, bytes that it stands for */
#define HEAP_CODE	0x06  /* address of a C function from 0, its name: text. Before objects */
#define HEAP_OBJECT	0x10  /* and a kind: address from the object before, bytes, ... */
#define HEAP_EDGE	0x40  /* and a kind: address from that of the holder, ... */

/* Kinds of objects. */
enum {
  HEAP_TABLE, HEAP_STRING /* length, bytes that follow, these */,
  HEAP_FUNCTION /* address of the prototype */, HEAP_CFUNCTION /* of the code, from 0 */,
  HEAP_UPVALUE, HEAP_USERDATA, HEAP_THREAD /* 1: the main thread */,
  HEAP_PROTO /* line, name, source */, HEAP_KINDS
};

/* Kinds of edges: those of luaN_EdgeKind (seam.h) in their order, and one more; fields
   behind 'to'. Slots are 0 where they are not known, 1 the function itself, 2 and more. */
enum {
  HEAP_EROOT /* index */, HEAP_EMETATABLE, HEAP_EINDEX /* index from the one before */,
  HEAP_EFIELD /* key */, HEAP_EENTRY /* key */, HEAP_EKEY, HEAP_EWEAKKEY /* in */,
  HEAP_EUPVALUE /* index, key */, HEAP_EVALUE, HEAP_EUSERVALUE /* index */,
  HEAP_ELOCAL /* key, in */, HEAP_ESTACK /* slot, in */, HEAP_EOPEN, HEAP_EPROTO,
  HEAP_ECONSTANT /* index */, HEAP_ENAME,
  HEAP_ECODE /* slot, address of the C function from 0 */, HEAP_EDGES
};

/* The most of a string that a snapshot holds. */
#define HEAP_TEXT	128

/* What stands for 'no object' where an address may be missing. */
#define HEAP_NONE	0

/* The first of the roots that are metatables of types: LUAN_RTYPE of luaN_Root (seam.h). */
#define HEAP_RTYPE	16

/* What a root is called. */
void heapformat_root (long long which, char *to, size_t size);

#endif
