package plan

import "slices"

// Sender is what carries a Plan's load: the kind of traffic, and the engine that sends it. It is the key of the lists of engines (internal/compile, internal/manifests, internal/cli), so
// that nobody else has to ask which engine it is.
type Sender struct {
	Traffic string
	// Engine is spec.generator.engine, the Plan's engine. External is a place rather than an engine: a TRex that runs already.
	Engine string
}

// TrafficFrames is traffic of frames, which generators' ports count: the one kind that there is.
const TrafficFrames = "Frames"

// The engines.
const (
	EngineTRex     = "TRex"
	EngineSoftware = "Software"
	EngineExternal = "External"
)

// Sends is what carries the Plan's load.
func (p *Plan) Sends() Sender { return Sender{Traffic: TrafficFrames, Engine: p.Engine} }

// Elsewhere says that the Plan's generators run already and are somebody else's, too: they are reached by their Server, and their ports may be in use.
func (p *Plan) Elsewhere() bool {
	return slices.ContainsFunc(p.Generators, func(g Generator) bool { return g.Server != "" })
}
