package sim

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
)

// Start implements engine.Engine.
func (e *Engine) Start(ctx context.Context, loads []engine.PortLoad, duration time.Duration) error {
	if duration <= 0 {
		return fmt.Errorf("start without a finite duration: %w", engine.ErrRefused)
	}
	if err := e.reach(ctx); err != nil {
		return err
	}
	defer e.lock()()
	clock := e.world.computed
	for _, l := range loads {
		p := e.ports[l.Port]
		switch {
		case p == nil || p.streams == 0:
			return fmt.Errorf("port %d has no streams: %w", l.Port, engine.ErrRefused)
		case p.running:
			return fmt.Errorf("port %d is transmitting: %w", l.Port, engine.ErrRefused)
		case e.world.cfg.Links[l.Port].isDown(clock):
			return fmt.Errorf("port %d has no link: %w", l.Port, engine.ErrRefused)
		case e.capture != nil:
			return fmt.Errorf("port %d is in service mode: %w", l.Port, engine.ErrRefused)
		}
		p.rate, p.begins, p.ends, p.running = l.Rate, clock+e.StartTakes, clock+e.StartTakes+duration, true
		if p.burst > 0 {
			p.took = time.Duration(math.Ceil(float64(p.burst-e.Cuts) / e.reaches(l.Rate) * float64(time.Second)))
			p.ends = min(p.ends, p.begins+p.took)
		}
	}
	if !e.started {
		e.started, e.startAt = true, clock
	}
	return nil
}

// Update implements engine.Engine.
func (e *Engine) Update(ctx context.Context, loads []engine.PortLoad) error {
	if err := e.reach(ctx); err != nil {
		return err
	}
	defer e.lock()()
	for _, l := range loads {
		p := e.ports[l.Port]
		if p != nil && !p.running && e.Lease > 0 {
			return fmt.Errorf("port %d heard nothing for too long: %w", l.Port, engine.ErrEnded)
		}
		if p == nil || !p.running {
			return fmt.Errorf("port %d is not transmitting: %w", l.Port, engine.ErrRefused)
		}
		e.ports[l.Port].rate = l.Rate
	}
	return nil
}

// Stop implements engine.Engine.
func (e *Engine) Stop(ctx context.Context, ports []int) error {
	if err := e.reach(ctx); err != nil {
		return err
	}
	defer e.lock()()
	for _, i := range ports {
		if p := e.ports[i]; p != nil && p.running {
			e.stop(i)
		}
	}
	return nil
}

// Read implements engine.Engine.
func (e *Engine) Read(ctx context.Context, ports []int) (engine.Reading, error) {
	if err := e.reach(ctx); err != nil {
		return engine.Reading{}, err
	}
	unlock := e.lock()
	began := e.world.computed
	e.readings++
	turn := e.readings
	unlock()
	r := engine.Reading{Ports: map[int]engine.PortCounters{}, CPUPercent: -1, Instant: began}
	if e.ReadTakes == 0 {
		defer e.lock()()
		for _, i := range ports {
			r.Ports[i] = e.counters(i)
		}
		return r, nil
	}
	order, offset := e.readOrder(ports, turn)
	for n, i := range order {
		time.Sleep(offset(n) - e.world.elapsedSince(began))
		unlock := e.lock()
		r.Ports[i] = e.counters(i)
		unlock()
	}
	time.Sleep(e.ReadTakes - e.world.elapsedSince(began))
	r.Instant, r.Uncertainty = began+e.ReadTakes/2, e.ReadTakes/2
	return r, ctx.Err()
}

// readOrder is in which order a reading takes the ports, and how long after its beginning the n-th of them.
func (e *Engine) readOrder(ports []int, turn int) (order []int, offset func(n int) time.Duration) {
	order, earliest, latest := slices.Clone(ports), time.Duration(0), e.ReadTakes
	switch {
	case e.PortsRead != nil:
		earliest, latest = e.PortsRead(turn)
	case turn%2 == 1:
		slices.Reverse(order)
	}
	return order, func(n int) time.Duration {
		return earliest + (latest-earliest)*time.Duration(n)/time.Duration(max(1, len(ports)-1))
	}
}

// counters are a port's present counters. The caller has locked the world.
func (e *Engine) counters(index int) engine.PortCounters {
	clock := e.world.computed
	link, happened := e.world.cfg.Links[index], faults(e.Faults)
	c := engine.PortCounters{
		LinkUp:      !link.isDown(clock),
		LinkFlaps:   int64(2*happened.count(Flap, e.elapsed())) + link.changes(clock),
		PauseFrames: int64(100 * happened.count(Paused, e.elapsed())), Paced: e.Paced, CountsStrays: true,
	}
	if e.Paced {
		c.Waited = standstills(e.Stalls).stood(e.elapsed())
	}
	if p := e.ports[index]; p != nil && p.burst > 0 && !p.running && !e.UntimedBursts {
		// from the first frame to the last, which is a gap less than there are frames
		c.Sending = p.took - p.took/time.Duration(max(1, p.burst-e.Cuts))
	}
	for i, f := range e.world.flows {
		if f.From == index {
			c.Sent = frames(f.sent[e.index].end(), f.Mix)
		}
		if f.To == index {
			arrived := int64(e.arrived(i, clock))
			dropped := e.dropped(f, float64(arrived))
			c.ReceiveErrors = dropped
			c.Received = frames(float64(arrived-dropped), f.Mix)
		}
	}
	background := int64(e.world.cfg.Links[index].Background.PerSecond() * clock.Seconds())
	c.Received = c.Received.Add(units.Traffic{Packets: background, Bytes: background * 64}).Add(e.delivered[index])
	c.Sent = c.Sent.Add(e.injected[index])
	if e.failed(Cleared) {
		c = e.sinceCleared(index, c)
	}
	return c
}

// arrived is how many frames of a direction have reached this generator by a moment.
func (e *Engine) arrived(direction int, instant time.Duration) float64 {
	total := 0.0
	for g := range e.world.generators {
		if e.world.receiver(direction, g) == e.index {
			total += e.world.flows[direction].arrived(g, instant)
		}
	}
	return total
}

// sinceCleared takes off what the counters were when they were first read after the clearing.
func (e *Engine) sinceCleared(index int, c engine.PortCounters) engine.PortCounters {
	if _, ok := e.cleared[index]; !ok {
		e.cleared[index] = c
	}
	zero := e.cleared[index]
	c.Sent, c.Received = c.Sent.Sub(zero.Sent), c.Received.Sub(zero.Received)
	c.ReceiveErrors -= zero.ReceiveErrors
	return c
}

// dropped is how many of the frames that reached the port were dropped there. With a threshold, only frames count
// that arrived at a higher rate.
func (e *Engine) dropped(f *flow, arrived float64) int64 {
	if e.ReceiveDropsFrom == 0 {
		return int64(arrived * float64(e.ReceiveDrops) / float64(units.One))
	}
	line, fast, threshold := f.returned[e.index], 0.0, e.ReceiveDropsFrom.PerSecond()
	for i := 1; i < len(line); i++ {
		took := (line[i].instant - line[i-1].instant).Seconds()
		if passed := line[i].total - line[i-1].total; took > 0 && passed/took > threshold {
			fast += passed
		}
	}
	return int64(min(arrived, fast) * float64(e.ReceiveDrops) / float64(units.One))
}

// frames is the traffic of n whole frames of the mix.
func frames(n float64, mix units.Traffic) units.Traffic {
	packets := int64(n + sliver)
	return units.Traffic{Packets: packets, Bytes: int64(float64(packets) * float64(mix.Bytes) / float64(mix.Packets))}
}

// Latency implements engine.Engine, with the values that the test gave.
func (e *Engine) Latency(context.Context) (map[uint32]engine.LatencyStats, error) {
	return e.Numbered, nil
}

// Followed implements engine.Follower, with the values that the test gave.
func (e *Engine) Followed(context.Context, []uint32) (map[uint32]engine.Followed, error) {
	if e.Timed == nil {
		return nil, nil
	}
	e.timed++
	return e.Timed(e.timed - 1), nil
}

// Sampled implements engine.Sampler, with the values or the error that the test gave.
func (e *Engine) Sampled(ctx context.Context, ids []uint32) (map[uint32]engine.Followed, error) {
	if e.Unsampled != nil {
		return nil, e.Unsampled
	}
	return e.Followed(ctx, ids)
}
