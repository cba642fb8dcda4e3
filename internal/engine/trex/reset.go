package trex

import (
	"context"
	"slices"
)

// Profiles: a client works with the default one; "*" stands for all in the few methods that know it.
const (
	defaultProfile = "_"
	allProfiles    = "*"
)

// Reset clears what an earlier client left on a port that this client owns: its traffic is stopped and its streams, in all profiles, and their receive
// filters are removed. Nothing else ends these: neither acquiring nor releasing does, and starting a left-over
// profile would send the wrong traffic.
func (c *Client) Reset(ctx context.Context, port int) error {
	if err := c.owned(ctx, port, "stop_traffic", params{"profile_id": allProfiles}, nil); err != nil {
		return err
	}
	status, err := c.PortStatus(ctx, port)
	if err != nil {
		return err
	}
	profiles, err := c.ProfileList(ctx, port)
	if err != nil {
		return err
	}
	for _, profile := range profiles {
		if err := c.clearProfile(ctx, port, profile, status.Profiles[profile]); err != nil {
			return err
		}
	}
	return nil
}

// clearProfile removes one profile's streams: "*" would be answered with success and do nothing.
func (c *Client) clearProfile(ctx context.Context, port int, profile, state string) error {
	name := params{"profile_id": profile}
	if state == stateStreams {
		if err := c.owned(ctx, port, "remove_rx_filters", name, nil); err != nil {
			return err
		}
	}
	return c.owned(ctx, port, "remove_all_streams", name, nil)
}

// ProfileList names the profiles that a port has.
func (c *Client) ProfileList(ctx context.Context, port int) ([]string, error) {
	var profiles []string
	err := c.one(ctx, call{method: "get_profile_list", port: port, params: params{"port_id": port}, result: &profiles})
	return profiles, err
}

// requireProfile makes sure that the default profile exists: several methods end the server when it doesn't. Once it does, it does until
// the server ends.
func (c *Client) requireProfile(ctx context.Context, port int, method string) error {
	if c.hasLoaded(port) {
		return nil
	}
	profiles, err := c.ProfileList(ctx, port)
	if err != nil {
		return err
	}
	if !slices.Contains(profiles, defaultProfile) {
		return &StateError{Port: port, Command: method, State: stateIdle, Err: &UnsafeError{What: "no streams", Why: "add streams first"}}
	}
	c.noteLoaded(port)
	return nil
}

func (c *Client) hasLoaded(port int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loaded[port]
}

func (c *Client) noteLoaded(port int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loaded[port] = true
}
