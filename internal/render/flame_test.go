package render

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/profile"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// profiledReport has a profile whose functions have names that HTML would read otherwise.
func profiledReport() *report.Report {
	r := reporttest.Measured()
	r.Profile = &report.Profile{Window: r.Windows[len(r.Windows)-1].Number, Processors: 2, SamplesPerSecond: 997, Samples: 1200, Frames: 1_000_000,
		Stacks: []string{"softirq;net_rx_action;route<int> 600", "softirq;net_rx_action;burn [bpf] 300",
			"router;main.run 100", "[other];rare 2"}}
	if s, found := profile.Section(r); found {
		r.Answer.Sections = append(r.Answer.Sections, s)
	}
	return r
}

// Each function is as wide as its share, below its caller, and those that are too narrow are left out.
func TestAFlameGraphIsToScale(t *testing.T) {
	d := flames(profiledReport(), "t1")[0]
	boxes := map[string]box{}
	for _, b := range d.Bands {
		name, _, _ := strings.Cut(b.Title, ":")
		boxes[name] = b
	}
	softirq, route, burn := boxes["softirq"], boxes["route<int>"], boxes["burn [bpf]"]
	whole := d.Width / 1002
	for name, want := range map[string]float64{"softirq": 900 * whole, "route<int>": 600 * whole, "burn [bpf]": 300 * whole,
		"main.run": 100 * whole} {
		if got := boxes[name].W; got < want-1 || got > want+1 {
			t.Errorf("%s is %.1f wide, want %.1f", name, got, want)
		}
	}
	if route.X != softirq.X || burn.X < route.X+route.W || burn.Y != route.Y || route.Y <= softirq.Y ||
		boxes["router"].X < softirq.X+softirq.W || d.Height < route.Bottom() {
		t.Errorf("places: %+v", boxes)
	}
}

func TestAPageHasTheFlameGraph(t *testing.T) {
	var page strings.Builder
	if err := writeTestsPage(&page, []*report.Report{profiledReport(), reporttest.Measured()}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(page.String(), `<figure class="flames">`); n != 1 {
		t.Errorf("%d flame graphs, want that of the report with a profile", n)
	}
	for _, want := range []string{"route&lt;int&gt;: 59.9 %, itself 59.9 %", "found the device"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page doesn't say %q", want)
		}
	}
}

func TestTextAndMarkdownNameTheTopFunctions(t *testing.T) {
	for _, format := range []string{"text", "markdown"} {
		var text strings.Builder
		if err := Write(&text, format, OfTests(report.Documents{Reports: []*report.Report{profiledReport()}}),
			TextOptions{Width: 120}); err != nil {
			t.Fatal(err)
		}
		at := 0
		for _, name := range []string{"route", "burn", "main.run", "rare"} {
			i := strings.Index(text.String(), name)
			if i < at {
				t.Errorf("%s: %s is not in its place:\n%s", format, name, text.String())
			}
			at = i
		}
	}
}
