SELECT count(*) FROM notice WHERE (country = ?1 OR country IS NULL) AND (org_type = ?2 OR org_type IS NULL)
