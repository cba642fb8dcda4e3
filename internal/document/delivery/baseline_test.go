package delivery_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func TestABaselineTravels(t *testing.T) {
	want := report.Baseline{Kind: "LoadTest", Name: "main", Runs: []report.BaselineRun{{Test: "main", Report: "sha256:1", LineRates: []report.LineRate{{Link: "west", BitsPerSecond: 5, Source: "spec"}},
		Answer: report.Answer{Measured: true, Reason: report.LossAboveLimit, Directions: []report.Direction{{From: "west", To: "east", Received: report.Flow{PacketsPerSecond: 9}}}, Claim: report.Claim{Saturated: true}}}}}
	packed, err := delivery.EncodeBaseline(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := delivery.ReadBaseline(fstest.MapFS{delivery.KeyBaseline: {Data: packed}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutABaselineThereIsNone(t *testing.T) {
	if got, err := delivery.ReadBaseline(fstest.MapFS{}); got != nil || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestABaselineThatCantBeReadIsRefused(t *testing.T) {
	for name, data := range map[string][]byte{"empty": nil, "not packed": []byte(`{"version": "linerate.dev/baseline.v1alpha1"}`)} {
		if _, err := delivery.ReadBaseline(fstest.MapFS{delivery.KeyBaseline: {Data: data}}); err == nil || !strings.Contains(err.Error(), delivery.KeyBaseline) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABaselineThatIsTooLargeIsRefused(t *testing.T) {
	r, b := rand.New(rand.NewPCG(1, 2)), report.Baseline{Kind: "Report", Name: "kept"}
	for range 20_000 {
		b.Runs = append(b.Runs, report.BaselineRun{Test: strconv.FormatUint(r.Uint64(), 36)})
	}
	if _, err := delivery.EncodeBaseline(b); err == nil || !strings.Contains(err.Error(), "use fewer runs") {
		t.Errorf("got %v", err)
	}
}

func FuzzReadBaseline(f *testing.F) {
	packed, err := delivery.EncodeBaseline(report.Baseline{Kind: "LoadTest", Name: "main", Runs: []report.BaselineRun{{Test: "main"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := delivery.ReadBaseline(fstest.MapFS{delivery.KeyBaseline: {Data: data}})
		if (b == nil) != (err != nil) {
			t.Fatalf("%+v, %v", b, err)
		}
		if err != nil {
			return
		}
		if _, err := delivery.EncodeBaseline(*b); err != nil && !strings.Contains(err.Error(), "fewer runs") {
			t.Errorf("what was read can't be written: %v", err)
		}
	})
}
