package render

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// benchmarked are Reports of one device at three frame sizes, a search's, a frame loss curve, and one that has no
// place in RFC 2544's forms.
func benchmarked(t *testing.T) *report.RFC2544 {
	t.Helper()
	var all []*report.Report
	for _, size := range []int64{64, 512, 1518} {
		all = append(all, reporttest.Measured(reporttest.Frames(size), reporttest.Limited(150_000)))
	}
	text, err := os.ReadFile(filepath.Join("testdata", "frame-loss.json"))
	if err != nil {
		t.Fatal(err)
	}
	curve, err := report.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return history.RFC2544(append(all, searched(t), curve, reporttest.FailedAtStart()))
}

func writtenRFC2544(t *testing.T, format string, b *report.RFC2544) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, format, OfRFC2544(b), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestRFC2544InEachFormat(t *testing.T) {
	b := benchmarked(t)
	for format, name := range map[string]string{"text": "rfc2544.txt", "markdown": "rfc2544.md", "html": "rfc2544.html", "csv": "rfc2544.csv", "json": "rfc2544.json"} {
		t.Run(format, func(t *testing.T) { golden(t, name, []byte(writtenRFC2544(t, format, b))) })
	}
	if got := Formats(RFC2544); strings.Join(got, " ") != "text json markdown csv html" {
		t.Errorf("its formats are %v", got)
	}
}

// 512-byte frames and 10 Gbit/s: 10^10 ÷ (8 × 532) frames a second. The device forwards 8 of 12 kpps from east to west.
func TestRFC2544SaysWhatTheMediaCarries(t *testing.T) {
	b := benchmarked(t)
	for _, p := range b.Loss {
		if p.Stream.TheoreticalPacketsPerSecond != 2_349_624 || p.Stream.FrameBytes != "512" || p.Stream.Mixed || p.Stream.Protocol != "UDP over IPv4" {
			t.Errorf("%+v", p.Stream)
		}
		if p.Offered == "12000" && p.Stream.Direction == "east→west" {
			if loss := p.LossRatio.Float(); math.Abs(loss-1.0/3) > 0.01 {
				t.Errorf("%v of 12 kpps is lost by a device of 8", loss)
			}
			if p.InputPercent.FormatFixed() != "0.51" {
				t.Errorf("12 kpps are %s %% of the media's rate", p.InputPercent)
			}
		}
	}
	if len(b.Loss) < 4 || len(b.Throughput) < 4 || len(b.Missing) != 1 {
		t.Errorf("%d points of frame loss, %d of throughput, %+v", len(b.Loss), len(b.Throughput), b.Missing)
	}
}

func TestNoNumberBreaksRFC2544(t *testing.T) {
	for _, whole := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		var all []*report.Report
		for _, r := range benchmarked(t).Reports {
			r.Plan.Links = nil // prefixes can't be filled
			filled(reflect.ValueOf(r), whole, float64(whole))
			all = append(all, r)
		}
		for _, format := range Formats(RFC2544) {
			said := writtenRFC2544(t, format, history.RFC2544(all))
			for _, bad := range []string{"NaN", "+Inf", "-Inf", "%!"} {
				if strings.Contains(said, bad) {
					t.Errorf("%s of %d holds %s", format, whole, bad)
				}
			}
		}
	}
}

// Names of whoever wrote a document are text, and nothing else.
func TestRFC2544WritesNamesAsText(t *testing.T) {
	b := benchmarked(t)
	for _, r := range b.Reports {
		r.Plan.Test.Product = "<script>alert(1)</script>\x1b[2J"
	}
	b = history.RFC2544(b.Reports)
	for _, format := range []string{"text", "markdown", "html"} {
		if said := writtenRFC2544(t, format, b); strings.Contains(said, "<script>alert") && format != "text" || strings.Contains(said, "\x1b") && format == "text" {
			t.Errorf("%s has a name of the document's as it is", format)
		}
	}
}

// leaky is a search's Report of a device that always loses some: its NDR has no figure. Its goals may be in the
// other order.
func leaky(t *testing.T, reversed bool) *report.Report {
	t.Helper()
	r := searched(t)
	goals := r.Answer.Goals
	goals[0].Answer = report.Answer{Reason: report.NoCleanLoad, Message: "even 1 kpps lost frames"}
	if reversed {
		slices.Reverse(goals)
	}
	r.Answer = goals[0].Answer
	r.Answer.Goals = goals
	return r
}

// RFC 2544's throughput allows no loss: that a device has none is told, and a rate that allows some says how much.
func TestAGoalWithoutFigureIsMissing(t *testing.T) {
	for _, reversed := range []bool{false, true} {
		b := history.RFC2544([]*report.Report{leaky(t, reversed)})
		if len(b.Missing) != 1 || b.Missing[0] != (report.Missing{Test: "scene, NDR", Reason: "NoCleanLoad", Message: "even 1 kpps lost frames"}) {
			t.Errorf("reversed: %t: %+v", reversed, b.Missing)
		}
		if len(b.Throughput) != 2 || b.Throughput[0].Goal != "PDR" {
			t.Errorf("reversed: %t: %+v", reversed, b.Throughput)
		}
		for _, format := range []string{"text", "markdown", "html"} {
			said := strings.Join(strings.Fields(writtenRFC2544(t, format, b)), " ")
			for _, want := range []string{"scene, NDR", "even 1 kpps lost frames", "with up to 0.5% lost"} {
				if !strings.Contains(said, want) {
					t.Errorf("%s doesn't say %q", format, want)
				}
			}
		}
	}
}

// Whatever the order of the goals, the statement is of the least loss allowed.
func TestTheStatementAllowsAsLittleLossAsAnyRow(t *testing.T) {
	r := searched(t)
	for i := range r.Answer.Goals[0].Answer.Directions {
		r.Answer.Goals[0].Answer.Directions[i].Received.PacketsPerSecond = 7_001
	}
	slices.Reverse(r.Answer.Goals)
	goals := r.Answer.Goals
	r.Answer = goals[0].Answer
	r.Answer.Goals = goals
	b := history.RFC2544([]*report.Report{r})
	if said := statement(b, "sim"); !strings.HasPrefix(said, "7,001 frames/s") || strings.Contains(said, "lost") {
		t.Errorf("%s", said)
	}
}

// A ramp that was not confirmed has trials as short as the window that its figures are of.
func TestTrialsThatAreTooShortAreTold(t *testing.T) {
	r := reporttest.Measured(reporttest.Frames(64), reporttest.Limited(150_000))
	for _, c := range []struct {
		confirm   time.Duration
		confirmed bool
		want      time.Duration
	}{{0, false, 9500 * time.Millisecond}, {time.Minute, false, 9500 * time.Millisecond}, {time.Minute, true, time.Minute}} {
		r.Plan.Procedure.Ramp.ConfirmDuration, r.Answer.Confirmed = plan.Duration(c.confirm), c.confirmed
		b := history.RFC2544([]*report.Report{r})
		if got := b.Throughput[0].Stream.TrialDuration.Std(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
		if told := strings.Contains(writtenRFC2544(t, "text", b), "trials lasted from 9.5s on"); told != (c.want < time.Minute) {
			t.Errorf("%+v: told: %t", c, told)
		}
	}
}
