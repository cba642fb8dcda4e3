package softgen

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// addStream is add_stream. The first stream makes its profile, which stays.
func (s *Server) addStream(p *params) (any, error) {
	at, err := s.ownedPort(p)
	if err != nil {
		return nil, err
	}
	profileID, id, inside := p.textOr("profile_id", defaultProfile), p.uint32("stream_id"), p.object("stream")
	if err := p.failed(); err != nil {
		return nil, err
	}
	added, err := readStream(inside)
	if err != nil {
		return nil, refusedBy(err)
	}
	if profileID == everyProfile {
		return nil, refused("profile_id %s does not exists", everyProfile)
	}
	f, ok := at.profiles[profileID]
	if !ok {
		f = newProfile(profileID)
	}
	if err := f.must("add_stream", idle, loaded); err != nil {
		return nil, err
	}
	if _, taken := f.streams[id]; taken {
		return nil, refused("stream %d already exists in profile_id(%s)", id, profileID)
	}
	if len(f.streams) >= maxStreams {
		return nil, refused("Reached limit of %d streams at the port.", maxStreams)
	}
	if err := s.flows.add(added.FlowStats); err != nil {
		return nil, err
	}
	f.streams[id] = &loadedStream{text: compact(p.members["stream"]), stream: added}
	at.profiles[profileID] = f
	return object{}, nil
}

func compact(text json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	_ = json.Compact(&out, text) // it was parsed with the whole request
	return out.Bytes()
}

// removeStream is remove_stream.
func (s *Server) removeStream(p *params) (any, error) {
	_, f, err := s.ownedProfile(p)
	if err != nil {
		return nil, err
	}
	id := p.uint32("stream_id")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if _, ok := f.streams[id]; !ok {
		return nil, noSuchStream(id)
	}
	if err := f.must("remove_stream", loaded); err != nil {
		return nil, err
	}
	s.forget(f, id)
	return object{}, nil
}

// removeAllStreams is remove_all_streams. As in TRex, profile "*" does nothing.
func (s *Server) removeAllStreams(p *params) (any, error) {
	at, err := s.ownedPort(p)
	if err != nil {
		return nil, err
	}
	if p.textOr("profile_id", defaultProfile) == everyProfile {
		return object{}, p.failed()
	}
	f, err := at.profile(p)
	if err != nil {
		return nil, err
	}
	if err := f.must("remove_all_streams", idle, loaded); err != nil {
		return nil, err
	}
	s.forget(f, f.ids()...)
	return object{}, nil
}

// forget removes streams, and the counters of flow ids that no stream uses any more.
func (s *Server) forget(f *profile, ids ...uint32) {
	var gone []uint32
	for _, id := range ids {
		if slot, last := s.flows.remove(f.streams[id].stream.FlowStats); last {
			gone = append(gone, slot)
		}
		delete(f.streams, id)
	}
	if len(gone) == 0 {
		return
	}
	for _, at := range s.ports {
		at.path.ForgetFlows(gone)
	}
}

func noSuchStream(id uint32) error { return refused("stream %d does not exists", id) }

// getStreamList is get_stream_list.
func (s *Server) getStreamList(p *params) (any, error) {
	at, err := s.port(p)
	if err != nil {
		return nil, err
	}
	if p.textOr("profile_id", defaultProfile) == everyProfile {
		all := object{}
		for id, f := range at.profiles {
			all[id] = orEmpty(f.ids())
		}
		return all, p.failed()
	}
	f, err := at.profile(p)
	if err != nil {
		return nil, err
	}
	return orEmpty(f.ids()), nil
}

// getStream is get_stream.
func (s *Server) getStream(p *params) (any, error) {
	at, err := s.port(p)
	if err != nil {
		return nil, err
	}
	f, err := at.profile(p)
	if err != nil {
		return nil, err
	}
	id := p.uint32("stream_id")
	if err := p.failed(); err != nil {
		return nil, err
	}
	found, ok := f.streams[id]
	if !ok {
		return nil, noSuchStream(id)
	}
	return object{"stream": found.text}, nil
}

// getAllStreams is get_all_streams: of one profile, or of each by its id.
func (s *Server) getAllStreams(p *params) (any, error) {
	at, err := s.port(p)
	if err != nil {
		return nil, err
	}
	profiles, err := at.profilesNamed(p)
	if err != nil {
		return nil, err
	}
	if p.textOr("profile_id", defaultProfile) != everyProfile {
		return object{"streams": profiles[0].texts()}, nil
	}
	all := object{}
	for _, f := range profiles {
		all[f.id] = f.texts()
	}
	return object{"profiles": all}, nil
}

func (f *profile) texts() object {
	texts := object{}
	for id, one := range f.streams {
		texts[strconv.FormatUint(uint64(id), 10)] = one.text
	}
	return texts
}

// orEmpty keeps an empty list from becoming null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
