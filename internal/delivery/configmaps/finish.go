package configmaps

import (
	"context"
	"errors"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/report"
)

// errDisowned ends the tries of a runner that is to end, and that the API server no longer lets write.
var errDisowned = errors.New("the test is gone, as it seems")

// enoughRefusals in a row take about four seconds: an API server that has just started may refuse by mistake.
const enoughRefusals = 5

// Finish writes the latest Progress and then the Report, and tries until both are written or ctx has ended. A fenced runner writes neither (delivery.ErrFenced). If
// another final Report of the attempt exists, that one stays (ErrReported). A final Report becomes immutable. Keep must have returned.
//
// A Report that isn't final comes from a runner that is to end. If the API server refuses its writes, or the ConfigMap is gone because its test was deleted, the runner
// gives up soon, so that its pod is gone soon.
func (s *Sink) Finish(ctx context.Context, r *report.Report, final bool) error {
	data, annotations, err := delivery.EncodeReport(r, final, s.options.Attempt)
	if err != nil {
		return err
	}
	told, refused := false, 0
	err = persist(ctx, func(ctx context.Context) error {
		var err error
		if !told {
			err = s.writeLatest(ctx)
			told = err == nil
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

// putReport tries once. If that fails, it reads what the ConfigMap has, to decide whether to try again.
func (s *Sink) putReport(ctx context.Context, data map[string][]byte, annotations map[string]string, final bool) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	next := s.report.DeepCopy()
	next.Data, next.BinaryData = nil, data
	s.sign(next)
	maps.Copy(next.Annotations, annotations)
	if final {
		next.Immutable = &final
	}
	_, err := s.write(ctx, next)
	if err == nil {
		return nil
	}
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%w: ConfigMap %s is gone, and so is the test", delivery.ErrFenced, s.options.Report.Name)
	}
	current, unread := s.read(ctx, s.options.Report)
	if unread != nil {
		return err
	}
	s.report = current
	stands, written := delivery.ReadEnvelope(current.Annotations)
	switch {
	case written && stands.Digest == annotations[delivery.AnnotationDigest]:
		return nil // it is this Report: only the answer got lost
	case written && stands.Final && stands.Attempt >= s.options.Attempt:
		return fmt.Errorf("%w, of another run: %s", ErrReported, stands.Digest)
	}
	return err
}
