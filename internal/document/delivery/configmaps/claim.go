package configmaps

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// Claim makes this runner the run's, and fences every earlier runner. It tries until ctx ends, since a restarting
// API server is away for a moment. Its errors are ErrReported, delivery.ErrFenced, or the API server's last.
func Claim(ctx context.Context, o Options) (*Sink, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Sink{options: o, changed: make(chan struct{}, 1), progress: o.Progress, report: o.Report}
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

// claim creates the Progress. If there is one, an earlier runner may have written a final Report, and otherwise
// this runner takes over.
func (s *Sink) claim(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	s.progress.ResourceVersion = ""
	s.succeed(1)
	err := s.writeProgress(ctx, s.first)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if _, err := s.try(ctx, s.document(s.options.Report)); finalStands(err) {
		return ErrReported
	} else if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	run, err := s.takeNumber(ctx)
	if err != nil {
		return err
	}
	s.succeed(run)
	return s.putProgress(ctx, s.first)
}

// succeed prepares the first Progress of the run with this number.
func (s *Sink) succeed(run int) {
	s.first = delivery.Succeed(s.options.Earlier, delivery.Progress{
		Attempt: s.options.Attempt, Run: run, Runner: s.options.Pod, RunnerUID: s.options.UID,
		UpdateTime: time.Now().UTC(), Phase: "Preparing"})
	s.written, s.triedAt = s.first, time.Now()
}

// mostRuns is far above the number of pods that a runner's Job makes, and the runners' policy admits no more.
const mostRuns = 98

// takeNumber is the number of this runner's run. It is 1 if the runner made the Progress itself, and the answer got
// lost. Otherwise the runner takes the first free number, by its marker, which stays.
func (s *Sink) takeNumber(ctx context.Context) (int, error) {
	if claimed, err := s.createOnce(ctx, s.document(s.options.Progress)); err != nil || claimed {
		return 1, err
	}
	for run := 2; run <= mostRuns; run++ {
		marker := s.document(s.options.Successor(run))
		_, err := s.options.Client.Create(ctx, marker, metav1.CreateOptions{FieldManager: s.manager()})
		if err == nil {
			return run, nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return 0, err
		}
		if claimed, err := s.createOnce(ctx, marker); err != nil || claimed {
			return run, err
		}
	}
	return 0, fmt.Errorf("%d runs of the attempt began before this one", mostRuns)
}

// Each runner is a field manager of its own, as the API server remembers who made a document, by the labels that
// nobody changed since.
const managers = "linerate-runner/"

func (s *Sink) manager() string { return managers + s.options.UID }

// createOnce says whether a document that stands was made by this runner, and by no other one.
func (s *Sink) createOnce(ctx context.Context, document *corev1.ConfigMap) (bool, error) {
	stands, err := s.try(ctx, document)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(stands.ManagedFields, func(f metav1.ManagedFieldsEntry) bool {
		return strings.HasPrefix(f.Manager, managers) && f.Manager != s.manager()
	}), nil
}

// document is one of the run's documents, without its content, signed with this runner's name.
func (s *Sink) document(meta metav1.ObjectMeta) *corev1.ConfigMap {
	d := &corev1.ConfigMap{ObjectMeta: *meta.DeepCopy()}
	d.Annotations = map[string]string{delivery.AnnotationRunner: delivery.Signature(s.options.Pod, s.options.UID)}
	return d
}

// write creates a document, or replaces an existing one over the version that it has.
func (s *Sink) write(ctx context.Context, document *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	if document.ResourceVersion == "" {
		return s.options.Client.Create(ctx, document, metav1.CreateOptions{FieldManager: s.manager()})
	}
	return s.options.Client.Update(ctx, document, metav1.UpdateOptions{FieldManager: s.manager()})
}

// try is what would become of a document, of whatever version, if this runner replaced it. It has the version that
// stands now. try writes nothing.
func (s *Sink) try(ctx context.Context, document *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	document = document.DeepCopy()
	document.ResourceVersion = ""
	return s.options.Client.Update(ctx, document, metav1.UpdateOptions{FieldManager: s.manager(),
		DryRun: []string{metav1.DryRunAll}})
}

// renew learns the version that stands of a document, after an answer got lost or somebody else wrote. A successor
// makes its marker before it writes, and this runner looks for the marker after it learned the version. So a write
// over that version never replaces what a successor wrote.
func (s *Sink) renew(ctx context.Context, meta *metav1.ObjectMeta) error {
	stands, err := s.try(ctx, s.document(*meta))
	if err != nil {
		return err
	}
	if err := s.fenced(ctx); err != nil {
		return err
	}
	meta.ResourceVersion = stands.ResourceVersion
	return nil
}

// fenced is delivery.ErrFenced if the next run of the attempt has begun.
func (s *Sink) fenced(ctx context.Context) error {
	next := s.first.Run + 1
	_, err := s.options.Client.Create(ctx, s.document(s.options.Successor(next)),
		metav1.CreateOptions{FieldManager: s.manager(), DryRun: []string{metav1.DryRunAll}})
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("%w: run %d of attempt %d has begun", delivery.ErrFenced, next, s.options.Attempt)
	}
	return err
}

// writeProgress writes a Progress over the version that is known.
func (s *Sink) writeProgress(ctx context.Context, p delivery.Progress) error {
	data, err := delivery.EncodeProgress(p)
	if err != nil {
		return err
	}
	next := s.document(s.progress)
	next.Data = data
	stored, err := s.write(ctx, next)
	if err == nil {
		s.progress.ResourceVersion = stored.ResourceVersion
	}
	return err
}

// putProgress writes a Progress. If another version than the known one stands, and no successor has begun, it tries
// once more.
func (s *Sink) putProgress(ctx context.Context, p delivery.Progress) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := s.writeProgress(ctx, p)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		if err = s.renew(ctx, &s.progress); err == nil {
			err = s.writeProgress(ctx, p)
		}
	}
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%w: ConfigMap %s is gone, and so is the test", delivery.ErrFenced, s.options.Progress.Name)
	}
	return err
}

// The pause between tries grows up to mostPause.
const (
	firstPause = 250 * time.Millisecond
	mostPause  = 5 * time.Second
)

// persist tries until it succeeds, can't succeed any more, or ctx has ended. Then its error is the last try's.
func persist(ctx context.Context, try func(context.Context) error) error {
	for wait := firstPause; ; wait = min(2*wait, mostPause) {
		err := try(ctx)
		if err == nil || errors.Is(err, ErrReported) || errors.Is(err, delivery.ErrFenced) ||
			errors.Is(err, errDisowned) {
			return err
		}
		if bounded.Pause(ctx, wait) != nil {
			return err
		}
	}
}
