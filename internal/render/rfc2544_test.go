package render

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/history"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/report/reporttest"
)

// benchmarked are Reports of one device at three frame sizes, a search's, a frame loss curve, and one that has no place in RFC 2544's forms.
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
	return history.RFC2544(append(all, searched(t), curve, reporttest.Nothing()))
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
	for _, p := range b.FrameLoss {
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
	if len(b.FrameLoss) < 4 || len(b.Throughput) < 4 || len(b.Without) != 1 {
		t.Errorf("%d points of frame loss, %d of throughput, %+v", len(b.FrameLoss), len(b.Throughput), b.Without)
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
