SELECT count(*) FROM sponsor WHERE org_id = ?1
