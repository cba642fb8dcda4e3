package cli

import (
	"os"
	"strings"
	"testing"
)

// TestARampSendsWhatItsFileSays: a name that TRex ships stands for its profile only where no file has it; a
// program is refused, never replaced.
func TestARampSendsWhatItsFileSays(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"own/imix.py": "SIZES = [900]", "own/udp_1pkt_simple.py": "", "own.py": "",
		"imix": `[{"mode": {"type": "continuous", "rate": {"type": "pps", "value": 1}}, "packet": {"binary": "AAAAAQAAAAAAAgAACABFAAAuAAEAAEAROr0QAAABMAAAAQQBAAwAGgAAeHh4eHh4eHh4eHh4eHh4eHh4"}}]`,
	} {
		if err := os.MkdirAll("own", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]struct {
		streams int
		message string // an error
	}{
		"imix.py":            {3, ""},
		"udp_1pkt_simple":    {1, ""},
		"udp_1pkt_simple.py": {1, ""},
		"imix":               {1, ""}, // the file's
		"own/imix.py": {0, "is a program that only TRex's own library can run: give TRex's folder as --trex-dir, export the streams as JSON, " +
			"or write imix for the profile of this name that TRex ships"},
		"own/udp_1pkt_simple.py": {0, "is a program"},
		"own.py":                 {0, "is a program"},
		"stl/imix.py":            {0, "there is no such file, and none of this name that TRex ships"},
		"bench.py":               {0, "there is no such file"},
		"streams.json":           {0, "no such file"},
	} {
		l, err := rampTraffic(t.Context(), name, "")
		switch {
		case want.message == "" && (err != nil || len(l.sides[0].Streams) != want.streams):
			t.Errorf("%s: %d streams, %v", name, len(l.sides[0].Streams), err)
		case want.message != "" && (err == nil || !strings.Contains(err.Error(), want.message)):
			t.Errorf("%s: %v, want …%s…", name, err, want.message)
		}
	}
}
