package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

type action int

const (
	runsSequential action = iota
	runsConcurrent
	printsTrace
	printsInfo
	mergesHistograms
)

type options struct {
	action          action
	shape           shape
	items           int64
	load            string
	workers         int
	rate            int64 // open_read: requests a second of all workers
	duration        time.Duration
	warmup          time.Duration
	path            string        // of the database
	busyTimeout     time.Duration // below 0: that of pragmas.sql
	statementCounts bool          // print how often each statement was prepared and ran, on standard error
}

// flags that take a value, beside the shape's.
var flags = []string{
	"--mode", "--items", "--workload", "--workers", "--duration", "--warmup", "--rate", "--db", "--busy-timeout-ms",
}

var loads = []string{"read", "write", "mixed", "single_writer", "open_read"}

// databaseSuffixes: what SQLite leaves beside a database: nothing, the log, its index.
var databaseSuffixes = []string{"", "-wal", "-shm"}

const help = runner + ` --mode sequential [--items N]
` + runner + ` --mode concurrent --workload read|write|mixed|single_writer|open_read [--workers W] [--duration S] [--warmup S]
` + runner + ` --trace | --info | --histogram | --help
  --items N              requests of each kind, one after another (10000)
  --workers W            goroutines, each with its own connection (1)
  --duration S           measured window in seconds (5)
  --warmup S             seconds before it (1)
  --rate R               requests due a second, of all workers (open_read, 1000)
  --db PATH              database to make, removed at the end (a fresh file in the working directory)
  --busy-timeout-ms N    instead of the 5000 of the pragmas
  --statement-counts     how often each statement was prepared and ran, on standard error
  --histogram            merge latencies from standard input: ns, one a line, an empty line between workers` + shapeHelp

// usage is for a wrong argument: one line on standard error, exit code 2.
func usage(format string, values ...any) {
	fmt.Fprintf(os.Stderr, runner+": "+format+"; see --help\n", values...)
	os.Exit(2)
}

func isDigits(text string, most int) bool {
	return text != "" && len(text) <= most && strings.Trim(text, "0123456789") == ""
}

// number reads a decimal number of digits only, from min to max.
func number(flag, text string, min, max int64) int64 {
	if !isDigits(text, 15) {
		usage("%s: '%s' is not a whole number", flag, text)
	}
	value, _ := strconv.ParseInt(text, 10, 64) // 15 digits fit
	if value < min || value > max {
		usage("%s: %s is not within %d and %d", flag, text, min, max)
	}
	return value
}

// seconds reads at most three decimals: 5, 0.25, and 5s as plans write it.
func seconds(flag, text string, min time.Duration) time.Duration {
	whole, fraction, found := strings.Cut(strings.TrimSuffix(text, "s"), ".")
	if !found {
		fraction = "0"
	}
	if !isDigits(whole, 5) || !isDigits(fraction, 3) {
		usage("%s: '%s' is not a number of seconds", flag, text)
	}
	ms, _ := strconv.Atoi((whole + fraction + "00")[:len(whole)+3])
	value := time.Duration(ms) * time.Millisecond
	if value < min || value > time.Hour {
		least := "0"
		if min > 0 {
			least = "0.001"
		}
		usage("%s: %s is not within %s and 3600 seconds", flag, text, least)
	}
	return value
}

func choice(flag, text string, choices []string) string {
	if !slices.Contains(choices, text) {
		usage("%s: '%s' is none of %s", flag, text, strings.Join(choices, ", "))
	}
	return text
}

// refuseExisting: what a killed program has left is not ours to overwrite, and no new database may begin beside an old
// one's log.
func refuseExisting(path string) {
	for _, suffix := range databaseSuffixes {
		if _, err := os.Lstat(path + suffix); err == nil {
			usage("--db: '%s' exists already", path+suffix)
		}
	}
}

// parseOptions reads the command line, the same in every runner.
func parseOptions(arguments []string) *options {
	options := &options{
		shape: defaultShape, items: 10_000, workers: 1, rate: 1000,
		duration: 5 * time.Second, warmup: time.Second, busyTimeout: -1,
	}
	var mode, action string
	for i := 0; i < len(arguments); i++ {
		flag := arguments[i]
		switch flag {
		case "--help":
			printLine(help)
			os.Exit(0)
		case "--trace", "--info", "--histogram":
			if action != "" {
				usage("%s and %s exclude each other", action, flag)
			}
			action = flag
			continue
		case "--statement-counts":
			options.statementCounts = true
			continue
		}
		if !slices.Contains(flags, flag) && !slices.Contains(shapeFlags, flag) {
			usage("unknown argument '%s'", flag)
		}
		if i++; i == len(arguments) || arguments[i] == "" {
			usage("%s needs a value", flag)
		}
		value := arguments[i]
		switch flag {
		case "--mode":
			mode = value
		case "--items":
			options.items = number(flag, value, 1, 1_000_000_000)
		case "--workload":
			options.load = choice(flag, value, loads)
		case "--workers":
			options.workers = int(number(flag, value, 1, 4096))
		case "--duration":
			options.duration = seconds(flag, value, time.Millisecond)
		case "--warmup":
			options.warmup = seconds(flag, value, 0)
		case "--rate":
			options.rate = number(flag, value, 1, 10_000_000)
		case "--db":
			options.path = value
		case "--busy-timeout-ms":
			options.busyTimeout = time.Duration(number(flag, value, 0, 3_600_000)) * time.Millisecond
		default:
			options.shape.set(flag, value)
		}
	}
	switch {
	case action != "" && mode != "":
		usage("%s and --mode exclude each other", action)
	case action == "--trace":
		options.action = printsTrace
	case action == "--info":
		options.action = printsInfo
	case action == "--histogram":
		options.action = mergesHistograms
	case mode == "":
		usage("--mode is missing")
	case mode == "sequential":
		options.action = runsSequential
	case mode == "concurrent":
		options.action = runsConcurrent
		if options.load == "" {
			usage("--workload is missing")
		}
	default:
		usage("--mode: '%s' is neither sequential nor concurrent", mode)
	}
	if options.path == "" {
		options.path = fmt.Sprintf("%s-%d-%d.db", runner, os.Getpid(), time.Now().UnixNano())
	}
	refuseExisting(options.path)
	return options
}
