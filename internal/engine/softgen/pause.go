package softgen

// pause answers pause_traffic. Only endless runs of continuous streams can be paused, as in TRex.
func (t *traffic) pause(port *port, f *profile, _ *params) (any, error) {
	if err := f.requireState("pause", sending); err != nil {
		return nil, err
	}
	if !f.endless {
		return nil, refused("pause is supported when duration is not enable is start command")
	}
	for _, loaded := range f.streams {
		if loaded.stream.Enabled && loaded.stream.Mode.Type != "continuous" {
			return nil, refused("pause is supported when all streams are in continuous mode")
		}
	}
	if err := port.path.Pause(); err != nil {
		return nil, refusedBy(err)
	}
	f.playing = paused
	t.events.publishTraffic(eventProfilePaused, eventPortPaused, port, f.id)
	return object{}, nil
}

// resume answers resume_traffic.
func (t *traffic) resume(port *port, f *profile, _ *params) (any, error) {
	if err := f.requireState("resume", paused); err != nil {
		return nil, err
	}
	if err := port.path.Resume(); err != nil {
		return nil, refusedBy(err)
	}
	f.playing = sending
	t.events.publishTraffic(eventProfileResumed, eventPortResumed, port, f.id)
	return object{}, nil
}
