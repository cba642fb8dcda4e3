package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

// kernelOf is a folder with the files that a kernel has below /proc.
func kernelOf(t *testing.T, files map[string]string) procfs.FS {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kernel, err := procfs.NewFS(root)
	if err != nil {
		t.Fatal(err)
	}
	return kernel
}

// line is a process' stat: 2.5 s of its own and half a second of the kernel's were spent for it.
func line(pid, parent int, name string) string {
	return fmt.Sprintf("%d (%s) S %d 4711 4711 0 -1 4194560 1 0 0 0 250 50 3 4 20 0 9 0 100 1000 10 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0\n", pid, name, parent)
}

func TestProgramsAreThisOneAndThoseThatItStarted(t *testing.T) {
	own, child := os.Getpid(), strconv.Itoa(os.Getpid()+1)
	got, err := programsOf(kernelOf(t, map[string]string{
		strconv.Itoa(own) + "/stat": line(own, 1, "bench"), strconv.Itoa(own) + "/task/1/schedstat": "1 2 3\n",
		child + "/stat": line(own+1, own, "a (strange) name"), child + "/task/17/schedstat": "72998 56479 2\n", child + "/task/18/schedstat": "5 21 1\n",
		"1/stat": line(1, 0, "somebody else"),
	}))
	want := usages{players: {3 * time.Second, 2}, "a (strange) name": {3 * time.Second, 56500}}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
}

func TestMissingKernelFilesAreErrors(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, broken := range []string{"", "1 2 3", "1 (short) S 2", "1 (no numbers) S x 1 1 0 -1 1 1 0 0 0 250 50 3"} {
		if got, err := programsOf(kernelOf(t, map[string]string{own + "/stat": broken})); err == nil {
			t.Errorf("%q is read as %+v", broken, got)
		}
	}
	for _, broken := range []string{"", "1 2", "1 x 3"} {
		if got, err := programsOf(kernelOf(t, map[string]string{own + "/stat": line(os.Getpid(), 1, "bench"), own + "/task/17/schedstat": broken})); err == nil {
			t.Errorf("a schedstat of %q is read as %+v", broken, got)
		}
	}
}

func TestAProgramIsCalledAsItsFile(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := procfs.NewProc(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if got := programOf(p, "short"); got != filepath.Base(self) {
		t.Errorf("this program is called %s, and its file is %s", got, self)
	}
	p, err = kernelOf(t, map[string]string{"1/stat": ""}).Proc(1)
	if err != nil {
		t.Fatal(err)
	}
	if got := programOf(p, "short"); got != "short" {
		t.Errorf("one that can't be looked at is called %s", got)
	}
}

// This very process is one of the programs, and has used some time by now.
func TestThisProgramIsOneOfThem(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Fatalf("this kernel doesn't report what its processes wait for: %v", err)
	}
	before, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	if _, known := before[players]; !known {
		t.Fatalf("the programs are %v", before)
	}
	later := usages{players: {before[players].used + time.Second, before[players].waited + time.Minute}}
	if got := later.minus(before)[players]; got != (usage{time.Second, time.Minute}) {
		t.Errorf("since then it used %+v", got)
	}
}
