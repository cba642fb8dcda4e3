package datapath

import (
	"errors"
	"fmt"
	"time"
)

// ErrRunning refuses a second run. ErrIdle refuses an order without a run.
var (
	ErrRunning = errors.New("traffic is running already; stop it first")
	ErrIdle    = errors.New("no traffic is running")
)

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
	if p.closed || (p.playback != nil && p.playback.running()) {
		return fmt.Errorf("start traffic on %s: %w", p.name, ErrRunning)
	}
	pl, err := newPlayback(p, run, tracks)
	if err != nil {
		return fmt.Errorf("start traffic on %s: %w", p.name, err)
	}
	for _, t := range pl.tracks {
		if t.flow != nil {
			p.flowIDs[t.flow.id] = true
		}
	}
	p.playback, p.failure = pl, nil
	p.sendingTime.Store(0)
	p.runs.Add(1)
	pl.begin()
	return nil
}

func (pl *playback) running() bool {
	select {
	case <-pl.ended:
		return false
	default:
		return true
	}
}

// running is the run in progress, or nil.
func (p *port) running() *playback {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.playback == nil || !p.playback.running() {
		return nil
	}
	return p.playback
}

func (p *port) order(action string, o order) error {
	pl := p.running()
	if pl == nil {
		return fmt.Errorf("%s on %s: %w", action, p.name, ErrIdle)
	}
	if o.kind != changeFactor && !pl.endless {
		return fmt.Errorf("%s on %s: only an endless run of continuous streams can be paused", action, p.name)
	}
	return pl.order(o)
}

func (p *port) SetFactor(factor float64) error {
	if factor <= 0 {
		return fmt.Errorf("change the factor on %s to %v: it must be positive", p.name, factor)
	}
	return p.order("change the factor", order{kind: changeFactor, factor: factor})
}

func (p *port) Pause() error { return p.order("pause traffic", order{kind: pauseRun}) }

func (p *port) Resume() error { return p.order("resume traffic", order{kind: resumeRun}) }

// Stop ends the run, and returns the error of traffic that had failed before.
func (p *port) Stop() error {
	p.mutex.Lock()
	pl := p.playback
	p.mutex.Unlock()
	if pl == nil {
		return nil
	}
	pl.halt()
	<-pl.ended
	p.mutex.Lock()
	defer p.mutex.Unlock()
	err := p.failure
	p.failure = nil
	return err
}

func (p *port) Done() <-chan struct{} {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.playback == nil {
		return nil
	}
	return p.playback.ended
}

// processorLoad computes how busy the sending threads are between two readings.
type processorLoad struct {
	readAt, busy time.Duration
	percent      float64
}

// minLoadWindow is the shortest time span that a load is computed over.
const minLoadWindow = 200 * time.Millisecond

func (l *processorLoad) read(instant, busy time.Duration, cores int) float64 {
	if window := instant - l.readAt; window >= minLoadWindow {
		l.percent = min(100*float64(busy-l.busy)/float64(window)/float64(cores), 100)
		l.readAt, l.busy = instant, busy
	}
	return l.percent
}
