SELECT * FROM staff ORDER BY id
SELECT * FROM org ORDER BY id
SELECT * FROM item ORDER BY id
SELECT * FROM sponsor ORDER BY id
SELECT * FROM tag ORDER BY id
SELECT * FROM tax ORDER BY id
SELECT * FROM fee ORDER BY id
SELECT * FROM product ORDER BY id
SELECT * FROM addon ORDER BY id
SELECT * FROM field ORDER BY id
SELECT * FROM item_field ORDER BY id
SELECT * FROM discount ORDER BY id
SELECT * FROM discount_item ORDER BY id
SELECT * FROM theme ORDER BY id
SELECT * FROM notice ORDER BY id
SELECT * FROM config_issue ORDER BY id
SELECT name, sql FROM sqlite_schema WHERE name GLOB 'extra_*' ORDER BY name
