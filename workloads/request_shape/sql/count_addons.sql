SELECT count(*) FROM addon WHERE owner_id = ?1 AND owner_type = ?2
