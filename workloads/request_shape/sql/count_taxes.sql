SELECT count(*) FROM tax JOIN org ON org.region = tax.region WHERE org.id = ?1
