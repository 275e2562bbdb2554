-- The store of pbdbench: who ran what, where, when, and with which result.
--
-- Everything about a run is content-addressed: build_id, env_id, invocation_id and run_id are XXH128 hashes (32 hex
-- digits) of the rows' content, so that stores made on different machines merge without renumbering and a changed
-- number is found by `pbdbench db check`. Rows are never changed or deleted; the triggers at the end see to that.
--
-- Numbers. A NaN is NULL in a REAL column (SQLite has no NaN); infinities are kept. -0.0 is kept as 0.0. Seeds, counts
-- and calls are 64-bit unsigned numbers in two's complement: above 2^63 plain SQL shows them negative.
--
-- Tables are WITHOUT ROWID, since INSERT OR REPLACE with a known rowid would delete a row of another key unnoticed.

PRAGMA application_id = 1346520130; -- "PBDB"
PRAGMA user_version = 2; -- 1 lacks table about and the state unphysical: open.c migrates it

-- ---- Where a run comes from -----------------------------------------------------------------------------------------

CREATE TABLE build (
    build_id TEXT PRIMARY KEY,
    git_sha  TEXT NOT NULL,    -- 40 hex digits, or 'unknown'
    dirty    INTEGER NOT NULL, -- 1: tracked files differed from that commit
    source   TEXT NOT NULL,    -- hash of the sources as compiled: equal sources, equal results
    compiler TEXT NOT NULL,
    flags    TEXT NOT NULL,
    preset   TEXT NOT NULL,
    licence  TEXT NOT NULL,    -- of the binary, with the libraries it was linked to
    version  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE env ( -- a machine
    env_id      TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL, -- what runs are looked up by
    cpu         TEXT NOT NULL,
    os          TEXT NOT NULL,
    isa         TEXT NOT NULL, -- widest SIMD
    packages    INTEGER NOT NULL,
    cores       INTEGER NOT NULL,
    threads     INTEGER NOT NULL,
    l1d_kib     INTEGER NOT NULL,
    l2_kib      INTEGER NOT NULL,
    l3_kib      INTEGER NOT NULL,
    memory_mib  INTEGER NOT NULL,
    gpu         TEXT NOT NULL  -- '' where there is none
) STRICT, WITHOUT ROWID;

CREATE TABLE invocation ( -- a process that opened the store to write; of external runs, the tool's, and how it came in
    invocation_id TEXT PRIMARY KEY,
    argv          TEXT NOT NULL CHECK (json_valid(argv)), -- JSON array
    started_at    TEXT NOT NULL,                          -- UTC, ISO 8601
    pid           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- ---- What is run ----------------------------------------------------------------------------------------------------

CREATE TABLE method (
    name    TEXT PRIMARY KEY,
    summary TEXT NOT NULL,
    source  TEXT NOT NULL -- paper key and equations
) STRICT, WITHOUT ROWID;

CREATE TABLE "case" (
    name    TEXT PRIMARY KEY,
    summary TEXT NOT NULL,
    source  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE cell ( -- case x method x parameters x precision x backend x threads
    cell_id   TEXT PRIMARY KEY, -- hash of the canonical cell
    case_name TEXT NOT NULL REFERENCES "case"(name),
    method    TEXT NOT NULL REFERENCES method(name),
    params    TEXT NOT NULL CHECK (json_valid(params)), -- JSON object, keys sorted; of method and case together
    backend   TEXT NOT NULL,
    precision TEXT NOT NULL CHECK (precision IN ('f32', 'f64', 'unknown')), -- unknown: of another tool
    threads   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX cell_by_name ON cell(case_name, method);

-- ---- Runs -----------------------------------------------------------------------------------------------------------

CREATE TABLE run (
    run_id        TEXT PRIMARY KEY, -- hash of this row, its cell and all rows below that carry it
    cell_id       TEXT NOT NULL REFERENCES cell,
    build_id      TEXT NOT NULL REFERENCES build,
    env_id        TEXT NOT NULL REFERENCES env,
    invocation_id TEXT NOT NULL REFERENCES invocation,
    kind          TEXT NOT NULL CHECK (kind IN ('run', 'bench', 'limit', 'external')), -- see the views below
    repeat        INTEGER NOT NULL, -- 0, 1, ...
    warmups       INTEGER NOT NULL, -- solves before the timed one
    seed          INTEGER NOT NULL, -- unsigned
    started_at    TEXT NOT NULL,    -- UTC, ISO 8601
    state         TEXT NOT NULL
        CHECK (state IN ('ok', 'diverged', 'no_equilibrium', 'not_settled', 'unphysical', 'failed', 'interrupted')),
    says          TEXT NOT NULL     -- the sentence of a state that is not ok; before it, the name of what another
                                    -- program ran: a bench's and an external run's
) STRICT, WITHOUT ROWID;
CREATE INDEX run_by_cell ON run(cell_id, seed, repeat);
CREATE INDEX run_by_start ON run(started_at, kind, state, cell_id); -- the newest, without a look at each row
CREATE INDEX run_by_machine ON run(env_id, kind, started_at, cell_id); -- the newest of each machine

CREATE TABLE env_sample ( -- what changes on a machine; -1: could not be read
    run_id          TEXT NOT NULL REFERENCES run,
    moment          TEXT NOT NULL CHECK (moment IN ('before', 'after')),
    position        INTEGER NOT NULL, -- order in which it was reported; likewise below
    load_1min       REAL,
    clock_mhz       REAL,
    throttle_count  INTEGER NOT NULL,
    memory_free_mib INTEGER NOT NULL,
    PRIMARY KEY (run_id, moment)
) STRICT, WITHOUT ROWID;

CREATE TABLE metric ( -- a number (value; NULL is NaN) or an exact count (count, and value is NULL)
    run_id    TEXT NOT NULL REFERENCES run,
    name      TEXT NOT NULL,
    position  INTEGER NOT NULL,
    unit      TEXT NOT NULL,
    direction TEXT NOT NULL CHECK (direction IN ('neutral', 'lower', 'higher')), -- which is better
    value     REAL,
    count     INTEGER, -- unsigned
    PRIMARY KEY (run_id, name),
    CHECK (value IS NULL OR count IS NULL)
) STRICT, WITHOUT ROWID;

CREATE TABLE series ( -- view series_point has one row per value
    run_id    TEXT NOT NULL REFERENCES run,
    name      TEXT NOT NULL,
    component TEXT NOT NULL, -- 'x', 'y', 'z', or 'value'
    position  INTEGER NOT NULL,
    unit      TEXT NOT NULL,
    "values"  TEXT NOT NULL CHECK (json_valid("values")), -- JSON array; null is NaN, 9e999 and -9e999 infinities
    PRIMARY KEY (run_id, name, component)
) STRICT, WITHOUT ROWID;

CREATE TABLE phase ( -- timings
    run_id   TEXT NOT NULL REFERENCES run,
    name     TEXT NOT NULL, -- build, create, solve, measure; a method's own as 'solve/NAME'
    position INTEGER NOT NULL,
    wall_s   REAL,
    cpu_s    REAL,
    calls    INTEGER NOT NULL, -- unsigned
    PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE warning (
    run_id   TEXT NOT NULL REFERENCES run,
    name     TEXT NOT NULL,
    position INTEGER NOT NULL,
    says     TEXT NOT NULL,    -- the first time's sentence
    count    INTEGER NOT NULL, -- unsigned
    PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

-- ---- What runs are judged by, and the verdicts -------------------------------------------------------------------

CREATE TABLE citation (
    key    TEXT PRIMARY KEY, -- rodero2016
    bibtex TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE reference ( -- an answer from outside the method under test
    case_name   TEXT NOT NULL REFERENCES "case"(name),
    params      TEXT NOT NULL CHECK (json_valid(params)), -- the parameters it holds for
    metric      TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('analytic', 'fem', 'experiment', 'printed')),
    citation    TEXT REFERENCES citation(key),
    unit        TEXT NOT NULL,
    value       REAL,
    uncertainty REAL, -- half-width, in the unit; NULL: not stated
    PRIMARY KEY (case_name, params, metric, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE claim_result ( -- the last verdict of each process on a claim
    figure        TEXT NOT NULL,
    claim         TEXT NOT NULL,
    invocation_id TEXT NOT NULL REFERENCES invocation,
    verdict       TEXT NOT NULL CHECK (verdict IN ('reproduced', 'partly', 'not_reproduced', 'not_run')),
    value         REAL, -- the measured number; NULL: none
    says          TEXT NOT NULL,
    note          TEXT NOT NULL, -- what the number means, or why it was not run
    decided_at    TEXT NOT NULL, -- UTC, ISO 8601
    PRIMARY KEY (figure, claim, invocation_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE claim_run ( -- the runs that a verdict rests on
    figure        TEXT NOT NULL,
    claim         TEXT NOT NULL,
    invocation_id TEXT NOT NULL,
    run_id        TEXT NOT NULL REFERENCES run,
    PRIMARY KEY (figure, claim, invocation_id, run_id),
    FOREIGN KEY (figure, claim, invocation_id) REFERENCES claim_result ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE comparison ( -- two arms timed against each other: `compare` and `gate`
    comparison_id  TEXT PRIMARY KEY, -- hash of the row and its pairs
    invocation_id  TEXT NOT NULL REFERENCES invocation,
    purpose        TEXT NOT NULL CHECK (purpose IN ('compare', 'gate', 'control', 'confirm')),
    name_a         TEXT NOT NULL, -- as the person named them
    name_b         TEXT NOT NULL,
    cell_a         TEXT NOT NULL REFERENCES cell,
    cell_b         TEXT NOT NULL REFERENCES cell,
    build_a        TEXT NOT NULL REFERENCES build,
    build_b        TEXT NOT NULL REFERENCES build,
    env_id         TEXT NOT NULL REFERENCES env,
    clock          TEXT NOT NULL CHECK (clock IN ('cpu', 'wall')),
    margin         REAL NOT NULL,    -- 0.02: 2 %
    seed           INTEGER NOT NULL, -- unsigned
    pairs          INTEGER NOT NULL,
    alpha          REAL, -- of the look it stopped at, two-sided; NULL: no time is claimed
    log_ratio      REAL, -- Hodges-Lehmann estimate of log(b / a); NULL likewise
    low            REAL, -- its interval
    high           REAL,
    bootstrap_low  REAL,
    bootstrap_high REAL,
    verdict        TEXT NOT NULL CHECK (verdict IN ('faster', 'slower', 'same', 'inconclusive', 'errors_differ')),
    says           TEXT NOT NULL,    -- why no time is claimed, else ''
    decided_at     TEXT NOT NULL     -- UTC, ISO 8601
) STRICT, WITHOUT ROWID;
CREATE INDEX comparison_by_cell ON comparison(cell_b, decided_at);

CREATE TABLE comparison_pair ( -- the processes it rests on
    comparison_id TEXT NOT NULL REFERENCES comparison,
    position      INTEGER NOT NULL, -- 0, 1, ...
    first         TEXT NOT NULL CHECK (first IN ('a', 'b')),
    run_a         TEXT NOT NULL REFERENCES run,
    run_b         TEXT NOT NULL REFERENCES run,
    a_s           REAL, -- s, of one solve; NULL where no time is claimed
    b_s           REAL,
    log_ratio     REAL, -- median over the rounds of log(b / a); without rounds log(b_s / a_s)
    rounds        INTEGER NOT NULL, -- in which the two processes took turns
    PRIMARY KEY (comparison_id, position)
) STRICT, WITHOUT ROWID;

-- ---- Views: for people and for figures ------------------------------------------------------------------------------

-- Four kinds of runs, each with its view. A 'run' is a method on a case from start to end, with its errors. A 'bench'
-- is the same cell stepped over and over from one state, for its speed alone (`pbdbench bench`). A 'limit' is a loop
-- that asks how fast the machine is (`pbdbench env --measure`): its "case" is machine_limits, its "method" the loop's
-- name. An 'external' one was measured by another tool and imported (`db import`): its "method" is the tool, its case
-- the benchmark, its backend 'external'.

CREATE VIEW run_view AS
SELECT run.run_id, run.cell_id, cell.case_name, cell.method, cell.params, cell.backend, cell.precision, cell.threads,
    run.repeat, run.warmups, run.seed, run.state, run.says, run.started_at,
    build.git_sha, build.dirty, build.source, build.version, env.fingerprint AS machine, env.cpu
FROM run JOIN cell USING (cell_id) JOIN build USING (build_id) JOIN env USING (env_id)
WHERE run.kind = 'run';

CREATE VIEW bench_view AS -- `name` is Google Benchmark's; rates and fractions are metrics, samples a series
SELECT run.run_id, run.invocation_id, run.cell_id, run.says AS name, cell.case_name, cell.method, cell.params,
    cell.backend, cell.precision, cell.threads, run.repeat, run.state, run.started_at,
    build.git_sha, build.dirty, build.source, env.fingerprint AS machine, env.cpu, env.gpu
FROM run JOIN cell USING (cell_id) JOIN build USING (build_id) JOIN env USING (env_id)
WHERE run.kind = 'bench';

CREATE VIEW limit_view AS -- every measurement; the newest of a machine is the one that counts
SELECT run.run_id, cell.method AS name, cell.backend, cell.precision, cell.threads, cell.params, best.unit,
    best.value AS best, median.value AS median, run.started_at, build.git_sha, build.dirty, build.source,
    env.fingerprint AS machine, env.cpu, env.gpu
FROM run JOIN cell USING (cell_id) JOIN build USING (build_id) JOIN env USING (env_id)
    JOIN metric AS best ON best.run_id = run.run_id AND best.name = 'best'
    JOIN metric AS median ON median.run_id = run.run_id AND median.name = 'median'
WHERE run.kind = 'limit';

CREATE VIEW external_view AS -- `name` is the tool's; times are of one iteration; counters are metrics
SELECT run.run_id, run.says AS name, cell.case_name, cell.method AS tool, cell.params, cell.threads, run.repeat,
    run.state, run.started_at, wall.value AS real_time_s, cpu.value AS cpu_time_s, build.preset AS library_build,
    env.fingerprint AS machine, env.cpu
FROM run JOIN cell USING (cell_id) JOIN build USING (build_id) JOIN env USING (env_id)
    LEFT JOIN metric AS wall ON wall.run_id = run.run_id AND wall.name = 'real_time'
    LEFT JOIN metric AS cpu ON cpu.run_id = run.run_id AND cpu.name = 'cpu_time'
WHERE run.kind = 'external';

CREATE VIEW metric_view AS -- counts as REAL too: exact up to 2^53
SELECT run_id, name, unit,
    CASE WHEN count IS NULL THEN value WHEN count < 0 THEN count + 18446744073709551616.0
         ELSE CAST(count AS REAL) END AS value
FROM metric;

CREATE VIEW series_point AS -- i counts from 0; value is NULL for NaN
SELECT s.run_id, s.name, s.component, j.key AS i, CAST(j.value AS REAL) AS value
FROM series AS s, json_each(s."values") AS j;

-- ---- Runs never change ----------------------------------------------------------------------------------------------
-- A row that is there already, equal in every column, is passed over; one that differs is refused. The INSERT trigger
-- is needed beside the other two because INSERT OR REPLACE deletes without firing a DELETE trigger.

CREATE TRIGGER build_insert BEFORE INSERT ON build
WHEN EXISTS (SELECT 1 FROM build AS h WHERE h.build_id = NEW.build_id)
BEGIN
    SELECT RAISE(IGNORE) FROM build AS h WHERE h.build_id = NEW.build_id
        AND (h.git_sha, h.dirty, h.source, h.compiler, h.flags, h.preset, h.licence, h.version)
         IS (NEW.git_sha, NEW.dirty, NEW.source, NEW.compiler, NEW.flags, NEW.preset, NEW.licence, NEW.version);
    SELECT RAISE(ABORT, 'build: the store holds this key with other content');
END;
CREATE TRIGGER build_update BEFORE UPDATE ON build
BEGIN SELECT RAISE(ABORT, 'build: what belongs to a run never changes'); END;
CREATE TRIGGER build_delete BEFORE DELETE ON build
BEGIN SELECT RAISE(ABORT, 'build: what belongs to a run is never deleted'); END;

CREATE TRIGGER env_insert BEFORE INSERT ON env
WHEN EXISTS (SELECT 1 FROM env AS h WHERE h.env_id = NEW.env_id)
BEGIN
    SELECT RAISE(IGNORE) FROM env AS h WHERE h.env_id = NEW.env_id
        AND (h.fingerprint, h.cpu, h.os, h.isa, h.packages, h.cores, h.threads, h.l1d_kib, h.l2_kib, h.l3_kib,
            h.memory_mib, h.gpu)
         IS (NEW.fingerprint, NEW.cpu, NEW.os, NEW.isa, NEW.packages, NEW.cores, NEW.threads, NEW.l1d_kib, NEW.l2_kib,
            NEW.l3_kib, NEW.memory_mib, NEW.gpu);
    SELECT RAISE(ABORT, 'env: the store holds this key with other content');
END;
CREATE TRIGGER env_update BEFORE UPDATE ON env
BEGIN SELECT RAISE(ABORT, 'env: what belongs to a run never changes'); END;
CREATE TRIGGER env_delete BEFORE DELETE ON env
BEGIN SELECT RAISE(ABORT, 'env: what belongs to a run is never deleted'); END;

CREATE TRIGGER invocation_insert BEFORE INSERT ON invocation
WHEN EXISTS (SELECT 1 FROM invocation AS h WHERE h.invocation_id = NEW.invocation_id)
BEGIN
    SELECT RAISE(IGNORE) FROM invocation AS h WHERE h.invocation_id = NEW.invocation_id
        AND (h.argv, h.started_at, h.pid) IS (NEW.argv, NEW.started_at, NEW.pid);
    SELECT RAISE(ABORT, 'invocation: the store holds this key with other content');
END;
CREATE TRIGGER invocation_update BEFORE UPDATE ON invocation
BEGIN SELECT RAISE(ABORT, 'invocation: what belongs to a run never changes'); END;
CREATE TRIGGER invocation_delete BEFORE DELETE ON invocation
BEGIN SELECT RAISE(ABORT, 'invocation: what belongs to a run is never deleted'); END;

CREATE TRIGGER cell_insert BEFORE INSERT ON cell
WHEN EXISTS (SELECT 1 FROM cell AS h WHERE h.cell_id = NEW.cell_id)
BEGIN
    SELECT RAISE(IGNORE) FROM cell AS h WHERE h.cell_id = NEW.cell_id
        AND (h.case_name, h.method, h.params, h.backend, h.precision, h.threads)
         IS (NEW.case_name, NEW.method, NEW.params, NEW.backend, NEW.precision, NEW.threads);
    SELECT RAISE(ABORT, 'cell: the store holds this key with other content');
END;
CREATE TRIGGER cell_update BEFORE UPDATE ON cell
BEGIN SELECT RAISE(ABORT, 'cell: what belongs to a run never changes'); END;
CREATE TRIGGER cell_delete BEFORE DELETE ON cell
BEGIN SELECT RAISE(ABORT, 'cell: what belongs to a run is never deleted'); END;

CREATE TRIGGER run_insert BEFORE INSERT ON run
WHEN EXISTS (SELECT 1 FROM run AS h WHERE h.run_id = NEW.run_id)
BEGIN
    SELECT RAISE(IGNORE) FROM run AS h WHERE h.run_id = NEW.run_id
        AND (h.cell_id, h.build_id, h.env_id, h.invocation_id, h.kind, h.repeat, h.warmups, h.seed, h.started_at,
            h.state, h.says)
         IS (NEW.cell_id, NEW.build_id, NEW.env_id, NEW.invocation_id, NEW.kind, NEW.repeat, NEW.warmups, NEW.seed,
            NEW.started_at, NEW.state, NEW.says);
    SELECT RAISE(ABORT, 'run: the store holds this key with other content');
END;
CREATE TRIGGER run_update BEFORE UPDATE ON run
BEGIN SELECT RAISE(ABORT, 'run: what belongs to a run never changes'); END;
CREATE TRIGGER run_delete BEFORE DELETE ON run
BEGIN SELECT RAISE(ABORT, 'run: what belongs to a run is never deleted'); END;

CREATE TRIGGER env_sample_insert BEFORE INSERT ON env_sample
WHEN EXISTS (SELECT 1 FROM env_sample AS h WHERE h.run_id = NEW.run_id AND h.moment = NEW.moment)
BEGIN
    SELECT RAISE(IGNORE) FROM env_sample AS h WHERE h.run_id = NEW.run_id AND h.moment = NEW.moment
        AND (h.position, h.load_1min, h.clock_mhz, h.throttle_count, h.memory_free_mib)
         IS (NEW.position, NEW.load_1min, NEW.clock_mhz, NEW.throttle_count, NEW.memory_free_mib);
    SELECT RAISE(ABORT, 'env_sample: the store holds this key with other content');
END;
CREATE TRIGGER env_sample_update BEFORE UPDATE ON env_sample
BEGIN SELECT RAISE(ABORT, 'env_sample: what belongs to a run never changes'); END;
CREATE TRIGGER env_sample_delete BEFORE DELETE ON env_sample
BEGIN SELECT RAISE(ABORT, 'env_sample: what belongs to a run is never deleted'); END;

CREATE TRIGGER metric_insert BEFORE INSERT ON metric
WHEN EXISTS (SELECT 1 FROM metric AS h WHERE h.run_id = NEW.run_id AND h.name = NEW.name)
BEGIN
    SELECT RAISE(IGNORE) FROM metric AS h WHERE h.run_id = NEW.run_id AND h.name = NEW.name
        AND (h.position, h.unit, h.direction, h.value, h.count)
         IS (NEW.position, NEW.unit, NEW.direction, NEW.value, NEW.count);
    SELECT RAISE(ABORT, 'metric: the store holds this key with other content');
END;
CREATE TRIGGER metric_update BEFORE UPDATE ON metric
BEGIN SELECT RAISE(ABORT, 'metric: what belongs to a run never changes'); END;
CREATE TRIGGER metric_delete BEFORE DELETE ON metric
BEGIN SELECT RAISE(ABORT, 'metric: what belongs to a run is never deleted'); END;

CREATE TRIGGER series_insert BEFORE INSERT ON series
WHEN EXISTS (SELECT 1 FROM series AS h
    WHERE h.run_id = NEW.run_id AND h.name = NEW.name AND h.component = NEW.component)
BEGIN
    SELECT RAISE(IGNORE) FROM series AS h
        WHERE h.run_id = NEW.run_id AND h.name = NEW.name AND h.component = NEW.component
        AND (h.position, h.unit, h."values") IS (NEW.position, NEW.unit, NEW."values");
    SELECT RAISE(ABORT, 'series: the store holds this key with other content');
END;
CREATE TRIGGER series_update BEFORE UPDATE ON series
BEGIN SELECT RAISE(ABORT, 'series: what belongs to a run never changes'); END;
CREATE TRIGGER series_delete BEFORE DELETE ON series
BEGIN SELECT RAISE(ABORT, 'series: what belongs to a run is never deleted'); END;

CREATE TRIGGER phase_insert BEFORE INSERT ON phase
WHEN EXISTS (SELECT 1 FROM phase AS h WHERE h.run_id = NEW.run_id AND h.name = NEW.name)
BEGIN
    SELECT RAISE(IGNORE) FROM phase AS h WHERE h.run_id = NEW.run_id AND h.name = NEW.name
        AND (h.position, h.wall_s, h.cpu_s, h.calls) IS (NEW.position, NEW.wall_s, NEW.cpu_s, NEW.calls);
    SELECT RAISE(ABORT, 'phase: the store holds this key with other content');
END;
CREATE TRIGGER phase_update BEFORE UPDATE ON phase
BEGIN SELECT RAISE(ABORT, 'phase: what belongs to a run never changes'); END;
CREATE TRIGGER phase_delete BEFORE DELETE ON phase
BEGIN SELECT RAISE(ABORT, 'phase: what belongs to a run is never deleted'); END;

CREATE TRIGGER warning_insert BEFORE INSERT ON warning
WHEN EXISTS (SELECT 1 FROM warning AS h WHERE h.run_id = NEW.run_id AND h.name = NEW.name)
BEGIN
    SELECT RAISE(IGNORE) FROM warning AS h WHERE h.run_id = NEW.run_id AND h.name = NEW.name
        AND (h.position, h.says, h.count) IS (NEW.position, NEW.says, NEW.count);
    SELECT RAISE(ABORT, 'warning: the store holds this key with other content');
END;
CREATE TRIGGER warning_update BEFORE UPDATE ON warning
BEGIN SELECT RAISE(ABORT, 'warning: what belongs to a run never changes'); END;
CREATE TRIGGER warning_delete BEFORE DELETE ON warning
BEGIN SELECT RAISE(ABORT, 'warning: what belongs to a run is never deleted'); END;

CREATE TRIGGER comparison_insert BEFORE INSERT ON comparison
WHEN EXISTS (SELECT 1 FROM comparison AS h WHERE h.comparison_id = NEW.comparison_id)
BEGIN
    SELECT RAISE(IGNORE) FROM comparison AS h WHERE h.comparison_id = NEW.comparison_id
        AND (h.invocation_id, h.purpose, h.name_a, h.name_b, h.cell_a, h.cell_b, h.build_a, h.build_b, h.env_id,
            h.clock, h.margin, h.seed, h.pairs, h.alpha, h.log_ratio, h.low, h.high, h.bootstrap_low,
            h.bootstrap_high, h.verdict, h.says, h.decided_at)
         IS (NEW.invocation_id, NEW.purpose, NEW.name_a, NEW.name_b, NEW.cell_a, NEW.cell_b, NEW.build_a, NEW.build_b,
            NEW.env_id, NEW.clock, NEW.margin, NEW.seed, NEW.pairs, NEW.alpha, NEW.log_ratio, NEW.low, NEW.high,
            NEW.bootstrap_low, NEW.bootstrap_high, NEW.verdict, NEW.says, NEW.decided_at);
    SELECT RAISE(ABORT, 'comparison: the store holds this key with other content');
END;
CREATE TRIGGER comparison_update BEFORE UPDATE ON comparison
BEGIN SELECT RAISE(ABORT, 'comparison: a comparison never changes'); END;
CREATE TRIGGER comparison_delete BEFORE DELETE ON comparison
BEGIN SELECT RAISE(ABORT, 'comparison: a comparison is never deleted'); END;

CREATE TRIGGER comparison_pair_insert BEFORE INSERT ON comparison_pair
WHEN EXISTS (SELECT 1 FROM comparison_pair AS h WHERE h.comparison_id = NEW.comparison_id AND h.position = NEW.position)
BEGIN
    SELECT RAISE(IGNORE) FROM comparison_pair AS h WHERE h.comparison_id = NEW.comparison_id AND h.position = NEW.position
        AND (h.first, h.run_a, h.run_b, h.a_s, h.b_s, h.log_ratio, h.rounds)
         IS (NEW.first, NEW.run_a, NEW.run_b, NEW.a_s, NEW.b_s, NEW.log_ratio, NEW.rounds);
    SELECT RAISE(ABORT, 'comparison_pair: the store holds this key with other content');
END;
CREATE TRIGGER comparison_pair_update BEFORE UPDATE ON comparison_pair
BEGIN SELECT RAISE(ABORT, 'comparison_pair: a comparison never changes'); END;
CREATE TRIGGER comparison_pair_delete BEFORE DELETE ON comparison_pair
BEGIN SELECT RAISE(ABORT, 'comparison_pair: a comparison is never deleted'); END;

-- ---- Since version 2 -------------------------------------------------------------------------------------------------

CREATE TABLE IF NOT EXISTS about ( -- summaries and sources may change, so no run's hash covers them
    kind TEXT NOT NULL CHECK (kind IN ('case', 'method')),
    name TEXT NOT NULL,
    hash TEXT NOT NULL, -- of the summary and the source; rows of older programs have none until a run is stored
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
