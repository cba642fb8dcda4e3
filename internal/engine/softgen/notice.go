package softgen

// notice updates the server's state by what has happened since: runs that ended, links that changed. It runs before every request, so that no answer is
// out of date.
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
	if failure := at.path.Stop(); failure != nil { // there is nothing to stop, but this returns how it ended
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
