package apiserver

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// A client that drops what it doesn't know drops a misspelt field, too: what is measured, and with what, is never a default in its place.
func TestADUTIsRequired(t *testing.T) {
	const links = "  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]\n"
	for name, c := range map[string]struct{ spec, want string }{
		"no dut":                     {"", "spec.dut: Required value"},
		"an empty one":               {"  dut: {}\n", "spec.dut.type: Required value"},
		"one without a type":         {"  dut: {readyDelay: 5s}\n", "spec.dut.type: Required value"},
		"a pod without a type":       {"  dut: {pod: {template: {}}}\n", "spec.dut.type: Required value"},
		"a limit without a type":     {"  dut: {reference: {limit: {packetsPerSecond: 10000}}}\n", "spec.dut.type: Required value"},
		"no engine":                  {"  dut: {type: Reference}\n  generator: {replicas: 2}\n", "spec.generator.engine: Required value"},
		"an empty generator":         {"  dut: {type: Reference}\n  generator: {}\n", "spec.generator.engine: Required value"},
		"TRex's part, and no engine": {"  dut: {type: Reference}\n  generator: {trex: {image: a}}\n", "spec.generator.engine: Required value"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := create(t, newNamespace(t), fmt.Appendf(nil, "apiVersion: linerate.dev/v1alpha1\nkind: LoadTest\nmetadata: {name: said}\nspec:\n%s%s", c.spec, links))
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "no such key") {
				t.Errorf("the server says %v", err)
			}
		})
	}
}

func TestAnActiveDeadlineStaysOnceTheRunHasBegun(t *testing.T) {
	test := newShortest(t)
	for _, deadline := range []string{"2h", "30m"} {
		if err := merge(t, test, `{"spec": {"activeDeadline": "`+deadline+`"}}`); err != nil || string(test.Spec.ActiveDeadline) != deadline {
			t.Fatalf("before the run: %s (%v)", test.Spec.ActiveDeadline, err)
		}
	}
	if err := mergeStatus(t, test, `{"status": {"startTime": "2026-01-01T00:00:00Z"}}`); err != nil {
		t.Fatal(err)
	}
	for _, deadline := range []string{`"2h"`, `"10m"`, "null"} {
		err := merge(t, test, `{"spec": {"activeDeadline": `+deadline+`}}`)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.activeDeadline") || !strings.Contains(err.Error(), "stop: true ends the test now") {
			t.Errorf("%s in the run: %v", deadline, err)
		}
	}
	if err := merge(t, test, `{"spec": {"stop": true, "activeDeadline": "30m"}}`); err != nil {
		t.Errorf("the same deadline with a stop: %v", err)
	}
	if err := mergeStatus(t, test, `{"status": {"startTime": null}}`); err != nil {
		t.Fatal(err)
	}
	for _, deadline := range []string{`"2h"`, "null"} {
		if err := merge(t, test, `{"spec": {"activeDeadline": `+deadline+`}}`); err != nil {
			t.Errorf("%s between two attempts: %v", deadline, err)
		}
	}
	if err := mergeStatus(t, test, `{"status": {"startTime": "2026-01-01T00:00:00Z"}}`); err != nil {
		t.Fatal(err)
	}
	if err := merge(t, test, `{"spec": {"activeDeadline": "2h"}}`); !apierrors.IsInvalid(err) {
		t.Errorf("a deadline that is added in the run: %v", err)
	}
}

// The ramp of a procedure that says nothing of one isn't stored: it would stand beside a procedure of another type.
func TestARampIsStoredWhereItIsSaidOnly(t *testing.T) {
	for more, want := range map[string]v1alpha1.Rate{
		"": "100%", "  procedure: {maxLossRatio: 0%}\n": "", "  procedure: {type: Ramp}\n": "", "  procedure: {ramp: {}}\n": "100%",
	} {
		test := newShortest(t, more)
		if got := test.Spec.Procedure; got.Type != v1alpha1.ProcedureRamp || got.Ramp.TargetRate != want {
			t.Errorf("%q is stored as %+v, want the target %q", more, got, want)
		}
	}
}

// What programs in Go read and write again must not turn a 0 that means something into the default.
func TestADescendingCurveStaysDescending(t *testing.T) {
	test := newShortest(t, "  procedure: {type: FrameLoss, frameLoss: {cleanTrials: 0}}\n")
	test.Labels = map[string]string{"seen": "yes"}
	if err := typed.Update(t.Context(), test); err != nil {
		t.Fatal(err)
	}
	if clean := test.Spec.Procedure.FrameLoss.CleanTrials; clean == nil || *clean != 0 {
		t.Errorf("cleanTrials is stored as %v", clean)
	}
	if ramp := test.Spec.Procedure.Ramp; ramp != (v1alpha1.RampSpec{}) {
		t.Errorf("the object also has the ramp %+v", ramp)
	}
}
