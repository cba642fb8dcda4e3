package softgen

import "slices"

// ports are the server's ports, by their port_id.
type ports []*port

// onPort reads port_id and runs the handler on that port.
func (l ports) onPort(run portHandler) handler {
	return func(p *params) (any, error) {
		index := p.byte("port_id")
		if err := p.failed(); err != nil {
			return nil, err
		}
		if int(index) >= len(l) {
			return nil, refused("invalid port id - should be: 0 - %d", len(l)-1)
		}
		return run(l[index], p)
	}
}

// onOwnedPort reads port_id and handler, and refuses a client that doesn't own the port.
func (l ports) onOwnedPort(run portHandler) handler {
	return l.onPort(func(port *port, p *params) (any, error) {
		handle := p.text("handler")
		if err := p.failed(); err != nil {
			return nil, err
		}
		switch port.owner.handler {
		case "":
			return nil, refused("please acquire the port before modifying port state")
		case handle:
			return run(port, p)
		}
		return nil, refused("port is not owned by you or your current executing session")
	})
}

// onOwnedProfile also reads profile_id, and runs the handler on that profile.
func (l ports) onOwnedProfile(run profileHandler) handler {
	return l.onOwnedPort(func(port *port, p *params) (any, error) {
		found, err := port.profile(p)
		if err != nil {
			return nil, err
		}
		return run(port, found, p)
	})
}

func (l ports) ownsAny(session uint32) bool {
	return slices.ContainsFunc(l, func(port *port) bool {
		return port.owner.handler != "" && port.owner.session == session
	})
}
