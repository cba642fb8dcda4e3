package plan

import "slices"

// Sender is what carries a Plan's load, which is the kind of traffic, and the engine that sends it. It is the key
// of the lists of engines (internal/compile, internal/cluster/manifests, internal/pod/job, internal/cli), so that
// nobody else has to ask which engine it is.
type Sender struct {
	Traffic string
	// Engine is spec.generator.engine, the Plan's engine.
	Engine string
	// RunsAlready says that the generators are servers that linerate doesn't start (spec.generator.placement.servers).
	RunsAlready bool
}

// The kinds of traffic.
const (
	TrafficFrames   = "Frames"   // which generators' ports count
	TrafficSessions = "Sessions" // over TCP, whose payload programs count
)

// The engines.
const (
	EngineTRex     = "TRex"
	EngineSoftware = "Software"
)

// Sender is what carries the Plan's load, the key of its engine.
func (p *Plan) Sender() Sender {
	sender := Sender{Traffic: TrafficFrames, Engine: p.Engine, RunsAlready: p.GeneratorsRunAlready()}
	if p.Sessions != nil {
		sender.Traffic = TrafficSessions
	}
	return sender
}

// GeneratorsRunAlready says that the Plan's generators run already, at their Server's address. Other people may use
// them, too, and their ports may be in use.
func (p *Plan) GeneratorsRunAlready() bool {
	return slices.ContainsFunc(p.Generators, func(g Generator) bool { return g.Server != "" })
}
