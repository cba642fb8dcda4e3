package launch

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The pulse's times: a launcher stops all traffic after DefaultSilence, so that a runner which can't reach it any more must know earlier.
const (
	beatEvery      = time.Second
	reconnectEvery = 500 * time.Millisecond
	reconnectFor   = DefaultSilence - 2*time.Second
)

// ErrNoPulse: the launcher can't be reached any more, or another one answers. Traffic has stopped or is about to.
var ErrNoPulse = errors.New("the generator's launcher is lost")

// Pulse beats on a heart until ctx ends (nil), and closes it. A connection that drops is told and made again; where that fails for longer
// than the launcher waits, or where the launcher that answers was started since, the error is ErrNoPulse.
func Pulse(ctx context.Context, heart *Heart, address string, told func(string)) error {
	defer func() { _ = heart.Close() }()
	for {
		if err := heart.Beat(); err != nil {
			told(fmt.Sprintf("the heartbeat to %s was cut: %v", address, err))
			again, err := reconnect(ctx, address)
			if ctx.Err() != nil {
				return nil //nolint:nilerr // nobody needs the beats any more
			}
			if err != nil {
				return fmt.Errorf("%w: no connection to %s for %s: %w", ErrNoPulse, address, reconnectFor, err)
			}
			_ = heart.Close()
			before := heart.Report().Started
			if heart = again; !heart.Report().Started.Equal(before) {
				return fmt.Errorf("%w: the one at %s was started anew at %s", ErrNoPulse, address, heart.Report().Started.UTC().Format(time.RFC3339))
			}
			told(fmt.Sprintf("the heartbeat to %s is back", address))
		}
		if !pause(ctx, beatEvery) {
			return nil
		}
	}
}

func reconnect(ctx context.Context, address string) (*Heart, error) {
	bounded, cancel := context.WithTimeout(ctx, reconnectFor)
	defer cancel()
	for {
		heart, err := Connect(bounded, address)
		if err == nil {
			return heart, nil
		}
		if !pause(bounded, reconnectEvery) {
			return nil, err
		}
	}
}

// pause says whether ctx outlived it.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
