-- Schema version 1. Raw samples are stored for ever; every statistic is recomputed from the views at the end.
-- Times are Unix milliseconds. Names are dictionary-encoded in `name`. `case`, `check`, `from`, `to` are no column names.

CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;

-- One row: who we are to the providers.
CREATE TABLE owner (one INTEGER PRIMARY KEY CHECK (one = 1), uuid TEXT NOT NULL) STRICT;

CREATE TABLE run (
  id TEXT PRIMARY KEY,                       -- [a-z0-9-]{1,64}
  plan_name TEXT NOT NULL,
  plan_sha256 TEXT NOT NULL,
  plan_text TEXT NOT NULL,                   -- the resolved plan as TOML, so that a run can be read alone
  seed INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  finished_ms INTEGER,
  outcome TEXT NOT NULL DEFAULT 'running',   -- running | good | failed | interrupted
  exit_code INTEGER,
  reason TEXT NOT NULL DEFAULT '',
  folder TEXT NOT NULL,                      -- absolute; raw files and reports
  controller_version TEXT NOT NULL
) STRICT;

CREATE TABLE lease (
  nonce TEXT PRIMARY KEY,
  run TEXT NOT NULL REFERENCES run(id),
  provider TEXT NOT NULL,
  fleet TEXT NOT NULL,
  slot INTEGER NOT NULL,
  name TEXT NOT NULL,
  spec TEXT NOT NULL,                        -- JSON of the MachineSpec
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE machine (
  id INTEGER PRIMARY KEY,
  lease TEXT NOT NULL UNIQUE REFERENCES lease(nonce),
  run TEXT NOT NULL REFERENCES run(id),
  name TEXT NOT NULL,
  provider TEXT NOT NULL,
  provider_id TEXT NOT NULL DEFAULT '',
  endpoint TEXT NOT NULL DEFAULT '',         -- JSON
  state TEXT NOT NULL,                       -- intent | exists | releasing | gone | released | rejected
  isolated INTEGER NOT NULL DEFAULT 0,       -- 0: functional numbers only
  host_key TEXT NOT NULL DEFAULT '',         -- pinned SHA256:...
  agent_dir TEXT NOT NULL DEFAULT '',        -- the run's folder on the machine
  keep_until_ms INTEGER NOT NULL DEFAULT 0,
  fingerprint TEXT NOT NULL DEFAULT '',
  hardware TEXT NOT NULL DEFAULT '',
  facts_before TEXT NOT NULL DEFAULT '',     -- JSON documents
  facts_after TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT ''
) STRICT;

-- Pairs of intent and done; the intent is committed before the effect.
CREATE TABLE step (
  machine INTEGER NOT NULL REFERENCES machine(id),
  seq INTEGER NOT NULL,
  name TEXT NOT NULL,                        -- create | connect | agent | facts | equip | round N | seal | pull | ingest | destroy
  intent_ms INTEGER NOT NULL,
  done_ms INTEGER,
  outcome TEXT NOT NULL DEFAULT '',          -- ok | failed
  detail TEXT NOT NULL DEFAULT '',
  channels INTEGER NOT NULL DEFAULT 0,       -- SSH channels opened within it
  PRIMARY KEY (machine, seq)
) STRICT;

CREATE TABLE bundle (
  sha256 TEXT PRIMARY KEY,
  workload TEXT NOT NULL,
  build TEXT NOT NULL,
  manifest TEXT NOT NULL                     -- JSON: arch, isa, min_glibc, sources, toolchains, commit, dirty
) STRICT;

-- One or more machines by role; today one.
CREATE TABLE site (
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL REFERENCES run(id),
  fleet TEXT NOT NULL,
  slot INTEGER NOT NULL,
  UNIQUE (run, fleet, slot)
) STRICT;

CREATE TABLE point (
  hash TEXT PRIMARY KEY,                     -- sha256 of the columns below
  suite TEXT NOT NULL,
  workload TEXT NOT NULL,
  mode TEXT NOT NULL,
  label TEXT NOT NULL,                       -- "workers=4"
  baseline TEXT NOT NULL,
  params TEXT NOT NULL                       -- JSON
) STRICT;

CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  site INTEGER NOT NULL REFERENCES site(id),
  number INTEGER NOT NULL,                   -- the run's own number of it: trials/000042
  suite INTEGER NOT NULL REFERENCES name(id),
  point_hash TEXT NOT NULL REFERENCES point(hash),
  arm INTEGER NOT NULL REFERENCES name(id),
  aa_copy INTEGER NOT NULL,
  round INTEGER NOT NULL,                    -- <= 0: warm-up
  position INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  definition_hash TEXT NOT NULL,
  bundle TEXT NOT NULL,
  params TEXT NOT NULL,
  state TEXT NOT NULL,                       -- ingested
  verdict TEXT NOT NULL,                     -- ok | malformed | those of lib/wire/trial.h
  reason TEXT NOT NULL DEFAULT '',
  evidence TEXT NOT NULL,                    -- sha256 over the trial's files: same again is nothing, another is refused
  folder TEXT NOT NULL,                      -- relative to run.folder
  UNIQUE (site, point_hash, arm, aa_copy, round, attempt),
  UNIQUE (site, number, attempt)
) STRICT;

CREATE TABLE trial_machine (
  trial INTEGER NOT NULL REFERENCES trial(id),
  role TEXT NOT NULL,
  machine INTEGER NOT NULL REFERENCES machine(id),
  started_ms INTEGER NOT NULL,
  seconds REAL NOT NULL,
  steal_percent REAL,                        -- null: not measured, see steal_note
  steal_note TEXT NOT NULL DEFAULT '',
  record TEXT NOT NULL,                      -- trial.json
  PRIMARY KEY (trial, role)
) STRICT, WITHOUT ROWID;

-- A metric is its name together with unit and direction: two workloads may both have a `time`, one in ms, one in s.
CREATE TABLE metric (
  id INTEGER PRIMARY KEY,
  name INTEGER NOT NULL REFERENCES name(id),
  unit TEXT NOT NULL,
  better TEXT NOT NULL,                      -- lower | higher | none
  UNIQUE (name, unit, better)
) STRICT;

CREATE TABLE sample (
  trial INTEGER NOT NULL REFERENCES trial(id),
  case_id INTEGER NOT NULL REFERENCES name(id),
  metric_id INTEGER NOT NULL REFERENCES metric(id),
  iteration INTEGER NOT NULL,                -- 0: the run itself; 1..n: inner iterations that 0 is the median of
  value REAL,                                -- null: not measured (errors of the nine-column form)
  check_text TEXT,
  PRIMARY KEY (trial, case_id, metric_id, iteration)
) STRICT, WITHOUT ROWID;

CREATE TABLE histogram (
  trial INTEGER NOT NULL REFERENCES trial(id),
  case_id INTEGER NOT NULL REFERENCES name(id),
  file TEXT NOT NULL,                        -- relative to run.folder
  PRIMARY KEY (trial, case_id, file)
) STRICT, WITHOUT ROWID;

CREATE TABLE file (
  machine INTEGER NOT NULL REFERENCES machine(id),
  path TEXT NOT NULL,                        -- relative to run.folder
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  PRIMARY KEY (machine, path)
) STRICT, WITHOUT ROWID;

-- Units of a machine that were imported, in order.
CREATE TABLE unit (
  machine INTEGER NOT NULL REFERENCES machine(id),
  name TEXT NOT NULL,                        -- round-0003 | round-w001 | final
  seq INTEGER NOT NULL,
  folder TEXT NOT NULL,                      -- relative to run.folder
  manifest TEXT NOT NULL,                    -- sha256 of its manifest
  imported_ms INTEGER NOT NULL,
  PRIMARY KEY (machine, name)
) STRICT, WITHOUT ROWID;

-- What `--trace` printed once per arm and suite on the machine's bundle, as a hash: arms with differing traces are not compared.
CREATE TABLE trace (
  run TEXT NOT NULL REFERENCES run(id),
  suite INTEGER NOT NULL REFERENCES name(id),
  arm INTEGER NOT NULL REFERENCES name(id),
  sha256 TEXT NOT NULL,
  info TEXT NOT NULL DEFAULT '',             -- JSON of --info
  PRIMARY KEY (run, suite, arm)
) STRICT;

CREATE TABLE claim_verdict (
  run TEXT NOT NULL REFERENCES run(id),
  machine INTEGER NOT NULL REFERENCES machine(id),
  claim TEXT NOT NULL,
  verdict TEXT NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (run, machine, claim)
) STRICT;

CREATE TABLE change_point (
  series TEXT NOT NULL,
  night TEXT NOT NULL,
  state TEXT NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (series, night)
) STRICT;

-- The documented views: read-only, stable, the only thing that analysis reads.
CREATE VIEW v_machines AS
  SELECT m.id AS machine_id, m.run AS run, m.name AS machine, m.provider, l.fleet, l.slot, m.state, m.isolated, m.fingerprint,
         m.hardware, m.facts_before, m.facts_after, m.reason, l.spec
  FROM machine m JOIN lease l ON l.nonce = m.lease;

CREATE VIEW v_trials AS
  SELECT t.id AS trial_id, s.run AS run, tm.machine AS machine_id, m.name AS machine, t.number, sn.text AS suite, p.workload,
         p.mode, t.point_hash, p.label AS point, p.baseline, an.text AS arm, t.aa_copy, t.round, t.position, t.attempt,
         t.definition_hash, t.bundle, t.params, t.verdict, t.reason, tm.started_ms, tm.seconds, tm.steal_percent, tm.steal_note,
         tm.record, t.folder
  FROM trial t
  JOIN site s ON s.id = t.site
  JOIN name sn ON sn.id = t.suite
  JOIN name an ON an.id = t.arm
  JOIN point p ON p.hash = t.point_hash
  JOIN trial_machine tm ON tm.trial = t.id
  JOIN machine m ON m.id = tm.machine;

CREATE VIEW v_samples AS
  SELECT x.trial AS trial_id, cn.text AS case_name, mn.text AS metric, k.unit, k.better, x.iteration, x.value, x.check_text
  FROM sample x
  JOIN name cn ON cn.id = x.case_id
  JOIN metric k ON k.id = x.metric_id
  JOIN name mn ON mn.id = k.name;

CREATE VIEW v_traces AS
  SELECT r.run, sn.text AS suite, an.text AS arm, r.sha256, r.info
  FROM trace r JOIN name sn ON sn.id = r.suite JOIN name an ON an.id = r.arm;

CREATE VIEW v_history AS
  SELECT m.hardware, t.definition_hash, a.text AS arm, cn.text AS case_name, mn.text AS metric, k.unit, k.better, tm.started_ms,
         r.id AS run, x.value, m.isolated
  FROM sample x
  JOIN trial t ON t.id = x.trial AND t.verdict = 'ok' AND t.round > 0 AND t.aa_copy = 0
  JOIN site s ON s.id = t.site
  JOIN run r ON r.id = s.run
  JOIN trial_machine tm ON tm.trial = t.id
  JOIN machine m ON m.id = tm.machine
  JOIN name a ON a.id = t.arm
  JOIN name cn ON cn.id = x.case_id
  JOIN metric k ON k.id = x.metric_id
  JOIN name mn ON mn.id = k.name
  WHERE x.iteration = 0;

CREATE VIEW v_runs AS
  SELECT id AS run, plan_name, plan_sha256, plan_text, seed, created_ms, finished_ms, outcome, exit_code, reason,
         controller_version
  FROM run;

CREATE VIEW v_bundles AS SELECT sha256 AS bundle, workload, build, manifest FROM bundle;
