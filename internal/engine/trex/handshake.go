package trex

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// The API that this client speaks: it must equal the server's in name and major, and not exceed it in minor.
const (
	apiName  = "STL"
	apiMajor = 5
	apiMinor = 1
)

// handshakeMethods are the methods that take no API handle.
var handshakeMethods = map[string]bool{"get_version": true, "api_sync_v2": true, "ping": true}

// Version is get_version's answer.
type Version struct {
	Version   string `json:"version"` // "v3.08"
	Mode      string `json:"mode"`    // "STL", "ASTF" …
	BuildDate string `json:"build_date"`
	// Product is the full name of a server that isn't TRex but answers its RPC; "" for TRex.
	Product string `json:"product"`
}

// String is a name for people.
func (v Version) String() string {
	if v.Product != "" {
		return v.Product
	}
	return "TRex " + orUnknown(v.Version)
}

// greet finds out what the server is, and gets the API handle.
func (c *Client) greet(ctx context.Context) error {
	if err := c.one(ctx, call{method: "get_version", port: -1, result: &c.version}); err != nil {
		return c.notTRex(err)
	}
	if mode := c.version.Mode; mode != apiName {
		return c.incompatible(fmt.Sprintf("it runs in mode %q, and %s is needed: start it without --astf", mode, apiName), nil)
	}
	handle, err := c.syncAPI(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handle = handle
	return nil
}

func (c *Client) syncAPI(ctx context.Context) (handle string, err error) {
	var result struct {
		Handle string `json:"api_h"`
	}
	err = c.one(ctx, call{
		method: "api_sync_v2", port: -1,
		params: params{"name": apiName, "major": apiMajor, "minor": apiMinor},
		result: &result,
	})
	if mismatch, ok := errors.AsType[*IncompatibleError](err); ok {
		return "", c.incompatible(mismatch.Reason, err)
	}
	return result.Handle, err
}

// notTRex turns a refusal of get_version itself into what it means.
func (c *Client) notTRex(err error) error {
	if refusal, ok := errors.AsType[*RPCError](err); ok && refusal.Code == wire.CodeUnknownMethod {
		return c.incompatible("it doesn't know get_version, so it isn't TRex v3", err)
	}
	return err
}

func (c *Client) incompatible(reason string, err error) error {
	return &IncompatibleError{
		Address: c.Address(), Version: c.version.Version, Mode: c.version.Mode,
		Reason: fmt.Sprintf("%s (this client speaks %s %d.%d)", reason, apiName, apiMajor, apiMinor), Err: err,
	}
}

// Ping returns the server's monotonic clock.
func (c *Client) Ping(ctx context.Context) (time.Duration, error) {
	var result pingResult
	err := c.one(ctx, call{method: "ping", port: -1, result: &result})
	return result.TS.duration(), err
}

type pingResult struct {
	TS seconds `json:"ts"`
}

// seconds is a time on the wire: real seconds.
type seconds wire.Float

// UnmarshalJSON reads as wire.Float does.
func (s *seconds) UnmarshalJSON(b []byte) error { return (*wire.Float)(s).UnmarshalJSON(b) }

func (s seconds) duration() time.Duration { return inUnits(float64(s), time.Second) }

// inUnits converts a real number of units; what no Duration can hold becomes 0, as does not-a-number.
func inUnits(v float64, unit time.Duration) time.Duration {
	d := v * float64(unit)
	if !(math.Abs(d) < math.MaxInt64) {
		return 0
	}
	return time.Duration(math.Round(d))
}

// Reconnect continues a session on a new connection: it greets, and acquires the ports that the client owned under the same user and
// session, which gives back their handlers and leaves their streams and traffic alone. A server that restarted meanwhile is a
// *RestartedError (the ports are then forgotten), a port that another client has taken a *TakenError with its owner's name.
func (c *Client) Reconnect(ctx context.Context) error {
	c.wire.reset()
	handle, err := c.syncAPI(ctx)
	if err != nil {
		return err
	}
	if c.forgetIfNew(handle) {
		return &RestartedError{Address: c.Address()}
	}
	for port := range c.Owned() {
		if err := c.Acquire(ctx, port, false); err != nil {
			return err
		}
	}
	return nil
}

// forgetIfNew drops everything that was known of an earlier server process.
func (c *Client) forgetIfNew(handle string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if handle == c.handle {
		return false
	}
	c.handle = handle
	clear(c.handlers)
	clear(c.loaded)
	return true
}
