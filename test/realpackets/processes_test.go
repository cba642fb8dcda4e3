package realpackets

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

type process struct{ id, parent int }

func processes(t *testing.T) []process {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var all []process
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		if p, err := parseStat(string(text)); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// parseStat reads a line of /proc/PID/stat: "PID (name, which may hold anything) state parent …".
func parseStat(line string) (process, error) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < 0 {
		return process{}, fmt.Errorf("no name in %q", line)
	}
	id, err := strconv.Atoi(strings.TrimSpace(line[:open]))
	if err != nil {
		return process{}, err
	}
	rest := strings.Fields(line[end+1:])
	if len(rest) < 2 {
		return process{}, fmt.Errorf("no parent in %q", line)
	}
	parent, err := strconv.Atoi(rest[1])
	return process{id, parent}, err
}
