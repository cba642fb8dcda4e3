package trextest

// events are the queues of events by session.
type events map[uint32]*queue

// queue is the events that a session hasn't heard of.
type queue struct {
	events []event
	next   int // sequence number
}

type event struct {
	Name     string `json:"name"`
	Type     int    `json:"type"`
	Sequence int    `json:"seq"`
	Data     object `json:"data"`
}

// register begins a queue for a session.
func (e events) register(session uint32) {
	if _, ok := e[session]; !ok {
		e[session] = &queue{events: []event{}}
	}
}

// add adds an event to each session's queue.
func (e events) add(kind int, data object) {
	for _, q := range e {
		q.events = append(q.events, event{Name: "trex-event", Type: kind, Sequence: q.next, Data: data})
		q.next++
	}
}

// Events of a port's traffic. Those of the port's profile have numbers that are ofProfile higher.
const (
	trafficStarted  = 0
	trafficStopped  = 1
	trafficFinished = 4
	ofProfile       = 10
)

// addTraffic adds two events to each session's queue, one of a port's only profile, and one of the port.
func (e events) addTraffic(kind, index int) {
	e.add(kind+ofProfile, object{"port_id": index, "profile_id": "_"})
	e.add(kind, object{"port_id": index})
}

// get is get_async_events.
func (e events) get(c Call) (any, error) {
	var params struct {
		Session uint32 `json:"session_id"`
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	e.register(params.Session)
	q := e[params.Session]
	queued := q.events
	q.events = []event{}
	return object{"data": queued}, nil
}
