/* How often a run is sampled for what is judged at its end. */
#ifndef PBD_SAMPLE_STRIDE_H
#define PBD_SAMPLE_STRIDE_H

/* Steps from sample to sample: 64, and more where a run of `steps` would have more than 256 samples. */
static inline long pbd_sample_stride(long steps) { return steps / 256 > 64 ? steps / 256 : 64; }

#endif
