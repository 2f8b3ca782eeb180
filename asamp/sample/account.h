/* SPDX-License-Identifier: MIT */
/*
** Counts exactly the bytes that a state allocates while it is sampled, in all and for each set of
** labels (labels.h). The core reports each change of the running thread's label (luaN_setlabels);
** the bytes between two changes count for the set of that time. Memory comes from malloc and grows
** with the number of sets that the state has had. Invariants:
**
**   AC1  the sums of all sets (also of set 0), and the bytes since the last change, add up to
**        account_bytes;
**   AC2  if no memory is left for the sum of a set, its bytes count for the previous label's set;
**   AC3  another thread may call account_each while the state runs: a sum never moves, is read and
**        written as a whole, and is freed with the account.
*/
#ifndef asamp_account_h
#define asamp_account_h

#include "lua.h"
#include "seam.h"

/* Bytes of a set of labels. */
typedef struct AccountSum {
  uint64_t bytes;	/* up to the last change of the label */
  uint64_t reported;	/* bytes that account_each has marked as reported; may exceed 'bytes'
			   until the next change of the label */
  uint32_t set;
} AccountSum;

#define ACCOUNT_FIRST	8	/* sums of the first piece; each further piece is twice as large */
#define ACCOUNT_PIECES	20

typedef struct Account {
  /* must be the first field: the core passes its address to 'find'. Its 'bytes' is NULL before
     the first account_on */
  luaN_Labels seam;
  int on;
  uint64_t bytes;	/* 'rest' of the last account_reset, plus the bytes counted from then to
			   the last account_off */
  uint64_t since;	/* luaN_allocated at the last account_on or account_reset */
  AccountSum none;	/* the sum of set 0 */
  AccountSum *pieces[ACCOUNT_PIECES];  /* the sums of the other sets */
  uint32_t n;		/* number of sums in the pieces; atomic */
  AccountSum **table;	/* hash table of the sums in 'pieces', at least a quarter of it NULL;
			   NULL: no sums */
  unsigned log;		/* log2 of the number of slots of the table */
} Account;

/* account_on starts the counting, unless the account is on; account_off ends it. The account must
   not move while it is on. */
void account_on (Account *a, lua_State *L);
void account_off (Account *a, lua_State *L);

/*
** Sets each sum to 0 or, if 'rest' is not 0, to its bytes that account_each has not marked as
** reported; 'rest' is the total of these bytes. On the state's own thread. Does not start or stop
** the counting.
*/
void account_reset (Account *a, lua_State *L, uint64_t rest);

/* Frees the memory of an account that is off and that no other thread reads. */
void account_close (Account *a);

/* Returns the bytes of all sets, on the state's own thread. */
uint64_t account_bytes (const Account *a, lua_State *L);

/*
** The bytes that account_each reports. WHOLE: all; REST: those not yet marked as reported;
** REPORT: as REST, and marks them as reported.
*/
typedef enum AccountPart { ACCOUNT_WHOLE, ACCOUNT_REST, ACCOUNT_REPORT } AccountPart;

/*
** Calls f for the bytes of each set, unless they are 0, and returns their sum. 'all' is the sum
** expected (ACCOUNT_WHOLE: from account_bytes); the set of the present label has 'all' minus the
** bytes of the other sets, at least 0. On another thread 'all' may be an earlier sum, and the
** result may exceed it. Allocates nothing.
*/
uint64_t account_each (Account *a, AccountPart part, uint64_t all,
                       void (*f) (void *ud, uint32_t set, uint64_t bytes), void *ud);

#endif
