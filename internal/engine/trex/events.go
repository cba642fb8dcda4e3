package trex

import (
	"context"
	"encoding/json"
)

// EventType is what happened.
type EventType int

// The events that concern a client in stateless mode.
const (
	PortStarted      EventType = 0
	PortStopped      EventType = 1
	PortFinished     EventType = 4 // sent all it had to, or its duration ended
	PortAcquired     EventType = 5 // User, Session, Force
	PortReleased     EventType = 6 // User, Session
	PortFailed       EventType = 7
	AttributeChanged EventType = 8 // LinkUp
	ProfileStarted   EventType = 10
	ProfileFailed    EventType = 17
	ServerStopped    EventType = 100 // Cause
)

// Event is something that happened on the server.
type Event struct {
	Type    EventType
	Port    int    // -1 if the event has none
	User    string // the user who did it
	Session uint32
	Force   bool
	Cause   string
	// LinkUp is the new state of the link, if the event has it.
	LinkUp *bool
}

// UnmarshalJSON reads an event of any type. Members that the event doesn't have stay zero.
func (e *Event) UnmarshalJSON(b []byte) error {
	var w struct {
		Type EventType       `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*e = Event{Type: w.Type, Port: -1}
	var d struct {
		Port       *int   `json:"port_id"`
		User       string `json:"who"`
		Session    uint32 `json:"session_id"`
		Force      bool   `json:"force"`
		Cause      string `json:"cause"`
		Attributes struct {
			Link *struct {
				Up bool `json:"up"`
			} `json:"link"`
		} `json:"attr"`
	}
	if err := json.Unmarshal(w.Data, &d); err != nil {
		return nil //nolint:nilerr // an event whose details we can't read is still an event
	}
	if d.Port != nil {
		e.Port = *d.Port
	}
	e.User, e.Session, e.Force, e.Cause = d.User, d.Session, d.Force, d.Cause
	if d.Attributes.Link != nil {
		e.LinkUp = &d.Attributes.Link.Up
	}
	return nil
}

// Counters reads what the server has counted, and the events that it has recorded.
type Counters struct{ connection *Connection }

type eventList struct {
	Data []Event `json:"data"`
}

func (c Counters) eventsCall(result *eventList) *call {
	return &call{
		method: "get_async_events", port: -1,
		params: params{"session_id": c.connection.options.Session, "user": c.connection.options.User},
		result: result,
	}
}

// Events returns what happened since the last call, of this client or another of the same session. A server
// keeps events only for sessions that ask at least every 10 seconds. A session also gets the events of its own
// calls.
func (c Counters) Events(ctx context.Context) ([]Event, error) {
	var list eventList
	err := c.connection.invoke(ctx, *c.eventsCall(&list))
	return list.Data, err
}
