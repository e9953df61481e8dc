package main

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// note prints an executed statement; stmt is the one whose row was read, if any.
func (db *database) note(which statement, values []any, stmt *sqlite3.Stmt) {
	db.step++
	var bound, read []string
	for _, value := range values {
		switch value := value.(type) {
		case int64:
			bound = append(bound, strconv.FormatInt(value, 10))
		case int:
			bound = append(bound, strconv.Itoa(value))
		case string:
			bound = append(bound, quoted(value))
		}
	}
	if stmt != nil {
		for i := range stmt.ColumnCount() {
			read = append(read, column(stmt, i))
		}
	}
	columns := []string{db.request, strconv.Itoa(db.step), names[which], sqlOf[which], orDash(bound), orDash(read)}
	if _, err := fmt.Fprintln(db.trace, strings.Join(columns, "\t")); err != nil {
		outputFailed()
	}
}

func orDash(parts []string) string {
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

func column(stmt *sqlite3.Stmt, i int) string {
	switch stmt.ColumnType(i) {
	case sqlite3.INTEGER:
		return strconv.FormatInt(stmt.ColumnInt64(i), 10)
	case sqlite3.TEXT:
		return quoted(stmt.ColumnText(i))
	case sqlite3.BLOB:
		return "X'" + hex.EncodeToString(stmt.ColumnRawBlob(i)) + "'"
	}
	return "NULL"
}
