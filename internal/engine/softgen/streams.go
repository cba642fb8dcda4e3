package softgen

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// add answers add_stream. A profile's first stream makes the profile, which stays.
func (s *Server) addStream(p *params) (any, error) {
	port, err := s.ownedPort(p)
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
	f, ok := port.profiles[profileID]
	if !ok {
		f = newProfile(profileID)
	}
	if err := f.requireState("add_stream", idle, loaded); err != nil {
		return nil, err
	}
	if _, exists := f.streams[id]; exists {
		return nil, refused("stream %d already exists in profile_id(%s)", id, profileID)
	}
	if len(f.streams) >= maxStreams {
		return nil, refused("Reached limit of %d streams at the port.", maxStreams)
	}
	if err := s.flows.add(added.FlowStats); err != nil {
		return nil, err
	}
	f.streams[id] = &loadedStream{text: compact(p.members["stream"]), stream: added}
	port.profiles[profileID] = f
	return object{}, nil
}

func compact(text json.RawMessage) json.RawMessage {
	var compacted bytes.Buffer
	_ = json.Compact(&compacted, text) // valid JSON, as the whole request is
	return compacted.Bytes()
}

// remove answers remove_stream.
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
	if err := f.requireState("remove_stream", loaded); err != nil {
		return nil, err
	}
	s.forget(f, id)
	return object{}, nil
}

// removeAll answers remove_all_streams. As in TRex, profile "*" does nothing.
func (s *Server) removeAllStreams(p *params) (any, error) {
	port, err := s.ownedPort(p)
	if err != nil {
		return nil, err
	}
	if p.textOr("profile_id", defaultProfile) == everyProfile {
		return object{}, p.failed()
	}
	f, err := port.profile(p)
	if err != nil {
		return nil, err
	}
	if err := f.requireState("remove_all_streams", idle, loaded); err != nil {
		return nil, err
	}
	s.forget(f, f.ids()...)
	return object{}, nil
}

// forget removes streams, and the counters of flow ids that no stream uses any more.
func (s *Server) forget(f *profile, ids ...uint32) {
	var released []uint32
	for _, id := range ids {
		if slot, unused := s.flows.remove(f.streams[id].stream.FlowStats); unused {
			released = append(released, slot)
		}
		delete(f.streams, id)
	}
	if len(released) == 0 {
		return
	}
	for _, port := range s.ports {
		port.path.ForgetFlows(released)
	}
}

func noSuchStream(id uint32) error { return refused("stream %d does not exists", id) }

// idList answers get_stream_list.
func (s *Server) getStreamList(p *params) (any, error) {
	port, err := s.port(p)
	if err != nil {
		return nil, err
	}
	if p.textOr("profile_id", defaultProfile) == everyProfile {
		lists := object{}
		for id, f := range port.profiles {
			lists[id] = orEmpty(f.ids())
		}
		return lists, p.failed()
	}
	f, err := port.profile(p)
	if err != nil {
		return nil, err
	}
	return orEmpty(f.ids()), nil
}

// get answers get_stream.
func (s *Server) getStream(p *params) (any, error) {
	port, err := s.port(p)
	if err != nil {
		return nil, err
	}
	f, err := port.profile(p)
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

// getAll answers get_all_streams with one profile's streams, or with each profile's by its id.
func (s *Server) getAllStreams(p *params) (any, error) {
	port, err := s.port(p)
	if err != nil {
		return nil, err
	}
	profiles, err := port.profilesNamed(p)
	if err != nil {
		return nil, err
	}
	if p.textOr("profile_id", defaultProfile) != everyProfile {
		return object{"streams": profiles[0].texts()}, nil
	}
	byProfile := object{}
	for _, f := range profiles {
		byProfile[f.id] = f.texts()
	}
	return object{"profiles": byProfile}, nil
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
