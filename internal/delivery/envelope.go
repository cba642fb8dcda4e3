package delivery

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
