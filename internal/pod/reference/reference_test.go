package reference

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod/reset"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

func TestSettingsThatFailedAreOneLine(t *testing.T) {
	info := forwarder.Info{Applied: []string{"routes"}, Missing: []string{"set net.a=0: read-only file system",
		"set net.b=0: read-only file system"}}
	for _, c := range []struct {
		verbose bool
		want    string
	}{
		{false, "applied: routes\nnote: 2 settings of this network namespace could not be made; none of them changes " +
			"figures by itself (-v names them)\n"},
		{true, "applied: routes\nnote: could not be set: set net.a=0: read-only file system\nnote: could not be set: " +
			"set net.b=0: read-only file system\n"},
	} {
		var stderr bytes.Buffer
		printSetup(&stderr, info, c.verbose)
		if stderr.String() != c.want {
			t.Errorf("verbose %v:\n%s\nnot\n%s", c.verbose, stderr.String(), c.want)
		}
	}
	var stderr bytes.Buffer
	if printSetup(&stderr, forwarder.Info{}, false); strings.TrimSpace(stderr.String()) != "" {
		t.Errorf("nothing is missing, and it says %s", &stderr)
	}
}

func TestAGatewayThatEndedSaysSo(t *testing.T) {
	for _, ended := range []error{nil, errors.New("no such device")} {
		if got := (&gateway{ended: ended}).Fault().Error(); !strings.HasPrefix(got, "the tunnel's gateway") ||
			strings.Contains(got, "%!") {
			t.Error(got)
		}
	}
}

func TestTheReferenceIsResetByWhoHasTheKey(t *testing.T) {
	key := credential.New()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := (&vitals.Server{Reset: resetHandler(file{}), Verifier: key.Verifier()}).ServeAside(ctx,
			l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { end(); serving.Wait() })
	if result, err := reset.Ask(t.Context(), l.Addr().String(), key); err != nil ||
		!strings.HasPrefix(result.Report, "removed 0 neighbours") {
		t.Errorf("%q, %v", result.Report, err)
	}
	if _, err := reset.Ask(t.Context(), l.Addr().String(), credential.New()); err == nil {
		t.Error("who has another key had it reset")
	}
}
