package delivery

import "strconv"

// Annotations of the Report's ConfigMap: what there is to know without reading it.
const (
	AnnotationDigest  = "linerate.dev/digest"  // sha256:… of the Report's JSON, unpacked
	AnnotationEnding  = "linerate.dev/ending"  // report.Ending
	AnnotationAttempt = "linerate.dev/attempt" // the attempt that was measured
	AnnotationFinal   = "linerate.dev/final"   // "true": the run came to its own end; "false": it was interrupted, and may be run again
)

// Envelope is what a Report's ConfigMap says on the outside.
type Envelope struct {
	Digest  string
	Ending  string
	Attempt int
	Final   bool
}

// Annotations are the envelope as a ConfigMap carries it.
func (e Envelope) Annotations() map[string]string {
	return map[string]string{
		AnnotationDigest: e.Digest, AnnotationEnding: e.Ending,
		AnnotationAttempt: strconv.Itoa(e.Attempt), AnnotationFinal: strconv.FormatBool(e.Final),
	}
}

// ReadEnvelope reads a ConfigMap's annotations; false where no Report has been written into it, or somebody else wrote them.
func ReadEnvelope(annotations map[string]string) (Envelope, bool) {
	e := Envelope{Digest: annotations[AnnotationDigest], Ending: annotations[AnnotationEnding]}
	var wrongAttempt, wrongFinal error
	e.Attempt, wrongAttempt = strconv.Atoi(annotations[AnnotationAttempt])
	e.Final, wrongFinal = strconv.ParseBool(annotations[AnnotationFinal])
	if e.Digest == "" || e.Ending == "" || wrongAttempt != nil || wrongFinal != nil || e.Attempt < 0 {
		return Envelope{}, false
	}
	return e, true
}
