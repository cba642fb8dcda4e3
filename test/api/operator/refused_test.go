package operator

import (
	"context"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// newerOperator writes what the CustomResourceDefinition of an earlier version doesn't allow, as a direction with a
// name of more than 13 characters.
type newerOperator struct{ client.Client }

func (n newerOperator) Status() client.SubResourceWriter { return newerWriter{n.Client.Status()} }

type newerWriter struct{ client.SubResourceWriter }

func (w newerWriter) Patch(ctx context.Context, o client.Object, patch client.Patch,
	options ...client.SubResourcePatchOption,
) error {
	if test, is := o.(*v1alpha1.LoadTest); is && test.Status.Result != nil {
		test.Status.Result.LimitedBy = []v1alpha1.FlowDirection{{From: "longer-than-an-interface", To: "east"}}
	}
	return w.SubResourceWriter.Patch(ctx, o, patch, options...)
}

// A status that the API server doesn't take would be refused for ever: the test ends, says so, and holds nothing.
func TestARefusedStatusEndsTheTest(t *testing.T) {
	l, r := underway(t, "refused")
	l.operator = newerOperator{l.operator}
	l.restart()
	document := r.measured()
	r.report(document, true)
	l.endJob("refused", true)
	l.settle("refused")
	l.reap()
	l.settle("refused")
	message := l.want("refused", "Stalled=True StatusRefused", "Passed=Unknown Undecided", "Complete=True StatusRefused")
	if !strings.Contains(message, "status.result.limitedBy[0].from") || !strings.Contains(message, "CustomResourceDefinition") || !strings.Contains(message, "refused-report") {
		t.Errorf("the message names neither the field nor the way out: %s", message)
	}
	if status := l.get("refused").Status; status.Result != nil || status.Summary != "" || status.CompletionTime == nil {
		t.Errorf("the status is %+v", status)
	}
	l.holdsNothing("refused")
	if told := strings.Join(l.events.told, "\n"); strings.Contains(told, "Measured") || !strings.Contains(told, "StatusRefused") {
		t.Errorf("the events are\n%s", told)
	}
}
