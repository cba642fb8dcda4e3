package trex

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// The API that this client speaks. It must equal the server's in name and major, and not exceed it in minor.
const (
	apiName  = "STL"
	apiMajor = 5
	apiMinor = 1
)

// handshakeMethods are the methods that take no API handle.
var handshakeMethods = map[string]bool{"get_version": true, "api_sync_v2": true, "ping": true}

// Version is get_version's answer.
type Version struct {
	Version string `json:"version"` // "v3.08"
	Mode    string `json:"mode"`    // "STL", "ASTF" …
	// Product is the full name of a server that isn't TRex but answers its RPC. It is "" for TRex.
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
func (c *Connection) greet(ctx context.Context) error {
	if err := c.invoke(ctx, call{method: "get_version", port: -1, result: &c.version}); err != nil {
		return c.explainRefusal(err)
	}
	if mode := c.version.Mode; mode != apiName {
		return c.incompatible(fmt.Sprintf("it runs in mode %q, and %s is needed: start it without --astf", mode,
			apiName), nil)
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

func (c *Connection) syncAPI(ctx context.Context) (handle string, err error) {
	var result struct {
		Handle string `json:"api_h"`
	}
	err = c.invoke(ctx, call{
		method: "api_sync_v2", port: -1,
		params: params{"name": apiName, "major": apiMajor, "minor": apiMinor},
		result: &result,
	})
	if mismatch, ok := errors.AsType[*IncompatibleError](err); ok {
		return "", c.incompatible(mismatch.Reason, err)
	}
	return result.Handle, err
}

// explainRefusal gives a refusal of get_version its reason.
func (c *Connection) explainRefusal(err error) error {
	if refusal, ok := errors.AsType[*RPCError](err); ok && refusal.Code == wire.CodeUnknownMethod {
		return c.incompatible("it doesn't know get_version, so it isn't TRex v3", err)
	}
	return err
}

func (c *Connection) incompatible(reason string, err error) error {
	return &IncompatibleError{
		Address: c.Address(), Version: c.version.Version, Mode: c.version.Mode,
		Reason: fmt.Sprintf("%s (this client speaks %s %d.%d)", reason, apiName, apiMajor, apiMinor), Err: err,
	}
}

// Ping returns the server's monotonic clock.
func (c *Connection) Ping(ctx context.Context) (time.Duration, error) {
	var result pingResult
	err := c.invoke(ctx, call{method: "ping", port: -1, result: &result})
	return result.TS.duration(), err
}

type pingResult struct {
	TS seconds `json:"ts"`
}

// seconds is a time on the wire, in real seconds.
type seconds wire.Float

// UnmarshalJSON reads as wire.Float does.
func (s *seconds) UnmarshalJSON(b []byte) error { return (*wire.Float)(s).UnmarshalJSON(b) }

func (s seconds) duration() time.Duration { return inUnits(float64(s), time.Second) }

// inUnits converts a real number of units. A number that no Duration can hold, or not-a-number, becomes 0.
func inUnits(v float64, unit time.Duration) time.Duration {
	d := v * float64(unit)
	if !(math.Abs(d) < math.MaxInt64) {
		return 0
	}
	return time.Duration(math.Round(d))
}
