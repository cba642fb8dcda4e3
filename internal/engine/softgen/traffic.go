package softgen

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
)

// minStartNotice is how far ahead a start_at_ts must be.
const minStartNotice = 100 * time.Millisecond

// traffic starts and ends the runs of ports.
type traffic struct {
	ports  ports
	flows  *flows
	events *events
	loader *streamLoader
	clock  clock
	log    *slog.Logger
}

// startRequest has the parameters of start_traffic.
type startRequest struct {
	mul         multiplier
	duration    float64
	force       bool
	startAt     float64
	cores       uint64
	requestedAt time.Duration // by the server's clock
}

// start answers start_traffic.
func (t *traffic) start(port *port, f *profile, p *params) (any, error) {
	want := startRequest{
		mul: readMultiplier(p), duration: p.real("duration"), force: p.boolean("force"),
		startAt: optional(p, "start_at_ts", 0, p.real), requestedAt: t.clock(),
		cores: optional(p, "core_mask", math.MaxUint64, p.uint64),
	}
	if err := p.failed(); err != nil {
		return nil, err
	}
	if err := t.checkStart(port, f, want); err != nil {
		return nil, err
	}
	factor, err := want.mul.effective(newGraph(f, port.speed), 0, port.speed, want.force)
	if err != nil {
		return nil, err
	}
	if err := t.play(port, f, factor, want); err != nil {
		return nil, err
	}
	return object{"multiplier": real(factor), "ts": real(want.requestedAt.Seconds())}, nil
}

func (t *traffic) checkStart(port *port, f *profile, want startRequest) error {
	if err := f.requireState("start", loaded); err != nil {
		return err
	}
	if want.mul.op != "abs" {
		return refused("start message can only specify absolute speed rate")
	}
	if port.run != nil {
		return refused("the software engine plays one profile at a time on a port: stop profile_id(%s) first",
			port.run.profile.id)
	}
	if coreMask := uint64(1)<<min(port.cores, 63) - 1; want.cores&coreMask == 0 {
		return refused("core_mask: '0x%x' for %d cores generates an empty set", want.cores, port.cores)
	}
	if earliest := t.clock() + minStartNotice; want.startAt != 0 && seconds(want.startAt) < earliest {
		return refused("start_at_ts %s is too soon: the server's clock (ping) is at %s and needs %v notice",
			plain(want.startAt), plain(t.clock().Seconds()), minStartNotice)
	}
	if want.force {
		return nil
	}
	return port.checkLink(f)
}

// checkLink refuses traffic that the link can't carry or that has no destination.
func (port *port) checkLink(f *profile) error {
	if !port.path.Info().LinkUp {
		return refused("Link state is DOWN.")
	}
	if port.addressing.resolved {
		return nil
	}
	for _, loaded := range f.streams {
		if loaded.stream.Enabled && loaded.stream.Flags&6 != 2 {
			return refused("Port %d dest MAC is invalid and there are streams without explicit dest MAC.", port.index)
		}
	}
	return nil
}

func (t *traffic) play(port *port, f *profile, factor float64, want startRequest) error {
	streams, err := t.loader.compile(port, f)
	if err != nil {
		return err
	}
	start := datapath.Run{Streams: streams, Factor: finite(factor), Start: seconds(want.startAt),
		Duration: want.sendingTime(), NextHop: port.addressing.nextHop}
	end := alreadyDone()
	if start.Duration >= 0 {
		if err := port.path.Start(start); err != nil {
			return refusedBy(err)
		}
		end = port.path.Done()
	}
	t.flows.start(f)
	port.run = &run{profile: f, end: end}
	f.playing, f.factor, f.endless = sending, factor, want.duration <= 0
	t.events.publishTraffic(eventProfileStarted, eventPortStarted, port, f.id)
	t.log.Info("traffic started", "port", port.index, "profile", f.id, "factor", factor, "duration", start.Duration)
	return nil
}

// sendingTime is for how long the port sends. As in TRex, a duration counts from the request and not from
// start_at_ts. 0 means without end, and a negative time means that the duration is over before the start.
func (want startRequest) sendingTime() time.Duration {
	switch {
	case want.duration <= 0:
		return 0
	case want.startAt == 0:
		return max(seconds(want.duration), 1)
	}
	if remaining := want.requestedAt + seconds(want.duration) - seconds(want.startAt); remaining > 0 {
		return remaining
	}
	return -1
}

func alreadyDone() <-chan struct{} {
	end := make(chan struct{})
	close(end)
	return end
}

// finite is the factor for the data path. A factor is infinite if no stream can be scaled.
func finite(factor float64) float64 {
	if math.IsInf(factor, 0) {
		return 1
	}
	return factor
}

// seconds converts the RPC's seconds to a duration, and limits them to the longest duration.
func seconds(v float64) time.Duration {
	if v >= math.MaxInt64/1e9 {
		return math.MaxInt64
	}
	return time.Duration(v * float64(time.Second))
}

// update answers update_traffic. It changes a running profile's factor without a gap.
func (t *traffic) update(port *port, f *profile, p *params) (any, error) {
	mul, force := readMultiplier(p), p.boolean("force")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if err := f.requireState("update", sending, paused); err != nil {
		return nil, err
	}
	factor, err := mul.effective(newGraph(f, port.speed), f.factor, port.speed, force)
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
	if err := port.path.SetFactor(finite(factor)); err != nil {
		return nil, refusedBy(err)
	}
	f.factor = factor
	return object{"multiplier": real(factor)}, nil
}

// stop answers stop_traffic. It returns when the last packet has left. A profile that doesn't run needs no stop.
func (t *traffic) stop(port *port, p *params) (any, error) {
	profiles, err := port.profilesNamed(p)
	if err != nil {
		return nil, err
	}
	if port.run != nil && port.run.profile.id == trainsProfile {
		profiles = append(profiles, port.run.profile)
	}
	for _, f := range profiles {
		if f.playing == "" {
			continue
		}
		if err := t.stopPort(port, ""); err != nil {
			return nil, refusedBy(err)
		}
	}
	return object{}, nil
}

// stopPort ends the port's traffic. The cause in the events is empty if a client
// asked for the stop. Traffic that failed before is reported as failed.
func (t *traffic) stopPort(port *port, cause string) error {
	failure := port.path.Stop()
	if failure != nil && !port.run.ended() {
		return fmt.Errorf("stop port %d: %w", port.index, failure)
	}
	if failure != nil {
		t.failed(port, failure)
		return nil
	}
	id := port.finishRun()
	profileEvent, portEvent := object{"port_id": port.index, "profile_id": id}, object{"port_id": port.index}
	if cause != "" {
		profileEvent["cause"], portEvent["cause"] = cause, cause
	}
	t.events.publish(eventProfileStopped, profileEvent)
	t.events.publish(eventPortStopped, portEvent)
	t.log.Info("traffic stopped", "port", port.index, "profile", id, "cause", cause)
	return nil
}

// failed publishes that the port's traffic ended because the data path could not go on.
func (t *traffic) failed(port *port, failure error) {
	id, cause := port.finishRun(), failure.Error()
	t.events.publish(eventProfileFailed, object{"port_id": port.index, "profile_id": id, "cause": cause})
	t.events.publish(eventPortFailed, object{"port_id": port.index, "thread_id": 0, "cause": cause})
	t.log.Error("traffic failed", "port", port.index, "profile", id, "error", failure)
}

// stopAll ends all traffic, whoever owns it.
func (t *traffic) stopAll(cause string) error {
	var failures []error
	for _, port := range t.ports {
		if port.run != nil {
			failures = append(failures, t.stopPort(port, cause))
		}
	}
	return errors.Join(failures...)
}

// finishRun removes the port's run and returns its profile's id.
func (port *port) finishRun() string {
	f := port.run.profile
	f.playing, port.run = "", nil
	return f.id
}
