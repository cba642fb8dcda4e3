package fakeport

import (
	"errors"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
)

// trainFrameTime is the time in which a fake port sends a frame of a train.
const trainFrameTime = 100 * time.Nanosecond

// SendTrains implements datapath.Port. All trains leave at once, in no time of the clock. Their frames arrive at the
// spacing of the cable's limit, from the clock's time on, each train a pause after the one before.
func (p *Port) SendTrains(t datapath.Trains) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run != nil {
		return errors.New("port is sending already")
	}
	if err := p.checkOpen(); err != nil {
		return err
	}
	spacing := trainFrameTime
	if p.cable.Limit > 0 {
		spacing = time.Duration(float64(time.Second) / p.cable.Limit)
	}
	p.sendings = nil
	clock := p.clock.Now() + p.cable.Latency
	for train := range t.Trains {
		p.sendings = append(p.sendings, time.Duration(t.Frames-1)*trainFrameTime)
		for frame := range t.Frames {
			p.peer.arrive(t.Generation, datapath.TrainArrival{Number: uint32(train*t.Frames + frame), Time: clock})
			clock += spacing
		}
		clock += t.Pause
	}
	p.ended = make(chan struct{})
	close(p.ended)
	return nil
}

// arrive records a train's frame at the receiving port.
func (p *Port) arrive(generation uint8, a datapath.TrainArrival) {
	if p.trains != nil && p.trains.generation == generation {
		p.trains.arrivals = append(p.trains.arrivals, a)
	}
}

// TrainSendings implements datapath.Port.
func (p *Port) TrainSendings() []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sendings
}

// trainRecord has the arrivals of trains. The port's mutex guards it.
type trainRecord struct {
	port       *Port
	generation uint8
	arrivals   []datapath.TrainArrival
}

// RecordTrains implements datapath.Port.
func (p *Port) RecordTrains(t datapath.Trains) (datapath.TrainRecord, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trains != nil {
		return nil, errors.New("arrivals of trains are being recorded already")
	}
	p.trains = &trainRecord{port: p, generation: t.Generation}
	return p.trains, p.checkOpen()
}

// Arrived implements datapath.TrainRecord.
func (r *trainRecord) Arrived() int {
	r.port.mu.Lock()
	defer r.port.mu.Unlock()
	return len(r.arrivals)
}

// Arrivals implements datapath.TrainRecord.
func (r *trainRecord) Arrivals(first, limit int) []datapath.TrainArrival {
	r.port.mu.Lock()
	defer r.port.mu.Unlock()
	first = min(first, len(r.arrivals))
	return r.arrivals[first:min(first+limit, len(r.arrivals))]
}

// Close implements datapath.TrainRecord.
func (r *trainRecord) Close() error {
	r.port.mu.Lock()
	defer r.port.mu.Unlock()
	if r.port.trains == r {
		r.port.trains = nil
	}
	return nil
}
