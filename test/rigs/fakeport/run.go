package fakeport

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/units"
)

// run is traffic being sent.
type run struct {
	factor  float64
	streams []*played
	end     time.Duration // when it ends by its duration
	endless bool
	begin   time.Duration
	counted time.Duration // up to when packets are counted
	paused  bool
	behind  float64
	ended   chan struct{}
	cancel  func()
}

// played is one stream with its packets so far, with fractions.
type played struct {
	stream                         stream.Stream
	total                          float64 // packets in all, infinite for a continuous one
	sent, received, receiveDropped float64
}

func (r *run) rate(s *played) float64 {
	if s.sent >= s.total {
		return 0
	}
	if isLatency(s.stream) {
		return s.stream.Mode.Rate.Value
	}
	return s.stream.Mode.Rate.Value * r.factor
}

func isLatency(s stream.Stream) bool { return s.FlowStats.Enabled && s.FlowStats.RuleType == "latency" }

// Check implements datapath.Port. It refuses rates that are not in packets per second.
func (p *Port) Check(streams []datapath.RunStream) error {
	for _, s := range streams {
		if s.Stream.Mode.Rate.Type != "pps" {
			return fmt.Errorf("stream %d: rate is in %s, not in pps", s.ID, s.Stream.Mode.Rate.Type)
		}
	}
	return nil
}

// Start implements datapath.Port.
func (p *Port) Start(want datapath.Run) error {
	if err := p.Check(want.Streams); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run != nil {
		return errors.New("port is sending already")
	}
	if err := p.checkOpen(); err != nil {
		return err
	}
	p.ended = nil
	begin := max(p.clock.Now(), want.Start)
	p.run = &run{factor: want.Factor, begin: begin, counted: begin, endless: want.Duration == 0, end: begin +
		want.Duration, ended: make(chan struct{})}
	for _, s := range want.Streams {
		p.run.streams = append(p.run.streams, &played{stream: s.Stream, total: packetsOf(s.Stream.Mode)})
	}
	p.arm()
	return nil
}

func packetsOf(m stream.Mode) float64 {
	switch m.Type {
	case "single_burst":
		return float64(m.TotalPackets)
	case "multi_burst":
		return float64(m.PacketsPerBurst) * float64(m.Count)
	default:
		return math.Inf(1)
	}
}

// arm sets the alarm for the end of the run, the end of its duration or of its last burst.
func (p *Port) arm() {
	r := p.run
	if r.cancel != nil {
		r.cancel()
		r.cancel = nil
	}
	remaining := time.Duration(math.MaxInt64)
	if !r.endless {
		remaining = r.end - p.clock.Now()
	}
	if bursts := r.burstsLeft(); !r.paused && bursts < remaining.Seconds() {
		remaining = time.Duration(math.Ceil(bursts*1e9)) + r.counted - p.clock.Now()
	}
	if remaining < math.MaxInt64 {
		r.cancel = p.clock.AfterFunc(max(remaining, 0), func() { p.expire(r) })
	}
}

// burstsLeft is how many seconds the bursts still take, infinite with a continuous stream.
func (r *run) burstsLeft() float64 {
	longest := 0.0
	for _, s := range r.streams {
		if remaining := s.total - s.sent; remaining > 0 {
			longest = max(longest, remaining/r.rate(s))
		}
	}
	return longest
}

// frames is how many frames all streams have, infinite with a continuous one.
func (r *run) frames() (total float64) {
	for _, s := range r.streams {
		total += s.total
	}
	return total
}

func (p *Port) expire(r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == r {
		p.finish()
	}
}

// SetFactor implements datapath.Port.
func (p *Port) SetFactor(factor float64) error { return p.change(func(r *run) { r.factor = factor }) }

// Pause implements datapath.Port.
func (p *Port) Pause() error { return p.change(func(r *run) { r.paused = true }) }

// Resume implements datapath.Port.
func (p *Port) Resume() error { return p.change(func(r *run) { r.paused = false }) }

func (p *Port) change(edit func(*run)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == nil {
		return errors.New("port is not sending")
	}
	p.settle()
	edit(p.run)
	p.arm()
	return nil
}

// Stop implements datapath.Port. It returns the error that Fail was given, once.
func (p *Port) Stop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish()
	failure := p.failure
	p.failure = nil
	return failure
}

// Fail ends the run as if the port could not go on.
func (p *Port) Fail(failure error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failure = failure
	p.finish()
}

// Done implements datapath.Port.
func (p *Port) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == nil {
		return p.ended
	}
	return p.run.ended
}

// finish ends the run, if there is one, and adds what it sent to the counters.
func (p *Port) finish() {
	if p.run == nil {
		return
	}
	p.settle()
	r := p.run
	p.run = nil
	if r.cancel != nil {
		r.cancel()
	}
	p.base.Sent = p.base.Sent.Add(r.sum(sentOf))
	if p.base.Sending = 0; !math.IsInf(r.frames(), 1) {
		p.base.Sending = r.counted - r.begin
	}
	p.peer.base.Received = p.peer.base.Received.Add(r.sum(receivedOf))
	p.peer.base.ReceiveErrors += r.sum(droppedOf).Packets
	r.addFlows(p)
	close(r.ended)
}

// settle counts the packets up to now.
func (p *Port) settle() {
	r := p.run
	clock := p.clock.Now()
	if !r.endless {
		clock = min(clock, r.end)
	}
	if clock <= r.counted {
		return
	}
	elapsed := (clock - r.counted).Seconds()
	r.counted = clock
	if r.paused {
		return
	}
	wanted := 0.0
	for _, s := range r.streams {
		wanted += r.rate(s)
	}
	sendable := share(p.options.Capacity, wanted)
	passing := share(p.cable.Limit, wanted*sendable) * (1 - p.cable.Loss)
	for _, s := range r.streams {
		due := min(r.rate(s)*elapsed, s.total-s.sent)
		r.behind += due * (1 - sendable)
		arrived := due * sendable * passing
		s.sent += due * sendable
		s.received += arrived * (1 - p.peer.options.ReceiveLoss)
		s.receiveDropped += arrived * p.peer.options.ReceiveLoss
	}
}

// share is the share of a wanted rate that a limit lets through.
func share(limit, wanted float64) float64 {
	if limit == 0 || wanted <= limit {
		return 1
	}
	return limit / wanted
}

func sentOf(s *played) float64     { return s.sent }
func receivedOf(s *played) float64 { return s.received }
func droppedOf(s *played) float64  { return s.receiveDropped }

func (r *run) sum(packets func(*played) float64) (t units.Traffic) {
	for _, s := range r.streams {
		t = t.Add(s.traffic(packets(s)))
	}
	return t
}

// traffic is that many whole packets of the stream. A packet that rounding has made a little less than whole counts
// as whole.
func (s *played) traffic(packets float64) units.Traffic {
	whole := int64(packets + 1e-6)
	return units.Traffic{Packets: whole, Bytes: whole * int64(max(len(s.stream.Packet.Binary), 60)+units.FCSBytes)}
}
