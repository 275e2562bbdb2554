/* A surface of revolution, |z| <= half[2], whose radius varies linearly from half[0] in the middle to half[1] at the
 * ends. As a container: an hourglass, or with a plane a funnel. */
#if defined(COLLIDER_SHAPE)
COLLIDER_SHAPE(HOURGLASS, hourglass)
#elif defined(V)

/* In the half plane (distance from the axis, |z|): the side from (half[0], 0) to (half[1], half[2]), and the flat end
 * at half[2]. */
PBD_FN V(collider_gap) V(hourglass_gap)(const real half[3], V(vec3) x) {
    const V(real) zero = V(real_set)(0), one = V(real_set)(1), radial = V(axis_distance)(x), z = V(real_abs)(x.z);
    const real widening = half[1] - half[0], slope = real_sqrt(widening * widening + half[2] * half[2]);
    const V(real) along = ((radial - half[0]) * widening + z * half[2]) / (slope * slope);
    const V(real) at = V(real_max)(zero, V(real_min)(one, along));
    const V(real) side_r = radial - half[0] - at * widening, side_z = z - at * half[2];
    const V(real) end_r = V(real_max)(radial - half[1], zero), end_z = z - half[2];
    const V(real) to_side = side_r * side_r + side_z * side_z, to_end = end_r * end_r + end_z * end_z;
    const V(mask) is_end = to_end < to_side;
    const V(mask) inside = (z < half[2]) & (radial * half[2] < half[0] * half[2] + widening * z);
    const V(real) length = V(real_sqrt)(V(real_where)(is_end, to_end, to_side));
    const V(real) sign = V(real_where)(inside, -one, one);
    const V(mask) off = length > 0;
    const V(real) divisor = V(real_where)(off, length, one);
    const V(real) outward = V(real_where)(off, sign * V(real_where)(is_end, end_r, side_r) / divisor,
                                          V(real_where)(is_end, zero, V(real_set)(half[2] / slope)));
    const V(real) up = V(real_where)(off, sign * V(real_where)(is_end, end_z, side_z) / divisor,
                                     V(real_where)(is_end, one, V(real_set)(-widening / slope)));
    return V(gap_about_axis)(x, sign * length, outward, up * V(real_sign)(x.z));
}

#else

static pbd_status hourglass_check(const double half[3], const char *who) {
    if (half[0] > 0 || half[1] > 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "%s has the radius 0 m in the middle and at the ends: one must be above 0", who);
}

static void hourglass_extent(const collider_solid *s, double extent[3]) {
    extent[0] = extent[1] = fmax(s->half[0], s->half[1]);
    extent[2] = s->half[2];
}

/* Four lines along the side from the middle to each end, and the circles in the middle and at the ends. */
static pbd_status hourglass_outline(const collider_solid *s, const collider_pen *pen) {
    for (int quarter = 0; quarter < 4; quarter++)
        for (int end = -1; end <= 1; end += 2) {
            double middle[3], rim[3];
            on_circle(quarter, s->half[0], 0, middle);
            on_circle(quarter, s->half[1], end * s->half[2], rim);
            PBD_TRY(pen->line(pen->to, middle, rim));
        }
    for (int end = -1; end <= 1; end++)
        PBD_TRY(draw_circle(pen, 2, (double[3]){0, 0, end * s->half[2]}, s->half[end ? 1 : 0]));
    return pbd_ok();
}

static const collider_shape hourglass_shape = {.name = "hourglass",
                                               .size = {{"radius in the middle", 0, AT_LEAST_0},
                                                        {"radius at the ends", 1, AT_LEAST_0},
                                                        {"half-length", 2, ABOVE_0}},
                                               .check = hourglass_check,
                                               .extent = hourglass_extent,
                                               .outline = hourglass_outline};
#endif
