package delivery

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/units"
)

// Samples of sessions are counters, so that what is left of them still says what came in between.
func TestThinnedSamplesOfSessionsLoseNoPayload(t *testing.T) {
	const goodput = 8_000_000
	r := wide(0, 4, 4)
	for second := range 2000 {
		in := time.Duration(second)*time.Second + time.Duration(second%7)*time.Millisecond
		r.Samples = append(r.Samples, report.Sample{Time: plan.Duration(second) * plan.Duration(time.Second),
			Directions: []report.SampleDirection{{Sessions: &report.SessionsSoFar{ReceivedBytes: int64(in / time.Microsecond), ReceivedIn: plan.Duration(in)}}}})
	}
	document, _, err := fit(r, 4<<10)
	if err != nil {
		t.Fatal(err)
	}
	got := new(report.Report)
	if err := json.Unmarshal(document, got); err != nil {
		t.Fatal(err)
	}
	if n := len(got.Samples); n < 32 || n > 1000 || got.Thinned == nil || got.Thinned.Samples != 2000 {
		t.Fatalf("%d samples of 2000 are left, and it says %+v", n, got.Thinned)
	}
	for i, now := range got.Samples[1:] {
		if rate, ok := now.Directions[0].Sessions.GoodputSince(*got.Samples[i].Directions[0].Sessions); !ok || rate != goodput {
			t.Errorf("from %s to %s goodput was %d bit/s, want %d", got.Samples[i].Time.Std(), now.Time.Std(), rate, goodput)
		}
	}
}

// wide has so many samples, windows and notes, with counters that don't pack well.
func wide(samples, windows, notes int) *report.Report {
	noise := rand.New(rand.NewPCG(1, 2))
	count := func() units.Traffic { return units.Traffic{Packets: noise.Int64(), Bytes: noise.Int64()} }
	r := &report.Report{Version: report.Version, Plan: &plan.Plan{Version: plan.Version}, Started: time.Unix(1e9, 0).UTC(), Finished: time.Unix(1e9+60, 0).UTC(), Ending: report.Completed}
	for i := range samples {
		r.Samples = append(r.Samples, report.Sample{Time: plan.Duration(i), Directions: []report.SampleDirection{{Sent: count(), Returned: count()}}})
	}
	for i := range windows {
		r.Windows = append(r.Windows, report.Window{Number: i + 1, Reason: "w", Directions: []report.Direction{{Sent: count(), Reason: fmt.Sprint("why ", noise.Int64())}}})
	}
	for range notes {
		r.Notes = append(r.Notes, report.Note{Message: fmt.Sprint("note ", noise.Int64())})
	}
	r.Answer = report.Answer{Measured: true, Window: windows - 1, Total: &report.Sum{}, MaxReceived: &report.Sum{Window: windows},
		Directions: []report.Direction{{From: "west", To: "east", Sent: count(), Reason: "the answer"}}}
	return r
}

func TestFit(t *testing.T) {
	tests := map[string]struct {
		samples, windows, notes int
		most                    int
		want                    string // in the note
		lost                    string // what may not be in it
	}{
		"what fits is whole":                     {100, 20, 10, 64 << 10, "", "report"},
		"samples are thinned first":              {2000, 20, 10, 32 << 10, "of 2000 samples;", "windows"},
		"then the directions' reasons":           {200, 500, 10, 21 << 10, "no reasons of single directions", "of 500 windows"},
		"then windows":                           {200, 500, 10, 16 << 10, "of 500 windows", "of 10 notes"},
		"then notes":                             {200, 100, 2000, 16 << 10, "40 of 2000 notes", "0 of 200 samples"},
		"and the last samples, when all is tiny": {200, 100, 100, 3 << 10, "0 of 200 samples", "no note"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := wide(tt.samples, tt.windows, tt.notes)
			before := marshal(t, r)
			document, packed, err := fit(r, tt.most)
			if err != nil || len(packed) > tt.most {
				t.Fatalf("%d bytes of %d, %v", len(packed), tt.most, err)
			}
			if marshal(t, r) != before {
				t.Error("the report itself was changed")
			}
			got := new(report.Report)
			if err := json.NewDecoder(bytes.NewReader(document)).Decode(got); err != nil {
				t.Fatal(err)
			}
			note := got.Notes[len(got.Notes)-1].Message
			if !strings.Contains(note, tt.want) || strings.Contains(note, tt.lost) && tt.lost != "" {
				t.Errorf("the last note is %q", note)
			}
			if marshal(t, got.Answer) != marshal(t, r.Answer) {
				t.Error("the result was touched")
			}
			if !citedKept(got) {
				t.Error("a window that the result cites is gone")
			}
		})
	}
	t.Run("plots go where there is no room for them, and tables stay", func(t *testing.T) {
		r := wide(10, 20, 10)
		plot := &report.Plot{}
		for i := range 4000 {
			x := report.Number(strconv.Itoa(i * i))
			plot.Points = append(plot.Points, report.PlotPoint{Window: i, X: x, Text: "window at " + string(x)})
		}
		r.Answer.Sections = []report.Section{{Title: "a table", Table: &report.SectionTable{}}, {Title: "a plot", Plot: plot}}
		document, _, err := fit(r, 8<<10)
		got := new(report.Report)
		if err = cmp.Or(err, json.Unmarshal(document, got)); err != nil {
			t.Fatal(err)
		}
		if n := len(got.Answer.Sections); n != 1 || got.Answer.Sections[0].Table == nil ||
			len(r.Answer.Sections) != 2 || !strings.Contains(got.Notes[len(got.Notes)-1].Message, "no plots of sections") {
			t.Errorf("%d sections: %+v", n, got.Notes)
		}
	})
	t.Run("the note counts what there was, and all renderers show it", func(t *testing.T) {
		r := wide(200, 500, 10)
		for i := range r.Windows[:100] {
			r.Windows[i].Quality = report.Invalid
		}
		document, _, err := fit(r, 12<<10)
		if err != nil {
			t.Fatal(err)
		}
		got := new(report.Report)
		if err := json.Unmarshal(document, got); err != nil {
			t.Fatal(err)
		}
		if want := (report.Thinned{Windows: 500, InvalidWindows: 100, Samples: 200, Notes: 10}); got.Thinned == nil || *got.Thinned != want || len(got.Windows) == 500 {
			t.Errorf("%d windows are kept, and %+v is told, not %+v", len(got.Windows), got.Thinned, want)
		}
		var text bytes.Buffer
		if err := render.Write(&text, "text", render.OfReports(got), render.TextOptions{Evidence: true}); err != nil || !strings.Contains(strings.Join(strings.Fields(text.String()), " "), "100 of 500 windows say nothing about the device") {
			t.Errorf("the text (%v) is\n%s", err, &text)
		}
	})
	t.Run("evidence goes before the directions' reasons, but for windows that the result cites", func(t *testing.T) {
		r := wide(200, 500, 10)
		for i := range r.Windows {
			r.Windows[i].Evidence = &report.Evidence{Directions: []report.DirectionEvidence{{Offered: units.PacketRate(r.Windows[i].Directions[0].Sent.Packets)}}}
		}
		document, _, err := fit(r, 25<<10)
		got := new(report.Report)
		if err != nil || json.Unmarshal(document, got) != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, w := range got.Windows {
			if w.Evidence != nil {
				kept++
			}
		}
		if note := got.Notes[len(got.Notes)-1].Message; kept != 2 || !strings.Contains(note, "no evidence to judge windows by other goals") || strings.Contains(note, "no reasons") {
			t.Errorf("%d windows kept their evidence, and the last note is %q", kept, note)
		}
	})
	t.Run("a Report that can't fit is an error with the way out", func(t *testing.T) {
		if _, _, err := fit(wide(1, 1, 1), 100); err == nil || !strings.Contains(err.Error(), "use fewer") {
			t.Errorf("got %v", err)
		}
	})
}

func TestAWindowThatWasOutvotedStays(t *testing.T) {
	r := &report.Report{Answer: report.Answer{Window: 9, Outvoted: []report.Outvoted{{Lossy: []int{7}, Judged: 3}}}}
	if !needsWindow(r, report.Window{Number: 7}) || needsWindow(r, report.Window{Number: 8}) {
		t.Error("of windows 7 and 8 the result cites 7, which was outvoted")
	}
}

func citedKept(r *report.Report) bool {
	kept := 0
	for _, w := range r.Windows {
		if needsWindow(r, w) && w.Directions[0].Reason != "" {
			kept++
		}
	}
	return kept == 2
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
