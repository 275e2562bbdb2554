/* How often a run is sampled for balances and residuals. */
#ifndef PBD_SAMPLE_STRIDE_H
#define PBD_SAMPLE_STRIDE_H

/* Steps between samples: 64, or more if a run of `steps` steps would have more than 256 samples. */
static inline long pbd_sample_stride(long steps) { return steps / 256 > 64 ? steps / 256 : 64; }

#endif
