package machine

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
	write := func(shown string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(shown), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The kernel shows more than it is told: a write leaves nothing but the value here.
	begin := func(shown string) *precedence {
		write(shown)
		return &precedence{file: file, processors: 3}
	}
	t.Run("the session comes first while a thread sends, and then gets its own priority back", func(t *testing.T) {
		p := begin("/autogroup-13 nice 5\n")
		one, other := p.claim(1, 1, 0), p.claim(1, 0, 0)
		is("-20")
		one()
		is("-20")
		other()
		is("5")
	})
	t.Run("the session is like all others while no processor is left for these", func(t *testing.T) {
		p := begin("/autogroup-13 nice 0\n")
		done := p.claim(3, 3, 0)
		p.claim(1, 0, 0)
		is("/autogroup-13 nice 0\n")
		done()
		is("-20")
		write("/autogroup-13 nice -20\n")
		p.claim(3, 3, 0)
		is("0")
	})
	t.Run("a judge needs less priority than a sender", func(t *testing.T) {
		p := begin("/autogroup-13 nice 0\n")
		asks := p.claim(0, 0, 1)
		is("-10")
		sends := p.claim(1, 0, 0)
		is("-20")
		sends()
		is("-10")
		asks()
		is("0")
	})
	t.Run("a judge is heard also where threads fill all processors", func(t *testing.T) {
		p := begin("/autogroup-13 nice 0\n")
		p.claim(0, 0, 1)
		fill := p.claim(3, 3, 0)
		is("-10")
		fill()
		is("-10")
	})
	t.Run("a session that has more priority already keeps it", func(t *testing.T) {
		const shown = "/autogroup-13 nice -15\n"
		p := begin(shown)
		p.claim(0, 0, 1)()
		is(shown)
	})
	t.Run("a session with more priority than a judge needs gets it back from the senders", func(t *testing.T) {
		p := begin("/autogroup-13 nice -15\n")
		p.claim(0, 0, 1)
		sends := p.claim(1, 0, 0)
		is("-20")
		sends()
		is("-15")
	})
	t.Run("a kernel without such groups is left alone", func(t *testing.T) {
		p := &precedence{file: filepath.Join(t.TempDir(), "none"), processors: 3}
		p.claim(1, 1, 0)
		if _, err := os.Stat(p.file); !os.IsNotExist(err) {
			t.Errorf("a file was made: %v", err)
		}
	})
	t.Run("a session that is first already stays it", func(t *testing.T) {
		const shown = "/autogroup-13 nice -20\n"
		p := begin(shown)
		p.claim(1, 1, 0)()
		is(shown)
	})
	if ahead.processors != runtime.NumCPU() {
		t.Errorf("%d processors, of %d here", ahead.processors, runtime.NumCPU())
	}
}
