package trex

import (
	"context"
	"errors"
	"maps"
	"sync"
)

// free is get_owner's answer for a port without owner.
const free = "<FREE>"

// Session owns ports of a server, and makes the calls that need this ownership.
type Session struct {
	*Connection
	mu       sync.Mutex
	handlers map[int]string // of the ports that this session owns
}

// Owned lists the ports that this session acquired, with their handlers.
func (s *Session) Owned() map[int]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.handlers)
}

// handler returns the proof of ownership that owned calls carry.
func (s *Session) handler(port int) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.handlers[port]
	if !ok {
		return "", &TakenError{Port: port}
	}
	return h, nil
}

// Acquire takes a port. With force it also takes the port from another owner, whose traffic and streams stay as they
// are until Reset ends them. Without force, another owner's port is a *TakenError. To acquire a port that this user
// and session own already succeeds.
func (s *Session) Acquire(ctx context.Context, port int, force bool) error {
	if s.options.Session == 0 {
		return &UnsafeError{Object: "session id 0", Reason: "it would abort the server"}
	}
	var handler string
	err := s.invoke(ctx, call{
		method: "acquire", port: port,
		params: params{"port_id": port, "user": s.options.User, "session_id": s.options.Session, "force": force},
		result: &handler,
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[port] = handler
	return nil
}

// Release gives a port back. Its traffic would go on, so StopTraffic and Reset come first. A port that another client
// owns by now is forgotten too.
func (s *Session) Release(ctx context.Context, port int) error {
	err := s.owned(ctx, port, "release", nil, nil)
	if _, conflict := errors.AsType[*TakenError](err); err == nil || conflict {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.handlers, port)
	}
	return err
}

// Owner is the port's owner, "" for a free port.
func (s *Session) Owner(ctx context.Context, port int) (string, error) {
	var result struct {
		Owner string `json:"owner"`
	}
	err := s.invoke(ctx, call{method: "get_owner", port: port, params: params{"port_id": port}, result: &result})
	if result.Owner == free {
		result.Owner = ""
	}
	return result.Owner, err
}

// owned makes a call on a port that this client must own.
func (s *Session) owned(ctx context.Context, port int, method string, p params, result any) error {
	k, err := s.ownedCall(port, method, p, result)
	if err != nil {
		return err
	}
	if err := s.invokeBatch(ctx, k); err != nil {
		return err
	}
	return s.addNewOwner(ctx, k.err)
}

// ownedCall prepares a call on a port that this client must own.
func (s *Session) ownedCall(port int, method string, p params, result any) (*call, error) {
	handler, err := s.handler(port)
	if err != nil {
		return nil, err
	}
	merged := params{"port_id": port, "handler": handler}
	maps.Copy(merged, p)
	return &call{method: method, port: port, params: merged, result: result}, nil
}

// ownedBatch runs prepared calls in one exchange. Every refusal is reported, with the new owner's name where
// there is one.
func (s *Session) ownedBatch(ctx context.Context, calls []*call) error {
	if len(calls) == 0 {
		return nil
	}
	if err := s.invokeBatch(ctx, calls...); err != nil {
		return err
	}
	errs := make([]error, len(calls))
	for i, k := range calls {
		errs[i] = s.addNewOwner(ctx, k.err)
	}
	return errors.Join(errs...)
}

// addNewOwner adds the new owner's name to the error of a call on a port that this client no longer owns, as the
// server's refusal doesn't have the name.
func (s *Session) addNewOwner(ctx context.Context, err error) error {
	conflict, ok := errors.AsType[*TakenError](err)
	if !ok || conflict.Owner != "" {
		return err
	}
	if owner, ownerErr := s.Owner(ctx, conflict.Port); ownerErr == nil {
		conflict.Owner = owner
		conflict.SameUser = owner == s.options.User
	}
	return err
}
