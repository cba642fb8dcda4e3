package softgen

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

func TestOwnership(t *testing.T) {
	acquire := func(user string, session int, force bool) object {
		return object{"port_id": 0, "user": user, "session_id": session, "force": force}
	}
	t.Run("the same session gets its handler again", func(t *testing.T) {
		r := newRig(t)
		first := succeed[string](t, r, "acquire", acquire("a", 1, false))
		if second := succeed[string](t, r, "acquire", acquire("a", 1, false)); second != first || len(first) != 8 {
			t.Errorf("handler %q, then %q", first, second)
		}
		if forced := succeed[string](t, r, "acquire", acquire("a", 1, true)); forced == first {
			t.Error("with force the handler must be a new one")
		}
	})
	t.Run("a client that lost its port gets an event, and its commands are refused", func(t *testing.T) {
		r := newRig(t)
		r.acquire(t, 0)
		r.events(t, 7)
		succeed[object](t, r, "add_stream", streamOf(0, 1))
		succeed[object](t, r, "start_traffic", start(0, mul("pps", 10), 10))
		succeed[string](t, r, "acquire", acquire("thief", 9, true))
		r.refuses(t, "stop_traffic", object{"port_id": 0}, wire.CodeRefused,
			"port is not owned by you or your current executing session")
		if got := r.stateOf(t, 0); got != "TX" {
			t.Errorf("theft alone must not stop traffic, and the state is %s", got)
		}
		if diff := cmp.Diff([]string{"10:0", "0:0", "5:0"}, r.events(t, 7)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
	t.Run("session 0, which crashes TRex, is refused", func(t *testing.T) {
		newRig(t).refuses(t, "acquire", acquire("a", 0, true), wire.CodeParams, "must not be 0")
	})
	t.Run("a port that isn't there is refused", func(t *testing.T) {
		newRig(t).refuses(t, "acquire", object{"port_id": 2, "user": "a", "session_id": 1, "force": false},
			wire.CodeRefused, "invalid port id - should be: 0 - 1")
	})
	t.Run("commands that crash TRex for an unknown profile are refused", func(t *testing.T) {
		r := newRig(t)
		r.acquire(t, 0)
		for _, method := range []string{"validate", "get_stream_list", "get_port_status", "remove_stream",
			"pause_traffic", "remove_rx_filters"} {
			r.refuses(t, method, object{"port_id": 0, "profile_id": "x", "stream_id": 1}, wire.CodeRefused,
				"profile_id x does not exists")
		}
	})
	t.Run("every other owned command asks for the port", func(t *testing.T) {
		r := newRig(t)
		for _, method := range []string{
			"release", "service", "add_stream", "remove_stream", "remove_all_streams", "validate", "start_traffic",
			"update_traffic",
			"pause_traffic", "resume_traffic", "stop_traffic", "remove_rx_filters",
		} {
			r.refuses(t, method, object{"port_id": 0, "handler": "x"}, wire.CodeRefused,
				"please acquire the port before modifying port state")
		}
	})
}

func TestEventsAreNotKeptForever(t *testing.T) {
	r := newRig(t)
	r.events(t, 1)  // a reader that comes back late
	r.acquire(t, 0) // the owner
	succeed[object](t, r, "add_stream", streamOf(0, 1))
	r.clock.Advance(unreadAfter + time.Second)
	succeed[object](t, r, "start_traffic", start(0, mul("pps", 10), 1))
	if got := r.events(t, 1); len(got) != 0 {
		t.Errorf("a reader's mailbox should be gone, and it has %v", got)
	}
	if diff := cmp.Diff([]string{"5:0"}, r.events(t, 7)); diff != "" {
		t.Errorf("the owner keeps what it had (-want +got):\n%s", diff)
	}
	r.clock.Advance(2 * time.Second)
	if diff := cmp.Diff([]string{"14:0", "4:0"}, r.events(t, 7)); diff != "" {
		t.Errorf("and is told what comes after its poll (-want +got):\n%s", diff)
	}
}
