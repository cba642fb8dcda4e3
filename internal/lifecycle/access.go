package lifecycle

import (
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// accessNeeded: what lets the runner write isn't all there. It is granted before any pod is made, so that a test whose runner can't be given it
// takes no device; and by somebody else, whose word is awaited. It is for two ConfigMaps by their names, so these are made first: what bears
// one of the names and is another's is found out before anybody may read it.
func accessNeeded(v *view) *step {
	missing := slices.DeleteFunc(manifests.Access(v.input()), v.present)
	if len(missing) == 0 {
		return nil
	}
	if len(v.Access.Refusals) > 0 {
		return v.accessRefused(missing)
	}
	const message = "the runner's ServiceAccount, Role and RoleBinding are being made"
	s := &step{reason: v1alpha1.ReasonPending, message: message, activity: "Placing", grant: missing}
	s.create = slices.DeleteFunc(manifests.Documents(v.input()), v.present)
	if !v.placed() {
		s.scheduled = no(v1alpha1.ReasonPending, message)
	}
	return s.waitUntil(v.placedUntil())
}

// accessRefused says why the runner isn't given its access, and asks for it again in time.
func (v *view) accessRefused(missing []manifests.Object) *step {
	s := v.refused(v.Access.Refusals)
	due := v.triedAgain(v.Access.Refusals, v.Access.At)
	if v.Now.Before(due) {
		s.requeueAt = earliest(v.placedUntil(), due)
		return s
	}
	s.grant = missing
	return s
}
