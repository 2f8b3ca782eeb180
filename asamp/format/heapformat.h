/* SPDX-License-Identifier: MIT */
/* The bytes of an unpacked heap snapshot (doc/heap-format.md): a magic, then records of a tag
   and fields. Numbers are LEB128, zigzag if signed. An address is stored as the distance from
   another address, divided by 8, unless it is called absolute. */
#ifndef asamp_heapformat_h
#define asamp_heapformat_h

#include <stddef.h>

#define HEAPFORMAT_MAGIC	"ASAMPHEAP 3\n"
#define HEAPFORMAT_MAGICSIZE	12
#define HEAPFORMAT_VERSION	10  /* index of the version byte in the magic. Version 1 has no
                                       sites and samples, version 2 no names of C functions and
                                       no slots */

/* Tags of records. */
#define HEAP_META	0x01  /* a property of the snapshot: key and value, each with its length */
#define HEAP_FROM	0x02  /* the object whose edges follow: its absolute address / 8; 0: the
                                 edges of the roots follow */
#define HEAP_END	0x03  /* end of the snapshot: number of objects, number of edges, bytes
                                 of all objects */
#define HEAP_SITE	0x04  /* a place that allocates: function name, source, line of
                                 definition, allocating line. Sites are numbered 1, 2, ... */
/* A sampled object: distance of its address from the previous sample's, number of its site
   (HEAP_SITE; 0: unknown), age in ms, bytes that the sample represents. */
#define HEAP_SAMPLE	0x05
#define HEAP_CODE	0x06  /* a running C function: absolute address, name. These records
                                 precede the objects */
/* HEAP_OBJECT + kind of object: distance of its address from the previous object's, bytes, fields
   of the kind. The object's edges follow. */
#define HEAP_OBJECT	0x10
#define HEAP_EDGE	0x40  /* HEAP_EDGE + kind of edge: distance of the target's address from
                                 the object's, fields of the kind */

/* Kinds of objects, with their fields. Addresses are distances from the object's address. */
enum {
  HEAP_TABLE, HEAP_STRING /* length, number of stored bytes, these bytes */,
  HEAP_FUNCTION /* prototype */, HEAP_CFUNCTION /* absolute code address */,
  HEAP_UPVALUE, HEAP_USERDATA, HEAP_THREAD /* 1: main thread */,
  HEAP_PROTO /* line of definition, function name, source */, HEAP_KINDS
};

/* Kinds of edges, as in luaN_EdgeKind, and the fields of each in its record. 'index', 'key' and
   'in' are those of luaN_Edge. 'slot': number of a stack slot, 1 for the called function, then 2,
   3, ...; 0: unknown. */
enum {
  HEAP_EROOT /* index */, HEAP_EMETATABLE,
  HEAP_EINDEX /* index, minus the index of the object's previous HEAP_EINDEX */,
  HEAP_EFIELD /* key */, HEAP_EENTRY /* key */, HEAP_EKEY, HEAP_EWEAKKEY /* in */,
  HEAP_EUPVALUE /* index, key */, HEAP_EVALUE, HEAP_EUSERVALUE /* index */,
  HEAP_ELOCAL /* key, in */, HEAP_ESTACK /* slot, in */, HEAP_EOPEN, HEAP_EPROTO,
  HEAP_ECONSTANT /* index */, HEAP_ENAME,
  HEAP_ECODE /* slot, absolute code address */, HEAP_EDGES
};

/* Maximum number of bytes that a snapshot stores of a string. */
#define HEAP_TEXT	128

/* Stored for a missing address, where the address is optional. If an optional address is not
   missing, 1 is added to it. */
#define HEAP_NONE	0

/* HEAP_RTYPE + t: the root that is the metatable of basic type t (LUA_TNIL, ...). */
#define HEAP_RTYPE	16

/* Writes the name of a root (luaN_Root). */
void heapformat_root (long long which, char *to, size_t size);

#endif
