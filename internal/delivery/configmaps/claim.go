package configmaps

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/pause"
)

// Claim writes this runner into the Progress' ConfigMap, which fences whoever wrote there before, and tries until ctx ends: an API server that
// restarts is away for a moment. Its errors are ErrReported, delivery.ErrFenced, or the last that the API server said.
func Claim(ctx context.Context, o Options) (*Sink, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Sink{options: o, changed: make(chan struct{}, 1)}
	err := persist(ctx, func(ctx context.Context) error {
		err := s.claim(ctx)
		if err != nil {
			o.Log.Warn("not claimed yet", "configmap", o.Progress, "error", err)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim ConfigMap %s: %w", o.Progress, err)
	}
	return s, nil
}

func (s *Sink) claim(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if s.report, err = s.get(ctx, s.options.Report); err != nil {
		return err
	}
	if e, written := delivery.ReadEnvelope(s.report.Annotations); written && e.Final && e.Attempt == s.options.Attempt {
		return ErrReported
	}
	if s.progress, err = s.get(ctx, s.options.Progress); err != nil {
		return err
	}
	earlier, err := delivery.DecodeProgress(s.progress.Data)
	if err != nil {
		return err
	}
	first, err := delivery.Succeed(earlier, delivery.Progress{
		Attempt: s.options.Attempt, Runner: s.options.Pod, RunnerUID: s.options.UID, At: time.Now().UTC(), Phase: "Preparing"})
	if err != nil {
		return err
	}
	s.first, s.written, s.triedAt = first, first, time.Now()
	return s.update(ctx, first)
}

func (s *Sink) get(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	return s.options.Client.Get(ctx, name, metav1.GetOptions{})
}

// sign puts this runner's name under a document.
func (s *Sink) sign(document *corev1.ConfigMap) {
	if document.Annotations == nil {
		document.Annotations = map[string]string{}
	}
	document.Annotations[delivery.AnnotationRunner] = delivery.Signature(s.options.Pod, s.options.UID)
}

// update writes a Progress over the version that was last seen.
func (s *Sink) update(ctx context.Context, p delivery.Progress) error {
	data, err := delivery.EncodeProgress(p)
	if err != nil {
		return err
	}
	next := s.progress.DeepCopy()
	next.Data = data
	s.sign(next)
	stored, err := s.options.Client.Update(ctx, next, metav1.UpdateOptions{})
	if err == nil {
		s.progress = stored
	}
	return err
}

// putProgress updates, and finds out who stands there where somebody wrote meanwhile. Where it was ourselves (an answer that got lost), or
// no runner, it tries once more.
func (s *Sink) putProgress(ctx context.Context, p delivery.Progress) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := s.update(ctx, p)
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%w: ConfigMap %s is gone, and so is the test", delivery.ErrFenced, s.options.Progress)
	}
	if !apierrors.IsConflict(err) {
		return err
	}
	current, err := s.get(ctx, s.options.Progress)
	if err != nil {
		return err
	}
	if other, err := delivery.DecodeProgress(current.Data); err != nil || other != nil && other.RunnerUID != s.options.UID {
		return fencedBy(other, err)
	}
	s.progress = current
	return s.update(ctx, p)
}

func fencedBy(other *delivery.Progress, err error) error {
	if err != nil {
		return fmt.Errorf("%w, and what it wrote can't be read: %w", delivery.ErrFenced, err)
	}
	return fmt.Errorf("%w: pod %s, run %d of attempt %d", delivery.ErrFenced, other.Runner, other.Run, other.Attempt)
}

// The pause between tries grows up to mostPause.
const (
	firstPause = 250 * time.Millisecond
	mostPause  = 5 * time.Second
)

// persist tries until it worked, can't work any more, or ctx has ended: then the error is the last try's.
func persist(ctx context.Context, try func(context.Context) error) error {
	for wait := firstPause; ; wait = min(2*wait, mostPause) {
		err := try(ctx)
		if err == nil || errors.Is(err, ErrReported) || errors.Is(err, delivery.ErrFenced) || errors.Is(err, errDisowned) {
			return err
		}
		if pause.For(ctx, wait) != nil {
			return err
		}
	}
}
