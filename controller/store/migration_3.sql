-- Schema version 3: arms of the plan that a machine did not run, because they are not built or not for it.
CREATE TABLE left_out (
  machine INTEGER NOT NULL REFERENCES machine(id),
  suite INTEGER NOT NULL REFERENCES name(id),
  arm INTEGER NOT NULL REFERENCES name(id),
  kind TEXT NOT NULL,                        -- not built | not for this machine | another build
  reason TEXT NOT NULL,
  PRIMARY KEY (machine, suite, arm, kind)
) STRICT, WITHOUT ROWID;

CREATE VIEW v_left_out AS
  SELECT m.run AS run, m.id AS machine_id, m.name AS machine, sn.text AS suite, an.text AS arm, x.kind, x.reason
  FROM left_out x
  JOIN machine m ON m.id = x.machine
  JOIN name sn ON sn.id = x.suite
  JOIN name an ON an.id = x.arm;
