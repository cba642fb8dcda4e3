package softgen

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// defaultProfile is the profile of a request that names none; everyProfile means all profiles, where a command allows it.
const (
	defaultProfile = "_"
	everyProfile   = "*"
)

// maxStreams is how many streams a profile may hold.
const maxStreams = 20000

// state is what a profile or a port is doing, in TRex's words.
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
	// playing is sending or paused while the profile runs, else "".
	playing state
	// factor is what every stream's base rate is multiplied with, latency streams aside.
	factor  float64
	endless bool
}

// loadedStream is a stream as the client wrote it, which is what the getters return, and as it is played.
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

// ids are the streams' ids in order.
func (f *profile) ids() []uint32 { return slices.Sorted(maps.Keys(f.streams)) }

// must refuses the command unless the profile is in one of the states.
func (f *profile) must(command string, be ...state) error {
	if slices.Contains(be, f.state()) {
		return nil
	}
	return refused("command '%s' cannot be executed on current state: '%s on profile_id(%s).", command, f.state(), f.id)
}

// profile reads profile_id and finds that profile; it never makes one.
func (at *port) profile(p *params) (*profile, error) {
	id := p.textOr("profile_id", defaultProfile)
	if err := p.failed(); err != nil {
		return nil, err
	}
	found, ok := at.profiles[id]
	if !ok {
		return nil, refused("profile_id %s does not exists", id)
	}
	return found, nil
}

// profilesNamed is profile, or all of them in the order of their ids for everyProfile.
func (at *port) profilesNamed(p *params) ([]*profile, error) {
	if p.textOr("profile_id", defaultProfile) != everyProfile {
		one, err := at.profile(p)
		return []*profile{one}, err
	}
	all := []*profile{}
	for _, id := range at.profileIDs() {
		all = append(all, at.profiles[id])
	}
	return all, p.failed()
}

func (at *port) profileIDs() []string { return slices.Sorted(maps.Keys(at.profiles)) }

// ownedProfile is ownedPort and profile in one.
func (s *Server) ownedProfile(p *params) (*port, *profile, error) {
	at, err := s.ownedPort(p)
	if err != nil {
		return nil, nil, err
	}
	found, err := at.profile(p)
	return at, found, err
}

// getProfileList is get_profile_list.
func (s *Server) getProfileList(p *params) (any, error) {
	at, err := s.port(p)
	if err != nil {
		return nil, err
	}
	return at.profileIDs(), nil
}
