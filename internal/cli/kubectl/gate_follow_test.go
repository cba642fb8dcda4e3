package kubectl

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// A gate whose suite's runs can't be read has bad luck, and not bad input: an operator of another version wrote
// them, or somebody changed them.
func TestRunsThatCannotBeReadAreNotBadInput(t *testing.T) {
	later, err := delivery.EncodeRuns([]byte(`{"version":"linerate.dev/suite-runs.v9","suite":"uid","runs":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]map[string][]byte{
		"an operator of another version wrote them": later,
		"somebody changed them":                     {delivery.KeyRuns: []byte("better")},
	} {
		t.Run(name, func(t *testing.T) {
			sheets := suite.Sheets{}
			sheets.Record(0, later)
			s := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "night", UID: "uid"}}
			s.Status.Operator.StoredRuns = sheets.Published()
			s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue,
				Reason: v1alpha1.ReasonMeasured}}
			copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: suite.CopyName("night",
				0)}, BinaryData: data}
			c := &cluster{client: fake.NewClientBuilder().WithObjects(copied).Build()}
			if runs, err := (reports{cluster: c}).runsOf(t.Context(), s); len(runs) > 0 ||
				exit.Code(err) != report.ExitNotMeasured {
				t.Errorf("%d runs are read; exit code %d: %v", len(runs), exit.Code(err), err)
			}
		})
	}
}
