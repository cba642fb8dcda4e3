package lifecycle

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// The Report that counted is copied to the test's namespace when the test ends, before that is told. The copy is for people and programs; the operator
// believes what it read in its own namespace, and status.report.digest says which bytes those were.
//
//	operator's namespace: …-report ──▶ believed, judged ──▶ test's namespace: NAME-report, immutable

// copying is what becomes of the copy; the zero value: there is nothing to copy.
type copying struct {
	object manifests.Object
	// made: it is there. stale: what has its name, and is the test's own, is another one.
	made, stale bool
	// why there is no copy; since when it is tried again: the API server doesn't take it for the moment.
	why        string
	triedSince time.Time
}

// publish copies an ending's Report.
func (v *view) publish(e *ending) {
	if e.report == nil || v.Children.Envelope == nil || len(v.Children.ReportPacked) == 0 {
		return
	}
	object := manifests.Published(v.Test, *v.Children.Envelope, v.Children.ReportPacked)
	ref := kindOf(object) + "/" + object.Name
	if i := slices.IndexFunc(v.Refusals, func(r Refusal) bool { return r.Pod == object.Name }); i >= 0 {
		e.copying = v.unpublished(object.Name, v.Refusals[i])
		return
	}
	if slices.Contains(v.Children.Foreign, ref) {
		e.copying = copying{why: fmt.Sprintf("ConfigMap %s exists and doesn't belong to this LoadTest", object.Name)}
		return
	}
	there := v.Children.Present[ref]
	if there && v.Children.Published == v.Children.Envelope.Digest {
		e.copying = copying{made: true} // by an earlier pass, which failed half-way
		return
	}
	e.copying = copying{object: object, stale: there}
}

// unpublished is what a refusal makes of a copy. One that is about the moment is tried again for a while.
func (v *view) unpublished(name string, r Refusal) copying {
	c := copying{why: fmt.Sprintf("ConfigMap %s can't be made: %s", name, r.Message)}
	since := v.Now
	if was := v.was.Report; was != nil && was.PublishTriedSince != nil && was.PublishTriedSince.Time.Before(v.Now) {
		since = was.PublishTriedSince.Time
	}
	if r.Transient && v.Now.Before(since.Add(keepBound)) {
		c.triedSince = since
	}
	return c
}

// published adds the copy to a step.
func (c copying) published(s *step) *step {
	if c.stale {
		s.del = append(s.del, Deletion{Kind: "ConfigMap", Name: c.object.GetName(), Why: "it isn't a copy of the Report that counted"})
	}
	if c.object != nil {
		s.create = append(s.create, c.object)
	}
	return s
}

// tell writes into the status why there is no copy, or that there is one now.
func (c copying) tell(r *v1alpha1.ReportReference) {
	if r == nil || c.object == nil && c.why == "" && !c.made {
		return
	}
	r.NotPublished, r.PublishTriedSince = limited(c.why, 1024), nil
	if !c.triedSince.IsZero() {
		r.PublishTriedSince = &metav1.Time{Time: c.triedSince}
	}
}

// publishLater tries again to make the copy of a complete test's Report, which the API server didn't take for the moment. What the run left stays as long. Nil:
// there is nothing to be tried.
func (v *view) publishLater(s *step) *step {
	r := v.was.Report
	if r == nil || r.PublishTriedSince == nil || v.Children.Envelope == nil {
		return nil
	}
	if v.Children.Report == nil && v.Children.ReportFault == "" {
		return &step{reason: s.reason, message: "its Report is to be copied to the test's namespace: it is read again", read: true}
	}
	e := &ending{report: v.told()}
	v.publish(e)
	s.copying = e.copying
	return s.copying.published(s).waitUntil(v.Now.Add(backoff(v.Now.Sub(r.PublishTriedSince.Time), retryTransientFirst, retryTransientLast)))
}
