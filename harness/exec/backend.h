/* The table of functions that each backend provides to device.c. `self` is the backend's state. */
#ifndef PBD_BACKEND_H
#define PBD_BACKEND_H

#include "harness/exec/exec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One launch of a list to be joined (a CUDA graph). */
typedef struct pbd_launch {
    const pbd_kernel *kernel;
    size_t n;
    const void *args;
} pbd_launch;

typedef struct pbd_backend_ops {
    pbd_status (*open)(int threads, void **self);
    void (*close)(void *self);
    pbd_status (*alloc)(void *self, size_t bytes, void **out); /* zeroed, 64-byte aligned */
    void (*release)(void *self, void *memory);
    pbd_status (*upload)(void *self, void *device, const void *host, size_t bytes);
    pbd_status (*download)(void *self, void *host, const void *device, size_t bytes);
    /* work: bytes plus operations; decides whether threads are used. */
    pbd_status (*run)(void *self, const pbd_kernel *kernel, size_t n, const void *args, double work);
    /* As in exec.h, with `scratch` on the device. scratch NULL: only sets *bytes to the size needed. */
    pbd_status (*sort_pairs)(void *self, uint32_t *keys, uint32_t *values, size_t n, int bits, void *scratch,
                             size_t *bytes);
    /* total NULL: the host does not wait for the total. */
    pbd_status (*scan)(void *self, uint32_t *values, size_t n, uint64_t *total, void *scratch, size_t *bytes);
    pbd_status (*wait)(void *self);
    /* NULL: the host's clock is used. Otherwise: marks the start on the device; waits and returns the time since, s. */
    pbd_status (*timer_begin)(void *self);
    pbd_status (*timer_end)(void *self, double *seconds);
    /* NULL: joining launches gives no advantage here. Otherwise: joins launches with their present arguments into one
     * object; runs it; frees it. */
    pbd_status (*join)(void *self, const pbd_launch *launch, size_t count, void **joined);
    pbd_status (*replay)(void *self, void *joined);
    void (*part)(void *self, void *joined);
} pbd_backend_ops;

extern const pbd_backend_ops pbd_cpu_ops, pbd_emu_ops;
#if PBD_HAVE_CUDA
extern const pbd_backend_ops pbd_cuda_ops;
#endif

/* Why `-b cuda` is not available (no toolkit at build time, no driver, no device), or "". Determined once. */
const char *pbd_cuda_missing(void);
/* Name of the first CUDA device, or "". */
const char *pbd_cuda_device(void);
/* Its PCI address, "0000:3b:00.0", or "". */
const char *pbd_cuda_bus(void);

#ifdef __cplusplus
}
#endif
#endif
