package softgen

// observePorts updates the server's state by ended runs and changed links.
// It runs before every request, so that no answer is out of date.
func (t *traffic) observePorts() {
	for _, port := range t.ports {
		t.observeEnd(port)
		t.observeLink(port)
	}
}

func (t *traffic) observeEnd(port *port) {
	if port.run == nil || !port.run.ended() {
		return
	}
	if failure := port.path.Stop(); failure != nil { // nothing runs, but Stop returns the run's error
		t.failed(port, failure)
		return
	}
	id := port.finishRun()
	t.events.publishTraffic(eventProfileFinished, eventPortFinished, port, id)
	t.log.Info("traffic finished", "port", port.index, "profile", id)
}

func (t *traffic) observeLink(port *port) {
	linkUp := port.path.Info().LinkUp
	if linkUp == port.linkUp {
		return
	}
	port.linkUp = linkUp
	t.events.publish(eventAttributes, object{"port_id": port.index, "attr": port.attributes()})
	t.log.Info("link changed", "port", port.index, "up", linkUp)
}
