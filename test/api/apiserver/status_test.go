package apiserver

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	"summary": "654 kpps both ways together (99.9 %)",
	"progress": {"phase": "Complete", "percent": 100},
	"conditions": [{"type": "Passed", "status": "True", "reason": "CriteriaMet", "message": "all criteria are met", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
	"result": {"reason": "LossAboveLimit", "claim": {"saturated": true, "confirmed": true}, "figures": [{"metric": "PacketsPerSecond",
		"direction": {"from": "west", "to": "east"}, "low": "327200", "unit": "packets/s"}]}
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
		if got := test.Status.Result.Figures[0]; got.Low != "327200" || got.Direction.From != "west" || *test.Status.Progress.Percent != 100 {
			t.Errorf("%+v, at %d %%", got, *test.Status.Progress.Percent)
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
		if got := stored(t, test.Namespace, test.Name); got.Spec.ActiveDeadline != "" || got.Status.Summary != "x" {
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

// The API server's account of who owns what is compared and stored with each write: a status has one owner, and one entry.
func TestAStatusIsOwnedAsAWhole(t *testing.T) {
	test := newShortest(t)
	if err := mergeStatus(t, test, measured); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(test.ManagedFields, func(m metav1.ManagedFieldsEntry) bool { return m.Subresource == "status" })
	if i < 0 {
		t.Fatalf("the status has no owner: %v", test.ManagedFields)
	}
	if got := test.ManagedFields[i].FieldsV1.GetRawString(); got != `{"f:status":{}}` {
		t.Errorf("its owner owns %s", got)
	}
}

// Tools that wait for objects treat an object without conditions as done, unless it says that no controller has seen it yet.
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

// at is a status between apply and verdict.
func at(phase, reason, passed, more string) string {
	return fmt.Sprintf(`{"status": {"observedGeneration": 1, "phase": %q, "reason": %q, %s "conditions": [%s]}}`, phase, reason, more,
		condition("Passed", passed))
}

// condition is True or False after its reason; only Passed is judged by its status.
func condition(kind, reason string) string {
	status := "False"
	if kind == "Passed" {
		status = reason
	}
	return fmt.Sprintf(`{"type": %q, "status": %q, "reason": %q, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}`, kind, status, reason)
}

const (
	podsOnNodes = `"pods": [{"name": "a", "role": "DUT", "node": "node-1"}, {"name": "b", "role": "Generator", "node": "node-2"}, {"name": "c", "role": "Generator", "node": "node-3"}],`
	figures     = `"progress": {"phase": "Complete", "percent": 100}, "summary": "654 kpps both ways together (99.9 %)", "result": {"claim": {"saturated": true, "confirmed": true}, "reason": "LossAboveLimit", "latency": "p99 20.1 µs at 0 %, 40.2 µs at 50 %"},`
)

func TestColumnsAnswerAtAGlance(t *testing.T) {
	const same = "DUT=Reference Profile=IMIX Engine=Software "
	for _, c := range []struct{ name, status, want string }{
		{"no controller has seen it yet", `{}`, "State= Progress= Result= Reason= Passed= " + same + "Node= Phase= Latency="},
		{"queued, and what for", at("Waiting", "ResourceMissing", "Unknown", ""),
			"State=Waiting Progress= Result= Reason=ResourceMissing Passed=Unknown " + same + "Node= Phase= Latency="},
		{"running, how far, and where", at("Running", "", "Unknown", podsOnNodes+`"progress": {"phase": "Ramping", "percent": 42},`),
			"State=Running Progress=42 Result= Reason= Passed=Unknown " + same + "Node=node-2 Phase=Ramping Latency="},
		{"done, with its result", at("Measured", "LossAboveLimit", "True", podsOnNodes+figures),
			"State=Measured Progress=100 Result=654 kpps both ways together (99.9 %) Reason=LossAboveLimit Passed=True " + same +
				"Node=node-2 Phase=Complete Latency=p99 20.1 µs at 0 %, 40.2 µs at 50 %"},
		{"ended badly, and how", at("Failed", "GeneratorLost", "Unknown", ""),
			"State=Failed Progress= Result= Reason=GeneratorLost Passed=Unknown " + same + "Node= Phase= Latency="},
	} {
		t.Run(c.name, func(t *testing.T) {
			test := newShortest(t)
			if err := mergeStatus(t, test, c.status); err != nil {
				t.Fatal(err)
			}
			got := cells(t, test.Namespace)
			if got[0] != "Name=shortest" || strings.Join(got[1:], " ") != c.want {
				t.Errorf("got  %q\nwant %s", got, c.want)
			}
		})
	}
}

// A terminal of 120 columns must do: kubectl parts columns by three spaces, and a column is as wide as its widest cell or its name.
func TestColumnsFitOnATerminal(t *testing.T) {
	test := newShortest(t)
	widest := strings.Replace(figures, `"Complete"`, `"ProvingPath"`, 1) // as rows of other tests beside it may have
	if err := mergeStatus(t, test, at("Measured", "GeneratorLimited", "Unknown", podsOnNodes+widest)); err != nil {
		t.Fatal(err)
	}
	table := tableOf(t, test.Namespace)
	width := 0
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			width += max(len(column.Name), len(fmt.Sprint(table.Rows[0].Cells[i]))) + 3
		}
	}
	more := len("a-name-as-people-give") - len("shortest")
	if width += more - 3; width > 120 {
		t.Errorf("kubectl get prints %d columns", width)
	}
	t.Logf("kubectl get prints %d columns", width)
}

// cells are the first row of what kubectl get -o wide prints, without the age, each with its column's name.
func cells(t *testing.T, namespace string) []string {
	t.Helper()
	table := tableOf(t, namespace)
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

func tableOf(t *testing.T, namespace string) metav1.Table {
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
	return table
}

// Whatever a controller can say, the schema keeps: a field that it doesn't know would be dropped without a word.
func TestEveryFieldOfAStatusIsStored(t *testing.T) {
	test := newShortest(t)
	moment := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local))
	want := v1alpha1.LoadTestStatus{}
	fill(reflect.ValueOf(&want).Elem(), moment)
	want.Conditions[0].Status, want.Conditions[0].Reason, want.Pods[0].Role = metav1.ConditionTrue, "Measured", v1alpha1.RoleGenerator
	want.Phase = v1alpha1.PhaseRunning
	want.Operator.GivenBack.Reason = v1alpha1.GivenBackNotStarted
	test.Status = *want.DeepCopy()
	if err := typed.Status().Update(t.Context(), test); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, stored(t, test.Namespace, test.Name).Status); diff != "" {
		t.Errorf("written (-), stored (+):\n%s", diff)
	}
}

// fill gives every field a value that isn't its zero.
func fill(v reflect.Value, moment metav1.Time) {
	if v.Type() == reflect.TypeFor[metav1.Time]() {
		v.Set(reflect.ValueOf(moment))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), moment)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), moment)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), moment)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	default:
		v.SetInt(7)
	}
}
