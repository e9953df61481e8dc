SELECT count(*) FROM item WHERE org_id = ?1
