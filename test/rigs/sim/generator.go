package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/units"
)

// Generator says how well a simulated generator works, and which faults it has. The zero value does everything
// that it is asked, at once.
type Generator struct {
	// MaxRate is the most that one port sends, 0 for no bound. Like TRex, the generator doesn't report it.
	MaxRate units.PacketRate
	// ReceiveDrops is the share of the frames that reach a port and are dropped there (ierrors), only above
	// ReceiveDropsFrom packets per second.
	ReceiveDrops     units.Ratio
	ReceiveDropsFrom units.PacketRate
	// ReadTakes is how long a reading takes. Its time is then the middle of the request, and each port is read at
	// some moment of it.
	ReadTakes time.Duration
	// PortsRead returns, for the n-th reading, how long after its beginning the first port's counters are read, and
	// the last port's. The others are read at even distances between. With nil the first is read at the reading's
	// beginning and the last at its end, in alternating order, which is the worst case that the uncertainty covers.
	PortsRead func(n int) (first, last time.Duration)
	// StartTakes delays the start of traffic.
	StartTakes time.Duration
	// Owner holds the ports until it is claimed by force.
	Owner string
	// Unresolved means that ARP and neighbour discovery get no answer for next hops.
	Unresolved bool
	// Stalls are when the generator stands still and then catches up, in order of time without overlap. A Mute
	// generator doesn't answer meanwhile either.
	Stalls []Standstill
	Mute   bool
	// Late are when it answers late, in order of time without overlap. Its traffic goes on meanwhile.
	Late []Lateness
	// Lease is how long after the latest call that it heard its traffic stops by itself, or 0 for never.
	Lease time.Duration
	// UntimedBursts means that the generator doesn't report how long it took to send its bursts.
	UntimedBursts bool
	// Cuts is how many frames it leaves out of each burst.
	Cuts int64
	// Paced means that the generator reports that it never catches up in bursts, and for how long it waited. It
	// waited for its Stalls, none of which may then be made good.
	Paced bool
	// Numbered is what the receivers of its latency streams report, nil if it has no latency streams.
	Numbered map[uint32]engine.LatencyStats
	// Timed is what became of its streams with stamps, by flow id, for the n-th call, from 0 on. With nil nothing
	// came.
	Timed func(n int) map[uint32]engine.Followed
	// Unsampled is the error instead of the times of latency streams. With nil these are Timed's.
	Unsampled error
	// Trains is how its trains go, nil if they can't be sent. Untrained is why then.
	Trains    *Trains
	Untrained string
	// Untimed is the reason why its ports can't time frames by stamps, empty if they can.
	Untimed string
	// Cautions are what its ports say of themselves (engine.Port).
	Cautions []string
	// Faults happen at their time after the first start of traffic.
	Faults []Fault
}

// Lateness is a time since the first start of traffic in which a generator hears no call. It answers all of them at the
// end of that time.
type Lateness struct{ Offset, Duration time.Duration }

// Fault is a fault at a moment of the run.
type Fault struct {
	Offset time.Duration
	Kind   FaultKind
}

// FaultKind says what goes wrong.
type FaultKind int

// The faults.
const (
	Flap      FaultKind = iota // a link goes down and comes up again
	Restart                    // the process restarts, its counters are lost and its traffic has stopped
	Stall                      // it doesn't answer any more
	Robbed                     // another client takes the ports
	Cleared                    // another client clears the counters
	Paused                     // pause frames arrive
	StallOnce                  // it does not answer for three seconds
)

// Engine is one simulated generator. It is safe for concurrent use.
type Engine struct {
	Generator
	world *World
	index int

	claimed  bool
	capture  *capture
	ports    map[int]*port
	started  bool
	startAt  time.Duration // of the first traffic
	heard    time.Duration // the latest call
	readings int
	timed    int                         // how often Followed or Sampled was called
	cleared  map[int]engine.PortCounters // what the counters were when another client cleared them
	// injected and delivered are single frames, by port, beside the fluid.
	injected, delivered map[int]units.Traffic
}

// port is the state of a claimed port.
type port struct {
	streams int
	burst   int64         // how many frames its streams have, 0 if they are not finite
	took    time.Duration // that the latest burst did
	rate    units.PacketRate
	begins  time.Duration
	ends    time.Duration
	running bool
}

var _ engine.Engine = (*Engine)(nil)

func mac(group, index int) engine.MAC {
	return engine.MAC(fmt.Sprintf("02:00:00:00:%02x:%02x", group, index))
}

func (e *Engine) mac(port int) engine.MAC { return mac(e.index, port) }

// lock computes the world up to the present, and locks it.
func (e *Engine) lock() func() {
	e.world.mu.Lock()
	e.world.advance()
	return e.world.mu.Unlock
}

// sending is a port's actual rate in packets per second.
func (e *Engine) sending(index int) float64 {
	p := e.ports[index]
	if p == nil || !p.running || e.world.computed < p.begins || e.failed(Restart) ||
		e.world.cfg.Links[index].isDown(e.world.computed) {
		return 0
	}
	pace, _ := standstills(e.Stalls).pace(e.elapsed())
	return pace * e.reaches(p.rate)
}

// reaches is how much of a rate a port can send, in packets per second.
func (e *Engine) reaches(rate units.PacketRate) float64 {
	if e.MaxRate > 0 {
		return min(rate, e.MaxRate).PerSecond()
	}
	return rate.PerSecond()
}

// nextChange is the first moment after from, and not after to, at which a port begins or ends by itself or a
// restart stops all.
func (e *Engine) nextChange(begin, end time.Duration) time.Duration {
	moments := []time.Duration{}
	for _, p := range e.ports {
		moments = append(moments, p.begins, p.ends)
	}
	if e.started {
		for _, f := range e.Faults {
			moments = append(moments, e.startAt+f.Offset)
		}
		if e.Lease > 0 {
			moments = append(moments, e.heard+e.Lease)
		}
		for _, s := range standstills(e.Stalls).around(begin - e.startAt) {
			moments = append(moments, e.startAt+s.Offset, e.startAt+s.Offset+s.Duration, e.startAt+s.caughtUp())
		}
	}
	for _, m := range moments {
		if m > begin && m < end {
			end = m
		}
	}
	return end
}

func (e *Engine) expire(clock time.Duration) {
	for i, p := range e.ports {
		if p.running && (clock >= p.ends || e.leaseOver(clock)) {
			e.stop(i)
		}
	}
}

// leaseOver reports whether the generator has heard nothing for so long that its traffic has stopped.
func (e *Engine) leaseOver(clock time.Duration) bool { return e.Lease > 0 && clock >= e.heard+e.Lease }

// hear waits until a late generator hears a call.
func (e *Engine) hear(ctx context.Context) error {
	unlock := e.lock()
	elapsed := e.elapsed()
	unlock()
	for _, l := range e.Late {
		if e.started && elapsed >= l.Offset && elapsed < l.Offset+l.Duration {
			if err := bounded.Pause(ctx, l.Offset+l.Duration-elapsed); err != nil {
				return fmt.Errorf("generator %d answers late: %w", e.index, err)
			}
		}
	}
	defer e.lock()()
	e.heard = e.world.computed
	return nil
}

// stop ends a port's traffic, with a whole frame.
func (e *Engine) stop(index int) {
	e.ports[index].running = false
	for _, f := range e.world.flows {
		if f.From == index {
			f.sent[e.index].whole()
			f.returned[e.index].whole()
		}
	}
}

// elapsed is the time since the first start of traffic up to which the world is computed, -1 before that start.
func (e *Engine) elapsed() time.Duration {
	if !e.started {
		return -1
	}
	return e.world.computed - e.startAt
}

// failed says whether a fault has happened by the moment up to which the world is computed.
func (e *Engine) failed(kind FaultKind) bool { return faults(e.Faults).count(kind, e.elapsed()) > 0 }

// faults are those of a generator, by the time since its first start of traffic.
type faults []Fault

// count is how often a fault has happened by a time.
func (list faults) count(kind FaultKind, elapsed time.Duration) (n int) {
	for _, f := range list {
		if f.Kind == kind && elapsed >= f.Offset {
			n++
		}
	}
	return n
}

// stalled says whether the generator doesn't answer at a time.
func (list faults) stalled(elapsed time.Duration) bool {
	return list.count(Stall, elapsed) > 0 || slices.ContainsFunc(list, func(f Fault) bool {
		return f.Kind == StallOnce && elapsed >= f.Offset && elapsed < f.Offset+3*time.Second
	})
}

// reach returns the error that any call to the generator gets in its present state.
func (e *Engine) reach(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("call generator %d: %w", e.index, err)
	}
	if err := e.hear(ctx); err != nil {
		return err
	}
	if e.Mute { // it answers after its standstill
		unlock := e.lock()
		_, remaining := standstills(e.Stalls).pace(e.elapsed())
		unlock()
		time.Sleep(remaining)
	}
	unlock := e.lock()
	stalled, restarted, robbed := faults(e.Faults).stalled(e.elapsed()), e.failed(Restart), e.failed(Robbed)
	unlock()
	switch {
	case stalled:
		<-ctx.Done()
		return fmt.Errorf("generator %d does not answer: %w", e.index, ctx.Err())
	case restarted:
		return fmt.Errorf("generator %d has another session: %w", e.index, engine.ErrLost)
	case robbed:
		return fmt.Errorf("port 0 of generator %d belongs to eve: %w", e.index, engine.ErrTaken)
	}
	return nil
}

// Describe implements engine.Engine.
func (e *Engine) Describe(ctx context.Context) (engine.Description, error) {
	if err := e.reach(ctx); err != nil {
		return engine.Description{}, err
	}
	d := engine.Description{Product: "simulated generator", Server: fmt.Sprintf("sim:%d", e.index), Hostname: "memory",
		CoreCount: 1}
	for i, l := range e.world.cfg.Links {
		d.Ports = append(d.Ports, engine.Port{Index: i, Name: l.Name, Driver: "sim", MAC: e.mac(i), Virtual: l.Virtual,
			Speed: l.Speed, LinkUp: !l.Down, Owner: e.Owner, FlowControl: "off", Untimed: e.Untimed,
			Untrained: e.Untrained, Ring: e.ring(),
			Cautions: e.Cautions})
	}
	return d, nil
}

// Claim implements engine.Engine.
func (e *Engine) Claim(ctx context.Context, ports []int, force bool) error {
	if err := e.reach(ctx); err != nil {
		return err
	}
	if e.Owner != "" && !force {
		return fmt.Errorf("port %d belongs to %q: %w", ports[0], e.Owner, engine.ErrTaken)
	}
	defer e.lock()()
	e.claimed = true
	for _, i := range ports {
		e.ports[i] = &port{}
	}
	return nil
}

// Address implements engine.Engine.
func (e *Engine) Address(ctx context.Context, port int, a engine.Addressing) (engine.MAC, error) {
	if err := e.ready(ctx, port); err != nil {
		return "", err
	}
	switch {
	case a.NextHopMAC != "":
		return a.NextHopMAC, nil
	case len(a.Local) == 0 && len(a.NextHop) == 0: // as it was configured
		return deviceMAC(port), nil
	case e.Unresolved || len(a.NextHop) == 0:
		return "", fmt.Errorf("port %d: %v: %w", port, a.NextHop, engine.ErrUnresolved)
	}
	return deviceMAC(port), nil
}

// ready returns an error unless the port is claimed and the generator answers.
func (e *Engine) ready(ctx context.Context, port int) error {
	if err := e.reach(ctx); err != nil {
		return err
	}
	defer e.lock()()
	if !e.claimed || e.ports[port] == nil {
		return fmt.Errorf("port %d is not claimed: %w", port, engine.ErrRefused)
	}
	return nil
}

// Load implements engine.Engine.
func (e *Engine) Load(ctx context.Context, port int, streams []stream.Stream) error {
	if err := e.ready(ctx, port); err != nil {
		return err
	}
	defer e.lock()()
	if e.ports[port].running {
		return fmt.Errorf("port %d is transmitting: %w", port, engine.ErrRefused)
	}
	e.ports[port].streams, e.ports[port].burst = len(streams), 0
	for _, s := range streams {
		e.ports[port].burst += int64(s.Mode.TotalPackets)
	}
	return nil
}

// Release implements engine.Engine.
func (e *Engine) Release(ctx context.Context) error {
	if err := e.reach(ctx); err != nil {
		return err
	}
	defer e.lock()()
	e.claimed, e.ports = false, map[int]*port{}
	return nil
}

// Close implements engine.Engine.
func (*Engine) Close() error { return nil }

// Claimed says whether the ports are claimed.
func (e *Engine) Claimed() bool {
	defer e.lock()()
	return e.claimed
}

// Readings is how often its counters were read.
func (e *Engine) Readings() int {
	defer e.lock()()
	return e.readings
}

// Running says whether any port transmits.
func (e *Engine) Running() bool {
	defer e.lock()()
	for i := range e.ports {
		if e.sending(i) > 0 {
			return true
		}
	}
	return false
}
