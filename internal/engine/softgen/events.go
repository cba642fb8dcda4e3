package softgen

import "time"

// get_async_events returns these kinds of event, with TRex's numbers.
const (
	eventPortStarted     = 0
	eventPortStopped     = 1
	eventPortPaused      = 2
	eventPortResumed     = 3
	eventPortFinished    = 4 // the duration ran out, or the last burst was sent
	eventPortAcquired    = 5
	eventPortReleased    = 6
	eventPortFailed      = 7
	eventAttributes      = 8 // the link went up or down
	eventProfileStarted  = 10
	eventProfileStopped  = 11
	eventProfilePaused   = 12
	eventProfileResumed  = 13
	eventProfileFinished = 14
	eventProfileFailed   = 17
)

// unreadAfter is how long a session may leave its events unread. Later events aren't kept for that session.
const unreadAfter = 10 * time.Second

// event is one entry of get_async_events.
type event struct {
	Data object `json:"data"`
	Name string `json:"name"`
	Seq  int    `json:"seq"`
	Type int    `json:"type"`
}

// mailbox holds the events that one session has not read yet.
type mailbox struct {
	unread []event
	next   int // the next event's sequence number
	polled time.Duration
}

// events keeps a mailbox per session. A session gets a mailbox by acquiring a port or by its first poll, and
// all events from then on.
type events struct {
	clock     clock
	ports     ports
	mailboxes map[uint32]*mailbox
}

// open gives the session a mailbox unless it has one.
func (e *events) open(session uint32) *mailbox {
	box, ok := e.mailboxes[session]
	if !ok {
		box = &mailbox{polled: e.clock()}
		e.mailboxes[session] = box
	}
	return box
}

// publish adds an event to every session's mailbox. A session that has left events unread for too long counts
// as gone. If it owns a port, it misses the new event. Any other session loses its mailbox, and starts again at
// sequence number 0 when it polls again.
func (e *events) publish(kind int, data object) {
	for session, box := range e.mailboxes {
		if len(box.unread) > 0 && e.clock()-box.polled > unreadAfter {
			if !e.ports.ownsAny(session) {
				delete(e.mailboxes, session)
			}
			continue
		}
		box.unread = append(box.unread, event{Data: data, Name: "trex-event", Seq: box.next, Type: kind})
		box.next++
	}
}

// poll removes and returns the session's unread events.
func (e *events) poll(session uint32) []event {
	box := e.open(session)
	unread := box.unread
	box.unread, box.polled = nil, e.clock()
	if unread == nil {
		unread = []event{}
	}
	return unread
}

// answerPoll answers get_async_events.
func (e *events) answerPoll(p *params) (any, error) {
	session := p.uint32("session_id")
	if err := p.failed(); err != nil {
		return nil, err
	}
	return object{"data": e.poll(session)}, nil
}

// publishTraffic publishes an event of a profile and of its port, on which one profile at a time plays.
func (e *events) publishTraffic(profileKind, portKind int, port *port, id string) {
	e.publish(profileKind, object{"port_id": port.index, "profile_id": id})
	e.publish(portKind, object{"port_id": port.index})
}
