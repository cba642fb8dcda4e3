package delivery

import (
	"strconv"
	"strings"
)

// Annotations of the Report's ConfigMap, readable without unpacking the Report.
const (
	AnnotationDigest  = "linerate.dev/digest"  // sha256:… of the Report's JSON, unpacked
	AnnotationEnding  = "linerate.dev/ending"  // report.Ending
	AnnotationAttempt = "linerate.dev/attempt" // the attempt that was measured
	// "true" where the run came to its own end, "false" where it was interrupted, and may be run again
	AnnotationFinal = "linerate.dev/final"
)

// AnnotationRunner is on each document that a runner writes. It is the name of its pod, a slash, and the pod's UID.
// The admission policy of runners (config/admission/runner_policy.yaml) refuses writes whose annotation doesn't
// match the pod of the writer's token, so no runner can write in another's name.
const AnnotationRunner = "linerate.dev/runner"

// Envelope is the content of the annotations of a Report's ConfigMap.
type Envelope struct {
	Digest  string
	Ending  string
	Attempt int
	Final   bool
	// Runner is the pod that wrote the Report, and RunnerUID its UID. Both are empty in copies.
	Runner, RunnerUID string
}

// Annotations are the envelope as a ConfigMap carries it.
func (e Envelope) Annotations() map[string]string {
	annotations := map[string]string{
		AnnotationDigest: e.Digest, AnnotationEnding: e.Ending,
		AnnotationAttempt: strconv.Itoa(e.Attempt), AnnotationFinal: strconv.FormatBool(e.Final),
	}
	if e.Runner != "" {
		annotations[AnnotationRunner] = Signature(e.Runner, e.RunnerUID)
	}
	return annotations
}

// Signature is what a runner signs its documents with.
func Signature(pod, uid string) string { return pod + "/" + uid }

// SignedBy is the pod that signed a document, or empty for none.
func SignedBy(annotations map[string]string) (pod, uid string) {
	pod, uid, _ = strings.Cut(annotations[AnnotationRunner], "/")
	return pod, uid
}

// ReadEnvelope reads a ConfigMap's annotations. It returns false where no Report has been written into it, or the
// annotations aren't an envelope.
func ReadEnvelope(annotations map[string]string) (Envelope, bool) {
	e := Envelope{Digest: annotations[AnnotationDigest], Ending: annotations[AnnotationEnding]}
	var wrongAttempt, wrongFinal error
	e.Attempt, wrongAttempt = strconv.Atoi(annotations[AnnotationAttempt])
	e.Final, wrongFinal = strconv.ParseBool(annotations[AnnotationFinal])
	e.Runner, e.RunnerUID = SignedBy(annotations)
	if e.Digest == "" || e.Ending == "" || wrongAttempt != nil || wrongFinal != nil || e.Attempt < 0 {
		return Envelope{}, false
	}
	return e, true
}
