/* Google Benchmark reads its flags from the environment while it is loaded, before main. Its flag `v` is the variable
 * V, which Makefiles use: V=a writes errors before any verb is known, V=1 a log. What stands in .preinit_array runs
 * before shared libraries are initialised, so V is taken away there, also for child processes. */

/* A sanitizer may not be ready yet. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void take_v_away(int argc, char **argv,
                                                                                       char **environment) {
    (void)argc, (void)argv;
    char **kept = environment;
    for (char **at = environment; *at; at++)
        if ((*at)[0] != 'V' || (*at)[1] != '=') *kept++ = *at;
    *kept = 0;
}

typedef void at_load(int argc, char **argv, char **environment);
__attribute__((section(".preinit_array"), used)) static at_load *const first = take_v_away;
