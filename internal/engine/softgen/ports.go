package softgen

// ports are the server's ports, by their port_id. They find the port that a request names.
type ports []*port

// named returns the port that port_id names.
func (l ports) named(p *params) (*port, error) {
	index := p.byte("port_id")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if int(index) >= len(l) {
		return nil, refused("invalid port id - should be: 0 - %d", len(l)-1)
	}
	return l[index], nil
}

// owned reads port_id and handler, and refuses a client that doesn't own the port.
func (l ports) owned(p *params) (*port, error) {
	port, err := l.named(p)
	if err != nil {
		return nil, err
	}
	handler := p.text("handler")
	if err := p.failed(); err != nil {
		return nil, err
	}
	switch {
	case port.owner.handler == "":
		return nil, refused("please acquire the port before modifying port state")
	case port.owner.handler != handler:
		return nil, refused("port is not owned by you or your current executing session")
	}
	return port, nil
}

// ownedProfile returns the owned port and the profile that the request names.
func (l ports) ownedProfile(p *params) (*port, *profile, error) {
	port, err := l.owned(p)
	if err != nil {
		return nil, nil, err
	}
	found, err := port.profile(p)
	return port, found, err
}

func (l ports) ownsAny(session uint32) bool {
	for _, port := range l {
		if port.owner.handler != "" && port.owner.session == session {
			return true
		}
	}
	return false
}
