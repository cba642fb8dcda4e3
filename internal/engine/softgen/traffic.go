package softgen

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
)

// minNotice is how far ahead a start_at_ts must be.
const minNotice = 100 * time.Millisecond

// startRequest is what start_traffic asks for.
type startRequest struct {
	mul      multiplier
	duration float64
	force    bool
	at       float64
	cores    uint64
	asked    time.Duration // when it was, by the server's clock
}

// startTraffic is start_traffic.
func (s *Server) startTraffic(p *params) (any, error) {
	at, f, err := s.ownedProfile(p)
	if err != nil {
		return nil, err
	}
	want := startRequest{
		mul: readMultiplier(p), duration: p.real("duration"), force: p.boolean("force"),
		at: p.realOr("start_at_ts", 0), cores: p.uint64Or("core_mask", math.MaxUint64), asked: s.cfg.Now(),
	}
	if err := p.failed(); err != nil {
		return nil, err
	}
	if err := s.checkStart(at, f, want); err != nil {
		return nil, err
	}
	factor, err := want.mul.effective(newGraph(f, at.speed), 0, at.speed, want.force)
	if err != nil {
		return nil, err
	}
	if err := s.play(at, f, factor, want); err != nil {
		return nil, err
	}
	return object{"multiplier": real(factor), "ts": real(want.asked.Seconds())}, nil
}

func (s *Server) checkStart(at *port, f *profile, want startRequest) error {
	if err := f.must("start", loaded); err != nil {
		return err
	}
	if want.mul.op != "abs" {
		return refused("start message can only specify absolute speed rate")
	}
	if at.run != nil {
		return refused("the software engine plays one profile at a time on a port: stop profile_id(%s) first", at.run.profile.id)
	}
	if all := uint64(1)<<min(at.cores, 63) - 1; want.cores&all == 0 {
		return refused("core_mask: '0x%x' for %d cores generates an empty set", want.cores, at.cores)
	}
	if earliest := s.cfg.Now() + minNotice; want.at != 0 && seconds(want.at) < earliest {
		return refused("start_at_ts %s is too soon: the server's clock (ping) is at %s and needs %v notice",
			plain(want.at), plain(s.cfg.Now().Seconds()), minNotice)
	}
	if want.force {
		return nil
	}
	return at.checkLink(f)
}

// checkLink refuses traffic that the link could not carry or that has nowhere to go.
func (at *port) checkLink(f *profile) error {
	if !at.path.Info().LinkUp {
		return refused("Link state is DOWN.")
	}
	if at.layer.resolved {
		return nil
	}
	for _, one := range f.streams {
		if one.stream.Enabled && one.stream.Flags&6 != 2 {
			return refused("Port %d dest MAC is invalid and there are streams without explicit dest MAC.", at.index)
		}
	}
	return nil
}

func (s *Server) play(at *port, f *profile, factor float64, want startRequest) error {
	streams, err := s.compile(at, f)
	if err != nil {
		return err
	}
	start := datapath.Run{Streams: streams, Factor: finite(factor), Start: seconds(want.at), Duration: want.sends(), NextHop: at.layer.nextHop}
	done := alreadyDone()
	if start.Duration >= 0 {
		if err := at.path.Start(start); err != nil {
			return refusedBy(err)
		}
		done = at.path.Done()
	}
	s.flows.start(f)
	at.run = &run{profile: f, done: done}
	f.playing, f.factor, f.endless = sending, factor, want.duration <= 0
	s.publishTraffic(eventProfileStarted, eventPortStarted, at, f.id)
	s.cfg.Log.Info("traffic started", "port", at.index, "profile", f.id, "factor", factor, "duration", start.Duration)
	return nil
}

// sends is for how long the port sends: as in TRex a duration counts from the request, not from start_at_ts. 0: without end; below 0: the duration is over before the start.
func (want startRequest) sends() time.Duration {
	switch {
	case want.duration <= 0:
		return 0
	case want.at == 0:
		return max(seconds(want.duration), 1)
	}
	if left := want.asked + seconds(want.duration) - seconds(want.at); left > 0 {
		return left
	}
	return -1
}

func alreadyDone() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

// compile makes the streams for the data path: the enabled ones, with their rates in packets per second and their flows' slots.
func (s *Server) compile(at *port, f *profile) ([]datapath.RunStream, error) {
	if err := s.checkStampedIDs(); err != nil {
		return nil, err
	}
	var streams []datapath.RunStream
	for _, id := range f.ids() {
		one := f.streams[id].stream
		if !one.Enabled {
			continue
		}
		one.Mode.Rate.Value, one.Mode.Rate.Type = rateOf(one, at.speed).pps, "pps"
		if one.FlowStats.Enabled {
			one.FlowStats.StreamID = s.flows.active[one.FlowStats.StreamID].slot
		}
		streams = append(streams, datapath.RunStream{ID: id, Stream: one})
	}
	if len(streams) == 0 {
		return nil, refused("no streams attached to port")
	}
	if err := at.path.Check(streams); err != nil {
		return nil, refusedBy(err)
	}
	return streams, nil
}

// finite is the factor for the data path; the factor is infinite where no stream can be scaled.
func finite(factor float64) float64 {
	if math.IsInf(factor, 0) {
		return 1
	}
	return factor
}

// seconds turns the wire's seconds into a duration; what is longer than a duration can be is the longest.
func seconds(v float64) time.Duration {
	if v >= math.MaxInt64/1e9 {
		return math.MaxInt64
	}
	return time.Duration(v * float64(time.Second))
}

// updateTraffic is update_traffic: it changes a running profile's factor without a gap.
func (s *Server) updateTraffic(p *params) (any, error) {
	at, f, err := s.ownedProfile(p)
	if err != nil {
		return nil, err
	}
	mul, force := readMultiplier(p), p.boolean("force")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if err := f.must("update", sending, paused); err != nil {
		return nil, err
	}
	factor, err := mul.effective(newGraph(f, at.speed), f.factor, at.speed, force)
	if err != nil {
		return nil, err
	}
	switch mul.op {
	case "add":
		factor = f.factor + factor
	case "sub":
		if factor = f.factor - factor; factor <= 0 {
			return nil, refused("Update request will lower traffic to less than zero")
		}
	}
	if err := at.path.SetFactor(finite(factor)); err != nil {
		return nil, refusedBy(err)
	}
	f.factor = factor
	return object{"multiplier": real(factor)}, nil
}

// stopTraffic is stop_traffic. It returns when the last packet has left; stopping what doesn't run is fine.
func (s *Server) stopTraffic(p *params) (any, error) {
	at, err := s.ownedPort(p)
	if err != nil {
		return nil, err
	}
	profiles, err := at.profilesNamed(p)
	if err != nil {
		return nil, err
	}
	for _, f := range profiles {
		if f.playing == "" {
			continue
		}
		if err := s.stop(at, ""); err != nil {
			return nil, refusedBy(err)
		}
	}
	return object{}, nil
}

// stop ends the port's traffic. If no client asked for it, the events have the cause. Traffic that failed before is reported
// as failed.
func (s *Server) stop(at *port, cause string) error {
	failure := at.path.Stop()
	if failure != nil && !at.run.over() {
		return fmt.Errorf("stop port %d: %w", at.index, failure)
	}
	if failure != nil {
		s.failed(at, failure)
		return nil
	}
	id := at.ended()
	of, on := object{"port_id": at.index, "profile_id": id}, object{"port_id": at.index}
	if cause != "" {
		of["cause"], on["cause"] = cause, cause
	}
	s.publish(eventProfileStopped, of)
	s.publish(eventPortStopped, on)
	s.cfg.Log.Info("traffic stopped", "port", at.index, "profile", id, "cause", cause)
	return nil
}

// failed publishes that the port's traffic ended because the data path could not go on.
func (s *Server) failed(at *port, failure error) {
	id, cause := at.ended(), failure.Error()
	s.publish(eventProfileFailed, object{"port_id": at.index, "profile_id": id, "cause": cause})
	s.publish(eventPortFailed, object{"port_id": at.index, "thread_id": 0, "cause": cause})
	s.cfg.Log.Error("traffic failed", "port", at.index, "profile", id, "error", failure)
}

// stopAll ends all traffic, whoever owns it.
func (s *Server) stopAll(cause string) error {
	var failures []error
	for _, at := range s.ports {
		if at.run != nil {
			failures = append(failures, s.stop(at, cause))
		}
	}
	return errors.Join(failures...)
}

// ended marks the port's run as over and returns its profile.
func (at *port) ended() string {
	f := at.run.profile
	f.playing, at.run = "", nil
	return f.id
}
