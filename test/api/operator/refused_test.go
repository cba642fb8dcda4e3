package operator

import (
	"strings"
	"testing"
)

// A status that the API server doesn't take would be refused for ever: the test ends, says so, and holds nothing.
func TestARefusedStatusEndsTheTest(t *testing.T) {
	l, r := underway(t, "refused")
	document := r.measured()
	document.Result.Directions[1] = document.Result.Directions[0] // a list by from, which has it once
	r.report(document, true)
	l.endJob("refused", true)
	l.settle("refused")
	l.reap()
	l.settle("refused")
	message := l.want("refused", "Stalled=True StatusRefused", "Passed=Unknown Undecided", "Accepted=True Valid", "Complete=True StatusRefused")
	if !strings.Contains(message, "status.result.directions[1]") || !strings.Contains(message, "CustomResourceDefinition") || !strings.Contains(message, "refused-report") {
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
