package softgen

import "crypto/rand"

// owner is the client that may change a port's streams and traffic. The zero owner means that the port is free.
type owner struct {
	user    string
	session uint32
	handler string
}

// secret returns a random handle of eight characters, the length of TRex's.
func secret() string { return rand.Text()[:8] }

// ownership gives ports to clients and takes them back.
type ownership struct {
	events *events
}

// acquire answers acquire. It takes a free port or, with force, another owner's. The same session asking again
// without force gets the handler that it already has, so that a client can continue after a broken connection.
// Traffic and streams stay as they are.
func (o *ownership) acquire(port *port, p *params) (any, error) {
	user, session, force := p.text("user"), p.uint32("session_id"), p.boolean("force")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if session == 0 {
		return nil, badParameters("field 'session_id' must not be 0")
	}
	previous := port.owner
	switch {
	case previous.handler == "" || force:
	case previous.user == user && previous.session == session:
		return previous.handler, nil
	case previous.user == user:
		return nil, refused("port is already owned by another session of '%s'", user)
	default:
		return nil, refused("port is already taken by '%s'", previous.user)
	}
	port.owner = owner{user: user, session: session, handler: secret()}
	o.events.open(session)
	o.events.publish(eventPortAcquired, object{"port_id": port.index, "who": user, "session_id": session,
		"force": previous.handler != ""})
	return port.owner.handler, nil
}

// release answers release.
func (o *ownership) release(port *port, _ *params) (any, error) {
	o.events.publish(eventPortReleased, object{"port_id": port.index, "who": port.owner.user,
		"session_id": port.owner.session})
	port.owner = owner{}
	return object{}, nil
}

// ownerOf answers get_owner.
func (o *ownership) ownerOf(port *port, _ *params) (any, error) {
	if port.owner.handler == "" {
		return object{"owner": "<FREE>"}, nil
	}
	return object{"owner": port.owner.user}, nil
}
