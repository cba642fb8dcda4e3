package softgen

// maxGraphEvents is how many changes of rate validate returns; events_count is of all.
const maxGraphEvents = 100

// validate is validate: it compiles the profile without sending and returns its rate at factor 1.
func (s *Server) validate(p *params) (any, error) {
	at, f, err := s.ownedProfile(p)
	if err != nil {
		return nil, err
	}
	if len(f.streams) == 0 {
		return nil, refused("no streams attached to port")
	}
	if _, err := s.compile(at, f); err != nil {
		return nil, err
	}
	g := newGraph(f, at.speed)
	events := []object{}
	for _, e := range g.events[:min(len(g.events), maxGraphEvents)] {
		events = append(events, object{
			"time_usec": real(e.microseconds), "stream_id": e.stream,
			"diff_pps": real(e.change.pps), "diff_bps_l2": real(e.change.layer2), "diff_bps_l1": real(e.change.layer1),
		})
	}
	rate := object{}
	g.fixed.report(rate, "min", float64(at.speed))
	g.fixed.plus(g.variable).report(rate, "max", float64(at.speed))
	return object{
		"rate":  rate,
		"graph": object{"events": events, "events_count": len(g.events), "expected_duration": int64(g.duration)},
	}, nil
}

// report adds a load's members. The line's use is in percent, by TRex's own factor of 100.01.
func (l load) report(to object, prefix string, line float64) {
	to[prefix+"_pps"], to[prefix+"_bps_l2"], to[prefix+"_bps_l1"] = real(l.pps), real(l.layer2), real(l.layer1)
	to[prefix+"_line_util"] = real(l.layer1 / line * 100.01)
}
