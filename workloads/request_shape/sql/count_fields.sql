SELECT count(*) FROM field WHERE org_id = ?1
