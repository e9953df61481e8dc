-- Schema version 2: how a machine was made quiet, which agent a run belongs to, what was seen before each round; and
-- trials that a later attempt has replaced are no history.
ALTER TABLE machine ADD COLUMN facts_hardened TEXT NOT NULL DEFAULT '';  -- JSON document, after hardening
ALTER TABLE machine ADD COLUMN hardening TEXT NOT NULL DEFAULT '';       -- JSON: {"profile", "applied", "proofs": [], "undone"}
ALTER TABLE machine ADD COLUMN agent_sha256 TEXT NOT NULL DEFAULT '';    -- the agent that runs the job: a resumed run goes on with it

-- One look at the machine before a round: a calibrated spin, and what others did meanwhile.
CREATE TABLE probe (
  machine INTEGER NOT NULL REFERENCES machine(id),
  event INTEGER NOT NULL,                    -- number of the agent's event: seen again is nothing
  round INTEGER NOT NULL,
  taken_ms INTEGER NOT NULL,
  busy REAL,                                 -- CPUs' worth of others over the second before; null: not measured
  spin_p50_ns INTEGER,
  spin_p99_ns INTEGER,
  spin_max_ns INTEGER,
  steal_jiffies INTEGER,                     -- null: not exposed or unreliable
  psi_cpu_some REAL,                         -- percent
  PRIMARY KEY (machine, event)
) STRICT, WITHOUT ROWID;

DROP VIEW v_machines;
CREATE VIEW v_machines AS
  SELECT m.id AS machine_id, m.run AS run, m.name AS machine, m.provider, l.fleet, l.slot, m.state, m.isolated, m.fingerprint,
         m.hardware, m.facts_before, m.facts_after, m.reason, l.spec, m.facts_hardened, m.hardening
  FROM machine m JOIN lease l ON l.nonce = m.lease;

CREATE VIEW v_probes AS
  SELECT m.run AS run, m.id AS machine_id, m.name AS machine, p.round, p.taken_ms, p.busy, p.spin_p50_ns, p.spin_p99_ns,
         p.spin_max_ns, p.steal_jiffies, p.psi_cpu_some
  FROM probe p JOIN machine m ON m.id = p.machine;

DROP VIEW v_history;
CREATE VIEW v_history AS
  SELECT m.hardware, t.definition_hash, a.text AS arm, cn.text AS case_name, mn.text AS metric, k.unit, k.better, tm.started_ms,
         r.id AS run, x.value, m.isolated
  FROM sample x
  JOIN trial t ON t.id = x.trial AND t.verdict = 'ok' AND t.round > 0 AND t.aa_copy = 0
    AND NOT EXISTS (SELECT 1 FROM trial u WHERE u.site = t.site AND u.point_hash = t.point_hash AND u.round = t.round
                    AND u.attempt > t.attempt)
  JOIN site s ON s.id = t.site
  JOIN run r ON r.id = s.run
  JOIN trial_machine tm ON tm.trial = t.id
  JOIN machine m ON m.id = tm.machine
  JOIN name a ON a.id = t.arm
  JOIN name cn ON cn.id = x.case_id
  JOIN metric k ON k.id = x.metric_id
  JOIN name mn ON mn.id = k.name
  WHERE x.iteration = 0;
