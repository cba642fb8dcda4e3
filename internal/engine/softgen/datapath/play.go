package datapath

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// play is a run in progress: its threads, and the orders to them.
type play struct {
	port     *port
	tracks   []*track
	layout   layout
	start    time.Duration
	duration time.Duration
	endless  bool // all streams are continuous: it may be paused
	finite   bool // no stream is continuous: its duration is reported
	threads  []*thread
	live     *live // sends live frames instead of the threads; nil: the threads send
	instead  error // why live frames aren't used, where they might be
	finished sync.WaitGroup
	done     chan struct{}

	stop    atomic.Bool
	version atomic.Uint64 // grows with each order
	mutex   sync.Mutex
	orders  []order
	paused  bool
}

// order is an order to all threads. Each carries it out as soon as it reads it, but as of the same moment.
type order struct {
	at     time.Duration
	factor float64
	kind   orderKind
}

type orderKind int

const (
	changeFactor orderKind = iota
	pausePlay
	resumePlay
)

// linger is how long after its duration a run may still send frames that were due before.
const linger = 100 * time.Millisecond

// newPlay lays out memory and threads; nothing is sent yet.
func newPlay(p *port, run Run, tracks []*track) (*play, error) {
	pl := &play{port: p, tracks: tracks, start: run.Start, duration: run.Duration, done: make(chan struct{})}
	pl.endless, pl.finite = run.Duration == 0 && allContinuous(tracks), allFinite(tracks)
	why := preferLive(p)
	if why == nil {
		if pl.live, why = startLive(p, run, tracks, max(p.options.Cores, 1)); why == nil {
			return pl, nil
		}
	}
	switch {
	case errors.Is(why, errNotLive):
		pl.instead = why
	case !errors.Is(why, errNotAsked):
		return nil, why
	}
	outlets, err := p.outlets(longest(tracks))
	if err != nil {
		return nil, err
	}
	a := outlets.arena
	a.empty()
	pl.layout = plan(tracks, len(outlets.transmitters)*batchSize, len(a.memory))
	if err := a.fill(pl.layout); err != nil {
		return nil, err
	}
	for k, x := range outlets.transmitters {
		t := &thread{play: pl, arena: a, transmitter: x, schedule: newSchedule(tracks, run.Factor, k, len(outlets.transmitters))}
		if err := t.prepare(); err != nil {
			return nil, err
		}
		pl.threads = append(pl.threads, t)
	}
	return pl, nil
}

func longest(tracks []*track) int {
	longest := 0
	for _, t := range tracks {
		longest = max(longest, t.program.MaxLength())
	}
	return longest
}

func allContinuous(tracks []*track) bool {
	for _, t := range tracks {
		if t.total != 0 {
			return false
		}
	}
	return true
}

func allFinite(tracks []*track) bool {
	return !slices.ContainsFunc(tracks, func(t *track) bool { return t.total == 0 })
}

// begin starts the threads, and ends the run when they have ended.
func (pl *play) begin() {
	if pl.live != nil {
		pl.port.live.Store(pl.live)
		go func() {
			if err := pl.live.keep(); err != nil {
				pl.port.fail(err)
			}
			pl.port.live.Store(nil)
			pl.port.took.Store(int64(pl.live.sending))
			close(pl.done)
		}()
		return
	}
	done := machine.SendFirst()
	for k, t := range pl.threads {
		pl.finished.Go(func() {
			runtime.LockOSThread() // for good: a thread bound to a processor is of no use to others
			if err := bind(pl.port.options.CPUs, k); err != nil {
				pl.port.fail(err)
				return
			}
			id := unix.Gettid()
			pl.port.waits.begin(id)
			t.run()
			pl.port.waits.end(id, 0)
		})
	}
	go func() {
		pl.finished.Wait()
		done()
		pl.port.took.Store(int64(pl.sending()))
		close(pl.done)
	}()
}

// sending is how long the threads took together, from the first frame to the last; 0 for endless streams, which aren't timed.
func (pl *play) sending() time.Duration {
	var first, last time.Duration
	for _, t := range pl.threads {
		if t.last > 0 && (first == 0 || t.first < first) {
			first = t.first
		}
		last = max(last, t.last)
	}
	return last - first
}

// bind binds the calling thread, the k-th that sends, to one of these processors.
func bind(allowed []int, k int) error {
	if len(allowed) == 0 {
		return nil
	}
	return machine.Bind(0, allowed[k%len(allowed)])
}

// halt ends the run.
func (pl *play) halt() {
	pl.stop.Store(true)
	if pl.live != nil {
		pl.live.halt()
	}
}

// order passes an order on; it refuses to pause paused traffic, and to resume running traffic.
func (pl *play) order(o order) error {
	pl.mutex.Lock()
	defer pl.mutex.Unlock()
	switch {
	case o.kind == pausePlay && pl.paused:
		return fmt.Errorf("traffic on %s is paused already", pl.port.name)
	case o.kind == resumePlay && !pl.paused:
		return fmt.Errorf("traffic on %s is not paused", pl.port.name)
	case o.kind != changeFactor:
		pl.paused = o.kind == pausePlay
	}
	if pl.live != nil {
		return pl.live.order(o)
	}
	o.at = Now()
	pl.orders = append(pl.orders, o)
	pl.version.Add(1)
	return nil
}

// since returns the orders from the n-th on.
func (pl *play) since(n uint64) []order {
	pl.mutex.Lock()
	defer pl.mutex.Unlock()
	return append([]order(nil), pl.orders[n:]...)
}

// end is when the run's time is up; infinite without a duration.
func (pl *play) end() float64 {
	if pl.duration == 0 {
		return math.Inf(1)
	}
	return float64(pl.duration)
}
