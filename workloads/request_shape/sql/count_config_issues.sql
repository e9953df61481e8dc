SELECT count(*) FROM config_issue WHERE org_id = ?1 AND ignored = 0
