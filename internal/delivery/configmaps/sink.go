// Package configmaps writes a run's Progress and Report to their two ConfigMaps. It is the one place where a runner meets the API server,
// and made so that a slow or absent one never disturbs the measurement: Progress is written beside it, the latest wins and what can't be
// written is dropped; the Report is written after it, again and again until it stands.
//
//	runner ── Tell ─▶ the latest ── Keep ─▶ …-progress      every write carries the resourceVersion of the one before:
//	       ── Finish ────────────────────▶ …-report        whoever writes between them has taken over (delivery.ErrFenced)
//
// Who comes first makes them: a runner that makes the Progress is its attempt's first, and asks for nothing else. Each write is signed with the runner's pod and its
// UID, without which the admission policy of runners takes none.
package configmaps

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/delivery"
)

// ErrReported says that a final Report of this attempt stands already, and nothing is left to do.
var ErrReported = errors.New("a final report of this attempt stands already")

// Client is what of client-go's ConfigMapInterface is needed: ConfigMaps of one namespace, made, read and updated.
type Client interface {
	Create(ctx context.Context, object *corev1.ConfigMap, options metav1.CreateOptions) (*corev1.ConfigMap, error)
	Get(ctx context.Context, name string, options metav1.GetOptions) (*corev1.ConfigMap, error)
	Update(ctx context.Context, object *corev1.ConfigMap, options metav1.UpdateOptions) (*corev1.ConfigMap, error)
}

// Options say whose documents go where.
type Options struct {
	Client Client
	// Progress and Report are the two ConfigMaps as they are made where they aren't there: their names, their labels, and what they go with.
	Progress, Report metav1.ObjectMeta
	Attempt          int
	// Pod is the runner's pod, UID its UID: the fence, and what each document is signed with.
	Pod, UID string
	Log      *slog.Logger
}

// Sink is a claimed pair of ConfigMaps. Tell may be called from anywhere; Keep and Finish from one goroutine after the other.
type Sink struct {
	options  Options
	first    delivery.Progress
	progress *corev1.ConfigMap // as it was last written
	report   *corev1.ConfigMap // as it was last read; one without a version isn't there, as far as is known
	changed  chan struct{}     // something was told

	mutex  sync.Mutex
	latest delivery.Progress
	fresh  bool // latest is not written yet

	written delivery.Progress // the last that was tried
	triedAt time.Time
	outage  bool
}

// requestTimeout bounds each request. An API server that restarts is away for longer; that is what the next try is for.
const requestTimeout = 10 * time.Second

// First is what the Sink claimed with: the number of the run, and the runs that were lost before it.
func (s *Sink) First() delivery.Progress { return s.first }

// Tell says how the run is getting on. It never waits; who runs, and which run it is, is filled in.
func (s *Sink) Tell(p delivery.Progress) {
	p.Attempt, p.Run, p.LostRuns = s.first.Attempt, s.first.Run, s.first.LostRuns
	p.Runner, p.RunnerUID, p.At = s.first.Runner, s.first.RunnerUID, time.Now().UTC()
	s.mutex.Lock()
	s.latest, s.fresh = p, true
	s.mutex.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Keep writes what is told until ctx ends (nil), or another runner turns out to have taken over (delivery.ErrFenced).
func (s *Sink) Keep(ctx context.Context) error {
	for {
		wait, pending := s.wait()
		if !pending {
			wait = time.Hour
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-s.changed:
			timer.Stop()
		case <-timer.C:
			if err := s.writeLatest(ctx); errors.Is(err, delivery.ErrFenced) {
				return err
			}
		}
	}
}

// wait is how long until what was told last is to be written, if there is anything.
func (s *Sink) wait() (wait time.Duration, pending bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return time.Until(s.triedAt.Add(delivery.DueAfter(s.written, s.latest))), s.fresh
}

// writeLatest writes what was told last, unless it stands already.
func (s *Sink) writeLatest(ctx context.Context) error {
	s.mutex.Lock()
	p, fresh := s.latest, s.fresh
	s.fresh = false
	s.mutex.Unlock()
	if !fresh {
		return nil
	}
	s.triedAt = time.Now()
	err := s.putProgress(ctx, p)
	s.tellOutage(ctx, err)
	if err != nil {
		s.mutex.Lock()
		s.fresh = true
		s.mutex.Unlock()
		return err
	}
	s.written = p
	return nil
}

// tellOutage logs when writing begins to go wrong and when it works again, not each time between.
func (s *Sink) tellOutage(ctx context.Context, err error) {
	switch {
	case err != nil && !s.outage && ctx.Err() == nil:
		s.options.Log.Warn("progress can't be written; the run goes on", "configmap", s.options.Progress.Name, "error", err)
	case err == nil && s.outage:
		s.options.Log.Info("progress is written again", "configmap", s.options.Progress.Name)
	}
	s.outage = err != nil
}
