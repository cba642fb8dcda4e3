package job

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/engine/stl"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// guard passes on to a server who proves the key, as a generator in a pod answers, and returns where.
func guard(t *testing.T, key credential.Key, server string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asking := key.Verifier().Listen(l, credential.Control)
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			runner, err := asking.Accept()
			if err != nil {
				return
			}
			inside, err := net.Dial("tcp", server)
			if err != nil {
				_ = runner.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{runner, inside}, {inside, runner}} {
				passing.Go(func() {
					_, _ = io.Copy(pair[0], pair[1])
					_, _ = pair[0].Close(), pair[1].Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		_ = asking.Close()
		passing.Wait()
	})
	return l.Addr().String()
}

func TestTheRunnerProvesTheAttemptsKeyToOurEngineInPods(t *testing.T) {
	key := credential.New()
	server := trextest.Serve(t, trextest.NewGenerator(trextest.TwoPorts()...))
	guarded := guard(t, key, server.Address())
	for name, c := range map[string]struct {
		dial   func(plan.Sites) (dialer, error)
		key    credential.Key
		server string
		want   error
	}{
		"our engine":                                  {dialWithKey, key, guarded, nil},
		"our engine of another attempt":               {dialWithKey, key.Derive("attempt 2"), guarded, credential.ErrRefused},
		"what poses as our engine":                    {dialWithKey, key, server.Address(), credential.ErrNotAsked},
		"a TRex, which can't ask":                     {dialTRex, key, server.Address(), nil},
		"a server that runs already and asks for one": {dialAllowed, key, guarded, credential.ErrAsked},
	} {
		t.Run(name, func(t *testing.T) {
			j := runnerJob{plan: &plan.Plan{Links: []plan.Link{{Name: "west"}, {Name: "east"}},
				Generators: []plan.Generator{{Name: "generator-0"}}}, wanted: observe.Want(nil, false),
				sites: plan.Sites{Key: c.key, AllowedServers: []string{c.server}}}
			options, err := j.engineOptions(c.dial)
			if err != nil {
				t.Fatal(err)
			}
			e, err := stl.Dial(t.Context(), c.server, options)
			if err == nil {
				defer e.Close() //nolint:errcheck // a test's
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}
