package datapath

import (
	"errors"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// Trains are groups of frames that leave back to back, with a pause after each group. No pace is kept within a train.
// The receiving port records when each frame arrives (Port.RecordTrains).
type Trains struct {
	// Stream is what a frame is like. Its mode, rate and flow_stats have no meaning here.
	Stream stream.Stream
	// NextHop is the destination MAC of a stream that doesn't bring its own.
	NextHop [6]byte
	// Trains is how many trains are sent, Frames how many frames each has.
	Trains, Frames int
	// Pause is the least time between a train's last frame and the next train's first. A device that works on the
	// sending thread's processor has worked before the pause begins.
	Pause time.Duration
	// Generation tells the frames of these trains from those of earlier ones.
	Generation uint8
}

const (
	// MaxTrainFrames is the most frames that all trains together may have.
	MaxTrainFrames = 1 << 20
	// maxTrainTime is the longest time that all pauses together may take. A thread waits busily for most of it.
	maxTrainTime = 30 * time.Second
	// trainFlow is the flow id in the frames' marks and stamps.
	trainFlow = uint32(countSharedTRAIN_FLOW)
)

// TrainRecord has the arrivals of trains' frames at a port.
type TrainRecord interface {
	// Arrived is how many frames have arrived, duplicates included.
	Arrived() int
	// Arrivals returns the arrivals from this one on, at most limit, in the order of arrival. There is room for twice
	// as many as the trains have frames. Later ones are only counted.
	Arrivals(first, limit int) []TrainArrival
	// Close ends recording.
	Close() error
}

// TrainArrival is when a train's frame arrived, on the clock of Now. The number is the frame's among all frames of all
// trains, from 0.
type TrainArrival struct {
	Number uint32
	Time   time.Duration
}

// errRecording refuses a second record at a port.
var errRecording = errors.New("arrivals of trains are being recorded already")

// frames is how many frames all trains have together.
func (t Trains) frames() int { return t.Trains * t.Frames }

// room is how many arrivals are recorded at most.
func (t Trains) room() int { return 2 * t.frames() }

func (t Trains) check() error {
	switch {
	case t.Trains <= 0 || t.Frames <= 0:
		return fmt.Errorf("%d trains of %d frames: send at least one of one", t.Trains, t.Frames)
	case t.Trains > MaxTrainFrames/t.Frames:
		return fmt.Errorf("%d trains of %d frames have more than %d frames together: send fewer at a time", t.Trains,
			t.Frames, MaxTrainFrames)
	case t.Pause < 0 || t.Pause > maxTrainTime/time.Duration(t.Trains):
		return fmt.Errorf("%d pauses of %v: they are positive, and together at most %v: send fewer trains at a time",
			t.Trains, t.Pause, maxTrainTime)
	}
	return nil
}

// trainSender sends the trains of one run.
type trainSender interface {
	// run sends all trains, unless the playback is stopped.
	run(pl *playback) error
	// sendings are how long each train took that has left. They are read after run.
	sendings() []time.Duration
	close() error
}

// SendTrains implements Port.
func (p *port) SendTrains(t Trains) error {
	if err := t.check(); err != nil {
		return fmt.Errorf("send trains on %s: %w", p.name, err)
	}
	s := t.Stream
	s.Enabled, s.SelfStart, s.StartPaused, s.NextStreamID, s.ISG = true, true, false, -1, 0
	s.Mode = stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: 1}}
	s.FlowStats = stream.Flow{Enabled: true, StreamID: trainFlow, RuleType: "stats", Stamped: true}
	tracks, err := p.compile([]RunStream{{ID: 1, Stream: s}}, t.NextHop)
	if err != nil {
		return fmt.Errorf("send trains on %s: %w", p.name, err)
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.closed || (p.playback != nil && p.playback.running()) {
		return fmt.Errorf("send trains on %s: %w", p.name, ErrRunning)
	}
	sender, err := p.trainSender(t, tracks)
	if err != nil {
		return fmt.Errorf("send trains on %s: %w", p.name, err)
	}
	pl := &playback{port: p, tracks: tracks, trains: sender, ended: make(chan struct{})}
	p.playback, p.failure = pl, nil
	p.sendingTime.Store(0)
	go func() {
		defer close(pl.ended)
		if err := errors.Join(sender.run(pl), sender.close()); err != nil {
			p.fail(fmt.Errorf("send trains on %s: %w", p.name, err))
		}
	}()
	return nil
}

// trainSender chooses how trains leave. Live frames enter a virtual cable without a pause for the device's work, also
// where they are not used for other traffic, as their thread needs no processor of its own: it stops for the device.
func (p *port) trainSender(t Trains, tracks []*track) (trainSender, error) {
	if p.sendsTrainsLive() {
		sender, err := startLiveTrains(p, t, tracks)
		if !errors.Is(err, errNotLive) {
			return sender, err
		}
	}
	queues, err := p.queuesFor(longest(tracks))
	if err != nil {
		return nil, err
	}
	return newQueuedTrains(p, t, tracks[0], queues)
}

// sendsTrainsLive says whether the options and the interface allow live frames.
func (p *port) sendsTrainsLive() bool {
	if p.options.Plain {
		return false
	}
	switch p.options.Path {
	case PathLive:
		return true
	case "", PathAuto:
		return p.nic.Driver == "veth" && checkLiveInterface(p) == nil && checkLiveKernel() == nil
	default:
		return false
	}
}

// TrainSendings implements Port.
func (p *port) TrainSendings() []time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.playback == nil || p.playback.trains == nil || p.playback.running() {
		return nil
	}
	return p.playback.trains.sendings()
}

// RecordTrains implements Port.
func (p *port) RecordTrains(t Trains) (TrainRecord, error) {
	err := t.check()
	var record TrainRecord
	if err == nil {
		record, err = p.receiver.recordTrains(t)
	}
	if err != nil {
		return nil, fmt.Errorf("record trains on %s: %w", p.name, err)
	}
	return record, nil
}
