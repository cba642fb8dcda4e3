package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Where all programs share a machine, each makes the others slower, and first of all the one that plays nodes and people. So it is told what each
// used of the processors while LoadTests were carried, and how long its threads were ready to run and had no processor.

// usage is what a program used of the processors, and how long its threads waited for one, all of them together.
type usage struct{ used, waited time.Duration }

// usages are the programs' by their names.
type usages map[string]usage

// since is what was used after an earlier look.
func (u usages) since(earlier usages) usages {
	out := usages{}
	for name, now := range u {
		out[name] = usage{now.used - earlier[name].used, now.waited - earlier[name].waited}
	}
	return out
}

// players is what this program is called in the results.
const players = "bench: scheduler, kubelets, runners"

// programs looks at this process and at those that it started.
func programs() (usages, error) {
	found := usages{}
	directories, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	for _, directory := range directories {
		stat, err := os.ReadFile(filepath.Join(directory, "stat"))
		if err != nil {
			continue // it has ended
		}
		s, err := parseStat(string(stat))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", directory, err)
		}
		name := players
		switch os.Getpid() {
		case s.pid:
		case s.parent:
			name = programOf(directory, s.name)
		default:
			continue
		}
		waited, err := waitedFor(directory)
		if err != nil {
			return nil, err
		}
		found[name] = usage{used: s.used, waited: waited}
	}
	return found, nil
}

// programOf is the name of the file that a process runs; what the kernel calls it, its first 15 bytes, where that can't be read.
func programOf(directory, short string) string {
	line, err := os.ReadFile(filepath.Join(directory, "cmdline"))
	if err != nil || len(line) == 0 {
		return short
	}
	program, _, _ := strings.Cut(string(line), "\x00")
	return filepath.Base(program)
}

// procStat is what is read of /proc/PID/stat (proc_pid_stat(5)).
type procStat struct {
	pid, parent int
	name        string
	used        time.Duration
}

// ticks are how many there are of the kernel's clock in a second, for user space: on all machines that Go runs on.
const ticks = 100

// parseStat reads a line such as "17 (a name) S 1 …", in which the name may have any character.
func parseStat(line string) (s procStat, err error) {
	open, shut := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || shut < open {
		return s, errors.New("no name in its stat")
	}
	fields := strings.Fields(line[shut+1:]) // from the third on
	if len(fields) < 13 {
		return s, fmt.Errorf("%d fields in its stat", len(fields)+2)
	}
	s.name = line[open+1 : shut]
	numbers := make([]int, 0, 4)
	for _, text := range []string{strings.TrimSpace(line[:open]), fields[1], fields[11], fields[12]} {
		n, err := strconv.Atoi(text)
		if err != nil {
			return s, fmt.Errorf("its stat: %w", err)
		}
		numbers = append(numbers, n)
	}
	s.pid, s.parent = numbers[0], numbers[1]
	s.used = time.Duration(numbers[2]+numbers[3]) * time.Second / ticks
	return s, nil
}

// waitedFor sums up how long a process' threads were ready to run and didn't.
func waitedFor(directory string) (sum time.Duration, err error) {
	files, err := filepath.Glob(filepath.Join(directory, "task/[0-9]*/schedstat"))
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		waited, err := parseSchedstat(string(text))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		sum += waited
	}
	return sum, nil
}

// parseSchedstat reads the second of three numbers: nanoseconds of waiting (Documentation/scheduler/sched-stats.rst of Linux).
func parseSchedstat(text string) (time.Duration, error) {
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return 0, fmt.Errorf("%q isn't three numbers", strings.TrimSpace(text))
	}
	waited, err := strconv.ParseInt(fields[1], 10, 64)
	return time.Duration(waited), err
}
