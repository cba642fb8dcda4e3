package frames

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure/path"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// prover proves the way through the device. It sends marked frames, and sees where they come out.
type prover struct {
	journal  *runner.Journal
	topology *topology
	fleet    *fleet
	resolver *resolver

	frames    int    // how many numbered frames are sent in each direction; 0 means as many as the loss limit requires
	relearned uint32 // how many marked frames were sent after resets

	answers answers
}

// The bounds of a path check.
const (
	proveAttempts = 3                      // a device that is still resolving drops the first frames
	proveWait     = 2 * time.Second        // for the frames of one attempt
	provePoll     = 50 * time.Millisecond  // between two fetches of the capture
	proveLinger   = 300 * time.Millisecond // after the last expected frame, for frames that should not come
	proveGap      = 20 * time.Millisecond  // between two frames, as a device that limits its rate must not drop them
)

// provePaths sends marked frames, one direction at a time, and checks where they come out. It tries all directions,
// also after a failure, so that the Report shows them all.
func (p *prover) provePaths(ctx context.Context) error {
	for i := range p.journal.Plan.Directions {
		check, err := p.proveDirection(ctx, i)
		if err != nil {
			return err
		}
		p.journal.Report.Path = append(p.journal.Report.Path, check)
		back, answers, err := p.learnAnswers(ctx, i)
		if err != nil {
			return err
		}
		if answers && back < i { // its frames are others now
			if p.journal.Report.Path[back], err = p.proveDirection(ctx, back); err != nil {
				return err
			}
		}
	}
	return firstUnproven(p.journal.Report.Path)
}

func (p *prover) proveDirection(ctx context.Context, i int) (report.PathCheck, error) {
	d := p.journal.Plan.Directions[i]
	p.journal.Enter(runner.Proving, fmt.Sprintf("sending marked frames from %s to %s", d.From, d.To))
	check, err := p.provePath(ctx, i)
	if err != nil {
		return check, fmt.Errorf("prove the path %s→%s: %w", d.From, d.To, err)
	}
	p.journal.Note("path %s→%s: %s", d.From, d.To, check.Message)
	return check, nil
}

// firstUnproven is the first direction whose path is not proven, as an error, or nil if all are proven.
func firstUnproven(checks []report.PathCheck) error {
	for _, check := range checks {
		if !check.Proven {
			return &runner.PathError{Check: check}
		}
	}
	return nil
}

func (p *prover) provePath(ctx context.Context, direction int) (report.PathCheck, error) {
	for attempt := 1; ; attempt++ {
		isFinal := attempt >= proveAttempts && !p.resolver.stillStarting()
		probes, err := p.probes(direction, uint32(direction<<23|attempt%2048<<12))
		if err != nil {
			return report.PathCheck{}, err
		}
		arrivals, err := p.capture(ctx, func(ctx context.Context, captures []engine.Capture) ([]path.Arrival, error) {
			if err := p.inject(ctx, probes); err != nil {
				return nil, err
			}
			allMarked := func(arrivals []path.Arrival) bool { return path.Marked(arrivals) >= len(probes) }
			return p.see(ctx, captures, nil, allMarked, proveWait, proveLinger)
		})
		if err != nil {
			return report.PathCheck{}, err
		}
		check, retry := path.Judge(p.journal.Plan.Directions[direction], p.topology.device(), probes, arrivals)
		if swap := p.resolver.swapped(arrivals); swap != nil && !check.Proven {
			check.Message, check.Fault, retry = swap.found.text, swap.Cause(), false
		}
		if retry && isFinal { // frames are missing, and nothing that was seen says why
			check.Fault.Cautions = p.topology.cautions(check.From, check.To)
			check.Message = noted(check.Message, check.Fault.Cautions)
		}
		if attempt > 1 && check.Proven {
			check.Message += fmt.Sprintf(" (attempt %d; before, frames were missing)", attempt)
		}
		if check.Proven || !retry || isFinal {
			return check, nil
		}
		if err := bounded.Pause(ctx, time.Second); err != nil {
			return check, err
		}
	}
}

// probes are the first frames of each generator's streams in a direction, marked and numbered from first.
func (p *prover) probes(direction int, first uint32) ([]path.Probe, error) {
	var probes []path.Probe
	err := p.onLanes(p.journal.Plan.Directions[direction], func(g int, lane path.Lane, templates [][]byte) error {
		ofGenerator, err := path.Probes(lane, templates, p.seed(), first+uint32(g*path.MostKinds))
		probes = append(probes, ofGenerator...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return probes, nil
}

// onLanes calls visit for each lane of a direction, one for each generator g that sends there, with the first frames
// of its streams.
func (p *prover) onLanes(d plan.Direction, visit func(g int, lane path.Lane, templates [][]byte) error) error {
	for _, g := range p.topology.senders(d) {
		lane, err := p.lane(g, d)
		if err != nil {
			return err
		}
		frames, err := templates(lane, p.topology.planned(g, d.From))
		if err != nil {
			return fmt.Errorf("link %s: %w", d.From, err)
		}
		if err := visit(g, lane, frames); err != nil {
			return err
		}
	}
	return nil
}

// seed makes this run's tokens differ from those of other runs.
func (p *prover) seed() uint64 { return uint64(p.journal.Started.UnixNano()) }

// lane is the part of a direction that generator g sends.
func (p *prover) lane(g int, d plan.Direction) (path.Lane, error) {
	receiver, err := p.topology.partner(g, d.From, d.To)
	if err != nil {
		return path.Lane{}, err
	}
	send, err := p.topology.port(g, d.From)
	if err != nil {
		return path.Lane{}, err
	}
	receive, err := p.topology.port(receiver, d.To)
	var macs []engine.MAC
	for _, mac := range p.topology.link(d.To).DUT.SourceMACs {
		macs = append(macs, engine.MAC(mac))
	}
	return path.Lane{VLANAtEnd: p.topology.planned(receiver, d.To).VLAN, Translations: p.answers.translations[d],
		Answers: p.answers.answering[d], OtherMACsAtEnd: macs,
		OwnDestinations: ownDestinations(p.topology.planned(g, d.From).Streams),
		Generator:       p.topology.names[g], Receiver: p.topology.names[receiver],
		Send: send.Index, Receive: receive.Index,
		SenderMAC: send.MAC, Link: d.From, ReceiverMAC: receive.MAC, NextHopMAC: p.resolver.nextHops[g][d.From],
		DeviceMACAtEnd: p.resolver.nextHops[receiver][d.To]}, err
}

// templates are the first frames of a port's streams as the port sends them, one of each kind. A stream whose frames
// can't be computed beforehand has its template instead.
func templates(lane path.Lane, port plan.GeneratorPort) ([][]byte, error) {
	var frames [][]byte
	framesPerStream := max(1, path.MostProbes/max(1, len(port.Streams)))
	for _, s := range port.Streams {
		source, destination := profile.OwnMACs(s)
		binary, err := lane.Addressed(s.Packet.Binary, source, destination)
		if err != nil {
			return nil, err
		}
		s.Packet.Binary = binary // of this copy of the stream
		first, err := profile.FirstFrames(s, framesPerStream)
		if err != nil {
			first = [][]byte{binary}
		}
		frames = append(frames, first...)
	}
	kinds := path.Kinds(frames)
	if len(kinds) > path.MostKinds {
		return nil, fmt.Errorf("its streams send frames of %d different MACs and TTLs, and the path is proven for at "+
			"most %d: use fewer streams", len(kinds), path.MostKinds)
	}
	return kinds, nil
}

// ownDestinations are the destination MACs that a port's streams keep for themselves, with the first stream that has
// each.
func ownDestinations(streams []stream.Stream) map[engine.MAC]int {
	destinations := map[engine.MAC]int{}
	for i, s := range slices.Backward(streams) {
		if _, destination := profile.OwnMACs(s); destination && len(s.Packet.Binary) >= 6 {
			destinations[engine.MAC(net.HardwareAddr(s.Packet.Binary[:6]).String())] = i
		}
	}
	return destinations
}

// capture captures on all ports of all generators while marked frames are sent.
func (p *prover) capture(ctx context.Context, send func(context.Context, []engine.Capture) ([]path.Arrival,
	error)) (arrivals []path.Arrival, err error) {
	captures := make([]engine.Capture, len(p.topology.names))
	defer func() { err = errors.Join(err, p.endCaptures(ctx, captures)) }()
	err = p.fleet.callAll(ctx, callTimeout, "capture on", func(ctx context.Context, g int) (err error) {
		captures[g], err = p.fleet.engines[g].Capture(ctx, p.topology.allPorts(g))
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := p.teachBridge(ctx); err != nil {
		return nil, err
	}
	return send(ctx, captures)
}

func (p *prover) endCaptures(ctx context.Context, captures []engine.Capture) error {
	ctx, cancel := runner.Afterwards(ctx, stopTimeout)
	defer cancel()
	return p.fleet.callAll(ctx, stopTimeout, "end the capture on", func(ctx context.Context, g int) error {
		if captures[g] == nil {
			return nil
		}
		return captures[g].Close(ctx)
	})
}

func (p *prover) inject(ctx context.Context, probes []path.Probe) error {
	return p.fleet.callAll(ctx, callTimeout, "send marked frames from", func(ctx context.Context, g int) error {
		var frames [][]byte
		port := 0
		for _, probe := range probes {
			if probe.Lane.Generator == p.topology.names[g] {
				frames, port = append(frames, probe.Frame), probe.Lane.Send
			}
		}
		for i := range frames {
			if err := bounded.Pause(ctx, proveGap); err != nil {
				return err
			}
			if err := p.fleet.engines[g].Inject(ctx, port, frames[i:i+1]); err != nil {
				return misfitOf(err, probes[0].Lane.Link, len(frames[i]))
			}
		}
		return nil
	})
}

// see adds the captures' frames to seen until complete says that they are all there and linger is over, or until wait
// is over.
func (p *prover) see(ctx context.Context, captures []engine.Capture, arrivals []path.Arrival,
	complete func([]path.Arrival) bool, wait, linger time.Duration) ([]path.Arrival, error) {
	for end, lingers := time.Now().Add(wait), false; time.Now().Before(end); {
		got, err := p.fetch(ctx, captures)
		if err != nil {
			return nil, err
		}
		arrivals = append(arrivals, got...)
		if !lingers && complete(arrivals) {
			lingers, end = true, time.Now().Add(linger)
		}
		if err := bounded.Pause(ctx, provePoll); err != nil {
			return nil, err
		}
	}
	return arrivals, nil
}

func (p *prover) fetch(ctx context.Context, captures []engine.Capture) ([]path.Arrival, error) {
	got := make([][]engine.CapturedFrame, len(p.topology.names))
	err := p.fleet.callAll(ctx, callTimeout, "fetch captured frames from",
		func(ctx context.Context, g int) (err error) {
			got[g], err = captures[g].Fetch(ctx)
			return err
		})
	var arrivals []path.Arrival
	for g, frames := range got {
		for _, f := range frames {
			arrivals = append(arrivals, path.Arrival{Generator: p.topology.names[g], Port: f.Port, Bytes: f.Bytes})
		}
	}
	return arrivals, err
}
