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

// acquire is acquire: it takes a free port or, with force, another owner's. The same session asking again without force gets the
// handler that it already has, so that a client can continue after a broken connection. Traffic and streams stay as they are.
func (s *Server) acquire(p *params) (any, error) {
	at, err := s.port(p)
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
	had := at.owner
	switch {
	case had.handler == "" || force:
	case had.user == user && had.session == session:
		return had.handler, nil
	case had.user == user:
		return nil, refused("port is already owned by another session of '%s'", user)
	default:
		return nil, refused("port is already taken by '%s'", had.user)
	}
	at.owner = owner{user: user, session: session, handler: secret()}
	s.events.open(session)
	s.publish(eventPortAcquired, object{"port_id": at.index, "who": user, "session_id": session, "force": had.handler != ""})
	return at.owner.handler, nil
}

// release is release.
func (s *Server) release(p *params) (any, error) {
	at, err := s.ownedPort(p)
	if err != nil {
		return nil, err
	}
	s.publish(eventPortReleased, object{"port_id": at.index, "who": at.owner.user, "session_id": at.owner.session})
	at.owner = owner{}
	return object{}, nil
}

// getOwner is get_owner.
func (s *Server) getOwner(p *params) (any, error) {
	at, err := s.port(p)
	if err != nil {
		return nil, err
	}
	if at.owner.handler == "" {
		return object{"owner": "<FREE>"}, nil
	}
	return object{"owner": at.owner.user}, nil
}

// ownedPort reads port_id and handler, and refuses a client that doesn't own the port.
func (s *Server) ownedPort(p *params) (*port, error) {
	at, err := s.port(p)
	if err != nil {
		return nil, err
	}
	handler := p.text("handler")
	if err := p.failed(); err != nil {
		return nil, err
	}
	switch {
	case at.owner.handler == "":
		return nil, refused("please acquire the port before modifying port state")
	case at.owner.handler != handler:
		return nil, refused("port is not owned by you or your current executing session")
	}
	return at, nil
}

func (s *Server) ownsAnyPort(session uint32) bool {
	for _, at := range s.ports {
		if at.owner.handler != "" && at.owner.session == session {
			return true
		}
	}
	return false
}
