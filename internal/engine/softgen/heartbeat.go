package softgen

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// watchHeartbeat stops all traffic when clients fall silent. Every client's request with a valid api_h is a beat.
//
//	request  |   |   |   |                  traffic stopped
//	─────────┴───┴───┴───┴─── Heartbeat ───▶|
func (s *Server) watchHeartbeat(ctx context.Context) {
	if s.cfg.Heartbeat <= 0 {
		return
	}
	silence := time.NewTimer(s.cfg.Heartbeat)
	defer silence.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.beats:
			silence.Reset(s.cfg.Heartbeat)
		case <-silence.C:
			s.heartbeatLost()
		}
	}
}

// beat says that a client is alive.
func (s *Server) beat() {
	select {
	case s.beats <- struct{}{}:
	default: // an earlier beat waits, which has the same effect
	}
}

func (s *Server) heartbeatLost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traffic.observePorts()
	stopped := s.traffic.stopAll(fmt.Sprintf("heartbeat lost: no request for %v", s.cfg.Heartbeat))
	if err := errors.Join(stopped, s.trains.endAll()); err != nil {
		s.cfg.Log.Error("stop traffic after a lost heartbeat", "error", err)
	}
}
