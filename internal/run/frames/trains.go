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
	setup     *measure.Setup
	counters  *counters
	observers *observers
}

const (
	// trainsRest is how long the device gets no traffic before a set-up.
	trainsRest = 100 * time.Millisecond
	// usualTrain is how many frames a train has where no port says what its ring holds, or it holds a veth's 256, and
	// longestTrain how many at most. Of other rings a train takes three quarters.
	usualTrain   = 192
	vethRing     = 256
	longestTrain = 1024
)

// measure sends the step's trains in the direction that varies.
func (t *trains) measure(ctx context.Context, step procedure.Step) (*report.Window, error) {
	order, g, err := t.order(step)
	if err != nil {
		return nil, fmt.Errorf("%s: trains %s: %w", t.journal.Plan.NameOf("procedure.type"), step.Varied, err)
	}
	sender, ok := t.fleet.engines[g].(engine.TrainSender)
	if !ok {
		return nil, fmt.Errorf("%s: generator %s (%s) can't send trains of frames: use generator.engine: Software, or "+
			"procedure.type: Search", t.journal.Plan.NameOf("procedure.type"), t.topology.names[g],
			t.topology.described[g].Product)
	}
	if err := bounded.Pause(ctx, trainsRest); err != nil {
		return nil, err
	}
	opened := time.Now()
	timed, cancel := context.WithTimeout(ctx, step.Judge+callTimeout)
	defer cancel()
	came, err := sender.SendTrains(timed, order)
	took := time.Since(opened)
	if err != nil {
		return nil, fmt.Errorf("send trains %s by generator %s: %w", step.Varied, t.topology.names[g], err)
	}
	readings, limited, err := t.counters.readEdge(ctx)
	if err != nil {
		return nil, err
	}
	t.observers.Observe(readings, limited)
	w := t.setup.TrainsWindow(step.Varied, observed.Observe(order.Frames, came))
	w.Start, w.Duration, w.Took = plan.Duration(opened.Sub(t.journal.Started)), plan.Duration(took), plan.Duration(took)
	t.observers.addTo(&w, 0)
	return &w, nil
}

// order is what the generator of the direction is to send, or why the direction can't carry trains.
func (t *trains) order(step procedure.Step) (order engine.TrainOrder, g int, err error) {
	i := slices.IndexFunc(t.journal.Plan.Directions, func(d plan.Direction) bool { return d.Name() == step.Varied })
	if i < 0 {
		return order, 0, fmt.Errorf("the plan has no such direction")
	}
	d := t.journal.Plan.Directions[i]
	senders := t.topology.senders(d)
	g = senders[0]
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
