package kubectl

import (
	"slices"
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	const line = "vpp-imix  Waiting  3m  Queued: 1st in line for lab.dev/east: lab/vpp-imix holds 2 of 2"
	for name, c := range map[string]struct {
		width int
		want  []string
	}{
		"no terminal": {0, []string{line}},
		"a wide one":  {100, []string{line}},
		"a usual one": {60, []string{"vpp-imix  Waiting  3m  Queued: 1st in line for lab.dev/east:",
			strings.Repeat(" ", 23) + "lab/vpp-imix holds 2 of 2"}},
		"a narrow one": {40, []string{"vpp-imix  Waiting  3m", "    Queued: 1st in line for",
			"    lab.dev/east: lab/vpp-imix holds 2", "    of 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fold(line, strings.Index(line, "Queued"), c.width); !slices.Equal(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestWhatOthersWroteDrivesNoTerminal(t *testing.T) {
	if got, want := oneLine("pod\tdied:\n\x1b[2J\x1b]0;mine\a"), "pod died: \uFFFD[2J\uFFFD]0;mine\uFFFD"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
