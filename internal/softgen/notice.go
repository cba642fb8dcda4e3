package softgen

// notice sees to what happened by itself: runs that ended, links that changed. It comes before every request, so that no answer is
// older than what it tells of.
func (s *Server) notice() {
	for _, at := range s.ports {
		s.noticeEnd(at)
		s.noticeLink(at)
	}
}

func (s *Server) noticeEnd(at *port) {
	if at.run == nil || !at.run.over() {
		return
	}
	if failure := at.path.Stop(); failure != nil { // nothing to stop, but the way to learn how it ended
		s.failed(at, failure)
		return
	}
	id := at.ended()
	s.publishTraffic(eventProfileFinished, eventPortFinished, at, id)
	s.cfg.Log.Info("traffic finished", "port", at.index, "profile", id)
}

func (s *Server) noticeLink(at *port) {
	up := at.path.Info().LinkUp
	if up == at.up {
		return
	}
	at.up = up
	s.publish(eventAttributes, object{"port_id": at.index, "attr": at.attributes()})
	s.cfg.Log.Info("link changed", "port", at.index, "up", up)
}
