package frames_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

func TestALinkThatChangedItsStateDuringTheRunIsInTheReport(t *testing.T) {
	for name, c := range map[string]struct {
		moment float64
		void   int // windows
	}{"within a window": {13.2, 1}, "while a load settles": {12, 0}} {
		t.Run(name, func(t *testing.T) {
			r := scene(fault(0, sim.Flap, c.moment)).run(t)
			void := 0
			for _, w := range r.Windows {
				if strings.Contains(w.Reason, "the link changed its state 2 times") && w.Quality == report.Invalid {
					void++
				}
			}
			if void != c.void {
				t.Errorf("%d windows are void, want %d", void, c.void)
			}
			for _, p := range r.Generators[0].Ports {
				if p.LinkChanges != 2 {
					t.Errorf("%s changed %d times", p.Link, p.LinkChanges)
				}
			}
			if lines := trace(r); strings.Count(lines,
				"the link of west (generator g0) changed its state 2 times, and is up now") != 1 {
				t.Errorf("the trace says\n%s", lines)
			}
			var text strings.Builder
			if err := render.Text(&text, r); err != nil ||
				!strings.Contains(text.String(),
					"the link of east (generator g0) changed its state 2 times during the run") {
				t.Errorf("%v\n%s", err, text.String())
			}
		})
	}
	if quiet := scene().run(t); quiet.Generators[0].Ports[0].LinkChanges != 0 {
		t.Error("a link that stayed up changed")
	}
}
