package trex

import (
	"context"
	"slices"
)

// Profiles of a port. A client works with the default one. "*" stands for all in the few methods that know it.
const (
	defaultProfile = "_"
	allProfiles    = "*"
)

// Reset clears what an earlier client left on a port that this client owns. It stops the port's traffic, and removes
// the streams and their receive filters in all profiles. Neither acquiring nor releasing does that, and to start a
// left-over profile would send the wrong traffic.
func (t *Traffic) Reset(ctx context.Context, port int) error {
	if err := t.session.owned(ctx, port, "stop_traffic", params{"profile_id": allProfiles}, nil); err != nil {
		return err
	}
	status, err := t.session.PortStatus(ctx, port)
	if err != nil {
		return err
	}
	profiles, err := t.profiles(ctx, port)
	if err != nil {
		return err
	}
	for _, profile := range profiles {
		if err := t.clearProfile(ctx, port, profile, status.Profiles[profile]); err != nil {
			return err
		}
	}
	return nil
}

// clearProfile removes one profile's streams. The server would answer "*" with success and do nothing.
func (t *Traffic) clearProfile(ctx context.Context, port int, profile, state string) error {
	name := params{"profile_id": profile}
	if state == stateStreams {
		if err := t.session.owned(ctx, port, "remove_rx_filters", name, nil); err != nil {
			return err
		}
	}
	return t.session.owned(ctx, port, "remove_all_streams", name, nil)
}

// profiles names the profiles that a port has.
func (t *Traffic) profiles(ctx context.Context, port int) ([]string, error) {
	var profiles []string
	err := t.session.invoke(ctx, call{method: "get_profile_list", port: port, params: params{"port_id": port},
		result: &profiles})
	return profiles, err
}

// requireProfile makes sure that the default profile exists, because several methods end the server when it doesn't.
// Once the profile exists, it exists until the server ends.
func (t *Traffic) requireProfile(ctx context.Context, port int, method string) error {
	if t.hasLoaded(port) {
		return nil
	}
	profiles, err := t.profiles(ctx, port)
	if err != nil {
		return err
	}
	if !slices.Contains(profiles, defaultProfile) {
		return &StateError{Port: port, Command: method, State: stateIdle, Err: &UnsafeError{Object: "no streams",
			Reason: "add streams first"}}
	}
	t.setLoaded(port)
	return nil
}

func (t *Traffic) hasLoaded(port int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.loaded[port]
}

func (t *Traffic) setLoaded(port int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.loaded[port] = true
}
