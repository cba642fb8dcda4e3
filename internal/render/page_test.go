package render

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// Debian's tidy is of before HTML allowed a div that groups terms of a dl, and takes SVG's title for a page's: it
// is shown the page without the ones and with another name for the others.
var (
	grouped  = strings.NewReplacer("<div><dt>", "<dt>", "</dd></div>", "</dd>")
	svgTitle = regexp.MustCompile(`<title( id="[^"]*")>([^<]*)</title>`)
)

// validHTML holds a page against tidy, which is Debian's checker of HTML, and against what tidy doesn't know of
// HTML: no id is there twice, and a time is one.
func validHTML(t *testing.T, page []byte) {
	t.Helper()
	tidy, err := exec.LookPath("tidy")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("this test wants tidy: hack/ci-packages installs it")
		}
		t.Skip("needs tidy: apt-get install tidy")
	}
	cmd := exec.CommandContext(t.Context(), tidy, "-errors", "-quiet", "-utf8", "--drop-empty-elements", "no", "--mute", "TRIM_EMPTY_ELEMENT")
	cmd.Stdin = strings.NewReader(svgTitle.ReplaceAllString(grouped.Replace(string(page)), `<desc$1>$2</desc>`))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("tidy: %v\n%.2000s", err, out)
	}
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if id := attr(n, "id"); id != "" && ids[id] {
			t.Errorf("id %s is there twice", id)
		} else if id != "" {
			ids[id] = true
		}
		if when := attr(n, "datetime"); n.Data == "time" && !validTime.MatchString(when) {
			t.Errorf("<time datetime=%q>%s</time> is no time", when, textOf(n))
		}
	}
	for _, r := range string(page) {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f {
			t.Errorf("it has the forbidden character %U", r)
		}
	}
}

// validTime is a duration or a time with its zone, as an element time has them.
var validTime = regexp.MustCompile(`^(PT\d+(\.\d{1,3})?S|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))$`)

// Each page that is stored is the newest, as other tests hold.
func TestEveryPageThatIsStoredIsValid(t *testing.T) {
	stored, err := filepath.Glob("testdata/*.html")
	more, _ := filepath.Glob("../result/history/testdata/*.html")
	if err != nil || len(stored) < 10 || len(more) < 8 {
		t.Fatalf("%d and %d pages, %v", len(stored), len(more), err)
	}
	for _, name := range append(stored, more...) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			page, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			validHTML(t, page)
		})
	}
}

func TestThePageOfEveryKindOfReportIsValid(t *testing.T) {
	hostile := reporttest.Measured(reporttest.Limited(150_000))
	hostile.Observations = []report.Observation{{Observer: "box", Observed: plan.OfDUT, Type: plan.ObserveRedfish, Series: []report.VitalSign{
		{Name: "temperature", Subject: "CPU \u202e\u2028\u0085<script>&\"'", Unit: "°C", Kind: report.Gauge, Samples: []report.VitalSample{{Time: 1, Value: 41}, {Time: 2, Value: 42}}}}}}
	for _, s := range append(reporttest.Scenarios(), reporttest.Scenario{Name: "hostile names", Report: hostile},
		reporttest.Scenario{Name: "sessions", Report: reporttest.Sessions(46_500_000)}, reporttest.Scenario{Name: "datagrams", Report: reporttest.Datagrams(40_000_000)}) {
		t.Run(s.Name, func(t *testing.T) {
			for _, at := range []time.Duration{0, 26118818, 69640300018, 26 * time.Hour} {
				s.Report.Notes = append(s.Report.Notes, report.Note{Time: plan.Duration(at), Message: "the run decided this"})
			}
			validHTML(t, rendered(t, "html", s.Report))
		})
	}
	t.Run("all", func(t *testing.T) { validHTML(t, rendered(t, "html", reporttest.Reports()...)) })
}

// A name may turn the text after it round, or break its line, on a terminal and on a page.
func TestNoNameTurnsTextRound(t *testing.T) {
	r := reporttest.Measured(reporttest.Limited(150_000))
	r.Observations = []report.Observation{{Observer: "box", Observed: plan.OfDUT, Type: plan.ObserveRedfish, Series: []report.VitalSign{{Name: "temperature", Subject: "CPU \u202e\u2066\u2028\u0085 1", Unit: "°C", Kind: report.Gauge}}}}
	for _, format := range []string{"text", "markdown", "html"} {
		if out := string(rendered(t, format, r)); strings.ContainsAny(out, "\u202e\u2066\u2028\u0085") {
			t.Errorf("%s has a character that does", format)
		}
	}
}

// Why a series is missing may be a long sentence, which goes on below itself.
func TestALongReasonStaysWithinTheWidth(t *testing.T) {
	r := reporttest.Measured(reporttest.Limited(150_000))
	why := strings.Repeat("the agent at 192.0.2.2 doesn't answer who shows a community that it doesn't know, ", 4)
	r.Observations = []report.Observation{{Observer: "box", Observed: plan.OfDUT, Type: plan.ObserveSNMP, Missing: why}, {Observer: "other", Observed: plan.OfDUT, Type: plan.ObserveSNMP, Series: []report.VitalSign{{Name: "value", Subject: "port", Unit: "°C"}}}}
	out := string(rendered(t, "text", r))
	for line := range strings.Lines(out) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 100 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if words := strings.Join(strings.Fields(out), " "); !strings.Contains(words, strings.TrimSpace(why)) {
		t.Errorf("the reason isn't whole:\n%s", out)
	}
}

// What differs by less than is printed is the same.
func TestAConstantIsToldOnce(t *testing.T) {
	most := 344.6
	mean := math.Nextafter(most, 400)
	s := report.VitalSign{Name: "power", Subject: "box", Unit: "W", Kind: report.Gauge}
	for of, want := range map[*float64]string{&most: "344.6 W", new(350.0): "344.6 W, at most 350 W"} {
		if got := vitalIn([]report.Observed{{Observer: "bmc", Series: "power", Subject: "box", Unit: "W", Mean: &mean, Max: of}}, "bmc", s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
