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

// playback is a run in progress, with its threads and the orders to them.
type playback struct {
	port        *port
	tracks      []*track
	layout      layout
	start       time.Duration
	duration    time.Duration
	endless     bool // all streams are continuous, and the run may be paused
	finite      bool // no stream is continuous, and the run's duration is reported
	threads     []*thread
	live        *liveRun    // sends live frames; nil if the threads send
	trains      trainSender // sends trains, and nothing else sends; nil in other runs
	liveRefusal error       // why live frames aren't used where they might be
	finished    sync.WaitGroup
	ended       chan struct{}

	stop    atomic.Bool
	version atomic.Uint64 // grows with each order
	mutex   sync.Mutex
	orders  []order
	paused  bool
}

// order is an order to all threads. Each thread carries it out when it reads it, as of the order's instant.
type order struct {
	instant time.Duration
	factor  float64
	kind    orderKind
}

type orderKind int

const (
	changeFactor orderKind = iota
	pauseRun
	resumeRun
)

// linger is for how long after its duration a run may still send frames that were due before.
const linger = 100 * time.Millisecond

// newPlayback lays out memory and threads. It sends nothing yet.
func newPlayback(p *port, run Run, tracks []*track) (*playback, error) {
	pl := &playback{port: p, tracks: tracks, start: run.Start, duration: run.Duration, ended: make(chan struct{})}
	pl.endless, pl.finite = run.Duration == 0 && allContinuous(tracks), allFinite(tracks)
	refusal := refuseLive(p)
	if refusal == nil {
		if pl.live, refusal = startLive(p, run, tracks, max(p.options.Cores, 1)); refusal == nil {
			return pl, nil
		}
	}
	switch {
	case errors.Is(refusal, errNotLive):
		pl.liveRefusal = refusal
	case !errors.Is(refusal, errOtherPath):
		return nil, refusal
	}
	queues, err := p.queuesFor(longest(tracks))
	if err != nil {
		return nil, err
	}
	a := queues.arena
	a.empty()
	pl.layout = plan(tracks, len(queues.transmitters)*batchSize, len(a.memory))
	if err := a.fill(pl.layout); err != nil {
		return nil, err
	}
	for k, x := range queues.transmitters {
		t := &thread{playback: pl, arena: a, transmitter: x, processor: noProcessor,
			schedule: newSchedule(tracks, run.Factor, k, len(queues.transmitters))}
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
	return !slices.ContainsFunc(tracks, func(t *track) bool { return t.total != 0 })
}

func allFinite(tracks []*track) bool {
	return !slices.ContainsFunc(tracks, func(t *track) bool { return t.total == 0 })
}

// begin starts the threads, and ends the run when they have ended.
func (pl *playback) begin() {
	if pl.live != nil {
		pl.port.live.Store(pl.live)
		go func() {
			if err := pl.live.supervise(); err != nil {
				pl.port.fail(err)
			}
			pl.port.live.Store(nil)
			pl.port.sendingTime.Store(int64(pl.live.sending))
			close(pl.ended)
		}()
		return
	}
	restore := machine.SendFirst()
	for k, t := range pl.threads {
		pl.finished.Go(func() {
			runtime.LockOSThread() // never unlocked, because a thread bound to a processor is of no use to others
			if allowed := pl.port.options.CPUs; len(allowed) > 0 {
				t.processor = allowed[k%len(allowed)]
				if err := machine.Bind(0, t.processor); err != nil {
					pl.port.fail(err)
					return
				}
				defer boundThreads.add(t.processor)()
			}
			id := unix.Gettid()
			pl.port.waits.begin(id)
			t.run()
			pl.port.waits.end(id, 0)
		})
	}
	go func() {
		pl.finished.Wait()
		restore()
		pl.port.sendingTime.Store(int64(pl.sending()))
		close(pl.ended)
	}()
}

// sending is how long the threads together took, from the first frame to the last. It is 0 for endless streams,
// which aren't timed.
func (pl *playback) sending() time.Duration {
	var earliest, latest time.Duration
	for _, t := range pl.threads {
		if t.lastFrame > 0 && (earliest == 0 || t.firstFrame < earliest) {
			earliest = t.firstFrame
		}
		latest = max(latest, t.lastFrame)
	}
	return latest - earliest
}

// bind binds the calling thread, the k-th sending thread, to one of these processors.
func bind(allowed []int, k int) error {
	if len(allowed) == 0 {
		return nil
	}
	return machine.Bind(0, allowed[k%len(allowed)])
}

// halt ends the run.
func (pl *playback) halt() {
	pl.stop.Store(true)
	if pl.live != nil {
		pl.live.halt()
	}
}

// order passes an order on. It refuses to pause paused traffic, and to resume running traffic.
func (pl *playback) order(o order) error {
	pl.mutex.Lock()
	defer pl.mutex.Unlock()
	switch {
	case o.kind == pauseRun && pl.paused:
		return fmt.Errorf("traffic on %s is paused already", pl.port.name)
	case o.kind == resumeRun && !pl.paused:
		return fmt.Errorf("traffic on %s is not paused", pl.port.name)
	case o.kind != changeFactor:
		pl.paused = o.kind == pauseRun
	}
	if pl.live != nil {
		return pl.live.order(o)
	}
	o.instant = Now()
	pl.orders = append(pl.orders, o)
	pl.version.Add(1)
	return nil
}

// ordersFrom returns the orders from the n-th on.
func (pl *playback) ordersFrom(n uint64) []order {
	pl.mutex.Lock()
	defer pl.mutex.Unlock()
	return append([]order(nil), pl.orders[n:]...)
}

// end is when the run's duration ends. It is infinite without a duration.
func (pl *playback) end() float64 {
	if pl.duration == 0 {
		return math.Inf(1)
	}
	return float64(pl.duration)
}
