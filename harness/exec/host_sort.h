/* Sort and scan in host memory, for cpu and emu. A stable sort and a sum of integers are unique: results are the same
 * for any number of threads. */
#ifndef PBD_HOST_SORT_H
#define PBD_HOST_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Runs body(args, begin, end) over [0, parts), possibly on several threads. */
typedef void (*pbd_host_body)(const void *args, size_t begin, size_t end);
typedef void (*pbd_host_parallel)(int threads, pbd_host_body body, size_t parts, const void *args);

/* Least significant digit first. `scratch` has pbd_host_sort_bytes(n, threads) bytes. */
size_t pbd_host_sort_bytes(size_t n, int threads);
void pbd_host_sort_pairs(uint32_t *keys, uint32_t *values, size_t n, int bits, void *scratch, int threads,
                         pbd_host_parallel parallel);

/* values[0 .. n) becomes its exclusive sum and values[n] the total, both truncated to 32 bits; returns the total. */
uint64_t pbd_host_scan(uint32_t *values, size_t n, void *scratch, int threads, pbd_host_parallel parallel);
size_t pbd_host_scan_bytes(int threads);

#endif
