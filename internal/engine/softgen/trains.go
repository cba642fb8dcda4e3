package softgen

import (
	"errors"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
)

// TRex has no trains, so these commands are linerate's own. A client sends trains, reads until they have ended and no
// more arrive, and removes them. Trains are a run, which ends by itself, and ends with the client's heartbeat.
//
//	send_trains ─▶ get_trains … get_trains ─▶ remove_trains

// portion is how many arrivals an answer to get_trains has at most.
const portion = 1 << 15

// trainsProfile is the profile id in the events of trains. No client can give a profile this id, as one is made of
// streams.
const trainsProfile = "linerate/trains"

// trains sends trains, and hands out when their frames arrived. A port sends one order of trains at a time.
type trains struct {
	ports      ports
	traffic    *traffic
	generation uint8
	records    map[*port]datapath.TrainRecord // by the sending port
}

// send answers send_trains. It begins to send trains out of an idle port, and to record their arrivals at the port
// "receiver". "pause" is in nanoseconds.
func (t *trains) send(from *port, p *params) (any, error) {
	to, want, err := t.read(p)
	if err != nil {
		return nil, err
	}
	if err := from.requireIdle("send_trains"); err != nil {
		return nil, err
	}
	if err := from.checkLink(trainsOf(want)); err != nil {
		return nil, err
	}
	if err := t.end(from); err != nil {
		return nil, refusedBy(err)
	}
	t.generation++
	want.NextHop, want.Generation = from.addressing.nextHop, t.generation
	record, err := to.path.RecordTrains(want)
	if err != nil {
		return nil, refusedBy(err)
	}
	if err := from.path.SendTrains(want); err != nil {
		return nil, refusedBy(errors.Join(err, record.Close()))
	}
	t.records[from] = record
	f := trainsOf(want)
	f.playing = sending
	from.run = &run{profile: f, end: from.path.Done()}
	t.traffic.log.Info("trains started", "port", from.index, "trains", want.Trains, "frames", want.Frames)
	return object{}, nil
}

func (t *trains) read(p *params) (to *port, want datapath.Trains, err error) {
	receiver, inside := p.byte("receiver"), p.object("stream")
	count, frames, pause := p.uint32("trains"), p.uint32("frames"), p.uint64("pause")
	if err := p.failed(); err != nil {
		return nil, want, err
	}
	if int(receiver) >= len(t.ports) {
		return nil, want, refused("invalid port id of the receiver - should be: 0 - %d", len(t.ports)-1)
	}
	sent, err := readStream(inside)
	if err != nil {
		return nil, want, refusedBy(err)
	}
	sent.Enabled = true
	want = datapath.Trains{Stream: sent, Trains: int(count), Frames: int(frames),
		Pause: time.Duration(min(pause, uint64(time.Hour)))}
	return t.ports[receiver], want, nil
}

// trainsOf is a profile of the trains' stream alone.
func trainsOf(want datapath.Trains) *profile {
	f := newProfile(trainsProfile)
	f.streams[1] = &loadedStream{stream: want.Stream}
	return f
}

// get answers get_trains. "arrived" is how many frames have arrived so far. "frames" has the numbers of those from
// "from" on, in the order of arrival, and "instants" has when they arrived, in nanoseconds on the server's clock. Once
// the port has stopped sending, "sending" is false, and "took" has how long each train took that has left, in
// nanoseconds, in the answer from 0 on.
func (t *trains) get(from *port, p *params) (any, error) {
	first := p.uint32("from")
	if err := p.failed(); err != nil {
		return nil, err
	}
	record, ok := t.records[from]
	if !ok {
		return nil, refused("port %d has no trains: send_trains first", from.index)
	}
	inProgress := from.run != nil
	answer := object{"sending": inProgress, "arrived": record.Arrived()}
	arrivals := record.Arrivals(int(first), portion)
	numbers, instants := make([]uint32, len(arrivals)), make([]int64, len(arrivals))
	for i, a := range arrivals {
		numbers[i], instants[i] = a.Number, a.Time.Nanoseconds()
	}
	answer["frames"], answer["instants"] = numbers, instants
	if !inProgress && first == 0 {
		answer["took"] = orEmpty(from.path.TrainSendings())
	}
	return answer, nil
}

// remove answers remove_trains. It stops trains, and forgets their arrivals.
func (t *trains) remove(from *port, _ *params) (any, error) {
	if err := t.end(from); err != nil {
		return nil, refusedBy(err)
	}
	return object{}, nil
}

// end stops a port's trains, and ends their record.
func (t *trains) end(from *port) error {
	var errs []error
	if from.run != nil && from.run.profile.id == trainsProfile {
		errs = append(errs, t.traffic.stopPort(from, ""))
	}
	if record, ok := t.records[from]; ok {
		errs = append(errs, record.Close())
		delete(t.records, from)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("end the trains of port %d: %w", from.index, err)
	}
	return nil
}

// endAll ends all trains, whoever sends them.
func (t *trains) endAll() error {
	var errs []error
	for _, from := range t.ports {
		errs = append(errs, t.end(from))
	}
	return errors.Join(errs...)
}
