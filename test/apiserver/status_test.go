package apiserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// measured is a status as a finished run leaves it.
const measured = `{"status": {
	"observedGeneration": 1,
	"summary": "654.40 Kpps  2.00 Gbps  99.95% of line rate",
	"progress": {"step": "Complete", "percent": 100},
	"conditions": [{"type": "Passed", "status": "True", "reason": "CriteriaMet", "message": "all criteria are met", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
	"result": {"saturated": true, "confirmed": true, "reason": "LossAboveLimit", "directions": [{"from": "west", "to": "east",
		"intended": {"packetsPerSecond": 327200, "layer1BitsPerSecond": 999500000, "layer2BitsPerSecond": 947148000}, "lossRatio": "0"}]}
}}`

// mergeStatus patches as a controller does.
func mergeStatus(t *testing.T, test *v1alpha1.LoadTest, patch string) error {
	t.Helper()
	return typed.Status().Patch(t.Context(), test, client.RawPatch(types.MergePatchType, []byte(patch)))
}

func TestStatus(t *testing.T) {
	t.Run("is written through its subresource, and reads back typed", func(t *testing.T) {
		test := newShortest(t)
		if err := mergeStatus(t, test, measured); err != nil {
			t.Fatal(err)
		}
		test = stored(t, test.Namespace, test.Name)
		if got := test.Status.Result.Directions[0].Intended.PacketsPerSecond; got != 327200 || *test.Status.Progress.Percent != 100 {
			t.Errorf("intended %d packets/s, at %d %%", got, *test.Status.Progress.Percent)
		}
		if test.Generation != 1 {
			t.Errorf("generation is %d: a status is no change of what is wanted", test.Generation)
		}
	})
	t.Run("is not written with the rest of the object", func(t *testing.T) {
		test := newShortest(t, "status: {observedGeneration: 7, summary: made up}\n")
		if err := merge(t, test, measured); err != nil {
			t.Fatal(err)
		}
		if got := stored(t, test.Namespace, test.Name).Status; got.ObservedGeneration != -1 || got.Summary != "" {
			t.Errorf("status is %+v", got)
		}
	})
	t.Run("can't take a spec along", func(t *testing.T) {
		test := newShortest(t)
		if err := mergeStatus(t, test, `{"spec": {"activeDeadline": "2h"}, "status": {"summary": "x"}}`); err != nil {
			t.Fatal(err)
		}
		if got := stored(t, test.Namespace, test.Name); got.Spec.ActiveDeadline != "1h" || got.Status.Summary != "x" {
			t.Errorf("activeDeadline %s, summary %s", got.Spec.ActiveDeadline, got.Status.Summary)
		}
	})
	t.Run("is held to its schema", func(t *testing.T) {
		err := mergeStatus(t, newShortest(t), `{"status": {"progress": {"percent": 101}}}`)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "status.progress.percent") {
			t.Errorf("the server says %v", err)
		}
	})
}

// Tools that wait for objects take one without conditions for done, unless it says that nobody has looked at it yet.
func TestAFreshLoadTestIsInProgressForTools(t *testing.T) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(newShortest(t))
	if err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: content})
	if err != nil || result.Status != status.InProgressStatus {
		t.Errorf("kstatus says %v (%v)", result, err)
	}
}

func TestColumns(t *testing.T) {
	test := newShortest(t)
	t.Run("before the run they say what is measured", func(t *testing.T) {
		want := []string{"Name=shortest", "DUT=Reference", "Profile=IMIX", "Engine=Software", "Step=", "%=", "Result=", "Passed=", "Why="}
		if got := cells(t, test.Namespace); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
	if err := mergeStatus(t, test, measured); err != nil {
		t.Fatal(err)
	}
	t.Run("after it, what came out", func(t *testing.T) {
		want := []string{"Name=shortest", "DUT=Reference", "Profile=IMIX", "Engine=Software", "Step=Complete", "%=100",
			"Result=654.40 Kpps  2.00 Gbps  99.95% of line rate", "Passed=True", "Why=LossAboveLimit"}
		if got := cells(t, test.Namespace); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

// cells are the first row of what kubectl get -o wide prints, without the age, each with its column's name.
func cells(t *testing.T, namespace string) []string {
	t.Helper()
	answer, err := raw.Get().Namespace(namespace).Resource("loadtests").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Raw()
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(answer, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != 1 {
		t.Fatalf("%d rows", len(table.Rows))
	}
	var texts []string
	for i, cell := range table.Rows[0].Cells {
		switch name := table.ColumnDefinitions[i].Name; {
		case name == "Age":
		case cell == nil:
			texts = append(texts, name+"=")
		default:
			texts = append(texts, fmt.Sprintf("%s=%v", name, cell))
		}
	}
	return texts
}
