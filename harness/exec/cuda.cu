/* The cuda backend: one device, one stream. Launches do not wait; copies and pbd_exec_wait do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "harness/exec/backend.h"

namespace {

/* Bytes of pinned memory through which copies go. Copies from or to pageable memory would go through a buffer of the
 * driver, after a wait of its own. */
const size_t STAGE_BYTES = (size_t)4 << 20;

struct cuda {
    cudaStream_t stream;
    cudaEvent_t begun, ended; /* the timer */
    void *stage;              /* pinned, STAGE_BYTES */
};

pbd_status failed(cudaError_t error, const char *what) {
    return pbd_error(PBD_FAILED, "CUDA: %s failed: %s", what, cudaGetErrorString(error));
}

/* Determined once: driver and devices do not change while the program runs. */
struct device_info {
    char missing[200], name[128], bus[32];
};

device_info look_up() {
    device_info info = {"", "", ""};
    int count = 0, driver = 0;
    cudaDriverGetVersion(&driver);
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver || (error != cudaSuccess && driver == 0))
        snprintf(info.missing, sizeof info.missing,
                 "this build has CUDA %d.%d, but there is no NVIDIA driver for it on this machine",
                 CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    else if (error != cudaSuccess || count == 0)
        snprintf(info.missing, sizeof info.missing, "there is an NVIDIA driver, but no device (%s)",
                 error != cudaSuccess ? cudaGetErrorString(error) : "none found");
    else {
        cudaDeviceProp properties;
        if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess)
            snprintf(info.name, sizeof info.name, "%s", properties.name);
        if (cudaDeviceGetPCIBusId(info.bus, sizeof info.bus, 0) != cudaSuccess) info.bus[0] = '\0';
    }
    cudaGetLastError(); /* a missing device must not appear as the error of a later call */
    return info;
}

const device_info &device() {
    static const device_info info = look_up();
    return info;
}

void cuda_close(void *self) {
    cuda *c = (cuda *)self;
    if (c->begun) cudaEventDestroy(c->begun);
    if (c->ended) cudaEventDestroy(c->ended);
    if (c->stage) cudaFreeHost(c->stage);
    if (c->stream) cudaStreamDestroy(c->stream);
    free(c);
}

pbd_status cuda_open(int threads, void **self) {
    (void)threads;
    if (*device().missing) return pbd_error(PBD_NOT_SUPPORTED, "backend cuda is not available: %s", device().missing);
    cuda *c = (cuda *)calloc(1, sizeof *c);
    if (!c) return pbd_error(PBD_FAILED, "out of memory for the cuda backend");
    cudaError_t error = cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreate(&c->begun);
    if (error == cudaSuccess) error = cudaEventCreate(&c->ended);
    if (error == cudaSuccess) error = cudaHostAlloc(&c->stage, STAGE_BYTES, cudaHostAllocDefault);
    if (error != cudaSuccess) {
        cuda_close(c);
        return failed(error, "making a stream, its timer and its pinned memory");
    }
    *self = c;
    return pbd_ok();
}

pbd_status cuda_alloc(void *self, size_t bytes, void **out) {
    cuda *c = (cuda *)self;
    size_t rounded = (bytes + 63) / 64 * 64 + 64, available = 0, total = 0;
    cudaError_t error = cudaMalloc(out, rounded);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        cudaMemGetInfo(&available, &total);
        return pbd_error(PBD_FAILED, "out of device memory: a buffer of %zu bytes is needed, %zu of %zu are free",
                         rounded, available, total);
    }
    if (error != cudaSuccess) return failed(error, "allocating");
    error = cudaMemsetAsync(*out, 0, rounded, c->stream);
    return error == cudaSuccess ? pbd_ok() : failed(error, "clearing memory");
}

void cuda_release(void *self, void *memory) {
    (void)self;
    cudaFree(memory);
}

pbd_status copy_failed(cudaError_t error) {
    return failed(error, "a copy, or a kernel before it (PBDBENCH_LAUNCH=sync tells which),");
}

pbd_status cuda_upload(void *self, void *device_memory, const void *host, size_t bytes) {
    cuda *c = (cuda *)self;
    for (size_t at = 0; at < bytes; at += STAGE_BYTES) {
        const size_t part = bytes - at < STAGE_BYTES ? bytes - at : STAGE_BYTES;
        memcpy(c->stage, (const char *)host + at, part);
        cudaError_t error =
            cudaMemcpyAsync((char *)device_memory + at, c->stage, part, cudaMemcpyHostToDevice, c->stream);
        if (error == cudaSuccess) error = cudaStreamSynchronize(c->stream);
        if (error != cudaSuccess) return copy_failed(error);
    }
    return pbd_ok();
}

pbd_status cuda_download(void *self, void *host, const void *device_memory, size_t bytes) {
    cuda *c = (cuda *)self;
    for (size_t at = 0; at < bytes; at += STAGE_BYTES) {
        const size_t part = bytes - at < STAGE_BYTES ? bytes - at : STAGE_BYTES;
        cudaError_t error =
            cudaMemcpyAsync(c->stage, (const char *)device_memory + at, part, cudaMemcpyDeviceToHost, c->stream);
        if (error == cudaSuccess) error = cudaStreamSynchronize(c->stream);
        if (error != cudaSuccess) return copy_failed(error);
        memcpy((char *)host + at, c->stage, part);
    }
    return pbd_ok();
}

pbd_status cuda_run(void *self, const pbd_kernel *kernel, size_t n, const void *args, double work) {
    (void)work;
    cudaError_t error = (cudaError_t)kernel->cuda(args, n, ((cuda *)self)->stream);
    return error == cudaSuccess ? pbd_ok()
                                : pbd_error(PBD_FAILED, "CUDA: launching kernel %s over %zu items failed: %s",
                                            kernel->name, n, cudaGetErrorString(error));
}

pbd_status cuda_wait(void *self) {
    cudaError_t error = cudaStreamSynchronize(((cuda *)self)->stream);
    return error == cudaSuccess ? pbd_ok() : failed(error, "a kernel");
}

/* ---- Sort and scan, by CUB --------------------------------------------------------------------------------------- */

size_t rounded_up(size_t bytes) { return (bytes + 255) / 256 * 256; }

/* scratch: room for the pairs, then the memory of CUB, which sorts from one pair of columns into the other and back. An
 * odd number of passes ends in scratch. */
pbd_status cuda_sort_pairs(void *self, uint32_t *keys, uint32_t *values, size_t n, int bits, void *scratch,
                           size_t *bytes) {
    cudaStream_t stream = ((cuda *)self)->stream;
    const size_t column = rounded_up(n * sizeof *keys);
    cub::DoubleBuffer<uint32_t> key(keys, (uint32_t *)scratch);
    cub::DoubleBuffer<uint32_t> value(values, (uint32_t *)((char *)scratch + column));
    size_t own = 0;
    cudaError_t error = cub::DeviceRadixSort::SortPairs(nullptr, own, key, value, (int)n, 0, bits, stream);
    *bytes = 2 * column + own;
    if (!scratch || error != cudaSuccess) return error == cudaSuccess ? pbd_ok() : failed(error, "asking for a sort");
    error = cub::DeviceRadixSort::SortPairs((char *)scratch + 2 * column, own, key, value, (int)n, 0, bits, stream);
    if (error == cudaSuccess && key.Current() != keys)
        error = cudaMemcpyAsync(keys, key.Current(), n * sizeof *keys, cudaMemcpyDeviceToDevice, stream);
    if (error == cudaSuccess && value.Current() != values)
        error = cudaMemcpyAsync(values, value.Current(), n * sizeof *values, cudaMemcpyDeviceToDevice, stream);
    return error == cudaSuccess ? pbd_ok() : failed(error, "a sort");
}

struct sum_in_full {
    __host__ __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a + b; }
};

/* scratch: the total, then the memory of CUB. values[n] is set to 0 first, so that the scan leaves the total there. */
pbd_status cuda_scan(void *self, uint32_t *values, size_t n, uint64_t *total, void *scratch, size_t *bytes) {
    cudaStream_t stream = ((cuda *)self)->stream;
    const size_t head = rounded_up(sizeof *total);
    uint64_t *sum = (uint64_t *)scratch;
    void *rest = scratch ? (char *)scratch + head : nullptr;
    size_t sum_bytes = 0, scan_bytes = 0;
    cudaError_t error =
        cub::DeviceReduce::Reduce(nullptr, sum_bytes, values, sum, (int)n, sum_in_full{}, (uint64_t)0, stream);
    if (error == cudaSuccess)
        error = cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes, values, values, (int)n + 1, stream);
    *bytes = head + (sum_bytes > scan_bytes ? sum_bytes : scan_bytes);
    if (!scratch || error != cudaSuccess) return error == cudaSuccess ? pbd_ok() : failed(error, "asking for a scan");
    if (total)
        error = cub::DeviceReduce::Reduce(rest, sum_bytes, values, sum, (int)n, sum_in_full{}, (uint64_t)0, stream);
    if (error == cudaSuccess) error = cudaMemsetAsync(values + n, 0, sizeof *values, stream);
    if (error == cudaSuccess)
        error = cub::DeviceScan::ExclusiveSum(rest, scan_bytes, values, values, (int)n + 1, stream);
    if (error != cudaSuccess) return failed(error, "a scan");
    return total ? cuda_download(self, total, sum, sizeof *total) : pbd_ok();
}

pbd_status cuda_timer_begin(void *self) {
    cuda *c = (cuda *)self;
    cudaError_t error = cudaEventRecord(c->begun, c->stream);
    return error == cudaSuccess ? pbd_ok() : failed(error, "starting the timer");
}

pbd_status cuda_timer_end(void *self, double *seconds) {
    cuda *c = (cuda *)self;
    float milliseconds = 0;
    cudaError_t error = cudaEventRecord(c->ended, c->stream);
    if (error == cudaSuccess) error = cudaEventSynchronize(c->ended);
    if (error == cudaSuccess) error = cudaEventElapsedTime(&milliseconds, c->begun, c->ended);
    *seconds = 1e-3 * milliseconds;
    return error == cudaSuccess ? pbd_ok() : failed(error, "a timed kernel");
}

/* ---- Repeats, as CUDA graphs ------------------------------------------------------------------------------------- */

/* Captures the stream, so that the graph consists of the launches of cuda_run. */
pbd_status cuda_join(void *self, const pbd_launch *launch, size_t count, void **joined) {
    cudaStream_t stream = ((cuda *)self)->stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        for (size_t i = 0; i < count && error == cudaSuccess; i++)
            error = (cudaError_t)launch[i].kernel->cuda(launch[i].args, launch[i].n, stream);
        const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
        if (error == cudaSuccess) error = ended;
    }
    if (error == cudaSuccess) error = cudaGraphInstantiateWithFlags(&exec, graph, 0);
    if (graph) cudaGraphDestroy(graph);
    *joined = exec;
    if (error == cudaSuccess) return pbd_ok();
    cudaGetLastError(); /* the launches are made one by one instead */
    return failed(error, "making a graph");
}

pbd_status cuda_replay(void *self, void *joined) {
    const cudaError_t error = cudaGraphLaunch((cudaGraphExec_t)joined, ((cuda *)self)->stream);
    return error == cudaSuccess ? pbd_ok() : failed(error, "launching a graph");
}

void cuda_part(void *self, void *joined) {
    (void)self;
    cudaGraphExecDestroy((cudaGraphExec_t)joined);
}

}  // namespace

extern "C" {
const char *pbd_cuda_missing(void) { return device().missing; }
const char *pbd_cuda_device(void) { return device().name; }
const char *pbd_cuda_bus(void) { return device().bus; }
extern const pbd_backend_ops pbd_cuda_ops = {
    cuda_open, cuda_close, cuda_alloc,       cuda_release,   cuda_upload, cuda_download, cuda_run, cuda_sort_pairs,
    cuda_scan, cuda_wait,  cuda_timer_begin, cuda_timer_end, cuda_join,   cuda_replay,   cuda_part};
}
