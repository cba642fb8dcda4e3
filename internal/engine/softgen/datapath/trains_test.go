package datapath

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// trainsTo are trains of numbered frames to the far end of a cable.
func trainsTo(far Port, trains, frames int, s stream.Stream) Trains {
	s.Flags = 1 // the source is the packet's, the destination the port's
	return Trains{Stream: s, NextHop: macOf(far), Trains: trains, Frames: frames, Pause: 200 * time.Microsecond,
		Generation: 7}
}

// played sends trains, and returns their arrivals once all have come.
func played(t *testing.T, from, to Port, trains Trains) []TrainArrival {
	t.Helper()
	record, err := to.RecordTrains(trains)
	noError(t, err)
	defer func() { noError(t, record.Close()) }()
	noError(t, from.SendTrains(trains))
	finish(t, from)
	noError(t, from.Stop())
	eventually(t, "all frames arrive", func() bool { return record.Arrived() >= trains.frames() })
	return record.Arrivals(0, trains.room())
}

func TestTrains(t *testing.T) {
	for name, receiving := range receivers {
		t.Run(name, func(t *testing.T) {
			for sending, options := range map[string]Options{"live frames": {Path: PathLive},
				"AF_XDP": {Path: PathXDP}, "AF_PACKET": {Path: PathPacket}} {
				t.Run("sent by "+sending, func(t *testing.T) { trainsOverACable(t, options, receiving) })
			}
		})
	}
}

func trainsOverACable(t *testing.T, sending, receiving Options) {
	if sending.Path == PathLive && !initialUser(t) {
		needKernel(t, errors.New("this is a user namespace"), "eBPF")
	}
	addCable(t)
	noError(t, setGRO("west", true))
	noError(t, setGRO("east", true))
	sending.Interface, receiving.Interface = "west", "east"
	a, b := open(t, sending), open(t, receiving)
	const trains, frames = 20, 192
	order := trainsTo(b, trains, frames, continuous(1, frame(60)))
	sent, received := a.Counters().Sent, b.Counters().Received
	arrivals := played(t, a, b, order)
	if len(arrivals) != trains*frames {
		t.Fatalf("%d arrivals of %d frames", len(arrivals), trains*frames)
	}
	for i, arrival := range arrivals {
		if int(arrival.Number) != i {
			t.Fatalf("frame %d arrived as number %d", arrival.Number, i)
		}
		if i > 0 && arrival.Time < arrivals[i-1].Time {
			t.Fatalf("frame %d arrived at %v, the one before at %v", i, arrival.Time, arrivals[i-1].Time)
		}
	}
	short := 0 // what receives may be late for the end of one train, and not for the next
	for number := 1; number < trains; number++ {
		if gap := arrivals[number*frames].Time - arrivals[number*frames-1].Time; gap < order.Pause/2 {
			short++
		}
	}
	if short > trains/10 {
		t.Errorf("%d of %d trains came less than half a pause after the one before", short, trains)
	}
	if took := arrivals[len(arrivals)-1].Time - arrivals[0].Time; took < order.Pause*(trains-1)/2 {
		t.Errorf("%d trains came within %v, with pauses of %v between them", trains, took, order.Pause)
	}
	took := a.TrainSendings()
	if len(took) != trains || slices.Min(took) <= 0 {
		t.Errorf("the trains took %v", took)
	}
	for kind, got := range map[string]int64{"sent": a.Counters().Sent.Sub(sent).Packets,
		"received": b.Counters().Received.Sub(received).Packets} {
		if got != trains*frames {
			t.Errorf("%d frames %s, want %d", got, kind, trains*frames)
		}
	}
	if flows := b.Flows(); len(flows) > 0 {
		t.Errorf("trains count as flows: %v", flows)
	}
	slices.Sort(took)
	t.Logf("trains of %d took %v, the median %v: %s", frames, took[0], took[trains/2], a.Info().Path)
}

func TestTrainsThatAreRefused(t *testing.T) {
	a, b := cable(t, Options{}, Options{})
	good := trainsTo(b, 2, 64, continuous(1, frame(60)))
	for reason, change := range map[string]func(*Trains){
		"send at least one of one":              func(o *Trains) { o.Frames = 0 },
		"send fewer at a time":                  func(o *Trains) { o.Trains = MaxTrainFrames },
		"send fewer trains at a time":           func(o *Trains) { o.Pause = time.Minute },
		"needs UDP, TCP or ICMPv6":              func(o *Trains) { o.Stream.Packet.Binary[23] = 1 },
		"only IPv4 and IPv6 packets":            func(o *Trains) { o.Stream.Packet.Binary = make([]byte, 60) },
		"the MTU of west, 1500, lets 1518 pass": func(o *Trains) { o.Stream.Packet.Binary = frame(3000) },
	} {
		order := good
		order.Stream.Packet.Binary = frame(60)
		change(&order)
		if err := a.SendTrains(order); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, want %q", err, reason)
		}
	}
	record, err := b.RecordTrains(good)
	noError(t, err)
	if _, err := b.RecordTrains(good); !errors.Is(err, errRecording) {
		t.Errorf("a second record: %v", err)
	}
	noError(t, record.Close())
	noError(t, record.Close())
	noError(t, a.Start(runTo(b, 1, continuous(1000, frame(60)))))
	if err := a.SendTrains(good); !errors.Is(err, ErrRunning) {
		t.Errorf("trains beside traffic: %v", err)
	}
	noError(t, a.Stop())
}

// TestTrainsBetweenOtherTraffic: a record leaves the counters, the flows and what follows stamps as they are.
func TestTrainsBetweenOtherTraffic(t *testing.T) {
	a, b := cable(t, Options{}, Options{Follow: true})
	stamped := burst(1000, 50_000, frame(60))
	stamped.FlowStats = stream.Flow{Enabled: true, StreamID: 3, RuleType: "stats", Stamped: true}
	for range 2 {
		noError(t, a.Start(runTo(b, 1, stamped)))
		finish(t, a)
		noError(t, a.Stop())
		played(t, a, b, trainsTo(b, 3, 100, continuous(1, frame(60))))
	}
	if flow := b.Flows()[3].Received.Packets; flow != 2000 {
		t.Errorf("%d frames of the flow, want 2000", flow)
	}
	if latency := b.Latency()[3]; latency.Received != 2000 || latency.Dropped != 0 {
		t.Errorf("%d frames were followed, %d lost; want 2000", latency.Received, latency.Dropped)
	}
}

// TestTrainsOfSeveralBatches: a train that is longer than the kernel's largest batch is one train.
func TestTrainsOfSeveralBatches(t *testing.T) {
	a, b := liveCable(t, Options{})
	order := trainsTo(b, 5, 2*largestTrainBatch+88, continuous(1, frame(60)))
	record, err := b.RecordTrains(order)
	noError(t, err)
	noError(t, a.SendTrains(order))
	finish(t, a)
	noError(t, a.Stop())
	sent, lost := a.Counters().Sent.Packets, a.Counters().PeerFull
	if sent != int64(order.frames()) || len(a.TrainSendings()) != order.Trains {
		t.Errorf("%d frames left in %d trains", sent, len(a.TrainSendings()))
	}
	eventually(t, "all frames that found room arrive", func() bool { return int64(record.Arrived())+lost == sent })
	arrivals := record.Arrivals(0, order.room())
	for i := 1; i < len(arrivals); i++ {
		if arrivals[i].Number <= arrivals[i-1].Number {
			t.Fatalf("frame %d arrived behind frame %d", arrivals[i].Number, arrivals[i-1].Number)
		}
	}
	noError(t, record.Close())
}

func TestTrainsThatAreStopped(t *testing.T) {
	for name, options := range map[string]Options{"live frames": {}, "AF_XDP": {Path: PathXDP}} {
		t.Run(name, func(t *testing.T) {
			a, b := cable(t, options, Options{})
			order := trainsTo(b, 1000, 64, continuous(1, frame(60)))
			order.Pause = 10 * time.Millisecond
			record, err := b.RecordTrains(order)
			noError(t, err)
			noError(t, a.SendTrains(order))
			eventually(t, "the first train arrives", func() bool { return record.Arrived() >= order.Frames })
			noError(t, a.Stop())
			sent := a.Counters().Sent.Packets
			eventually(t, "all that left arrives", func() bool { return int64(record.Arrived()) == sent })
			if n := len(a.TrainSendings()); n == 0 || int64(n*order.Frames) != sent {
				t.Errorf("%d trains took a time, and %d frames left", n, sent)
			}
			noError(t, record.Close())
		})
	}
}
