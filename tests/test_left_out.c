/* A figure with runs on a backend that this machine or build lacks: these runs are left out with a message, claims that
 * need them are not judged and keep their accepted verdicts, and the rest of the figure is made. Runs from a machine
 * with the backend are used if the store has them. */
#include "tests/paper.h"

#include "tests/ladder.h"

#include "harness/run/run_plan.h"

static const char mixed[] =
    "figure: tiny-gpu\n"
    "paper: tiny\n"
    "title: One cube on two backends\n"
    "seconds: 2\n"
    "runs:\n"
    "  - {name: fit, case: hex_fit, method: pbd_distance, threads: 1, axes: [\"nu=0,0.2,0.4\"]}\n"
    "  - {name: gpu, case: hex_fit, method: pbd_distance, threads: 1, backend: cuda, axes: [\"nu=0,0.2\"]}\n"
    "tables:\n"
    "  - {name: either, sql: \"SELECT nu, k_edge FROM fit UNION ALL SELECT nu, k_edge FROM gpu\"}\n"
    "data:\n"
    "  - {name: both, sql: \"SELECT nu, k_edge FROM either ORDER BY nu\"}\n"
    "  - {name: fitted, sql: \"SELECT nu, k_edge FROM fit ORDER BY nu\"}\n"
    "  - {name: fitted_there, sql: \"SELECT nu, k_edge FROM gpu ORDER BY nu\"}\n"
    "plots: [tiny-gpu.png, tiny-gpu-alone.png]\n"
    "claims:\n"
    "  - {id: c.here, says: a, runs: [fit], sql: SELECT max(k_edge) AS value FROM fit, reproduced: '> 0'}\n"
    "  - {id: c.there, says: b, runs: [gpu], sql: SELECT max(k_edge) AS value FROM gpu, reproduced: '> 9', partly: '> "
    "0'}\n"
    "  - {id: c.both, says: c, sql: \"SELECT max(g.k_edge) AS value FROM gpu g, fit\", reproduced: '> 9'}\n";

static const char script[] =
    "load style\n"
    "set output out . '/tiny-gpu.png'\n"
    "plot data . '/fitted.tsv' using 1:2 with linespoints ls 1 title 'fit', \\\n"
    "     data . '/fitted_there.tsv' using 1:2 with linespoints ls 2 title 'gpu'\n"
    "set output out . '/tiny-gpu-alone.png'\n"
    "plot data . '/fitted_there.tsv' using 1:2 with linespoints ls 2 title 'gpu'\n";

static const char *const sentence = "group 'gpu' is skipped (2 runs): backend cuda is not available: ";

static int make_mixed_paper(void **state) {
    setenv("CUDA_VISIBLE_DEVICES", "", 1); /* also on a machine with a GPU */
    if (make_paper(state) != 0 || mkdir(in_workplace("plots/tiny-gpu"), 0777) != 0) return -1;
    write_text("plots/tiny-gpu/figure.yaml", mixed);
    write_text("plots/tiny-gpu/plot.gp", script);
    return 0;
}

static void test_the_rest_is_made(void **state) {
    (void)state;
    told answer = tell("reproduce", "tiny-gpu", DB("rest.db"));
    expect_code(answer, 0);
    expect_says(answer.out, sentence);
    expect_says(answer.out, "reproduced      c.here  = 0.0");
    expect_says(answer.out, "not judged      c.there\n");
    expect_says(answer.out, "not judged      c.both\n");
    expect_says(answer.out, "not judged here: group 'gpu' is skipped");
    assert_string_equal(answer.err, "");
    assert_int_equal(count_runs("rest.db"), 3);
    assert_int_equal(count_rows("rest.db", "SELECT count(*) FROM claim_result"), 1);
    forget(&answer);
    answer = tell("reproduce", "tiny-gpu", "--again", "-q", DB("rest.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "tiny-gpu: 1 reproduced, 2 not judged\n");
    assert_int_equal(count_runs("rest.db"), 6);
    forget(&answer);
}

/* A picture of runs on the other backend only is not drawn, with a warning; a picture of both backends is drawn without
 * those runs. */
static void test_pictures(void **state) {
    (void)state;
    if (system("command -v gnuplot >/dev/null") != 0) skip();
    told answer = tell("reproduce", "tiny-gpu", "--db", in_workplace("draw.db"), "--out", in_workplace("drawn"));
    expect_code(answer, 0);
    expect_says(answer.out, "warning: no picture, because groups were skipped: ");
    forget(&answer);
    char *data = read_text(in_workplace("drawn/tiny-gpu/fitted_there.tsv"));
    assert_string_equal(data, "nu\tk_edge\n");
    free(data);
    data = read_text(in_workplace("drawn/tiny-gpu/both.tsv")); /* a query over both returns the existing rows */
    char *alone_data = read_text(in_workplace("drawn/tiny-gpu/fitted.tsv"));
    assert_string_equal(data, alone_data);
    free(data);
    free(alone_data);
    write_text("plots/tiny-gpu/plot.gp", plot_gp);
    answer = tell("reproduce", "tiny-gpu", "--db", in_workplace("draw.db"), "--out", in_workplace("drawn"));
    expect_code(answer, 0); /* plot_gp draws another picture, and neither of the two expected ones */
    expect_says(answer.out, "did not draw it");
    forget(&answer);
    char *first = strdup(script), *alone = strstr(first, "set output out . '/tiny-gpu-alone.png'\n");
    *alone = '\0';
    write_text("plots/tiny-gpu/plot.gp", first);
    free(first);
    answer = tell("reproduce", "tiny-gpu", "--db", in_workplace("draw.db"), "--out", in_workplace("drawn"));
    expect_code(answer, 0);
    expect_says(answer.out, in_workplace("drawn/tiny-gpu.png"));
    assert_true(exists("drawn/tiny-gpu.png"));
    forget(&answer);
    write_text("plots/tiny-gpu/plot.gp", script);
}

static void test_machines_are_told(void **state) {
    (void)state;
    told answer = tell("reproduce", "tiny-gpu", "--json", DB("told.db"));
    expect_code(answer, 0);
    json_t *figure = parse_line(answer.out);
    const json_t *there = claim_named(figure, "c.there"), *warnings = json_object_get(figure, "warnings");
    assert_string_equal(string_of(there, "verdict"), "not_run");
    assert_true(json_is_null(json_object_get(there, "value")));
    expect_says(string_of(there, "note"), sentence);
    assert_string_equal(string_of(claim_named(figure, "c.here"), "verdict"), "reproduced");
    bool found = false;
    for (size_t i = 0; i < json_array_size(warnings); i++)
        found = found || strncmp(json_string_value(json_array_get(warnings, i)), sentence, strlen(sentence)) == 0;
    assert_true(found);
    assert_int_equal(json_array_size(json_object_get(figure, "errors")), 0);
    json_decref(figure);
    forget(&answer);
}

static void test_a_forecast_leaves_them_out(void **state) {
    (void)state;
    told answer = tell("reproduce", "tiny-gpu", "tiny-fig1", "--dry-run", DB("none.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "tiny-gpu: 5 runs, 0 stored, 3 to make");
    expect_says(answer.out, "  gpu: 2 runs, 0 to make\n");
    expect_says(answer.out, sentence);
    expect_says(answer.out, "together: 7 different runs, 5 to make"); /* tiny-fig1 has the same three, and two more */
    forget(&answer);
    answer = tell("reproduce", "tiny-gpu", "--dry-run", "--json", DB("none.db"));
    json_t *forecast = parse_line(answer.out);
    assert_int_equal(json_integer_value(json_object_get(forecast, "to_make")), 3);
    assert_int_equal(json_integer_value(json_object_get(forecast, "left_out")), 2);
    assert_int_equal(json_array_size(json_object_get(forecast, "labels")), 3);
    json_decref(forecast);
    forget(&answer);
    assert_false(exists("none.db"));
}

/* `sweep` accepts the file that --sweep writes; runs that cannot run here are comments in it. */
static void test_a_sweep_leaves_them_out(void **state) {
    (void)state;
    told answer = tell("reproduce", "tiny-gpu", "--sweep", in_workplace("here.yaml"), DB("here.db"));
    expect_code(answer, 0);
    forget(&answer);
    char *file = read_text(in_workplace("here.yaml"));
    expect_says(file, "  # gpu of tiny-gpu is left out: backend cuda is not available: ");
    free(file);
    answer = tell("sweep", in_workplace("here.yaml"), "--db", in_workplace("here.db"));
    expect_code(answer, 0);
    forget(&answer);
    assert_int_equal(count_runs("here.db"), 3);
}

/* The accepted verdict of a claim that cannot be judged here does not count as different, and --accept keeps it. */
static void test_what_was_accepted_stands(void **state) {
    (void)state;
    write_text("plots/tiny-gpu/verdicts.csv", "claim,verdict\nc.here,partly\nc.there,partly\n");
    told answer = tell("reproduce", "tiny-gpu", DB("accept.db"));
    expect_code(answer, 3);
    expect_says(answer.out, "DIFFERS: c.here is reproduced; accepted: partly");
    assert_null(strstr(answer.out, "DIFFERS: c.there"));
    assert_null(strstr(answer.out, "DIFFERS: c.both"));
    forget(&answer);
    answer = tell("reproduce", "tiny-gpu", "--accept", DB("accept.db"));
    expect_code(answer, 0);
    char *verdicts = read_text(in_workplace("plots/tiny-gpu/verdicts.csv"));
    assert_string_equal(verdicts, "claim,reading,verdict\n\"c.here\",,\"reproduced\"\n\"c.there\",,\"partly\"\n");
    free(verdicts);
    forget(&answer);
    answer = tell("reproduce", "tiny-gpu", DB("accept.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "all 1 verdicts that could be judged are as accepted");
    forget(&answer);
    unlink(in_workplace("plots/tiny-gpu/verdicts.csv"));
}

/* Puts a run of the cuda backend into the store, as `db merge` would: its description and one metric. */
static void plant_run(pbd_store *store, const char *nu, double k_edge) {
    pbd_setting setting;
    pbd_plan plan = {0};
    pbd_result result = {0};
    pbd_machine_sample sample;
    char word[40];
    snprintf(word, sizeof word, "nu=%s", nu);
    check_ok(pbd_setting_parse(word, &setting));
    const pbd_request request = {.case_name = "hex_fit",
                                 .method_name = "pbd_distance",
                                 .backend = "cuda",
                                 .elsewhere = true,
                                 .threads = 1,
                                 .seed = 1,
                                 .setting = &setting,
                                 .settings = 1};
    check_ok(pbd_plan_add(&plan, &request, 0));
    check_ok(pbd_describe_run(&plan.item[0], &result));
    pbd_recorder *recorder = pbd_recorder_create(&result, NULL);
    pbd_metric(recorder, "k_edge", "1", PBD_STATE, k_edge);
    pbd_recorder_destroy(recorder);
    result.state = strdup("ok");
    result.says = strdup("");
    pbd_sample_machine(&sample);
    check_ok(pbd_store_put(store, &result, &sample, &sample));
    pbd_result_free(&result);
    pbd_plan_free(&plan);
    pbd_setting_free(&setting);
}

static void test_runs_of_elsewhere_are_used(void **state) {
    (void)state;
    static char program[] = "pbdbench", *arguments[] = {program, NULL};
    pbd_store *store;
    check_ok(pbd_store_open(in_workplace("merged.db"), PBD_STORE_WRITE, &store));
    check_ok(pbd_store_begin(store, 1, arguments));
    plant_run(store, "0", 0.5);
    pbd_store_close(store);
    told answer = tell("reproduce", "tiny-gpu", DB("merged.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "group 'gpu' is skipped (1 run): backend cuda is not available: ");
    expect_says(answer.out, "not judged      c.there\n"); /* a claim needs the whole group */
    forget(&answer);
    check_ok(pbd_store_open(in_workplace("merged.db"), PBD_STORE_WRITE, &store));
    check_ok(pbd_store_begin(store, 1, arguments));
    plant_run(store, "0.2", 0.75);
    pbd_store_close(store);
    for (int again = 0; again < 2; again++) {
        answer = tell("reproduce", "tiny-gpu", again ? "--again" : "-q", "--json", DB("merged.db"));
        expect_code(answer, 0);
        assert_null(strstr(answer.out, "skipped"));
        json_t *figure = parse_line(answer.out), *there = claim_named(figure, "c.there");
        assert_string_equal(string_of(there, "verdict"), "partly");
        assert_true(json_real_value(json_object_get(there, "value")) == 0.75);
        assert_string_equal(string_of(claim_named(figure, "c.both"), "verdict"), "not_reproduced");
        json_decref(figure);
        forget(&answer);
    }
}

/* A group that needs more processors than any test machine has, and one that needs one. A figure without runs gets no
 * thumbnail. */
static void test_groups_that_need_processors(void **state) {
    (void)state;
    const bool draws = system("command -v gnuplot >/dev/null") == 0;
    write_text("plots/tiny-gpu/plot.gp", "load style\nset output out . '/tiny-gpu.png'\nplot x\n");
    for (int many = 0; many < 2; many++) {
        char text[600];
        snprintf(text, sizeof text,
                 "figure: tiny-gpu\npaper: tiny\ntitle: t\nseconds: 1\nplots: [tiny-gpu.png]\nruns:\n"
                 "  - {name: wide, case: hex_fit, method: pbd_distance, threads: 1, cores: %d, set: [nu=0.2]}\n"
                 "claims:\n"
                 "  - {id: c.wide, says: a, sql: SELECT max(k_edge) AS value FROM wide, reproduced: '> 0'}\n",
                 many ? 4096 : 1);
        write_text("plots/tiny-gpu/figure.yaml", text);
        told answer = tell("reproduce", "tiny-gpu", "--accept", DB("wide.db"));
        expect_code(answer, 0);
        expect_says(answer.out, many ? "group 'wide' is skipped: it needs 4096 processors, and the program may use "
                                     : "reproduced      c.wide");
        assert_int_equal(strstr(answer.out, "not judged      c.wide") != NULL, many);
        assert_int_equal(exists("plots/tiny-gpu/thumbnail.png"), draws && !many);
        unlink(in_workplace("plots/tiny-gpu/thumbnail.png"));
        unlink(in_workplace("plots/tiny-gpu/verdicts.csv"));
        forget(&answer);
    }
    write_text("plots/tiny-gpu/figure.yaml", mixed);
    write_text("plots/tiny-gpu/plot.gp", script);
}

/* Mistakes in the file are still refused, and so is an unavailable backend that the user asks for explicitly. */
static void test_what_is_still_refused(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"backend: cudaa", "unknown backend 'cudaa'; did you mean 'cuda'"},
        {"backend: cuda, method: fem_linear", "method fem_linear does not run on backend cuda"}};
    char text[400];
    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "figure: tiny-gpu\npaper: tiny\ntitle: t\nruns:\n  - {name: gpu, case: hex_fit, %s%s}\n", bad[i][0],
                 i == 0 ? ", method: pbd_distance" : "");
        write_text("plots/tiny-gpu/figure.yaml", text);
        told answer = tell("reproduce", "tiny-gpu", DB("slip.db"));
        expect_code(answer, 2);
        expect_says(answer.err, bad[i][1]);
        assert_false(exists("slip.db"));
        forget(&answer);
    }
    write_text("plots/tiny-gpu/figure.yaml", mixed);
    write_text("sweep.yaml", "runs:\n  - {name: gpu, case: hex_fit, method: pbd_distance, backend: cuda}\n");
    told answer = tell("sweep", in_workplace("sweep.yaml"), "--db", in_workplace("slip.db"));
    expect_code(answer, 2);
    expect_says(answer.err, "backend cuda is not available: ");
    forget(&answer);
    answer = tell("run", "hex_fit", "-m", "pbd_distance", "-b", "cuda", "--db", in_workplace("slip.db"));
    expect_code(answer, 2);
    expect_says(answer.err, "backend cuda is not available: ");
    forget(&answer);
    assert_false(exists("slip.db"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_rest_is_made),           cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_machines_are_told),          cmocka_unit_test(test_a_forecast_leaves_them_out),
        cmocka_unit_test(test_a_sweep_leaves_them_out),    cmocka_unit_test(test_what_was_accepted_stands),
        cmocka_unit_test(test_runs_of_elsewhere_are_used), cmocka_unit_test(test_groups_that_need_processors),
        cmocka_unit_test(test_what_is_still_refused),
    };
    return cmocka_run_group_tests(tests, make_mixed_paper, remove_workplace);
}
