package softgen

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// defaultProfile is the profile of a request that names none. everyProfile means all profiles, if the command
// allows it.
const (
	defaultProfile = "_"
	everyProfile   = "*"
)

// maxStreams is how many streams a profile may hold.
const maxStreams = 20000

// state is the state of a profile or a port, in TRex's words.
type state string

const (
	idle    state = "IDLE"
	loaded  state = "STREAMS"
	sending state = "TX"
	paused  state = "PAUSE"
)

// profile is a set of streams that is started and stopped as one.
type profile struct {
	id      string
	streams map[uint32]*loadedStream
	// playing is sending or paused while the profile runs, and otherwise empty.
	playing state
	// factor multiplies every stream's base rate, except for latency streams.
	factor  float64
	endless bool
}

// loadedStream is a stream as it is played, and as the client wrote it for the getters.
type loadedStream struct {
	text   json.RawMessage
	stream stream.Stream
}

func newProfile(id string) *profile { return &profile{id: id, streams: map[uint32]*loadedStream{}} }

func (f *profile) state() state {
	switch {
	case f.playing != "":
		return f.playing
	case len(f.streams) > 0:
		return loaded
	default:
		return idle
	}
}

// ids returns the streams' ids in order.
func (f *profile) ids() []uint32 { return slices.Sorted(maps.Keys(f.streams)) }

// requireState refuses the command unless the profile is in one of the states.
func (f *profile) requireState(command string, allowed ...state) error {
	if slices.Contains(allowed, f.state()) {
		return nil
	}
	return refused("command '%s' cannot be executed on current state: '%s on profile_id(%s).", command, f.state(), f.id)
}

// profile finds the profile that profile_id names. It never makes one.
func (port *port) profile(p *params) (*profile, error) {
	id := p.textOr("profile_id", defaultProfile)
	if err := p.failed(); err != nil {
		return nil, err
	}
	found, ok := port.profiles[id]
	if !ok {
		return nil, refused("profile_id %s does not exists", id)
	}
	return found, nil
}

// profilesNamed returns the profile that profile_id names, or all profiles in the order of their ids for everyProfile.
func (port *port) profilesNamed(p *params) ([]*profile, error) {
	if p.textOr("profile_id", defaultProfile) != everyProfile {
		found, err := port.profile(p)
		return []*profile{found}, err
	}
	profiles := []*profile{}
	for _, id := range port.profileIDs() {
		profiles = append(profiles, port.profiles[id])
	}
	return profiles, p.failed()
}

// perProfile reads the profiles that profile_id names, by their ids.
func (port *port) perProfile(p *params, read func(*profile) any) (object, error) {
	profiles, err := port.profilesNamed(p)
	if err != nil {
		return nil, err
	}
	byID := object{}
	for _, f := range profiles {
		byID[f.id] = read(f)
	}
	return byID, nil
}

func (port *port) profileIDs() []string { return slices.Sorted(maps.Keys(port.profiles)) }
