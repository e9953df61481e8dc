SELECT count(*) FROM fee WHERE org_id IN (?1, ?2, ?3) AND active = 1
