package trex

import (
	"context"
	"errors"
)

// free is get_owner's answer for a port without owner.
const free = "<FREE>"

// Acquire takes a port; with force also from another owner, whose traffic and streams stay as they are: Reset ends those. Without
// force, another owner's port is a *TakenError. To acquire a port that this user and session own already succeeds.
func (c *Client) Acquire(ctx context.Context, port int, force bool) error {
	if c.options.Session == 0 {
		return &UnsafeError{What: "session id 0", Why: "it would abort the server"}
	}
	var handler string
	err := c.one(ctx, call{
		method: "acquire", port: port,
		params: params{"port_id": port, "user": c.options.User, "session_id": c.options.Session, "force": force},
		result: &handler,
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handlers[port] = handler
	return nil
}

// Release gives a port back. Its traffic would go on: StopTraffic and Reset come first. A port that turns out to be somebody else's is
// forgotten too.
func (c *Client) Release(ctx context.Context, port int) error {
	err := c.owned(ctx, port, "release", nil, nil)
	if _, taken := errors.AsType[*TakenError](err); err == nil || taken {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.handlers, port)
	}
	return err
}

// Owner is the port's owner; "" free.
func (c *Client) Owner(ctx context.Context, port int) (string, error) {
	var result struct {
		Owner string `json:"owner"`
	}
	err := c.one(ctx, call{method: "get_owner", port: port, params: params{"port_id": port}, result: &result})
	if result.Owner == free {
		result.Owner = ""
	}
	return result.Owner, err
}

// owned makes a call on a port that this client must own.
func (c *Client) owned(ctx context.Context, port int, method string, p params, result any) error {
	k, err := c.ownedCall(port, method, p, result)
	if err != nil {
		return err
	}
	if err := c.all(ctx, k); err != nil {
		return err
	}
	return c.addNewOwner(ctx, k.err)
}

// ownedCall prepares a call on a port that this client must own.
func (c *Client) ownedCall(port int, method string, p params, result any) (*call, error) {
	handler, err := c.handler(port)
	if err != nil {
		return nil, err
	}
	all := params{"port_id": port, "handler": handler}
	for k, v := range p {
		all[k] = v
	}
	return &call{method: method, port: port, params: all, result: result}, nil
}

// ownedBatch runs prepared calls in one exchange. Every refusal is reported, with the new owner's name where there is one.
func (c *Client) ownedBatch(ctx context.Context, calls []*call) error {
	if len(calls) == 0 {
		return nil
	}
	if err := c.all(ctx, calls...); err != nil {
		return err
	}
	errs := make([]error, len(calls))
	for i, k := range calls {
		errs[i] = c.addNewOwner(ctx, k.err)
	}
	return errors.Join(errs...)
}

// addNewOwner adds the new owner's name to the error of a call on a port that this client no longer owns: the server's refusal doesn't have it.
func (c *Client) addNewOwner(ctx context.Context, err error) error {
	taken, ok := errors.AsType[*TakenError](err)
	if !ok || taken.Owner != "" {
		return err
	}
	if owner, ownerErr := c.Owner(ctx, taken.Port); ownerErr == nil {
		taken.Owner = owner
		taken.SameUser = owner == c.options.User
	}
	return err
}
