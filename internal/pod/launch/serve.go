package launch

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex"
)

// Session is a TRex that runs, watched.
type Session struct {
	Process Process
	Report  Report
	// Heartbeat is where beats come in. Nil means that only the traffic's own duration ends it. Serve closes it.
	Heartbeat        net.Listener
	HeartbeatTimeout time.Duration // 0 is DefaultHeartbeatTimeout
	// RPC is TRex's own address, for stopping its traffic, and Client how to talk to it.
	RPC    string
	Client trex.Options
	Log    *slog.Logger // nil discards
}

// Serve runs TRex until it ends, or ctx does. Errors are Process.Run's. Traffic that couldn't be stopped when
// the runner fell silent ends the process, and is the error.
func Serve(ctx context.Context, s Session) error {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	s.Process.Log = s.Log
	running, end := context.WithCancelCause(ctx)
	var watchers sync.WaitGroup
	defer watchers.Wait()
	defer end(nil)
	if s.Heartbeat != nil {
		s.watch(running, end, &watchers)
	}
	err := s.Process.Run(running)
	if err == nil && ctx.Err() == nil {
		err = context.Cause(running)
	}
	return err
}

// watch starts the listener and the switch.
func (s Session) watch(ctx context.Context, end context.CancelCauseFunc, watchers *sync.WaitGroup) {
	timeout := s.HeartbeatTimeout
	if timeout <= 0 {
		timeout = DefaultHeartbeatTimeout
	}
	heartbeat := NewHeartbeatWatch(timeout, s.stopTraffic, s.Log)
	watchers.Go(func() {
		if err := heartbeat.Run(ctx); err != nil {
			end(Fault{TRexEnded, err.Error(), "TRex was ended instead; the attempt is void"})
		}
	})
	watchers.Go(func() {
		if err := ReceiveHeartbeats(ctx, s.Heartbeat, s.Report, heartbeat.Record); err != nil {
			s.Log.Error("no more beats can come in", "error", err)
		}
	})
}

func (s Session) stopTraffic(ctx context.Context) error {
	o := s.Client
	o.User = "linerate trex-launch"
	stopped, err := StopTraffic(ctx, s.RPC, o)
	s.Log.Info("stopped traffic", "ports", stopped)
	return err
}
