/* SPDX-License-Identifier: MIT */
/* Included before each file of a tarball (pack/dist): glibc 2.29 has new versions of these functions,
   with a new way of reporting errors that is not used here. The old ones are in every glibc. */
#if defined(__x86_64__)
#define PACK_OLD(f)	__asm__(".symver " #f "," #f "@GLIBC_2.2.5");
#else
#define PACK_OLD(f)	__asm__(".symver " #f "," #f "@GLIBC_2.17");
#endif
PACK_OLD(exp) PACK_OLD(exp2) PACK_OLD(log) PACK_OLD(log2) PACK_OLD(pow)
