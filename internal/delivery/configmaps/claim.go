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

// Claim writes this runner into the Progress' ConfigMap, which fences every earlier runner. It tries until ctx ends, since a restarting API server is away for a
// moment. Its errors are ErrReported, delivery.ErrFenced, or the API server's last.
func Claim(ctx context.Context, o Options) (*Sink, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Sink{options: o, changed: make(chan struct{}, 1), report: unmade(o.Report)}
	err := persist(ctx, func(ctx context.Context) error {
		err := s.claim(ctx)
		if err != nil {
			o.Log.Warn("not claimed yet", "configmap", o.Progress.Name, "error", err)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim ConfigMap %s: %w", o.Progress.Name, err)
	}
	return s, nil
}

// claim creates the Progress. If there is one, an earlier runner wrote it: it may have written a final Report, and otherwise this runner replaces it.
func (s *Sink) claim(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	s.progress = unmade(s.options.Progress)
	err := s.claimAfter(ctx, nil)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if s.report, err = s.read(ctx, s.options.Report); err != nil {
		return err
	}
	if e, written := delivery.ReadEnvelope(s.report.Annotations); written && e.Final && e.Attempt == s.options.Attempt {
		return ErrReported
	}
	if s.progress, err = s.read(ctx, s.options.Progress); err != nil {
		return err
	}
	earlier, err := delivery.DecodeProgress(s.progress.Data)
	if err != nil {
		return err
	}
	return s.claimAfter(ctx, earlier)
}

// claimAfter writes this runner's first Progress, over the version of the Progress that was last read.
func (s *Sink) claimAfter(ctx context.Context, earlier *delivery.Progress) error {
	first, err := delivery.Succeed(earlier, delivery.Progress{
		Attempt: s.options.Attempt, Runner: s.options.Pod, RunnerUID: s.options.UID, At: time.Now().UTC(), Phase: "Preparing"})
	if err != nil {
		return err
	}
	s.first, s.written, s.triedAt = first, first, time.Now()
	return s.update(ctx, first)
}

// unmade is a document that doesn't exist yet.
func unmade(meta metav1.ObjectMeta) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: *meta.DeepCopy()}
}

// read reads a document, which may be unmade.
func (s *Sink) read(ctx context.Context, meta metav1.ObjectMeta) (*corev1.ConfigMap, error) {
	kept, err := s.options.Client.Get(ctx, meta.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return unmade(meta), nil
	}
	return kept, err
}

// write creates a document, or updates an existing one over the version that it has.
func (s *Sink) write(ctx context.Context, document *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	if document.ResourceVersion == "" {
		return s.options.Client.Create(ctx, document, metav1.CreateOptions{})
	}
	return s.options.Client.Update(ctx, document, metav1.UpdateOptions{})
}

// sign puts this runner's name under a document.
func (s *Sink) sign(document *corev1.ConfigMap) {
	if document.Annotations == nil {
		document.Annotations = map[string]string{}
	}
	document.Annotations[delivery.AnnotationRunner] = delivery.Signature(s.options.Pod, s.options.UID)
}

// update writes a Progress over the version that was last read.
func (s *Sink) update(ctx context.Context, p delivery.Progress) error {
	data, err := delivery.EncodeProgress(p)
	if err != nil {
		return err
	}
	next := s.progress.DeepCopy()
	next.Data = data
	s.sign(next)
	stored, err := s.write(ctx, next)
	if err == nil {
		s.progress = stored
	}
	return err
}

// putProgress updates the Progress. If somebody else wrote meanwhile, it finds out who: if it was this runner (an answer got lost), or no runner, it tries once
// more.
func (s *Sink) putProgress(ctx context.Context, p delivery.Progress) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := s.update(ctx, p)
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%w: ConfigMap %s is gone, and so is the test", delivery.ErrFenced, s.options.Progress.Name)
	}
	if !apierrors.IsConflict(err) {
		return err
	}
	current, err := s.options.Client.Get(ctx, s.options.Progress.Name, metav1.GetOptions{})
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

// persist tries until it succeeds, can't succeed any more, or ctx has ended: then the error is the last try's.
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
