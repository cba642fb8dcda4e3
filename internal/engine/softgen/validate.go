package softgen

// maxGraphEvents is how many changes of rate validate returns. events_count counts all changes.
const maxGraphEvents = 100

// validate answers validate. It compiles the profile without sending and returns its rate at factor 1.
func (l *streamLoader) validate(port *port, f *profile, _ *params) (any, error) {
	if len(f.streams) == 0 {
		return nil, refused("no streams attached to port")
	}
	if _, err := l.compile(port, f); err != nil {
		return nil, err
	}
	g := newGraph(f, port.speed)
	events := []object{}
	for _, e := range g.events[:min(len(g.events), maxGraphEvents)] {
		events = append(events, object{
			"time_usec": real(e.microseconds), "stream_id": e.stream,
			"diff_pps": real(e.change.pps), "diff_bps_l2": real(e.change.layer2), "diff_bps_l1": real(e.change.layer1),
		})
	}
	rate := object{}
	g.fixed.report(rate, "min", float64(port.speed))
	g.fixed.plus(g.variable).report(rate, "max", float64(port.speed))
	return object{
		"rate":  rate,
		"graph": object{"events": events, "events_count": len(g.events), "expected_duration": int64(g.duration)},
	}, nil
}

// report adds a load's members. The line's utilization is in percent, by TRex's own factor of 100.01.
func (l load) report(members object, prefix string, line float64) {
	members[prefix+"_pps"], members[prefix+"_bps_l2"], members[prefix+"_bps_l1"] = real(l.pps), real(l.layer2),
		real(l.layer1)
	members[prefix+"_line_util"] = real(l.layer1 / line * 100.01)
}
