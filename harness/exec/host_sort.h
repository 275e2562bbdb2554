/* Sort and scan on host memory, for the backends whose device memory is the host's. A stable sort has one answer and so
 * has a sum of whole numbers: both give the same bits for any number of threads. */
#ifndef PBD_HOST_SORT_H
#define PBD_HOST_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Runs body(args, begin, end) over [0, parts), on several threads or not. */
typedef void (*pbd_host_body)(const void *args, size_t begin, size_t end);
typedef void (*pbd_host_parallel)(int threads, pbd_host_body body, size_t parts, const void *args);

/* Least significant digit first; `scratch` is of pbd_host_sort_bytes(n, threads). */
size_t pbd_host_sort_bytes(size_t n, int threads);
void pbd_host_sort_pairs(uint32_t *keys, uint32_t *values, size_t n, int bits, void *scratch, int threads,
                         pbd_host_parallel parallel);

/* values[0 .. n) becomes its exclusive sum and values[n] the whole, both cut to 32 bits; returns the whole. */
uint64_t pbd_host_scan(uint32_t *values, size_t n, void *scratch, int threads, pbd_host_parallel parallel);
size_t pbd_host_scan_bytes(int threads);

#endif
