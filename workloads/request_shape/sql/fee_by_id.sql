SELECT id, org_id, name, cents, active FROM fee WHERE id = ?1
