package softgen

import (
	"bytes"
	"encoding/json"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
)

// streamLoader changes the streams that ports have loaded.
type streamLoader struct {
	ports ports
	flows *flows
}

// add answers add_stream. A profile's first stream makes the profile, which stays.
func (l *streamLoader) add(port *port, p *params) (any, error) {
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
	if err := l.flows.add(added.FlowStats); err != nil {
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
func (l *streamLoader) remove(_ *port, f *profile, p *params) (any, error) {
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
	l.forget(f, id)
	return object{}, nil
}

// removeAll answers remove_all_streams. As in TRex, profile "*" does nothing.
func (l *streamLoader) removeAll(port *port, p *params) (any, error) {
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
	l.forget(f, f.ids()...)
	return object{}, nil
}

// forget removes streams, and the counters of flow ids that no stream uses any more.
func (l *streamLoader) forget(f *profile, ids ...uint32) {
	var released []uint32
	for _, id := range ids {
		if slot, unused := l.flows.remove(f.streams[id].stream.FlowStats); unused {
			released = append(released, slot)
		}
		delete(f.streams, id)
	}
	if len(released) == 0 {
		return
	}
	for _, port := range l.ports {
		port.path.ForgetFlows(released)
	}
}

func noSuchStream(id uint32) error { return refused("stream %d does not exists", id) }

// idList answers get_stream_list with one profile's ids, or with each profile's by its id.
func (l *streamLoader) idList(port *port, p *params) (any, error) {
	lists, err := port.perProfile(p, func(f *profile) any { return orEmpty(f.ids()) })
	if id := p.textOr("profile_id", defaultProfile); err == nil && id != everyProfile {
		return lists[id], nil
	}
	return lists, err
}

// get answers get_stream.
func (l *streamLoader) get(port *port, p *params) (any, error) {
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
func (l *streamLoader) getAll(port *port, p *params) (any, error) {
	texts, err := port.perProfile(p, func(f *profile) any { return f.texts() })
	if id := p.textOr("profile_id", defaultProfile); err == nil && id != everyProfile {
		return object{"streams": texts[id]}, nil
	}
	return object{"profiles": texts}, err
}

func (f *profile) texts() map[uint32]json.RawMessage {
	texts := map[uint32]json.RawMessage{}
	for id, loaded := range f.streams {
		texts[id] = loaded.text
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

// removeReceiveFilters answers remove_rx_filters. There are no filters to remove, but clients must ask at the
// right moment.
func (l *streamLoader) removeReceiveFilters(_ *port, f *profile, _ *params) (any, error) {
	return object{}, f.requireState("remove_rx_filters", loaded)
}

// compile returns the enabled streams for the data path, with their rates in packets per second and their flows' slots.
func (l *streamLoader) compile(port *port, f *profile) ([]datapath.RunStream, error) {
	if err := l.flows.checkStamps(); err != nil {
		return nil, err
	}
	var streams []datapath.RunStream
	for _, id := range f.ids() {
		stream := f.streams[id].stream
		if !stream.Enabled {
			continue
		}
		stream.Mode.Rate.Value, stream.Mode.Rate.Type = rateOf(stream, port.speed).pps, "pps"
		if stream.FlowStats.Enabled {
			stream.FlowStats.StreamID = l.flows.active[stream.FlowStats.StreamID].slot
		}
		streams = append(streams, datapath.RunStream{ID: id, Stream: stream})
	}
	if len(streams) == 0 {
		return nil, refused("no streams attached to port")
	}
	if err := port.path.Check(streams); err != nil {
		return nil, refusedBy(err)
	}
	return streams, nil
}

// profileList answers get_profile_list.
func (l *streamLoader) profileList(port *port, _ *params) (any, error) {
	return port.profileIDs(), nil
}
