package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// arrival answers whether the attempt's Report has arrived, and whether its runner wrote it.
type arrival struct {
	test    *v1alpha1.LoadTest
	attempt *attempt
	// recorded is what the status says of a Report. Nil means nothing.
	recorded *v1alpha1.ReportReference
	// order is what the runner was given, followed what the Report claims to have followed. Children explains the
	// others.
	order      *delivery.Order
	followed   delivery.Order
	envelope   *delivery.Envelope
	document   *report.Report
	packed     []byte
	readFault  string
	written    time.Time
	observedAt time.Time
}

// A Report is believed if only this attempt's runner can have written it. Only runners may write in the namespace where
// the Report is, and the admission policy makes each of them sign with its own pod's name. This file also compares the
// Report with the order that the runner was given, so that neither a runner that somebody took over nor a cluster
// without the policy turns an old, a foreign or a forged Report into a verdict.
//
//	Plan's ConfigMap: digests of the order ─────┐
//	runner's Job and pods: who, since when ─────┼─▶ believed, or why not ─▶ criteria judged anew ─▶ status, copy
//	Report: by whom, of what, from when to when ┘

// maxSkew is how far the clock of the runner's node may be from the API server's. It is generous, since the
// length of a run shows without comparing clocks, and a clock that is set wrong must not cost a test its
// result. A Report that is further off is an old one, or forged.
const maxSkew = 24 * time.Hour

// Judged judges the Plan's criteria again, by the Report's figures and this operator's code. If the outcome differs
// from the one that the runner wrote, the operator's outcome counts. The Report then gets the new verdict and a note,
// and so other bytes and another digest. An error means that the changed Report can't be packed.
func Judged(o delivery.Original) (delivery.Original, error) {
	verdict, written := analysis.Verdict(o.Report), o.Report.Verdict
	judged := *o.Report
	judged.Verdict = verdict
	o.Report = &judged
	isSame := verdict.Outcome == written.Outcome && slices.EqualFunc(verdict.Criteria, written.Criteria,
		func(a, b report.CriterionResult) bool {
			return a.Name == b.Name && a.Outcome == b.Outcome
		})
	if isSame {
		return o, nil
	}
	judged.Notes = append(slices.Clone(judged.Notes), report.Note{
		Message: fmt.Sprintf("the runner's verdict was %s; the operator judged the criteria anew by the figures, and "+
			"theirs is %s, which counts", written.Outcome, verdict.Outcome),
	})
	data, annotations, err := delivery.EncodeReport(&judged, o.Envelope.Final, o.Envelope.Attempt)
	if err != nil {
		return o, err
	}
	envelope, _ := delivery.ReadEnvelope(annotations)
	envelope.Runner, envelope.RunnerUID = o.Envelope.Runner, o.Envelope.RunnerUID
	o.Envelope, o.Packed = envelope, data[delivery.KeyReport]
	return o, nil
}

// isFinal says whether this attempt's Report is there in its final form.
func (ar *arrival) isFinal() bool {
	e := ar.envelope
	return e != nil && int32(e.Attempt) == ar.attempt.number && e.Final
}

// believed is the Report of this attempt, once it was read and is believed. Nil means none.
func (ar *arrival) believed() *report.Report {
	if ar.document == nil || ar.rejection() != "" {
		return nil
	}
	return ar.document
}

// fault is why the Report is of no use.
func (ar *arrival) fault() string { return cmp.Or(ar.readFault, ar.rejection()) }

// isWanted says whether to read the Report past the cache before the test ends without one.
func (ar *arrival) isWanted() bool {
	return ar.attempt.hasBegun() && ar.recorded == nil && ar.document == nil && ar.readFault == ""
}

// rejection says why the Report that was read isn't this attempt's runner's. Empty means that the Report is believed.
func (ar *arrival) rejection() string {
	r, e := ar.document, ar.envelope
	switch {
	case r == nil || r.Plan == nil || e == nil:
		return "it has no Plan"
	case ar.recorded != nil && ar.recorded.Digest != "" && ar.recorded.Digest == e.Digest:
		return "" // an earlier pass believed it
	case r.Plan.Test.UID != string(ar.test.UID):
		return fmt.Sprintf("it is of a LoadTest with UID %s, and this one's is %s",
			nameOrNobody(r.Plan.Test.UID), ar.test.UID)
	case int32(r.Plan.Test.Attempt) != ar.attempt.number || int32(e.Attempt) != ar.attempt.number:
		return fmt.Sprintf("it is of attempt %d, and this is attempt %d", r.Plan.Test.Attempt, ar.attempt.number)
	case ar.order == nil:
		return "the Plan's ConfigMap in the operator's own namespace was deleted, so the Report can't be checked " +
			"against it"
	case ar.order.Plan != ar.followed.Plan:
		return fmt.Sprintf("it was made by another Plan (%s) than the one that its runner was told (%s)",
			ar.followed.Plan,
			ar.order.Plan)
	case ar.order.Baseline != ar.followed.Baseline:
		return "it was compared with another baseline than the one that its runner was told"
	case !ar.signedByOwnRunner(e):
		return fmt.Sprintf("it is signed by %s with UID %s, which is no pod of its runner's Job",
			nameOrNobody(e.Runner), nameOrNobody(e.RunnerUID))
	}
	return ar.timeFault(r)
}

// signedByOwnRunner says whether a pod of this attempt's Job signed the Report. A pod that is gone is
// recognized by its name, which no other run's pod has.
func (ar *arrival) signedByOwnRunner(e *delivery.Envelope) bool {
	if e.RunnerUID == "" || !manifests.IsRunnerOf(e.Runner, ar.test, ar.attempt.number) {
		return false
	}
	for i := range ar.attempt.runners {
		if ar.attempt.runners[i].Name == e.Runner {
			return string(ar.attempt.runners[i].UID) == e.RunnerUID
		}
	}
	return true
}

// timeFault says why the run can't have taken place when its Report says. Empty means that the times can be true.
// Durations need one clock. The runner's clock measures the run, and the API server's the time from its Job to its
// Report. The date needs both clocks, so it is refused only where no clock error explains it.
func (ar *arrival) timeFault(r *report.Report) string {
	started, written := ar.observedAt, ar.observedAt
	if recordedStart := ar.attempt.startedAt(); recordedStart != nil {
		started = recordedStart.Time
	}
	if writtenAt := ar.written; !writtenAt.IsZero() {
		written = writtenAt
	}
	duration := r.Finished.Sub(r.Started)
	elapsed := time.Duration(-1) // it isn't known, or the API server's clock was set back meanwhile
	if ar.attempt.job != nil {
		elapsed = ar.written.Sub(ar.attempt.job.CreationTimestamp.Time)
	}
	switch {
	case duration < 0:
		return "it ends before it begins"
	case elapsed >= 0 && duration > elapsed+clockMargin:
		return fmt.Sprintf("it says that the run took %s, and it was written %s after its runner's Job was made",
			duration.Round(time.Second), elapsed.Round(time.Second))
	case r.Started.Before(started.Add(-maxSkew)) || r.Finished.After(written.Add(maxSkew)):
		return fmt.Sprintf("it is from %s, and its runner was made at %s: no clock is so wrong",
			r.Started.UTC().Format(time.RFC3339), started.UTC().Format(time.RFC3339))
	}
	return ""
}

// nameOrNobody is a name, or the word for a missing one.
func nameOrNobody(text string) string {
	if text == "" {
		return "nobody"
	}
	return text
}
