package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAProgramsStat(t *testing.T) {
	const line = "4711 (a (strange) name) S 17 4711 4711 0 -1 4194560 1 0 0 0 250 50 3 4 20 0 9 0 100 1000 10"
	s, err := parseStat(line)
	want := procStat{pid: 4711, parent: 17, name: "a (strange) name", used: 3 * time.Second}
	if err != nil || s != want {
		t.Errorf("%+v (%v), want %+v", s, err, want)
	}
	for _, broken := range []string{"", "1 2 3", "1 (short) S 2", "1 (no numbers) S x 1 1 0 -1 1 1 0 0 0 250 50 3"} {
		if s, err := parseStat(broken); err == nil {
			t.Errorf("%q is read as %+v", broken, s)
		}
	}
}

func TestAThreadsSchedstat(t *testing.T) {
	if waited, err := parseSchedstat("72998 56479 2\n"); err != nil || waited != 56479 {
		t.Errorf("%d ns (%v), want 56479", waited, err)
	}
	for _, broken := range []string{"", "1 2", "1 x 3"} {
		if waited, err := parseSchedstat(broken); err == nil {
			t.Errorf("%q is read as %s", broken, waited)
		}
	}
}

func TestAProgramIsCalledAsItsFile(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got := programOf("/proc/self", "short"); got != filepath.Base(self) {
		t.Errorf("this program is called %s, and its file is %s", got, self)
	}
	if got := programOf(t.TempDir(), "short"); got != "short" {
		t.Errorf("one that can't be looked at is called %s", got)
	}
}

// This very process is one of the programs, and has used some time by now.
func TestThisProgramIsOneOfThem(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Fatalf("this kernel doesn't tell what its processes wait for: %v", err)
	}
	before, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	if _, known := before[players]; !known {
		t.Fatalf("the programs are %v", before)
	}
	later := usages{players: {before[players].used + time.Second, before[players].waited + time.Minute}}
	if got := later.since(before)[players]; got != (usage{time.Second, time.Minute}) {
		t.Errorf("since then it used %+v", got)
	}
}
