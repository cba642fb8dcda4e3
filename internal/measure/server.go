package measure

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// ByServer says that the generator's end held nothing back, so the limit is the device's: its server, or the way there.
// A server that isn't linerate's says nothing of what it waits for.
const ByServer Limiting = "Server"

// limitWithServer is LimitOfSessions of TCP where the device's end is a server that isn't linerate's. Only a sender
// knows what a connection waits for. So of what the server sends nothing is known but that this end had room for it.
func limitWithServer(s report.Sessions) SessionLimit {
	t, serverSends := s.Senders, deviceIs(s, report.Sender)
	if serverSends {
		t.Busy, t.ReceiverLimited, t.BufferLimited = t.Observed, 0, 0
	}
	held := t.BufferLimited + idleTime(t)
	l := SessionLimit{Cause: ByUnknown, HeldByEnds: min(timeShare(t, held), units.One), PathDoubt: pathDoubt(s)}
	switch {
	case t.Observed <= 0 || !serverSends && t.Samples <= 0:
		l.Sentence = "what the connections waited for was not measured: a lower bound"
	case l.limitBesidePath(s, "the generator's end itself"):
	case serverSends:
		l.Cause, l.Sentence = ByServer, s.Device.Server+
			" or the path from it was the limit, and the server reports nothing of what its connections waited for"
	default:
		l.Cause, l.Sentence = limitTowardsServer(s)
	}
	if l.Cause == ByEnds || l.Cause == ByUnknown {
		l.Sentence += endsLateSentence(s.Disturbance)
	}
	return l
}

// limitTowardsServer says whether the server's receive window or the way there held back connections to a server,
// by what their senders waited for.
func limitTowardsServer(s report.Sessions) (Limiting, string) {
	t := s.Senders
	if full := timeShare(t, t.ReceiverLimited); full > mostHeldByEnds {
		return ByServer, fmt.Sprintf("the receive window of %s was full for %s of the time: its program or "+
			"its processor was too slow, or its window too small for the path", s.Device.Server, Percent(full))
	}
	if congested := units.RatioOf(t.HeldByPath, t.Samples); congested < leastHeldByPath {
		return ByUnknown, fmt.Sprintf("congestion control held the connections back in only %s of the samples, so this "+
			"end's own speed, or the server's, may be the limit: a lower bound", Percent(congested))
	}
	return ByPath, "held back by what is between the generator and the server's program"
}

// lostOnWayToServer says who lost datagrams on the way to a server, which is not known: what its own sockets had no
// room for is lost, too.
func lostOnWayToServer(s report.Sessions) (Limiting, string) {
	return ByServer, fmt.Sprintf("%s was sent, as asked for, and the path or the sockets of %s lost the rest (there nstat "+
		"-az UdpRcvbufErrors counts what its sockets lost)", wording.BitRate(sentRate(s)), s.Device.Server)
}

// hasServer says that the device's end is a server that isn't linerate's.
func hasServer(s report.Sessions) bool { return s.Device != nil && s.Device.Server != "" }
