package main

import (
	"encoding/json"
	"errors"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

const driver = "github.com/ncruces/go-sqlite3"

// texts reads the rows of a query; each column of each row is one text.
func texts(conn *sqlite3.Conn, sql string) []string {
	stmt, _, err := conn.Prepare(sql)
	if err != nil {
		fail("--info", err)
	}
	var all []string
	for stmt.Step() {
		for i := range stmt.ColumnCount() {
			all = append(all, stmt.ColumnText(i))
		}
	}
	if err := errors.Join(stmt.Err(), stmt.Close()); err != nil {
		fail("--info", err)
	}
	return all
}

// printInfo: what this program really is, as JSON.
func printInfo() {
	build, _ := debug.ReadBuildInfo()
	version := ""
	for _, module := range build.Deps {
		if module.Path == driver {
			version = module.Version
		}
	}
	var flags []string
	for _, setting := range build.Settings {
		flags = append(flags, setting.Key+"="+setting.Value)
	}
	conn, err := sqlite3.Open(":memory:")
	if err != nil {
		fail("--info", err)
	}
	library := texts(conn, "SELECT sqlite_version(), sqlite_source_id()")
	info, _ := json.Marshal(struct {
		Runner          string   `json:"runner"`
		Language        string   `json:"language"`
		LanguageVersion string   `json:"language_version"`
		Driver          string   `json:"driver"`
		DriverVersion   string   `json:"driver_version"`
		SqliteVersion   string   `json:"sqlite_version"`
		SqliteSourceID  string   `json:"sqlite_source_id"`
		CompileOptions  []string `json:"compile_options"`
		CacheSize       int      `json:"statement_cache_size"`
		CacheDefault    *int     `json:"statement_cache_default"` // none: the driver keeps no statements
		BuildFlags      string   `json:"build_flags"`
	}{
		runner, "Go", runtime.Version(), driver, version, library[0], library[1],
		texts(conn, "PRAGMA compile_options"), int(statementCount), nil, strings.Join(flags, " "),
	}) // texts and numbers only: it cannot fail
	if err := conn.Close(); err != nil {
		fail("--info", err)
	}
	printLine(string(info))
}
