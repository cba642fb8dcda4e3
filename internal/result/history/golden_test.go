package history_test

import (
	"bytes"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/units"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("%s differs from what is written; go test -update shows the difference in git\ngot:\n%s", file, out.String())
	}
	for _, outside := range []string{"http://", "https://", "@import", "url(", "ZgotmplZ", "NaN", "Inf", "%!"} {
		if strings.Contains(out.String(), outside) {
			t.Errorf("%s holds %q", file, outside)
		}
	}
}

// releases are three releases of two products: one got slower, one faster, and one was measured in another way.
func releases() []history.Side {
	return []history.Side{
		{Name: "v1.3", Records: append(runs(5, 1_780_000, called("VPP", "64b")), append(runs(5, 654_400, called("VPP", "imix")), runs(2, 96_930, called("Linux", "64b"))...)...)},
		{Name: "v1.4", Records: anew(append(runs(5, 1_690_000, called("VPP", "64b")), append(runs(5, 655_000, called("VPP", "imix"), weak), runs(1, 96_930, called("Linux", "64b"))...)...))},
		{Name: "v1.5", Records: anew(anew(append(runs(5, 1_850_000, called("VPP", "64b")), append(runs(5, 654_400, called("VPP", "imix"), to(50)), record(9, 0, called("Linux", "64b"), lost))...)))},
	}
}

// nights are two months of one test, with all that can happen, and a few of another.
func nights() []history.Record {
	random := rand.New(rand.NewPCG(11, 12))
	var all []history.Record
	for day := range 60 {
		around, options := 1_780_000.0, []option{called("VPP", "64b")}
		switch {
		case day == 17:
			around = 1_610_000
		case day >= 42:
			around, options = 1_432_000, append(options, to(80))
		case day >= 28:
			around, options = 1_727_000, append(options, limited(900_000))
		}
		switch day {
		case 11, 47:
			options = append(options, lost)
		case 52:
			options = append(options, weak)
		}
		all = append(all, record(day, int64(around*(1+0.003*random.NormFloat64())), options...))
	}
	for day := range 9 {
		all = append(all, record(day*7, int64(96_930*(1+0.004*random.NormFloat64())), called("Linux <old>", "imix")))
	}
	return all
}

// in writes a document in a format, for files.
func in(format string, d render.Document) func(io.Writer) error {
	return func(w io.Writer) error { return render.Write(w, format, d, render.TextOptions{}) }
}

func TestComparisonsReadAsTheyDid(t *testing.T) {
	for name, demand := range map[string]*comparison.Allowance{"comparison": nil, "comparison-demanding": {MaxRegression: units.One / 50}} {
		c := history.Compare(releases(), demand, nil)
		golden(t, name+".txt", func(w io.Writer) error {
			return render.Write(w, "text", render.OfComparison(c), render.TextOptions{Width: 160})
		})
		golden(t, name+"-narrow.txt", func(w io.Writer) error {
			return render.Write(w, "text", render.OfComparison(c), render.TextOptions{Width: 60, Color: true})
		})
		golden(t, name+".md", in("markdown", render.OfComparison(c)))
		golden(t, name+".html", in("html", render.OfComparison(c)))
		golden(t, name+".json", in("json", render.OfComparison(c)))
	}
}

func TestTrendsReadAsTheyDid(t *testing.T) {
	trend := history.Trend("VPP and Linux, nightly", nights(), nil)
	golden(t, "trend.txt", in("text", render.OfTrend(trend)))
	golden(t, "trend.md", in("markdown", render.OfTrend(trend)))
	golden(t, "trend.html", in("html", render.OfTrend(trend)))
	golden(t, "trend.json", in("json", render.OfTrend(trend)))
	few := history.Trend("", []history.Record{record(0, 5), record(0, 0, lost, called("a", "b"))}, nil)
	golden(t, "trend-few.txt", func(w io.Writer) error {
		return render.Write(w, "text", render.OfTrend(few), render.TextOptions{Width: 60})
	})
	golden(t, "trend-few.html", in("html", render.OfTrend(few)))
}
