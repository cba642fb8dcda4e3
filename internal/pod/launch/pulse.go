package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

// rhythm is a pulse's times.
type rhythm struct {
	beat      time.Duration // between two beats
	retry     time.Duration // between two tries to connect again
	reconnect time.Duration // for all of them
}

// usual is the rhythm for launchers that stop all traffic after DefaultSilence: a runner which can't reach one any more must know earlier.
func usual() rhythm {
	return rhythm{time.Second, 500 * time.Millisecond, DefaultSilence - 2*time.Second}
}

// ErrNoPulse means that the launcher can't be reached any more, or another one answers. Traffic has stopped or is about to.
var ErrNoPulse = errors.New("the generator's launcher is lost")

// Pulse sends beats on a heart until ctx ends (nil), and closes it. It reports a dropped connection, and connects again. If that fails for longer than the launcher
// waits, or if the launcher that answers was started since, the error is ErrNoPulse.
func Pulse(ctx context.Context, heart *Heart, address string, report func(string)) error {
	return usual().pulse(ctx, heart, address, report)
}

func (r rhythm) pulse(ctx context.Context, heart *Heart, address string, report func(string)) error {
	defer func() { _ = heart.Close() }() // the last connection
	for {
		if err := heart.Beat(); err != nil {
			report(fmt.Sprintf("the heartbeat to %s was cut: %v", address, err))
			again, err := r.connectAgain(ctx, address, heart.key)
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return fmt.Errorf("%w: no connection to %s for %s: %w", ErrNoPulse, address, r.reconnect, err)
			}
			_ = heart.Close()
			before := heart.Report().Started
			if heart = again; !heart.Report().Started.Equal(before) {
				return fmt.Errorf("%w: the one at %s was started anew at %s", ErrNoPulse, address, heart.Report().Started.UTC().Format(time.RFC3339))
			}
			report(fmt.Sprintf("the heartbeat to %s is back", address))
		}
		if bounded.Pause(ctx, r.beat) != nil {
			return nil
		}
	}
}

func (r rhythm) connectAgain(ctx context.Context, address string, key credential.Key) (*Heart, error) {
	within, cancel := context.WithTimeout(ctx, r.reconnect)
	defer cancel()
	for {
		heart, err := Connect(within, address, key)
		if err == nil {
			return heart, nil
		}
		if bounded.Pause(within, r.retry) != nil {
			return nil, err
		}
	}
}
