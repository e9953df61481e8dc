package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// writeHistogramFile writes into the folder BENCHCTL_OUT, where there is one.
func writeHistogramFile(load, suffix string, histogram *histogram) {
	folder := os.Getenv("BENCHCTL_OUT")
	if folder == "" || histogram.total == 0 {
		return
	}
	path := fmt.Sprintf("%s/%s_app_request_%s%s.hist.csv", folder, runner, load, suffix)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		err = errors.Join(histogram.write(file), file.Close())
	}
	if err != nil {
		fail(path, err)
	}
}

// columns is p50_us,p95_us,p99_us,max_us.
func columns(of *histogram) string {
	us := func(value time.Duration) float64 { return float64(value) / 1e3 }
	return fmt.Sprintf("%.3f,%.3f,%.3f,%.3f",
		us(of.percentile(50)), us(of.percentile(95)), us(of.percentile(99)), us(of.max))
}

// printPoint prints what a run of concurrent mode has measured: its row, and its histograms as files.
func printPoint(options *options, latencies, busyWaits *histogram) {
	writeHistogramFile(options.load, "", latencies)
	writeHistogramFile(options.load, ".errors", busyWaits)
	seconds := options.duration.Seconds()
	rate := float64(latencies.total) / seconds
	printLine("case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us,errors")
	printLine(fmt.Sprintf("%s%s,%d,%.3f,%d,%.3f,%s,%d", casePrefix, options.load, options.workers, seconds,
		latencies.total, rate, columns(latencies), busyWaits.total))
}

// mergeHistograms is --histogram.
func mergeHistograms() {
	var merged, worker histogram
	lines := bufio.NewScanner(os.Stdin)
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		if line == "" {
			merged.add(&worker)
			worker = histogram{}
			continue
		}
		if !isDigits(line, 18) {
			fail("--histogram", fmt.Errorf("line %d of standard input is not a whole number of nanoseconds", number))
		}
		ns, _ := strconv.ParseInt(line, 10, 64) // 18 digits fit
		worker.record(time.Duration(ns))
	}
	if err := lines.Err(); err != nil {
		fail("--histogram", err)
	}
	merged.add(&worker)
	printLine("p50_us,p95_us,p99_us,max_us")
	printLine(columns(&merged))
	if merged.write(os.Stdout) != nil {
		outputFailed()
	}
}
