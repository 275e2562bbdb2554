/* What a backend gives to exec.c: one table of functions each. `self` is the backend's own. */
#ifndef PBD_BACKEND_H
#define PBD_BACKEND_H

#include "harness/exec/exec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One launch of a list that is made into one thing. */
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
    /* work: bytes and operations together; decides whether threads pay. */
    pbd_status (*run)(void *self, const pbd_kernel *kernel, size_t n, const void *args, double work);
    /* As in exec.h, over `scratch` of the device; NULL: only say how many bytes of it they need. */
    pbd_status (*sort_pairs)(void *self, uint32_t *keys, uint32_t *values, size_t n, int bits, void *scratch,
                             size_t *bytes);
    /* total NULL: the host does not need it and does not wait. */
    pbd_status (*scan)(void *self, uint32_t *values, size_t n, uint64_t *total, void *scratch, size_t *bytes);
    pbd_status (*wait)(void *self);
    /* NULL: the host's clock is right. Else marks the start on the device, and waits and says how long it was, s. */
    pbd_status (*timer_begin)(void *self);
    pbd_status (*timer_end)(void *self, double *seconds);
    /* NULL: a list of launches is no quicker than its parts here. Else makes one thing of them, with their arguments as
     * they are now; runs it; frees it. */
    pbd_status (*join)(void *self, const pbd_launch *launch, size_t count, void **joined);
    pbd_status (*replay)(void *self, void *joined);
    void (*part)(void *self, void *joined);
} pbd_backend_ops;

extern const pbd_backend_ops pbd_cpu_ops, pbd_emu_ops;
#if PBD_HAVE_CUDA
extern const pbd_backend_ops pbd_cuda_ops;
#endif

/* Why `-b cuda` cannot work here, or "": no toolkit at build time, no driver, no device. Looked up once. */
const char *pbd_cuda_missing(void);
/* Name of the first device, or "". */
const char *pbd_cuda_device(void);
/* Its PCI address, "0000:3b:00.0", or "". */
const char *pbd_cuda_bus(void);

#ifdef __cplusplus
}
#endif
#endif
