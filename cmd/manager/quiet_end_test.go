package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func TestCallsCutShortByTheManagersEndAreNoErrors(t *testing.T) {
	cancelled := fmt.Errorf("renew the lease: %w", context.Canceled)
	for name, c := range map[string]struct {
		ends   bool
		err    error
		level  slog.Level // from which it is logged
		output string     // "" is nothing
	}{
		"cut short by its end":                  {true, cancelled, slog.LevelInfo, ""},
		"cut short by its end, and all is told": {true, cancelled, slog.LevelDebug, "level=DEBUG"},
		"leading no longer, at its end":         {true, errors.New(noLeaderAnyMore), slog.LevelInfo, ""},
		"leading no longer before": {false, errors.New(noLeaderAnyMore), slog.LevelInfo,
			"level=ERROR"},
		"a fault while it ends":                     {true, errors.New("refused"), slog.LevelInfo, "level=ERROR"},
		"something cancelled while nobody asks for": {false, cancelled, slog.LevelInfo, "level=ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			defer end()
			if c.ends {
				end()
			}
			var stderr strings.Builder
			log := slog.New(quietEnd{slog.NewTextHandler(&stderr, &slog.HandlerOptions{Level: c.level}), ctx})
			log.With("lock", "linerate-manager").WithGroup("g").Error("retrieving the lease", "err", c.err)
			if output := stderr.String(); (output == "") != (c.output == "") || !strings.Contains(output, c.output) {
				t.Errorf("it says %q", output)
			}
		})
	}
}

// What a manager says that lost the lead is the library's to word.
func TestAManagerThatLostTheLeadSaysSo(t *testing.T) {
	lock := &foreignLock{}
	leads := 100 * time.Millisecond
	mgr, err := ctrl.NewManager(&rest.Config{Host: "http://192.0.2.1"}, ctrl.Options{ // nobody is asked
		LeaderElection: true, LeaderElectionResourceLockInterface: lock,
		LeaseDuration: new(2 * leads), RenewDeadline: new(leads), RetryPeriod: new(leads / 10),
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := mgr.Start(t.Context()); err == nil || err.Error() != noLeaderAnyMore {
		t.Errorf("it ends with %v, and its log minds %q", err, noLeaderAnyMore)
	}
}

// taken is a lock that can be had once, and is somebody else's from then on.
type foreignLock struct {
	record *resourcelock.LeaderElectionRecord
}

func (l *foreignLock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if l.record == nil {
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "leases"}, leaseName)
	}
	return l.record, nil, nil
}

func (l *foreignLock) Create(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	l.record = &record
	return nil
}

func (l *foreignLock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	return errors.New("it was taken")
}

func (*foreignLock) RecordEvent(string) {}
func (*foreignLock) Identity() string   { return "this one" }
func (l *foreignLock) Describe() string { return leaseName }
