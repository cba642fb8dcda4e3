package softgen

// pauseTraffic is pause_traffic: for endless runs of continuous streams only, as in TRex.
func (s *Server) pauseTraffic(p *params) (any, error) {
	at, f, err := s.ownedProfile(p)
	if err != nil {
		return nil, err
	}
	if err := f.must("pause", sending); err != nil {
		return nil, err
	}
	if !f.endless {
		return nil, refused("pause is supported when duration is not enable is start command")
	}
	for _, one := range f.streams {
		if one.stream.Enabled && one.stream.Mode.Type != "continuous" {
			return nil, refused("pause is supported when all streams are in continuous mode")
		}
	}
	if err := at.path.Pause(); err != nil {
		return nil, refusedBy(err)
	}
	f.playing = paused
	s.publishTraffic(eventProfilePaused, eventPortPaused, at, f.id)
	return object{}, nil
}

// resumeTraffic is resume_traffic.
func (s *Server) resumeTraffic(p *params) (any, error) {
	at, f, err := s.ownedProfile(p)
	if err != nil {
		return nil, err
	}
	if err := f.must("resume", paused); err != nil {
		return nil, err
	}
	if err := at.path.Resume(); err != nil {
		return nil, refusedBy(err)
	}
	f.playing = sending
	s.publishTraffic(eventProfileResumed, eventPortResumed, at, f.id)
	return object{}, nil
}
