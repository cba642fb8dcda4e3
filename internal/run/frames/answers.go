package frames

import (
	"context"
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure/path"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// A device that translates addresses, or wraps packets, lets the way back in only to where it sent the way out. So
// each flow of the way out is sent once, and the streams of the way back become the answers to what arrived.
//
//	west ── 16.0.0.1:1024 ▶ 48.0.0.1:53 ── device ── 198.18.1.1:1024 ▶ 48.0.0.1:53 ── east     learned
//	west ── 16.0.0.1:1024 ◀ 48.0.0.1:53 ── device ── 198.18.1.1:1024 ◀ 48.0.0.1:53 ── east     the answer
//
// Package path decides what was learned, and what answers it.
type answers struct {
	translations map[plan.Direction]map[path.Flow]path.Flow // how flows arrive
	answering    map[plan.Direction]bool
	sent         uint32 // frames that were sent to learn
}

// learnAttempts is how often a flow's frame is sent at most.
const learnAttempts = 4

// learnAnswers makes the direction back from direction i answer it, where the device changes what the way back must
// know. It says which direction that is, and whether it answers now.
func (p *prover) learnAnswers(ctx context.Context, i int) (back int, answers bool, err error) {
	d, check := p.journal.Plan.Directions[i], &p.journal.Report.Path[i]
	back = slices.IndexFunc(p.journal.Plan.Directions,
		func(o plan.Direction) bool { return o.From == d.To && o.To == d.From })
	l := check.Learned
	if !check.Proven || back < 0 || l == nil || l.TranslatedFlows == 0 && l.Tunnel == "" || l.Answers ||
		p.answers.answering[d] {
		return back, false, nil
	}
	p.journal.Enter(runner.Proving, fmt.Sprintf("learning how flows from %s arrive on %s", d.From, d.To))
	lanes, arrivals, err := p.sendFlows(ctx, i)
	if err != nil {
		return back, false, fmt.Errorf("learn how flows from %s arrive on %s: %w", d.From, d.To, err)
	}
	var probes []path.Probe
	for _, l := range lanes {
		probes = append(probes, l.probes...)
	}
	found, _ := path.Judge(d, p.topology.device(), probes, arrivals)
	p.journal.Report.Path[i] = found
	p.journal.Note("path %s→%s: %s", d.From, d.To, found.Message)
	if !found.Proven {
		return back, false, nil
	}
	return back, true, p.answer(p.journal.Plan.Directions[back], d, lanes, arrivals)
}

// sendFlows sends a frame of each flow of a direction, and again those that are missing.
func (p *prover) sendFlows(ctx context.Context, i int) (lanes []*numberedLane, arrivals []path.Arrival, err error) {
	d := p.journal.Plan.Directions[i]
	for _, g := range p.topology.senders(d) {
		lane, err := p.lane(g, d)
		if err != nil {
			return nil, nil, err
		}
		frames, err := flowsOf(lane, p.topology.planned(g, d.From))
		if err != nil {
			return nil, nil, fmt.Errorf("link %s: %w", d.From, err)
		}
		lanes = append(lanes, &numberedLane{direction: i, generator: g, lane: lane})
		if lanes[len(lanes)-1].probes, err = p.number(lane, frames); err != nil {
			return nil, nil, err
		}
	}
	for range learnAttempts {
		missing := missingOf(lanes, arrivals)
		if len(missing) == 0 {
			break
		}
		got, err := p.capture(ctx, func(ctx context.Context, captures []engine.Capture) ([]path.Arrival, error) {
			got, err := p.injectNumbered(ctx, captures, missing)
			if err != nil {
				return nil, err
			}
			whole := func(got []path.Arrival) bool { return path.Marked(got) >= sentOf(missing) }
			return p.see(ctx, captures, got, whole, numberedQuiet, 0)
		})
		if err != nil {
			return nil, nil, err
		}
		arrivals = append(arrivals, got...)
	}
	return lanes, arrivals, nil
}

// number marks a frame of each flow with a number that no other frame of the run has.
func (p *prover) number(lane path.Lane, frames [][]byte) ([]path.Probe, error) {
	first := uint32(3<<30) + p.answers.sent
	p.answers.sent += uint32(len(frames))
	return path.Numbered(lane, frames, len(frames), p.seed(), first)
}

// missingOf are the lanes that have frames which didn't arrive, with those alone.
func missingOf(lanes []*numberedLane, arrivals []path.Arrival) (missing []*numberedLane) {
	arrived := path.Tokens(arrivals)
	for _, l := range lanes {
		rest := &numberedLane{direction: l.direction, generator: l.generator, lane: l.lane}
		for _, probe := range l.probes {
			if !arrived[probe.Token] {
				rest.probes = append(rest.probes, probe)
			}
		}
		if len(rest.probes) > 0 {
			missing = append(missing, rest)
		}
	}
	return missing
}

// flowsOf is a frame of each flow that a port's streams send.
func flowsOf(lane path.Lane, port plan.GeneratorPort) (frames [][]byte, err error) {
	known := map[path.Flow]bool{}
	for _, s := range port.Streams {
		source, destination := profile.OwnMACs(s)
		if s.Packet.Binary, err = lane.Addressed(s.Packet.Binary, source, destination); err != nil {
			return nil, err
		}
		all, err := profile.FirstFrames(s, profile.MostListed+1)
		if err != nil {
			return nil, fmt.Errorf("the way back answers each flow: %w", err)
		}
		for _, frame := range all {
			if f := path.FlowOf(frame); !known[f] {
				known[f] = true
				frames = append(frames, frame)
			}
		}
	}
	if len(frames) > profile.MostListed {
		return nil, fmt.Errorf("the streams have more than %d flows, each of which the way back has to answer: use fewer "+
			"(flows.count), or measure one direction (traffic.directions)", profile.MostListed)
	}
	return frames, nil
}

// answer makes each stream of the direction back take turns with the answers to all flows that arrived at its port.
func (p *prover) answer(back, d plan.Direction, lanes []*numberedLane, arrivals []path.Arrival) error {
	if p.topology.answers == nil {
		p.topology.answers = map[portOnLink][]stream.Stream{}
		p.answers.answering, p.answers.translations = map[plan.Direction]bool{},
			map[plan.Direction]map[path.Flow]path.Flow{}
	}
	out, in := map[path.Flow]path.Flow{}, map[path.Flow]path.Flow{}
	for _, l := range lanes {
		translations := path.Translations(l.probes, arrivals)
		for _, t := range translations {
			out[t.Sent], in[t.Arrived.Reversed()] = t.Arrived, t.Sent.Reversed()
		}
		receiver := slices.Index(p.topology.names, l.lane.Receiver)
		streams, err := answeringStreams(p.topology.planned(receiver, back.From).Streams, translations)
		if err != nil {
			return fmt.Errorf("answer on link %s what arrived there: %w", back.From, err)
		}
		p.topology.answers[portOnLink{receiver, back.From}] = streams
	}
	p.answers.translations[d], p.answers.translations[back] = out, in
	p.answers.answering[back] = true
	return nil
}

// answeringStreams are the streams with answers as their frames. A latency stream has the first alone, as it is one
// flow.
func answeringStreams(planned []stream.Stream, translations []path.Translation) (streams []stream.Stream, err error) {
	for _, s := range planned {
		wanted := translations
		if s.FlowStats.Enabled && s.FlowStats.RuleType == "latency" {
			wanted = translations[:min(1, len(translations))]
		}
		var frames [][]byte
		for _, t := range wanted {
			frame, err := t.Answer(s.Packet.Binary)
			if err != nil {
				return nil, err
			}
			frames = append(frames, frame)
		}
		if s, err = profile.Listed(s, frames); err != nil {
			return nil, err
		}
		streams = append(streams, s)
	}
	return streams, nil
}
