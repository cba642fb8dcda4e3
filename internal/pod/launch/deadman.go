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

// DefaultSilence is how long traffic goes on after the runner's last beat.
const DefaultSilence = 10 * time.Second

// How often stopping is tried before the process is ended instead, and the pause in between.
const (
	stopAttempts = 5
	stopPause    = time.Second
	stopTimeout  = 5 * time.Second
)

// Switch is a dead man's switch. The first beat arms it. Silence stops all traffic and disarms it, and the next runner's first beat arms it
// again.
//
//	beat  |   |   |              traffic stopped
//	──────┴───┴───┴── Silence ──▶|            | beat: armed again
type Switch struct {
	// Silence is the bound; it must be positive.
	Silence time.Duration
	// Stop ends all traffic; it is tried again if it fails.
	Stop func(context.Context) error
	Log  *slog.Logger

	beats chan struct{}
}

// NewSwitch makes an unarmed switch.
func NewSwitch(silence time.Duration, stop func(context.Context) error, log *slog.Logger) *Switch {
	return &Switch{Silence: silence, Stop: stop, Log: log, beats: make(chan struct{}, 1)}
}

// Beat records that the runner is alive. It never waits, and is safe for concurrent use.
func (s *Switch) Beat() {
	select {
	case s.beats <- struct{}{}:
	default: // an earlier beat is still pending, which serves as well
	}
}

// Run watches until ctx ends. An error means that the traffic couldn't be stopped: then only the end of the process stops it.
func (s *Switch) Run(ctx context.Context) error {
	for {
		if !s.armed(ctx) {
			return nil
		}
		if !s.silent(ctx) {
			return nil
		}
		s.Log.Warn("the runner is silent: stopping all traffic", "silence", s.Silence)
		if err := s.stop(ctx); err != nil {
			return err
		}
	}
}

// armed waits for the first beat; false: ctx ended.
func (s *Switch) armed(ctx context.Context) bool {
	select {
	case <-s.beats:
		return true
	case <-ctx.Done():
		return false
	}
}

// silent waits until no beat came for Silence; false: ctx ended.
func (s *Switch) silent(ctx context.Context) bool {
	silence := time.NewTimer(s.Silence)
	defer silence.Stop()
	for {
		select {
		case <-s.beats:
			silence.Reset(s.Silence)
		case <-silence.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

func (s *Switch) stop(ctx context.Context) error {
	var err error
	for range stopAttempts {
		if err = s.attempt(ctx); err == nil {
			return nil
		}
		s.Log.Error("stop traffic", "error", err)
		if bounded.Pause(ctx, min(stopPause, s.Silence)) != nil {
			return nil //nolint:nilerr // who ends the switch wants nothing of it any more
		}
	}
	return fmt.Errorf("no beat from the runner for %v, and its traffic can't be stopped over the RPC: %w", s.Silence, err)
}

func (s *Switch) attempt(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	return s.Stop(bounded)
}

// StopTraffic acquires every sending port, whoever owns it, stops it, clears its streams, and releases it: the next runner starts with clean ports, and a
// runner that was only slow gets an error, since it lost them. It tries all ports, even if some fail.
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
	all := make([]int, len(info.Ports))
	for i, p := range info.Ports {
		all[i] = p.Index
	}
	statuses, err := client.PortStatuses(ctx, all)
	if err != nil {
		return nil, err
	}
	var sending []int
	for _, port := range all {
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
