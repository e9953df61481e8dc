// go_ncruces: the request shape on github.com/ncruces/go-sqlite3, SQLite translated to Go.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

const (
	runner     = "go_ncruces"
	casePrefix = runner + "/app_request/"
)

func main() {
	defer failOnPanic()
	options := parseOptions(os.Args[1:])
	switch options.action {
	case runsSequential:
		runSequential(options)
	case runsConcurrent:
		runConcurrent(options)
	case printsTrace:
		printTrace(options)
	case printsInfo:
		printInfo()
	}
	removeDatabase(options.path)
}

// printLine prints at once. Output that did not arrive is a failure: a full disk must not look like a short result.
func printLine(line string) {
	if _, err := os.Stdout.WriteString(line + "\n"); err != nil {
		outputFailed()
	}
}

func outputFailed() {
	fmt.Fprintln(os.Stderr, runner+": standard output: it could not be written in full")
	os.Exit(1)
}

// fail prints "go_ncruces: <what>: <reason>" and ends the program with exit code 1; the database file stays as evidence.
func fail(what string, err error) {
	reason := strings.TrimPrefix(err.Error(), "sqlite3: ")
	if failed, ok := errors.AsType[*sqlite3.Error](err); ok {
		reason = fmt.Sprintf("%s (SQLite error %d)", reason, failed.ExtendedCode())
	}
	fmt.Fprintf(os.Stderr, "%s: %s: %s\n", runner, what, reason)
	os.Exit(1)
}

// failOnPanic is deferred in every goroutine: a panic itself would end the program with 2, the code of wrong arguments.
func failOnPanic() {
	if reason := recover(); reason != nil {
		fail("panic", fmt.Errorf("%v", reason))
	}
}

func removeDatabase(path string) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(path + suffix) // what is not there need not go
	}
}
