package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
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
	parentOfOrg
	statementCount
)

var names = [statementCount]string{
	"begin_immediate", "commit", "rollback", "staff_by_id", "org_by_slug", "item_by_org_and_id", "count_sponsors",
	"count_tags", "count_taxes", "sum_parent_chain", "count_active_fees", "count_active_products", "count_addons",
	"fee_by_id", "org_by_id", "product_by_id", "count_fields", "count_item_fields", "count_active_discounts",
	"count_discount_items", "theme_by_id", "count_notices", "count_config_issues", "count_items", "item_revision",
	"update_item", "parent_of_org",
}

var sqlOf = func() (sql [statementCount]string) {
	for which, name := range names {
		sql[which] = strings.TrimSuffix(script(name), "\n")
	}
	return sql
}()

// counts: how often each statement was prepared, also by SQLite itself, and run. Complete when the connection is closed.
type counts [statementCount]struct{ prepared, runs int }

func (c *counts) add(other *counts) {
	for which := range c {
		c[which].prepared += other[which].prepared
		c[which].runs += other[which].runs
	}
}

// print prints one line a statement that ran, on standard error.
func (c *counts) print() {
	for which, count := range c {
		if count.runs > 0 {
			fmt.Fprintf(os.Stderr, "%s prepared=%d runs=%d\n", names[which], count.prepared, count.runs)
		}
	}
}

// row is what a query read: its first column as an integer, and the sum of all for the check.
type row struct {
	first int64
	sum   uint64
}

// database is a connection with its prepared statements. Each is prepared at its first use and kept, unless the shape wants
// none kept. It is the driver's own interface, not database/sql: that one keeps a pool of connections, and a prepared
// statement of it looks for its connection, copies and converts at every use, which would measure database/sql.
type database struct {
	conn       *sqlite3.Conn
	shape      *shape
	counts     counts
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
	db := &database{conn: conn, shape: &options.shape}
	db.run(options.path, script("pragmas"))
	if options.busyTimeout >= 0 {
		if err := conn.BusyTimeout(options.busyTimeout); err != nil {
			fail(options.path, err)
		}
	}
	return db
}

func (db *database) close() {
	for which := range statementCount {
		db.finalize(which)
	}
	if err := db.conn.Close(); err != nil {
		fail("close", err)
	}
}

func (db *database) run(what, script string) {
	if err := db.conn.Exec(script); err != nil {
		fail(what, err)
	}
}

// seed creates and fills the tables in one transaction.
func (db *database) seed() {
	db.run("seed", script("begin_immediate"))
	db.run("seed", fmt.Sprintf("PRAGMA user_version=%d", db.shape.rows))
	db.run("schema", script("schema"))
	if db.shape.extraTables > 0 || db.shape.extraIndexes > 0 {
		db.run("extra_schema", db.extraSchema())
	}
	db.run("seed", script("seed"))
	db.run("seed", script("commit"))
}

// extraSchema is the script that a query writes.
func (db *database) extraSchema() string {
	stmt, _, err := db.conn.Prepare(script("extra_schema"))
	if err != nil {
		fail("extra_schema", err)
	}
	err = errors.Join(stmt.BindInt64(1, db.shape.extraTables), stmt.BindInt64(2, db.shape.extraIndexes))
	if stmt.Step(); err == nil {
		err = stmt.Err()
	}
	text := stmt.ColumnText(0)
	if err = errors.Join(err, stmt.Close()); err != nil {
		fail("extra_schema", err)
	}
	return text
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
	db.release(which)
	return read, err
}

// execute runs a statement that reads nothing.
func (db *database) execute(which statement, values ...any) error {
	stmt, err := db.bound(which, values)
	if err != nil {
		return err
	}
	err = stmt.Exec() // it also resets
	if err == nil && db.trace != nil {
		db.note(which, values, nil)
	}
	db.release(which)
	return err
}

// bound is the statement, prepared at its first use, with its values bound.
func (db *database) bound(which statement, values []any) (*sqlite3.Stmt, error) {
	stmt := db.statements[which]
	if stmt == nil {
		var err error
		var flags sqlite3.PrepareFlag
		if db.shape.statementCache != "none" {
			flags = sqlite3.PREPARE_PERSISTENT
		}
		if stmt, _, err = db.conn.PrepareFlags(sqlOf[which], flags); err != nil {
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

// release comes after every run.
func (db *database) release(which statement) {
	if db.shape.statementCache == "none" {
		db.finalize(which)
	}
}

func (db *database) finalize(which statement) {
	stmt := db.statements[which]
	if stmt == nil {
		return
	}
	db.counts[which].prepared += 1 + stmt.Status(sqlite3.STMTSTATUS_REPREPARE, false)
	db.counts[which].runs += stmt.Status(sqlite3.STMTSTATUS_RUN, false)
	_ = stmt.Close()
	db.statements[which] = nil
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
