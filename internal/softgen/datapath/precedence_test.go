package datapath

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "autogroup")
	is := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("the session's value is %q (%v), want %q", got, err, want)
		}
	}
	// The kernel shows more than it is told: a write leaves nothing but the value here.
	begin := func(shown string) *precedence {
		must(t, os.WriteFile(file, []byte(shown), 0o600))
		return &precedence{file: file, processors: 3}
	}
	t.Run("the session is first while threads send, and then what it was", func(t *testing.T) {
		p := begin("/autogroup-13 nice 5\n")
		p.add(1)
		is("-20")
		p.add(1)
		is("-20")
		p.add(-1)
		p.add(-1)
		is("5")
	})
	t.Run("it is like all others while no processor is left for these", func(t *testing.T) {
		p := begin("/autogroup-13 nice 0\n")
		p.add(3)
		is("/autogroup-13 nice 0\n")
		p.add(-1)
		is("-20")
		must(t, os.WriteFile(file, []byte("/autogroup-13 nice -20\n"), 0o600))
		p.add(1)
		is("0")
	})
	t.Run("a kernel without such groups is left alone", func(t *testing.T) {
		p := &precedence{file: filepath.Join(t.TempDir(), "none"), processors: 3}
		p.add(1)
		if _, err := os.Stat(p.file); !os.IsNotExist(err) {
			t.Errorf("a file was made: %v", err)
		}
	})
	t.Run("a session that is first already stays it", func(t *testing.T) {
		const shown = "/autogroup-13 nice -20\n"
		p := begin(shown)
		p.add(1)
		p.add(-1)
		is(shown)
	})
	if ahead.processors != runtime.NumCPU() {
		t.Errorf("%d processors, of %d here", ahead.processors, runtime.NumCPU())
	}
}
