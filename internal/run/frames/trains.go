package frames

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure"
	observed "github.com/linerate-dev/linerate/internal/measure/trains"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// trains measures windows of trains of frames, which the engine sends and times by itself.
type trains struct {
	journal   *runner.Journal
	topology  *topology
	fleet     *fleet
	traffic   *traffic
	setup     *measure.Setup
	counters  *counters
	observers *observers
	totals    *totals
	// longest is the longest time between the first frame of a train and its last one, by the ports of its direction.
	longest map[[2]int]time.Duration
}

const (
	// trainsRest is how long the device gets no traffic before a set-up.
	trainsRest = 100 * time.Millisecond
	// usualTrain is how many frames a train has where no port says what its ring holds, or it holds a veth's 256, and
	// longestTrain how many at most. Of other rings a train takes three quarters.
	usualTrain   = 192
	vethRing     = 256
	longestTrain = 1024
	// probeTrains are sent first, so far apart that the device has worked off each before the next.
	probeTrains = 3
	probePause  = 60 * time.Millisecond
	// tenfoldPause is how long the pause after a train may be for being ten times as long as the train.
	tenfoldPause = 5 * time.Millisecond
)

// measure sends the step's trains in the direction that varies.
func (t *trains) measure(ctx context.Context, step procedure.Step) (*report.Window, error) {
	order, g, err := t.order(step)
	if err != nil {
		return nil, err
	}
	sender := t.fleet.engines[g].(engine.TrainSender) // as check knows
	if t.traffic.flowing {                            // the load that the procedure held before
		if _, err := t.traffic.endHeld(ctx, stillOnce); err != nil {
			return nil, err
		}
	}
	if err := bounded.Pause(ctx, trainsRest); err != nil {
		return nil, err
	}
	first, limitedBefore, err := t.counters.readEdge(ctx)
	if err != nil {
		return nil, err
	}
	opened := time.Now()
	timed, cancel := context.WithTimeout(ctx, step.Judge+callTimeout)
	defer cancel()
	order.Pause, err = t.pause(timed, sender, order)
	var came []engine.Train
	if err == nil {
		came, err = sender.SendTrains(timed, order)
	}
	took := time.Since(opened)
	if err != nil {
		return nil, fmt.Errorf("send trains %s by generator %s: %w", step.Varied, t.topology.names[g], err)
	}
	readings, limited, err := t.counters.readEdge(ctx)
	if err != nil {
		return nil, err
	}
	t.observers.Observe(readings, limited)
	if t.journal.Plan.Procedure.TrainsFollow() { // what trains lose is no loss of the load before
		t.totals.leaveOut(first, readings, limitsBetween(limitedBefore.Limiters, limited.Limiters))
	}
	w := t.setup.TrainsWindow(step.Varied, observed.Observe(order.Frames, came))
	w.Start, w.Duration, w.Took = plan.Duration(opened.Sub(t.journal.Started)), plan.Duration(took), plan.Duration(took)
	t.observers.addTo(&w, 0)
	return &w, nil
}

// pause is how long the device gets no frames after each train, at least what the Plan says. A device that is kept from
// working for a while has frames of one train left when the next enters, and loses some. So the pause is ten times what
// the device takes for a train, and for a slow device at least twice. A few trains far apart show how long one takes.
func (t *trains) pause(ctx context.Context, sender engine.TrainSender, order engine.TrainOrder) (time.Duration, error) {
	direction := [2]int{order.From, order.To}
	if _, known := t.longest[direction]; !known {
		probe := order
		probe.Trains, probe.Pause = probeTrains, probePause
		came, err := sender.SendTrains(ctx, probe)
		if err != nil {
			return 0, err
		}
		for _, train := range came {
			if n := len(train.Arrivals); n > 0 {
				span := train.Arrivals[n-1].Instant - train.Arrivals[0].Instant
				t.longest[direction] = max(t.longest[direction], span)
			}
		}
	}
	longest := t.longest[direction]
	return max(order.Pause, 2*longest, min(10*longest, tenfoldPause)), nil
}

// check refuses a Plan's trains before any traffic, where a generator or a direction can't carry them.
func (t *trains) check(context.Context) error {
	p := t.journal.Plan.Procedure.Trains
	if p == nil {
		return nil
	}
	for _, direction := range p.Directions {
		if _, _, err := t.order(procedure.Step{Varied: direction,
			Trains: procedure.Trains{Count: p.Count, Frames: p.Frames, Pause: p.Pause.Std()}}); err != nil {
			return err
		}
	}
	return nil
}

// field is where the Plan asks for trains.
func (t *trains) field() string {
	if t.journal.Plan.Procedure.TrainsFollow() {
		return t.journal.Plan.NameOf("procedure.trains")
	}
	return t.journal.Plan.NameOf("procedure.type")
}

// order is what the generator of the direction is to send, or why the direction can't carry trains.
func (t *trains) order(step procedure.Step) (order engine.TrainOrder, g int, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: trains %s: %w", t.field(), step.Varied, err)
		}
	}()
	i := slices.IndexFunc(t.journal.Plan.Directions, func(d plan.Direction) bool { return d.Name() == step.Varied })
	if i < 0 {
		return order, 0, fmt.Errorf("the plan has no such direction")
	}
	d := t.journal.Plan.Directions[i]
	senders := t.topology.senders(d)
	g = senders[0]
	if _, ok := t.fleet.engines[g].(engine.TrainSender); !ok {
		return order, g, fmt.Errorf("generator %s (%s) can't send trains of frames: use generator.engine: Software, or "+
			"procedure.type: Search without trains", t.topology.names[g], t.topology.described[g].Product)
	}
	receiver, err := t.topology.partner(g, d.From, d.To)
	switch {
	case err != nil:
		return order, g, err
	case len(senders) > 1 || receiver != g:
		return order, g, fmt.Errorf("several generators send or receive them, and arrivals are timed by one clock: use " +
			"one generator with a port on each link")
	}
	ring, err := t.ring(g, d)
	if err != nil {
		return order, g, err
	}
	streams := t.topology.planned(g, d.From).Streams
	first := slices.IndexFunc(streams, func(s stream.Stream) bool {
		return s.Enabled && (!s.FlowStats.Enabled || s.FlowStats.RuleType != "latency")
	})
	if first < 0 {
		return order, g, fmt.Errorf("none of the profile's streams sends frames there")
	}
	order = engine.TrainOrder{From: t.topology.index(g, d.From), To: t.topology.index(g, d.To),
		Stream: streams[first], Trains: step.Trains.Count, Frames: step.Trains.Frames, Pause: step.Trains.Pause}
	order.Frames, err = t.frames(order, ring)
	return order, g, err
}

// ring is how many frames the smaller receive ring of the direction's ports holds, 0 if none is known, or why one of
// the ports can't send or time trains.
func (t *trains) ring(g int, d plan.Direction) (ring int, err error) {
	for _, link := range []string{d.From, d.To} {
		port, err := t.topology.port(g, link)
		if err != nil {
			return 0, err
		}
		if port.Untrained != "" {
			return 0, fmt.Errorf("port %s of generator %s can't: %s; use another port, or procedure.type: Search",
				port.Name, t.topology.names[g], port.Untrained)
		}
		if port.Ring > 0 && (ring == 0 || port.Ring < ring) {
			ring = port.Ring
		}
	}
	return ring, nil
}

// frames is how many frames a train has: those that were asked for, or what fits into the ring.
func (t *trains) frames(order engine.TrainOrder, ring int) (int, error) {
	switch {
	case order.Trains*max(order.Frames, usualTrain) > engine.MaxTrainFrames:
		return 0, fmt.Errorf("%s × frames is more than the %d frames that an engine times at once: set it lower",
			t.journal.Plan.NameOf("procedure.trains.count"), engine.MaxTrainFrames)
	case order.Frames > 0 && ring > 0 && order.Frames > ring:
		return 0, fmt.Errorf("%s is %d, and the ports' receive rings hold %d frames: set it to %d or less",
			t.journal.Plan.NameOf("procedure.trains.frames"), order.Frames, ring, ring*3/4)
	case order.Frames == 0 && (ring == 0 || ring == vethRing):
		order.Frames = usualTrain
	case order.Frames == 0:
		order.Frames = min(longestTrain, ring*3/4, engine.MaxTrainFrames/max(1, order.Trains))
	}
	if order.Frames < observed.LeastFrames {
		return 0, fmt.Errorf("the ports' receive rings hold %d frames, and a train has %d or more: make the rings "+
			"larger (ethtool -G), or use procedure.type: Search", ring, observed.LeastFrames)
	}
	return order.Frames, nil
}
