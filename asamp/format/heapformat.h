/* SPDX-License-Identifier: MIT */
/* The format of an unpacked heap snapshot (doc/heap-format.md): bytes that identify it (a magic),
   then records. A record is a tag and fields. Numbers are LEB128, zigzag if signed. An address is
   stored as its distance from another address, divided by 8, unless it is called absolute. */
#ifndef asamp_heapformat_h
#define asamp_heapformat_h

#include <stddef.h>

#define HEAPFORMAT_MAGIC	"ASAMPHEAP 3\n"
#define HEAPFORMAT_MAGICSIZE	12
/* Index of the version byte in the magic. Files of version 1 have no allocation sites and samples;
   files of version 2 have no names of C functions and no descriptions of stack slots. */
#define HEAPFORMAT_VERSION	10

/* Tags of records. */
#define HEAP_META	0x01  /* a property of the snapshot: key and value, each with its length */
#define HEAP_FROM	0x02  /* absolute address / 8 of the object whose edges follow; 0: the edges
                                 of the roots follow */
#define HEAP_END	0x03  /* end of the snapshot: number of objects, number of edges, bytes
                                 of all objects */
#define HEAP_SITE	0x04  /* an allocation site: name, source and line of definition of the
                                 function, and the allocating line. Sites are numbered 1, 2, ... */
/* An allocation sample: distance of its object's address from that of the previous sample's object,
   number of its HEAP_SITE (0: unknown), age in ms, bytes that the sample represents. */
#define HEAP_SAMPLE	0x05
/* A C function on a stack: absolute address, name. These records precede the objects. */
#define HEAP_CODE	0x06
/* An object. The record has the tag HEAP_OBJECT + kind, then: the distance of the object's address
   from that of the previous object; its size in bytes; the fields of its kind. The records of its
   edges follow. */
#define HEAP_OBJECT	0x10
/* A reference, with the tag HEAP_EDGE + kind of edge: distance of the target's address from that of
   the object, fields of the kind. */
#define HEAP_EDGE	0x40

/* Kinds of objects, with their fields. Addresses are distances from the object's address. */
enum {
  HEAP_TABLE, HEAP_STRING /* length, number of stored bytes, these bytes */,
  HEAP_FUNCTION /* prototype */, HEAP_CFUNCTION /* absolute code address */,
  HEAP_UPVALUE, HEAP_USERDATA, HEAP_THREAD /* 1: main thread */,
  HEAP_PROTO /* line of definition, function name, source */, HEAP_KINDS
};

/* Kinds of edges, as in luaN_EdgeKind (seam.h), and the fields of each in its record. 'index',
   'key' and 'in' are those of luaN_Edge. 'slot' is the number of a stack slot: 1 for the called
   function, then 2, 3, ...; 0: unknown. */
enum {
  HEAP_EROOT /* index */, HEAP_EMETATABLE,
  HEAP_EINDEX /* index, minus that in the object's previous HEAP_EINDEX, if any */,
  HEAP_EFIELD /* key */, HEAP_EENTRY /* key */, HEAP_EKEY, HEAP_EWEAKKEY /* in */,
  HEAP_EUPVALUE /* index, key */, HEAP_EVALUE, HEAP_EUSERVALUE /* index */,
  HEAP_ELOCAL /* key, in */, HEAP_ESTACK /* slot, in */, HEAP_EOPEN, HEAP_EPROTO,
  HEAP_ECONSTANT /* index */, HEAP_ENAME,
  HEAP_ECODE /* slot, absolute code address */, HEAP_EDGES
};

/* Maximum number of bytes of a string that a snapshot stores; longer strings are cut. */
#define HEAP_TEXT	128

/* Value of a field for an optional address if the address is missing. For any other address, the
   value of the field is 1 plus the zigzag number of the distance. */
#define HEAP_NONE	0

/* The root number HEAP_RTYPE + t is the metatable of the basic type t (LUA_TNIL, ...). */
#define HEAP_RTYPE	16

/* Writes the name of the root with the number 'which' (luaN_Root in seam.h) to 'to'. */
void heapformat_root (long long which, char *to, size_t size);

#endif
