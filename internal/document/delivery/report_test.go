package delivery_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// aReport has so many samples and windows, with counters that don't pack well.
func aReport(samples, windows int) *report.Report {
	p, _ := aPlan()
	noise := rand.New(rand.NewPCG(1, 2))
	count := func() units.Traffic { return units.Traffic{Packets: noise.Int64(), Bytes: noise.Int64()} }
	r := &report.Report{Version: report.Version, Plan: p, Started: time.Unix(1e9, 0).UTC(), Finished: time.Unix(1e9+60, 0).UTC(), Ending: report.Completed}
	for i := range samples {
		r.Samples = append(r.Samples, report.Sample{Time: plan.Duration(i) * plan.Duration(time.Second), Directions: []report.SampleDirection{{Sent: count(), Returned: count()}}})
	}
	for i := range windows {
		r.Windows = append(r.Windows, report.Window{Number: i + 1, Reason: "w", Directions: []report.Direction{{Sent: count(), Returned: count(), Reason: fmt.Sprint("why ", noise.Int64())}}})
	}
	figure := report.Direction{From: "west", To: "east", Sent: count(), Reason: "the answer"}
	r.Answer = report.Answer{Measured: true, Window: windows - 1, Directions: []report.Direction{figure}, Total: &report.Sum{}, MaxReceived: &report.Sum{Window: windows}}
	return r
}

func TestReport(t *testing.T) {
	t.Run("the Report arrives as it was sent, with its envelope", func(t *testing.T) {
		r := aReport(10, 3)
		data, annotations, err := delivery.EncodeReport(r, true, 2)
		if err != nil {
			t.Fatal(err)
		}
		got, envelope, err := delivery.DecodeReport(data, annotations)
		if err != nil || text(t, got) != text(t, r) {
			t.Fatalf("got %+v, %v", got, err)
		}
		if envelope.Ending != "Completed" || envelope.Attempt != 2 || !envelope.Final || !strings.HasPrefix(envelope.Digest, "sha256:") {
			t.Errorf("envelope %+v", envelope)
		}
	})
	t.Run("the same Report makes the same bytes", func(t *testing.T) {
		a, annotationsA, _ := delivery.EncodeReport(aReport(10, 3), true, 2)
		b, annotationsB, _ := delivery.EncodeReport(aReport(10, 3), true, 2)
		if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(annotationsA, annotationsB) {
			t.Error("they differ")
		}
	})
}

func TestReportThatIsTooLarge(t *testing.T) {
	t.Run("a Report that is too large is thinned until it fits a ConfigMap", func(t *testing.T) {
		data, annotations, err := delivery.EncodeReport(aReport(40_000, 3), true, 1)
		if err != nil || len(data[delivery.KeyReport]) > delivery.MaxPacked {
			t.Fatalf("%d bytes, %v", len(data[delivery.KeyReport]), err)
		}
		if got, _, err := delivery.DecodeReport(data, annotations); err != nil || len(got.Notes) != 1 {
			t.Errorf("got %v, %v", got.Notes, err)
		}
	})
}

func TestDecodeReportRefuses(t *testing.T) {
	r := aReport(1, 2)
	change := func(f func(data map[string][]byte, annotations map[string]string)) (map[string][]byte, map[string]string) {
		data, annotations, err := delivery.EncodeReport(r, true, 1)
		if err != nil {
			t.Fatal(err)
		}
		f(data, annotations)
		return data, annotations
	}
	document, _ := json.Marshal(r)
	tests := map[string]struct {
		change func(data map[string][]byte, annotations map[string]string)
		want   string
	}{
		"one that was changed":            {func(d map[string][]byte, _ map[string]string) { d[delivery.KeyReport] = gz(append(document, ' ')) }, "somebody changed it"},
		"one whose ending was changed":    {func(_ map[string][]byte, a map[string]string) { a[delivery.AnnotationEnding] = "Interrupted" }, "announced"},
		"one without an envelope":         {func(_ map[string][]byte, a map[string]string) { clear(a) }, "no report"},
		"one whose attempt is no number":  {func(_ map[string][]byte, a map[string]string) { a[delivery.AnnotationAttempt] = "x" }, "no report"},
		"an envelope without its content": {func(d map[string][]byte, _ map[string]string) { clear(d) }, "not packed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := delivery.DecodeReport(change(tt.change))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

// A signature names the pod that wrote a document by both its name and its UID, and they aren't taken for each other.
func TestASignatureNamesAPodAndItsUID(t *testing.T) {
	if pod, uid := delivery.SignedBy(map[string]string{delivery.AnnotationRunner: delivery.Signature("t-1-runner-x7k2p", "9f86d081")}); pod != "t-1-runner-x7k2p" || uid != "9f86d081" {
		t.Errorf("pod %q, UID %q", pod, uid)
	}
	if pod, uid := delivery.SignedBy(nil); pod != "" || uid != "" {
		t.Errorf("nobody signed, and it is of pod %q, UID %q", pod, uid)
	}
}
