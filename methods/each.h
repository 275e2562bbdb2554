/* PBD_EACH(F, a, b, c) is F(a) F(b) F(c); PBD_EACH_WITH(F, x, a, b) is F(x, a) F(x, b). Up to 64 of them. */
#ifndef PBD_EACH_H
#define PBD_EACH_H

#define PBD_EACH(F, ...) PBD_RESCAN(PBD_EACH_NEXT(F, __VA_ARGS__))
#define PBD_EACH_NEXT(F, first, ...) F(first) __VA_OPT__(PBD_EACH_REST PBD_LATER(F, __VA_ARGS__))
#define PBD_EACH_REST() PBD_EACH_NEXT
#define PBD_EACH_WITH(F, x, ...) PBD_RESCAN(PBD_WITH_NEXT(F, x, __VA_ARGS__))
#define PBD_WITH_NEXT(F, x, first, ...) F(x, first) __VA_OPT__(PBD_WITH_REST PBD_LATER(F, x, __VA_ARGS__))
#define PBD_WITH_REST() PBD_WITH_NEXT
#define PBD_LATER () /* stops the expansion until the next scan: each scan handles one more, 64 suffice */
#define PBD_RESCAN(...) PBD_RESCAN_4(PBD_RESCAN_4(PBD_RESCAN_4(PBD_RESCAN_4(__VA_ARGS__))))
#define PBD_RESCAN_4(...) PBD_RESCAN_16(PBD_RESCAN_16(PBD_RESCAN_16(PBD_RESCAN_16(__VA_ARGS__))))
#define PBD_RESCAN_16(...) PBD_RESCAN_64(PBD_RESCAN_64(PBD_RESCAN_64(PBD_RESCAN_64(__VA_ARGS__))))
#define PBD_RESCAN_64(...) __VA_ARGS__

#endif
