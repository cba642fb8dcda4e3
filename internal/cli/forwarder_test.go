package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
)

func TestSettingsThatFailedAreOneLine(t *testing.T) {
	info := forwarder.Info{Applied: []string{"routes"}, Missing: []string{"set net.a=0: read-only file system", "set net.b=0: read-only file system"}}
	for _, c := range []struct {
		verbose bool
		want    string
	}{
		{false, "applied: routes\nnote: 2 settings of this network namespace could not be made; none of them changes figures by itself (-v names them)\n"},
		{true, "applied: routes\nnote: could not be set: set net.a=0: read-only file system\nnote: could not be set: set net.b=0: read-only file system\n"},
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
		if got := (&gateway{ended: ended}).Fault().Error(); !strings.HasPrefix(got, "the tunnel's gateway") || strings.Contains(got, "%!") {
			t.Error(got)
		}
	}
}
