package cli_test

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// trexServers makes scripted TRex servers for the scripts: "trex KIND" sets $TREX to one's address. Kinds:
// good, newer (another API version), virtual (its ports have no physical speed), taken (somebody owns port 0),
// killed (an earlier run of linerate owns it), dying (gone after some readings under load).
func trexServers(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 1 {
			ts.Fatalf("usage: trex KIND")
		}
		g := trextest.NewGenerator(trextest.TwoPorts()...)
		server := trextest.Serve(t, g)
		switch args[0] {
		case "good":
		case "newer":
			server.Script("api_sync_v2", refuse(-32000,
				"RPC version mismatch: a newer client version is required\n"+
					"(API type 'STL':  - server: '6.0', client: '5.1')"))
		case "virtual":
			ports := trextest.TwoPorts()
			for i := range ports {
				ports[i].Virtual, ports[i].Driver = true, "net_af_packet"
			}
			server = trextest.Serve(t, trextest.NewGenerator(ports...))
		case "killed":
			g.Steal(0, "linerate")
		case "taken":
			g.Steal(0, "alice")
		case "dying":
			server.Script("get_port_stats", dieAfter(g, 12))
		default:
			ts.Fatalf("no kind of server is called %s", args[0])
		}
		ts.Setenv("TREX", server.Address())
	}
}

func refuse(code int, specific string) trextest.AnswerFunc {
	return func(trextest.Call) (any, error) {
		return nil, &wire.Error{Code: code, Message: "Failed To Execute Method", Specific: specific}
	}
}

// dieAfter answers so many readings under load, and then the process is gone.
func dieAfter(g *trextest.Generator, readings int) trextest.AnswerFunc {
	return func(c trextest.Call) (any, error) {
		if len(g.Sending()) > 0 {
			if readings--; readings < 0 {
				return nil, trextest.ErrDie
			}
		}
		return g.Answer(c)
	}
}
