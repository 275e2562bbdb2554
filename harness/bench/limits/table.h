/* The limits for people: spelt with a fitting prefix, and as the tables of README.md. */
#ifndef PBD_LIMITS_TABLE_H
#define PBD_LIMITS_TABLE_H

#include <stdio.h>

#include "harness/bench/limits/limits.h"

/* «24.1 GB/s», «2.06 Gflop/s», «311 M/s», «2.4 us»: `value` in the limit's unit. */
void pbd_limit_spell(const pbd_limit *limit, double value, char *out, size_t size);

/* Two tables in Markdown: the limits of the machine, and what its newest `pbdbench bench` in the store measured, with
 * the fractions of the limits that it reached. `store` NULL: no benches. */
pbd_status pbd_limits_table(pbd_store *store, const pbd_machine *machine, const pbd_limits *limits, FILE *out);

#endif
