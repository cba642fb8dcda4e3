package compile

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/document/stream"
)

// checkStreams refuses streams that can't be sent by several replicas or in both directions, since their frames'
// addresses are fixed.
func (lo *loads) checkStreams() {
	if lo.spec.Streams == nil {
		return
	}
	traffic := specPath().Child("traffic")
	if lo.replicas > 1 {
		lo.refuse(specPath().Child("generator", "replicas"), lo.replicas,
			"profile Streams can't be divided: every replica would send the same flows; use 1")
	}
	if lo.device.forwarding() == plan.L3 && len(lo.directions.entries) > 1 {
		lo.refusef(traffic.Child("directions"), noValue,
			"the same streams can't be routed both ways: choose one direction, such as [{from: %s, to: "+
				"%s}]", lo.directions.entries[0].From, lo.directions.entries[0].To)
	}
	if text := lo.spec.Streams.JSON; !json.Valid([]byte(text)) {
		lo.refuse(traffic.Child("streams", "json"), noValue, explainJSON(text))
	}
}

func explainJSON(text string) string {
	var v any
	err := intake.JSON([]byte(text), &v, limits)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("not JSON from byte %d on (%s): write a list of TRex stream objects", syntax.Offset, syntax)
	}
	return "not JSON: write a list of TRex stream objects"
}

// blameStreams are an error for each fault of the streams.
func blameStreams(err error) (errs field.ErrorList) {
	faults := profile.Faults{err}
	if several, ok := errors.AsType[profile.Faults](err); ok {
		faults = several
	}
	for _, fault := range faults.First(mostStreamFaults) {
		errs = append(errs, field.Invalid(specPath().Child("traffic", "streams", "json"), noValue,
			fault.Error()))
	}
	return errs
}

// mostStreamFaults is how many faults of streams are reported at once.
const mostStreamFaults = 20

// allowStreams refuses streams with source or destination addresses that aren't allowed, including all those
// that the field engine writes into frames.
func (lo *loads) allowStreams(streams []stream.Stream) {
	path := specPath().Child("traffic", "streams", "json")
	for i, s := range streams {
		if rate := s.Mode.Rate.Type; rate != "pps" && traitsOf(lo.procedure).SendsBursts {
			lo.refusef(path, noValue,
				"streams[%d].mode.rate.type is %s, so how many frames of a burst that stream has isn't known: use "+
					"pps with procedure.type BackToBack", i, rate)
		}
		if ttl, routers := profile.TTL(s), lo.dut.Routers(); routers > 0 && ttl <= routers {
			lo.refusef(path, noValue,
				"streams[%d].packet.binary: the frames leave with TTL %d, and each router under test takes 1 (%d in "+
					"all), so none comes back: use at least %d", i, ttl, routers, routers+1)
		}
		for side, reached := range profile.Reach(s) {
			if !lo.links.allowed(reached) {
				lo.refusef(path, noValue, "streams[%d]: its %s addresses, all within %s, are %s", i,
					[...]string{"source", "destination"}[side], reached, outside(reached))
			}
		}
	}
}
