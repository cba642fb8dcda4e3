package datapath

import (
	"errors"
	"fmt"
	"time"
)

// ErrRunning refuses a second run, ErrIdle what only a running one can do.
var (
	ErrRunning = errors.New("traffic is running already; stop it first")
	ErrIdle    = errors.New("no traffic is running")
)

func (p *port) compiler(nextHop [6]byte) compiler {
	return compiler{source: p.mac, nextHop: nextHop, speed: p.speed}
}

// compile makes tracks of streams that the interface can send.
func (p *port) compile(streams []RunStream, nextHop [6]byte) ([]*track, error) {
	tracks, err := p.compiler(nextHop).compile(streams)
	if err != nil {
		return nil, err
	}
	return tracks, p.checkLengths(tracks)
}

// What the kernel allows a frame beyond the interface's MTU: an Ethernet header, and a VLAN tag.
const (
	headRoom = 14
	tagRoom  = 4
)

// checkLengths refuses frames that are too long for the interface: a virtual cable drops them silently, and counts them like frames without room in the far end's queue.
func (p *port) checkLengths(tracks []*track) error {
	var mtu int
	err := p.namespace.do(func() error {
		l, err := facts(p.name)
		if err == nil {
			mtu = l.Attrs().MTU
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, t := range tracks {
		if length := t.program.MaxLength(); length > mtu+headRoom+tagRoom {
			return fmt.Errorf("stream %d has frames of %d bytes, and the MTU of %s, %d, lets %d pass at most, a VLAN tag included: send shorter ones, or raise it (ip link set %s mtu %d)", t.id, length, p.name, mtu, mtu+headRoom+tagRoom, p.name, length-headRoom)
		}
	}
	return nil
}

func (p *port) Check(streams []RunStream) error {
	_, err := p.compile(streams, [6]byte{})
	return err
}

func (p *port) Start(run Run) error {
	if run.Factor <= 0 {
		return fmt.Errorf("start traffic on %s: the factor is %v; it must be positive", p.name, run.Factor)
	}
	tracks, err := p.compile(run.Streams, run.NextHop)
	if err != nil {
		return err
	}
	if run.Start == 0 {
		run.Start = Now()
	}
	return p.begin(run, tracks)
}

func (p *port) begin(run Run, tracks []*track) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.closed || (p.play != nil && p.play.running()) {
		return fmt.Errorf("start traffic on %s: %w", p.name, ErrRunning)
	}
	pl, err := newPlay(p, run, tracks)
	if err != nil {
		return fmt.Errorf("start traffic on %s: %w", p.name, err)
	}
	for _, t := range pl.tracks {
		if t.flow != nil {
			p.known[t.flow.id] = true
		}
	}
	p.play, p.failure = pl, nil
	p.took.Store(0)
	p.runs.Add(1)
	pl.begin()
	return nil
}

func (pl *play) running() bool {
	select {
	case <-pl.done:
		return false
	default:
		return true
	}
}

// running is the run in progress, or nil.
func (p *port) running() *play {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.play == nil || !p.play.running() {
		return nil
	}
	return p.play
}

func (p *port) order(what string, o order) error {
	pl := p.running()
	if pl == nil {
		return fmt.Errorf("%s on %s: %w", what, p.name, ErrIdle)
	}
	if o.kind != changeFactor && !pl.endless {
		return fmt.Errorf("%s on %s: only an endless run of continuous streams can be paused", what, p.name)
	}
	return pl.order(o)
}

func (p *port) SetFactor(factor float64) error {
	if factor <= 0 {
		return fmt.Errorf("change the factor on %s to %v: it must be positive", p.name, factor)
	}
	return p.order("change the factor", order{kind: changeFactor, factor: factor})
}

func (p *port) Pause() error { return p.order("pause traffic", order{kind: pausePlay}) }

func (p *port) Resume() error { return p.order("resume traffic", order{kind: resumePlay}) }

// Stop ends the run; its error is that of traffic that had failed before.
func (p *port) Stop() error {
	p.mutex.Lock()
	pl := p.play
	p.mutex.Unlock()
	if pl == nil {
		return nil
	}
	pl.halt()
	<-pl.done
	p.mutex.Lock()
	defer p.mutex.Unlock()
	err := p.failure
	p.failure = nil
	return err
}

func (p *port) Done() <-chan struct{} {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.play == nil {
		return nil
	}
	return p.play.done
}

// load computes how busy the sending threads are between two readings.
type load struct {
	at, busy time.Duration
	percent  float64
}

// leastLoadWindow is the shortest time span that a load is computed over.
const leastLoadWindow = 200 * time.Millisecond

func (l *load) read(at, busy time.Duration, cores int) float64 {
	if window := at - l.at; window >= leastLoadWindow {
		l.percent = min(100*float64(busy-l.busy)/float64(window)/float64(cores), 100)
		l.at, l.busy = at, busy
	}
	return l.percent
}
