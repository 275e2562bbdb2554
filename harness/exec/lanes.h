/* Lanes, blocks, barriers and shared memory for kernel bodies, on each of the three backends. */
#ifndef PBD_LANES_H
#define PBD_LANES_H

#include "harness/exec/real.h"

/* Threads per block and lanes per tile on a GPU. Eight lanes suit the 20 to 40 neighbours of these methods: with 32,
 * most lanes would idle at the end of each list. A CUDA build may set others (PBD_GPU_BLOCK and PBD_GPU_LANES of
 * CMake); the emulation uses these. */
#if !defined(PBD_BLOCK)
#define PBD_BLOCK 128
#endif
#if !defined(PBD_GPU_LANES)
#define PBD_GPU_LANES 8
#endif
/* The lanes of this thread's tile, as a mask of its warp. */
#define PBD_TILE_MASK (0xffffffffu >> (32 - PBD_GPU_LANES) << (threadIdx.x % 32 / PBD_GPU_LANES * PBD_GPU_LANES))

#if defined(__CUDACC__)

#define PBD_LANES PBD_GPU_LANES
#define PBD_LANE ((int)(threadIdx.x % PBD_GPU_LANES))
/* Tiles of a block, and which of them this thread is in. */
#define PBD_TILES (PBD_BLOCK / PBD_GPU_LANES)
#define PBD_TILE_IN_BLOCK (threadIdx.x / PBD_GPU_LANES)
#define PBD_BATCH 1
#define PBD_BARRIER() __syncthreads()
/* An array of the block, aligned to 16 bytes. Kernel bodies are compiled for the host too, which never runs them. */
#if defined(__CUDA_ARCH__)
#define PBD_SHARED(type, name, count) __shared__ __align__(16) type name[count]
#else
#define PBD_SHARED(type, name, count) type *name = nullptr
#endif
/* The value of v in lane PBD_LANE xor `other` of this tile. */
PBD_FN real lane_exchange(real v, int other) {
#if defined(__CUDA_ARCH__)
    return __shfl_xor_sync(PBD_TILE_MASK, v, other);
#else
    (void)other;
    return v;
#endif
}

/* Loads *from by the read-only path, so that stores in between do not delay it. Nothing may write it in the launch. */
#if defined(__CUDA_ARCH__)
#define PBD_READ_ONLY(from) __ldg(from)
#else
#define PBD_READ_ONLY(from) (*(from))
#endif

#elif defined(PBD_EMULATE)

#define PBD_READ_ONLY(from) (*(from))
#include "harness/exec/emu.h"
#define PBD_LANES PBD_GPU_LANES
#define PBD_LANE ((int)(threadIdx.x % PBD_GPU_LANES))
#define PBD_TILES (PBD_BLOCK / PBD_GPU_LANES)
#define PBD_TILE_IN_BLOCK (threadIdx.x / PBD_GPU_LANES)
#define PBD_BATCH 1
#define PBD_BARRIER() pbd_emu_barrier()
#define PBD_SHARED(type, name, count) type *name = (type *)pbd_emu_shared(sizeof(type) * (count))

#else

#define PBD_LANES 1
#define PBD_LANE 0
#define PBD_TILES 1
#define PBD_TILE_IN_BLOCK 0
/* Constraints per SIMD batch: one vector of 64 bytes with AVX-512, of 32 without. REAL is float or double. */
#define PBD_REAL_IS_float 1
#define PBD_REAL_IS_double 0
#define PBD_IS_FLOAT PBD_PASTE(PBD_REAL_IS, REAL)
#if defined(__AVX512F__)
#define PBD_BATCH (PBD_IS_FLOAT ? 16 : 8)
#else
#define PBD_BATCH (PBD_IS_FLOAT ? 8 : 4)
#endif
#if defined(__AVX2__)
#define PBD_BATCH_TRANSPOSED PBD_IS_FLOAT
#else
#define PBD_BATCH_TRANSPOSED 0
#endif
#define PBD_BARRIER() ((void)0)
#define PBD_SHARED(type, name, count) _Alignas(64) type name[count]

#endif
#endif
