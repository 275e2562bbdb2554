/* |z| <= half[2], unbounded in x and y, with round holes of radius half[0] on a square lattice of pitch 2 half[1], one
 * at the centre. */
#if defined(COLLIDER_SHAPE)
COLLIDER_SHAPE(PERFORATED_PLATE, perforated_plate)
#elif defined(V)

/* A rectangle in (distance from the axis of the nearest hole, z). */
PBD_FN V(collider_gap) V(perforated_plate_gap)(const real half[3], V(vec3) x) {
    const real pitch = 2 * half[1], before = (real)0.5;
    const V(vec3) off = V(vec3_make)(x.x - pitch * V(real_floor)(x.x / pitch + before),
                                     x.y - pitch * V(real_floor)(x.y / pitch + before), x.z);
    const V(real) one = V(real_set)(1);
    const V(collider_gap) gap = V(gap_of_faces)(
        V(vec3_make)(half[0] - V(axis_distance)(off), V(real_set)(-half[0] - half[2]), V(real_abs)(x.z) - half[2]),
        V(vec3_make)(-one, one, V(real_sign)(x.z)));
    return V(gap_about_axis)(off, gap.distance, gap.normal.x, gap.normal.z);
}

#else

static pbd_status perforated_plate_check(const double half[3], const char *who) {
    if (half[0] < half[1]) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "%s has holes of radius %g m, %g m apart: nothing remains of the plate", who,
                     half[0], 2 * half[1]);
}

/* Unbounded along x and y. */
static void perforated_plate_extent(const collider_solid *s, double extent[3]) {
    extent[0] = extent[1] = 0;
    extent[2] = s->half[2];
}

/* The holes around its centre, on both faces. */
static pbd_status perforated_plate_outline(const collider_solid *s, const collider_pen *pen) {
    for (int i = -2; i <= 2; i++)
        for (int j = -2; j <= 2; j++)
            for (int face = -1; face <= 1; face += 2)
                PBD_TRY(draw_circle(pen, 2, (double[3]){2 * s->half[1] * i, 2 * s->half[1] * j, face * s->half[2]},
                                    s->half[0]));
    return pbd_ok();
}

static const collider_shape perforated_plate_shape = {
    .name = "perforated plate",
    .size = {{"radius of holes", 0, ABOVE_0}, {"half-distance of holes", 1, ABOVE_0}, {"half-width", 2, ABOVE_0}},
    .check = perforated_plate_check,
    .extent = perforated_plate_extent,
    .outline = perforated_plate_outline};
#endif
