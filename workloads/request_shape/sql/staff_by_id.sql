SELECT id, name, email, active FROM staff WHERE id = ?1
