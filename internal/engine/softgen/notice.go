package softgen

// observePorts updates the server's state by ended runs and changed links.
// It runs before every request, so that no answer is out of date.
func (s *Server) observePorts() {
	for _, port := range s.ports {
		s.observeEnd(port)
		s.observeLink(port)
	}
}

func (s *Server) observeEnd(port *port) {
	if port.run == nil || !port.run.ended() {
		return
	}
	if failure := port.path.Stop(); failure != nil { // nothing runs, but Stop returns the run's error
		s.failed(port, failure)
		return
	}
	id := port.finishRun()
	s.publishTraffic(eventProfileFinished, eventPortFinished, port, id)
	s.cfg.Log.Info("traffic finished", "port", port.index, "profile", id)
}

func (s *Server) observeLink(port *port) {
	linkUp := port.path.Info().LinkUp
	if linkUp == port.linkUp {
		return
	}
	port.linkUp = linkUp
	s.publish(eventAttributes, object{"port_id": port.index, "attr": port.attributes()})
	s.cfg.Log.Info("link changed", "port", port.index, "up", linkUp)
}
