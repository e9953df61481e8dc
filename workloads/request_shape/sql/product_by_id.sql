SELECT id, org_id, kind, name, cents, active FROM product WHERE id = ?1
