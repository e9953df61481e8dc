package main

import (
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

//go:embed sql
var files embed.FS

// script is the whole file sql/<name>.sql.
func script(name string) string {
	text, err := files.ReadFile("sql/" + name + ".sql")
	if err != nil {
		fail("sql", err)
	}
	return string(text)
}

// statement is one of the requests' statements; its SQL is the file sql/<name>.sql.
type statement int

const (
	beginImmediate statement = iota
	commit
	rollback
	staffByID
	orgBySlug
	itemByOrgAndID
	countSponsors
	countTags
	countTaxes
	sumParentChain
	countActiveFees
	countActiveProducts
	countAddons
	feeByID
	orgByID
	productByID
	countFields
	countItemFields
	countActiveDiscounts
	countDiscountItems
	themeByID
	countNotices
	countConfigIssues
	countItems
	itemRevision
	updateItem
	statementCount
)

var names = [statementCount]string{
	"begin_immediate", "commit", "rollback", "staff_by_id", "org_by_slug", "item_by_org_and_id", "count_sponsors",
	"count_tags", "count_taxes", "sum_parent_chain", "count_active_fees", "count_active_products", "count_addons",
	"fee_by_id", "org_by_id", "product_by_id", "count_fields", "count_item_fields", "count_active_discounts",
	"count_discount_items", "theme_by_id", "count_notices", "count_config_issues", "count_items", "item_revision",
	"update_item",
}

// row is what a query read: its first column as an integer, and the sum of all for the check.
type row struct {
	first int64
	sum   uint64
}

// database is a connection with its prepared statements. Each statement is prepared once, at its first use, and kept. It is
// the driver's own interface, not database/sql: that one keeps a pool of connections, and a prepared statement of it looks for
// its connection, copies and converts at every use, which would measure database/sql.
type database struct {
	conn       *sqlite3.Conn
	statements [statementCount]*sqlite3.Stmt
	trace      io.Writer // when set, every executed statement is printed there
	request    string
	step       int
}

// openDatabase opens the database and applies the pragmas. It prints the reason and exits on failure.
func openDatabase(options *options) *database {
	conn, err := sqlite3.OpenFlags(options.path, sqlite3.OPEN_READWRITE|sqlite3.OPEN_CREATE)
	if err != nil {
		fail(options.path, err)
	}
	db := &database{conn: conn}
	db.runScript(options.path, "pragmas")
	if options.busyTimeout >= 0 {
		if err := conn.BusyTimeout(options.busyTimeout); err != nil {
			fail(options.path, err)
		}
	}
	return db
}

func (db *database) close() {
	for _, stmt := range db.statements {
		_ = stmt.Close() // the error of a statement's last run was reported then
	}
	if err := db.conn.Close(); err != nil {
		fail("close", err)
	}
}

func (db *database) runScript(what, name string) {
	if err := db.conn.Exec(script(name)); err != nil {
		fail(what, err)
	}
}

// seed creates and fills the tables in one transaction.
func (db *database) seed() {
	for _, name := range []string{"begin_immediate", "schema", "seed", "commit"} {
		db.runScript("seed", name)
	}
}

// sumEveryRow is the check sum of every row of every table.
func (db *database) sumEveryRow() uint64 {
	var sum uint64
	for sql := range strings.Lines(script("every_row")) {
		stmt, _, err := db.conn.Prepare(sql)
		if err != nil {
			fail("every_row", err)
		}
		for stmt.Step() {
			sum += sumColumns(stmt)
		}
		if err := errors.Join(stmt.Err(), stmt.Close()); err != nil {
			fail("every_row", err)
		}
	}
	return sum
}

var errNoRow = errors.New("a row that must be there is missing")

// query reads the first row. The values are int64, int or string.
func (db *database) query(which statement, values ...any) (row, error) {
	stmt, err := db.bound(which, values)
	if err != nil {
		return row{}, err
	}
	var read row
	if stmt.Step() {
		read = row{stmt.ColumnInt64(0), sumColumns(stmt)}
		if db.trace != nil {
			db.note(which, values, stmt)
		}
	} else if err = stmt.Err(); err == nil {
		err = errNoRow
	}
	_ = stmt.Reset() // it repeats the error of the run
	return read, err
}

// execute runs a statement that reads nothing.
func (db *database) execute(which statement, values ...any) error {
	stmt, err := db.bound(which, values)
	if err != nil {
		return err
	}
	if err := stmt.Exec(); err != nil {
		return err
	}
	if db.trace != nil {
		db.note(which, values, nil)
	}
	return nil
}

// bound is the statement, prepared at its first use, with its values bound.
func (db *database) bound(which statement, values []any) (*sqlite3.Stmt, error) {
	stmt := db.statements[which]
	if stmt == nil {
		var err error
		sql := strings.TrimSuffix(script(names[which]), "\n")
		if stmt, _, err = db.conn.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT); err != nil {
			return nil, err
		}
		db.statements[which] = stmt
	}
	for i, value := range values {
		var err error
		switch value := value.(type) {
		case int64:
			err = stmt.BindInt64(i+1, value)
		case int:
			err = stmt.BindInt(i+1, value)
		case string:
			err = stmt.BindText(i+1, value)
		}
		if err != nil {
			return nil, err
		}
	}
	return stmt, nil
}

func fnv1a(bytes []byte) uint64 {
	hash := uint64(0xcbf29ce484222325)
	for _, b := range bytes {
		hash = (hash ^ uint64(b)) * 0x100000001b3
	}
	return hash
}

func sumColumns(stmt *sqlite3.Stmt) uint64 {
	var sum uint64
	for i := range stmt.ColumnCount() {
		switch stmt.ColumnType(i) {
		case sqlite3.INTEGER:
			sum += uint64(stmt.ColumnInt64(i))
		case sqlite3.TEXT:
			sum += fnv1a(stmt.ColumnRawText(i))
		case sqlite3.BLOB:
			sum += fnv1a(stmt.ColumnRawBlob(i))
		}
	}
	return sum
}

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
	sql := db.statements[which].SQL()
	_, err := fmt.Fprintf(db.trace, "%s\t%d\t%s\t%s\t%s\t%s\n", db.request, db.step, names[which], sql, orDash(bound), orDash(read))
	if err != nil {
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

// printStatementCounts prints how often each statement was run and prepared again, one line each, on standard error.
func (db *database) printStatementCounts() {
	for which, stmt := range db.statements {
		if stmt == nil {
			continue
		}
		runs, again := stmt.Status(sqlite3.STMTSTATUS_RUN, false), stmt.Status(sqlite3.STMTSTATUS_REPREPARE, false)
		fmt.Fprintf(os.Stderr, "%s runs=%d prepared_again=%d\n", names[which], runs, again)
	}
}
