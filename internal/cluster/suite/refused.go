package suite

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

const refusalWords = "the API server refuses the table of the status"

// Refused replaces a status that the API server refuses, which it would refuse again. The new status lacks the
// table, which the suite's report has, too, and says so. The suite continues.
func Refused(o Observed, d Decision, refusal string) Decision {
	d.Status = *d.Status.DeepCopy()
	d.Status.Table = nil
	words := fmt.Sprintf("; %s (%s): is the CustomResourceDefinition of the manager's version installed? ConfigMap "+
		"%s has the table",
		refusalWords, wording.Limited(wording.Printable(refusal), 1024), ReportName(o.Suite.Name))
	c := meta.FindStatusCondition(d.Status.Conditions, v1alpha1.ConditionComplete)
	if c == nil {
		return d
	}
	c.Message = wording.Limited(c.Message, maxConditionMessage-len(words)) + words
	previous := meta.FindStatusCondition(o.Suite.Status.Conditions, v1alpha1.ConditionComplete)
	if previous == nil || !strings.Contains(previous.Message, refusalWords) {
		d.Events = append(d.Events, Event{Warning: true, Reason: v1alpha1.ReasonStatusRefused,
			Message: wording.Limited(c.Message, 1024)})
	}
	return d
}
