package configmaps

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// errDisowned ends the tries of a runner that is to end, and that the API server no longer lets write.
var errDisowned = errors.New("the test is gone, as it seems")

// enoughRefusals in a row take about four seconds, since an API server that has just started may refuse by mistake.
const enoughRefusals = 5

// Finish writes the latest Progress and then the Report, and tries until both are written or ctx has ended. A
// fenced runner writes neither (delivery.ErrFenced). If another final Report of the attempt exists, that one stays
// (ErrReported). A final Report becomes immutable. Keep must have returned.
//
// A Report that isn't final comes from a runner that is to end. If the API server refuses its writes, or the
// ConfigMap is gone because its test was deleted, the runner gives up soon, so that its pod is gone soon.
func (s *Sink) Finish(ctx context.Context, r *report.Report, final bool) error {
	data, annotations, err := delivery.EncodeReport(r, final, s.options.Attempt)
	if err != nil {
		return err
	}
	answered, refused := false, 0
	err = persist(ctx, func(ctx context.Context) error {
		var err error
		if !answered {
			err = s.writeLatest(ctx)
			answered = err == nil
		}
		if err == nil {
			err = s.putReport(ctx, data, annotations, final)
		}
		if err != nil {
			s.options.Log.Warn("the report is not written yet", "configmap", s.options.Report.Name, "error", err)
		}
		if !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
			refused = 0
			return err
		}
		if refused++; !final && refused == enoughRefusals {
			return fmt.Errorf("%w: %w", errDisowned, err)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("write the report to ConfigMap %s: %w", s.options.Report.Name, err)
	}
	return nil
}

// putReport tries once. If another version of the Report stands than the known one, it finds out which, to decide
// whether to try again.
func (s *Sink) putReport(ctx context.Context, data map[string][]byte, annotations map[string]string, final bool) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	next := s.document(s.report)
	next.BinaryData = data
	maps.Copy(next.Annotations, annotations)
	if final {
		next.Immutable = &final
	}
	_, err := s.write(ctx, next)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: ConfigMap %s is gone, and so is the test", delivery.ErrFenced, s.options.Report.Name)
	case !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) && !finalStands(err):
		return err
	}
	switch stands := s.renew(ctx, &s.report); {
	case finalStands(stands) && final:
		return s.sameStands(ctx, next)
	case finalStands(stands):
		return ErrReported
	case stands != nil && !apierrors.IsNotFound(stands):
		return stands
	}
	return err
}

// sameStands is nil if the final Report that stands is this one, and only the answer got lost. The Report may be
// replaced by itself.
func (s *Sink) sameStands(ctx context.Context, final *corev1.ConfigMap) error {
	_, err := s.try(ctx, final)
	if finalStands(err) {
		return fmt.Errorf("%w, of another run", ErrReported)
	}
	return err
}

// finalStands says whether the API server refuses a write since the ConfigMap is immutable, as final Reports are.
// The runners' policy, too, answers that something is Invalid, but names no field.
func finalStands(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsInvalid(err) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeForbidden && (c.Field == "immutable" || c.Field == "binaryData")
	})
}
