package surprise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// rule is an expectation of two tests.
type rule struct {
	name string
	// expects says why the first test is expected to carry at least as much as the second, as what follows "the
	// second carried more, though". It is empty where nothing is expected of the two.
	expects func(faster, slower *plan.Plan) string
	// beyond is by how large a share the second must be more to be a surprise, as repeated runs differ by less.
	beyond float64
	// figure is the figure to compare, or nil for the throughput.
	figure func(*report.Figures) int64
	// anyGenerators says that the tests may have different numbers of generators.
	anyGenerators bool
}

// Shares that are told. Where one test does more than another the order of the two is what surprises, and else that
// they aren't the same.
const (
	anyMore = 0.01
	notSame = 0.05
)

var rules = []rule{
	{name: "more work costs", beyond: anyMore, expects: moreWork},
	{name: "a device costs", beyond: anyMore, expects: noDevice},
	{name: "larger frames are fewer", beyond: anyMore, expects: smallerFrames},
	{name: "larger frames carry more", beyond: anyMore, expects: largerFrames,
		figure: func(f *report.Figures) int64 { return f.Layer1BitsPerSecond }},
	{name: "more directions carry more", beyond: anyMore, expects: moreDirections, anyGenerators: true},
	{name: "larger windows carry more", beyond: anyMore, expects: largerWindow},
	{name: "more is carried of more", beyond: anyMore, expects: largerRate},
	{name: "programs carry the same", beyond: notSame, expects: otherProgram},
	{name: "longer trials carry the same", beyond: notSame, expects: otherDuration},
}

// moreWork expects that a device that does all that another does, and more, carries no more.
func moreWork(faster, slower *plan.Plan) string {
	a, b := faster.DUT.Mode(), slower.DUT.Mode()
	if a == nil || b == nil || !doesMore(b, a) || !equalBut(faster, slower, func(p *plan.Plan) { p.DUT = plan.DUT{} }) {
		return ""
	}
	return fmt.Sprintf("a device that is %q does all that %q does, and more", b, a)
}

// doesMore says that a is a device of the same kind with a longer table, more rules or more connections, or of a
// kind that does all that b's does, and more. It has no shorter table.
func doesMore(a, b *plan.Mode) bool {
	kindA, kindB := kindOf(a), kindOf(b)
	switch {
	case kindB.rank == 0 || a.Routes() < b.Routes():
		return false
	case kindA.name == kindB.name:
		return kindA.extent >= kindB.extent && (kindA.extent > kindB.extent || a.Routes() > b.Routes())
	}
	return kindA.rank > kindB.rank
}

// kind is what a device does with each frame. Each rank does all that a lower one does, as what XDP forwards
// doesn't reach the stack that routers forward in, and others are routers that do something besides. Of two kinds
// of one rank none does what the other does.
type kind struct {
	name   string
	rank   int // 0 where nothing is known of it
	extent int // rules, or connections that are tracked
}

func kindOf(m *plan.Mode) kind {
	switch {
	case m.XDP != nil:
		return kind{name: "xdp", rank: 1}
	case m.Router != nil:
		return kind{name: "router", rank: 2}
	case m.Filter != nil:
		return kind{name: "filter", rank: 3, extent: m.Filter.Rules}
	case m.NAT != nil:
		return kind{name: "nat", rank: 3, extent: m.NAT.Sessions}
	case m.Tunnel != nil:
		return kind{name: "tunnel", rank: 3}
	}
	return kind{}
}

// noDevice expects that traffic without a device in its way is carried no less.
func noDevice(faster, slower *plan.Plan) string {
	if !faster.DUT.Loopback() || slower.DUT.Loopback() ||
		!equalBut(faster, slower, func(p *plan.Plan) { p.DUT = plan.DUT{} }) {
		return ""
	}
	return "it went through a device, and the other through none"
}

// smallerFrames expects that each frame costs a device at least as much as a smaller one, so that it forwards no
// more of them.
func smallerFrames(faster, slower *plan.Plan) string {
	if !largerThan(slower, faster) {
		return ""
	}
	return fmt.Sprintf("its frames are larger: %.0f bytes on average, and %.0f", frame(slower), frame(faster))
}

// largerFrames expects that a frame costs at most as much more as it is larger.
func largerFrames(faster, slower *plan.Plan) string {
	if !largerThan(faster, slower) {
		return ""
	}
	return fmt.Sprintf("its frames are smaller: %.0f bytes on average, and %.0f", frame(slower), frame(faster))
}

// largerThan says that two tests differ in their frames alone, which are the same in all directions of each, and
// that the first one's are larger.
func largerThan(a, b *plan.Plan) bool {
	return a.Sessions == nil && frame(a) > frame(b) && frame(b) > 0 && equalBut(a, b, func(p *plan.Plan) {
		p.Directions = slices.Clone(p.Directions)
		for i := range p.Directions {
			p.Directions[i].Mix.Packets, p.Directions[i].Mix.Bytes = 0, 0
		}
	})
}

// frame is how many bytes a frame of a test has on average. It is 0 where that isn't the same in all directions, or
// there are none.
func frame(p *plan.Plan) (bytes float64) {
	for i, d := range p.Directions {
		if d.Mix.Packets == 0 {
			return 0
		}
		meanSize := float64(d.Mix.Bytes) / float64(d.Mix.Packets)
		if i > 0 && meanSize != bytes {
			return 0
		}
		bytes = meanSize
	}
	return bytes
}

// moreDirections expects that all directions together carry no less than some of them, of the same frames on links
// of the same rates.
func moreDirections(faster, slower *plan.Plan) string {
	if len(faster.Directions) <= len(slower.Directions) || !directionsWithin(slower.Directions, faster.Directions) ||
		!linksWithin(slower.Links, faster.Links) || !equalBut(faster, slower, func(p *plan.Plan) {
		p.Directions, p.Links, p.Sessions = nil, nil, oneStream(p.Sessions)
	}) || faster.Sessions != nil && faster.Sessions.Parallel < slower.Sessions.Parallel {
		return ""
	}
	return fmt.Sprintf("it has %d of the other's %d directions", len(slower.Directions), len(faster.Directions))
}

func directionsWithin(part, whole []plan.Direction) bool {
	return !slices.ContainsFunc(part, func(d plan.Direction) bool {
		return !slices.Contains(whole, d)
	})
}

func linksWithin(part, whole []plan.Link) bool {
	return !slices.ContainsFunc(part, func(l plan.Link) bool {
		return !slices.ContainsFunc(whole, func(o plan.Link) bool {
			return o.Name == l.Name &&
				o.LineRate == l.LineRate
		})
	})
}

func oneStream(s *plan.Sessions) *plan.Sessions {
	if s == nil {
		return nil
	}
	single := *s
	single.Parallel = 1
	return &single
}

// largerWindow expects that a window that is larger holds a connection back no more. A window that the kernels
// choose grows as it has to.
func largerWindow(faster, slower *plan.Plan) string {
	a, b := faster.Sessions, slower.Sessions
	if a == nil || b == nil || b.WindowBytes == 0 || a.WindowBytes != 0 && a.WindowBytes <= b.WindowBytes ||
		!equalBut(faster, slower, func(p *plan.Plan) {
			s := *p.Sessions
			s.WindowBytes, p.Sessions = 0, &s
		}) {
		return ""
	}
	return fmt.Sprintf("its window is smaller: %s, and %s", window(b), window(a))
}

func window(s *plan.Sessions) string {
	if s.WindowBytes == 0 {
		return "the kernels' own"
	}
	return fmt.Sprintf("%d KiB", s.WindowBytes>>10)
}

// largerRate expects that a test with a larger rate carries no less.
func largerRate(faster, slower *plan.Plan) string {
	a, aHeld := faster.Procedure.HeldLoad()
	b, bHeld := slower.Procedure.HeldLoad()
	if !aHeld || !bHeld || b.Unlimited || !a.Unlimited && (a.Rate.Kind != b.Rate.Kind ||
		a.Rate.Micros <= b.Rate.Micros) || !equalBut(faster, slower, func(p *plan.Plan) {
		p.Procedure.SetHeldLoad(plan.HeldLoad{Rate: a.Rate})
	}) {
		return ""
	}
	return "it was asked for less"
}

// otherProgram expects that the sending program makes no difference.
func otherProgram(faster, slower *plan.Plan) string {
	if faster.Sessions == nil || slower.Sessions == nil || faster.Sessions.Application == slower.Sessions.Application ||
		!equalBut(faster, slower, func(p *plan.Plan) {
			s := *p.Sessions
			s.Application, p.Sessions = "", &s
		}) {
		return ""
	}
	return fmt.Sprintf("only the program differs: %s, and %s", program(slower), program(faster))
}

func program(p *plan.Plan) string {
	if p.Sessions.Application == "" {
		return "linerate's own transfer"
	}
	return strings.ToLower(p.Sessions.Application)
}

// otherDuration expects that a device carries in a longer trial what it carries in a shorter one.
func otherDuration(faster, slower *plan.Plan) string {
	a, aSent := faster.Procedure.OverloadTrial()
	b, bSent := slower.Procedure.OverloadTrial()
	if !aSent || !bSent || a == b || !equalBut(faster, slower, func(p *plan.Plan) { p.Procedure.SetOverloadTrial(0) }) {
		return ""
	}
	return fmt.Sprintf("only the duration differs: %v, and %v", b.Std(), a.Std())
}

// equalBut says that two tests are equal once clearField has cleared a part of both, except in names, addresses and
// streams, which change no figure or follow from the rest.
func equalBut(a, b *plan.Plan, clearField func(*plan.Plan)) bool {
	return len(plan.Differences(bare(a, clearField), bare(b, clearField), 1)) == 0
}

func bare(p *plan.Plan, clearField func(*plan.Plan)) *plan.Plan {
	stripped := plan.Plan{Engine: p.Engine, DUT: p.DUT, Directions: p.Directions, Sessions: p.Sessions,
		Procedure: p.Procedure, Sending: p.Sending, Links: slices.Clone(p.Links)}
	for i := range stripped.Links {
		stripped.Links[i].DUT = plan.DUTEnd{}
	}
	clearField(&stripped)
	return &stripped
}
