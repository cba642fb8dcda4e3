package render

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestTheTableSumsItsDirections(t *testing.T) {
	r := reporttest.Measured()
	r.Answer.Saturated = true
	table, _, _ := strings.Cut(string(rendered(t, "text", r, r)), "\n\n")
	if !strings.HasSuffix(table, "        654.74 k          2.00 G            200.00") || !strings.Contains(table, "  % line rate, sum\n") {
		t.Errorf("full duplex reads\n%s", table)
	}
	if other := string(rendered(t, "markdown", r, r)); !strings.Contains(other, "| % of line rate |") || !strings.Contains(other, " | 2.00 G | 100.00 |") {
		t.Errorf("what all directions together carry has a head of its own, and reads\n%s", other)
	}
}

// A path that the run ended for is told once, and the other direction's beside it.
func TestAPathThatIsNotProvenIsToldOnce(t *testing.T) {
	r := reporttest.PathNotProven()
	r.Path[0].Message, r.Message = "the device has no route to 48.0.0.1", "the path west→east is not proven: the device has no route to 48.0.0.1"
	r.Path[1] = report.PathCheck{From: "east", To: "west", Sent: 8, Message: "the device has no route to 16.0.0.1"}
	text := string(rendered(t, "text", r))
	if strings.Count(text, "48.0.0.1") != 1 || strings.Count(text, "path east→west not proven: the device has no route to 16.0.0.1") != 1 {
		t.Error(text)
	}
}

// Loss that reads as within the limit, though more than that may be lost, is shown with both ends.
func TestLossThatEdgesMayHideIsShownAsAnInterval(t *testing.T) {
	for most, want := range map[units.Ratio]bool{units.One / 2000: false, units.One / 500: true} {
		for _, format := range []string{"text", "markdown", "html"} {
			r := reporttest.Measured()
			r.Answer.Directions[0].LossRatioMax, r.Totals = most, nil // which would show that none was lost
			if text := string(rendered(t, format, r)); strings.Contains(text, "0% to 0.2000%") != want {
				t.Errorf("%s may be lost at a limit of %s, and %s says so: %v", most, r.Plan.Procedure.MaxLossRatio, format, !want)
			}
		}
	}
}

func TestNegativeLossIsExplained(t *testing.T) {
	for _, format := range []string{"text", "markdown"} {
		r := reporttest.Measured()
		if text := string(rendered(t, format, r)); strings.Contains(text, "Negative loss") {
			t.Errorf("negative loss is explained where there is none:\n%s", text)
		}
		r.Answer.Directions[0].LossRatio = -units.One / 1000
		if text := string(rendered(t, format, r)); !strings.Contains(text, "Negative loss: more came back in this window") {
			t.Errorf("negative loss stands unexplained:\n%s", text)
		}
	}
}

func TestALowerBoundNeverReadsAsALimit(t *testing.T) {
	r := reporttest.Measured(reporttest.Weak(90_000))
	for _, name := range []string{"text", "markdown", "html"} {
		out := string(rendered(t, name, r))
		for _, figure := range []string{"549.84 M", "27.49", "260.52 M"} {
			for at := range strings.SplitSeq(out, "\n") {
				if strings.Contains(at, "ost received at any loss") || strings.Contains(at, "ax received") {
					continue
				}
				bare := strings.ReplaceAll(at, "width:"+figure, "")
				for _, exact := range []string{`title="27.49`, "≥" + figure} {
					bare = strings.ReplaceAll(bare, exact, "")
				}
				if strings.Contains(bare, figure) {
					t.Errorf("%s shows %s without its sign: %s", name, figure, at)
				}
			}
		}
	}
}

func TestWhatWasNotMeasuredIsNotZero(t *testing.T) {
	for _, name := range []string{"text", "markdown"} {
		out := string(rendered(t, name, reporttest.FailedAtStart()))
		if strings.Contains(out, "0.00") || !strings.Contains(out, "Not measured") {
			t.Errorf("%s says\n%s", name, out)
		}
	}
}

func TestTextFitsItsWidth(t *testing.T) {
	for _, width := range []int{60, 80, 100, 160} {
		var out bytes.Buffer
		if err := Write(&out, "text", OfReports(reporttest.Reports()...), TextOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width && !strings.HasPrefix(line, "Danos & <co> imix|64 (") {
				t.Errorf("a line of %d characters at width %d: %s", n, width, line)
			}
		}
	}
}

func TestColourAddsNothingButColour(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, "text", OfReports(reporttest.Reports()...), TextOptions{Color: true}); err != nil {
		t.Fatal(err)
	}
	plain := strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b["+red+"m", "", "\x1b["+green+"m", "", "\x1b["+yellow+"m", "").Replace(out.String())
	if plain != string(rendered(t, "text", reporttest.Reports()...)) || plain == out.String() {
		t.Error("without its colours it is another text, or it has none")
	}
}

func TestAReportCannotDriveTheTerminal(t *testing.T) {
	r := reporttest.Measured()
	r.Plan.Test.Product, r.Answer.Message, r.Verdict.Outcome = "VPP\x1b[2J", "done\x1b]0;title\a", "\x1b[31m"
	if out := rendered(t, "text", r); bytes.ContainsAny(out, "\x1b\a") {
		t.Errorf("control characters in %q", out)
	}
}

func TestWriteNamesItsFormats(t *testing.T) {
	var out bytes.Buffer
	err := Write(&out, "pdf", OfReports(reporttest.Measured()), TextOptions{})
	if err == nil || err.Error() != "there is no such format as pdf; use one of "+strings.Join(Formats(Tests), ", ") {
		t.Error(err)
	}
	err = Write(&out, "viz", OfReports(reporttest.Measured(), reporttest.Measured()), TextOptions{})
	if err == nil || !strings.Contains(err.Error(), "there are 2") {
		t.Error(err)
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{clockText(59.6), "1:00"},
		{clockText(3725), "1:02:05"},
		{capital("done"), "Done"},
		{capital(""), ""},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestALowerBoundForBurstsNamesThem(t *testing.T) {
	r := reporttest.Bursts()
	if got := answer.Sentence(r); !strings.Contains(got, "above it the generator sent in bursts") {
		t.Error(got)
	}
	for _, w := range warnings(r) {
		if strings.Contains(w, "generator generator-0 sent in bursts in") {
			t.Error(w)
		}
	}
}

func TestWhatAHostTookIsToldWhereItMatters(t *testing.T) {
	for _, tt := range []struct {
		stolen []report.Stolen
		want   string
	}{
		{nil, ""},
		{[]report.Stolen{{Generator: "g0", Percent: 0.9, WorstPercent: 4.9}}, ""},
		{[]report.Stolen{{Generator: "g0", Percent: 1, WorstPercent: 1.2}}, "generator g0 is on a virtual machine whose host took 1% of its processors' time while traffic ran, 1.2% in the worst second"},
		{[]report.Stolen{{Generator: "g0", Percent: 0.2, WorstPercent: 1}, {Generator: "g1", Percent: 0.44, WorstPercent: 12.52}}, "generator g1 is on a virtual machine whose host took 0.4% of its processors' time while traffic ran, 12.5% in the worst second"},
	} {
		r := reporttest.Measured()
		had := len(warnings(r))
		r.Stolen = tt.stolen
		got := strings.Join(warnings(r)[had:], "\n")
		if !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") || strings.Count(got, "virtual machine") > 1 {
			t.Errorf("%+v: %s", tt.stolen, got)
		}
	}
}

func TestWhatTheMachineItselfLostIsTold(t *testing.T) {
	packets := func(n int64) units.Traffic { return units.Traffic{Packets: n, Bytes: 64 * n} }
	for name, test := range map[string]struct {
		change func(*report.Report)
		want   string
	}{
		"beside what the limit took": {func(r *report.Report) {
			r.Totals = []report.Total{{From: "west", To: "east", Sent: packets(1000), Returned: packets(880), ReceiveErrors: 10, Drained: true, Limiter: &report.Limiter{Passed: 900, Dropped: 100}}}
		}, "this machine itself lost 10 frames from west→east, beside the 100 that the Reference's limit took"},
		"where it made a lower bound": {func(r *report.Report) {
			r.Answer.Saturated, r.Answer.Reason, r.Answer.Cause.Detail = false, report.MachineLimited, report.BelowReference
		}, "above it this machine lost frames that the Reference's limit lets through"},
		"where others had its processors": {func(r *report.Report) {
			r.Answer.Saturated, r.Answer.Reason = false, report.MachineLimited
			r.Answer.Cause = report.Cause{Detail: report.OtherPrograms, Process: "cc1"}
		}, "Lower bound: another program (cc1) used the device's processor. Stop it, or give the device a processor of its own."},
		"where the Reference has no limit": {func(r *report.Report) { r.Plan.DUT = plan.DUT{Type: "Reference"} },
			"this machine's kernel forwards no more, as the Reference has no limit"},
	} {
		t.Run(name, func(t *testing.T) {
			r := reporttest.Measured()
			r.Answer.Saturated, r.Answer.Reason = true, report.LossAboveLimit
			test.change(r)
			var out bytes.Buffer
			if err := Text(&out, r); err != nil {
				t.Fatal(err)
			}
			if said := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(said, test.want) {
				t.Errorf("no %q in\n%s", test.want, out.String())
			}
		})
	}
}
