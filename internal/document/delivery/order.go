package delivery

import (
	"encoding/json"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// These are annotations of the Plan's ConfigMap, with the digests of what a Report must follow. Only the operator
// writes there.
const (
	AnnotationPlanDigest = "linerate.dev/plan-digest" // sha256:… of the Plan's JSON, unpacked
	// the same of the baseline's, missing where nothing is compared
	AnnotationBaselineDigest = "linerate.dev/baseline-digest"
)

// Order has the digests of the two documents that a runner was given, the Plan and the baseline. The Report repeats
// both documents exactly as the runner read them, so any release can check whether the Report follows the order.
type Order struct {
	Plan     string
	Baseline string
}

// OrderOf is the order of a Plan's ConfigMap, by its binary data.
func OrderOf(data map[string][]byte) (Order, error) {
	document, err := unpack(data[KeyPlan])
	if err != nil {
		return Order{}, fmt.Errorf("%s: %w", KeyPlan, err)
	}
	o := Order{Plan: report.Digest(document)}
	packed, compares := data[KeyBaseline]
	if !compares {
		return o, nil
	}
	var extra struct {
		Baseline json.RawMessage `json:"baseline"`
	}
	if document, err = unpack(packed); err == nil {
		err = intake.JSON(document, &extra, ofDocument)
	}
	if err != nil {
		return Order{}, fmt.Errorf("%s: %w", KeyBaseline, err)
	}
	o.Baseline = report.Digest(extra.Baseline)
	return o, nil
}

// Annotations are the order as a ConfigMap carries it.
func (o Order) Annotations() map[string]string {
	annotations := map[string]string{AnnotationPlanDigest: o.Plan}
	if o.Baseline != "" {
		annotations[AnnotationBaselineDigest] = o.Baseline
	}
	return annotations
}

// ReadOrder reads a ConfigMap's annotations. It returns false where they aren't a Plan's.
func ReadOrder(annotations map[string]string) (Order, bool) {
	o := Order{Plan: annotations[AnnotationPlanDigest], Baseline: annotations[AnnotationBaselineDigest]}
	return o, o.Plan != ""
}

// followed is the order that a Report claims to have followed.
func followed(document []byte) (Order, error) {
	var parts struct {
		Plan     json.RawMessage `json:"plan"`
		Baseline json.RawMessage `json:"baseline"`
	}
	if err := intake.JSON(document, &parts, ofDocument); err != nil {
		return Order{}, err
	}
	o := Order{Plan: report.Digest(parts.Plan)}
	if len(parts.Baseline) > 0 {
		o.Baseline = report.Digest(parts.Baseline)
	}
	return o, nil
}
