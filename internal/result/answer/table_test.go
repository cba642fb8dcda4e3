package answer

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// longestReport is a Report whose values are as long as people make them.
func longestReport(c cause) *report.Report {
	p := &plan.Plan{DUT: plan.DUT{Type: "Device", Forwarding: plan.L3},
		Links: []plan.Link{{Name: "west-access"}, {Name: "east-access"}}, Procedure: plan.Procedure{
			Type: plan.TypeRamp, MaxLossRatio: 1234,
			Ramp: plan.Ramp{ConfirmDuration: plan.Duration(1234500 * time.Millisecond)},
			Soak: &plan.Soak{LossRatio: 1234}}}
	direction := report.Direction{From: "west-access", To: "east-access", Limit: &report.DirectionLimit{LimitsAll: true}}
	return &report.Report{Plan: p, Ending: report.Completed, Answer: report.Answer{Measured: true, Reason: c.reason, Directions: []report.Direction{direction, direction}, Total: &report.Sum{}, Cause: report.Cause{Detail: c.detail, Lost: units.One * 1234 / 10_000, Acceptable: units.One * 2 / 10,
		PacketsPerSecond: 123_456_789, Process: "kworker/u16:3-events_unbound", Link: "west-access",
		Direction: direction.Name(), Elapsed: plan.Duration(123400 * time.Millisecond),
		Lasted: plan.Duration(123400 * time.Millisecond), Judged: plan.Duration(1234500 * time.Millisecond),
		Address: "198.18.100.100", Change: "Encapsulation", Found: "198.18.100.100:65535 and 198.18.100.101:65535 both arrive as 198.18.200.200:65535", FrameBytes: 9018, Routers: 12, Port: 65535,
		Held: plan.Duration(2234500 * time.Millisecond), Frames: 1_234_567}, Claim: report.Claim{ShownFor: plan.Duration(123400 * time.Millisecond)}}}
}

func TestEachReasonReadsAtOnce(t *testing.T) {
	numbered := regexp.MustCompile(`(?i)\b(windows?|threads?|process(es)?) [0-9]|[0-9] (windows?|threads?|process(es)?)\b`)
	for c, r := range table() {
		text := r.sentence(longestReport(c))
		name := string(c.reason) + " " + string(c.detail)
		if n := utf8.RuneCountInString(text); n > longest {
			t.Errorf("%s has %d characters, at most %d are read: %s", name, n, longest, text)
		}
		if strings.ContainsAny(strings.ReplaceAll(text, "links[].", "links."), "{}[]") || strings.Contains(text, "unknown value") || numbered.MatchString(text) {
			t.Errorf("%s: %s", name, text)
		}
		if strings.HasPrefix(text, capital(r.standing)+": ") != r.hasHeading(c.reason) || !strings.HasSuffix(text, ".") {
			t.Errorf("%s is no sentence: %s", name, text)
		}
	}
}

// Nobody needs to do anything about a limit that was found, about what was asked for, or about the share that came back.
func TestEachReasonHasAWayOutOrNeedsNone(t *testing.T) {
	needsNone := []string{saturated, bursts, estimated, goodput, lossCurve, carriedWhole}
	for c, r := range table() {
		fulfilled := false
		for _, standing := range needsNone {
			fulfilled = fulfilled || r.standing == standing
		}
		if r.wayOut == noWayOut && !fulfilled && c.detail != atLineRate {
			t.Errorf("%s %s is %s, and says no way out: %s", c.reason, c.detail, r.standing, r.says)
		}
	}
}

func TestEachReasonHasARow(t *testing.T) {
	for _, reason := range []report.Reason{report.LossAboveLimit, report.TargetReached, report.GeneratorLimited,
		report.MachineLimited, report.OtherDirection, report.BurstsOnly, report.NearGenerators, report.Inconclusive,
		report.LoadHeld, report.CurveMeasured, report.MaximumOffered, report.BurstsMeasured,
		report.TrainsMeasured, report.LoadEstimated,
		report.PathLimited, report.NotHeld, report.DeviceLost, report.NoCleanLoad, report.NotMeasured} {
		if _, ok := table()[cause{reason: reason}]; !ok {
			t.Errorf("%s has no row", reason)
		}
	}
}

// A Detail without a row would read like its Reason's other causes.
func TestEachDetailHasARow(t *testing.T) {
	source, err := parser.ParseFile(token.NewFileSet(), "../../document/report/cause.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows, details := map[report.Detail]bool{}, 0
	for c := range table() {
		rows[c.detail] = true
	}
	ast.Inspect(source, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(literal.Value, `"`) {
			if details++; !rows[report.Detail(strings.Trim(literal.Value, `"`))] {
				t.Errorf("%s has no row", literal.Value)
			}
		}
		switch n.(type) {
		case *ast.ImportSpec, *ast.Field, *ast.FuncDecl:
			return false
		}
		return true
	})
	if details < len(rows)/2 {
		t.Errorf("%d details are read of cause.go", details)
	}
}

func TestUnknownValuesAreLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		"used a processor[ ({process})].":            "used a processor.",
		"[Raise {target} to find its limit.]":        "",
		"[Accept it ({link}: {x}), or ]find {link}.": "find west.",
		"[Accept it ({link}), or ]find.":             "Accept it (west), or find.",
	} {
		if got := fill(text, map[string]string{"link": "west"}); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAFaultsMessageFits(t *testing.T) {
	r := &report.Report{Ending: report.Failed, Message: "the generator at 198.18.0.1:4501 said " + strings.Repeat("something long ", 20)}
	if got := Sentence(r); utf8.RuneCountInString(got) > longest || !strings.HasSuffix(got, " … See the evidence.") {
		t.Error(got)
	}
	r.Message = "the run took longer than activeDeadline; give it more time"
	if got := Sentence(r); got != "The run took longer than activeDeadline; give it more time." {
		t.Error(got)
	}
}

func TestAResultWithoutAFigureSaysSoOnce(t *testing.T) {
	for c, want := range map[cause][2]string{
		{report.NotHeld, report.LinkDown}: {"No result", "Link west-access went down 2.1 min after traffic began, and stayed " +
			"down. See why, then measure again."},
		{report.DeviceLost, ""}: {"No result", "The device stopped forwarding west-access→east-access 2.1 min into " +
			"traffic, for good. See if the device restarted or lost a link, then measure again."},
		{report.NotMeasured, report.NobodyAnswers}: {"Not measured", "Nobody answers for 198.18.100.100, the device's " +
			"address on link west-access. Is it a bridge? Set dut.forwarding: L2. Another address? links[].dut.address."},
		{report.NotMeasured, report.FrameTooLong}: {"Not measured", "9018-byte frames don't fit link west-access. Raise the " +
			"MTU of its ports to 9000, the device's too, or send smaller frames."},
		{report.NoCleanLoad, report.NothingJudged}: {"Not measured", "No load could be judged. Keep other work off the " +
			"processors, then measure again."},
		{report.NoCleanLoad, report.LossAtEveryLoad}: {"No clean load", "The device loses 12.34 % of frames at every load, " +
			"more than the 0.0001234 % allowed. Find the cause, which isn't overload, or set " +
			"procedure.maxLossRatio: 20%."},
	} {
		r := longestReport(c)
		r.Answer.Measured = false
		if first, second := Figure(r), Sentence(r); first != want[0] || second != want[1] {
			t.Errorf("%s %s: %s.\n%s\nwant\n%s.\n%s", c.reason, c.detail, first, second, want[0], want[1])
		}
	}
}

func TestTimesReadAsPeopleWriteThem(t *testing.T) {
	for d, want := range map[time.Duration]string{80 * time.Millisecond: "80 ms", time.Second: "1 s",
		10100 * time.Millisecond: "10.1 s", 90 * time.Second: "90 s", 3 * time.Minute: "3 min"} {
		if got := Duration(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

// What a person, a deadline or a lost generator ended shows no limit, and the target was not reached either.
func TestARunThatWasCutShortSaysByWhat(t *testing.T) {
	for ending, want := range map[report.Ending]string{
		report.Interrupted:   "Lower bound: the run was interrupted before the limit was found. Let it run to its end.",
		report.GeneratorLost: "Lower bound: a generator was lost before the limit was found. See its log, then measure again.",
		report.DeadlineExceeded: "Lower bound: the run's time was over before the limit was found. Measure again, with a " +
			"longer activeDeadline.",
	} {
		for _, c := range []cause{{report.TargetReached, ""}, {report.Inconclusive, report.CutShort}} {
			r := longestReport(c)
			r.Ending, r.Message, r.Answer.ShownFor = ending, strings.Repeat("generator g1 does not answer ", 20), 0
			if got := Sentence(r); got != want {
				t.Errorf("%s, %s: %s\nwant %s", ending, c.reason, got, want)
			}
			r.Answer = report.Answer{Reason: report.NotMeasured}
			if got := Sentence(r); !strings.Contains(got, "before anything was judged. ") {
				t.Errorf("%s without a figure: %s", ending, got)
			}
		}
	}
}

// A load that nothing is known of is no bound.
func TestNoBoundWithoutAFigure(t *testing.T) {
	for c := range table() {
		r := longestReport(c)
		r.Answer.Measured, r.Answer.Total = false, nil
		if got := Sentence(r); strings.HasPrefix(got, "Lower bound") || strings.HasPrefix(got, "Saturated") {
			t.Errorf("%s %s: %s", c.reason, c.detail, got)
		}
	}
}

// Where generators are joined, nothing can be said of a device.
func TestACalibrationSpeaksOfNoDevice(t *testing.T) {
	for _, reason := range []report.Reason{report.LossAboveLimit, report.TargetReached, report.GeneratorLimited,
		report.LoadHeld, report.CurveMeasured, report.MaximumOffered} {
		r := longestReport(cause{reason: reason})
		r.Plan.DUT, r.Answer.Confirmed = plan.DUT{Type: "Loopback"}, true
		if got := Sentence(r); strings.Contains(got, "the device") {
			t.Errorf("%s: %s", reason, got)
		}
	}
}
