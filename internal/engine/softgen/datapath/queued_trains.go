package datapath

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// queuedTrains are trains that leave by AF_XDP or AF_PACKET. Each train is made during the pause before it.
type queuedTrains struct {
	port    *port
	trains  Trains
	track   *track
	arena   *arena
	queue   transmitter
	train   []piece
	owners  []*track
	results []outcome
	took    []time.Duration
}

func newQueuedTrains(p *port, t Trains, composed *track, queues *sendQueues) (*queuedTrains, error) {
	unmarked := *composed
	unmarked.flow = nil // trains count in total only
	q := &queuedTrains{port: p, trains: t, track: composed, arena: queues.arena, queue: queues.transmitters[0],
		results: make([]outcome, batchSize)}
	q.arena.empty()
	for range t.Frames {
		f, err := q.arena.reserve(composed.program.MaxLength())
		if err != nil {
			return nil, fmt.Errorf("a train of %d frames of %d bytes: %w: send shorter trains", t.Frames,
				composed.program.MaxLength(), err)
		}
		copy(q.arena.bytes(f), composed.program.Bytes())
		q.train, q.owners = append(q.train, f), append(q.owners, &unmarked)
	}
	return q, nil
}

// run sends from a thread of its own, which has the class that other sending threads have.
func (q *queuedTrains) run(pl *playback) error {
	defer machine.SendFirst()()
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked, as the thread's class and processor are its own
		if err := bind(q.port.options.CPUs, 0); err != nil {
			ended <- err
			return
		}
		(&urgency{}).apply()
		id := unix.Gettid()
		q.port.waits.begin(id)
		err := q.sendAll(pl)
		q.port.waits.end(id, 0)
		ended <- err
	}()
	return <-ended
}

func (q *queuedTrains) sendAll(pl *playback) error {
	due := time.Duration(0)
	for number := range q.trains.Trains {
		q.makeTrain(number)
		for ahead := due - Now(); ahead > 0 && !pl.stop.Load(); ahead = due - Now() {
			doze(min(ahead, maxDoze))
		}
		if pl.stop.Load() {
			return nil
		}
		first := Now()
		if err := q.send(); err != nil {
			return err
		}
		departed := Now()
		q.took, due = append(q.took, departed-first), departed+q.trains.Pause
	}
	return nil
}

// makeTrain makes the frames of a train.
func (q *queuedTrains) makeTrain(number int) {
	for i, f := range q.train {
		index := number*q.trains.Frames + i
		frame := q.arena.bytes(f)
		q.track.program.Frame(uint64(index), frame)
		stamp{q.trains.Generation, uint16(trainFlow), uint32(index), Now()}.write(frame, q.track.flow.network)
	}
}

func (q *queuedTrains) send() error {
	for first := 0; first < len(q.train); first += batchSize {
		end := min(first+batchSize, len(q.train))
		batch := q.train[first:end]
		retries, err := q.queue.send(batch, q.results)
		if err != nil {
			return err
		}
		q.port.sent.tally(batch, q.owners[first:end], q.results, retries, q.port.dropsLeave())
	}
	return nil
}

func (q *queuedTrains) sendings() []time.Duration { return q.took }

// close has nothing to do, as the queues stay open between runs.
func (q *queuedTrains) close() error { return nil }
