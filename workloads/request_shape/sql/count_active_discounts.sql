SELECT count(*) FROM discount WHERE org_id = ?1 AND active = 1
