package configmaps

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// ErrReported means that a final Report of this attempt exists already, and nothing is left to do.
var ErrReported = errors.New("a final report of this attempt stands already")

// Client is the needed part of client-go's ConfigMapInterface. It creates and updates ConfigMaps of one namespace.
type Client interface {
	Create(ctx context.Context, object *corev1.ConfigMap, options metav1.CreateOptions) (*corev1.ConfigMap, error)
	Update(ctx context.Context, object *corev1.ConfigMap, options metav1.UpdateOptions) (*corev1.ConfigMap, error)
}

// Options are which runner writes which ConfigMaps.
type Options struct {
	Client Client
	// Progress and Report are the metadata with which the two ConfigMaps are created, which are names, labels and
	// owners.
	Progress, Report metav1.ObjectMeta
	// Successor is the metadata of the marker of the run with this number, from 2.
	Successor func(run int) metav1.ObjectMeta
	Attempt   int
	// Earlier is the Progress of an earlier runner as it was when this one began, or nil where none is known. It
	// only says how far the lost run had come.
	Earlier *delivery.Progress
	// Pod is the runner's pod, and UID its UID. They fence other runners, and sign each document.
	Pod, UID string
	Log      *slog.Logger
}

// Sink is a claimed pair of ConfigMaps. Post may be called from any goroutine. Keep and Finish must be called one
// after the other.
type Sink struct {
	options Options
	first   delivery.Progress
	// with the version that was last written, and without one it doesn't exist, as far as is known
	progress metav1.ObjectMeta
	report   metav1.ObjectMeta // likewise
	changed  chan struct{}     // something was posted

	mutex  sync.Mutex
	latest delivery.Progress
	fresh  bool // latest is not written yet

	written delivery.Progress // the last that was tried
	triedAt time.Time
	outage  bool
}

// requestTimeout bounds each request. A restarting API server is away for longer, and the next try follows.
const requestTimeout = 10 * time.Second

// First is the Progress with which the Sink was claimed. It has the number of the run, and the runs that were lost
// before it.
func (s *Sink) First() delivery.Progress { return s.first }

// Post hands over the run's latest Progress. It never waits, and fills in the runner and the run.
func (s *Sink) Post(p delivery.Progress) {
	p.Attempt, p.Run, p.LostRuns = s.first.Attempt, s.first.Run, s.first.LostRuns
	p.Runner, p.RunnerUID, p.UpdateTime = s.first.Runner, s.first.RunnerUID, time.Now().UTC()
	s.mutex.Lock()
	s.latest, s.fresh = p, true
	s.mutex.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Keep writes what is posted until ctx ends (nil), or until another runner has taken over (delivery.ErrFenced).
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

// wait is how long until the latest Progress is to be written. pending says that there is one.
func (s *Sink) wait() (wait time.Duration, pending bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return time.Until(s.triedAt.Add(delivery.DueAfter(s.written, s.latest))), s.fresh
}

// writeLatest writes the latest Progress, unless it is written already.
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
	s.logOutage(ctx, err)
	if err != nil {
		s.mutex.Lock()
		s.fresh = true
		s.mutex.Unlock()
		return err
	}
	s.written = p
	return nil
}

// logOutage logs when writing begins to fail and when it works again, and nothing in between.
func (s *Sink) logOutage(ctx context.Context, err error) {
	switch {
	case err != nil && !s.outage && ctx.Err() == nil:
		s.options.Log.Warn("progress can't be written; the run goes on", "configmap", s.options.Progress.Name, "error",
			err)
	case err == nil && s.outage:
		s.options.Log.Info("progress is written again", "configmap", s.options.Progress.Name)
	}
	s.outage = err != nil
}
