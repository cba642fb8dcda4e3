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

// acquire answers acquire. It takes a free port or, with force, another owner's. The same session asking again without force gets
// the handler that it already has, so that a client can continue after a broken connection. Traffic and streams stay as they are.
func (s *Server) acquire(p *params) (any, error) {
	port, err := s.port(p)
	if err != nil {
		return nil, err
	}
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
	s.events.open(session)
	s.publish(eventPortAcquired, object{"port_id": port.index, "who": user, "session_id": session, "force": previous.handler != ""})
	return port.owner.handler, nil
}

// release answers release.
func (s *Server) release(p *params) (any, error) {
	port, err := s.ownedPort(p)
	if err != nil {
		return nil, err
	}
	s.publish(eventPortReleased, object{"port_id": port.index, "who": port.owner.user, "session_id": port.owner.session})
	port.owner = owner{}
	return object{}, nil
}

// ownerOf answers get_owner.
func (s *Server) getOwner(p *params) (any, error) {
	port, err := s.port(p)
	if err != nil {
		return nil, err
	}
	if port.owner.handler == "" {
		return object{"owner": "<FREE>"}, nil
	}
	return object{"owner": port.owner.user}, nil
}

// owned reads port_id and handler, and refuses a client that doesn't own the port.
func (s *Server) ownedPort(p *params) (*port, error) {
	port, err := s.port(p)
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

func (s *Server) ownsAnyPort(session uint32) bool {
	for _, port := range s.ports {
		if port.owner.handler != "" && port.owner.session == session {
			return true
		}
	}
	return false
}
