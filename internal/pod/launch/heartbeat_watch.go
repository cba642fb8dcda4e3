package launch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// DefaultHeartbeatTimeout is how long traffic goes on after the runner's last beat.
const DefaultHeartbeatTimeout = 10 * time.Second

// How often stopping is tried before the process is ended instead, and the pause in between.
const (
	stopAttempts = 5
	stopPause    = time.Second
	stopTimeout  = 5 * time.Second
)

// HeartbeatWatch stops all traffic when the runner's heartbeat ends. The first beat arms it. No beat for
// Timeout stops the traffic and disarms it, until the first beat of the next runner.
//
//	beat  |   |   |              traffic stopped
//	──────┴───┴───┴── Timeout ──▶|            | beat: armed again
type HeartbeatWatch struct {
	// Timeout must be positive.
	Timeout time.Duration
	// Stop ends all traffic. It is tried again if it fails.
	Stop func(context.Context) error
	Log  *slog.Logger

	heartbeats chan struct{}
}

// NewHeartbeatWatch makes a watch that isn't armed.
func NewHeartbeatWatch(timeout time.Duration, stop func(context.Context) error, log *slog.Logger) *HeartbeatWatch {
	return &HeartbeatWatch{Timeout: timeout, Stop: stop, Log: log, heartbeats: make(chan struct{}, 1)}
}

// Record records that the runner is alive. It never waits, and is safe for concurrent use.
func (s *HeartbeatWatch) Record() {
	select {
	case s.heartbeats <- struct{}{}:
	default: // an earlier beat is still pending, which serves as well
	}
}

// Run watches until ctx ends. An error means that the traffic couldn't be stopped, so that TRex must be ended.
func (s *HeartbeatWatch) Run(ctx context.Context) error {
	for {
		if !s.awaitFirst(ctx) || !s.awaitTimeout(ctx) {
			return nil
		}
		s.Log.Warn("the runner is silent: stopping all traffic", "silence", s.Timeout)
		if err := s.stopTraffic(ctx); err != nil {
			return err
		}
	}
}

// awaitFirst waits for the first beat. It returns false if ctx ended.
func (s *HeartbeatWatch) awaitFirst(ctx context.Context) bool {
	select {
	case <-s.heartbeats:
		return true
	case <-ctx.Done():
		return false
	}
}

// awaitTimeout waits until no beat came for Timeout. It returns false if ctx ended.
func (s *HeartbeatWatch) awaitTimeout(ctx context.Context) bool {
	timeout := time.NewTimer(s.Timeout)
	defer timeout.Stop()
	for {
		select {
		case <-s.heartbeats:
			timeout.Reset(s.Timeout)
		case <-timeout.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

func (s *HeartbeatWatch) stopTraffic(ctx context.Context) (err error) {
	for range stopAttempts {
		attempt, cancel := context.WithTimeout(ctx, stopTimeout)
		err = s.Stop(attempt)
		cancel()
		if err == nil {
			return nil
		}
		s.Log.Error("stop traffic", "error", err)
		if bounded.Pause(ctx, min(stopPause, s.Timeout)) != nil {
			return nil //nolint:nilerr // the caller has ended the watch
		}
	}
	return fmt.Errorf("no beat from the runner for %v, and its traffic can't be stopped over the RPC: %w", s.Timeout,
		err)
}

// StopTraffic acquires every sending port, whoever owns it, stops it, clears its streams, and releases it. The
// next runner then starts with clean ports, and a runner that was only slow gets an error, since it lost them.
// It tries all ports, even if some fail.
func StopTraffic(ctx context.Context, address string, options trex.Options) (stopped []int, err error) {
	client, err := trex.Dial(ctx, address, options)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	ports, err := sendingPorts(ctx, client)
	if err != nil {
		return nil, err
	}
	var refused []error
	for _, port := range ports {
		if err := silencePort(ctx, client, port); err != nil {
			refused = append(refused, err)
			continue
		}
		stopped = append(stopped, port)
	}
	return stopped, errors.Join(refused...)
}

func sendingPorts(ctx context.Context, client *trex.Client) ([]int, error) {
	info, err := client.SystemInfo(ctx)
	if err != nil {
		return nil, err
	}
	ports := make([]int, len(info.Ports))
	for i, p := range info.Ports {
		ports[i] = p.Index
	}
	statuses, err := client.PortStatuses(ctx, ports)
	if err != nil {
		return nil, err
	}
	var sending []int
	for _, port := range ports {
		if statuses[port].HasTraffic() {
			sending = append(sending, port)
		}
	}
	return sending, nil
}

func silencePort(ctx context.Context, client *trex.Client, port int) error {
	if err := client.Acquire(ctx, port, true); err != nil {
		return err
	}
	return errors.Join(client.Reset(ctx, port), client.Release(ctx, port))
}
